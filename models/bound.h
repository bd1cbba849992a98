/* A lower bound of the step time of a plan, from prices alone: what a rank computes and waits for
 * within its passes, one behind the other, what its lanes of exchanges carry, and what the pipeline
 * and the weights put before and behind. The simulation adds contention, launches that are waited
 * for and the optimizer; it never falls below. */
#ifndef MODELS_BOUND_H
#define MODELS_BOUND_H

#include "models/program.h"

/* Prices of blocks and of collectives over weights, kept for the plans that come next: those that
 * agree in degrees, order of ranks and microbatch have most of them in common. */
struct bound_prices;

struct bound_prices *bound_prices_new(struct arena *arena);

/* Of the inputs' plan. False after adding why there is no price. */
bool bound_step_s(struct bound_prices *prices, const struct step_inputs *inputs,
                  double *bound_s, struct error_list *errors);

#endif
