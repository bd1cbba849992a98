/* A collective as the flows that it consists of, by the algorithm that its price names: for
 * other network simulators to repeat (the list of hw/flow_list.h), and for tests that closed
 * forms and flows agree. Launches and hops are not in it, only bytes and what waits for
 * what.
 *
 * Pipelines run in k pieces, one behind the other; the price is that of infinitely many. Flows
 * take longer than it, by an exact part (models/collective_flows_test.c):
 *
 *     rail chain             T (n - 2 + k) / k
 *     rings of a broadcast   likewise, of p - 1 hops
 *     scatter + gather       T (k + 1) / k
 *     two levels             the phase that is not the longest adds 1 / k of its own
 *     rail tree, broadcast   T (d + 2 (k - 1)) / (2 k); d: rounds to the last node,
 *     rail tree, all-reduce      of hw/collective_trees.h; two nodes, all-reduce: T
 *     two levels, rail tree or chain; trees
 *                            phases in sequence, of which the middle one runs in k pieces
 *
 * With hops (models/collective_hops_test.c) the same holds, each phase's hops counted once, but
 * for rings over links and NICs: a step of flows takes the slowest hop of the ring, the price
 * counts each hop as what it is, as for a library whose senders run ahead. An all-to-all's flows
 * begin at once; its price has a hop for each other node, as if one went after the other.
 *
 * Two have no equality by nature, but bounds: unequal parts between nodes, whose price is the
 * busiest wire's time (hw/collective_matrix.h), and flows that draw their paths, whose price is a
 * mean over all draws (hw/uplinks.h). */
#ifndef HW_COLLECTIVE_FLOWS_H
#define HW_COLLECTIVE_FLOWS_H

#include "hw/collective.h"
#include "sim/base/text.h"

/* How many unless said otherwise. */
enum { COLLECTIVE_FLOW_PIECES = 16 };

/* Appends the list of the collective on that cluster by the algorithm that it names, in so many
 * pieces. False as collective_place, or with ERROR_INFEASIBLE for an algorithm that is none of
 * that collective, and for rings through an odd number of nodes that must leave their rail
 * (hw/collective_rings.h). */
bool collective_flows_write(const struct cluster *cluster, const struct collective *collective,
                            int64_t pieces, struct text *csv, struct error_list *errors);

#endif
