/* What a collective costs between ranks of a cluster that have their links to themselves: who takes
 * part, whether there is a way, and which schedules the library could run. */
#include "hw/collective.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>

#include "hw/collective_matrix.h"
#include "hw/collective_offers.h"
#include "hw/collective_price.h"

static bool
check_bytes(double bytes, struct error_list *errors)
{
    if (bytes > 0 && isfinite(bytes))
        return true;
    return error_add(errors, ERROR_INPUT, "", "%g bytes, wanted more than none", bytes);
}

static bool
place_even(const struct cluster *cluster, const struct collective *collective,
           struct rank_placement *out, struct error_list *errors)
{
    long long ranks = collective->ranks, nodes = collective->nodes;
    if (ranks < 1 || nodes < 1 || ranks % nodes != 0)
        return error_add(errors, ERROR_INPUT, "",
                         "%lld ranks on %lld nodes, wanted the same number on each", ranks,
                         nodes);
    if (nodes > cluster->nodes || ranks / nodes > cluster->gpus_per_node)
        return error_add(errors, ERROR_INPUT, "",
                         "%lld ranks on %lld nodes, but %s has %lld nodes of %lld GPUs", ranks,
                         nodes, cluster->name, (long long)cluster->nodes,
                         (long long)cluster->gpus_per_node);
    *out = rank_placement_even(nodes, ranks / nodes);
    return true;
}

bool
collective_place(const struct cluster *cluster, const struct collective *collective,
                 struct rank_placement *out, struct error_list *errors)
{
    const struct rank_space space = {cluster->name, cluster->nodes, cluster->gpus_per_node};
    bool is_placed = collective->group.size != 0
                         ? rank_group_place(&collective->group, &space, out, errors)
                         : place_even(cluster, collective, out, errors);
    if (is_placed && collective->kind == COLLECTIVE_SEND_RECV && out->ranks < 2)
        return error_add(errors, ERROR_INPUT, "", "send_recv of one rank, wanted 2 or more");
    return is_placed;
}

static bool
check_rank(const struct cluster *cluster, int64_t rank, struct error_list *errors)
{
    if (rank >= 0 && rank < cluster_gpus(cluster))
        return true;
    return error_add(errors, ERROR_INPUT, "", "rank %lld, but %s has ranks 0 to %lld",
                     (long long)rank, cluster->name, (long long)cluster_gpus(cluster) - 1);
}

static bool
check_network(const struct cluster *cluster, struct error_list *errors)
{
    if (cluster->fabric.network_topology != NETWORK_NONE)
        return true;
    return error_add(errors, ERROR_INFEASIBLE, "", "no network joins the nodes of %s",
                     cluster->name);
}

/* From and to: ranks on different nodes and rails. */
static bool
check_forwarding(const struct cluster *cluster, int64_t from, int64_t to,
                 struct error_list *errors)
{
    if (cluster->fabric.network_topology != NETWORK_RAILS_ONLY ||
        cluster->fabric.forwards_cross_rail)
        return true;
    return error_add(errors, ERROR_INFEASIBLE, "",
                     "no route from rank %lld to rank %lld: the rails of %s do not meet and "
                     "nothing forwards from one to another",
                     (long long)from, (long long)to, cluster->name);
}

/* The price of some offers that every protocol may carry. */
static struct collective_cost
cheapest(const struct pricing *pricing, const struct collective_offers *offers, double bytes)
{
    struct collective_choice best = {.is_found = false};
    for (int i = 0; i < pricing->fabric->protocol_count; i++)
        collective_choose(pricing, &pricing->fabric->protocols[i], offers, bytes, &best);
    return collective_price(pricing, &best);
}

