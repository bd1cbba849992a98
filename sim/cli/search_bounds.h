/* The bounds of all legal plans of a search, in their order. */
#ifndef SIM_CLI_SEARCH_BOUNDS_H
#define SIM_CLI_SEARCH_BOUNDS_H

#include "sim/cli/bound_order.h"
#include "sim/cli/search.h"

/* What has no price comes before all others. */
extern const double SEARCH_NO_PRICE_BOUND_S;

/* Counts the legal plans, and adds the bound of each to the order. False when the search was
 * stopped before, or the disk is full: then only the counts are right. */
bool search_bounds(struct search *search, struct crew *crew, struct bound_order *order);

#endif
