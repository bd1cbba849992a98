/* Prices schedules on a fabric and picks the one that the library would run: a schedule is what is
 * asked of the wires, the price is what they take for it. */
#ifndef HW_COLLECTIVE_PRICE_H
#define HW_COLLECTIVE_PRICE_H

#include "hw/collective.h"
#include "hw/collective_offers.h"

/* Who prices: the ranks in question, and what the fabric gives them. */
struct pricing {
    const struct fabric *fabric;
    enum collective_kind kind;
    struct ranks_shape shape;
    bool is_whole_node;
    bool crosses_leaves;
    struct uplink_load uplinks; /* if it does */
    double own_bytes;           /* that stay with each rank but pass through it all the same */
    double link_rate;           /* bytes per second */
    double nic_rate;            /* bytes per second */
    double nic_part;            /* of it, that the group's channels reach */
    double node_links;          /* of one GPU in the whole node */
};

struct pricing collective_pricing(const struct cluster *cluster, enum collective_kind kind,
                                  const struct rank_placement *placement);

/* The best of some offers by all protocols; found again when more come. Starts with none. */
struct collective_choice {
    bool is_found, is_ruled; /* ruled: the library takes that protocol whatever it costs */
    double latency_s, link_s, nic_s, fill_s, bytes_limit;
    struct collective_schedule schedule;
    const struct fabric_protocol *protocol;
};

/* By one protocol; its schedules may differ from another's. */
void collective_choose(const struct pricing *pricing, const struct fabric_protocol *protocol,
                       const struct collective_offers *offers, double bytes,
                       struct collective_choice *best);

/* Everything but the bus bandwidth. */
struct collective_cost collective_price(const struct pricing *pricing,
                                        const struct collective_choice *choice);

#endif
