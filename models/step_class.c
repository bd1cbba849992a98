/* What the time of a step goes to: names. */
#include "models/step_class.h"

#include <assert.h>

static const struct class_names {
    const char *key, *label;
} NAMES[] = {
    [CLASS_EMBEDDING] = {"embedding", "embedding"},
    [CLASS_NORM_RESIDUAL] = {"norm_residual", "norm and residual"},
    [CLASS_ATTENTION_PROJECTION] = {"attention_projection", "attention projections"},
    [CLASS_ATTENTION_MIXING] = {"attention_mixing", "attention mixing"},
    [CLASS_ATTENTION_CORE] = {"attention_core", "attention core"},
    [CLASS_ROUTER] = {"router", "router"},
    [CLASS_DISPATCH] = {"dispatch", "dispatch and combine"},
    [CLASS_EXPERT] = {"expert", "experts"},
    [CLASS_HEAD] = {"head", "head and loss"},
    [CLASS_GRADIENT_ACCUMULATION] = {"gradient_accumulation", "gradient accumulation"},
    [CLASS_NEWTON_SCHULZ] = {"newton_schulz", "Newton-Schulz"},
    [CLASS_OPTIMIZER_UPDATE] = {"optimizer_update", "optimizer update"},
    [CLASS_GRADIENT_REDUCTION] = {"exposed_gradient_reduction", "gradient reduction, exposed"},
    [CLASS_PARAMETER_GATHER] = {"exposed_parameter_gather", "parameter gather, exposed"},
    [CLASS_OPTIMIZER_EXCHANGE] = {"exposed_optimizer_exchange", "optimizer exchange, exposed"},
    [CLASS_GRADIENT_NORM] = {"exposed_gradient_norm", "gradient norm, exposed"},
    [CLASS_OVERLAP] = {"slowed_by_communication", "kernels slowed by collectives"},
    [CLASS_HOST] = {"host", "waiting for the host"},
    [CLASS_BUBBLE] = {"bubble", "waiting for other ranks"},
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

bool
step_class_is_communication(enum step_class spent_on)
{
    return spent_on >= CLASS_GRADIENT_REDUCTION && spent_on <= CLASS_GRADIENT_NORM;
}
