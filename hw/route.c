/* Routes: a block of link numbers for each node, and behind all nodes one for each leaf switch.
 *
 *      node      g * g   link from GPU i to GPU j             g: GPUs of a node
 *                g       out of GPU i into its node, all links together (switch: its port)
 *                g       into GPU i out of its node, likewise
 *                g       up from NIC i
 *                g       down to NIC i
 *      leaf      s       up to spine k                        s: spines; sprayed: 1 for all
 *                s       down from spine k
 *
 * Leaf switches are numbered rail by rail within the nodes that they serve. */
#include "hw/route.h"

#include <assert.h>

enum wire {
    WIRE_LINK,
    WIRE_OUT,
    WIRE_IN,
    WIRE_NIC_UP,
    WIRE_NIC_DOWN,
    WIRE_SPINE_UP,
    WIRE_SPINE_DOWN
};

/* What stands behind a link's number. */
struct place {
    enum wire wire;
    int64_t owner; /* node or leaf */
    int64_t from;  /* GPU or spine */
    int64_t to;    /* GPU that a link goes to */
};

struct rank_place {
    int64_t node, gpu;
};

static struct rank_place
place_of_rank(const struct cluster *cluster, int64_t rank)
{
    assert(rank >= 0 && rank < cluster_gpus(cluster));
    return (struct rank_place){rank / cluster->gpus_per_node, rank % cluster->gpus_per_node};
}

static int64_t
links_of_a_node(const struct cluster *cluster)
{
    return cluster->gpus_per_node * (cluster->gpus_per_node + 4);
}

/* Links up from one leaf that are told apart. */
static int64_t
paths_of_a_leaf(const struct fabric *fabric)
{
    return fabric->is_sprayed ? 1 : fabric->spine_count;
}

static int64_t
link_number(const struct cluster *cluster, struct place place)
{
    int64_t g = cluster->gpus_per_node, paths = paths_of_a_leaf(&cluster->fabric);
    int64_t node_link = place.owner * links_of_a_node(cluster);
    int64_t leaf_link =
        cluster->nodes * links_of_a_node(cluster) + place.owner * 2 * paths + place.from;
    switch (place.wire) {
    case WIRE_LINK:
        return node_link + place.from * g + place.to;
    case WIRE_OUT:
    case WIRE_IN:
    case WIRE_NIC_UP:
    case WIRE_NIC_DOWN:
        return node_link + g * g + (int64_t)(place.wire - WIRE_OUT) * g + place.from;
    case WIRE_SPINE_UP:
        return leaf_link;
    case WIRE_SPINE_DOWN:
        return leaf_link + paths;
    }
    assert(false && "a wire of the list above");
    return -1;
}

static struct place
place_of_link(const struct cluster *cluster, int64_t link)
{
    int64_t g = cluster->gpus_per_node, paths = paths_of_a_leaf(&cluster->fabric);
    int64_t leaf_link = link - cluster->nodes * links_of_a_node(cluster);
    if (leaf_link >= 0) {
        bool is_up = leaf_link / paths % 2 == 0;
        return (struct place){is_up ? WIRE_SPINE_UP : WIRE_SPINE_DOWN, leaf_link / paths / 2,
                              leaf_link % paths, 0};
    }
    int64_t node = link / links_of_a_node(cluster), inside = link % links_of_a_node(cluster);
    if (inside < g * g)
        return (struct place){WIRE_LINK, node, inside / g, inside % g};
    inside -= g * g;
    return (struct place){(enum wire)(WIRE_OUT + inside / g), node, inside % g, 0};
}

static void
add_link(const struct cluster *cluster, struct route *route, struct place place)
{
    assert(route->count < ROUTE_LINKS_MAX);
    route->links[route->count++] = link_number(cluster, place);
}

static bool
links_slow_each_other(const struct cluster *cluster)
{
    return cluster->fabric.node_topology == NODE_MESH &&
           cluster->fabric.loss_per_further_link > 0;
}

static void
add_node_links(const struct cluster *cluster, struct rank_place from, int64_t to_gpu,
               struct route *route)
{
    bool is_mesh = cluster->fabric.node_topology == NODE_MESH;
    bool has_sums = !is_mesh || links_slow_each_other(cluster);
    if (has_sums)
        add_link(cluster, route, (struct place){WIRE_OUT, from.node, from.gpu, 0});
    if (is_mesh)
        add_link(cluster, route, (struct place){WIRE_LINK, from.node, from.gpu, to_gpu});
    if (has_sums)
        add_link(cluster, route, (struct place){WIRE_IN, from.node, to_gpu, 0});
}