static struct rank_placement
place_pair(const struct cluster *cluster, int64_t from, int64_t to)
{
    int64_t g = cluster->gpus_per_node;
    int64_t low = from < to ? from : to, high = from < to ? to : from;
    bool crosses_node = low / g != high / g;
    return (struct rank_placement){.ranks = 2,
                                   .nodes = crosses_node ? 2 : 1,
                                   .gpus = 1,
                                   .first_node = low / g,
                                   .last_node = high / g,
                                   .keeps_rails = !crosses_node || low % g == high % g};
}

int
collective_pair(const struct cluster *cluster, int64_t from, int64_t to)
{
    struct rank_placement placement = place_pair(cluster, from, to);
    struct uplink_load unread;
    int crosses_leaf =
        uplink_load_of(&cluster->fabric, cluster->gpus_per_node, &placement, &unread);
    return (int)placement.nodes - 1 + 2 * !placement.keeps_rails + 4 * crosses_leaf;
}

/* Between two certain ranks. */
static bool
pair_cost(const struct cluster *cluster, const struct collective *collective,
          struct collective_cost *cost, struct error_list *errors)
{
    int64_t from = collective->from, to = collective->to;
    if (!check_rank(cluster, from, errors) || !check_rank(cluster, to, errors))
        return false;
    struct rank_placement placement = place_pair(cluster, from, to);
    bool crosses_node = placement.nodes > 1, crosses_rail = !placement.keeps_rails;
    if (crosses_node && !check_network(cluster, errors))
        return false;
    if (crosses_rail && !check_forwarding(cluster, from, to, errors))
        return false;
    bool is_forwarded = crosses_rail && cluster->fabric.network_topology == NETWORK_RAILS_ONLY;
    struct pricing pricing = collective_pricing(cluster, COLLECTIVE_SEND_RECV, &placement);
    struct collective_offers offers =
        collective_offers_of_sends((struct send_ways){.in_nodes = !crosses_node,
                                                      .between_nodes = crosses_node,
                                                      .is_forwarded = is_forwarded},
                                   collective->bytes);
    *cost = cheapest(&pricing, &offers, collective->bytes);
    return true;
}

int64_t
collective_rank(const struct cluster *cluster, const struct collective *collective,
                int64_t index)
{
    if (collective->group.size != 0)
        return rank_group_at(&collective->group, index);
    int64_t gpus = collective->ranks / collective->nodes;
    return index / gpus * cluster->gpus_per_node + index % gpus;
}

static bool
is_ring_of_sends(enum collective_kind kind, const struct rank_placement *placement)
{
    return kind == COLLECTIVE_SEND_RECV && placement->ranks > 2;
}

static bool
meets_all_pairs(enum collective_kind kind)
{
    return kind == COLLECTIVE_ALL_TO_ALL || kind == COLLECTIVE_ALL_TO_ALL_V;
}

/* An all-to-all meets every pair: of several GPUs a node always some without a common rail. */
static bool
check_routes(const struct cluster *cluster, const struct collective *collective,
             const struct rank_placement *placement, struct error_list *errors)
{
    if (placement->nodes == 1)
        return true;
    if (!check_network(cluster, errors))
        return false;
    if (!placement->keeps_rails)
        return check_forwarding(cluster, placement->stray_from, placement->stray_to, errors);
    if (placement->gpus == 1)
        return true;
    if (is_ring_of_sends(collective->kind,
                         placement)) /* the last of a node, the next's first */
        return check_forwarding(cluster,
                                collective_rank(cluster, collective, placement->gpus - 1),
                                collective_rank(cluster, collective, placement->gpus), errors);
    if (!meets_all_pairs(collective->kind))
        return true;
    return check_forwarding(cluster, collective_rank(cluster, collective, 0),
                            collective_rank(cluster, collective, placement->gpus + 1), errors);
}

/* Between ranks without a common rail. */
static bool
crosses_rails(const struct pricing *pricing, const struct rank_placement *placement)
{
    return !placement->keeps_rails && pricing->fabric->network_topology == NETWORK_RAILS_ONLY;
}

