/* How a model is trained: reading and checking a plan. */
#include "models/plan.h"

#include <stddef.h>
#include <stdlib.h>

static const char *const OPTIMIZER_NAMES[] = {"adamw", "muon", NULL};
static const char *const RECOMPUTE_NAMES[] = {"none", "full", NULL};

enum {
    SIZE_MAX_COUNT = 1 << 30,        /* far above any real degree or batch: catches slips */
    SEQUENCE_TOKENS_MAX = 1 << 24,   /* 16 M: the longest contexts trained are 1 M */
    MICROBATCH_TOKENS_MAX = 1 << 28, /* of one rank; keeps every product of sizes in range */
    MICROBATCHES_MAX = 4096,         /* of one rank and step; all are simulated one by one */
    RANKS_MAX = 1 << 17,             /* each one's share of the optimizer is priced */
};

#define PLAN_COUNT(member, flags)                                                              \
    {                                                                                          \
#member, JSON_FIELD_INTEGER, offsetof(struct plan, member), flags, 1, SIZE_MAX_COUNT,  \
            NULL                                                                               \
    }

static const struct json_field FIELDS[] = {
    {"name", JSON_FIELD_STRING, offsetof(struct plan, name), 0, 0, 0, NULL},
    {"sequence_tokens", JSON_FIELD_INTEGER, offsetof(struct plan, sequence_tokens), 0, 1,
     SEQUENCE_TOKENS_MAX, NULL},
    PLAN_COUNT(microbatch_sequences, 0),
    PLAN_COUNT(global_batch_sequences, 0),
    PLAN_COUNT(tensor, JSON_OPTIONAL),
    PLAN_COUNT(pipeline, JSON_OPTIONAL),
    PLAN_COUNT(context, JSON_OPTIONAL),
    PLAN_COUNT(expert, JSON_OPTIONAL),
    {"zero_stage", JSON_FIELD_INTEGER, offsetof(struct plan, zero_stage), 0, 0, 3, NULL},
    {"compute_dtype", JSON_FIELD_CHOICE, offsetof(struct plan, compute_dtype), 0, 0, 0,
     dtype_names},
    {"gradient_dtype", JSON_FIELD_CHOICE, offsetof(struct plan, gradient_dtype), 0, 0, 0,
     dtype_names},
    PLAN_COUNT(bucket_parameters, 0),
    {"overlaps_gradient_reduction", JSON_FIELD_BOOL,
     offsetof(struct plan, overlaps_gradient_reduction), 0, 0, 0, NULL},
    {"overlaps_parameter_gather", JSON_FIELD_BOOL,
     offsetof(struct plan, overlaps_parameter_gather), 0, 0, 0, NULL},
    {"recompute", JSON_FIELD_CHOICE, offsetof(struct plan, recompute), JSON_OPTIONAL, 0, 0,
     RECOMPUTE_NAMES},
    {"optimizer", JSON_FIELD_CHOICE, offsetof(struct plan, optimizer), 0, 0, 0,
     OPTIMIZER_NAMES},
    {"newton_schulz_steps", JSON_FIELD_INTEGER, offsetof(struct plan, newton_schulz_steps),
     JSON_OPTIONAL, 1, 100, NULL},
    {"is_newton_schulz_symmetric", JSON_FIELD_BOOL,
     offsetof(struct plan, is_newton_schulz_symmetric), JSON_OPTIONAL, 0, 0, NULL},
    {"routing", JSON_FIELD_VALUE, offsetof(struct plan, routing_object),
     JSON_OPTIONAL | JSON_NULLABLE, 0, 0, NULL},
};
static const struct json_object_type TYPE = {"a plan", FIELDS, sizeof FIELDS / sizeof *FIELDS,
                                             NULL};

const struct plan *
plan_read(const struct json *object, struct arena *arena, struct error_list *errors)
{
    struct plan *plan = arena_alloc(arena, 1, sizeof *plan);
    *plan = (struct plan){.tensor = 1,
                          .pipeline = 1,
                          .context = 1,
                          .expert = 1,
                          .newton_schulz_steps = 5, /* Muon's own default, Jordan 2024 */
                          .is_newton_schulz_symmetric = false};
    if (!json_read_object(object, &TYPE, plan, errors))
        return NULL;
    if (plan->routing_object) {
        plan->routing = routing_read(plan->routing_object, arena, errors);
        return plan->routing ? plan : NULL;
    }
    return plan;
}

