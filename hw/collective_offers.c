/* Which schedules a library could run for a collective, by what wires there are. */
#include "hw/collective_offers.h"

#include <assert.h>
#include <string.h>

static void
offer(struct collective_offers *offers, struct collective_schedule schedule)
{
    assert(offers->count < COLLECTIVE_OFFERS_MAX && "more algorithms than foreseen");
    offers->schedules[offers->count++] = schedule;
}

static struct collective_schedule
node_gather(enum node_algorithm algorithm, struct ranks_shape shape, double bytes)
{
    return algorithm == NODE_RINGS ? schedule_ring_gather(shape, bytes)
                                   : schedule_direct_gather(shape, bytes);
}

static struct collective_schedule
node_broadcast(enum node_algorithm algorithm, struct ranks_shape shape, double bytes)
{
    return algorithm == NODE_RINGS ? schedule_ring_broadcast(shape, bytes)
                                   : schedule_direct_broadcast(shape, bytes);
}

struct collective_offers
collective_offers_in_node(enum node_algorithm algorithm, enum collective_kind kind,
                          struct ranks_shape shape, double bytes)
{
    struct collective_offers offers;
    offers.count = 0;
    switch (kind) {
    case COLLECTIVE_ALL_REDUCE:
        offer(&offers, schedule_gather_twice(node_gather(algorithm, shape, bytes)));
        if (algorithm == NODE_DIRECT)
            offer(&offers, schedule_one_shot_reduce(shape, bytes));
        break;
    case COLLECTIVE_REDUCE_SCATTER:
    case COLLECTIVE_ALL_GATHER:
        offer(&offers, node_gather(algorithm, shape, bytes));
        break;
    case COLLECTIVE_BROADCAST:
        offer(&offers, node_broadcast(algorithm, shape, bytes));
        break;
    case COLLECTIVE_ALL_TO_ALL:
        offer(&offers, schedule_direct_all_to_all(shape, bytes));
        break;
    case COLLECTIVE_SEND_RECV:
    case COLLECTIVE_ALL_TO_ALL_V:
    case COLLECTIVE_KIND_COUNT:
        assert(false && "not a collective of a whole group");
    }
    return offers;
}

struct collective_offers
collective_offers_on_rail(const struct fabric *fabric, enum collective_kind kind,
                          struct ranks_shape shape, double bytes)
{
    struct collective_offers offers;
    offers.count = 0;
    switch (kind) {
    case COLLECTIVE_ALL_REDUCE:
        offer(&offers, schedule_gather_twice(schedule_rail_ring_gather(shape, bytes)));
        offer(&offers, schedule_rail_tree_reduce(shape, bytes));
        break;
    case COLLECTIVE_REDUCE_SCATTER:
    case COLLECTIVE_ALL_GATHER:
        offer(&offers, schedule_rail_ring_gather(shape, bytes));
        if (fabric->gathers_by_doubling)
            offer(&offers, schedule_rail_doubling_gather(shape, bytes));
        break;
    case COLLECTIVE_BROADCAST:
        offer(&offers, schedule_rail_chain_broadcast(shape, bytes));
        if (fabric->broadcasts_by_tree)
            offer(&offers, schedule_rail_tree_broadcast(shape, bytes));
        break;
    case COLLECTIVE_ALL_TO_ALL:
        offer(&offers, schedule_rail_all_to_all(shape, bytes));
        break;
    case COLLECTIVE_SEND_RECV:
    case COLLECTIVE_ALL_TO_ALL_V:
    case COLLECTIVE_KIND_COUNT:
        assert(false && "not a collective of a whole group");
    }
    return offers;
}

/* Phases in the node and on the rails, each started by itself. */
static void
offer_levels(struct collective_offers *offers, const struct fabric *fabric,
             enum collective_kind kind, struct ranks_shape shape, double bytes)
{
    const enum node_algorithm algorithm = fabric->node_algorithm;
    const struct collective_schedule node = node_gather(algorithm, shape, bytes);
    const struct collective_schedule twice = schedule_gather_twice(node);
    const double part = bytes / shape.gpus;
    const struct collective_schedule ring = schedule_rail_ring_gather(shape, part);
    if (kind == COLLECTIVE_ALL_REDUCE) { /* scatter in the node, reduce, gather in the node */
        const struct collective_schedule tree = schedule_rail_tree_reduce(shape, part);
        const struct collective_schedule around = schedule_gather_twice(ring);
        offer(offers, schedule_two_levels(twice, around, "two levels, rail ring", 3));
        offer(offers, schedule_two_levels(twice, tree, "two levels, rail tree", 3));
    } else if (kind == COLLECTIVE_BROADCAST) {
        const struct collective_schedule spread = node_broadcast(algorithm, shape, bytes);
        const struct collective_schedule chain = schedule_rail_chain_broadcast(shape, part);
        const struct collective_schedule tree = schedule_rail_tree_broadcast(shape, part);
        offer(offers, schedule_two_levels(spread, chain, "two levels, rail chain", 2));
        if (fabric->broadcasts_by_tree)
            offer(offers, schedule_two_levels(spread, tree, "two levels, rail tree", 2));
    } else {
        const struct collective_schedule doubling = schedule_rail_doubling_gather(shape, part);
        offer(offers, schedule_two_levels(node, ring, "two levels, rail ring", 2));
        if (fabric->gathers_by_doubling)
            offer(offers, schedule_two_levels(node, doubling, "two levels, rail doubling", 2));
    }
}

