/* Switches of a folded Clos network, counted from the NICs up. */
#include "hw/switches.h"

#include <math.h>

/* Arista 7060X6-64PE, which ZAYA1's cluster was trained on (Zyphra, Training Foundation Models on a
 * Full-Stack AMD Platform, 2025, section II): 64 ports of 800 Gbit/s, each two of 400. */
enum { PORTS_OF_400G = 128 };
static const double RATE_OF_400G_BYTES_PER_S = 50e9;

int64_t
switch_ports_known(double nic_bytes_per_s)
{
    return nic_bytes_per_s == RATE_OF_400G_BYTES_PER_S ? PORTS_OF_400G : 0;
}

int64_t
switch_node_nics(const struct fabric *fabric, int64_t gpus_per_node)
{
    return fabric->network_topology == NETWORK_RAILS_ONLY ? 1 : gpus_per_node;
}

static int64_t
divided_up(int64_t count, int64_t by)
{
    return (count + by - 1) / by;
}

/* Fewest switches to which each of `below` lower ones can spread its `links` evenly. */
static int64_t
fewest_above(int64_t below, int64_t links, int64_t ports)
{
    int64_t above = divided_up(below * links, ports);
    while (links % above != 0 || below * (links / above) > ports)
        above++;
    return above;
}

/* d NICs and d / r links up share the ports: a leaf has room for ports / (1 + r) links up and r
 * times as many NICs. */
static int64_t
largest_leaf(const struct switch_wish *wish)
{
    double ratio = wish->oversubscription_ratio;
    double uplinks = floor((double)wish->ports / (1 + ratio));
    return (int64_t)floor(uplinks * ratio) / wish->node_nics;
}

static bool
plan_leaf(const struct switch_wish *wish, struct switch_plan *plan, struct error_list *errors)
{
    int64_t largest = largest_leaf(wish);
    plan->leaf_nodes = wish->leaf_nodes > 0 ? wish->leaf_nodes : largest;
    double nics = (double)(plan->leaf_nodes * wish->node_nics);
    double uplinks = fmax(1, ceil(nics / wish->oversubscription_ratio));
    if (plan->leaf_nodes < 1 || nics + uplinks > (double)wish->ports)
        return error_add(errors, ERROR_INFEASIBLE, "",
                         "a leaf switch of %lld ports holds at most %lld nodes at %.4g to 1 "
                         "(NICs of each: %lld; and links up), wanted %lld",
                         (long long)wish->ports, (long long)largest,
                         wish->oversubscription_ratio, (long long)wish->node_nics,
                         (long long)(plan->leaf_nodes < 1 ? 1 : plan->leaf_nodes));
    plan->leaf_uplinks = (int64_t)uplinks;
    plan->oversubscription_ratio = nics / uplinks;
    plan->leaves = divided_up(wish->nodes, plan->leaf_nodes);
    return true;
}

static void
plan_two_levels(const struct switch_wish *wish, struct switch_plan *plan)
{
    plan->levels = 2;
    plan->spines = fewest_above(plan->leaves, plan->leaf_uplinks, wish->ports);
    plan->cables = plan->leaves * plan->leaf_uplinks;
    plan->nodes_maximum = wish->ports * plan->leaf_nodes;
}

/* Spine j of every pod meets the same tops: each has `half` links to them. */
static bool
plan_three_levels(const struct switch_wish *wish, struct switch_plan *plan,
                  struct error_list *errors)
{
    int64_t half = wish->ports / 2, pods = half > 0 ? divided_up(plan->leaves, half) : 0;
    plan->levels = 3;
    plan->nodes_maximum = wish->ports * half * plan->leaf_nodes;
    if (half < 1 || pods > wish->ports)
        return error_add(errors, ERROR_INFEASIBLE, "",
                         "%lld nodes, but three levels of switches of %lld ports join at most "
                         "%lld with %lld nodes a leaf",
                         (long long)wish->nodes, (long long)wish->ports,
                         (long long)plan->nodes_maximum, (long long)plan->leaf_nodes);
    plan->spines = pods * plan->leaf_uplinks;
    plan->tops = plan->leaf_uplinks * fewest_above(pods, half, wish->ports);
    plan->cables = plan->leaves * plan->leaf_uplinks + plan->spines * half;
    return true;
}

bool
switch_plan_find(const struct switch_wish *wish, struct switch_plan *plan,
                 struct error_list *errors)
{
    bool is_one_leaf = wish->leaf_nodes == 0 || wish->leaf_nodes >= wish->nodes;
    *plan = (struct switch_plan){.levels = 1,
                                 .leaf_nodes = wish->nodes,
                                 .leaves = 1,
                                 .oversubscription_ratio = 1,
                                 .nodes_maximum = wish->ports / wish->node_nics};
    if (is_one_leaf && wish->nodes <= plan->nodes_maximum)
        return true;
    if (!plan_leaf(wish, plan, errors))
        return false;
    if (plan->leaves <= wish->ports) {
        plan_two_levels(wish, plan);
        return true;
    }
    return plan_three_levels(wish, plan, errors);
}
