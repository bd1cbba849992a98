/* Whether model, cluster and plan go together, and what would. */
#include "models/plan_check_fp8.h"

#include <stdlib.h>

enum {
    MICROBATCH_TOKENS_MAX = 1 << 28, /* of one rank; keeps every product of sizes in range */
    MICROBATCHES_MAX = 4096,         /* of one rank and step; all are simulated one by one */
    RANKS_MAX = 1 << 17,             /* each one's share of the optimizer is priced */
};

/* What a check needs to see and where it tells. */
struct check {
    const struct plan *plan;
    const struct json *object; /* the plan's file; NULL: places are not asked for */
    const struct arch *arch;
    const struct cluster *cluster;
    struct error_list *errors;
};

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

/* The place of a key in the plan's file, the file itself where the key is left to its default or
 * there is none (NULL). Only of what is wrong: placing takes longer than all that is checked. */
static const char *
place_of(const struct check *check, const char *key)
{
    if (!check->object)
        return "";
    const struct json *value = key ? json_member(check->object, key) : NULL;
    return json_where(value ? value : check->object);
}

struct degree {
    const char *key;
    int64_t value;
    int64_t whole;    /* what it must divide */
    const char *noun; /* "experts" */
};

static void
check_degree(const struct check *check, const struct degree *degree)
{
    if (degree->whole % degree->value != 0)
        error_add(check->errors, ERROR_INFEASIBLE, place_of(check, degree->key),
                  "%lld does not divide the %lld %s of %s, the nearest that does is %lld",
                  (long long)degree->value, (long long)degree->whole, degree->noun,
                  check->arch->name, (long long)nearest_divisor(degree->whole, degree->value));
}

/* Key and value heads are cut as far as there are any, then each is on several ranks. */
static void
check_key_value_heads(const struct check *check)
{
    int64_t tensor = check->plan->tensor, heads = check->arch->kv_heads;
    if (heads % tensor != 0 && tensor % heads != 0)
        error_add(check->errors, ERROR_INFEASIBLE, place_of(check, "tensor"),
                  "%lld neither divides the %lld key and value heads of %s nor is a multiple, "
                  "the nearest that divides is %lld",
                  (long long)tensor, (long long)heads, check->arch->name,
                  (long long)nearest_divisor(heads, tensor));
}

static void
check_degrees(const struct check *check)
{
    const struct plan *plan = check->plan;
    const struct arch *arch = check->arch;
    bool is_moe = arch->experts > 0, has_dense = !is_moe || arch->dense_layers > 0;
    const struct degree degrees[] = {
        {"tensor", plan->tensor, arch->query_heads, "query heads"},
        {"tensor", plan->tensor, has_dense ? arch->dense_ffn : plan->tensor,
         "channels of the feed-forward"},
        {"context", plan->context, plan->sequence_tokens, "tokens of a sequence"},
        {"expert", plan->expert, is_moe ? arch->experts : plan->expert, "experts"},
    };
    const struct degree expert_tensor = {"expert_tensor", plan->expert_tensor,
                                         is_moe ? arch->expert_ffn : plan->expert_tensor,
                                         "channels of an expert"};
    int faults_before = check->errors->count;
    for (size_t i = 0; i < sizeof degrees / sizeof *degrees; i++)
        check_degree(check, &degrees[i]);
    if (check->errors->count == faults_before) /* by itself as tensor, which is wrong then */
        check_degree(check, &expert_tensor);
    if (arch->query_heads % plan->tensor == 0)
        check_key_value_heads(check);
    if (!is_moe && plan->expert > 1)
        error_add(check->errors, ERROR_INFEASIBLE, place_of(check, "expert"),
                  "%lld expert ranks, but %s has no experts, wanted 1", (long long)plan->expert,
                  arch->name);
}

/* The sequence is cut over the context ranks, in two pieces each but for Ulysses so that the causal
 * mask costs all the same, and then over the tensor ranks. */
