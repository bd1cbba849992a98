/* What all cuts of a product have in common: its bytes and flop, the device's rates for them. */
#ifndef HW_GEMM_SETTING_H
#define HW_GEMM_SETTING_H

#include "hw/gemm_cost.h"
#include "hw/gemm_math.h"

/* Rates as seconds: a million prices a second leave 20 ns a cut. */
struct gemm_setting {
    const struct device *device;
    const struct gemm_work *work;
    const struct device_tiles *tiles; /* that the library chooses from */

    double products; /* with at least one row */
    double rows;     /* of all */
    double mirrored; /* 1: the result is symmetric, one half of it is the other's; else 0 */
    double element_bytes, result_bytes;
    double operand_bytes, c_bytes; /* A and B, C: each once */

    double units;
    double held;             /* workgroups, by a unit */
    double boost_s_per_flop; /* of one unit, operands turned */
    /* Of one unit; add: storing a part of k. */
    double a_s_per_byte, b_s_per_byte, store_s_per_byte, add_s_per_byte;
    double step_s, tile_s, exposed_fraction, edge_fill_fraction, drift_rounds,
        hidden_fill_fraction;

    /* How k may be cut: maxima 1 and 0, stream_k_s 0 where it may not (struct device_gemm). */
    double split_s, split_maximum, free_split_maximum, stream_k_s;

    double power_s; /* all products at the rate that power allows */
    struct norm power, overlap;

    double read_s_per_byte; /* from HBM */
    double c_s;             /* writing C to HBM */
    double least_memory_s;  /* operands once, C once */
};

struct gemm_setting gemm_setting_of(const struct device *device, const struct gemm_work *work);

#endif
