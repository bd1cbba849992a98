/* The links that the flows of a list pass through, those that none passes left out. */
#ifndef MODELS_FLOW_PATHS_H
#define MODELS_FLOW_PATHS_H

#include "hw/cluster.h"
#include "hw/flow_list.h"

/* What the flows of a list run over, and what they pay for it before they take bandwidth. */
struct flow_wires {
    const struct cluster *cluster;
    uint64_t seed;     /* draws the spines of flows that keep to one */
    double link_hop_s; /* for a link of a node, and for the network: 0 for bytes alone */
    double nic_hop_s;
};

struct flow_paths {
    const uint32_t *begins;      /* by flow, and one more: its first link in `links` */
    const uint32_t *links;       /* numbered from 0 in the order in which flows meet them */
    const double *bytes_per_s;   /* by link */
    const uint32_t *flow_counts; /* by link: how many flows of the list pass it */
    size_t link_count;
    const double *delays_s; /* by flow: its hops; NULL where they take no time */
};

/* Flows that keep to one of several spines draw it by the seed and their place in the list. NULL
 * after every pair of ranks (ERROR_INFEASIBLE) that no route joins. */
struct flow_paths *flow_paths_find(const struct flow_list *list, const struct flow_wires *wires,
                                   struct arena *arena, struct error_list *errors);

/* What the flow runs at with nothing in its way: what its narrowest link gives. */
double flow_paths_top_bytes_per_s(const struct flow_paths *paths, size_t flow);

#endif
