/* A convolution reads its input once and writes its output once; a library whose kernels take
 * channels one by one (elements_per_s) is slower than that, whatever the taps. As PyTorch's and
 * cuDNN's do on NVIDIA's GPUs (profiled on H200):
 *
 *   a channel a group   backward, a kernel takes the input's gradient element by element, another
 *                       the weight's: a warp to each tap of each channel adds up all tokens
 *   more channels       each group turns its input to channels-last, is a product, (tokens, taps
 *                       * c) by (taps * c, c) with c channels a group, and turns its output back:
 *                       four kernels one after the other, groups beside each other; its weights,
 *                       which lie (output channels, c, taps), are turned as well. The weight's
 *                       gradient is the same again: of all groups at once, or, of wider weights,
 *                       of each group by a few workgroups that walk over all tokens
 *
 * On a device whose library was not looked into, a group of channels is a product alone. */
#include "hw/convolution_cost.h"

#include <math.h>

#include "hw/gemm_cost.h"
#include "hw/memory_cost.h"

/* Groups that cuDNN runs beside each other, on streams of their own (profiled on H200). */
static const double GROUP_STREAMS = 8;

/* Up to so many weights to an output channel cuDNN takes all groups at once (profiled on H200: 64
 * channels of 4 taps and 128 of 2; 128 of 3 no more), and from so many tokens on (128 of 4 at
 * 32,768, not at 16,384). */
static const int64_t ALL_GROUPS_WEIGHTS_MAX = 256, ALL_GROUPS_TOKENS_MIN = 32768;

/* Tokens that a warp adds up in a step, and warps that a unit holds in workgroups of one (CUDA C++
 * Programming Guide, compute capabilities: 32 workgroups). */
static const double WARP_TOKENS = 32, UNIT_WARPS = 32;

static const struct device_stream *
stream_of(const struct device *device, enum direction direction)
{
    return &device->streams[KERNEL_CONVOLUTION][direction];
}

static double
elements_of(const struct convolution *convolution)
{
    return (double)convolution->tokens * (double)convolution->channels;
}

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

/* A round of warps that each add up all tokens: as long as one alone waits, or as the units take
 * for all. */
static double
sum_round_s(const struct device *device, double warps, double tokens)
{
    const struct device_stream *stream = stream_of(device, DIRECTION_BACKWARD);
    double steps = tokens / WARP_TOKENS, p = device->memory.row_overlap_exponent;
    double alone_s = steps * stream->row_s, all_s = warps * steps * stream->sum_row_s;
    return pow(pow(alone_s, p) + pow(all_s, p), 1 / p);
}

double
convolution_weight_sum_s(const struct device *device, const struct convolution *convolution)
{
    double warps = (double)convolution->channels * (double)convolution->taps;
    double resident = (double)device->compute_units * UNIT_WARPS;
    double rounds = floor(warps / resident), rest = warps - rounds * resident;
    double tokens = (double)convolution->tokens;
    return rounds * sum_round_s(device, resident, tokens) +
           (rest > 0 ? sum_round_s(device, rest, tokens) : 0);
}

/* To channels-last and back, once. */
static double
turning_s(const struct device *device, const struct convolution *convolution)
{
    const struct device_stream *stream = stream_of(device, DIRECTION_FORWARD);
    return 2 * elements_of(convolution) / stream->turned_elements_per_s;
}

/* The weights of all groups, from or to the layout (output channels, taps, c). */
static double
weights_turning_s(const struct device *device, const struct convolution *convolution)
{
    double rate_per_s = stream_of(device, DIRECTION_FORWARD)->turned_weights_per_s;
    double width = (double)convolution->channels / (double)convolution->groups;
    double weights = (double)convolution->channels * width * (double)convolution->taps;
    return rate_per_s > 0 ? weights / rate_per_s : 0;
}

/* Of groups one by one, what their kernels take, their turns and their walks over all tokens. */
static double
groups_s(const struct device *device, const struct convolution *convolution, double token_s)
{
    const struct device_stream *stream = stream_of(device, DIRECTION_FORWARD);
    double groups = (double)convolution->groups;
    return groups * stream->group_s + turning_s(device, convolution) +
           weights_turning_s(device, convolution) +
           ceil(groups / GROUP_STREAMS) * (double)convolution->tokens * token_s;
}

double
convolution_groups_s(const struct device *device, const struct convolution *convolution,
                     enum direction direction)
{
    double chain_s = stream_of(device, DIRECTION_FORWARD)->row_s;
    double seconds_s = chain_s + groups_s(device, convolution, 0);
    if (direction == DIRECTION_FORWARD)
        return seconds_s;
    int64_t weights = convolution->channels / convolution->groups * convolution->taps;
    if (weights <= ALL_GROUPS_WEIGHTS_MAX || convolution->tokens >= ALL_GROUPS_TOKENS_MIN)
        return seconds_s + chain_s + turning_s(device, convolution);
    double token_s = stream_of(device, DIRECTION_BACKWARD)->element_s;
    return seconds_s + groups_s(device, convolution, token_s);
}

/* Seconds of elements that are not streamed: channels one by one, or turned for products. */
static double
elements_s(const struct device *device, const struct kernel *kernel)
{
    const struct convolution *convolution = &kernel->convolution;
    if (convolution->groups < convolution->channels)
        return convolution_groups_s(device, convolution, kernel->direction);
    return memory_by_element_s(device, kernel, elements_of(convolution));
}

void
convolution_cost(const struct device *device, const struct kernel *kernel,
                 struct kernel_cost *cost)
{
    const struct convolution *convolution = &kernel->convolution;
    const struct device_stream *stream = stream_of(device, kernel->direction);
    double bytes = elements_of(convolution) * dtype_bytes(kernel->dtype);
    bool is_backward = kernel->direction == DIRECTION_BACKWARD;
    bool is_grouped = convolution->groups < convolution->channels;
    bool is_turned = stream_of(device, DIRECTION_FORWARD)->turned_elements_per_s > 0;
    struct memory_parts parts =
        memory_parts_of(device, stream, (is_backward ? 2 : 1) * bytes, bytes);
    if (!is_grouped || is_turned)
        parts.element_s = elements_s(device, kernel);
    if (is_backward && !is_grouped)
        parts.behind_s = convolution_weight_sum_s(device, convolution);
    memory_parts_cost(device, stream, &parts, cost);
    if (is_grouped) {
        struct kernel_cost products;
        group_products_cost(device, kernel, &products);
        if (is_turned)
            kernel_cost_add(cost, &products, 1);
        else if (products.seconds_s > cost->seconds_s)
            *cost = products;
    }
    cost->flop = kernel_flop(kernel);
}
