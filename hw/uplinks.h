/* The links of a leaf switch up to its spines: how long the part of a collective's traffic takes
 * there that leaves its leaf, when packets are spread over all of them or each flow keeps to one.
 *
 *     nodes 0..K-1    leaf ══╗          K nodes on a leaf; its NICs give r times what its links
 *     nodes K..2K-1   leaf ══╬══ spines    up give together (oversubscription r)
 *     ...             leaf ══╝ */
#ifndef HW_UPLINKS_H
#define HW_UPLINKS_H

#include <stdbool.h>
#include <stdint.h>

#include "hw/fabric.h"
#include "hw/rank_group.h"

/* Which of a collective's traffic leaves a leaf: that of the last node to the next leaf's first
 * (rings, chains, trees in the order of the nodes), or that to every node of other leaves. */
enum uplink_pattern { UPLINK_NEIGHBOURS, UPLINK_PAIRS };

/* How a group lies on the leaves. */
struct uplink_load {
    double leaf_nics;    /* of one leaf: of a rail, or of all rails */
    double member_nics;  /* of them, those of the group */
    double member_nodes; /* on one leaf */
    double nodes;        /* of the group */
    double gpus; /* of it on each node: a NIC has flows for as many on each other node */
};

/* False if no traffic of the group leaves a leaf. */
bool uplink_load_of(const struct fabric *fabric, int64_t gpus_per_node,
                    const struct rank_placement *placement, struct uplink_load *out);

/* Seconds for the busiest link up or down, when each member's NIC sends for nic_s; in the mean over
 * all draws of the paths: no single draw need take that, 24 of them take within a tenth of it in
 * the mean (models/collective_flows_test.c). */
double uplink_s(const struct fabric *fabric, const struct uplink_load *load,
                enum uplink_pattern pattern, double nic_s);

/* Mean of the largest number of flows that meet on one of `bins` links, when on each link one
 * of every `paths` out of `flows` is: the maximum of as many binomial numbers, taken as
 * independent; at least their mean rounded up. Within 5 % of drawn ones (uplinks_test.c). */
double uplink_largest_load(double flows, double paths, double bins);

#endif
