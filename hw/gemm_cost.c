/* A product as the matrix libraries run it.
 *
 * The result is cut into macro-tiles, one a workgroup; workgroups go to the compute units in
 * rounds, the last one partly empty. Each walks down k in steps: load a slab of A and B,
 * multiply
 *
 *            n
 *        +--+--+--+      tile (m, n): a step of depth d is 2 m n d flop, (m + n) d loads
 *      m |1 |2 |3 |      round 1: tiles 1-4 on four units
 *        +--+--+--+      round 2: tiles 5, 6; two units idle: the sawtooth of widths
 *        |4 |5 |6 |
 *        +--+--+--+
 *
 * while the memory levels deliver what all of them together have not yet seen. The library's
 * choice of tile and split of k is taken to be the quickest of the device file's. */
#include "hw/gemm_cost.h"

#include <assert.h>
#include <math.h>

/* What is the same for every tile tried. */
struct gemm_sizes {
    double products; /* with at least one row */
    double rows;     /* of all */
    double element_bytes, result_bytes;
    double a_bytes, b_bytes, c_bytes; /* each once */
};

/* One way to cut the work. */
struct gemm_cut {
    const struct device_tile *tile;
    double splits;    /* of k */
    double grid_rows; /* tiles down one product, mean */
    double grid_cols;
    double depth;             /* of a step, in elements */
    double workgroups;        /* tiles times splits */
    double rounds;            /* of workgroups over the units */
    double units_s, memory_s; /* what computing takes, what moving takes, each alone */
    double steps_s;           /* the part of units_s that is not filling and storing */
    double hbm_s, hbm_bytes;
    bool is_cache_bound; /* of what waits: a cache, not HBM or the multipliers */
    double seconds_s;
};

/* Results of 8-bit products are written in 16 bits (bf16), others in their own type. */
static double
result_bytes(enum dtype dtype)
{
    return fmax(dtype_bytes(dtype), 2);
}

static struct gemm_sizes
gemm_sizes(const struct gemm_work *work)
{
    struct gemm_sizes sizes = {.products = (double)work->groups,
                               .rows = work->m * (double)work->groups,
                               .element_bytes = dtype_bytes(work->dtype),
                               .result_bytes = result_bytes(work->dtype)};
    if (work->rows) {
        sizes.products = sizes.rows = 0;
        for (int64_t i = 0; i < work->groups; i++) {
            sizes.products += work->rows[i] > 0;
            sizes.rows += (double)work->rows[i];
        }
    }
    sizes.a_bytes = sizes.rows * work->k * sizes.element_bytes;
    if (!work->is_triangle) /* else B is A again */
        sizes.b_bytes = sizes.products * work->n * work->k * sizes.element_bytes;
    sizes.c_bytes = sizes.rows * work->n * sizes.result_bytes;
    return sizes;
}

/* Tiles down all products. Rows dealt out at random fill the last tile by half on average. */
static double
row_tiles(const struct gemm_work *work, double tile_m)
{
    double tiles = 0;
    if (work->has_random_rows)
        return (double)work->groups * fmax(1, work->m / tile_m + 0.5);
    if (!work->rows)
        return (double)work->groups * ceil(work->m / tile_m);
    for (int64_t i = 0; i < work->groups; i++)
        tiles += ceil((double)work->rows[i] / tile_m);
    return tiles;
}

/* Of a symmetric result the half of the tiles, and half of the longer side's for the diagonal.
 */
static double
triangle_tiles(double grid_rows, double grid_cols)
{
    return (grid_rows * grid_cols + fmax(grid_rows, grid_cols)) / 2;
}

/* Bytes of A and B that `tiles` neighbouring tiles read together: they lie in a block as nearly
 * square as the grid allows, r tiles down and c across, and need r m rows of A, c n columns of
 * B. */
static double
block_bytes(const struct gemm_work *work, const struct gemm_cut *cut, double tiles,
            double element_bytes)
{
    double m = (double)cut->tile->m, n = (double)cut->tile->n;
    double grid = cut->grid_rows * cut->grid_cols;
    double grids = fmax(1, tiles / grid);
    double inside = fmin(tiles, grid);
    double r = fmax(1, fmin(cut->grid_rows, sqrt(inside * n / m)));
    double c = fmin(cut->grid_cols, inside / r);
    r = fmin(cut->grid_rows, inside / c);
    return grids * (r * m + fmin(c * n, work->n)) * work->k * element_bytes;
}

/* Bytes of A and B that pass a level whose tiles share loads `sharing` at a time: each once if
 * both stay in `capacity_bytes`, else once a block. */
static double
level_bytes(const struct gemm_work *work, const struct gemm_sizes *sizes,
            const struct gemm_cut *cut, double sharing, double capacity_bytes)
{
    double once = sizes->a_bytes + sizes->b_bytes;
    if (once <= capacity_bytes)
        return once;
    double tiles = cut->workgroups / cut->splits;
    double block = fmin(sharing, tiles);
    return fmax(once, tiles / block * block_bytes(work, cut, block, sizes->element_bytes));
}