/* Rings or trees through all ranks, and, if the library knows them, phases by level. */
struct collective_offers
collective_offers_on_levels(const struct fabric *fabric, enum collective_kind kind,
                            struct ranks_shape shape, double bytes)
{
    struct collective_offers offers;
    offers.count = 0;
    switch (kind) {
    case COLLECTIVE_ALL_REDUCE:
        offer(&offers, schedule_flat_ring_reduce(shape, bytes));
        offer(&offers, schedule_flat_tree_reduce(shape, bytes));
        offers.schedules[offers.count - 1].loss_fraction = 1 - fabric->tree_efficiency;
        break;
    case COLLECTIVE_REDUCE_SCATTER:
    case COLLECTIVE_ALL_GATHER:
        offer(&offers, schedule_flat_ring_gather(shape, bytes));
        break;
    case COLLECTIVE_BROADCAST:
        offer(&offers, schedule_flat_ring_broadcast(shape, bytes));
        break;
    case COLLECTIVE_ALL_TO_ALL:
        offer(&offers, fabric->network_topology == NETWORK_RAILS_ONLY
                           ? schedule_forwarded_all_to_all(shape, bytes)
                           : schedule_switched_all_to_all(shape, bytes));
        return offers;
    case COLLECTIVE_SEND_RECV:
    case COLLECTIVE_ALL_TO_ALL_V:
    case COLLECTIVE_KIND_COUNT:
        assert(false && "not a collective of a whole group");
    }
    if (fabric->works_by_levels)
        offer_levels(&offers, fabric, kind, shape, bytes);
    return offers;
}

static const char *
name_of_sends(struct send_ways ways)
{
    if (ways.is_ring)
        return ways.is_forwarded ? "each to the next, forwarded" : "each to the next";
    return !ways.between_nodes ? "one link"
           : ways.is_forwarded ? "forwarded to the rail"
                               : "one rail";
}

/* A link, a NIC, or the link to the GPU of the right rail and then its NIC. In a ring the longest
 * way counts: what is forwarded passes a link that no other send passes, since the last of a node
 * sends to none of its node. */
struct collective_offers
collective_offers_of_sends(struct send_ways ways, double bytes)
{
    bool uses_link = ways.in_nodes || ways.is_forwarded;
    struct collective_offers offers;
    offers.count = 0;
    offer(&offers, (struct collective_schedule){
                       .algorithm = name_of_sends(ways),
                       .launches = 1,
                       .link_hops = ways.is_forwarded || !ways.between_nodes ? 1 : 0,
                       .nic_hops = ways.between_nodes ? 1 : 0,
                       .link_bytes = uses_link ? bytes : 0,
                       .nic_bytes = ways.between_nodes ? bytes : 0,
                   });
    return offers;
}

static void
offer_all(struct collective_offers *offers, const struct collective_offers *more)
{
    for (int i = 0; i < more->count; i++)
        offer(offers, more->schedules[i]);
}

/* What no library at hand does. */
static void
offer_textbook(struct collective_offers *offers, enum collective_kind kind,
               struct ranks_shape shape, double bytes)
{
    struct collective_schedule halving = schedule_rail_halving_reduce(shape, bytes);
    struct collective_schedule direct = schedule_direct_gather(shape, bytes);
    if (kind == COLLECTIVE_ALL_TO_ALL && shape.nodes > 1 && shape.gpus > 1)
        offer(offers, schedule_rail_then_node(shape, bytes, 1));
    if (kind != COLLECTIVE_ALL_REDUCE)
        return;
    if (shape.nodes == 1)
        offer(offers, schedule_node_halving_reduce(shape, bytes));
    else if (shape.gpus == 1)
        offer(offers, halving);
    else
        offer(offers,
              schedule_two_levels(schedule_gather_twice(direct),
                                  schedule_rail_halving_reduce(shape, bytes / shape.gpus),
                                  "two levels, rail halving + doubling", 3));
}

struct collective_offers
collective_offers_of_any(const struct fabric *fabric, enum collective_kind kind,
                         struct ranks_shape shape, double bytes)
{
    struct fabric knowing = *fabric;
    struct collective_offers offers = {.count = 0}, rings;
    knowing.gathers_by_doubling = knowing.works_by_levels = knowing.broadcasts_by_tree = true;
    if (kind == COLLECTIVE_SEND_RECV || kind == COLLECTIVE_ALL_TO_ALL_V)
        return offers;
    if (shape.nodes > 1) {
        offers = shape.gpus > 1 ? collective_offers_on_levels(&knowing, kind, shape, bytes)
                                : collective_offers_on_rail(&knowing, kind, shape, bytes);
    } else {
        offers = collective_offers_in_node(NODE_DIRECT, kind, shape, bytes);
        rings = collective_offers_in_node(NODE_RINGS, kind, shape, bytes);
        if (kind != COLLECTIVE_ALL_TO_ALL) /* which has no rings */
            offer_all(&offers, &rings);
    }
    offer_textbook(&offers, kind, shape, bytes);
    return offers;
}

struct collective_offers
collective_offers_named(const struct collective_offers *offers, const char *name)
{
    struct collective_offers named = {.count = 0};
    for (int i = 0; i < offers->count; i++)
        if (strcmp(offers->schedules[i].algorithm, name) == 0)
            offer(&named, offers->schedules[i]);
    return named;
}
