/* Sizing rules: each a check of the run's own numbers; what would fit instead is tried. */
#include "models/sizing_rules.h"

#include <math.h>

#include "models/memory.h"
#include "sim/base/units.h"

static const char CO_DESIGN[] = "arXiv 2401.14489", ZAYA1_ON_AMD[] = "arXiv 2511.17127";

/* The vocabulary in 64s whatever its type (arXiv 2401.14489: v divisible by 64). */
enum { VOCABULARY_GRANULE = 64, MICROBATCH_TRIED_MAX = 1 << 12 };
/* Tensor cores and matrix cores take operands in pieces of so much: 64 elements of 16 bits
 * (arXiv 2401.14489, of A100). */
static const double GRANULE_BYTES = 128;
/* Tiles and waves emptier than that cost what a better width would not; a gated layer is near 8/3
 * of the width within so much. Chosen here: the paper says "as full as possible" and "near". */
static const double FULL_ENOUGH_FRACTION = 0.9, NEAR_FRACTION = 0.1;

struct rule_writer {
    const struct explanation *explanation;
    const struct run *run;
    const struct arch *arch;
    const struct plan *plan;
    struct sizing_rule *rules;
    int count;
    struct arena *arena;
};

static void
add_rule(struct rule_writer *writer, const char *key, const char *rule, const char *found,
         enum sizing_verdict verdict)
{
    writer->rules[writer->count++] = (struct sizing_rule){key, rule, found, CO_DESIGN, verdict};
}

static enum sizing_verdict
verdict_of(bool holds)
{
    return holds ? SIZING_HOLDS : SIZING_BROKEN;
}

/* "2,050: divisible by 2" */
static void
add_multiple(struct rule_writer *writer, const char *key, const char *what, int64_t value,
             int64_t granule)
{
    int64_t power = value & -value; /* the largest power of two that divides it */
    add_rule(writer, key, arena_format(writer->arena, "%s in %llds", what, (long long)granule),
             arena_format(writer->arena, "%lld, divisible by %lld", (long long)value,
                          (long long)power),
             verdict_of(value % granule == 0));
}

/* Of what operands of products are made of. */
static void
add_granule(struct rule_writer *writer, const char *key, const char *what, int64_t value)
{
    double elements = GRANULE_BYTES / dtype_bytes(writer->plan->compute_dtype);
    add_multiple(writer, key, what, value, (int64_t)elements);
}

/* What a plan would take with another value of one field; false where it is none. */
static bool
plan_fits(const struct rule_writer *writer, const struct plan *plan, double *peak_bytes)
{
    struct error_list errors = {0};
    struct step_inputs inputs = writer->run->inputs;
    inputs.workload.plan = plan;
    if (!plan_check(plan, writer->run->plan_object, writer->arch, inputs.cluster, &errors))
        return false;
    struct memory memory = memory_of(&inputs, writer->arena);
    *peak_bytes = memory.peak;
    return memory.peak <= memory.capacity;
}

static void
add_microbatch(struct rule_writer *writer)
{
    struct plan plan = *writer->plan;
    int64_t largest = plan.microbatch_sequences;
    double peak_bytes = 0, largest_bytes = 0;
    for (plan.microbatch_sequences *= 2; plan.microbatch_sequences <= MICROBATCH_TRIED_MAX;
         plan.microbatch_sequences *= 2) {
        if (!plan_fits(writer, &plan, &peak_bytes))
            break;
        largest = plan.microbatch_sequences;
        largest_bytes = peak_bytes;
    }
    bool holds = largest == writer->plan->microbatch_sequences;
    const char *found =
        holds ? arena_format(writer->arena, "%lld, twice as many do not fit or do not divide",
                             (long long)largest)
              : arena_format(writer->arena, "%lld, though %lld would fit, in %s",
                             (long long)writer->plan->microbatch_sequences, (long long)largest,
                             units_format_bytes(largest_bytes).text);
    add_rule(writer, "microbatch", "the microbatch is as large as fits", found,
             verdict_of(holds));
}

static void
add_tensor(struct rule_writer *writer)
{
    struct plan plan = *writer->plan;
    double peak_bytes = 0;
    const char *found = "1";
    bool holds = true;
    if (plan.tensor > 1) {
        plan.expert_tensor = plan.expert_tensor == plan.tensor ? plan.tensor / 2 : 1;
        plan.tensor /= 2;
        holds = !plan_fits(writer, &plan, &peak_bytes);
        found = holds ? arena_format(writer->arena, "%lld, half of it does not fit",
                                     (long long)writer->plan->tensor)
                      : arena_format(writer->arena, "%lld, though %lld would fit, in %s",
                                     (long long)writer->plan->tensor, (long long)plan.tensor,
                                     units_format_bytes(peak_bytes).text);
    }
    add_rule(writer, "tensor", "as few tensor ranks as possible", found, verdict_of(holds));
}

