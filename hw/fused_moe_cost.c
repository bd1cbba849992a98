/* A fused MoE as its products: gate and up side by side, then down, over the experts that tokens
 * chose; SwiGLU rides on the first's end. */
#include "hw/fused_moe_cost.h"

#include <math.h>

#include "hw/gemm_cost.h"

/* Experts that at least one of the tokens chose, each choosing top_k of them evenly: of E
 * experts one is missed by a token with probability 1 - top_k / E. */
static double
chosen_experts(const struct fused_moe *moe)
{
    double missed = 1 - (double)moe->top_k / (double)moe->experts;
    return (double)moe->experts * (1 - pow(missed, (double)moe->tokens));
}

void
fused_moe_cost(const struct device *device, const struct kernel *kernel,
               struct kernel_cost *cost)
{
    const struct fused_moe *moe = &kernel->fused_moe;
    double chosen = fmax(1, round(chosen_experts(moe)));
    struct gemm_work work = {.groups = (int64_t)chosen,
                             .m = (double)moe->tokens * (double)moe->top_k / chosen,
                             .n = 2 * (double)moe->expert_ffn,
                             .k = (double)moe->width,
                             .dtype = kernel->dtype,
                             .has_random_rows = true,
                             .rate_fraction = device->gemm.moe_fraction,
                             .hbm_fraction = 1};
    struct kernel_cost down;
    gemm_work_cost(device, &work, cost);
    work.n = (double)moe->width;
    work.k = (double)moe->expert_ffn;
    gemm_work_cost(device, &work, &down);
    kernel_cost_add(cost, &down, 1);
    cost->relative_sigma = device->gemm.moe_relative_sigma;
    cost->flop = kernel_flop(kernel);
}
