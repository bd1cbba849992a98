/* A lower bound of the step time of a plan, from the prices of its blocks alone: what a rank
 * computes and waits for within its passes, one behind the other, and what the pipeline puts before
 * and behind. The simulation adds contention, launches, gradients, weights and the optimizer; it
 * never falls below. */
#ifndef MODELS_BOUND_H
#define MODELS_BOUND_H

#include "models/pricing.h"
#include "models/program.h"

/* One pass over a block. */
struct bound_pass {
    double compute_s;      /* its kernels */
    double whole_s;        /* and the exchanges that they wait for, nothing else being beside */
    double lead_s, tail_s; /* of that: before its first kernel, behind its last */
};

/* Blocks as a plan splits them; the same for plans that differ in nothing of struct bound_key. */
struct bound_blocks {
    struct bound_pass passes[BLOCK_COUNT][PASS_KINDS];
};

/* What the prices of blocks depend on. */
struct bound_key {
    int64_t tensor, context, pipeline, expert, expert_tensor, microbatch_sequences;
    enum recompute_kind recompute;
    enum plan_axis order[PLAN_AXIS_COUNT];
};
struct bound_key bound_key_of(const struct plan *plan);
bool bound_key_equals(const struct bound_key *a, const struct bound_key *b);

/* Prices them; false after adding why there is no price. */
bool bound_price(const struct step_inputs *inputs, struct bound_blocks *blocks,
                 struct arena *arena, struct error_list *errors);

/* Of the inputs' plan, whose blocks these are. */
double bound_step_s(const struct step_inputs *inputs, const struct bound_blocks *blocks);

#endif
