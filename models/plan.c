/* How a model is trained: reading a plan. */
#include "models/plan.h"

#include <stddef.h>
#include <string.h>

#include "models/step_class.h"

static const char *const OPTIMIZER_NAMES[] = {"adamw", "muon", NULL};
static const char *const DISTRIBUTION_NAMES[] = {"neighbour", "all_gather", "layer_sharded",
                                                 NULL};
static const char *const RECOMPUTE_NAMES[] = {"none", "selective", "full",
                                              "every_other_product", NULL};
static const char *const FP8_NAMES[] = {
    "none", "tensorwise", "delayed", "rowwise", "rowwise_with_gw_hp", "blockwise", NULL};
static const char *const SCHEDULE_NAMES[] = {"1f1b", "interleaved", "zb_h1",
                                             "zb_v", "dualpipe",    NULL};
static const char *const CONTEXT_NAMES[] = {"ring", "all_gather", "ulysses", NULL};
static const char *const AXIS_NAMES[PLAN_AXIS_COUNT] = {"tp", "cp", "ep", "dp", "pp"};

enum {
    SIZE_MAX_COUNT = 1 << 30,      /* far above any real degree or batch: catches slips */
    SEQUENCE_TOKENS_MAX = 1 << 24, /* 16 M: the longest contexts trained are 1 M */
    VIRTUAL_STAGES_MAX = 1 << 10,  /* a chunk has at least a layer, and models have fewer */
};
static const double BATCH_TOKENS_MAX = 1099511627776; /* 2^40 */

#define PLAN_COUNT(member, flags)                                                              \
    {                                                                                          \
#member, JSON_FIELD_INTEGER, offsetof(struct plan, member), flags, 1, SIZE_MAX_COUNT,  \
            NULL                                                                               \
    }
#define PLAN_FLAG(member, flags)                                                               \
    {                                                                                          \
#member, JSON_FIELD_BOOL, offsetof(struct plan, member), flags, 0, 0, NULL             \
    }
#define PLAN_CHOICE(member, flags, names)                                                      \
    {                                                                                          \
#member, JSON_FIELD_CHOICE, offsetof(struct plan, member), flags, 0, 0, names          \
    }