static void
add_heads(struct rule_writer *writer)
{
    int64_t product = writer->plan->microbatch_sequences * writer->arch->query_heads;
    int64_t tensor = writer->plan->tensor;
    add_rule(writer, "heads", "sequences x heads divide over the tensor ranks",
             arena_format(writer->arena, "%lld x %lld over %lld",
                          (long long)writer->plan->microbatch_sequences,
                          (long long)writer->arch->query_heads, (long long)tensor),
             verdict_of(product % tensor == 0));
}

/* Of dense layers; of experts the paper says nothing but that widths are even. */
static void
add_feed_forward(struct rule_writer *writer)
{
    const struct arch *arch = writer->arch;
    bool has_dense = arch->experts == 0 || arch->dense_layers > 0;
    double ideal = 8.0 / 3 * (double)arch->hidden;
    double width = has_dense ? (double)arch->dense_ffn
                             : (double)(arch->expert_ffn * arch->experts_per_token);
    const char *found = arena_format(writer->arena, "%.0f%s, %.2f of 8/3 x %lld", width,
                                     has_dense ? "" : " of a token's experts", width / ideal,
                                     (long long)arch->hidden);
    bool is_near = fabs(width / ideal - 1) <= NEAR_FRACTION;
    add_rule(writer, "gated_width", "gated layers are about 8/3 of the width", found,
             has_dense ? verdict_of(is_near) : SIZING_SILENT);
    int64_t cut = has_dense ? writer->plan->tensor : writer->plan->expert_tensor;
    add_granule(writer, "feed_forward", "feed-forward channels of a rank",
                (has_dense ? arch->dense_ffn : arch->expert_ffn) / (cut > 0 ? cut : 1));
}

double
sizing_wave_fraction(const struct kernel_cost *cost, const struct device *device)
{
    double rounds = (double)cost->tiles / (double)device->compute_units;
    double waves = (double)cost->waves;
    return waves > 0 && fabs(ceil(rounds) - waves) < 0.5 ? rounds / waves : 0;
}

const char *
sizing_waves(const struct kernel_cost *cost, const struct device *device, struct arena *arena)
{
    double filled = sizing_wave_fraction(cost, device) * (double)cost->waves;
    const char *head = arena_format(arena, "%lld tiles on %lld compute units",
                                    (long long)cost->tiles, (long long)device->compute_units);
    if (filled <= 0)
        return arena_format(arena, "%s, in %lld rounds", head, (long long)cost->waves);
    if (cost->waves == 1)
        return arena_format(arena, "%s: one wave, on %s of them", head,
                            units_format_fraction(filled).text);
    return arena_format(arena, "%s: %lld waves, the last for %s of them", head,
                        (long long)cost->waves,
                        units_format_fraction(filled - (double)cost->waves + 1).text);
}

/* Of its experts' rows together, or of all of a batch. */
static double
result_elements(const struct kernel *kernel)
{
    if (kernel->kind == KERNEL_GEMM)
        return (double)kernel->gemm.batch * (double)kernel->gemm.m * (double)kernel->gemm.n;
    double rows = 0;
    for (int64_t i = 0; i < kernel->grouped_gemm.experts; i++)
        rows += (double)kernel->grouped_gemm.rows[i];
    return rows * (double)kernel->grouped_gemm.n;
}

double
sizing_tile_fraction(const struct kernel *kernel, const struct kernel_cost *cost)
{
    double area = (double)cost->tiles * (double)cost->tile_m * (double)cost->tile_n;
    bool is_product = kernel->kind == KERNEL_GEMM || kernel->kind == KERNEL_GROUPED_GEMM;
    return is_product && area > 0 ? fmin(1, result_elements(kernel) / area) : 0;
}

/* A fraction of every product of the chain of which it is known: its mean over their time, and the
 * product at which it loses most. */
struct product_mean {
    double mean, all_s;
    const struct explain_operator *worst; /* NULL: all have 1 */
    double worst_fraction;
};

/* NaN where it is not known. */
typedef double product_fraction(const struct rule_writer *writer, const struct step_work *work);

static struct product_mean
mean_of_products(const struct rule_writer *writer, product_fraction *fraction_of)
{
    const struct explanation *explanation = writer->explanation;
    struct product_mean sum = {0};
    double lost_s = 0;
    for (int64_t i = 0; i < explanation->operator_count; i++) {
        const struct explain_operator *one = &explanation->operators[i];
        bool is_product = one->work->kernel && (one->work->kernel->kind == KERNEL_GEMM ||
                                                one->work->kernel->kind == KERNEL_GROUPED_GEMM);
        double fraction = is_product ? fraction_of(writer, one->work) : (double)NAN;
        if (isnan(fraction))
            continue;
        double seconds_s = units_s_from_ps(one->ps);
        sum.mean += fraction * seconds_s;
        sum.all_s += seconds_s;
        if ((1 - fraction) * seconds_s > lost_s) {
            lost_s = (1 - fraction) * seconds_s;
            sum.worst = one;
            sum.worst_fraction = fraction;
        }
    }
    sum.mean /= sum.all_s > 0 ? sum.all_s : 1;
    return sum;
}

