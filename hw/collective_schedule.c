/* What each algorithm of a collective asks of the wires: one function a formula. */
#include "hw/collective_schedule.h"

#include <math.h>

/* (g - 1)/g of the buffer leaves each GPU, spread over its L links, in one step: each part goes
 * straight to every peer. */
struct collective_schedule
schedule_direct_gather(struct ranks_shape shape, double bytes)
{
    return (struct collective_schedule){
        .algorithm = "direct",
        .launches = 1,
        .link_hops = 1,
        .link_bytes = (shape.gpus - 1) / shape.gpus * bytes / shape.links,
    };
}

/* The same bytes in g - 1 steps, along L rings that share no directed link (8 GPUs: the rings
 * of rome_model_81 use each of the 56 links once). */
struct collective_schedule
schedule_ring_gather(struct ranks_shape shape, double bytes)
{
    struct collective_schedule rings = schedule_direct_gather(shape, bytes);
    rings.algorithm = "rings";
    rings.link_hops = shape.gpus - 1;
    return rings;
}

/* Everything to everyone at once: one step, g times the bytes of a reduce-scatter. */
struct collective_schedule
schedule_one_shot_reduce(struct ranks_shape shape, double bytes)
{
    return (struct collective_schedule){
        .algorithm = "one-shot",
        .launches = 1,
        .link_hops = 1,
        .link_bytes = (shape.gpus - 1) * bytes / shape.links,
    };
}

/* Scatter by halves, quarters .. and gather the same way back: 2 log2 g steps, each over one link,
 * the others idle (Rabenseifner's algorithm; Thakur et al., 4.4). */
struct collective_schedule
schedule_node_halving_reduce(struct ranks_shape shape, double bytes)
{
    return (struct collective_schedule){
        .algorithm = "halving + doubling",
        .launches = 1,
        .link_hops = 2 * ceil(log2(shape.gpus)),
        .link_bytes = 2 * (shape.gpus - 1) / shape.gpus * bytes,
    };
}

/* The root scatters over its links and the peers gather, pipelined: S / L over each link. */
struct collective_schedule
schedule_direct_broadcast(struct ranks_shape shape, double bytes)
{
    return (struct collective_schedule){
        .algorithm = "scatter + gather",
        .launches = 1,
        .link_hops = 2,
        .link_bytes = bytes / shape.links,
    };
}

/* A pipelined ring over each of the root's links. */
struct collective_schedule
schedule_ring_broadcast(struct ranks_shape shape, double bytes)
{
    return (struct collective_schedule){
        .algorithm = "rings",
        .launches = 1,
        .link_hops = shape.gpus - 1,
        .link_bytes = bytes / shape.links,
    };
}

/* Each rank sends c to each other, all at once. */
struct collective_schedule
schedule_direct_all_to_all(struct ranks_shape shape, double bytes)
{
    return schedule_direct_gather(shape, bytes);
}

/* n - 1 steps of S / n. */
struct collective_schedule
schedule_rail_ring_gather(struct ranks_shape shape, double bytes)
{
    return (struct collective_schedule){
        .algorithm = "rail ring",
        .launches = 1,
        .nic_hops = shape.nodes - 1,
        .nic_bytes = (shape.nodes - 1) / shape.nodes * bytes,
    };
}

/* The same bytes in log2 n steps of 1, 2, 4 .. parts; of other n, Bruck's algorithm rounds the
 * steps up (Thakur et al., 4.1). */
struct collective_schedule
schedule_rail_doubling_gather(struct ranks_shape shape, double bytes)
{
    struct collective_schedule doubling = schedule_rail_ring_gather(shape, bytes);
    doubling.algorithm = "rail doubling";
    doubling.uplinks = UPLINK_PAIRS;
    doubling.nic_hops = ceil(log2(shape.nodes));
    return doubling;
}

