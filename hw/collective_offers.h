/* Which schedules a library could run for a collective, by what wires there are. */
#ifndef HW_COLLECTIVE_OFFERS_H
#define HW_COLLECTIVE_OFFERS_H

#include <stdbool.h>

#include "hw/collective_schedule.h"
#include "hw/fabric.h"

enum { COLLECTIVE_OFFERS_MAX = 6 };

struct collective_offers {
    struct collective_schedule schedules[COLLECTIVE_OFFERS_MAX];
    int count; /* at least 1, unless some were left out */
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

/* Where sends lead that begin together: to a rank each, no two to the same. */
struct send_ways {
    bool is_ring;                 /* each rank to the next; else one send */
    bool in_nodes, between_nodes; /* some of them */
    bool is_forwarded;            /* some between nodes, by the GPU of the receiver's rail */
};
struct collective_offers collective_offers_of_sends(struct send_ways ways, double bytes);

/* All algorithms for ranks of that shape, whether or not the library knows them: its own, and those
 * of the textbooks. Of whole groups; none of a send_recv or an all_to_all_v. */
struct collective_offers collective_offers_of_any(const struct fabric *fabric,
                                                  enum collective_kind kind,
                                                  struct ranks_shape shape, double bytes);

/* Only the one of that name; or none. */
struct collective_offers collective_offers_named(const struct collective_offers *offers,
                                                 const char *name);

#endif
