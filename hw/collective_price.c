/* Prices schedules on a fabric and picks the one that the library would run. */
#include "hw/collective_price.h"

#include <assert.h>
#include <math.h>

/* Seconds that a chain of n nodes takes in k chunks, (n - 2 + k)(a + t / k), with the best k of
 * at least one: sqrt((n - 2) t / a). a: start-up of a step, t: transfer of the whole to one
 * node. */
static double
chain_s(double nodes, double step_s, double transfer_s)
{
    if (step_s <= 0)
        return transfer_s;
    double chunks = fmax(1, sqrt((nodes - 2) * transfer_s / step_s));
    return (nodes - 2 + chunks) * (step_s + transfer_s / chunks);
}

/* Of a NIC: what the channels of rings and trees through these ranks reach. Sends have channels of
 * their own, by pairs. */
static double
nic_part(const struct cluster *cluster, enum collective_kind kind,
         const struct rank_placement *placement)
{
    bool is_by_pairs = kind == COLLECTIVE_SEND_RECV || kind == COLLECTIVE_ALL_TO_ALL ||
                       kind == COLLECTIVE_ALL_TO_ALL_V;
    bool is_part = placement->nodes > 1 && placement->gpus < cluster->gpus_per_node &&
                   placement->ranks >= cluster->fabric.part_ranks_minimum;
    return is_part && !is_by_pairs ? cluster->fabric.part_efficiency : 1;
}

struct pricing
collective_pricing(const struct cluster *cluster, enum collective_kind kind,
                   const struct rank_placement *placement)
{
    const struct fabric *fabric = &cluster->fabric;
    double efficiency = fabric->tunings[kind].efficiency;
    bool crosses_rails =
        !placement->keeps_rails && fabric->network_topology == NETWORK_RAILS_ONLY;
    int64_t gpus = placement->gpus == 1 && crosses_rails ? 2 : placement->gpus;
    struct ranks_shape shape = {.nodes = (double)placement->nodes,
                                .gpus = (double)placement->gpus,
                                .links = gpus > 1 ? fabric_links(fabric, gpus) : 0,
                                .ranks = (double)placement->ranks};
    if (kind == COLLECTIVE_SEND_RECV)
        shape.gpus = shape.links = 1;
    struct pricing pricing = {
        .fabric = fabric,
        .kind = kind,
        .shape = shape,
        .is_whole_node = placement->ranks == cluster->gpus_per_node && placement->nodes == 1,
        .link_rate = fabric_link_rate(fabric, fmax(1, shape.links)) * efficiency,
        .nic_rate = fabric_nic_rate(fabric) * efficiency,
        .nic_part = nic_part(cluster, kind, placement),
        .node_links = fabric_links(fabric, cluster->gpus_per_node),
    };
    struct rank_placement senders = *placement;
    if (kind == COLLECTIVE_SEND_RECV) /* of each node, one to the next node */
        senders.gpus = 1;
    pricing.crosses_leaves =
        uplink_load_of(fabric, cluster->gpus_per_node, &senders, &pricing.uplinks);
    return pricing;
}

static double
transfer_s(const struct collective_choice *choice)
{
    return fmax(choice->link_s, choice->nic_s) + choice->fill_s;
}

static double
total_s(const struct collective_choice *choice)
{
    return choice->latency_s + transfer_s(choice);
}

static struct collective_choice
price_schedule(const struct pricing *pricing, const struct collective_schedule *schedule,
               const struct fabric_protocol *protocol)
{
    double launch_s = protocol->launch_s + pricing->fabric->tunings[pricing->kind].launch_s;
    double link_bytes = schedule->link_bytes + pricing->own_bytes;
    double part = protocol->bandwidth_fraction * (1 - schedule->loss_fraction);
    struct collective_choice price = {
        .is_found = true,
        .latency_s = schedule->launches * launch_s +
                     schedule->link_hops * protocol->link_hop_s +
                     schedule->nic_hops * protocol->nic_hop_s,
        .link_s = link_bytes / (pricing->link_rate * part),
        .schedule = *schedule,
        .protocol = protocol,
    };
    if (schedule->nic_bytes > 0)
        price.nic_s = schedule->nic_bytes / (pricing->nic_rate * pricing->nic_part * part);
    if (pricing->crosses_leaves)
        price.nic_s = fmax(price.nic_s, uplink_s(pricing->fabric, &pricing->uplinks,
                                                 schedule->uplinks, price.nic_s));
    if (schedule->chain_nodes > 0) {
        double chain_latency_s = (schedule->chain_nodes - 1) * protocol->nic_hop_s;
        price.latency_s += chain_latency_s;
        price.nic_s =
            chain_s(schedule->chain_nodes, protocol->nic_hop_s, price.nic_s) - chain_latency_s;
    }
    price.fill_s = 2 * sqrt(protocol->fill_s * fmax(price.link_s, price.nic_s));
    return price;
}