/* All-to-alls between several GPUs of each node pass over links to other rails as it is. */
static void
pass_rails(const struct pricing *pricing, const struct rank_placement *placement,
           struct collective_offers *offers)
{
    bool is_forwarded = pricing->kind == COLLECTIVE_ALL_TO_ALL && placement->gpus > 1;
    bool is_across = crosses_rails(pricing, placement) && !is_forwarded;
    for (int i = 0; i < offers->count && is_across; i++)
        offers->schedules[i] = schedule_across_rails(offers->schedules[i]);
}

static struct send_ways
ways_of(const struct pricing *pricing, const struct rank_placement *placement)
{
    bool is_ring = is_ring_of_sends(pricing->kind, placement);
    bool in_nodes = placement->ranks > placement->nodes, between = placement->nodes > 1;
    bool has_rails = pricing->fabric->network_topology == NETWORK_RAILS_ONLY;
    return (struct send_ways){
        .is_ring = is_ring,
        .in_nodes = in_nodes,
        .between_nodes = between,
        .is_forwarded =
            crosses_rails(pricing, placement) || (is_ring && in_nodes && between && has_rails),
    };
}

/* What one protocol may carry. */
static struct collective_offers
offers_by(const struct pricing *pricing, const struct fabric_protocol *protocol,
          const struct rank_placement *placement, double bytes)
{
    const struct fabric *fabric = pricing->fabric;
    if (pricing->kind == COLLECTIVE_SEND_RECV)
        return collective_offers_of_sends(ways_of(pricing, placement), bytes);
    struct collective_offers offers =
        placement->nodes == 1 ? collective_offers_in_node(protocol->algorithm, pricing->kind,
                                                          pricing->shape, bytes)
        : placement->gpus == 1
            ? collective_offers_on_rail(fabric, pricing->kind, pricing->shape, bytes)
            : collective_offers_on_levels(fabric, pricing->kind, pricing->shape, bytes);
    pass_rails(pricing, placement, &offers);
    return offers;
}

/* Names what there is. */
static bool
fail_on_algorithm(const struct collective *collective, const struct rank_placement *placement,
                  const struct collective_offers *any, struct error_list *errors)
{
    char names[160] = "none";
    size_t length = 0;
    for (int i = 0; i < any->count && length < sizeof names; i++)
        length += (size_t)snprintf(names + length, sizeof names - length, "%s'%s'",
                                   i > 0 ? ", " : "", any->schedules[i].algorithm);
    return error_add(
        errors, ERROR_INPUT, "",
        "no algorithm '%.40s' of %s between %lld ranks on %lld node%s; there is %s",
        collective->algorithm, collective_kind_name(collective->kind),
        (long long)placement->ranks, (long long)placement->nodes,
        placement->nodes > 1 ? "s" : "", names);
}

/* By the algorithm that is asked for, as the library runs it where it does. */
static bool
named_cost(const struct pricing *pricing, const struct rank_placement *placement,
           const struct collective *collective, struct collective_cost *cost,
           struct error_list *errors)
{
    const char *name = collective->algorithm;
    struct collective_choice best = {.is_found = false};
    struct collective_offers any = collective_offers_of_any(pricing->fabric, pricing->kind,
                                                            pricing->shape, collective->bytes);
    for (int i = 0; i < pricing->fabric->protocol_count; i++) {
        const struct fabric_protocol *protocol = &pricing->fabric->protocols[i];
        bool is_ruled = protocol->whole_node_bytes_maximum > 0;
        if (is_ruled && placement->nodes > 1)
            continue;
        struct collective_offers known =
            is_ruled ? offers_by(pricing, protocol, placement, collective->bytes) : any;
        struct collective_offers named = collective_offers_named(&known, name);
        if (!is_ruled)
            pass_rails(pricing, placement, &named);
        collective_choose(pricing, protocol, &named, collective->bytes, &best);
    }
    if (!best.is_found)
        return fail_on_algorithm(collective, placement, &any, errors);
    *cost = collective_price(pricing, &best);
    return true;
}