static const struct json_field FIELDS[] = {
    {"name", JSON_FIELD_STRING, offsetof(struct plan, name), 0, 0, 0, NULL},
    {"sequence_tokens", JSON_FIELD_INTEGER, offsetof(struct plan, sequence_tokens), 0, 1,
     SEQUENCE_TOKENS_MAX, NULL},
    PLAN_COUNT(microbatch_sequences, 0),
    PLAN_COUNT(global_batch_sequences, JSON_OPTIONAL),
    {"global_batch_tokens", JSON_FIELD_INTEGER, offsetof(struct plan, global_batch_tokens),
     JSON_OPTIONAL, 1, BATCH_TOKENS_MAX, NULL},
    PLAN_COUNT(tensor, JSON_OPTIONAL),
    PLAN_COUNT(pipeline, JSON_OPTIONAL),
    PLAN_COUNT(context, JSON_OPTIONAL),
    PLAN_COUNT(expert, JSON_OPTIONAL),
    PLAN_COUNT(expert_tensor, JSON_OPTIONAL),
    {"rank_order", JSON_FIELD_VALUE, offsetof(struct plan, rank_order), JSON_OPTIONAL, 0, 0,
     NULL},
    PLAN_FLAG(is_sequence_parallel, JSON_OPTIONAL),
    PLAN_FLAG(is_vocabulary_parallel, JSON_OPTIONAL),
    PLAN_FLAG(has_dropout, JSON_OPTIONAL),
    PLAN_FLAG(reduces_every_microbatch, JSON_OPTIONAL),
    PLAN_CHOICE(context_exchange, JSON_OPTIONAL, CONTEXT_NAMES),
    PLAN_CHOICE(schedule, JSON_OPTIONAL, SCHEDULE_NAMES),
    {"virtual_stages", JSON_FIELD_INTEGER, offsetof(struct plan, virtual_stages), JSON_OPTIONAL,
     1, VIRTUAL_STAGES_MAX, NULL},
    {"stage_layers", JSON_FIELD_VALUE, offsetof(struct plan, stage_layers_list),
     JSON_OPTIONAL | JSON_NULLABLE, 0, 0, NULL},
    PLAN_FLAG(counts_embedding_as_layer, JSON_OPTIONAL),
    PLAN_FLAG(counts_head_as_layer, JSON_OPTIONAL),
    {"zero_stage", JSON_FIELD_INTEGER, offsetof(struct plan, zero_stage), 0, 0, 3, NULL},
    PLAN_COUNT(shard_ranks, JSON_OPTIONAL),
    PLAN_CHOICE(compute_dtype, 0, dtype_names),
    PLAN_CHOICE(fp8_recipe, JSON_OPTIONAL, FP8_NAMES),
    PLAN_FLAG(gathers_weights_in_fp8, JSON_OPTIONAL),
    PLAN_FLAG(dispatches_in_fp8, JSON_OPTIONAL),
    PLAN_CHOICE(gradient_dtype, 0, dtype_names),
    PLAN_COUNT(bucket_parameters, 0),
    PLAN_FLAG(overlaps_gradient_reduction, 0),
    PLAN_FLAG(overlaps_parameter_gather, 0),
    PLAN_FLAG(overlaps_tensor_exchange, JSON_OPTIONAL),
    PLAN_FLAG(overlaps_expert_exchange, JSON_OPTIONAL),
    PLAN_FLAG(overlaps_pipeline_transfer, JSON_OPTIONAL),
    PLAN_FLAG(keeps_sent_tensors, JSON_OPTIONAL),
    PLAN_CHOICE(recompute, JSON_OPTIONAL, RECOMPUTE_NAMES),
    PLAN_COUNT(recompute_layers, JSON_OPTIONAL),
    {"recompute_operators", JSON_FIELD_VALUE, offsetof(struct plan, recompute_list),
     JSON_OPTIONAL | JSON_NULLABLE, 0, 0, NULL},
    PLAN_CHOICE(optimizer, 0, OPTIMIZER_NAMES),
    PLAN_CHOICE(muon_distribution, JSON_OPTIONAL, DISTRIBUTION_NAMES),
    PLAN_FLAG(clips_gradients, JSON_OPTIONAL),
    {"newton_schulz_steps", JSON_FIELD_INTEGER, offsetof(struct plan, newton_schulz_steps),
     JSON_OPTIONAL, 1, 100, NULL},
    PLAN_FLAG(is_newton_schulz_symmetric, JSON_OPTIONAL),
    {"adapters", JSON_FIELD_VALUE, offsetof(struct plan, adapters_object),
     JSON_OPTIONAL | JSON_NULLABLE, 0, 0, NULL},
    {"routing", JSON_FIELD_VALUE, offsetof(struct plan, routing_object),
     JSON_OPTIONAL | JSON_NULLABLE, 0, 0, NULL},
};
static const struct json_object_type TYPE = {"a plan", FIELDS, sizeof FIELDS / sizeof *FIELDS,
                                             NULL};

/* Each axis once, joined by "-". */
static bool
parse_order(const char *text, enum plan_axis *order)
{
    unsigned seen = 0;
    for (int place = 0; place < PLAN_AXIS_COUNT; place++) {
        int axis = 0;
        while (axis < PLAN_AXIS_COUNT && strncmp(text, AXIS_NAMES[axis], 2) != 0)
            axis++;
        char wanted_end = place < PLAN_AXIS_COUNT - 1 ? '-' : '\0';
        if (axis == PLAN_AXIS_COUNT || seen & 1u << axis || text[2] != wanted_end)
            return false;
        seen |= 1u << axis;
        order[place] = (enum plan_axis)axis;
        text += 3;
    }
    return true;
}

