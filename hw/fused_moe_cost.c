/* A fused MoE as its kernels: tokens' rows gathered to the experts that they chose, gate and up
 * side by side, SwiGLU on the way out; then down, its rows added back to their tokens.
 *
 *     weights of the chosen experts ---> +---------+
 *     rows of tokens, gathered --------> | experts | ---> rows added to tokens
 *                                        +---------+
 *
 * Each of the three waits for the others' turn: the root of their squares. 8-bit experts are one
 * kernel, others one up to SwiGLU and one from there (fmoe and ck_moe of ROCm/aiter). */
#include "hw/fused_moe_cost.h"

#include <assert.h>
#include <math.h>

/* Rows of an expert that are multiplied together: block_m of ROCm/aiter's fused_moe. */
static const double TILE_ROWS = 32;

/* Experts that at least one of the tokens chose, each choosing top_k of them evenly: of E
 * experts one is missed by a token with probability 1 - top_k / E. */
static double
chosen_experts(const struct fused_moe *moe)
{
    double missed = 1 - (double)moe->top_k / (double)moe->experts;
    return (double)moe->experts * (1 - pow(missed, (double)moe->tokens));
}

/* What the kernels of a layer have to do, or one of them. */
struct moe_work {
    double weight_bytes, row_bytes, flop;
};

/* Seconds of each part, and together. */
struct moe_times {
    double weights_s, rows_s, flop_s, seconds_s;
};

static struct moe_times
moe_times(const struct device *device, const struct moe_work *work, enum dtype dtype)
{
    const struct device_gemm *gemm = &device->gemm;
    double rate = gemm->moe_fraction *
                  fmin(gemm->boost_flop_per_s[dtype], gemm->sustained_flop_per_s[dtype]);
    struct moe_times times = {
        .weights_s = work->weight_bytes / device->memory.hbm_read_bytes_per_s,
        .rows_s = work->row_bytes / gemm->moe_row_bytes_per_s,
        .flop_s = work->flop / rate,
    };
    double moving_s = hypot(times.weights_s, times.rows_s);
    times.seconds_s = gemm->moe_launch_s + hypot(moving_s, times.flop_s);
    return times;
}

static enum kernel_bound
times_bound(const struct moe_times *times, double launch_s)
{
    if (launch_s > times->seconds_s / 2)
        return BOUND_LAUNCH;
    if (times->flop_s >= fmax(times->weights_s, times->rows_s))
        return BOUND_COMPUTE;
    return times->weights_s >= times->rows_s ? BOUND_HBM : BOUND_LATENCY;
}

static void
work_cost(const struct device *device, const struct moe_work *work, enum dtype dtype,
          struct kernel_cost *cost)
{
    struct moe_times times = moe_times(device, work, dtype);
    *cost = (struct kernel_cost){
        .seconds_s = times.seconds_s,
        .relative_sigma = device->gemm.moe_relative_sigma,
        .bound = times_bound(&times, device->gemm.moe_launch_s),
        .hbm_bytes = work->weight_bytes,
        .compute_fraction = times.flop_s / times.seconds_s,
        .hbm_fraction = times.weights_s / times.seconds_s,
    };
}

/* Rows that are multiplied: those that tokens send, and on average half a tile more an expert. */
static double
padded_rows(const struct fused_moe *moe, double chosen)
{
    return (double)moe->tokens * (double)moe->top_k + chosen * TILE_ROWS / 2;
}

/* A product of 8 bits is written in 16. */
void
fused_moe_cost(const struct device *device, const struct kernel *kernel,
               struct kernel_cost *cost)
{
    assert(device->gemm.sustained_flop_per_s[kernel->dtype] > 0);
    const struct fused_moe *moe = &kernel->fused_moe;
    double element_bytes = dtype_bytes(kernel->dtype);
    double matrix = (double)moe->width * (double)moe->expert_ffn;
    double chosen = fmax(1, chosen_experts(moe)), rows = padded_rows(moe, chosen);
    double sent = (double)moe->tokens * (double)moe->top_k * (double)moe->width;
    struct moe_work up = {.weight_bytes = 2 * chosen * matrix * element_bytes,
                          .row_bytes = sent * element_bytes,
                          .flop = 4 * rows * matrix};
    struct moe_work down = {.weight_bytes = up.weight_bytes / 2,
                            .row_bytes = sent * fmax(2, element_bytes),
                            .flop = up.flop / 2};
    if (element_bytes < 2) {
        struct moe_work both = {.weight_bytes = up.weight_bytes + down.weight_bytes,
                                .row_bytes = fmax(up.row_bytes, down.row_bytes),
                                .flop = up.flop + down.flop};
        work_cost(device, &both, kernel->dtype, cost);
    } else {
        struct kernel_cost second;
        work_cost(device, &up, kernel->dtype, cost);
        work_cost(device, &down, kernel->dtype, &second);
        kernel_cost_add(cost, &second, 1);
    }
    cost->flop = kernel_flop(kernel);
    cost->tiles = (int64_t)fmin(ceil(rows / TILE_ROWS), 9e18);
    cost->waves = 1;
}
