/* The columns of a sweep, as a table. */
#include "sim/cli/sweep_quantity.h"

#include <assert.h>
#include <string.h>

struct column {
    const char *key, *label, *unit;
    bool is_gain;
};

static const struct column COLUMNS[] = {
    [SWEEP_STEP_S] = {"step_s", "step", "s", false},
    [SWEEP_LOW_S] = {"low_s", "step, low end", "s", false},
    [SWEEP_HIGH_S] = {"high_s", "step, high end", "s", false},
    [SWEEP_TOKENS_PER_S] = {"tokens_per_s", "tokens a second", "token/s", true},
    [SWEEP_TOKENS_PER_S_PER_GPU] = {"tokens_per_s_per_gpu", "tokens a second and GPU",
                                    "token/s", true},
    [SWEEP_MODEL_FLOP_PER_S_PER_GPU] = {"model_flop_per_s_per_gpu", "model FLOP/s of a GPU",
                                        "FLOP/s", true},
    [SWEEP_MFU] = {"mfu", "model FLOP/s, of the peak", "", true},
    [SWEEP_MEMORY_BYTES] = {"memory_bytes", "memory at its peak", "B", false},
    [SWEEP_NETWORK_S] = {"exposed_communication_s", "waiting for the network", "s", false},
    [SWEEP_BUBBLE_S] = {"bubble_s", "waiting for other ranks", "s", false},
    [SWEEP_PARAMETERS_COUNT] = {"parameters_count", "parameters", "", true},
    [SWEEP_ACTIVE_PARAMETERS_COUNT] = {"active_parameters_count", "active parameters", "",
                                       false},
    [SWEEP_PREFILL_S] = {"prefill_s", "prefill", "s", false},
    [SWEEP_DECODE_S] = {"decode_s", "decoding a token", "s", false},
    [SWEEP_DECODE_TOKENS_PER_S] = {"decode_tokens_per_s", "tokens decoded a second", "token/s",
                                   true},
    [SWEEP_INFERENCE_BYTES] = {"inference_memory_bytes", "memory for inference", "B", false}};
static_assert(sizeof COLUMNS / sizeof *COLUMNS == SWEEP_QUANTITY_COUNT, "a row for each");

const char *
sweep_quantity_key(enum sweep_quantity quantity)
{
    return COLUMNS[quantity].key;
}

const char *
sweep_quantity_label(enum sweep_quantity quantity)
{
    return COLUMNS[quantity].label;
}

const char *
sweep_quantity_unit(enum sweep_quantity quantity)
{
    return COLUMNS[quantity].unit;
}

bool
sweep_quantity_is_gain(enum sweep_quantity quantity)
{
    return COLUMNS[quantity].is_gain;
}

bool
sweep_quantity_find(const char *key, enum sweep_quantity *quantity)
{
    for (int i = 0; i < SWEEP_QUANTITY_COUNT; i++) {
        *quantity = (enum sweep_quantity)i;
        if (strcmp(key, COLUMNS[i].key) == 0)
            return true;
    }
    return false;
}
