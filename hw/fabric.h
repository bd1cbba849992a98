/* Links: inside a node, from the node to the rails, and what of them a byte stream gets.
 *
 *         node 0                   node 1
 *     GPU 0 ═══ GPU 1          GPU 0 ═══ GPU 1      ═══ in the node: a link between each two
 *       │         │              │         │              GPUs (mesh), or a port of each to a
 *     NIC 0     NIC 1          NIC 0     NIC 1            switch
 *       └─────────┼─── rail 0 ───┘         │        ─── one NIC a GPU, to the switch of its
 *                 └─── rail 1 ─────────────┘            rail; from rail to rail leads no way
 *                                                       but through a node
 *
 * What the hardware offers (rates, packet headers) and what was measured (efficiencies, launch
 * and hop times) are apart, and each number comes from a file that names its source. */
#ifndef HW_FABRIC_H
#define HW_FABRIC_H

#include <stdbool.h>
#include <stdint.h>

#include "hw/collective_kind.h"
#include "sim/base/arena.h"
#include "sim/base/error.h"
#include "sim/base/json.h"

enum node_topology { NODE_MESH, NODE_SWITCH };
enum network_topology {
    NETWORK_NONE,
    NETWORK_RAILS_ONLY,    /* NIC i of every node on a network of its own, which is rail i */
    NETWORK_SINGLE_SWITCH, /* all NICs on one switch, or one that acts as such */
    NETWORK_LEAF_SPINE,    /* all NICs on leaf switches that spines join */
};

/* How the library moves data between the GPUs of a node: straight to each peer, or along rings
 * (on a mesh as many as a GPU has links, none sharing a directed link with another). */
enum node_algorithm { NODE_DIRECT, NODE_RINGS };

/* One way in which the library moves data: fast to start, or fast once started. */
struct fabric_protocol {
    const char *name;
    double launch_s;           /* from the call until the first byte leaves */
    double link_hop_s;         /* each step over a link of the node */
    double nic_hop_s;          /* each step over the network */
    double bandwidth_fraction; /* of what a link gives */
    double fill_s; /* start-up of a pipeline stage: filling costs 2 sqrt(fill_s * t) */
    enum node_algorithm algorithm; /* in one node */
    unsigned kinds;                /* that it is made for: a bit for each collective_kind */
    /* From and up to so many bytes the library takes it for a whole node, cheapest or not, and
     * for others or elsewhere never; maximum 0: wherever it is cheapest. */
    double whole_node_bytes_minimum, whole_node_bytes_maximum;
};

enum { FABRIC_PROTOCOLS_MAX = 6 };

/* What was measured of one collective; all neutral unless the file says otherwise. */
struct fabric_tuning {
    double launch_s;       /* beyond the protocol's */
    double efficiency;     /* of the links' bandwidth */
    double own_part_ratio; /* time for the part that stays with the rank, beside one sent */
    double relative_sigma; /* of this collective, beside the fabric's own */
};

struct fabric {
    const char *name;
    enum node_topology node_topology;
    enum node_algorithm node_algorithm;
    double link_bytes_per_s; /* one directed xGMI link; a switch: one GPU's port, each way */
    double link_efficiency;  /* measured, of one link that is busy alone */
    double loss_per_further_link; /* of that efficiency, with each link more of the same GPU */

    enum network_topology network_topology;
    bool forwards_cross_rail; /* by way of the GPU of the same node on the right rail (PXN) */
    bool gathers_by_doubling; /* the library knows it (NCCL: PAT), beside rings */
    bool works_by_levels;     /* the library has phases in the nodes and between them */
    bool broadcasts_by_tree;  /* the library knows it (NCCL and RCCL: rings alone) */
    double tree_efficiency;   /* of trees through nodes, beside rings */
    /* Of a NIC, by rings and trees through some of the GPUs of each node beside those through all
     * of them, in groups of so many ranks at least: the library gives them fewer channels a NIC. */
    double part_efficiency;
    int64_t part_ranks_minimum;
    double nic_bytes_per_s; /* one NIC's line rate, each way */
    double packet_payload_bytes;
    double packet_header_bytes; /* everything on the wire that is not payload */
    double nic_efficiency;      /* measured, beside the headers */

    /* Leaf switches and spines: of LEAF_SPINE, and of each rail where leaf_nodes is not 0. */
    int64_t leaf_nodes;            /* neighbours whose NICs hang on one leaf */
    int64_t spine_count;           /* each leaf has one link to each spine */
    double oversubscription_ratio; /* of a leaf: its NICs' line rate over its spine links' */
    bool is_sprayed; /* each flow over all spines at once; else over one, drawn (ECMP) */

    struct fabric_protocol protocols[FABRIC_PROTOCOLS_MAX];
    int protocol_count;
    struct fabric_tuning tunings[COLLECTIVE_KIND_COUNT];

    /* What collectives take from the GPU that runs them. */
    double node_compute_fraction;    /* of the compute units, inside one node */
    double network_compute_fraction; /* of the compute units, between nodes */
    double hbm_fraction;             /* of the HBM bandwidth, all links of the GPU busy */
    /* Of the compute units, what a collective's channels hold; 0: not said, and the shares
     * above are that. Else they are what it uses of the compute that kernels and collectives
     * share. Channels that hold c of it however slow they are, and take k times as long beside
     * a kernel that fills the device, use k c and have a weight of 1 / (k (1 - c)). */
    double channel_fraction;
    double collective_weight; /* its part of what is short, beside 1 of a kernel */
    /* The part of one that is bound by HBM: it has more bytes in flight than channels have, so
     * that what they read and write comes late. 0: 1, as other kernels. */
    double streaming_weight;
    /* Where a GPU places all the work of one kernel before the next one's: how long a
     * collective that begins beside a kernel waits for its place, by the kernel's time. */
    double matrix_hold_ratio;
    double streaming_hold_ratio;   /* beside one that is bound by HBM */
    double overlap_relative_sigma; /* of times of kernels and collectives beside each other */

    /* Standard deviation of prediction errors, by what the time is spent on. */
    double latency_relative_sigma;
    double node_relative_sigma;
    double network_relative_sigma;
    /* Beside all that, for each doubling of the nodes beyond two, where nothing was
     * measured. */
    double doubling_relative_sigma;
};

/* Reads an object as in configs/fabrics; false after adding every fault. Names live in the
 * arena of the document. */
bool fabric_read(const struct json *object, struct fabric *fabric, struct error_list *errors);

/* Links over which each of `gpus` GPUs of one node reaches the others: one to each of them on a
 * mesh, its port on a switch. */
double fabric_links(const struct fabric *fabric, int64_t gpus);

/* Bytes per second of one link while its GPU uses `busy_links` of them. */
double fabric_link_rate(const struct fabric *fabric, double busy_links);

/* Part of the line rate that is left for payload. */
double fabric_packet_efficiency(double payload_bytes, double header_bytes);

/* Bytes per second of payload that one NIC moves each way. */
double fabric_nic_rate(const struct fabric *fabric);

#endif
