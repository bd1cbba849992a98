/* How many switches join so many NICs: one switch, leaves and spines, or a third level on top.
 *
 *     one level     NICs ═ switch
 *     two levels    NICs ═ leaf ═ spines             each leaf as many links to each spine
 *     three levels  NICs ═ leaf ═ spines ═ tops      leaves in pods of half a spine's ports; the
 *                                                    spines of a pod give as much up as down
 *
 * Only a leaf may be oversubscribed: what lies above it carries all that leaves its leaves
 * (Al-Fares, Loukissas, Vahdat, A Scalable, Commodity Data Center Network Architecture, SIGCOMM
 * 2008, section 3). */
#ifndef HW_SWITCHES_H
#define HW_SWITCHES_H

#include <stdbool.h>
#include <stdint.h>

#include "hw/fabric.h"
#include "sim/base/error.h"

/* A network that is to be: a rail, or the one network of all NICs. */
struct switch_wish {
    int64_t nodes;
    int64_t node_nics;             /* of each node, on this network */
    int64_t ports;                 /* of a switch, each as quick as a NIC */
    int64_t leaf_nodes;            /* 0: as many as fit */
    double oversubscription_ratio; /* of a leaf at most: its NICs over its links up */
};

struct switch_plan {
    int levels;
    int64_t leaf_nodes;
    int64_t leaf_uplinks;
    int64_t leaves, spines, tops;  /* of one level: one leaf, no spines, no tops */
    int64_t cables;                /* between switches */
    double oversubscription_ratio; /* what leaf_nodes and leaf_uplinks make of it; 1 without */
    int64_t nodes_maximum;         /* with such leaves and so many levels */
};

/* As few levels as hold them. False with ERROR_INFEASIBLE where a leaf has too few ports or three
 * levels hold too few nodes. All numbers of the wish are at least 1 (leaf_nodes: 0). */
bool switch_plan_find(const struct switch_wish *wish, struct switch_plan *plan,
                      struct error_list *errors);

/* NICs of a node of so many GPUs on one network of the fabric: 1 a rail, else all. */
int64_t switch_node_nics(const struct fabric *fabric, int64_t gpus_per_node);

/* What one switch chip of today offers to NICs of that rate; 0 where that was not looked up. */
int64_t switch_ports_known(double nic_bytes_per_s);

#endif
