/* A convolution reads its input once and writes its output once; a library whose kernels take
 * channels one by one (elements_per_s) is slower than that, whatever the taps. With more than
 * one channel a group, each group is a product as well: (tokens, taps * c) by (taps * c, c)
 * with c channels a group, priced as a batch of them; such a library then turns the input to
 * channels-last, backward the gradient too. */
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

/* Seconds of elements that are not streamed: channels one by one, or turned for products. */
static double
elements_s(const struct device *device, const struct kernel *kernel, double elements)
{
    const struct convolution *convolution = &kernel->convolution;
    double by_channel_s = memory_by_element_s(device, kernel, elements);
    if (by_channel_s == 0 || convolution->groups == convolution->channels)
        return by_channel_s;
    struct kernel turned = {.kind = KERNEL_TRANSPOSE, .dtype = kernel->dtype};
    double turns = kernel->direction == DIRECTION_BACKWARD ? 2 : 1;
    return turns * memory_by_element_s(device, &turned, elements);
}

void
convolution_cost(const struct device *device, const struct kernel *kernel,
                 struct kernel_cost *cost)
{
    const struct convolution *convolution = &kernel->convolution;
    const struct device_stream *stream =
        &device->streams[KERNEL_CONVOLUTION][kernel->direction];
    double elements = (double)convolution->tokens * (double)convolution->channels;
    double bytes = elements * dtype_bytes(kernel->dtype);
    double reads = kernel->direction == DIRECTION_BACKWARD ? 2 : 1;
    struct memory_parts parts = memory_parts_of(device, stream, reads * bytes, bytes);
    parts.element_s = elements_s(device, kernel, elements);
    memory_parts_cost(device, stream, &parts, cost);
    if (convolution->groups < convolution->channels) {
        struct kernel_cost products;
        group_products_cost(device, kernel, &products);
        if (parts.element_s > 0)
            kernel_cost_add(cost, &products, 1);
        else if (products.seconds_s > cost->seconds_s)
            *cost = products;
    }
    cost->flop = kernel_flop(kernel);
}
