/* The plans that a search looks at: fields are settled one after the other, and what one value
 * makes impossible is counted without being spelled out. */
#include "models/plan_space.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Unless more is asked for: chunks of a stage, sequences of a microbatch. */
enum { VIRTUAL_STAGES_MOST = 4, MICROBATCH_MOST = 16 };

static const char *const SCHEDULE_WORDS[] = {"1f1b", "interleaved", "zb_h1", "zb_v",
                                             "dualpipe"};
static const char *const RECOMPUTE_WORDS[] = {"none", "selective", "full",
                                              "every_other_product"};
static const char *const ORDER_WORDS[] = {"tp-cp-ep-dp-pp", "tp-cp-ep-pp-dp"};

const char *
plan_field_key(enum plan_field field)
{
    static const char *const keys[] = {"tensor",    "context",        "pipeline",
                                       "expert",    "expert_tensor",  "microbatch_sequences",
                                       "schedule",  "virtual_stages", "zero_stage",
                                       "recompute", "rank_order"};
    static_assert(sizeof keys / sizeof *keys == PLAN_FIELD_COUNT, "a key for each field");
    return keys[field];
}

const char *
plan_refusal_key(enum plan_refusal refusal)
{
    static const char *const keys[] = {"legal",   "redundant", "tensor", "sequence", "layers",
                                       "experts", "gpus",      "batch",  "schedule", "other"};
    static_assert(sizeof keys / sizeof *keys == PLAN_REFUSAL_COUNT, "a key for each refusal");
    return keys[refusal];
}

/* Words of a field that takes no numbers. */
static const char *const *
words_of(enum plan_field field, size_t *count)
{
    *count = 0;
    if (field == PLAN_FIELD_SCHEDULE) {
        *count = sizeof SCHEDULE_WORDS / sizeof *SCHEDULE_WORDS;
        return SCHEDULE_WORDS;
    }
    if (field == PLAN_FIELD_RECOMPUTE) {
        *count = sizeof RECOMPUTE_WORDS / sizeof *RECOMPUTE_WORDS;
        return RECOMPUTE_WORDS;
    }
    if (field == PLAN_FIELD_ORDER) {
        *count = sizeof ORDER_WORDS / sizeof *ORDER_WORDS;
        return ORDER_WORDS;
    }
    return NULL;
}

const char *
plan_field_word(enum plan_field field, int64_t value, struct arena *arena)
{
    size_t count = 0;
    const char *const *words = words_of(field, &count);
    return words ? words[value] : arena_format(arena, "%" PRId64, value);
}

const char *
plan_field_wanted(enum plan_field field, struct arena *arena)
{
    size_t count = 0;
    const char *const *words = words_of(field, &count);
    const char *wanted =
        field == PLAN_FIELD_ZERO_STAGE ? "0 to 3" : "whole numbers from 1, parted by commas";
    for (size_t i = 0; i < count; i++)
        wanted =
            arena_format(arena, "%s%s%s", i > 0 ? wanted : "", i > 0 ? ", " : "", words[i]);
    return wanted;
}

static bool
read_word(enum plan_field field, const char *word, int64_t *value)
{
    size_t count = 0;
    const char *const *words = words_of(field, &count);
    char *end = NULL;
    for (size_t i = 0; i < count; i++) {
        *value = (int64_t)i;
        if (strcmp(word, words[i]) == 0)
            return true;
    }
    *value = strtoll(word, &end, 10);
    int64_t least = field == PLAN_FIELD_ZERO_STAGE ? 0 : 1;
    int64_t most = field == PLAN_FIELD_ZERO_STAGE ? 3 : 1 << 20;
    return !words && end != word && *end == '\0' && *value >= least && *value <= most;
}

static int
compare_values(const void *a, const void *b)
{
    const int64_t *one = a, *two = b;
    return (*one > *two) - (*one < *two);
}

bool
plan_space_set(struct plan_space *space, enum plan_field field, const char *const *words,
               size_t count, struct arena *arena)
{
    int64_t *values = arena_alloc(arena, count, sizeof *values);
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        size_t j = 0;
        if (!read_word(field, words[i], &values[kept]))
            return false;
        while (j < kept && values[j] != values[kept])
            j++;
        kept += j == kept;
    }
    qsort(values, kept, sizeof *values, compare_values);
    space->fields[field] = (struct plan_values){values, kept};
    return true;
}

/* first, first + 1, ... last. */
static struct plan_values
list_run(int64_t first, int64_t last, struct arena *arena)
{
    int64_t *values = arena_alloc(arena, (size_t)(last - first + 1), sizeof *values);
    for (int64_t i = first; i <= last; i++)
        values[i - first] = i;
    return (struct plan_values){values, (size_t)(last - first + 1)};
}

