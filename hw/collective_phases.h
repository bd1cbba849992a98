/* The phases that collectives are made of, as flows.
 *
 * Members are index = node * g + gpu. Each has a set of flows that it waits for before it
 * sends again: those that it received last. A phase (all pairs of a node, a ring, doubling on
 * a rail) reads these sets and leaves new ones, so that phases follow each other. */
#ifndef HW_COLLECTIVE_PHASES_H
#define HW_COLLECTIVE_PHASES_H

#include "hw/collective.h"
#include "hw/collective_rings.h"
#include "hw/collective_trees.h"
#include "sim/base/text.h"

/* What a member waits for. */
struct awaited {
    uint32_t *flows;
    size_t count, capacity;
};

struct flow_writer {
    const struct cluster *cluster;
    const struct collective *collective;
    struct text *csv; /* rows are appended; its arena holds all else */
    int64_t ranks, nodes, gpus;
    int64_t pieces; /* of pipelines, one behind the other */
    uint32_t next;
    struct awaited *before; /* by member: before it sends in this phase */
    struct awaited *after;  /* by member: what it received in it */
};

/* With a single piece and nothing to wait for. */
struct flow_writer flow_writer_new(const struct cluster *cluster,
                                   const struct collective *collective,
                                   const struct rank_placement *placement, struct text *csv);

/* Nothing, for every member; and what `more` has as well. */
struct awaited *flow_writer_nothing(struct flow_writer *writer);
void flow_writer_await_all(struct flow_writer *writer, struct awaited *awaited,
                           const struct awaited *more);

/* Between any two members at once, by where they are; 0: nothing. */
struct pair_bytes {
    double in_node, on_rail, across; /* across: of different nodes and rails */
};
void phase_pairs(struct flow_writer *writer, struct pair_bytes bytes);
void phase_matrix(struct flow_writer *writer, const double *matrix);
/* Each member to the next, the last to the first; of two only the first sends. */
void phase_next(struct flow_writer *writer, double bytes);
/* The first member to each other of its node. */
void phase_scatter(struct flow_writer *writer, double bytes);
/* So many steps around the nodes, on every rail. */
void phase_rail_rings(struct flow_writer *writer, double bytes, int64_t steps);
/* Each ring has its part of the bytes, of which every member passes on as much in a step. */
void phase_rings(struct flow_writer *writer, const struct collective_rings *rings, double bytes,
                 int64_t laps);
/* 1, 2, 4 .. parts of so many bytes to the member that far away, in the node or on its rail, or
 * halving, the same backwards. Of n no power of two, the last step only has what is missing
 * (Bruck). */
void phase_doubling(struct flow_writer *writer, bool is_on_rail, bool is_halving, double bytes);
/* Chains from the first member along the nodes of every rail. */
void phase_rail_chains(struct flow_writer *writer, double bytes);
/* Chains from the first member along rings, each with its part. */
void phase_ring_chains(struct flow_writer *writer, const struct collective_rings *rings,
                       double bytes);
/* Chains through every node that end at, or begin with, each of its members. */
void phase_node_chains(struct flow_writer *writer, double bytes, bool ends_there);
/* The first member sends a part to each other of its node, which sends it on to all others. */
void phase_scatter_gather(struct flow_writer *writer, double bytes);
/* Half of the bytes up or down each of two trees over the nodes, on every rail, in rounds: a
 * member begins none before its last one has ended. */
void phase_rail_trees(struct flow_writer *writer, const struct collective_trees *trees,
                      double bytes, bool is_up);

#endif
