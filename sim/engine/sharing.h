/* Max-min fair shares of resources that are short: who may go how fast.
 *
 * Knows takers, usages and capacities, never lanes or time. All rates, each divided by its
 * taker's weight, rise together (this common quotient is the level); a taker stops when it is
 * at its top rate or when one of its resources is full. No taker can then go faster without
 * slowing one whose rate over weight is not larger (Bertsekas and Gallager, Data Networks, 2nd
 * edition, section 6.5.2). */
#ifndef SIM_ENGINE_SHARING_H
#define SIM_ENGINE_SHARING_H

#include <stddef.h>
#include <stdint.h>

#include "sim/base/arena.h"

/* One question, written anew each time in the same memory. */
struct sharing;

struct sharing *sharing_new(struct arena *arena);

/* Forgets all takers and resources. The takers to come are known to reach `level` (rate over
 * weight) at least, or their top rates: 0 where nothing is known. */
void sharing_clear(struct sharing *sharing, double level);

/* Each returns the index of what it added, counting from 0. A capacity is what these takers may
 * have together; a top rate, a weight and an amount are > 0. */
uint32_t sharing_add_resource(struct sharing *sharing, double capacity_per_s);
uint32_t sharing_add_taker(struct sharing *sharing, double top_rate_per_s, double weight);
/* The last taker added uses `amount` of the resource per unit of its rate. */
void sharing_add_usage(struct sharing *sharing, uint32_t resource, double amount);
/* In place of what it was added with: where that is known only when its takers are. */
void sharing_set_capacity(struct sharing *sharing, uint32_t resource, double capacity_per_s);

/* Fills resources in O(n log n) of takers, usages and resources. Levels that agree to
 * SHARING_TOLERANCE are one, so that takers in equal positions get equal rates to the last bit;
 * a taker that nothing holds back gets exactly its top rate. */
void sharing_solve(struct sharing *sharing);
double sharing_rate_per_s(const struct sharing *sharing, uint32_t taker);

/* Relative: far above the rounding of doubles, far below a picosecond in a second. */
static const double SHARING_TOLERANCE = 1e-12;

#endif
