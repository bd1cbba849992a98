/* From a run's files to the sizes of a training step: the one place where validate knows models. */
#include "validate/training_question.h"

#include <stddef.h>

#include "models/run.h"
#include "sim/base/path.h"

struct line {
    const char *run;
    const struct json *settings; /* may be NULL */
};

static const struct json_field FIELDS[] = {
    {"run", JSON_FIELD_STRING, offsetof(struct line, run), 0, 0, 0, NULL},
    {"settings", JSON_FIELD_VALUE, offsetof(struct line, settings), JSON_OPTIONAL, 0, 0, NULL},
};
static const char *const IGNORED[] = {"measured_*", "note", "source", NULL};
static const struct json_object_type TYPE = {"a training step", FIELDS,
                                             sizeof FIELDS / sizeof *FIELDS, IGNORED};

bool
training_question_parse(const struct json *object, struct training_question *question,
                        struct arena *arena, struct error_list *errors)
{
    struct line line = {0};
    if (!json_read_object(object, &TYPE, &line, errors))
        return false;
    size_t count = line.settings ? json_count(line.settings) : 0;
    if (line.settings && json_kind(line.settings) != JSON_KIND_ARRAY)
        return json_fail(line.settings, errors, "wanted a list of settings");
    const char **settings = arena_alloc(arena, count + 1, sizeof *settings);
    for (size_t i = 0; i < count; i++) {
        const struct json *setting = json_element(line.settings, i);
        if (json_kind(setting) != JSON_KIND_STRING)
            return json_fail(setting, errors, "wanted a setting, \"plan.pipeline=2\"");
        settings[i] = json_as_string(setting);
    }
    *question = (struct training_question){path_beside(json_file_name(object), line.run, arena),
                                           settings, count};
    return true;
}

/* What the training program can do. */
struct demand {
    bool is_met;
    const char *wanted; /* "model.attention gqa" */
};

static bool
check_demands(const struct demand *demands, size_t count, const char *path,
              struct error_list *errors)
{
    bool is_right = true;
    for (size_t i = 0; i < count; i++)
        if (!demands[i].is_met)
            is_right =
                error_add(errors, ERROR_INPUT, path, "a real step wants %s", demands[i].wanted);
    return is_right;
}

static bool
check_arch(const struct run *run, const struct arch *arch, struct error_list *errors)
{
    bool has_bias = arch->has_attention_bias || arch->has_ffn_bias || arch->has_router_bias;
    bool is_plain_router = arch->router == ROUTER_LINEAR && !arch->is_router_sigmoid &&
                           !arch->has_balancing_bias && arch->router_groups == 0 &&
                           !arch->has_skip_route;
    const struct demand demands[] = {
        {arch->attention == ATTENTION_GQA && arch->window == WINDOW_NONE,
         "attention gqa without windows"},
        {arch->rotary_fraction <= 0, "rotary_fraction 0"},
        {!arch->has_query_key_norm && !arch->has_attention_sinks,
         "neither norms nor sinks inside attention"},
        {arch->experts > 0 && arch->dense_layers == 0 && arch->shared_ffn == 0,
         "experts in every layer, none of them shared"},
        {is_plain_router, "a linear router with a softmax"},
        {!has_bias, "no biases"},
        {!arch->has_residual_scaling && !arch->is_residual_fp32, "a plain residual"},
        {!arch->is_embedding_tied, "is_embedding_tied false"},
        {arch->mtp_layers == 0, "no multi-token prediction"},
    };
    return check_demands(demands, sizeof demands / sizeof *demands, run->paths[1], errors);
}

static bool
check_plan(const struct run *run, const struct plan *plan, struct error_list *errors)
{
    int64_t layers = run->inputs.workload.arch->layers;
    const struct demand demands[] = {
        {plan->compute_dtype == DTYPE_FP32 && plan->gradient_dtype == DTYPE_FP32,
         "compute_dtype and gradient_dtype fp32"},
        {plan->context == 1, "context 1"},
        {plan->tensor == 1 || (plan->is_sequence_parallel && !plan->is_vocabulary_parallel),
         "is_sequence_parallel true and is_vocabulary_parallel false beside tensor ranks"},
        {plan->tensor == 1 || plan->expert_tensor == 1, "expert_tensor 1"},
        {plan->rank_order == NULL, "the rank_order that is the default"},
        {plan->schedule == SCHEDULE_1F1B && plan->stage_layers == NULL &&
             !plan->counts_embedding_as_layer && !plan->counts_head_as_layer &&
             layers % plan->pipeline == 0,
         "schedule 1f1b of even stages"},
        {plan->zero_stage == 0, "zero_stage 0"},
        {plan->adapters == NULL, "no adapters"},
        {plan->recompute == RECOMPUTE_NONE && plan->recompute_classes == 0, "recompute none"},
        {!plan->overlaps_gradient_reduction && !plan->overlaps_tensor_exchange &&
             !plan->overlaps_expert_exchange && !plan->overlaps_pipeline_transfer,
         "no overlaps"},
        {!plan->clips_gradients, "clips_gradients false"},
        {!plan->reduces_every_microbatch, "reduces_every_microbatch false"},
        {plan->routing == NULL || !plan->routing->is_given, "routing that is not given"},
        {plan->optimizer == OPTIMIZER_ADAMW || plan->tensor == 1,
         "optimizer adamw beside tensor ranks"},
    };
    return check_demands(demands, sizeof demands / sizeof *demands, run->paths[3], errors);
}

bool
training_question_shape(const struct run *run, struct training_shape *shape,
                        struct error_list *errors)
{
    const struct arch *arch = run->inputs.workload.arch;
    const struct plan *plan = run->inputs.workload.plan;
    bool is_trained = check_arch(run, arch, errors);
    is_trained = check_plan(run, plan, errors) && is_trained;
    if (!is_trained)
        return false;
    *shape = (struct training_shape){
        .layers = arch->layers,
        .hidden = arch->hidden,
        .vocab = arch->vocab,
        .query_heads = arch->query_heads,
        .kv_heads = arch->kv_heads,
        .head_dim = arch->head_dim,
        .experts = arch->experts,
        .experts_per_token = arch->experts_per_token,
        .expert_ffn = arch->expert_ffn,
        .sequence_tokens = plan->sequence_tokens,
        .microbatch_sequences = plan->microbatch_sequences,
        .global_batch_sequences = plan->global_batch_sequences,
        .data = plan_data_degree(plan, run->inputs.cluster),
        .tensor = plan->tensor,
        .pipeline = plan->pipeline,
        .expert = plan->expert,
        .is_muon = plan->optimizer == OPTIMIZER_MUON,
        .newton_schulz_steps = plan->newton_schulz_steps,
        .is_newton_schulz_symmetric = plan->is_newton_schulz_symmetric,
    };
    return true;
}

bool
training_question_read(const struct training_question *question, struct training_shape *shape,
                       struct arena *arena, struct error_list *errors)
{
    const struct run_request request = {.file = question->run,
                                        .settings = question->settings,
                                        .setting_count = question->setting_count};
    const struct run *run = run_read(&request, arena, errors);
    return run && training_question_shape(run, shape, errors);
}