static struct plan_values
list_divisors(int64_t whole, struct arena *arena)
{
    struct plan_values divisors = {0};
    int64_t *values = NULL;
    size_t room = 0;
    for (int64_t i = 1; i <= whole; i++) {
        if (whole % i != 0)
            continue;
        values = arena_grow(arena, values, divisors.count, &room, sizeof *values);
        values[divisors.count++] = i;
    }
    divisors.values = values;
    return divisors;
}

static struct plan_values
list_doublings(int64_t first, int64_t last, struct arena *arena)
{
    struct plan_values doublings = {0};
    int64_t *values = NULL;
    size_t room = 0;
    for (int64_t i = first; i <= last; i *= 2) {
        values = arena_grow(arena, values, doublings.count, &room, sizeof *values);
        values[doublings.count++] = i;
    }
    doublings.values = values;
    return doublings;
}

/* Divisors of the GPUs up to a limit. */
static struct plan_values
list_degrees(const struct cluster *cluster, int64_t most, struct arena *arena)
{
    struct plan_values degrees = list_divisors(cluster_gpus(cluster), arena);
    while (degrees.count > 1 && degrees.values[degrees.count - 1] > most)
        degrees.count--;
    return degrees;
}

struct plan_space
plan_space_of(const struct run *base, struct arena *arena)
{
    const struct cluster *cluster = base->inputs.cluster;
    const struct arch *arch = base->inputs.workload.arch;
    int64_t node = cluster->gpus_per_node;
    struct plan_space space = {.base = base};
    struct plan_values *fields = space.fields;
    fields[PLAN_FIELD_TENSOR] = list_degrees(cluster, node, arena);
    fields[PLAN_FIELD_CONTEXT] = list_degrees(cluster, node, arena);
    fields[PLAN_FIELD_PIPELINE] = list_degrees(cluster, arch->layers + 2, arena);
    fields[PLAN_FIELD_EXPERT] = list_degrees(cluster, arch->experts, arena);
    fields[PLAN_FIELD_EXPERT_TENSOR] =
        arch->experts > 0 ? list_run(1, 1, arena) : fields[PLAN_FIELD_TENSOR];
    fields[PLAN_FIELD_MICROBATCH] = list_doublings(1, MICROBATCH_MOST, arena);
    fields[PLAN_FIELD_SCHEDULE] = list_run(SCHEDULE_1F1B, SCHEDULE_DUALPIPE, arena);
    fields[PLAN_FIELD_VIRTUAL_STAGES] = list_run(1, VIRTUAL_STAGES_MOST, arena);
    fields[PLAN_FIELD_ZERO_STAGE] = list_run(0, 3, arena);
    fields[PLAN_FIELD_RECOMPUTE] =
        list_run(RECOMPUTE_NONE, RECOMPUTE_EVERY_OTHER_PRODUCT, arena);
    fields[PLAN_FIELD_ORDER] = list_run(0, 0, arena);
    return space;
}

static void
set_order(struct plan *plan, int64_t value)
{
    static const enum plan_axis orders[][PLAN_AXIS_COUNT] = {
        {AXIS_TENSOR, AXIS_CONTEXT, AXIS_EXPERT, AXIS_DATA, AXIS_PIPELINE},
        {AXIS_TENSOR, AXIS_CONTEXT, AXIS_EXPERT, AXIS_PIPELINE, AXIS_DATA}};
    memcpy(plan->order, orders[value], sizeof plan->order);
}

/* What stood in the base's file for other degrees goes: layers of its stages, its shards. */
static void
set_field(struct plan *plan, enum plan_field field, int64_t value)
{
    int64_t *const counts[PLAN_FIELD_COUNT] = {
        [PLAN_FIELD_TENSOR] = &plan->tensor,
        [PLAN_FIELD_CONTEXT] = &plan->context,
        [PLAN_FIELD_PIPELINE] = &plan->pipeline,
        [PLAN_FIELD_EXPERT] = &plan->expert,
        [PLAN_FIELD_EXPERT_TENSOR] = &plan->expert_tensor,
        [PLAN_FIELD_MICROBATCH] = &plan->microbatch_sequences,
        [PLAN_FIELD_VIRTUAL_STAGES] = &plan->virtual_stages,
        [PLAN_FIELD_ZERO_STAGE] = &plan->zero_stage,
    };
    if (counts[field])
        *counts[field] = value;
    else if (field == PLAN_FIELD_SCHEDULE)
        plan->schedule = (enum schedule_kind)value;
    else if (field == PLAN_FIELD_RECOMPUTE)
        plan->recompute = (enum recompute_kind)value;
    else
        set_order(plan, value);
}

