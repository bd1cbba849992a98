/* Plans in the order of their bounds, in as much memory however many there are: what does not fit
 * lies sorted in temporary files, and is merged on the way out. */
#ifndef SIM_CLI_BOUND_ORDER_H
#define SIM_CLI_BOUND_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/base/arena.h"
#include "sim/base/error.h"

struct bounded_plan {
    double bound_s;
    uint64_t place; /* in its space: of equal bounds the lower comes first */
};

struct bound_order;

/* Holds so many of them in memory; 0: the usual, some megabytes of them. */
struct bound_order *bound_order_new(size_t held_count, struct arena *arena);
void bound_order_free(struct bound_order *order);

/* False after adding that the disk is full. */
bool bound_order_add(struct bound_order *order, const struct bounded_plan *plan,
                     struct error_list *errors);

/* After the last was added, once. */
bool bound_order_sort(struct bound_order *order, struct error_list *errors);

/* The least of those that are left; false when none is, or after adding that the disk failed. */
bool bound_order_next(struct bound_order *order, struct bounded_plan *plan,
                      struct error_list *errors);

/* How many of all have a lower bound. */
size_t bound_order_below(const struct bound_order *order, double bound_s);

#endif
