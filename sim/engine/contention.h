/* Who drains from which resource now, and who must be given a new rate since that changed.
 *
 * A resource is short when those that drain from it could together take more than it has. Only
 * short resources hold anyone back, so only they connect: those to be rated anew are the drains
 * that can be reached from a change through short resources. */
#ifndef SIM_ENGINE_CONTENTION_H
#define SIM_ENGINE_CONTENTION_H

#include <stdbool.h>

#include "sim/engine/task_graph.h"

struct contention;

struct contention *contention_new(const struct task_graph *graph, struct arena *arena);

/* A new drain, of a demand of the graph; it runs at its top rate until contention_settle says
 * otherwise. Returns its number, below the most drains that there ever were at once. */
uint32_t contention_join(struct contention *contention, const struct task_demand *demand,
                         uint32_t resource_base);
void contention_leave(struct contention *contention, uint32_t drain);

/* The same as a leave and then a join, by whoever takes the same resources: false, and nothing
 * done, where it is not that simple. */
bool contention_replace(struct contention *contention, uint32_t drain,
                        const struct task_demand *demand, uint32_t resource_base);

/* Whether nobody's rate is to change for what has joined and left. */
bool contention_is_settled(const struct contention *contention);

/* Drains that hang together, with the rates that they have from now on. */
struct contention_group {
    const uint32_t *drains;
    const double *rates_per_s;
    size_t count;
};

/* Rates one group that the last joins and leaves have changed; false when none is left. `group`
 * is good until the next call. To be called until it is false before anyone joins or leaves
 * again. */
bool contention_settle(struct contention *contention, struct contention_group *group);

#endif