static bool
read_order(struct plan *plan, struct error_list *errors)
{
    const struct json *value = plan->rank_order;
    const char *text = "tp-cp-ep-dp-pp";
    if (value && json_kind(value) != JSON_KIND_STRING)
        return json_fail(value, errors, "is no text, wanted an order such as \"%s\"", text);
    if (value)
        text = json_as_string(value);
    return parse_order(text, plan->order) ||
           json_fail(value, errors,
                     "is \"%.40s\", wanted each of tp, cp, ep, dp and pp once, "
                     "such as \"tp-cp-ep-dp-pp\"",
                     text);
}

/* Only that it is a list of counts; whether it fits the model is for plan_check. */
static bool
read_stage_layers(struct plan *plan, struct arena *arena, struct error_list *errors)
{
    const struct json *list = plan->stage_layers_list;
    if (!list)
        return true;
    if (json_kind(list) != JSON_KIND_ARRAY || json_count(list) == 0)
        return json_fail(list, errors,
                         "is no list, wanted the layers of each stage, such as "
                         "[11, 10, 10, 9]");
    int64_t *layers = arena_alloc(arena, json_count(list), sizeof *layers);
    for (size_t i = 0; i < json_count(list); i++) {
        const struct json *one = json_element(list, i);
        if (json_kind(one) != JSON_KIND_INTEGER || json_as_integer(one) < 0 ||
            json_as_integer(one) > SIZE_MAX_COUNT)
            return json_fail(one, errors, "is no number of layers");
        layers[i] = json_as_integer(one);
    }
    plan->stage_layers = layers;
    return true;
}

/* The class of that key among those that kernels of a layer count for. */
static int
find_class(const char *key)
{
    int spent_on = 0;
    while (spent_on < CLASS_HEAD && strcmp(key, step_class_key((enum step_class)spent_on)) != 0)
        spent_on++;
    return spent_on;
}

uint64_t
plan_recompute_classes(enum recompute_kind recompute)
{
    return recompute == RECOMPUTE_SELECTIVE ? 1u << CLASS_ATTENTION_CORE : 0;
}

bool
plan_repeats_layer(const struct plan *plan, int64_t index)
{
    bool is_among = plan->recompute_layers == 0 || index < plan->recompute_layers;
    return plan->recompute == RECOMPUTE_FULL && is_among;
}

static bool
read_recompute(struct plan *plan, const struct json *object, struct error_list *errors)
{
    const struct json *list = plan->recompute_list;
    plan->recompute_classes = plan_recompute_classes(plan->recompute);
    if (plan->recompute_layers > 0 && plan->recompute != RECOMPUTE_FULL)
        return json_fail(json_member(object, "recompute_layers"), errors,
                         "%lld: layers run again whole, wanted \"recompute\": \"full\"",
                         (long long)plan->recompute_layers);
    if (!list)
        return true;
    if (json_kind(list) != JSON_KIND_ARRAY || plan->recompute != RECOMPUTE_NONE)
        return json_fail(list, errors,
                         "wanted a list of operators in place of \"recompute\", such as "
                         "[\"feed_forward\", \"norm_residual\"]");
    for (size_t i = 0; i < json_count(list); i++) {
        const struct json *one = json_element(list, i);
        bool is_text = json_kind(one) == JSON_KIND_STRING;
        int spent_on = is_text ? find_class(json_as_string(one)) : CLASS_HEAD;
        if (spent_on == CLASS_HEAD)
            return json_fail(one, errors,
                             "wanted norm_residual, attention_projection, attention_mixing, "
                             "attention_core, router, dispatch or feed_forward");
        plan->recompute_classes |= 1u << spent_on;
    }
    return true;
}

