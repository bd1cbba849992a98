/* Of the plans that were simulated, those that are kept: the best, and the front. */
#ifndef SIM_CLI_SEARCH_BEST_H
#define SIM_CLI_SEARCH_BEST_H

#include "sim/cli/search.h"

/* Empties both. */
void search_best_begin(struct search *search);

/* Whether a plan that was not simulated yet, of which bound and memory are known, can be kept. */
bool search_best_wants(const struct search *search, const struct search_plan *plan);

/* The bound from which on no plan can be; INFINITY while any may. */
double search_best_enough_s(const struct search *search);

/* Keeps a copy of a simulated plan where it is among the best or on the front, for as long as it
 * is; true when it is the best of all. */
bool search_best_take(struct search *search, const struct search_plan *plan);

#endif
