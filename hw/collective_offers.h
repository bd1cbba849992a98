/* Which schedules a library could run for a collective, by what wires there are. */
#ifndef HW_COLLECTIVE_OFFERS_H
#define HW_COLLECTIVE_OFFERS_H

#include <stdbool.h>

#include "hw/collective_schedule.h"
#include "hw/fabric.h"

enum { COLLECTIVE_OFFERS_MAX = 4 };

struct collective_offers {
    struct collective_schedule schedules[COLLECTIVE_OFFERS_MAX];
    int count; /* at least 1 */
};

/* Between GPUs of one node. */
struct collective_offers collective_offers_in_node(enum node_algorithm algorithm,
                                                   enum collective_kind kind,
                                                   struct ranks_shape shape, double bytes);

/* Between one GPU of each node. */
struct collective_offers collective_offers_on_rail(const struct fabric *fabric,
                                                   enum collective_kind kind,
                                                   struct ranks_shape shape, double bytes);

/* Between several GPUs of each of several nodes. */
struct collective_offers collective_offers_on_levels(const struct fabric *fabric,
                                                     enum collective_kind kind,
                                                     struct ranks_shape shape, double bytes);

/* From one rank to one other; over the network, between rails that meet in a switch or do not. */
struct collective_offers collective_offers_of_send(bool crosses_node, bool crosses_rail,
                                                   double bytes);

#endif
