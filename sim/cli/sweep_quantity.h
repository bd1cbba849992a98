/* The columns of a sweep: what a simulated point is known by. */
#ifndef SIM_CLI_SWEEP_QUANTITY_H
#define SIM_CLI_SWEEP_QUANTITY_H

#include <stdbool.h>

enum sweep_quantity {
    SWEEP_STEP_S,
    SWEEP_LOW_S,
    SWEEP_HIGH_S,
    SWEEP_TOKENS_PER_S,
    SWEEP_TOKENS_PER_S_PER_GPU,
    SWEEP_MODEL_FLOP_PER_S_PER_GPU,
    SWEEP_MFU,
    SWEEP_MEMORY_BYTES,
    SWEEP_NETWORK_S, /* waiting for the network */
    SWEEP_BUBBLE_S,  /* waiting for other ranks */
    SWEEP_PARAMETERS_COUNT,
    SWEEP_ACTIVE_PARAMETERS_COUNT,
    /* of the model asked, where that is asked for: models/inference.h */
    SWEEP_PREFILL_S,
    SWEEP_DECODE_S,
    SWEEP_DECODE_TOKENS_PER_S,
    SWEEP_INFERENCE_BYTES,
    SWEEP_QUANTITY_COUNT
};
enum { SWEEP_STEP_QUANTITIES = SWEEP_PREFILL_S }; /* those of the step alone */

const char *sweep_quantity_key(enum sweep_quantity quantity);   /* "step_s" */
const char *sweep_quantity_label(enum sweep_quantity quantity); /* "waiting for the network" */
const char *sweep_quantity_unit(enum sweep_quantity quantity);  /* SI: "s"; "" for none */

/* Whether more of it is better; of all others less is. Of parameters more are: what is equal in
 * time and memory can as well be larger. */
bool sweep_quantity_is_gain(enum sweep_quantity quantity);

/* By its key; false when there is none. */
bool sweep_quantity_find(const char *key, enum sweep_quantity *quantity);

#endif
