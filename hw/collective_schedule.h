/* What each algorithm of a collective asks of the wires: how many steps one after the other,
 * and how many bytes over the busiest link and the busiest NIC. No times: those are the
 * fabric's.
 *
 * Letters, as in the literature: S bytes of the whole buffer, n nodes, g GPUs of each, p = n g
 * ranks, c = S / p one rank's part (of an all-to-all: what a rank sends to one other), L links
 * of a GPU in its node (g - 1 on a mesh, 1 to a switch). Sources: Thakur, Rabenseifner, Gropp,
 * "Optimization of Collective Communication Operations in MPICH", IJHPCA 19 (2005) for steps
 * and bytes; ROCm/rccl src/graph/tuning.cc and rome_models.cc for which of them run on which
 * wires.
 *
 * A gather is an all-gather or the reduce-scatter that mirrors it: the same steps and bytes. */
#ifndef HW_COLLECTIVE_SCHEDULE_H
#define HW_COLLECTIVE_SCHEDULE_H

#include "hw/uplinks.h"

/* Numbers of things, as doubles since they only enter formulas. */
struct ranks_shape {
    double nodes;
    double gpus;  /* of each node; of the one that has fewest */
    double links; /* of one GPU in its node */
    double ranks; /* in all: nodes gpus, or more when some node has more */
};

struct collective_schedule {
    const char *algorithm;
    double launches;   /* phases started one after the other, each a collective of its own */
    double link_hops;  /* steps over links of a node, on the longest path */
    double nic_hops;   /* steps over the network, on the longest path */
    double link_bytes; /* over each busy link, each way */
    double nic_bytes;  /* over each NIC, each way */
    /* That a pipelined chain of nodes passes through, beside nic_hops; or 0. */
    double chain_nodes;
    double loss_fraction;        /* of the wires' rate, that the algorithm does not reach */
    enum uplink_pattern uplinks; /* which of its NICs' bytes leave a leaf switch */
};

/* Inside one node. */
struct collective_schedule schedule_direct_gather(struct ranks_shape shape, double bytes);
struct collective_schedule schedule_ring_gather(struct ranks_shape shape, double bytes);
struct collective_schedule schedule_one_shot_reduce(struct ranks_shape shape, double bytes);
struct collective_schedule schedule_node_halving_reduce(struct ranks_shape shape, double bytes);
struct collective_schedule schedule_direct_broadcast(struct ranks_shape shape, double bytes);
struct collective_schedule schedule_ring_broadcast(struct ranks_shape shape, double bytes);
struct collective_schedule schedule_direct_all_to_all(struct ranks_shape shape, double bytes);

/* One GPU of each of several nodes: a rail. */
struct collective_schedule schedule_rail_ring_gather(struct ranks_shape shape, double bytes);
struct collective_schedule schedule_rail_doubling_gather(struct ranks_shape shape,
                                                         double bytes);
struct collective_schedule schedule_rail_halving_reduce(struct ranks_shape shape, double bytes);
struct collective_schedule schedule_rail_tree_reduce(struct ranks_shape shape, double bytes);
struct collective_schedule schedule_rail_chain_broadcast(struct ranks_shape shape,
                                                         double bytes);
struct collective_schedule schedule_rail_tree_broadcast(struct ranks_shape shape, double bytes);
struct collective_schedule schedule_rail_all_to_all(struct ranks_shape shape, double bytes);

/* Several GPUs of each of several nodes. */
struct collective_schedule schedule_flat_ring_gather(struct ranks_shape shape, double bytes);
struct collective_schedule schedule_flat_ring_reduce(struct ranks_shape shape, double bytes);
struct collective_schedule schedule_flat_tree_reduce(struct ranks_shape shape, double bytes);
struct collective_schedule schedule_flat_ring_broadcast(struct ranks_shape shape, double bytes);
struct collective_schedule schedule_switched_all_to_all(struct ranks_shape shape, double bytes);
struct collective_schedule schedule_forwarded_all_to_all(struct ranks_shape shape,
                                                         double bytes);

struct collective_schedule schedule_rail_then_node(struct ranks_shape shape, double bytes,
                                                   double crossing_fraction);

/* Where the ranks of neighbouring nodes have no rail in common: what a NIC sends comes to it over
 * the busiest link of a node as well. */
struct collective_schedule schedule_across_rails(struct collective_schedule schedule);

/* An all-reduce as a reduce-scatter and the all-gather that mirrors it, in one launch. */
struct collective_schedule schedule_gather_twice(struct collective_schedule gather);

/* A collective inside each node and one on each rail, pipelined: their steps add up, their
 * bytes pass over different wires at the same time. */
struct collective_schedule schedule_two_levels(struct collective_schedule node,
                                               struct collective_schedule rail,
                                               const char *algorithm, double launches);

#endif