static void
check_sequence(const struct check *check)
{
    const struct plan *plan = check->plan;
    bool is_zigzag = plan->context > 1 && plan->context_exchange != CONTEXT_ULYSSES;
    int64_t pieces = plan->context * (is_zigzag ? 2 : 1);
    int64_t rows = plan->is_sequence_parallel ? plan->tensor : 1;
    int64_t heads = check->arch->query_heads / plan->tensor, all = pieces * rows;
    int64_t nearest = (plan->sequence_tokens / all + 1) * all;
    if (plan->sequence_tokens % all != 0)
        error_add(check->errors, ERROR_INFEASIBLE, place_of(check, "sequence_tokens"),
                  "%lld tokens are not %lld equal pieces (context %lld%s x tensor %lld), the "
                  "nearest that are: %lld",
                  (long long)plan->sequence_tokens, (long long)all, (long long)plan->context,
                  is_zigzag ? " x 2" : "", (long long)rows, (long long)nearest);
    if (plan->context > 1 && plan->context_exchange == CONTEXT_ULYSSES &&
        heads % plan->context != 0)
        error_add(check->errors, ERROR_INFEASIBLE, place_of(check, "context"),
                  "%lld does not divide the %lld query heads of a tensor rank, which Ulysses "
                  "spreads over the context ranks; the nearest that does is %lld",
                  (long long)plan->context, (long long)heads,
                  (long long)nearest_divisor(heads, plan->context));
    if (check->arch->experts > 0 && plan->tensor > 1 && !plan->is_sequence_parallel &&
        plan->expert_tensor != plan->tensor)
        error_add(
            check->errors, ERROR_INFEASIBLE, place_of(check, "expert_tensor"),
            "%lld: without sequence parallelism every tensor rank has the same tokens and "
            "the same experts, wanted %lld, as tensor",
            (long long)plan->expert_tensor, (long long)plan->tensor);
}

/* A list says for itself; else each stage has equally many, counting embedding and head where the
 * plan does. */
static void
check_stage_layers(const struct check *check)
{
    const struct plan *plan = check->plan;
    int64_t stages = plan_virtual_stages(plan), sum = 0;
    int64_t count = (int64_t)json_count(plan->stage_layers_list);
    for (int64_t i = 0; i < count; i++)
        sum += plan->stage_layers[i];
    if (count != stages)
        error_add(check->errors, ERROR_INFEASIBLE, place_of(check, "stage_layers"),
                  "%lld numbers of layers, wanted one for each of %lld stages",
                  (long long)count, (long long)stages);
    else if (sum != check->arch->layers)
        error_add(check->errors, ERROR_INFEASIBLE, place_of(check, "stage_layers"),
                  "adds up to %lld layers, %s has %lld", (long long)sum, check->arch->name,
                  (long long)check->arch->layers);
}

static bool
is_even_split(const struct plan *plan, const struct arch *arch, int64_t pipeline)
{
    struct plan other = *plan;
    other.pipeline = pipeline;
    int64_t counted =
        arch->layers + plan->counts_embedding_as_layer + plan->counts_head_as_layer;
    int64_t stages = plan_virtual_stages(&other);
    return counted % stages == 0 && (stages == 1 || counted / stages >= 1);
}

/* Stages of several chunks each: so many of them, with as many chunks as would work. */
static bool
check_chunks(const struct check *check)
{
    struct plan other = *check->plan;
    int64_t wanted = check->plan->virtual_stages, nearest = 0;
    if (check->plan->schedule != SCHEDULE_INTERLEAVED)
        return true;
    for (int64_t chunks = 1; chunks <= check->arch->layers; chunks++) {
        other.virtual_stages = chunks;
        if (is_even_split(&other, check->arch, other.pipeline) &&
            (nearest == 0 || llabs(chunks - wanted) < llabs(nearest - wanted)))
            nearest = chunks;
    }
    if (nearest == 0 || nearest == wanted)
        return true;
    return error_add(check->errors, ERROR_INFEASIBLE, place_of(check, "virtual_stages"),
                     "%lld stages of %lld chunks do not divide the %lld layers of %s, the "
                     "nearest number of chunks that does is %lld; or say stage_layers",
                     (long long)other.pipeline, (long long)wanted,
                     (long long)check->arch->layers, check->arch->name, (long long)nearest);
}

