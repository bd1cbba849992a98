/* What the time of a step goes to: names. */
#include "models/step_class.h"

#include <assert.h>

static const struct class_names {
    const char *key, *label;
} NAMES[] = {
    [CLASS_EMBEDDING] = {"embedding", "embedding"},
    [CLASS_NORM_RESIDUAL] = {"norm_residual", "norm and residual"},
    [CLASS_ATTENTION_PROJECTION] = {"attention_projection", "attention projections"},
    [CLASS_ATTENTION_MIXING] = {"attention_mixing", "attention, between the products"},
    [CLASS_ATTENTION_CORE] = {"attention_core", "attention core"},
    [CLASS_ROUTER] = {"router", "router"},
    [CLASS_DISPATCH] = {"dispatch", "dispatch and combine"},
    [CLASS_EXPERT] = {"feed_forward", "experts or feed-forward"},
    [CLASS_HEAD] = {"head", "head and loss"},
    [CLASS_QUANTIZATION] = {"quantization", "casts to fp8"},
    [CLASS_GRADIENT_ACCUMULATION] = {"gradient_accumulation", "gradient accumulation"},
    [CLASS_NEWTON_SCHULZ] = {"newton_schulz", "Newton-Schulz"},
    [CLASS_OPTIMIZER_UPDATE] = {"optimizer_update", "optimizer update"},
    [CLASS_GRADIENT_REDUCTION] = {"exposed_gradient_reduction", "gradient reduction"},
    [CLASS_PARAMETER_GATHER] = {"exposed_parameter_gather", "parameter gather"},
    [CLASS_TENSOR_EXCHANGE] = {"exposed_tensor_exchange", "tensor parallel exchange"},
    [CLASS_EXPERT_EXCHANGE] = {"exposed_expert_exchange", "expert all-to-all"},
    [CLASS_CONTEXT_EXCHANGE] = {"exposed_context_exchange", "context parallel exchange"},
    [CLASS_PIPELINE_TRANSFER] = {"exposed_pipeline_transfer", "pipeline transfer"},
    [CLASS_OPTIMIZER_EXCHANGE] = {"exposed_optimizer_exchange", "optimizer exchange"},
    [CLASS_GRADIENT_NORM] = {"exposed_gradient_norm", "gradient norm"},
    [CLASS_OVERLAP] = {"slowed_by_communication", "slower beside collectives"},
    [CLASS_HOST] = {"host", "host"},
    [CLASS_BUBBLE] = {"bubble", "other ranks"},
};
static_assert(sizeof NAMES / sizeof *NAMES == STEP_CLASS_COUNT, "names for each class");

const char *
step_class_key(enum step_class spent_on)
{
    return NAMES[spent_on].key;
}

const char *
step_class_label(enum step_class spent_on)
{
    return NAMES[spent_on].label;
}

enum step_group
step_class_group(enum step_class spent_on)
{
    if (step_class_is_communication(spent_on))
        return GROUP_NETWORK;
    if (spent_on == CLASS_NEWTON_SCHULZ || spent_on == CLASS_OPTIMIZER_UPDATE)
        return GROUP_OPTIMIZER;
    if (spent_on == CLASS_OVERLAP)
        return GROUP_OVERLAP;
    if (spent_on == CLASS_HOST)
        return GROUP_HOST;
    return spent_on == CLASS_BUBBLE ? GROUP_BUBBLE : GROUP_COMPUTE;
}

const char *
step_group_label(enum step_group group)
{
    static const char *const labels[] = {
        "forward and backward",      "optimizer",
        "slower beside collectives", "waiting for the network",
        "waiting for the host",      "waiting for other ranks"};
    static_assert(sizeof labels / sizeof *labels == STEP_GROUP_COUNT, "a label for each group");
    return labels[group];
}

bool
step_class_is_communication(enum step_class spent_on)
{
    return spent_on >= CLASS_GRADIENT_REDUCTION && spent_on <= CLASS_GRADIENT_NORM;
}
