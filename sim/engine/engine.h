/* The clock: runs a task graph and says when each task started and ended.
 *
 * A pure function. Time is whole picoseconds; what happens at one instant is settled in the
 * order in which it was put on the agenda, so the same graph gives the same trace from every
 * compiler. Tasks that together ask more of a resource than it has share it max-min fair by
 * weight: all rates (divided by their weights) rise together until a resource is full or a task
 * is at its top rate. Only tasks that are connected to the event through short resources are
 * solved again; a graph in which nothing is short never calls the solver.
 *
 * A task that ran at its top rate all the time ends at start + delay + work / top rate, rounded
 * once to the nearest picosecond. Every end is rounded so: n tasks one after the other are off by
 * n / 2 ps at most. */
#ifndef SIM_ENGINE_ENGINE_H
#define SIM_ENGINE_ENGINE_H

#include "sim/base/arena.h"
#include "sim/engine/trace.h"

/* The trace lives in the arena and points to the graph. Cannot fail: a graph that could get
 * stuck cannot be built. */
struct trace *engine_run(const struct task_graph *graph, struct arena *arena);

#endif