int64_t
plan_data_degree(const struct plan *plan, const struct cluster *cluster)
{
    return cluster_gpus(cluster) / (plan->tensor * plan->pipeline * plan->context);
}

int64_t
plan_microbatches(const struct plan *plan, const struct cluster *cluster)
{
    return plan->global_batch_sequences /
           (plan->microbatch_sequences * plan_data_degree(plan, cluster));
}

int64_t
plan_microbatch_tokens(const struct plan *plan)
{
    return plan->microbatch_sequences * plan->sequence_tokens;
}

int64_t
plan_step_tokens(const struct plan *plan)
{
    return plan->global_batch_sequences * plan->sequence_tokens;
}

/* The divisor of `whole` nearest to `wanted`: what a message can offer instead. */
static int64_t
nearest_divisor(int64_t whole, int64_t wanted)
{
    int64_t best = 1;
    for (int64_t divisor = 1; divisor * divisor <= whole; divisor++) {
        const int64_t pair[] = {divisor, whole / divisor};
        for (int i = 0; whole % divisor == 0 && i < 2; i++)
            if (llabs(pair[i] - wanted) < llabs(best - wanted))
                best = pair[i];
    }
    return best;
}

struct degree {
    const char *key;
    int64_t value;
    int64_t whole;    /* what it must divide */
    const char *noun; /* "experts" */
};

/* The place of a key in the plan's file, the file itself where the key is left to its default.
 */
static const struct json *
place_of(const struct json *object, const char *key)
{
    const struct json *value = json_member(object, key);
    return value ? value : object;
}

static bool
check_degree(const struct degree *degree, const struct json *object, const struct arch *arch,
             struct error_list *errors)
{
    const struct json *place = place_of(object, degree->key);
    if (degree->whole % degree->value != 0)
        return json_fail(
            place, errors,
            "%lld does not divide the %lld %s of %s, the nearest that does is %lld",
            (long long)degree->value, (long long)degree->whole, degree->noun, arch->name,
            (long long)nearest_divisor(degree->whole, degree->value));
    if (degree->value != 1)
        return error_add(errors, ERROR_INFEASIBLE, json_where(place),
                         "%s parallelism of %lld is not supported by this version, wanted 1",
                         degree->key, (long long)degree->value);
    return true;
}

static bool
check_degrees(const struct plan *plan, const struct json *object, const struct arch *arch,
              struct error_list *errors)
{
    const struct degree degrees[] = {
        {"tensor", plan->tensor, arch->query_heads, "query heads"},
        {"pipeline", plan->pipeline, arch->layers, "layers"},
        {"context", plan->context, plan->sequence_tokens, "tokens of a sequence"},
        {"expert", plan->expert, arch->experts > 0 ? arch->experts : 1, "experts"},
    };
    int faults_before = errors->count;
    for (size_t i = 0; i < sizeof degrees / sizeof *degrees; i++)
        check_degree(&degrees[i], object, arch, errors);
    return errors->count == faults_before;
}

static bool
check_batch(const struct plan *plan, const struct json *object, const struct cluster *cluster,
            struct error_list *errors)
{
    const struct json *place = place_of(object, "global_batch_sequences");
    long long data = plan_data_degree(plan, cluster);
    long long share = plan->microbatch_sequences * data;
    long long batch = plan->global_batch_sequences;
    long long below = batch / share * share;
    long long nearest = below > 0 && batch - below < share / 2 ? below : below + share;
    if (batch % share != 0)
        return json_fail(
            place, errors,
            "%lld is not a multiple of %lld (microbatch %lld x data parallel %lld), "
            "the nearest that is: %lld",
            batch, share, (long long)plan->microbatch_sequences, data, nearest);
    if (batch / share > MICROBATCHES_MAX)
        return error_add(
            errors, ERROR_INFEASIBLE, json_where(place),
            "%lld sequences are %lld microbatches a rank, at most %d are simulated", batch,
            batch / share, MICROBATCHES_MAX);
    return true;
}

