/* What kernels cost that move bytes and do little with them. */
#ifndef HW_MEMORY_COST_H
#define HW_MEMORY_COST_H

#include "hw/kernel_cost.h"

/* Seconds of HBM's time for reads and writes of one kernel on a device full of threads, or not
 * full when the bytes are few. */
double memory_stream_s(const struct device *device, double read_bytes, double write_bytes);

/* Bytes per second at which a second pass over `footprint_bytes` finds them: those of the
 * nearest level that holds them. */
double memory_reread_bytes_per_s(const struct device *device, double footprint_bytes);

/* One launch that streams, as the device's kernels of that kind do. */
void memory_kernel_cost(const struct device *device, enum kernel_kind kind, double read_bytes,
                        double write_bytes, struct kernel_cost *cost);

/* elementwise, rms_norm, softmax, gather, scatter_add, transpose, top_k, cross_entropy, adamw,
 * copy. */
void memory_cost(const struct device *device, const struct kernel *kernel,
                 struct kernel_cost *cost);

#endif
