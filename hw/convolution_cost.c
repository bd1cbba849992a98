/* A convolution reads its input once and writes its output once; with one channel a group
 * (depthwise) that is all. With more, each group is a product as well: (tokens, taps * c) by
 * (taps * c, c) with c channels a group, priced as a batch of them. */
#include "hw/convolution_cost.h"

#include "hw/gemm_cost.h"
#include "hw/memory_cost.h"

/* Backward forms two products: the input's gradient and the weight's. */
static void
group_products_cost(const struct device *device, const struct kernel *kernel,
                    struct kernel_cost *cost)
{
    const struct convolution *convolution = &kernel->convolution;
    double width = (double)convolution->channels / (double)convolution->groups;
    struct gemm_work work = {.groups = convolution->groups,
                             .m = (double)convolution->tokens,
                             .n = width,
                             .k = width * (double)convolution->taps,
                             .dtype = kernel->dtype,
                             .rate_fraction = 1,
                             .hbm_fraction = 1};
    gemm_work_cost(device, &work, cost);
    if (kernel->direction == DIRECTION_BACKWARD) {
        struct kernel_cost second = *cost;
        kernel_cost_add(cost, &second, 1);
    }
}

void
convolution_cost(const struct device *device, const struct kernel *kernel,
                 struct kernel_cost *cost)
{
    const struct convolution *convolution = &kernel->convolution;
    double bytes = (double)convolution->tokens * (double)convolution->channels *
                   dtype_bytes(kernel->dtype);
    double reads = kernel->direction == DIRECTION_BACKWARD ? 2 : 1;
    memory_kernel_cost(device, KERNEL_CONVOLUTION, reads * bytes, bytes, cost);
    if (convolution->groups < convolution->channels) {
        struct kernel_cost products;
        group_products_cost(device, kernel, &products);
        if (products.seconds_s > cost->seconds_s)
            *cost = products;
    }
    cost->flop = kernel_flop(kernel);
}
