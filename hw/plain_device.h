/* For tests only: a device of round numbers, on which costs are worked out by hand. */
#ifndef HW_PLAIN_DEVICE_H
#define HW_PLAIN_DEVICE_H

#include "hw/device.h"

/* Four units of 1e12 flop/s, tiles of 100 x 100 with steps 10 deep (bf16), launches of 1 us, and
 * memory too quick to matter until a test slows it down. */
static inline struct device
plain_device(void)
{
    const double quick_bytes_per_s = 1e30;
    const double quick_flop_per_s = 4e15; /* power is no limit */
    struct device device = {
        .name = "plain",
        .compute_units = 4,
        .peak_flop_per_s = {[DTYPE_BF16] = 4e12},
        .memory = {.l2_domains = 1,
                   .l2_bytes = 1e9,
                   .l2_bytes_per_s = quick_bytes_per_s,
                   .unit_bytes_per_s = quick_bytes_per_s,
                   .hbm_read_bytes_per_s = quick_bytes_per_s,
                   .hbm_write_bytes_per_s = quick_bytes_per_s,
                   .mixed_fraction = 1,
                   .write_only_fraction = 1,
                   .warm_bytes_per_s = quick_bytes_per_s,
                   .reread_bytes = 1e9,
                   .row_overlap_exponent = 2},
        .gemm = {.tiles = {.items = {{.m = 100, .n = 100, .depth_bytes = 20}}, .count = 1},
                 .store_bytes_per_s = quick_bytes_per_s,
                 .power_exponent = 100,
                 .launch_s = 1e-6,
                 .split_maximum = 1,
                 .resident_workgroups = 1,
                 .drift_rounds = quick_flop_per_s, /* units keep step */
                 .boost_flop_per_s = {[DTYPE_BF16] = 4e12},
                 .sustained_flop_per_s = {[DTYPE_BF16] = quick_flop_per_s},
                 .overlap_exponent = 100,
                 .grouped_fraction = 1,
                 .grouped_hbm_fraction = 1,
                 .moe_launch_s = 1e-6,
                 .moe_fraction = 1,
                 .moe_row_bytes_per_s = quick_bytes_per_s,
                 .moe_relative_sigma = 0.04,
                 .relative_sigma_long = 0.01,
                 .relative_sigma_medium = 0.02,
                 .relative_sigma_short = 0.03},
        .attention = {{.name = "plain", .head_granule = 1, .split_maximum = 1}},
        .attention_count = 1,
        .host_bytes_per_s = 1e9,
    };
    for (int i = 0; i < 2; i++)
        device.attention[0].passes[i] =
            (struct device_attention_pass){.query_tile = 100,
                                           .key_tile = 100,
                                           .unit_walks = 1,
                                           .lone_fraction = 1,
                                           .rate_fraction = 1,
                                           .exponential_per_s = 4e12,
                                           .walk_s = 1e-6,
                                           .end_fraction = 0.5,
                                           .fixed_s = 2e-6};
    for (int i = 0; i < KERNEL_KIND_COUNT; i++)
        for (int direction = 0; direction < 2; direction++)
            device.streams[i][direction] = (struct device_stream){.bandwidth_fraction = 1};
    return device;
}

#endif