/* Scattered by halving, gathered by doubling: the bytes of a ring in 2 log2 n steps. */
struct collective_schedule
schedule_rail_halving_reduce(struct ranks_shape shape, double bytes)
{
    struct collective_schedule halving =
        schedule_gather_twice(schedule_rail_doubling_gather(shape, bytes));
    halving.algorithm = "rail halving + doubling";
    return halving;
}

/* Over a NIC each way, of two trees up and down with half of the bytes each: who is a leaf of one
 * has a parent and two children in the other, 2 S (Sanders, Speck, Traff, Parallel Computing 35
 * (2009)). Of two nodes each is the root of one and the leaf of the other: S, by which a tree goes
 * beyond what rings get of the NICs (github.com/NVIDIA/nccl-tests issue 196). */
static double
tree_nic_bytes(double nodes, double bytes)
{
    return nodes > 2 ? 2 * bytes : bytes;
}

/* Up and down two trees, pipelined (ncclGetDtree of src/graph/trees.cc). */
struct collective_schedule
schedule_rail_tree_reduce(struct ranks_shape shape, double bytes)
{
    return (struct collective_schedule){
        .algorithm = "rail tree",
        .launches = 1,
        .nic_hops = 2 * ceil(log2(shape.nodes)),
        .nic_bytes = tree_nic_bytes(shape.nodes, bytes),
    };
}

/* From node to node in chunks of the best size. */
struct collective_schedule
schedule_rail_chain_broadcast(struct ranks_shape shape, double bytes)
{
    return (struct collective_schedule){
        .algorithm = "rail chain",
        .launches = 1,
        .nic_bytes = bytes,
        .chain_nodes = shape.nodes,
    };
}

/* Down two trees, each with half of the bytes. */
struct collective_schedule
schedule_rail_tree_broadcast(struct ranks_shape shape, double bytes)
{
    return (struct collective_schedule){
        .algorithm = "rail tree",
        .launches = 1,
        .nic_hops = ceil(log2(shape.nodes)),
        .nic_bytes = bytes,
    };
}

/* n - 1 exchanges in pairs. */
struct collective_schedule
schedule_rail_all_to_all(struct ranks_shape shape, double bytes)
{
    struct collective_schedule pairs = schedule_rail_ring_gather(shape, bytes);
    pairs.algorithm = "rail pairs";
    pairs.uplinks = UPLINK_PAIRS;
    return pairs;
}

/* g rings through all ranks, each entering and leaving a node by a rail of its own: a GPU sends
 * on its NIC in one of them and on its links in the g - 1 others. (p - 1) steps of c / g; n - 1
 * of the steps cross the network (nInter of ncclTopoTuneModel). */
struct collective_schedule
schedule_flat_ring_gather(struct ranks_shape shape, double bytes)
{
    double p = shape.ranks;
    double ring_bytes = (p - 1) / p * bytes / shape.gpus;
    return (struct collective_schedule){
        .algorithm = "flat rings",
        .launches = 1,
        .link_hops = p - shape.nodes,
        .nic_hops = shape.nodes - 1,
        .link_bytes = ring_bytes * (shape.gpus - 1) / shape.links,
        .nic_bytes = ring_bytes,
    };
}

/* Twice around; RCCL counts 2 n of the 2 (p - 1) steps as crossing the network. */
struct collective_schedule
schedule_flat_ring_reduce(struct ranks_shape shape, double bytes)
{
    struct collective_schedule rings =
        schedule_gather_twice(schedule_flat_ring_gather(shape, bytes));
    rings.nic_hops = 2 * shape.nodes;
    rings.link_hops = 2 * (shape.ranks - 1) - rings.nic_hops;
    return rings;
}

/* Chains through each node, whose first GPUs are joined by two trees over the nodes, each with half
 * of the bytes; g of them, one a rail: S / g up and S / g down each (latency and bytes of
 * ncclTopoTuneModel's tree). */
