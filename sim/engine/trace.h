/* What ran where and when: the engine's answer, and all that charts and reports read. */
#ifndef SIM_ENGINE_TRACE_H
#define SIM_ENGINE_TRACE_H

#include <stddef.h>
#include <stdint.h>

#include "sim/engine/task_graph.h"

struct trace_entry {
    int64_t start_ps;
    int64_t end_ps;
    int32_t released_by; /* the task whose end let this one start; TASK_NONE at the beginning.
                            Of several that ended then: the one before it on its first lane,
                            else the one added first */
    uint32_t waits;      /* while the engine runs: for how many ends it waits; then 0 */
};

struct trace {
    const struct task_graph *graph;
    const struct trace_entry *entries; /* one a task, in the graph's order */
    size_t count;
    struct task_lists lane_tasks; /* by lane; read through trace_lane_tasks */
    int64_t end_ps;               /* when the last task ended */
    uint64_t event_count;         /* events that the engine handled */
    uint64_t solve_count;         /* times that it had to share a resource out anew */
};

/* The tasks of one lane in the order they ran, *count of them. */
const uint32_t *trace_lane_tasks(const struct trace *trace, uint32_t lane, size_t *count);

/* The chain that decided the end, last task first (of several that end last, the one added
 * first), following released_by: writes up to `room` indices and returns how long the chain is.
 */
size_t trace_critical_path(const struct trace *trace, uint32_t *tasks, size_t room);

#endif
