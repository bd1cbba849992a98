/* What it costs to send tokens to the GPUs that hold their experts. */
#include "hw/expert_exchange.h"

#include <math.h>

#include "hw/collective_price.h"

double
expert_groups_met(double groups, int64_t experts, int64_t top_k)
{
    double all = (double)experts, others = all - all / groups, none = 1;
    for (int64_t i = 0; i < top_k; i++) /* C(others, k) / C(all, k), factor by factor */
        none *= fmax(0, others - (double)i) / (all - (double)i);
    return groups * (1 - none);
}

/* n nodes of g ranks; c: bytes from one rank that one other gets; L links of a GPU in its node. A
 * link carries what its GPU has for the peer, and what passes through for the peer of the other
 * nodes. Once per node, the network carries only one copy for all GPUs of a node. */
static struct collective_schedule
exchange_schedule(const struct fabric *fabric, const struct expert_exchange *exchange,
                  struct ranks_shape shape)
{
    double n = shape.nodes, g = shape.gpus, p = n * g;
    double bytes = exchange->tokens * exchange->token_bytes;
    double copies = exchange->copies == COPIES_PER_EXPERT
                        ? (double)exchange->top_k
                        : expert_groups_met(p, exchange->experts, exchange->top_k);
    bool is_once_per_node = exchange->copies == COPIES_PER_NODE && n > 1;
    bool passes_through =
        n > 1 && (is_once_per_node || fabric->network_topology == NETWORK_RAILS_ONLY);
    double nodes_met = expert_groups_met(n, exchange->experts, exchange->top_k);
    double c = bytes * copies / p, to_peer = passes_through ? n * c : c;
    return (struct collective_schedule){
        .algorithm = is_once_per_node ? "rail, then node"
                     : passes_through ? "forwarded to the rail"
                                      : "direct",
        .launches = 1,
        .link_hops = g > 1 ? 1 : 0,
        .nic_hops = is_once_per_node ? 1 : n - 1, /* a kernel of its own, or the library's */
        .link_bytes = g > 1 ? to_peer * (g - 1) / shape.links : 0,
        .nic_bytes = is_once_per_node ? bytes * nodes_met * (n - 1) / n : (p - g) * c,
        .uplinks = UPLINK_PAIRS,
    };
}

static bool
check_exchange(const struct expert_exchange *exchange, const struct rank_placement *placement,
               struct error_list *errors)
{
    long long experts = exchange->experts, ranks = placement->ranks, top_k = exchange->top_k;
    if (experts < 1 || experts % ranks != 0)
        return error_add(errors, ERROR_INPUT, "",
                         "%lld experts on %lld ranks, wanted as many on "
                         "each",
                         experts, ranks);
    if (top_k < 1 || top_k > experts)
        return error_add(errors, ERROR_INPUT, "", "%lld of %lld experts for each token", top_k,
                         experts);
    if (!placement->keeps_rails)
        return error_add(errors, ERROR_INFEASIBLE, "",
                         "experts on ranks %lld and %lld, which are different GPUs of their "
                         "nodes, wanted the same ones of each node",
                         (long long)placement->stray_from, (long long)placement->stray_to);
    return true;
}

bool
expert_exchange_cost(const struct cluster *cluster, const struct expert_exchange *exchange,
                     struct collective_cost *cost, struct error_list *errors)
{
    double sent = exchange->tokens * exchange->token_bytes * (double)exchange->top_k;
    struct collective all = {.kind = COLLECTIVE_ALL_TO_ALL,
                             .group = exchange->group,
                             .ranks = exchange->ranks,
                             .nodes = exchange->nodes,
                             .bytes = sent};
    struct rank_placement placement;
    if (!collective_cost(cluster, &all, cost, errors) || /* its routes are the same */
        !collective_place(cluster, &all, &placement, errors) ||
        !check_exchange(exchange, &placement, errors))
        return false;
    if (placement.ranks == 1)
        return true;
    struct pricing pricing = collective_pricing(cluster, COLLECTIVE_ALL_TO_ALL, &placement);
    struct collective_offers offers = {
        .schedules = {exchange_schedule(&cluster->fabric, exchange, pricing.shape)},
        .count = 1};
    struct collective_choice best = {.is_found = false};
    for (int i = 0; i < cluster->fabric.protocol_count; i++)
        collective_choose(&pricing, &cluster->fabric.protocols[i], &offers, sent, &best);
    *cost = collective_price(&pricing, &best);
    double factor = collective_bus_factor(COLLECTIVE_ALL_TO_ALL, placement.ranks);
    cost->bus_bytes_per_s = factor * sent / (cost->latency_s + cost->transfer_s);
    return true;
}
