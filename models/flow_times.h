/* When the flows of a list end on a cluster, links shared max-min fair. */
#ifndef MODELS_FLOW_TIMES_H
#define MODELS_FLOW_TIMES_H

#include "models/flow_paths.h"

struct flow_times {
    const double *finish_s; /* by flow; good to 1e-15 of the list's longest possible time */
    size_t class_count;     /* of flows: one of each was simulated */
    uint64_t event_count, solve_count; /* the engine's */
};

/* Wires and switches: bytes flow as soon as they may, or their hops later. NULL after every pair of
 * ranks that no route joins (ERROR_INFEASIBLE). */
struct flow_times *flow_times_find(const struct flow_list *list, const struct flow_wires *wires,
                                   struct arena *arena, struct error_list *errors);

#endif