struct plan
plan_space_plan(const struct plan_space *space, const struct plan_point *point)
{
    const struct plan *base = space->base->inputs.workload.plan;
    struct plan plan = *base;
    for (int field = 0; field < PLAN_FIELD_COUNT; field++)
        set_field(&plan, (enum plan_field)field, point->values[field]);
    if (plan.recompute != base->recompute) {
        plan.recompute_classes = plan_recompute_classes(plan.recompute);
        plan.recompute_layers = 0;
    }
    if (plan_virtual_stages(&plan) != plan_virtual_stages(base)) {
        plan.stage_layers = NULL;
        plan.stage_layers_list = NULL;
    }
    return plan;
}

/* One walk over the space. */
struct walk {
    const struct plan_space *space;
    const struct arch *arch;
    const struct cluster *cluster;
    plan_visit *visit;
    void *context;
    struct plan plan; /* fields so far */
    struct plan_point point;
    struct plan_counts counts;
};

static enum plan_refusal
check_tensor(const struct walk *walk)
{
    const struct arch *arch = walk->arch;
    int64_t tensor = walk->plan.tensor, heads = arch->kv_heads;
    bool has_dense = arch->experts == 0 || arch->dense_layers > 0;
    if (arch->query_heads % tensor != 0 || (heads % tensor != 0 && tensor % heads != 0))
        return PLAN_TENSOR;
    return has_dense && arch->dense_ffn % tensor != 0 ? PLAN_TENSOR : PLAN_LEGAL;
}

static enum plan_refusal
check_context(const struct walk *walk)
{
    const struct plan *plan = &walk->plan;
    bool is_ulysses = plan->context_exchange == CONTEXT_ULYSSES;
    int64_t pieces = plan->context * (plan->context > 1 && !is_ulysses ? 2 : 1) *
                     (plan->is_sequence_parallel ? plan->tensor : 1);
    if (cluster_gpus(walk->cluster) % (plan->tensor * plan->context) != 0)
        return PLAN_GPUS;
    if (plan->sequence_tokens % pieces != 0)
        return PLAN_SEQUENCE;
    bool has_heads = walk->arch->query_heads / plan->tensor % plan->context == 0;
    return is_ulysses && !has_heads ? PLAN_SEQUENCE : PLAN_LEGAL;
}

static enum plan_refusal
check_expert(const struct walk *walk)
{
    const struct plan *plan = &walk->plan;
    int64_t experts = walk->arch->experts > 0 ? walk->arch->experts : 1;
    if (experts % plan->expert != 0)
        return PLAN_EXPERTS;
    return cluster_gpus(walk->cluster) % (plan->expert * plan->pipeline) != 0 ? PLAN_GPUS
                                                                              : PLAN_LEGAL;
}

/* Experts whole or cut as the dense layers are; without experts there is nothing to cut. */
static enum plan_refusal
check_expert_tensor(const struct walk *walk)
{
    const struct plan *plan = &walk->plan;
    if (walk->arch->experts == 0)
        return plan->expert_tensor == plan->tensor ? PLAN_LEGAL : PLAN_REDUNDANT;
    if (walk->arch->expert_ffn % plan->expert_tensor != 0)
        return PLAN_EXPERTS;
    int64_t product = plan->expert_tensor * plan->expert * plan->pipeline;
    return cluster_gpus(walk->cluster) % product != 0 ? PLAN_GPUS : PLAN_LEGAL;
}

static enum plan_refusal
check_microbatch(const struct walk *walk)
{
    const struct plan *plan = &walk->plan;
    int64_t share = plan->microbatch_sequences * plan_data_degree(plan, walk->cluster);
    return plan->global_batch_sequences % share != 0 ? PLAN_BATCH : PLAN_LEGAL;
}

static enum plan_refusal
check_schedule(const struct walk *walk)
{
    const struct plan *plan = &walk->plan;
    int64_t microbatches = plan_microbatches(plan, walk->cluster);
    if (plan->pipeline == 1 && plan->schedule != SCHEDULE_1F1B)
        return PLAN_REDUNDANT;
    if (plan->schedule == SCHEDULE_INTERLEAVED && microbatches % plan->pipeline != 0)
        return PLAN_SCHEDULE;
    if (plan->schedule == SCHEDULE_DUALPIPE &&
        (plan->pipeline % 2 != 0 || microbatches % 2 != 0 || microbatches < 2 * plan->pipeline))
        return PLAN_SCHEDULE;
    return PLAN_LEGAL;
}

/* Chunks are known here: whether stages are even, where the file does not list their layers. */
static enum plan_refusal
check_virtual_stages(const struct walk *walk)
{
    const struct plan *plan = &walk->plan;
    const struct plan *base = walk->space->base->inputs.workload.plan;
    bool is_interleaved = plan->schedule == SCHEDULE_INTERLEAVED;
    int64_t stages = plan_virtual_stages(plan);
    int64_t counted =
        walk->arch->layers + plan->counts_embedding_as_layer + plan->counts_head_as_layer;
    if (is_interleaved != (plan->virtual_stages > 1))
        return PLAN_REDUNDANT;
    if (base->stage_layers && stages == plan_virtual_stages(base))
        return PLAN_LEGAL;
    return counted % stages != 0 ? PLAN_LAYERS : PLAN_LEGAL;
}

