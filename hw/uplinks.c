/* The links of a leaf switch up to its spines.
 *
 * Hash collisions: m flows over s paths fall like m balls into s bins, and every leaf that the
 * group lies on has s bins up and s down. The busiest of all carries, in the mean, the sum over
 * t of P(some bin holds more than t) = 1 - F(t)^bins, with F of the binomial distribution of
 * (m, 1 / s): a spine's links each take their part of it, since flows share max-min fair. */
#include "hw/uplinks.h"

#include <math.h>

bool
uplink_load_of(const struct fabric *fabric, int64_t gpus_per_node,
               const struct rank_placement *placement, struct uplink_load *out)
{
    bool is_of_a_rail = fabric->network_topology == NETWORK_RAILS_ONLY;
    int64_t k = fabric->leaf_nodes;
    bool has_leaves = (is_of_a_rail && k > 0) || fabric->network_topology == NETWORK_LEAF_SPINE;
    if (!has_leaves || placement->nodes < 2 ||
        placement->first_node / k == placement->last_node / k)
        return false;
    double spacing =
        (double)(placement->last_node - placement->first_node) / (double)(placement->nodes - 1);
    double members = fmax(1, fmin(floor((double)k / spacing), (double)placement->nodes - 1));
    *out = (struct uplink_load){
        .leaf_nics = (double)k * (is_of_a_rail ? 1 : (double)gpus_per_node),
        .member_nics = members * (is_of_a_rail ? 1 : (double)placement->gpus),
        .member_nodes = members,
        .nodes = (double)placement->nodes,
        .gpus = (double)placement->gpus,
    };
    return true;
}

/* Beyond so many flows a path the sum is long, and the maximum of normal numbers near enough. */
static const double NORMAL_FROM_MEAN = 200;

double
uplink_largest_load(double flows, double paths, double bins)
{
    double p = 1 / paths, mean = flows * p, least = ceil(mean - 1e-9);
    if (paths <= 1)
        return flows;
    if (mean > NORMAL_FROM_MEAN)
        return mean + sqrt(2 * log(bins) * mean * (1 - p));
    double at = exp(flows * log1p(-p)), below = at, sum = 0;
    for (int64_t t = 0; t < (int64_t)flows; t++) { /* at: P(exactly t), below: P(at most t) */
        double more = 1 - pow(fmin(below, 1), bins);
        sum += more;
        if ((double)t > mean && more < 1e-12)
            break;
        at *= (flows - (double)t) / ((double)t + 1) * p / (1 - p);
        below += at;
    }
    return fmax(sum, least);
}

/* Part of the traffic of a leaf's members that leaves it. */
static double
leaving_fraction(const struct uplink_load *load, enum uplink_pattern pattern)
{
    double k = load->member_nodes, n = load->nodes;
    return pattern == UPLINK_NEIGHBOURS ? 1 / k : (n - k) / (n - 1);
}

/* In units of what one NIC sends: the leaf's traffic over what its links carry, or the flows on the
 * busiest path, each with its part of the traffic, over what the path carries. */
double
uplink_s(const struct fabric *fabric, const struct uplink_load *load,
         enum uplink_pattern pattern, double nic_s)
{
    double leaving_nics = load->member_nics * leaving_fraction(load, pattern);
    double links_nics = load->leaf_nics / fabric->oversubscription_ratio;
    double spines = (double)fabric->spine_count;
    double even_s = nic_s * leaving_nics / links_nics;
    if (fabric->is_sprayed || spines <= 1)
        return even_s;
    double peers =
        pattern == UPLINK_NEIGHBOURS ? 1 : (load->nodes - load->member_nodes) * load->gpus;
    double senders = pattern == UPLINK_NEIGHBOURS ? leaving_nics : load->member_nics;
    double flows = fmax(1, round(senders * peers));
    double leaves = ceil(load->nodes / load->member_nodes);
    double largest = uplink_largest_load(flows, spines, 2 * spines * leaves);
    return even_s * largest * spines / flows;
}