static void
check_stages(const struct check *check)
{
    const struct plan *plan = check->plan;
    if (plan->virtual_stages > 1 && plan->schedule != SCHEDULE_INTERLEAVED)
        error_add(check->errors, ERROR_INFEASIBLE, place_of(check, "virtual_stages"),
                  "%lld chunks a stage, but its schedule has none of its own, wanted 1 or the "
                  "schedule interleaved",
                  (long long)plan->virtual_stages);
    if (plan->stage_layers) {
        check_stage_layers(check);
        return;
    }
    if (is_even_split(plan, check->arch, plan->pipeline) || !check_chunks(check))
        return;
    int64_t nearest = 1;
    for (int64_t p = 1; p <= check->arch->layers; p++)
        if (is_even_split(plan, check->arch, p) &&
            llabs(p - plan->pipeline) < llabs(nearest - plan->pipeline))
            nearest = p;
    int64_t chunks = plan_virtual_stages(plan) / plan->pipeline;
    error_add(check->errors, ERROR_INFEASIBLE, place_of(check, "pipeline"),
              "%lld%s does not divide the %lld layers of %s%s, the nearest that does is %lld; "
              "or say stage_layers",
              (long long)plan->pipeline, chunks > 1 ? " stages of several chunks" : "",
              (long long)check->arch->layers, check->arch->name,
              plan->counts_embedding_as_layer || plan->counts_head_as_layer
                  ? " with what counts as a layer"
                  : "",
              (long long)nearest);
}

/* Of the layers that a chunk has. */
static void
check_recompute(const struct check *check)
{
    const struct plan *plan = check->plan;
    int64_t most = 0;
    for (int64_t stage = 0; stage < plan_virtual_stages(plan); stage++) {
        int64_t layers = plan_layers(plan, check->arch, stage).count;
        most = layers > most ? layers : most;
    }
    if (plan->recompute_layers > most)
        error_add(check->errors, ERROR_INFEASIBLE, place_of(check, "recompute_layers"),
                  "%lld is more than the %lld layers of a stage, wanted at most those",
                  (long long)plan->recompute_layers, (long long)most);
}

/* The ranks of a stage must be the same ones in both layouts. */
static bool
is_pipeline_common(const struct plan *plan)
{
    int64_t dense = 1, experts = 1;
    for (int i = 0; plan->order[i] != AXIS_PIPELINE; i++) {
        if (plan->order[i] == AXIS_DATA)
            return true; /* all but the pipeline stands before it, or what follows is 1 */
        dense *= plan->order[i] == AXIS_TENSOR    ? plan->tensor
                 : plan->order[i] == AXIS_CONTEXT ? plan->context
                                                  : 1;
        experts *= plan->order[i] == AXIS_TENSOR   ? plan->expert_tensor
                   : plan->order[i] == AXIS_EXPERT ? plan->expert
                                                   : 1;
    }
    return dense == experts || plan->pipeline == 1;
}