/* With a single data rank of either layout there is nothing to shard. */
static enum plan_refusal
check_zero_stage(const struct walk *walk)
{
    const struct plan *plan = &walk->plan;
    int64_t gpus = cluster_gpus(walk->cluster);
    bool has_data = plan->tensor * plan->pipeline < gpus ||
                    plan->expert_tensor * plan->expert * plan->pipeline < gpus;
    return plan->zero_stage > 0 && !has_data ? PLAN_REDUNDANT : PLAN_LEGAL;
}

static enum plan_refusal
check_order(const struct walk *walk)
{
    const struct plan *plan = &walk->plan;
    int64_t dense = plan->tensor * plan->context, experts = plan->expert_tensor * plan->expert;
    bool is_inner = walk->point.values[PLAN_FIELD_ORDER] == 1;
    if (is_inner && plan->pipeline == 1)
        return PLAN_REDUNDANT;
    return is_inner && walk->arch->experts > 0 && dense != experts ? PLAN_GPUS : PLAN_LEGAL;
}

static enum plan_refusal
check_field(const struct walk *walk, enum plan_field field)
{
    const struct plan *plan = &walk->plan;
    switch (field) {
    case PLAN_FIELD_TENSOR:
        return check_tensor(walk);
    case PLAN_FIELD_CONTEXT:
        return check_context(walk);
    case PLAN_FIELD_PIPELINE:
        if (plan->pipeline > walk->arch->layers + 2)
            return PLAN_LAYERS;
        return cluster_gpus(walk->cluster) % (plan->tensor * plan->context * plan->pipeline)
                   ? PLAN_GPUS
                   : PLAN_LEGAL;
    case PLAN_FIELD_EXPERT:
        return check_expert(walk);
    case PLAN_FIELD_EXPERT_TENSOR:
        return check_expert_tensor(walk);
    case PLAN_FIELD_MICROBATCH:
        return check_microbatch(walk);
    case PLAN_FIELD_SCHEDULE:
        return check_schedule(walk);
    case PLAN_FIELD_VIRTUAL_STAGES:
        return check_virtual_stages(walk);
    case PLAN_FIELD_ZERO_STAGE:
        return check_zero_stage(walk);
    case PLAN_FIELD_ORDER:
        return check_order(walk);
    case PLAN_FIELD_RECOMPUTE:
    case PLAN_FIELD_COUNT:
        break;
    }
    return PLAN_LEGAL;
}

/* Combinations of the fields behind this one. */
static double
count_behind(const struct plan_space *space, int field)
{
    double count = 1;
    for (int behind = field + 1; behind < PLAN_FIELD_COUNT; behind++)
        count *= (double)space->fields[behind].count;
    return count;
}

/* All of the plan is settled: the last word is plan_check's. */
static void
take_point(struct walk *walk)
{
    struct error_list errors = {0};
    struct plan plan = plan_space_plan(walk->space, &walk->point);
    if (!plan_check(&plan, NULL, walk->arch, walk->cluster, &errors)) {
        walk->counts.refused_count[PLAN_UNCHECKED]++;
        return;
    }
    walk->counts.legal_count++;
    if (walk->visit)
        walk->visit(walk->context, &walk->point);
}

static void
visit_values(struct walk *walk)
{
    size_t places[PLAN_FIELD_COUNT] = {0};
    int field = 0;
    while (field >= 0) {
        const struct plan_values *values = &walk->space->fields[field];
        if (places[field] == values->count) { /* all of it seen: back to the field before */
            places[field--] = 0;
            continue;
        }
        walk->point.values[field] = values->values[places[field]++];
        set_field(&walk->plan, (enum plan_field)field, walk->point.values[field]);
        enum plan_refusal refusal = check_field(walk, (enum plan_field)field);
        if (refusal != PLAN_LEGAL)
            walk->counts.refused_count[refusal] += count_behind(walk->space, field);
        else if (field == PLAN_FIELD_COUNT - 1)
            take_point(walk);
        else
            field++;
    }
}

struct plan_counts
plan_space_walk(const struct plan_space *space, plan_visit *visit, void *context)
{
    struct walk walk = {.space = space,
                        .arch = space->base->inputs.workload.arch,
                        .cluster = space->base->inputs.cluster,
                        .visit = visit,
                        .context = context,
                        .plan = *space->base->inputs.workload.plan};
    visit_values(&walk);
    return walk.counts;
}
