/* At what clock a step's kernels run: the parts of its time. */
#include "models/mixed_load.h"

#include <math.h>

struct passes {
    double products_s, all_s;
};

static bool
is_product(const struct kernel *kernel)
{
    return kernel->kind == KERNEL_GEMM || kernel->kind == KERNEL_GROUPED_GEMM;
}

/* What has no price is told by those who need it. */
static void
add_operations(struct passes *passes, const struct device *device,
               const struct operation *operations, int count)
{
    struct error_list unheard = {0};
    for (int i = 0; i < count; i++) {
        struct kernel_cost cost = {0};
        if (!kernel_cost(device, &operations[i].kernel, &cost, &unheard))
            continue;
        double seconds_s = cost.seconds_s - cost.host_s;
        passes->all_s += seconds_s;
        passes->products_s += is_product(&operations[i].kernel) ? seconds_s : 0;
    }
}

static struct passes
passes_of(const struct step_inputs *inputs, enum block block, struct arena *arena)
{
    struct operator_list list = operators_of(&inputs->workload, block, arena);
    const struct device *device = inputs->cluster->device;
    struct passes passes = {0};
    for (int64_t i = 0; i < list.count; i++) {
        const struct model_operator *item = &list.items[i];
        add_operations(&passes, device, item->forward, item->forward_count);
        add_operations(&passes, device, item->backward, item->backward_count);
    }
    return passes;
}

static int64_t
times_of(const struct arch *arch, enum block block)
{
    int64_t times = 0;
    if (!operators_is_of_layer(block))
        return 1;
    for (int64_t layer = 0; layer < arch->layers; layer++)
        times += operators_attention_block(arch, layer) == block ||
                 operators_feed_forward_block(arch, layer) == block;
    return times;
}

double
mixed_load_boost(const struct device *device, enum dtype dtype)
{
    const struct device_gemm *gemm = &device->gemm;
    double sustained_flop_per_s = gemm->sustained_flop_per_s[dtype], q = gemm->power_exponent;
    if (sustained_flop_per_s <= 0)
        return 1;
    return pow(1 + pow(gemm->boost_flop_per_s[dtype] / sustained_flop_per_s, q), 1 / q);
}

struct mixed_load
mixed_load_of(const struct step_inputs *inputs, struct arena *arena)
{
    const struct device *device = inputs->cluster->device;
    double gain = device->gemm.mixed_load_gain;
    struct passes whole = {0};
    for (int block = 0; block < BLOCK_COUNT && gain > 0; block++) {
        double times = (double)times_of(inputs->workload.arch, (enum block)block);
        struct passes passes = passes_of(inputs, (enum block)block, arena);
        whole.products_s += times * passes.products_s;
        whole.all_s += times * passes.all_s;
    }
    if (whole.all_s <= 0)
        return (struct mixed_load){1, 1};
    double speedup = 1 + gain * (1 - whole.products_s / whole.all_s);
    double boost = mixed_load_boost(device, inputs->workload.plan->compute_dtype);
    return (struct mixed_load){speedup, fmax(1, boost / speedup)};
}

double
mixed_load_kernel_speedup(const struct device *device, const struct kernel *kernel,
                          const struct mixed_load *load)
{
    double speedup = load->product_speedup;
    double clock_fraction = device->streams[kernel->kind][kernel->direction].clock_fraction;
    if (!is_product(kernel))
        return 1 / (1 + clock_fraction * (load->clock_slowdown - 1));
    return speedup > 1 ? fmin(speedup, mixed_load_boost(device, kernel->dtype)) : speedup;
}
