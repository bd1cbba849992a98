/* What a collective costs: of the schedules that the library could run on these ranks, each by
 * each protocol, the cheapest, as the library's own tuner would choose. */
#include "hw/collective.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>

#include "hw/collective_offers.h"

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

/* The ranks in question, and what the fabric gives them. */
struct pricing {
    const struct fabric *fabric;
    enum collective_kind kind;
    struct ranks_shape shape;
    double own_bytes;  /* that stay with each rank but pass through it all the same */
    double link_rate;  /* bytes per second */
    double nic_rate;   /* bytes per second */
    double node_links; /* of one GPU in the whole node */
};

struct price {
    double latency_s, link_s, nic_s, fill_s;
};

static double
price_transfer_s(const struct price *price)
{
    return fmax(price->link_s, price->nic_s) + price->fill_s;
}

static double
price_total_s(const struct price *price)
{
    return price->latency_s + price_transfer_s(price);
}

static struct price
price_schedule(const struct pricing *pricing, const struct collective_schedule *schedule,
               const struct fabric_protocol *protocol)
{
    double launch_s = protocol->launch_s + pricing->fabric->tunings[pricing->kind].launch_s;
    double link_bytes = schedule->link_bytes + pricing->own_bytes;
    struct price price = {
        .latency_s = schedule->launches * launch_s +
                     schedule->link_hops * protocol->link_hop_s +
                     schedule->nic_hops * protocol->nic_hop_s,
        .link_s = link_bytes / (pricing->link_rate * protocol->bandwidth_fraction),
    };
    if (schedule->nic_bytes > 0)
        price.nic_s = schedule->nic_bytes / (pricing->nic_rate * protocol->bandwidth_fraction);
    if (schedule->chain_nodes > 0) {
        double chain_latency_s = (schedule->chain_nodes - 1) * protocol->nic_hop_s;
        price.latency_s += chain_latency_s;
        price.nic_s =
            chain_s(schedule->chain_nodes, protocol->nic_hop_s, price.nic_s) - chain_latency_s;
    }
    price.fill_s = 2 * sqrt(protocol->fill_s * fmax(price.link_s, price.nic_s));
    return price;
}

struct choice {
    struct price price;
    const struct collective_schedule *schedule;
    const struct fabric_protocol *protocol;
};

static struct choice
choose(const struct pricing *pricing, const struct collective_offers *offers)
{
    struct choice best = {.price.latency_s = HUGE_VAL};
    for (int i = 0; i < offers->count * pricing->fabric->protocol_count; i++) {
        const struct collective_schedule *schedule = &offers->schedules[i % offers->count];
        const struct fabric_protocol *protocol = &pricing->fabric->protocols[i / offers->count];
        struct price price = price_schedule(pricing, schedule, protocol);
        if (price_total_s(&price) < price_total_s(&best.price))
            best = (struct choice){price, schedule, protocol};
    }
    assert(best.schedule && "a fabric has a protocol, a collective a schedule");
    return best;
}

static const char *
bound_name(const struct pricing *pricing, const struct price *price)
{
    if (price->latency_s > price_transfer_s(price))
        return "latency";
    if (price->nic_s > price->link_s)
        return "nic";
    return pricing->fabric->node_topology == NODE_MESH ? "xgmi" : "nvlink";
}

/* Errors of the fixed part, of the transfer and of this collective, taken as independent. */
static double
total_sigma(const struct pricing *pricing, const struct price *price)
{
    const struct fabric *fabric = pricing->fabric;
    double level_sigma =
        pricing->shape.nodes > 1 ? fabric->network_relative_sigma : fabric->node_relative_sigma;
    double fixed = fabric->latency_relative_sigma * price->latency_s;
    double shared = level_sigma * price_transfer_s(price);
    double both = hypot(fixed, shared) / price_total_s(price);
    return hypot(both, fabric->tunings[pricing->kind].relative_sigma);
}