static enum sizing_verdict
verdict_of_mean(const struct product_mean *sum)
{
    return sum->all_s > 0 ? verdict_of(sum->mean >= FULL_ENOUGH_FRACTION) : SIZING_SILENT;
}

static double
known(double fraction)
{
    return fraction > 0 ? fraction : (double)NAN;
}

static double
tile_fraction(const struct rule_writer *writer, const struct step_work *work)
{
    (void)writer;
    return known(sizing_tile_fraction(work->kernel, work->kernel_cost));
}

static void
add_tiles(struct rule_writer *writer)
{
    struct product_mean sum = mean_of_products(writer, tile_fraction);
    const char *found = arena_format(writer->arena, "%s of the tiles, over the products' time",
                                     units_format_fraction(sum.mean).text);
    if (sum.worst) {
        const struct kernel_cost *cost = sum.worst->work->kernel_cost;
        found = arena_format(
            writer->arena, "%s; lost most by %s: %s of %lld tiles of %lld x %lld", found,
            sum.worst->work->name, units_format_fraction(sum.worst_fraction).text,
            (long long)cost->tiles, (long long)cost->tile_m, (long long)cost->tile_n);
    }
    add_rule(writer, "tiles", "results of products fill their tiles", found,
             verdict_of_mean(&sum));
}

static double
wave_fraction(const struct rule_writer *writer, const struct step_work *work)
{
    return known(sizing_wave_fraction(work->kernel_cost, writer->run->inputs.cluster->device));
}

/* Over the products that deal tiles out wave by wave. */
static void
add_waves(struct rule_writer *writer)
{
    const struct device *device = writer->run->inputs.cluster->device;
    struct product_mean sum = mean_of_products(writer, wave_fraction);
    const char *found =
        arena_format(writer->arena, "%s of %lld compute units, over the products' time",
                     units_format_fraction(sum.mean).text, (long long)device->compute_units);
    if (sum.worst)
        found =
            arena_format(writer->arena, "%s; lost most by %s: %s", found, sum.worst->work->name,
                         units_format_fraction(sum.worst_fraction).text);
    add_rule(writer, "waves", "tiles of products fill their waves", found,
             verdict_of_mean(&sum));
}

/* 1 of a product that is large enough, 0 of another. */
static double
is_large(const struct rule_writer *writer, const struct step_work *work)
{
    double least_flop = writer->run->inputs.cluster->device->gemm.peak_product_flop;
    return work->kernel_cost->flop >= least_flop ? 1 : 0;
}

/* A product as small as that is over before the device is at its full rate. */
static void
add_product_size(struct rule_writer *writer)
{
    const struct device *device = writer->run->inputs.cluster->device;
    const char *found = arena_format(writer->arena, "not known of %s", device->name);
    const char *rule = "products are large enough for the peak";
    enum sizing_verdict verdict = SIZING_SILENT;
    if (device->gemm.peak_product_flop > 0) {
        struct product_mean sum = mean_of_products(writer, is_large);
        verdict = verdict_of_mean(&sum);
        rule = arena_format(writer->arena, "products have %s or more",
                            units_format_flop(device->gemm.peak_product_flop).text);
        found = arena_format(writer->arena, "%s of the products' time is in such",
                             units_format_fraction(sum.mean).text);
        if (sum.worst)
            found = arena_format(writer->arena, "%s; longest of the others %s: %s", found,
                                 sum.worst->work->name,
                                 units_format_flop(sum.worst->work->kernel_cost->flop).text);
    }
    add_rule(writer, "product_size", rule, found, verdict);
    writer->rules[writer->count - 1].source = ZAYA1_ON_AMD;
}

int
sizing_rules(const struct explanation *explanation, struct sizing_rule rules[SIZING_RULES_MAX],
             struct arena *arena)
{
    const struct run *run = explanation->step->run;
    const struct workload *workload = &run->inputs.workload;
    struct rule_writer writer = {.explanation = explanation,
                                 .run = run,
                                 .arch = workload->arch,
                                 .plan = workload->plan,
                                 .rules = rules,
                                 .arena = arena};
    int64_t tokens = workload->plan->microbatch_sequences * workload->plan->sequence_tokens;
    add_multiple(&writer, "vocabulary", "the vocabulary", workload->arch->vocab,
                 VOCABULARY_GRANULE);
    add_microbatch(&writer);
    add_granule(&writer, "tokens", "tokens of a microbatch", tokens);
    add_granule(&writer, "head", "channels of a head", workload->arch->head_dim);
    add_granule(&writer, "hidden", "the width of a tensor rank",
                workload->arch->hidden / workload->plan->tensor);
    add_heads(&writer);
    add_tensor(&writer);
    add_feed_forward(&writer);
    add_tiles(&writer);
    add_waves(&writer);
    add_product_size(&writer);
    return writer.count;
}
