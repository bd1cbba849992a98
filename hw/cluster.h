/* Nodes of GPUs and what joins them. */
#ifndef HW_CLUSTER_H
#define HW_CLUSTER_H

#include <stdbool.h>
#include <stdint.h>

#include "hw/device.h"
#include "hw/fabric.h"

struct cluster {
    const char *name;
    int64_t nodes;
    int64_t gpus_per_node;
    const struct device *device;
    const char *device_path; /* the device's file, found from the cluster's own */
    struct fabric fabric;
};

int64_t cluster_gpus(const struct cluster *cluster);

/* Reads configs/clusters/NAME.json and the fabric's file that it names (or holds as an object),
 * without its device: the caller reads device_path and sets it. Both names are relative to the
 * cluster's file. NULL after every fault. */
struct cluster *cluster_read(const struct json *object, struct arena *arena,
                             struct error_list *errors);

#endif