/* Flop per second of one unit while `active` units multiply: at the boost clock until the power
 * that all draw together is spent. */
static double
unit_flop_per_s(const struct device *device, const struct gemm_work *work, double active)
{
    const struct device_gemm *gemm = &device->gemm;
    double boost = gemm->boost_flop_per_s[work->dtype] / (double)device->compute_units;
    double sustained = gemm->sustained_flop_per_s[work->dtype] / active;
    return work->rate_fraction * fmin(boost, sustained);
}

/* One step of the k loop: multiplying and loading overlap, book-keeping does not. Loads are
 * clipped at the result's edge, multiplications are not. */
static double
step_s(const struct device *device, const struct gemm_work *work, const struct gemm_cut *cut,
       double active)
{
    const struct device_tile *tile = cut->tile;
    double m = (double)tile->m, n = (double)tile->n, k = cut->depth;
    double multiply_s = 2 * m * n * k / unit_flop_per_s(device, work, active);
    double loaded = (fmin(m, work->m) + fmin(n, work->n)) * k * dtype_bytes(work->dtype);
    double load_s = loaded * (double)device->compute_units / device->memory.l2_bytes_per_s;
    return fmax(multiply_s, load_s) + device->gemm.step_s;
}

/* Filling the pipeline, then storing the result at what one unit can draw; clipped at the edge. */
static double
fill_and_store_s(const struct device *device, const struct gemm_work *work,
                 const struct gemm_cut *cut)
{
    double results = fmin((double)cut->tile->m, work->m) * fmin((double)cut->tile->n, work->n);
    return device->gemm.tile_s +
           results * result_bytes(work->dtype) / device->memory.unit_bytes_per_s;
}

/* All rounds: whole ones, then the last with as many units as are left. A unit that holds
 * several tiles at once fills and stores them together. */
static void
price_units(const struct device *device, const struct gemm_work *work, struct gemm_cut *cut)
{
    double units = (double)device->compute_units;
    double resident = fmax(1, floor(device->gemm.resident_results /
                                    ((double)cut->tile->m * (double)cut->tile->n)));
    double steps = ceil(work->k / cut->splits / cut->depth);
    double last = cut->workgroups - (cut->rounds - 1) * units;
    double whole_s = cut->rounds > 1 ? step_s(device, work, cut, units) : 0;
    cut->steps_s = steps * ((cut->rounds - 1) * whole_s + step_s(device, work, cut, last));
    cut->units_s =
        cut->steps_s + ceil(cut->rounds / resident) * fill_and_store_s(device, work, cut);
    if (cut->splits > 1)
        cut->units_s += device->gemm.split_s;
}

/* The slowest of: what all units draw from beyond L2, the last level, HBM. */
static void
price_memory(const struct device *device, const struct gemm_work *work,
             const struct gemm_sizes *sizes, struct gemm_cut *cut)
{
    const struct device_memory *memory = &device->memory;
    double units = (double)device->compute_units;
    /* partial results of a split are written and read in fp32 */
    double partial_bytes =
        cut->splits > 1 ? 2 * cut->splits * sizes->rows * work->n * dtype_bytes(DTYPE_FP32) : 0;
    double beyond_l2 = level_bytes(work, sizes, cut, units / (double)memory->l2_domains,
                                   memory->l2_domains > 1 ? 0 : memory->l2_bytes) +
                       sizes->c_bytes + partial_bytes;
    double read = memory->last_level_bytes > 0
                      ? level_bytes(work, sizes, cut, units, memory->last_level_bytes)
                      : level_bytes(work, sizes, cut, units, memory->l2_bytes);
    cut->hbm_bytes = read + sizes->c_bytes;
    cut->hbm_s =
        (read / memory->hbm_read_bytes_per_s + sizes->c_bytes / memory->hbm_write_bytes_per_s);
    double drawn_s = beyond_l2 / (fmin(units, cut->workgroups) * memory->unit_bytes_per_s);
    double last_level_s =
        memory->last_level_bytes > 0 ? beyond_l2 / memory->last_level_bytes_per_s : 0;
    double cache_s = fmax(drawn_s, last_level_s);
    cut->is_cache_bound = cache_s > cut->hbm_s;
    cut->memory_s = fmax(cut->hbm_s, cache_s);
}

/* Computing and moving share time and, on a device at its power limit, watts: between the
 * larger of the two (p infinite) and their sum (p = 1). */
static double
together_s(double a_s, double b_s, double exponent)
{
    double larger = fmax(a_s, b_s), smaller = fmin(a_s, b_s);
    if (smaller <= 0.02 * larger) /* adds under a thousandth for every p over 1.5 */
        return larger;
    return larger * pow(1 + pow(smaller / larger, exponent), 1 / exponent);
}

