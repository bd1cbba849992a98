/* Which schedules a library could run for a collective, by what wires there are. */
#include "hw/collective_offers.h"

#include <assert.h>

static void
offer(struct collective_offers *offers, struct collective_schedule schedule)
{
    assert(offers->count < COLLECTIVE_OFFERS_MAX && "more algorithms than foreseen");
    offers->schedules[offers->count++] = schedule;
}

static struct collective_schedule
node_gather(const struct fabric *fabric, struct ranks_shape shape, double bytes)
{
    return fabric->node_algorithm == NODE_RINGS ? schedule_ring_gather(shape, bytes)
                                                : schedule_direct_gather(shape, bytes);
}

static struct collective_schedule
node_broadcast(const struct fabric *fabric, struct ranks_shape shape, double bytes)
{
    return fabric->node_algorithm == NODE_RINGS ? schedule_ring_broadcast(shape, bytes)
                                                : schedule_direct_broadcast(shape, bytes);
}

struct collective_offers
collective_offers_in_node(const struct fabric *fabric, enum collective_kind kind,
                          struct ranks_shape shape, double bytes)
{
    struct collective_offers offers = {.count = 0};
    switch (kind) {
    case COLLECTIVE_ALL_REDUCE:
        offer(&offers, schedule_gather_twice(node_gather(fabric, shape, bytes)));
        if (fabric->node_algorithm == NODE_DIRECT)
            offer(&offers, schedule_one_shot_reduce(shape, bytes));
        break;
    case COLLECTIVE_REDUCE_SCATTER:
    case COLLECTIVE_ALL_GATHER:
        offer(&offers, node_gather(fabric, shape, bytes));
        break;
    case COLLECTIVE_BROADCAST:
        offer(&offers, node_broadcast(fabric, shape, bytes));
        break;
    case COLLECTIVE_ALL_TO_ALL:
        offer(&offers, schedule_direct_all_to_all(shape, bytes));
        break;
    case COLLECTIVE_SEND_RECV:
    case COLLECTIVE_KIND_COUNT:
        assert(false && "not a collective of a whole group");
    }
    return offers;
}

struct collective_offers
collective_offers_on_rail(const struct fabric *fabric, enum collective_kind kind,
                          struct ranks_shape shape, double bytes)
{
    struct collective_offers offers = {.count = 0};
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
        offer(&offers, schedule_rail_tree_broadcast(shape, bytes));
        break;
    case COLLECTIVE_ALL_TO_ALL:
        offer(&offers, schedule_rail_all_to_all(shape, bytes));
        break;
    case COLLECTIVE_SEND_RECV:
    case COLLECTIVE_KIND_COUNT:
        assert(false && "not a collective of a whole group");
    }
    return offers;
}

/* Phases in the node and on the rails, each started by itself (an all-reduce: scatter in the
 * node, reduce over the rail, gather in the node), or rings through all ranks. */
struct collective_offers
collective_offers_on_levels(const struct fabric *fabric, enum collective_kind kind,
                            struct ranks_shape shape, double bytes)
{
    struct collective_offers offers = {.count = 0};
    static const char *const RING = "two levels, rail ring",
                             *const TREE = "two levels, rail tree",
                             *const DOUBLING = "two levels, rail doubling",
                             *const CHAIN = "two levels, rail chain";
    const struct collective_schedule node = node_gather(fabric, shape, bytes);
    const double part = bytes / shape.gpus;
    const struct collective_schedule ring = schedule_rail_ring_gather(shape, part);
    switch (kind) {
    case COLLECTIVE_ALL_REDUCE: {
        const struct collective_schedule twice = schedule_gather_twice(node);
        const struct collective_schedule tree = schedule_rail_tree_reduce(shape, part);
        offer(&offers, schedule_two_levels(twice, schedule_gather_twice(ring), RING, 3));
        offer(&offers, schedule_two_levels(twice, tree, TREE, 3));
        offer(&offers, schedule_flat_ring_reduce(shape, bytes));
        break;
    }
    case COLLECTIVE_REDUCE_SCATTER:
    case COLLECTIVE_ALL_GATHER: {
        const struct collective_schedule doubling = schedule_rail_doubling_gather(shape, part);
        offer(&offers, schedule_two_levels(node, ring, RING, 2));
        if (fabric->gathers_by_doubling)
            offer(&offers, schedule_two_levels(node, doubling, DOUBLING, 2));
        offer(&offers, schedule_flat_ring_gather(shape, bytes));
        break;
    }
    case COLLECTIVE_BROADCAST: {
        const struct collective_schedule spread = node_broadcast(fabric, shape, bytes);
        const struct collective_schedule chain = schedule_rail_chain_broadcast(shape, part);
        const struct collective_schedule tree = schedule_rail_tree_broadcast(shape, part);
        offer(&offers, schedule_two_levels(spread, chain, CHAIN, 2));
        offer(&offers, schedule_two_levels(spread, tree, TREE, 2));
        break;
    }
    case COLLECTIVE_ALL_TO_ALL:
        offer(&offers, schedule_forwarded_all_to_all(shape, bytes));
        break;
    case COLLECTIVE_SEND_RECV:
    case COLLECTIVE_KIND_COUNT:
        assert(false && "not a collective of a whole group");
    }
    return offers;
}

/* A link, a NIC, or the link to the GPU of the right rail and then its NIC. */
struct collective_offers
collective_offers_of_send(bool crosses_node, bool crosses_rail, double bytes)
{
    bool uses_link = crosses_rail || !crosses_node;
    const char *algorithm = !crosses_node ? "one link"
                            : uses_link   ? "forwarded to the rail"
                                          : "one rail";
    struct collective_offers offers = {.count = 0};
    offer(&offers, (struct collective_schedule){
                       .algorithm = algorithm,
                       .launches = 1,
                       .link_hops = uses_link ? 1 : 0,
                       .nic_hops = crosses_node ? 1 : 0,
                       .link_bytes = uses_link ? bytes : 0,
                       .nic_bytes = crosses_node ? bytes : 0,
                   });
    return offers;
}