struct collective_schedule
schedule_flat_tree_reduce(struct ranks_shape shape, double bytes)
{
    double tree_bytes = 2 * bytes / shape.gpus;
    return (struct collective_schedule){
        .algorithm = "trees",
        .launches = 1,
        .link_hops = 2 * (shape.gpus - 1),
        .nic_hops = 2 * ceil(log2(shape.nodes)),
        .link_bytes = tree_bytes * (shape.gpus - 1) / shape.links,
        .nic_bytes = tree_nic_bytes(shape.nodes, bytes / shape.gpus),
    };
}

/* Once around g rings, each with its part of the bytes: NCCL and RCCL have no other broadcast
 * (ncclTopoTuneModel gives trees no bandwidth for it). */
struct collective_schedule
schedule_flat_ring_broadcast(struct ranks_shape shape, double bytes)
{
    double ring_bytes = bytes / shape.gpus;
    return (struct collective_schedule){
        .algorithm = "flat rings",
        .launches = 1,
        .link_hops = shape.ranks - shape.nodes,
        .nic_hops = shape.nodes - 1,
        .link_bytes = ring_bytes * (shape.gpus - 1) / shape.links,
        .nic_bytes = ring_bytes,
    };
}

/* Each NIC carries what its own GPU sends to other nodes, to one after the other. */
struct collective_schedule
schedule_switched_all_to_all(struct ranks_shape shape, double bytes)
{
    double c = bytes / shape.ranks;
    return (struct collective_schedule){
        .algorithm = "direct",
        .launches = 1,
        .link_hops = 1,
        .nic_hops = shape.nodes - 1,
        .link_bytes = c * (shape.gpus - 1) / shape.links,
        .nic_bytes = (shape.ranks - shape.gpus) * c,
        .uplinks = UPLINK_PAIRS,
    };
}

/* What goes to GPU j of another node goes first to GPU j of the own node: each link carries the
 * part of the peer itself and those of n - 1 others, each NIC what g GPUs send by it, node after
 * node as on a rail. */
struct collective_schedule
schedule_forwarded_all_to_all(struct ranks_shape shape, double bytes)
{
    double c = bytes / shape.ranks;
    return (struct collective_schedule){
        .algorithm = "forwarded to the rail",
        .launches = 1,
        .link_hops = 1,
        .nic_hops = shape.nodes - 1,
        .link_bytes = shape.nodes * c * (shape.gpus - 1) / shape.links,
        .nic_bytes = (shape.ranks - shape.gpus) * c,
        .uplinks = UPLINK_PAIRS,
    };
}

/* To the same GPU of each node what all of that node are to get, and on to them, pipelined: the
 * own node's part and those of n - 1 others over each link. What goes to several of a node may
 * cross once (as DeepEP: DeepSeek-V3, arXiv 2412.19437, section 3.2.2). */
struct collective_schedule
schedule_rail_then_node(struct ranks_shape shape, double bytes, double crossing_fraction)
{
    struct collective_schedule exchange = schedule_forwarded_all_to_all(shape, bytes);
    exchange.algorithm = "rail, then node";
    exchange.nic_hops = 1;
    exchange.nic_bytes *= crossing_fraction;
    return exchange;
}

struct collective_schedule
schedule_across_rails(struct collective_schedule schedule)
{
    schedule.link_hops += schedule.nic_hops;
    schedule.link_bytes += schedule.nic_bytes;
    return schedule;
}

struct collective_schedule
schedule_gather_twice(struct collective_schedule gather)
{
    gather.link_hops *= 2;
    gather.nic_hops *= 2;
    gather.link_bytes *= 2;
    gather.nic_bytes *= 2;
    return gather;
}

struct collective_schedule
schedule_two_levels(struct collective_schedule node, struct collective_schedule rail,
                    const char *algorithm, double launches)
{
    return (struct collective_schedule){
        .algorithm = algorithm,
        .launches = launches,
        .link_hops = node.link_hops + rail.link_hops,
        .nic_hops = node.nic_hops + rail.nic_hops,
        .link_bytes = node.link_bytes + rail.link_bytes,
        .nic_bytes = node.nic_bytes + rail.nic_bytes,
        .chain_nodes = rail.chain_nodes,
        .uplinks = rail.uplinks,
    };
}