static int64_t
leaf_of(const struct cluster *cluster, struct rank_place rank)
{
    int64_t group = rank.node / cluster->fabric.leaf_nodes;
    bool is_of_a_rail = cluster->fabric.network_topology == NETWORK_RAILS_ONLY;
    return is_of_a_rail ? group * cluster->gpus_per_node + rank.gpu : group;
}

static bool
has_leaves(const struct fabric *fabric)
{
    return fabric->network_topology != NETWORK_SINGLE_SWITCH && fabric->leaf_nodes > 0;
}

static void
add_network_links(const struct cluster *cluster, struct rank_place from, struct rank_place to,
                  uint64_t draw, struct route *route)
{
    add_link(cluster, route, (struct place){WIRE_NIC_UP, from.node, from.gpu, 0});
    if (has_leaves(&cluster->fabric) && leaf_of(cluster, from) != leaf_of(cluster, to)) {
        int64_t spine = (int64_t)(draw % (uint64_t)paths_of_a_leaf(&cluster->fabric));
        add_link(cluster, route,
                 (struct place){WIRE_SPINE_UP, leaf_of(cluster, from), spine, 0});
        add_link(cluster, route,
                 (struct place){WIRE_SPINE_DOWN, leaf_of(cluster, to), spine, 0});
    }
    add_link(cluster, route, (struct place){WIRE_NIC_DOWN, to.node, to.gpu, 0});
}

bool
route_find(const struct cluster *cluster, int64_t from_rank, int64_t to_rank, uint64_t draw,
           struct route *route)
{
    const struct fabric *fabric = &cluster->fabric;
    struct rank_place from = place_of_rank(cluster, from_rank);
    struct rank_place to = place_of_rank(cluster, to_rank);
    route->count = 0;
    if (from_rank == to_rank)
        return false;
    if (from.node == to.node) {
        add_node_links(cluster, from, to.gpu, route);
        return true;
    }
    if (fabric->network_topology == NETWORK_NONE)
        return false;
    if (fabric->network_topology == NETWORK_RAILS_ONLY && from.gpu != to.gpu) {
        if (!fabric->forwards_cross_rail)
            return false;
        add_node_links(cluster, from, to.gpu, route);
        from.gpu = to.gpu;
    }
    add_network_links(cluster, from, to, draw, route);
    return true;
}

const char *
route_refusal(const struct cluster *cluster, int64_t from_rank, int64_t to_rank,
              struct arena *arena)
{
    long long from = from_rank, to = to_rank;
    if (from == to)
        return arena_format(arena, "rank %lld to itself takes no link", from);
    if (cluster->fabric.network_topology == NETWORK_NONE)
        return arena_format(arena,
                            "rank %lld and rank %lld are on two nodes, and no network "
                            "joins the nodes of %.60s",
                            from, to, cluster->name);
    return arena_format(arena,
                        "rank %lld is on rail %lld, rank %lld on rail %lld, and %.60s does not "
                        "forward from rail to rail",
                        from, from % cluster->gpus_per_node, to, to % cluster->gpus_per_node,
                        cluster->fabric.name);
}

/* A leaf's NICs together give what its spine links give together, times the oversubscription. */
static double
spine_path_bytes_per_s(const struct cluster *cluster)
{
    const struct fabric *fabric = &cluster->fabric;
    bool is_of_a_rail = fabric->network_topology == NETWORK_RAILS_ONLY;
    double nics = (double)(fabric->leaf_nodes * (is_of_a_rail ? 1 : cluster->gpus_per_node));
    return nics * fabric_nic_rate(fabric) / fabric->oversubscription_ratio /
           (double)paths_of_a_leaf(fabric);
}

double
route_link_bytes_per_s(const struct cluster *cluster, int64_t link)
{
    double links = fabric_links(&cluster->fabric, cluster->gpus_per_node);
    switch (place_of_link(cluster, link).wire) {
    case WIRE_LINK:
        return fabric_link_rate(&cluster->fabric, 1);
    case WIRE_OUT:
    case WIRE_IN:
        return links * fabric_link_rate(&cluster->fabric, links);
    case WIRE_NIC_UP:
    case WIRE_NIC_DOWN:
        return fabric_nic_rate(&cluster->fabric);
    case WIRE_SPINE_UP:
    case WIRE_SPINE_DOWN:
        return spine_path_bytes_per_s(cluster);
    }
    assert(false && "a wire of the list above");
    return 0;
}
