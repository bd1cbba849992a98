/* Sends each kernel to the file of its family, after asking whether the device can run it. */
#include "hw/kernel_cost.h"

#include <assert.h>

#include "hw/attention_cost.h"
#include "hw/convolution_cost.h"
#include "hw/fused_moe_cost.h"
#include "hw/gemm_cost.h"
#include "hw/memory_cost.h"
#include "hw/newton_schulz_cost.h"
#include "hw/plain_cost.h"
#include "hw/row_cost.h"

const char *
kernel_bound_name(enum kernel_bound bound)
{
    static const char *const names[] = {"compute", "hbm", "cache", "latency", "launch"};
    assert(bound <= BOUND_LAUNCH);
    return names[bound];
}

/* Counts are for people: what does not fit is cut off. */
static int64_t
add_counts(int64_t sum, int64_t part, double times)
{
    double total = (double)sum + times * (double)part;
    return total < 9e18 ? (int64_t)total : INT64_MAX;
}

void
kernel_cost_add(struct kernel_cost *sum, const struct kernel_cost *part, double times)
{
    double part_s = times * part->seconds_s;
    double whole_s = sum->seconds_s + part_s;
    double before = sum->seconds_s / whole_s, after = part_s / whole_s;
    if (part_s > sum->seconds_s)
        sum->bound = part->bound;
    sum->compute_fraction = before * sum->compute_fraction + after * part->compute_fraction;
    sum->hbm_fraction = before * sum->hbm_fraction + after * part->hbm_fraction;
    sum->relative_sigma = before * sum->relative_sigma + after * part->relative_sigma;
    sum->host_s += times * part->host_s;
    sum->flop += times * part->flop;
    sum->hbm_bytes += times * part->hbm_bytes;
    sum->tiles = add_counts(sum->tiles, part->tiles, times);
    sum->waves = add_counts(sum->waves, part->waves, times);
    sum->tile_m = sum->tile_n = 0;
    sum->seconds_s = whole_s;
}

/* Kernels that multiply matrices need a unit for their dtype, and its sustained rate. */
static bool
check_matrix_rate(const struct device *device, enum dtype dtype, struct error_list *errors)
{
    if (device->gemm.sustained_flop_per_s[dtype] > 0)
        return true;
    return error_add(errors, ERROR_INPUT, "", "%s has no matrix rate for %s", device->name,
                     dtype_name(dtype));
}

static bool
check_attention(const struct device *device, const struct kernel *kernel,
                struct error_list *errors)
{
    const char *name = kernel->attention.implementation;
    if (attention_implementation(device, name) == NULL)
        return error_add(errors, ERROR_INPUT, "",
                         "%s knows no attention implementation \"%.60s\"; wanted %s",
                         device->name, name ? name : "", device->attention[0].name);
    return check_matrix_rate(device, kernel->dtype, errors);
}

static bool
check_device(const struct device *device, const struct kernel *kernel,
             struct error_list *errors)
{
    switch (kernel->kind) {
    case KERNEL_GEMM:
    case KERNEL_GROUPED_GEMM:
    case KERNEL_FUSED_MOE:
    case KERNEL_CONVOLUTION:
    case KERNEL_NEWTON_SCHULZ:
        return check_matrix_rate(device, kernel->dtype, errors);
    case KERNEL_ATTENTION:
        return check_attention(device, kernel, errors);
    case KERNEL_ELEMENTWISE:
    case KERNEL_RMS_NORM:
    case KERNEL_SOFTMAX:
    case KERNEL_GATHER:
    case KERNEL_SCATTER_ADD:
    case KERNEL_TRANSPOSE:
    case KERNEL_TOP_K:
    case KERNEL_CROSS_ENTROPY:
    case KERNEL_ADAMW:
    case KERNEL_COPY:
    case KERNEL_KIND_COUNT:
        break;
    }
    return true;
}

bool
kernel_cost(const struct device *device, const struct kernel *kernel, struct kernel_cost *cost,
            struct error_list *errors)
{
    if (!check_device(device, kernel, errors))
        return false;
    if (device->has_plain_streams && plain_has(kernel->kind)) {
        plain_cost(device, kernel, cost);
        return true;
    }
    switch (kernel->kind) {
    case KERNEL_GEMM:
        gemm_cost(device, kernel, cost);
        break;
    case KERNEL_GROUPED_GEMM:
        grouped_gemm_cost(device, kernel, cost);
        break;
    case KERNEL_FUSED_MOE:
        fused_moe_cost(device, kernel, cost);
        break;
    case KERNEL_ATTENTION:
        attention_cost(device, kernel, cost);
        break;
    case KERNEL_CONVOLUTION:
        convolution_cost(device, kernel, cost);
        break;
    case KERNEL_NEWTON_SCHULZ:
        newton_schulz_cost(device, kernel, cost);
        break;
    case KERNEL_RMS_NORM:
    case KERNEL_SOFTMAX:
    case KERNEL_TOP_K:
    case KERNEL_CROSS_ENTROPY:
        row_cost(device, kernel, cost);
        break;
    case KERNEL_ELEMENTWISE:
    case KERNEL_GATHER:
    case KERNEL_SCATTER_ADD:
    case KERNEL_TRANSPOSE:
    case KERNEL_ADAMW:
    case KERNEL_COPY:
    case KERNEL_KIND_COUNT:
        memory_cost(device, kernel, cost);
        break;
    }
    return true;
}
