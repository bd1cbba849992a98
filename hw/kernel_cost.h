/* What a kernel costs on a device, and why. Pure: same arguments, same seconds; no clock. */
#ifndef HW_KERNEL_COST_H
#define HW_KERNEL_COST_H

#include "hw/device.h"

enum kernel_bound { BOUND_COMPUTE, BOUND_HBM, BOUND_CACHE, BOUND_LATENCY, BOUND_LAUNCH };

const char *kernel_bound_name(enum kernel_bound bound);

struct kernel_cost {
    double seconds_s;      /* on an idle device, start of launch to end */
    double host_s;         /* of seconds_s, what vanishes when the host enqueued it ahead */
    double relative_sigma; /* standard deviation of the model's error, as a part of seconds_s */
    enum kernel_bound bound; /* what it waits for most */
    double flop;
    double hbm_bytes;
    int64_t tiles, waves;   /* of matrix kernels; 0 of others */
    int64_t tile_m, tile_n; /* rows and columns of a tile; 0 where they are not one product's */
    double compute_fraction; /* of the device's compute units, while it runs: 0 to 1 */
    double hbm_fraction;     /* of the HBM bandwidth that the device reaches: 0 to 1 */
};

/* False with ERROR_INPUT when the device does not know the dtype or the implementation. */
bool kernel_cost(const struct device *device, const struct kernel *kernel,
                 struct kernel_cost *cost, struct error_list *errors);

/* Adds a part that runs `times` after what the sum holds, each alone: seconds, bytes, flop and
 * tiles add up, fractions and sigma are averaged over time, the longest names the bound. */
void kernel_cost_add(struct kernel_cost *sum, const struct kernel_cost *part, double times);

#endif