static struct collective_cost
group_cost(const struct pricing *pricing, const struct rank_placement *placement, double bytes)
{
    struct collective_choice best = {.is_found = false};
    for (int i = 0; i < pricing->fabric->protocol_count; i++) {
        const struct fabric_protocol *protocol = &pricing->fabric->protocols[i];
        struct collective_offers offers = offers_by(pricing, protocol, placement, bytes);
        collective_choose(pricing, protocol, &offers, bytes, &best);
    }
    return collective_price(pricing, &best);
}

static bool
ranks_cost(const struct cluster *cluster, const struct collective *collective,
           const struct rank_placement *placement, struct collective_cost *cost,
           struct error_list *errors)
{
    double bytes = collective->bytes;
    if (!check_routes(cluster, collective, placement, errors))
        return false;
    if (placement->ranks == 1)
        return true;
    struct pricing pricing = collective_pricing(cluster, collective->kind, placement);
    if (collective->kind == COLLECTIVE_ALL_TO_ALL_V) {
        struct collective_offers offers = {.count = 1};
        if (!collective_matrix_schedule(cluster, collective, placement, &offers.schedules[0],
                                        errors))
            return false;
        *cost = cheapest(&pricing, &offers, bytes);
        return true;
    }
    if (placement->nodes == 1 && collective->kind != COLLECTIVE_SEND_RECV)
        pricing.own_bytes = cluster->fabric.tunings[collective->kind].own_part_ratio * bytes /
                            pricing.shape.gpus / pricing.shape.links;
    if (collective->crossing_fraction > 0 && placement->nodes > 1 && placement->gpus > 1) {
        struct collective_offers offers = {
            .schedules = {schedule_rail_then_node(pricing.shape, bytes,
                                                  collective->crossing_fraction)},
            .count = 1};
        pass_rails(&pricing, placement, &offers);
        *cost = cheapest(&pricing, &offers, bytes);
        return true;
    }
    if (collective->algorithm)
        return named_cost(&pricing, placement, collective, cost, errors);
    *cost = group_cost(&pricing, placement, bytes);
    return true;
}

double
collective_bus_factor(enum collective_kind kind, int64_t ranks)
{
    double p = (double)ranks;
    switch (kind) {
    case COLLECTIVE_ALL_REDUCE:
        return 2 * (p - 1) / p;
    case COLLECTIVE_REDUCE_SCATTER:
    case COLLECTIVE_ALL_GATHER:
    case COLLECTIVE_ALL_TO_ALL:
    case COLLECTIVE_ALL_TO_ALL_V:
        return (p - 1) / p;
    case COLLECTIVE_BROADCAST:
    case COLLECTIVE_SEND_RECV:
    case COLLECTIVE_KIND_COUNT:
        break;
    }
    return 1;
}

bool
collective_cost(const struct cluster *cluster, const struct collective *collective,
                struct collective_cost *cost, struct error_list *errors)
{
    bool is_pair =
        collective->kind == COLLECTIVE_SEND_RECV && collective->from != collective->to;
    struct rank_placement placement = {.ranks = 2};
    *cost =
        (struct collective_cost){.algorithm = "none", .protocol = "none", .bound = "latency"};
    if (!check_bytes(collective->bytes, errors))
        return false;
    if (is_pair ? !pair_cost(cluster, collective, cost, errors)
                : !collective_place(cluster, collective, &placement, errors) ||
                      !ranks_cost(cluster, collective, &placement, cost, errors))
        return false;
    double factor = collective_bus_factor(collective->kind, placement.ranks);
    double total_s = cost->latency_s + cost->transfer_s;
    if (total_s > 0)
        cost->bus_bytes_per_s = factor * collective->bytes / total_s;
    return true;
}