static bool
read_batch(struct plan *plan, const struct json *object, struct error_list *errors)
{
    int64_t sequences = plan->global_batch_sequences, tokens = plan->global_batch_tokens;
    if ((sequences > 0) == (tokens > 0))
        return json_fail(object, errors,
                         "wanted either \"global_batch_sequences\" or "
                         "\"global_batch_tokens\"");
    if (tokens == 0)
        return true;
    if (tokens % plan->sequence_tokens != 0) {
        int64_t below = tokens / plan->sequence_tokens * plan->sequence_tokens;
        return json_fail(json_member(object, "global_batch_tokens"), errors,
                         "%lld is not a multiple of the %lld tokens of a sequence, the nearest "
                         "that is: %lld",
                         (long long)tokens, (long long)plan->sequence_tokens,
                         (long long)(below > 0 ? below : plan->sequence_tokens));
    }
    plan->global_batch_sequences = tokens / plan->sequence_tokens;
    return true;
}

const struct plan *
plan_read(const struct json *object, struct arena *arena, struct error_list *errors)
{
    struct plan *plan = arena_alloc(arena, 1, sizeof *plan);
    *plan = (struct plan){.tensor = 1,
                          .pipeline = 1,
                          .context = 1,
                          .expert = 1,
                          .virtual_stages = 1,
                          .is_sequence_parallel = true,
                          .is_vocabulary_parallel = true,
                          .overlaps_tensor_exchange = true,
                          .overlaps_pipeline_transfer = true,
                          .clips_gradients = true,
                          .newton_schulz_steps = 5, /* Muon's own default, Jordan 2024 */
                          .is_newton_schulz_symmetric = false};
    if (!json_read_object(object, &TYPE, plan, errors))
        return NULL;
    bool is_right = read_order(plan, errors);
    is_right = read_stage_layers(plan, arena, errors) && is_right;
    is_right = read_recompute(plan, object, errors) && is_right;
    is_right = read_batch(plan, object, errors) && is_right;
    if (plan->routing_object) {
        plan->routing = routing_read(plan->routing_object, arena, errors);
        is_right = plan->routing && is_right;
    }
    if (plan->adapters_object) {
        plan->adapters = adapters_read(plan->adapters_object, arena, errors);
        is_right = plan->adapters && is_right;
    }
    if (plan->expert_tensor == 0)
        plan->expert_tensor = plan->tensor;
    return is_right ? plan : NULL;
}

const char *
fp8_recipe_name(enum fp8_recipe recipe)
{
    return FP8_NAMES[recipe];
}

bool
plan_reduces_each_pass(const struct plan *plan)
{
    return plan->zero_stage >= 2 || plan->reduces_every_microbatch;
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

int64_t
plan_chunks(const struct plan *plan)
{
    if (plan->schedule == SCHEDULE_INTERLEAVED)
        return plan->virtual_stages;
    return plan->schedule == SCHEDULE_ZB_V || plan->schedule == SCHEDULE_DUALPIPE ? 2 : 1;
}

int64_t
plan_virtual_stages(const struct plan *plan)
{
    bool is_twice = plan->schedule == SCHEDULE_DUALPIPE;
    return plan->pipeline * (is_twice ? 1 : plan_chunks(plan));
}

/* Even, embedding and head counted as a layer each where the plan says so (Megatron-LM's
 * --account-for-embedding-in-pipeline-split and --account-for-loss-in-pipeline-split). */
struct layer_span
plan_layers(const struct plan *plan, const struct arch *arch, int64_t virtual_stage)
{
    struct layer_span span = {0, arch->layers};
    int64_t stages = plan_virtual_stages(plan), first = plan->counts_embedding_as_layer,
            last = plan->counts_head_as_layer;
    if (plan->stage_layers) {
        for (int64_t i = 0; i < virtual_stage; i++)
            span.first += plan->stage_layers[i];
        span.count = plan->stage_layers[virtual_stage];
    } else if (stages > 1) {
        int64_t each = (arch->layers + first + last) / stages;
        span.first = virtual_stage == 0 ? 0 : virtual_stage * each - first;
        span.count =
            each - (virtual_stage == 0 ? first : 0) - (virtual_stage == stages - 1 ? last : 0);
    }
    return span;
}
