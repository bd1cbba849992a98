/* The trace: walks over what the engine wrote down. */
#include "sim/engine/trace.h"

#include <assert.h>

const uint32_t *
trace_lane_tasks(const struct trace *trace, uint32_t lane, size_t *count)
{
    assert(lane < task_graph_lane_count(trace->graph));
    const uint32_t *begins = trace->lane_tasks.begins;
    *count = begins[lane + 1] - begins[lane];
    return trace->lane_tasks.items + begins[lane];
}

static int32_t
last_task(const struct trace *trace)
{
    for (size_t i = 0; i < trace->count; i++) {
        if (trace->entries[i].end_ps == trace->end_ps) {
            return (int32_t)i;
        }
    }
    return TASK_NONE;
}

size_t
trace_critical_path(const struct trace *trace, uint32_t *tasks, size_t room)
{
    size_t length = 0;
    for (int32_t task = last_task(trace); task != TASK_NONE;
         task = trace->entries[task].released_by) {
        if (length < room) {
            tasks[length] = (uint32_t)task;
        }
        length++;
    }
    return length;
}
