/* What a collective costs between ranks of a cluster that have their links to themselves. */
#ifndef HW_COLLECTIVE_H
#define HW_COLLECTIVE_H

#include "hw/cluster.h"
#include "hw/collective_kind.h"
#include "hw/rank_group.h"

/* Bytes as rccl-tests counts them: the whole buffer (all_gather: gathered; reduce_scatter:
 * input; all_to_all: sent by one rank, its own part included). */
struct collective {
    enum collective_kind kind;
    enum dtype dtype;
    /* Who takes part: the ranks of the group, or, when that has none (.size 0), `ranks` GPUs on
     * `nodes` nodes, the same ones of each. */
    struct rank_group group;
    int64_t ranks;
    int64_t nodes;
    double bytes;
    const double
        *bytes_matrix; /* of all_to_all_v, [sender][receiver]; bytes is its largest row */
    /* send_recv between two certain ranks, numbered node by node: nodes is then worked out from
     * them. Equal (as when left 0): the first of two ranks sends to the other, neighbours of a
     * node or GPUs of one rail; of more, each sends to the next and the last to the first, all
     * at once (rccl-tests' sendrecv). */
    int64_t from, to;
    /* all_to_all: of the bytes for other nodes, those that cross to them when what goes to several
     * GPUs of a node crosses once and is copied there (DeepEP); 0: nothing is copied */
    double crossing_fraction;
    const char *algorithm; /* by its name, in place of what the library takes; or NULL */
};

struct collective_cost {
    double latency_s;  /* fixed part */
    double transfer_s; /* the part that shares links: bytes over the bandwidth it has alone */
    double relative_sigma;   /* standard deviation of the model's error, of the whole */
    const char *algorithm;   /* "rings", "rail ring, rings in the node" */
    const char *protocol;    /* as the fabric names it */
    const char *bound;       /* "xgmi", "nvlink", "nic", "latency" */
    double bus_bytes_per_s;  /* rccl-tests' bus bandwidth of the whole */
    double link_fraction;    /* of each GPU's links in the node, while transferring: 0 to 1 */
    double nic_fraction;     /* of each GPU's NIC */
    double compute_fraction; /* of the GPU's compute units that its channels hold */
    double hbm_fraction;     /* of the GPU's HBM bandwidth */
};

/* One line of a collective list:
 * {"collective": "all_gather", "ranks": 8, "nodes": 1, "bytes": 1e9}; in place of both numbers the
 * ranks themselves, "ranks": [0, 8, 16]. Lists and matrices are kept in the arena. */
bool collective_read(const struct json *object, struct collective *collective,
                     struct arena *arena, struct error_list *errors);

/* The number in the cluster of the index-th of its ranks. */
int64_t collective_rank(const struct cluster *cluster, const struct collective *collective,
                        int64_t index);

/* Where its ranks lie. False with ERROR_INPUT: ranks that the cluster does not have or that are
 * twice in the group, nodes that do not divide them. Not of a send_recv with certain ends. */
bool collective_place(const struct cluster *cluster, const struct collective *collective,
                      struct rank_placement *out, struct error_list *errors);

/* False as collective_place, or with ERROR_INFEASIBLE: no route between two ranks; with ERROR_INPUT
 * for an algorithm that is none of this collective. One rank alone costs nothing. */
bool collective_cost(const struct cluster *cluster, const struct collective *collective,
                     struct collective_cost *cost, struct error_list *errors);

/* A number below COLLECTIVE_PAIRS for how two ranks lie to each other: between those of one number
 * a send of as many bytes costs the same, one of more bytes no less. */
enum { COLLECTIVE_PAIRS = 8 };
int collective_pair(const struct cluster *cluster, int64_t from, int64_t to);

/* Bytes over time times this is the bus bandwidth (rccl-tests doc/PERFORMANCE.md). */
double collective_bus_factor(enum collective_kind kind, int64_t ranks);

#endif
