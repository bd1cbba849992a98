/* The links that the flows of a list pass through, those that none passes left out. */
#ifndef MODELS_FLOW_PATHS_H
#define MODELS_FLOW_PATHS_H

#include "hw/cluster.h"
#include "hw/flow_list.h"

struct flow_paths {
    const uint32_t *begins;      /* by flow, and one more: its first link in `links` */
    const uint32_t *links;       /* numbered from 0 in the order in which flows meet them */
    const double *bytes_per_s;   /* by link */
    const uint32_t *flow_counts; /* by link: how many flows of the list pass it */
    size_t link_count;
};

/* Flows that keep to one of several spines draw it by the seed and their place in the list. NULL
 * after every pair of ranks (ERROR_INFEASIBLE) that no route joins. */
struct flow_paths *flow_paths_find(const struct flow_list *list, const struct cluster *cluster,
                                   uint64_t seed, struct arena *arena,
                                   struct error_list *errors);

/* What the flow runs at with nothing in its way: what its narrowest link gives. */
double flow_paths_top_bytes_per_s(const struct flow_paths *paths, size_t flow);

#endif