/* Degrees that divide their model still have to divide the cluster, in both layouts. */
static bool
check_ranks(const struct check *check)
{
    const struct plan *plan = check->plan;
    long long gpus = cluster_gpus(check->cluster), pipeline = plan->pipeline;
    if (gpus > RANKS_MAX)
        return error_add(check->errors, ERROR_INFEASIBLE,
                         check->object ? json_file_name(check->object) : "",
                         "%s has %lld GPUs, at most %d are supported by this version",
                         check->cluster->name, gpus, RANKS_MAX);
    bool is_dense = gpus % (plan->tensor * plan->pipeline * plan->context) == 0;
    bool is_experts = gpus % (plan->expert_tensor * plan->expert * plan->pipeline) == 0;
    if (!is_dense)
        error_add(
            check->errors, ERROR_INFEASIBLE, place_of(check, NULL),
            "tensor %lld x pipeline %lld x context %lld does not divide the %lld GPUs of "
            "%s, a product of %lld would",
            (long long)plan->tensor, pipeline, (long long)plan->context, gpus,
            check->cluster->name,
            (long long)nearest_divisor(gpus, plan->tensor * plan->pipeline * plan->context));
    if (!is_experts)
        error_add(check->errors, ERROR_INFEASIBLE, place_of(check, NULL),
                  "expert_tensor %lld x expert %lld x pipeline %lld does not divide the %lld "
                  "GPUs of %s, a product of %lld would",
                  (long long)plan->expert_tensor, (long long)plan->expert, pipeline, gpus,
                  check->cluster->name,
                  (long long)nearest_divisor(gpus, plan->expert_tensor * plan->expert *
                                                       plan->pipeline));
    if (is_dense && is_experts && check->arch->experts > 0 && !is_pipeline_common(plan))
        return error_add(
            check->errors, ERROR_INFEASIBLE, place_of(check, "rank_order"),
            "stages of the experts would not be the stages of the dense layers: "
            "put pp last, or make expert_tensor x expert equal to tensor x context");
    return is_dense && is_experts;
}

static bool
check_batch(const struct check *check)
{
    const struct plan *plan = check->plan;
    const char *key =
        plan->global_batch_tokens > 0 ? "global_batch_tokens" : "global_batch_sequences";
    long long data = plan_data_degree(plan, check->cluster);
    long long share = plan->microbatch_sequences * data;
    long long batch = plan->global_batch_sequences;
    long long below = batch / share * share;
    long long nearest = below > 0 && batch - below < share / 2 ? below : below + share;
    if (batch % share != 0)
        return error_add(check->errors, ERROR_INFEASIBLE, place_of(check, key),
                         "%lld is not a multiple of %lld (microbatch %lld x data parallel "
                         "%lld), the nearest that is: %lld",
                         batch, share, (long long)plan->microbatch_sequences, data, nearest);
    if (batch / share > MICROBATCHES_MAX)
        return error_add(
            check->errors, ERROR_INFEASIBLE, place_of(check, key),
            "%lld sequences are %lld microbatches a rank, at most %d are simulated", batch,
            batch / share, MICROBATCHES_MAX);
    return true;
}

/* Interleaved stages take microbatches in groups of one a stage (Megatron-LM, schedules.py);
 * DualPipe feeds both ends at once and overlaps from twice the stages on (deepseek-ai/DualPipe). */
static void
check_schedule(const struct check *check)
{
    const struct plan *plan = check->plan;
    long long microbatches = plan_microbatches(plan, check->cluster), p = plan->pipeline;
    if (plan->schedule == SCHEDULE_INTERLEAVED && microbatches % p != 0)
        error_add(check->errors, ERROR_INFEASIBLE, place_of(check, "schedule"),
                  "interleaved stages need a multiple of %lld microbatches, found %lld, the "
                  "nearest is %lld",
                  p, microbatches, microbatches < p ? p : microbatches / p * p);
    if (plan->schedule != SCHEDULE_DUALPIPE)
        return;
    if (p % 2 != 0)
        error_add(check->errors, ERROR_INFEASIBLE, place_of(check, "pipeline"),
                  "DualPipe needs an even number of stages, found %lld, the nearest is %lld", p,
                  p + 1);
    if (microbatches < 2 * p || microbatches % 2 != 0)
        error_add(
            check->errors, ERROR_INFEASIBLE, place_of(check, "schedule"),
            "DualPipe needs an even number of at least %lld microbatches, found %lld, the "
            "nearest is %lld",
            2 * p, microbatches, microbatches < 2 * p ? 2 * p : microbatches + 1);
}

