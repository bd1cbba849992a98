/* The software stack: reading it. */
#include "models/software.h"

#include <stddef.h>

#define SOFTWARE_SWITCH(member)                                                                \
    {                                                                                          \
#member, JSON_FIELD_BOOL, offsetof(struct software, member), 0, 0, 0, NULL             \
    }

static const struct json_field FIELDS[] = {
    {"name", JSON_FIELD_STRING, offsetof(struct software, name), 0, 0, 0, NULL},
    {"host_launch_s", JSON_FIELD_REAL, offsetof(struct software, host_launch_s), JSON_SOURCED,
     0, 1, NULL},
    {"host_launch_relative_sigma", JSON_FIELD_REAL,
     offsetof(struct software, host_launch_relative_sigma), JSON_SOURCED, 0, 1, NULL},
    SOFTWARE_SWITCH(fuses_residual_norm),
    SOFTWARE_SWITCH(fuses_swiglu),
    SOFTWARE_SWITCH(fuses_attention_mixing),
    SOFTWARE_SWITCH(fuses_rope),
    {"turns_complex", JSON_FIELD_BOOL, offsetof(struct software, turns_complex), JSON_OPTIONAL,
     0, 0, NULL},
    {"splits_projections", JSON_FIELD_BOOL, offsetof(struct software, splits_projections),
     JSON_OPTIONAL, 0, 0, NULL},
    {"keeps_attention_scores", JSON_FIELD_BOOL,
     offsetof(struct software, keeps_attention_scores), JSON_OPTIONAL, 0, 0, NULL},
    SOFTWARE_SWITCH(repeats_key_value_heads),
    SOFTWARE_SWITCH(pads_value_heads),
    SOFTWARE_SWITCH(fuses_router_tail),
    SOFTWARE_SWITCH(fuses_permutation),
    SOFTWARE_SWITCH(weighs_activations),
    SOFTWARE_SWITCH(fuses_gradient_joins),
    SOFTWARE_SWITCH(fuses_cross_entropy),
    SOFTWARE_SWITCH(fuses_gradient_accumulation),
    SOFTWARE_SWITCH(fuses_optimizer),
    SOFTWARE_SWITCH(fuses_master_copies),
    SOFTWARE_SWITCH(sends_once_per_node),
    {"attention_implementation", JSON_FIELD_STRING,
     offsetof(struct software, attention_implementation), JSON_OPTIONAL, 0, 0, NULL},
    {"fp8", JSON_FIELD_VALUE, offsetof(struct software, fp8_object),
     JSON_OPTIONAL | JSON_NULLABLE, 0, 0, NULL},
    {"runtime_bytes", JSON_FIELD_REAL, offsetof(struct software, runtime_bytes), JSON_SOURCED,
     0, 1e12, NULL},
    {"fragmentation_fraction", JSON_FIELD_REAL,
     offsetof(struct software, fragmentation_fraction), JSON_SOURCED, 0, 1, NULL},
};
#define FP8_SWITCH(member, flags)                                                              \
    {                                                                                          \
#member, JSON_FIELD_BOOL, offsetof(struct software_fp8, member), flags, 0, 0, NULL     \
    }

static const struct json_field FP8_FIELDS[] = {
    FP8_SWITCH(fuses_casts, 0),
    FP8_SWITCH(transposes_operands, 0),
    FP8_SWITCH(keeps_inputs, 0),
    FP8_SWITCH(shares_casts, 0),
    FP8_SWITCH(casts_weights_once, 0),
    FP8_SWITCH(keeps_gates, JSON_OPTIONAL),
    FP8_SWITCH(multiplies_wide, JSON_OPTIONAL),
    {"turning_op", JSON_FIELD_STRING, offsetof(struct software_fp8, turning_op), JSON_OPTIONAL,
     0, 0, NULL},
};
static const struct json_object_type FP8_TYPE = {"what a software stack does for fp8",
                                                 FP8_FIELDS,
                                                 sizeof FP8_FIELDS / sizeof *FP8_FIELDS, NULL};
static const struct json_object_type TYPE = {"a software stack", FIELDS,
                                             sizeof FIELDS / sizeof *FIELDS, NULL};

const struct software *
software_read(const struct json *object, struct arena *arena, struct error_list *errors)
{
    struct software *software = arena_alloc(arena, 1, sizeof *software);
    if (!json_read_object(object, &TYPE, software, errors))
        return NULL;
    if (!software->fp8_object)
        return software;
    struct software_fp8 *fp8 = arena_alloc(arena, 1, sizeof *fp8);
    software->fp8 = fp8;
    return json_read_object(software->fp8_object, &FP8_TYPE, fp8, errors) ? software : NULL;
}