/* What it takes of the links, NICs and GPUs while bytes move. */
static void
fill_shares(const struct pricing *pricing, const struct choice *choice,
            struct collective_cost *cost)
{
    const struct fabric *fabric = pricing->fabric;
    const struct collective_schedule *schedule = choice->schedule;
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

static void
fill_cost(const struct pricing *pricing, const struct collective_offers *offers,
          struct collective_cost *cost)
{
    struct choice choice = choose(pricing, offers);
    *cost = (struct collective_cost){
        .latency_s = choice.price.latency_s,
        .transfer_s = price_transfer_s(&choice.price),
        .relative_sigma = total_sigma(pricing, &choice.price),
        .algorithm = choice.schedule->algorithm,
        .protocol = choice.protocol->name,
        .bound = bound_name(pricing, &choice.price),
    };
    fill_shares(pricing, &choice, cost);
}

static struct pricing
pricing_of(const struct cluster *cluster, enum collective_kind kind, struct ranks_shape shape)
{
    const struct fabric *fabric = &cluster->fabric;
    double efficiency = fabric->tunings[kind].efficiency;
    return (struct pricing){
        .fabric = fabric,
        .kind = kind,
        .shape = shape,
        .link_rate = fabric_link_rate(fabric, fmax(1, shape.links)) * efficiency,
        .nic_rate = fabric_nic_rate(fabric) * efficiency,
        .node_links = fabric_links(fabric, cluster->gpus_per_node),
    };
}

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
    if (is_placed && collective->kind == COLLECTIVE_SEND_RECV && out->ranks != 2)
        return error_add(errors, ERROR_INPUT, "", "send_recv between %lld ranks, wanted 2",
                         (long long)out->ranks);
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
    if (cluster->fabric.forwards_cross_rail)
        return true;
    return error_add(errors, ERROR_INFEASIBLE, "",
                     "no route from rank %lld to rank %lld: the rails of %s do not meet and "
                     "nothing forwards from one to another",
                     (long long)from, (long long)to, cluster->name);
}

/* Between two certain ranks. */
static bool
pair_cost(const struct cluster *cluster, const struct collective *collective,
          struct collective_cost *cost, struct error_list *errors)
{
    int64_t g = cluster->gpus_per_node, from = collective->from, to = collective->to;
    if (!check_rank(cluster, from, errors) || !check_rank(cluster, to, errors))
        return false;
    bool crosses_node = from / g != to / g, crosses_rail = from % g != to % g;
    if (crosses_node && !check_network(cluster, errors))
        return false;
    if (crosses_node && crosses_rail && !check_forwarding(cluster, from, to, errors))
        return false;
    struct ranks_shape shape = {
        .nodes = crosses_node ? 2 : 1, .gpus = 1, .links = 1, .ranks = 2};
    struct pricing pricing = pricing_of(cluster, COLLECTIVE_SEND_RECV, shape);
    struct collective_offers offers =
        collective_offers_of_send(crosses_node, crosses_rail, collective->bytes);
    fill_cost(&pricing, &offers, cost);
    return true;
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
    if (collective->kind != COLLECTIVE_ALL_TO_ALL || placement->gpus == 1)
        return true;
    int64_t from = 0, to = cluster->gpus_per_node + 1;
    if (collective->group.size != 0) {
        from = rank_group_at(&collective->group, 0);
        to = rank_group_at(&collective->group, placement->gpus + 1);
    }
    return check_forwarding(cluster, from, to, errors);
}

static struct collective_offers
offers_of(const struct fabric *fabric, const struct collective *collective,
          const struct rank_placement *placement, struct ranks_shape shape)
{
    enum collective_kind kind = collective->kind;
    double bytes = collective->bytes;
    struct collective_offers offers =
        kind == COLLECTIVE_SEND_RECV
            ? collective_offers_of_send(placement->nodes > 1, false, bytes)
        : placement->nodes == 1 ? collective_offers_in_node(fabric, kind, shape, bytes)
        : placement->gpus == 1  ? collective_offers_on_rail(fabric, kind, shape, bytes)
                                : collective_offers_on_levels(fabric, kind, shape, bytes);
    for (int i = 0; i < offers.count && !placement->keeps_rails; i++)
        offers.schedules[i] = schedule_across_rails(offers.schedules[i]);
    return offers;
}

static bool
group_cost(const struct cluster *cluster, const struct collective *collective,
           const struct rank_placement *placement, struct collective_cost *cost,
           struct error_list *errors)
{
    const struct fabric *fabric = &cluster->fabric;
    if (!check_routes(cluster, collective, placement, errors))
        return false;
    if (placement->ranks == 1)
        return true;
    int64_t gpus = placement->gpus;
    bool uses_links = gpus > 1 || !placement->keeps_rails;
    struct ranks_shape shape = {.nodes = (double)placement->nodes,
                                .gpus = (double)gpus,
                                .links =
                                    uses_links ? fabric_links(fabric, gpus > 1 ? gpus : 2) : 0,
                                .ranks = (double)placement->ranks};
    if (collective->kind == COLLECTIVE_SEND_RECV)
        shape.gpus = shape.links = 1;
    struct pricing pricing = pricing_of(cluster, collective->kind, shape);
    struct collective_offers offers = offers_of(fabric, collective, placement, shape);
    if (placement->nodes == 1)
        pricing.own_bytes = fabric->tunings[collective->kind].own_part_ratio *
                            collective->bytes / shape.gpus / shape.links;
    fill_cost(&pricing, &offers, cost);
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
                      !group_cost(cluster, collective, &placement, cost, errors))
        return false;
    double factor = collective_bus_factor(collective->kind, placement.ranks);
    double total_s = cost->latency_s + cost->transfer_s;
    if (total_s > 0)
        cost->bus_bytes_per_s = factor * collective->bytes / total_s;
    return true;
}