/* Degrees that divide their model still have to divide the cluster. */
static bool
check_ranks(const struct plan *plan, const struct json *object, const struct cluster *cluster,
            struct error_list *errors)
{
    if (cluster_gpus(cluster) > RANKS_MAX)
        return error_add(errors, ERROR_INFEASIBLE, json_file_name(object),
                         "%s has %lld GPUs, at most %d are supported by this version",
                         cluster->name, (long long)cluster_gpus(cluster), RANKS_MAX);
    if (cluster_gpus(cluster) % (plan->tensor * plan->pipeline * plan->context) == 0)
        return check_batch(plan, object, cluster, errors);
    return json_fail(object, errors,
                     "tensor %lld x pipeline %lld x context %lld does not divide the %lld GPUs "
                     "of %s",
                     (long long)plan->tensor, (long long)plan->pipeline,
                     (long long)plan->context, (long long)cluster_gpus(cluster), cluster->name);
}

/* Narrower dtypes need casts and scales that the operators do not have yet. */
static bool
is_whole_model_dtype(enum dtype dtype)
{
    return dtype == DTYPE_FP32 || dtype == DTYPE_TF32 || dtype == DTYPE_BF16 ||
           dtype == DTYPE_FP16;
}

static bool
check_dtypes(const struct plan *plan, const struct json *object, const struct cluster *cluster,
             struct error_list *errors)
{
    const struct device *device = cluster->device;
    if (!is_whole_model_dtype(plan->compute_dtype))
        return error_add(
            errors, ERROR_INFEASIBLE, json_where(place_of(object, "compute_dtype")),
            "a step in %s is not supported by this version, wanted fp32, tf32, bf16 "
            "or fp16",
            dtype_name(plan->compute_dtype));
    if (device->peak_flop_per_s[plan->compute_dtype] <= 0)
        return json_fail(place_of(object, "compute_dtype"), errors, "%s is no dtype of %s",
                         dtype_name(plan->compute_dtype), device->name);
    if (plan->gradient_dtype != DTYPE_FP32 && plan->gradient_dtype != plan->compute_dtype)
        return json_fail(place_of(object, "gradient_dtype"), errors,
                         "is %s, wanted fp32 or the compute dtype %s",
                         dtype_name(plan->gradient_dtype), dtype_name(plan->compute_dtype));
    return true;
}

static bool
check_zero_stage(const struct plan *plan, const struct json *object, struct error_list *errors)
{
    return plan->zero_stage <= 1 ||
           error_add(errors, ERROR_INFEASIBLE, json_where(place_of(object, "zero_stage")),
                     "ZeRO-%lld is not supported by this version, wanted 0 or 1",
                     (long long)plan->zero_stage);
}

/* What goes beyond the model, or is too large. */
static bool
check_model(const struct plan *plan, const struct json *object, const struct arch *arch,
            struct error_list *errors)
{
    if (arch->context_max > 0 && plan->sequence_tokens > arch->context_max)
        return json_fail(place_of(object, "sequence_tokens"), errors,
                         "%lld is more than the %lld positions that %s was made for",
                         (long long)plan->sequence_tokens, (long long)arch->context_max,
                         arch->name);
    if (plan->microbatch_sequences > MICROBATCH_TOKENS_MAX / plan->sequence_tokens)
        return json_fail(place_of(object, "microbatch_sequences"), errors,
                         "%lld sequences of %lld tokens are more than %d tokens a microbatch",
                         (long long)plan->microbatch_sequences,
                         (long long)plan->sequence_tokens, MICROBATCH_TOKENS_MAX);
    if (plan->routing)
        return routing_check(plan->routing, plan->routing_object, arch->experts, errors);
    return true;
}

bool
plan_check(const struct plan *plan, const struct json *object, const struct arch *arch,
           const struct cluster *cluster, struct error_list *errors)
{
    int faults_before = errors->count;
    if (check_degrees(plan, object, arch, errors))
        check_ranks(plan, object, cluster, errors);
    check_zero_stage(plan, object, errors);
    check_dtypes(plan, object, cluster, errors);
    check_model(plan, object, arch, errors);
    return errors->count == faults_before;
}