static void
check_sharding(const struct check *check)
{
    const struct plan *plan = check->plan;
    long long data = plan_data_degree(plan, check->cluster) * plan->context;
    if (plan->shard_ranks > 0 && data % plan->shard_ranks != 0)
        error_add(check->errors, ERROR_INFEASIBLE, place_of(check, "shard_ranks"),
                  "%lld does not divide the %lld data ranks, the nearest that does is %lld",
                  (long long)plan->shard_ranks, data,
                  (long long)nearest_divisor(data, plan->shard_ranks));
    bool is_row = plan->context == 1 || plan->pipeline == 1 ||
                  plan->order[PLAN_AXIS_COUNT - 1] == AXIS_PIPELINE;
    if (plan->shard_ranks > 0 && !is_row)
        error_add(check->errors, ERROR_INFEASIBLE, place_of(check, "shard_ranks"),
                  "shards need context and data ranks beside each other: put pp last in "
                  "rank_order");
}

/* Narrower dtypes need casts and scales: only products are run in them, by `fp8_recipe`. */
static bool
is_whole_model_dtype(enum dtype dtype)
{
    return dtype == DTYPE_FP32 || dtype == DTYPE_TF32 || dtype == DTYPE_BF16 ||
           dtype == DTYPE_FP16;
}

static bool
check_dtypes(const struct check *check)
{
    const struct plan *plan = check->plan;
    const struct device *device = check->cluster->device;
    if (!is_whole_model_dtype(plan->compute_dtype))
        return error_add(
            check->errors, ERROR_INFEASIBLE, place_of(check, "compute_dtype"),
            "a step in %s is not supported by this version, wanted fp32, tf32, bf16 or fp16%s",
            dtype_name(plan->compute_dtype),
            plan->compute_dtype == DTYPE_FP8 ? "; or bf16 and an fp8_recipe" : "");
    if (device->peak_flop_per_s[plan->compute_dtype] <= 0)
        return error_add(check->errors, ERROR_INFEASIBLE, place_of(check, "compute_dtype"),
                         "%s is no dtype of %s", dtype_name(plan->compute_dtype), device->name);
    if (plan->gradient_dtype != DTYPE_FP32 && plan->gradient_dtype != plan->compute_dtype)
        return error_add(check->errors, ERROR_INFEASIBLE, place_of(check, "gradient_dtype"),
                         "is %s, wanted fp32 or the compute dtype %s",
                         dtype_name(plan->gradient_dtype), dtype_name(plan->compute_dtype));
    return true;
}

/* What goes beyond the model, or is too large. */
static bool
check_model(const struct check *check)
{
    const struct plan *plan = check->plan;
    const struct arch *arch = check->arch;
    if (arch->context_max > 0 && plan->sequence_tokens > arch->context_max)
        return error_add(check->errors, ERROR_INFEASIBLE, place_of(check, "sequence_tokens"),
                         "%lld is more than the %lld positions that %s was made for",
                         (long long)plan->sequence_tokens, (long long)arch->context_max,
                         arch->name);
    if (plan->microbatch_sequences > MICROBATCH_TOKENS_MAX / plan->sequence_tokens)
        return error_add(check->errors, ERROR_INFEASIBLE,
                         place_of(check, "microbatch_sequences"),
                         "%lld sequences of %lld tokens are more than %d tokens a microbatch",
                         (long long)plan->microbatch_sequences,
                         (long long)plan->sequence_tokens, MICROBATCH_TOKENS_MAX);
    if (plan->adapters &&
        !adapters_check(plan->adapters, plan->adapters_object, arch, check->errors))
        return false;
    if (plan->routing)
        return routing_check(plan->routing, plan->routing_object, arch->experts, check->errors);
    return true;
}

bool
plan_check(const struct plan *plan, const struct json *object, const struct arch *arch,
           const struct cluster *cluster, struct error_list *errors)
{
    struct check check = {plan, object, arch, cluster, errors};
    int faults_before = errors->count;
    check_degrees(&check);
    check_stages(&check);
    if (errors->count == faults_before) { /* else they would say the same again */
        check_recompute(&check);
        check_sequence(&check);
    }
    if (errors->count == faults_before && check_ranks(&check) && check_batch(&check)) {
        check_schedule(&check);
        check_sharding(&check);
    }
    check_dtypes(&check);
    plan_check_fp8(plan, object, arch, cluster, errors);
    check_model(&check);
    return errors->count == faults_before;
}