/* Prices the cut if it may still be quicker than the best so far, and keeps the quicker. */
static void
keep_quicker(const struct device *device, const struct gemm_work *work,
             const struct gemm_sizes *sizes, struct gemm_cut *cut, struct gemm_cut *best)
{
    cut->rounds = ceil(cut->workgroups / (double)device->compute_units);
    price_units(device, work, cut);
    if (device->gemm.launch_s + cut->units_s >= best->seconds_s)
        return;
    price_memory(device, work, sizes, cut);
    cut->seconds_s = device->gemm.launch_s +
                     together_s(cut->units_s, cut->memory_s, device->gemm.overlap_exponent);
    if (cut->seconds_s < best->seconds_s)
        *best = *cut;
}

/* The quickest of the device's tiles, each with k in 1, 2, 4, ... parts while units are idle.
 */
static struct gemm_cut
quickest_cut(const struct device *device, const struct gemm_work *work,
             const struct gemm_sizes *sizes)
{
    struct gemm_cut best = {.seconds_s = INFINITY};
    for (int64_t i = 0; i < device->gemm.tile_count; i++) {
        struct gemm_cut cut = {.tile = &device->gemm.tiles[i]};
        double down = row_tiles(work, (double)cut.tile->m);
        cut.depth = (double)cut.tile->depth_bytes / sizes->element_bytes;
        cut.grid_rows = down / sizes->products;
        cut.grid_cols = ceil(work->n / (double)cut.tile->n);
        double tiles =
            work->is_triangle ? triangle_tiles(down, cut.grid_cols) : down * cut.grid_cols;
        for (int64_t splits = 1; splits <= device->gemm.split_maximum; splits *= 2) {
            cut.splits = (double)splits;
            cut.workgroups = tiles * cut.splits;
            keep_quicker(device, work, sizes, &cut, &best);
            if (cut.workgroups >= (double)device->compute_units ||
                work->k < 2 * cut.splits * cut.depth)
                break;
        }
    }
    return best;
}

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

void
gemm_work_cost(const struct device *device, const struct gemm_work *work,
               struct kernel_cost *cost)
{
    assert(device->gemm.sustained_flop_per_s[work->dtype] > 0);
    struct gemm_sizes sizes = gemm_sizes(work);
    if (sizes.rows == 0) {
        *cost = (struct kernel_cost){.seconds_s = device->gemm.launch_s,
                                     .relative_sigma = device->gemm.relative_sigma_short,
                                     .bound = BOUND_LAUNCH};
        return;
    }
    struct gemm_cut cut = quickest_cut(device, work, &sizes);
    double held = cut.workgroups / (cut.rounds * (double)device->compute_units);
    *cost = (struct kernel_cost){
        .seconds_s = cut.seconds_s,
        .relative_sigma = gemm_sigma(&device->gemm, cut.seconds_s),
        .bound = cut_bound(device, &cut),
        .hbm_bytes = cut.hbm_bytes,
        .tiles = count_of(cut.workgroups / cut.splits),
        .waves = count_of(cut.rounds),
        .compute_fraction = held * fmin(1, cut.units_s / cut.seconds_s),
        .hbm_fraction = fmin(1, cut.hbm_s / cut.seconds_s),
    };
}

void
gemm_cost(const struct device *device, const struct kernel *kernel, struct kernel_cost *cost)
{
    const struct gemm *gemm = &kernel->gemm;
    struct gemm_work work = {.groups = gemm->batch,
                             .m = (double)gemm->m,
                             .n = (double)gemm->n,
                             .k = (double)gemm->k,
                             .dtype = kernel->dtype,
                             .rate_fraction = 1};
    gemm_work_cost(device, &work, cost);
    cost->flop = kernel_flop(kernel);
}

void
grouped_gemm_cost(const struct device *device, const struct kernel *kernel,
                  struct kernel_cost *cost)
{
    const struct grouped_gemm *grouped = &kernel->grouped_gemm;
    struct gemm_work work = {.rows = grouped->rows,
                             .groups = grouped->experts,
                             .m = INFINITY, /* tiles are not clipped to one expert's rows */
                             .n = (double)grouped->n,
                             .k = (double)grouped->k,
                             .dtype = kernel->dtype,
                             .rate_fraction = 1};
    gemm_work_cost(device, &work, cost);
    cost->seconds_s += device->gemm.grouped_launch_s;
    cost->relative_sigma = gemm_sigma(&device->gemm, cost->seconds_s);
    cost->flop = kernel_flop(kernel);
}

/* Experts that at least one of the tokens chose, each choosing top_k of them evenly: of E
 * experts one is missed by a token with probability 1 - top_k / E. */
static double
chosen_experts(const struct fused_moe *moe)
{
    double missed = 1 - (double)moe->top_k / (double)moe->experts;
    return (double)moe->experts * (1 - pow(missed, (double)moe->tokens));
}

/* Two grouped products over the experts that tokens chose: gate and up side by side, then down;
 * SwiGLU rides on the first's end. */
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
                             .rate_fraction = device->gemm.moe_fraction};
    struct kernel_cost down;
    gemm_work_cost(device, &work, cost);
    work.n = (double)moe->width;
    work.k = (double)moe->expert_ffn;
    gemm_work_cost(device, &work, &down);
    kernel_cost_add(cost, &down, 1);
    cost->flop = kernel_flop(kernel);
}
