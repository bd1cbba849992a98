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
    struct fabric fabric;
};

int64_t cluster_gpus(const struct cluster *cluster);

/* Reads configs/clusters/NAME.json without its device, whose file is named by the object's
 * "device" (relative to the file): the caller reads that and sets it. NULL after every fault. */
struct cluster *cluster_read(const struct json *object, struct arena *arena,
                             struct error_list *errors);

#endif
