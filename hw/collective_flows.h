/* A collective as the flows that it consists of, by the algorithm that its price names: for
 * other network simulators to repeat (the list of hw/flow_list.h), and for tests that closed
 * forms and flows agree. Launches and hops are not in it, only bytes and what waits for
 * what. */
#ifndef HW_COLLECTIVE_FLOWS_H
#define HW_COLLECTIVE_FLOWS_H

#include "hw/collective.h"
#include "sim/base/text.h"

/* Pipelines (broadcasts, phases by level) run in so many pieces, one behind the other; the
 * price is that of infinitely many. */
enum { COLLECTIVE_FLOW_PIECES = 16 };

/* Appends the list of the collective on that cluster by `algorithm`, of struct
 * collective_cost. False as collective_place, or with ERROR_INFEASIBLE for what no list of flows
 * is priced like: trees and broadcasts by level, whose prices are bounds that only pieces without
 * number reach, every NIC busy both ways all the time, which flows that share NICs fairly are not;
 * rings through an odd number of nodes that must leave their rail (hw/collective_rings.h). */
bool collective_flows_write(const struct cluster *cluster, const struct collective *collective,
                            const char *algorithm, struct text *csv, struct error_list *errors);

#endif
