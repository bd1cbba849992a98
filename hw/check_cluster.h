/* For tests only: clusters small enough to work by hand, and the shipped ones. */
#ifndef HW_CHECK_CLUSTER_H
#define HW_CHECK_CLUSTER_H

#include <check.h>

#include "hw/cluster.h"

/* Nodes of a full mesh on rails that forward: links and NICs of 10e9 bytes/s, all of it reached,
 * no latency. */
static inline struct cluster
check_cluster_small(int64_t nodes, int64_t gpus_per_node)
{
    return (struct cluster){
        .name = "small",
        .nodes = nodes,
        .gpus_per_node = gpus_per_node,
        .fabric = {.name = "small",
                   .node_topology = NODE_MESH,
                   .link_bytes_per_s = 10e9,
                   .link_efficiency = 1,
                   .network_topology = NETWORK_RAILS_ONLY,
                   .forwards_cross_rail = true,
                   .nic_bytes_per_s = 10e9,
                   .packet_payload_bytes = 4096,
                   .nic_efficiency = 1},
    };
}

/* configs/clusters/NAME.json, to be changed at will, its device not read; ends the test when it
 * is faulty. */
static inline struct cluster *
check_cluster_read(struct arena *arena, const char *name)
{
    struct error_list errors = {0};
    const char *path = arena_format(arena, "configs/clusters/%s.json", name);
    const struct json *object = json_read_file(arena, path, &errors);
    struct cluster *cluster = object ? cluster_read(object, arena, &errors) : NULL;
    ck_assert_msg(cluster != NULL, "%s: %s", errors.items[0].where, errors.items[0].what);
    return cluster;
}

#endif
