/* Products as work to cut: one, a batch, one an expert. How a cut is priced is gemm_cut.c, which
 * one is run gemm_search.c. */
#include "hw/gemm_cost.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "hw/gemm_search.h"
#include "hw/kernel_cost.h"

/* Standard deviations by duration, the classes in which the fit's residuals are counted. */
static double
gemm_sigma(const struct device_gemm *gemm, double seconds_s)
{
    if (seconds_s > 100e-6)
        return gemm->relative_sigma_long;
    return seconds_s > 10e-6 ? gemm->relative_sigma_medium : gemm->relative_sigma_short;
}

static enum kernel_bound
cut_bound(const struct device *device, const struct gemm_cut *cut)
{
    if (device->gemm.launch_s > cut->seconds_s / 2)
        return BOUND_LAUNCH;
    if (cut->memory_s > cut->units_s)
        return cut->is_cache_bound ? BOUND_CACHE : BOUND_HBM;
    return cut->steps_s < cut->units_s / 2 ? BOUND_LATENCY : BOUND_COMPUTE;
}

/* A count for people; what does not fit an integer is cut off at its largest. */
static int64_t
count_of(double value)
{
    return value < 9e18 ? (int64_t)ceil(value) : INT64_MAX;
}

static bool
has_no_row(const struct gemm_work *work)
{
    for (int64_t i = 0; work->rows && i < work->groups; i++)
        if (work->rows[i] > 0)
            return false;
    return work->rows != NULL;
}

void
gemm_work_cost(const struct device *device, const struct gemm_work *work,
               struct kernel_cost *cost)
{
    assert(device->gemm.sustained_flop_per_s[work->dtype] > 0);
    if (has_no_row(work)) {
        *cost = (struct kernel_cost){.seconds_s = device->gemm.launch_s,
                                     .relative_sigma = device->gemm.relative_sigma_short,
                                     .bound = BOUND_LAUNCH};
        return;
    }
    struct gemm_cut cut = gemm_search_quickest(device, work);
    double held = cut.workgroups / (cut.rounds * (double)device->compute_units);
    *cost = (struct kernel_cost){
        .seconds_s = cut.seconds_s,
        .relative_sigma = gemm_sigma(&device->gemm, cut.seconds_s),
        .bound = cut_bound(device, &cut),
        .hbm_bytes = cut.hbm_bytes,
        .tiles = count_of(cut.tiles),
        .tile_m = (int64_t)cut.tile_m,
        .tile_n = (int64_t)cut.tile_n,
        .waves = count_of(cut.rounds),
        .compute_fraction = held * fmin(1, cut.units_s / cut.seconds_s),
        .hbm_fraction = fmin(1, cut.hbm_s / cut.seconds_s),
    };
}

double
gemm_clock_fraction(const struct device *device, const char *source)
{
    const struct device_gemm *gemm = &device->gemm;
    for (int64_t i = 0; source && i < gemm->machine_count; i++)
        if (strstr(source, gemm->machines[i].measured_in))
            return gemm->machines[i].clock_fraction;
    return 0;
}

/* The type whose numbers the product takes, and what power and clock allow it. */
static void
set_rates(const struct device *device, const struct kernel *kernel, struct gemm_work *work)
{
    const struct device_gemm *gemm = &device->gemm;
    work->dtype = kernel->dtype;
    work->clock_fraction = gemm_clock_fraction(device, kernel->source);
    if (kernel->dtype != DTYPE_FP8 || kernel->scales != SCALES_OF_RESULT)
        return;
    if (gemm->result_scaled_fp8 != DTYPE_FP64)
        work->dtype = gemm->result_scaled_fp8;
    work->sustained_flop_per_s = gemm->result_scaled_sustained_flop_per_s;
}

void
gemm_cost(const struct device *device, const struct kernel *kernel, struct kernel_cost *cost)
{
    const struct gemm *gemm = &kernel->gemm;
    struct gemm_work work = {.groups = gemm->batch,
                             .m = (double)gemm->m,
                             .n = (double)gemm->n,
                             .k = (double)gemm->k,
                             .rate_fraction = 1,
                             .hbm_fraction = 1};
    set_rates(device, kernel, &work);
    double bytes = dtype_bytes(kernel->dtype);
    bool is_a_transposed = gemm->layout == GEMM_TN;
    bool is_b_transposed = gemm->layout == GEMM_NT;
    work.turned = is_a_transposed + !is_b_transposed;
    work.a_pitch_bytes = (double)(is_a_transposed ? gemm->m : gemm->k) * bytes;
    work.b_pitch_bytes = (double)(is_b_transposed ? gemm->k : gemm->n) * bytes;
    work.c_pitch_bytes = (double)gemm->n * fmax(bytes, 2);
    gemm_work_cost(device, &work, cost);
    cost->flop = kernel_flop(kernel);
}

/* A product for each expert that has rows, one behind the other. */
static void
one_by_one_cost(const struct device *device, const struct kernel *kernel,
                struct kernel_cost *cost)
{
    const struct grouped_gemm *grouped = &kernel->grouped_gemm;
    for (int64_t i = 0; i < grouped->experts; i++) {
        const struct kernel product = {
            .kind = KERNEL_GEMM,
            .dtype = kernel->dtype,
            .scales = kernel->scales,
            .gemm = {grouped->rows[i], grouped->n, grouped->k, 1, GEMM_NN}};
        struct kernel_cost part;
        if (grouped->rows[i] == 0)
            continue;
        gemm_cost(device, &product, &part);
        kernel_cost_add(cost, &part, 1);
    }
}

/* In one launch. */
static void
one_launch_cost(const struct device *device, const struct kernel *kernel,
                struct kernel_cost *cost)
{
    const struct grouped_gemm *grouped = &kernel->grouped_gemm;
    const struct device_tiles *tiles = &device->gemm.grouped_tiles;
    struct gemm_work work = {.tiles = tiles->count > 0 ? tiles : NULL,
                             .rows = grouped->rows,
                             .groups = grouped->experts,
                             .m = INFINITY, /* tiles are not clipped to one expert's rows */
                             .n = (double)grouped->n,
                             .k = (double)grouped->k,
                             .has_whole_k = true,
                             .switch_s = device->gemm.grouped_switch_s,
                             .rate_fraction = device->gemm.grouped_fraction,
                             .hbm_fraction = device->gemm.grouped_hbm_fraction};
    set_rates(device, kernel, &work);
    gemm_work_cost(device, &work, cost);
    cost->seconds_s += device->gemm.grouped_launch_s;
    cost->relative_sigma = gemm_sigma(&device->gemm, cost->seconds_s);
    cost->flop = kernel_flop(kernel);
}

void
grouped_gemm_cost(const struct device *device, const struct kernel *kernel,
                  struct kernel_cost *cost)
{
    *cost = (struct kernel_cost){0};
    if (device->gemm.is_grouped_one_by_one)
        one_by_one_cost(device, kernel, cost);
    if (cost->seconds_s == 0) /* or none has rows */
        one_launch_cost(device, kernel, cost);
}
