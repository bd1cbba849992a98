/* Flows alone: work over links that are shared max-min fair, each flow after its start and after
 * those that it waits for. What the engine does with tasks that have a lane, a demand and work
 * each, in a fifth of the memory (8 bytes a flow and 12 a passage of a link, and the agenda's 20):
 * for lists of a hundred thousand flows that all hang together. */
#ifndef SIM_ENGINE_FLUID_H
#define SIM_ENGINE_FLUID_H

#include <stddef.h>
#include <stdint.h>

#include "sim/base/arena.h"

struct fluid;

/* How much there will be of each, at most. */
struct fluid_size {
    size_t flows, links;
    size_t passages; /* of links, of all flows together */
};

struct fluid *fluid_new(const struct fluid_size *size, struct arena *arena);

/* Each returns the index of what it added, counting from 0. A capacity is > 0, a start and work
 * are >= 0: a flow without work ends when it starts. */
uint32_t fluid_add_link(struct fluid *fluid, double capacity_per_s);
uint32_t fluid_add_flow(struct fluid *fluid, int64_t start_ps, double work);
/* The flow added last begins so much later than it could: 0 until said. */
void fluid_set_delay(struct fluid *fluid, int64_t delay_ps);
/* Of the flow added last, which passes at least one: it takes `amount` of the link for each unit of
 * its rate, > 0. No link twice. */
void fluid_add_passage(struct fluid *fluid, uint32_t link, double amount);
/* The flow added last starts when `before` has ended, which was added before it. */
void fluid_add_dependency(struct fluid *fluid, uint32_t before);

struct fluid_counts {
    uint64_t events; /* starts and ends */
    uint64_t solves; /* times that links were shared out anew */
};

/* Once. */
struct fluid_counts fluid_run(struct fluid *fluid);

/* When it has run. */
int64_t fluid_end_ps(const struct fluid *fluid, uint32_t flow);

#endif
