/* What this machine has: cores, caches, memory. */
#ifndef VALIDATE_HOST_TOPOLOGY_H
#define VALIDATE_HOST_TOPOLOGY_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/arena.h"
#include "sim/base/error.h"

struct host_topology {
    const char
        *processor; /* "Intel(R) Xeon(R) Processor", "unknown" when the system hides it */
    int64_t cores;
    double core_cache_bytes; /* second level, a core's own; 0: unknown */
    double last_cache_bytes; /* 0: unknown */
    double memory_bytes;
};

/* Fills what is still unknown (0) from the C library, which asks the processor and the kernel
 * itself: all there is in a container without /sys, where hwloc is blind. */
void host_topology_complete(struct host_topology *topology);

/* False after adding ERROR_IO when the system tells neither cores nor memory. */
bool host_topology_find(struct host_topology *topology, struct arena *arena,
                        struct error_list *errors);

#endif