/* Rules first, of rules the narrowest, then what is cheapest. */
static bool
is_better(const struct collective_choice *price, const struct collective_choice *best)
{
    if (!best->is_found || price->is_ruled != best->is_ruled)
        return !best->is_found || price->is_ruled;
    if (price->is_ruled && price->bytes_limit != best->bytes_limit)
        return price->bytes_limit < best->bytes_limit;
    return total_s(price) < total_s(best);
}

void
collective_choose(const struct pricing *pricing, const struct fabric_protocol *protocol,
                  const struct collective_offers *offers, double bytes,
                  struct collective_choice *best)
{
    double limit = protocol->whole_node_bytes_maximum;
    if ((protocol->kinds >> pricing->kind & 1U) == 0 ||
        (limit > 0 && !(pricing->is_whole_node && bytes >= protocol->whole_node_bytes_minimum &&
                        bytes <= limit)))
        return;
    for (int i = 0; i < offers->count; i++) {
        struct collective_choice price =
            price_schedule(pricing, &offers->schedules[i], protocol);
        price.is_ruled = limit > 0;
        price.bytes_limit = limit;
        if (is_better(&price, best))
            *best = price;
    }
}

static const char *
bound_name(const struct pricing *pricing, const struct collective_choice *choice)
{
    if (choice->latency_s > transfer_s(choice))
        return "latency";
    if (choice->nic_s <= choice->link_s)
        return pricing->fabric->node_topology == NODE_MESH ? "xgmi" : "nvlink";
    double nic_rate = pricing->nic_rate * pricing->nic_part *
                      choice->protocol->bandwidth_fraction *
                      (1 - choice->schedule.loss_fraction);
    bool is_nic = choice->schedule.chain_nodes > 0 ||
                  choice->nic_s <= choice->schedule.nic_bytes / nic_rate * (1 + 1e-12);
    return is_nic ? "nic" : "spine";
}

/* Errors of the fixed part, of the transfer and of this collective, taken as independent. */
static double
total_sigma(const struct pricing *pricing, const struct collective_choice *choice)
{
    const struct fabric *fabric = pricing->fabric;
    double level_sigma =
        pricing->shape.nodes > 1 ? fabric->network_relative_sigma : fabric->node_relative_sigma;
    double fixed = fabric->latency_relative_sigma * choice->latency_s;
    double shared = level_sigma * transfer_s(choice);
    double both = hypot(fixed, shared) / total_s(choice);
    double doublings = pricing->shape.nodes > 2 ? log2(pricing->shape.nodes / 2) : 0;
    double own = fabric->tunings[pricing->kind].relative_sigma;
    return hypot(hypot(both, own), doublings * fabric->doubling_relative_sigma);
}

/* What it takes of the links, NICs and GPUs while bytes move. */
static void
fill_shares(const struct pricing *pricing, const struct collective_schedule *schedule,
            struct collective_cost *cost)
{
    const struct fabric *fabric = pricing->fabric;
    double link_bytes_per_s = (schedule->link_bytes + pricing->own_bytes) / cost->transfer_s;
    double nic_bytes_per_s = schedule->nic_bytes / cost->transfer_s;
    double busy_bytes_per_s = pricing->link_rate * pricing->node_links;
    double sent_bytes_per_s = link_bytes_per_s * pricing->shape.links + nic_bytes_per_s;

    if (busy_bytes_per_s > 0) {
        cost->link_fraction = link_bytes_per_s * pricing->shape.links / busy_bytes_per_s;
        cost->hbm_fraction =
            fmin(1, fabric->hbm_fraction * sent_bytes_per_s / busy_bytes_per_s);
    }
    if (schedule->nic_bytes > 0)
        cost->nic_fraction = nic_bytes_per_s / pricing->nic_rate;
    cost->compute_fraction = pricing->shape.nodes > 1 ? fabric->network_compute_fraction
                                                      : fabric->node_compute_fraction;
}

struct collective_cost
collective_price(const struct pricing *pricing, const struct collective_choice *choice)
{
    assert(choice->is_found && "a fabric has a protocol for every collective");
    struct collective_cost cost = {
        .latency_s = choice->latency_s,
        .transfer_s = transfer_s(choice),
        .relative_sigma = total_sigma(pricing, choice),
        .algorithm = choice->schedule.algorithm,
        .protocol = choice->protocol->name,
        .bound = bound_name(pricing, choice),
    };
    fill_shares(pricing, &choice->schedule, &cost);
    return cost;
}
