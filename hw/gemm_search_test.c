/* Is the cut found the quickest of all? An oracle prices every tile and split in full. */
#include "hw/gemm_search.h"

#include "hw/check_device.h"
#include "sim/base/check_arena.h"
#include "sim/base/check_near.h"
#include "sim/base/check_often.h"

Suite *gemm_search_suite(void);

/* ---- The oracle: every tile and split priced in full, in the words of gemm_cut.c's opening */

/* One tile and split of k tried on a device. */
struct attempt {
    const struct device *device;
    const struct gemm_work *work;
    double m, n, depth, splits, held;
    double down, across, tiles; /* down: of all products */
    double products, rows;      /* with rows, of all */
};

static void
oracle_count(struct attempt *a)
{
    const struct gemm_work *work = a->work;
    for (int64_t i = 0; i < work->groups; i++) {
        double rows = work->rows ? (double)work->rows[i] : work->m;
        a->products += rows > 0 ? 1 : 0;
        a->rows += rows;
        a->down += ceil(rows / a->m);
    }
    a->across = ceil(work->n / a->n);
    a->tiles = a->down * a->across;
    if (work->is_triangle)
        a->tiles = (a->tiles + fmax(a->down, a->across)) / 2;
}

static double
oracle_store_ratio(const struct attempt *a, double pitch_bytes)
{
    return 1 + (fmod(pitch_bytes, 128) > 0 ? a->device->gemm.unaligned_fraction : 0);
}

static double
oracle_load_ratio(const struct attempt *a, double pitch_bytes)
{
    const struct device_gemm *gemm = &a->device->gemm;
    if (pitch_bytes > 0 && fmod(pitch_bytes, gemm->crowded_pitch_bytes) == 0)
        return 1 + gemm->crowded_fraction[a->work->dtype];
    return oracle_store_ratio(a, pitch_bytes);
}

/* Seconds of one step of one workgroup: multiplying, and loading. */
static void
oracle_step(const struct attempt *a, double *multiply_s, double *load_s)
{
    const struct gemm_work *work = a->work;
    double units = (double)a->device->compute_units;
    const struct device_gemm *gemm = &a->device->gemm;
    double rate = gemm->boost_flop_per_s[work->dtype] / units * work->rate_fraction;
    double clock = work->clock_fraction > 0 ? work->clock_fraction : 1;
    rate *= clock;
    if (work->turned >= 1)
        rate /= 1 + gemm->turned_fraction[work->dtype];
    if (work->turned == 2)
        rate /= 1 + gemm->rewritten_fraction[work->dtype];
    double empty = gemm->edge_fill_fraction;
    double a_rows = fmin(a->m, work->m) + empty * fmax(0, a->m - work->m);
    double b_rows = fmin(a->n, work->n) + empty * fmax(0, a->n - work->n);
    a_rows *= oracle_load_ratio(a, work->a_pitch_bytes);
    b_rows *= oracle_load_ratio(a, work->b_pitch_bytes);
    double loads = gemm->dtype_load_bytes_per_s[work->dtype];
    *multiply_s = 2 * a->m * a->n * a->depth / rate;
    double strayed =
        1 + sqrt(work->k * dtype_bytes(work->dtype)) * gemm->stray_per_root_byte[work->dtype];
    *load_s = (a_rows + b_rows) * a->depth * dtype_bytes(work->dtype) * units * strayed /
              clock / (loads > 0 ? loads : a->device->memory.l2_bytes_per_s);
}

static double
oracle_own(const double *own, const struct attempt *a, double all)
{
    return own[a->work->dtype] != 0 ? own[a->work->dtype] : all;
}

/* Group after group of the rounds that a unit holds at once, with the shown part of filling. */
static double
oracle_rounds_s(const struct attempt *a, double rounds, double shown)
{
    const struct device_gemm *gemm = &a->device->gemm;
    const struct gemm_work *work = a->work;
    double multiply_s, load_s;
    oracle_step(a, &multiply_s, &load_s);
    double exposed = oracle_own(gemm->dtype_exposed_fraction, a, gemm->exposed_fraction);
    double work_s = fmax(multiply_s, load_s) + exposed * fmin(multiply_s, load_s);
    double store_bytes =
        fmin(a->m, work->m) * fmin(a->n, work->n) * fmax(2, dtype_bytes(work->dtype));
    double store_s = store_bytes * oracle_store_ratio(a, work->c_pitch_bytes);
    double steps = ceil(work->k / (a->splits * a->depth)), total_s = 0;
    double stores = oracle_own(gemm->dtype_store_bytes_per_s, a, gemm->store_bytes_per_s);
    if (a->splits > 1)
        stores = oracle_own(gemm->dtype_add_bytes_per_s, a, stores);
    for (int64_t left = (int64_t)rounds; left > 0; left -= (int64_t)a->held) {
        double held = fmin((double)left, a->held);
        total_s += steps * fmax(held * work_s, work_s + gemm->step_s[work->dtype]);
        total_s += shown * (oracle_own(gemm->dtype_tile_s, a, gemm->tile_s) + store_s / stores);
    }
    return total_s;
}

/* Between the last whole round and one fewer, by how far the units have drifted apart. */
static double
oracle_units_s(const struct attempt *a)
{
    const struct device_gemm *gemm = &a->device->gemm;
    double rounds = a->tiles * a->splits / (double)a->device->compute_units;
    double up = ceil(rounds), drifted = (up - 1) / (up - 1 + gemm->drift_rounds);
    double spared = (up - rounds) * drifted;
    double shown = 1 - gemm->hidden_fill_fraction[a->work->dtype] * drifted;
    double total_s = (1 - spared) * oracle_rounds_s(a, up, shown);
    if (up > 1)
        total_s += spared * oracle_rounds_s(a, up - 1, shown);
    total_s += a->splits > 1 ? oracle_own(gemm->dtype_split_s, a, gemm->split_s) : 0;
    return total_s + a->work->switch_s * fmin(up, a->products);
}

/* Issuing, and the power that the products draw. */
static double
oracle_compute_s(const struct attempt *a)
{
    const struct device_gemm *gemm = &a->device->gemm;
    const struct gemm_work *work = a->work;
    double flop = (work->is_triangle ? 1 : 2) * a->rows * work->n * work->k;
    double power_s = flop / (gemm->sustained_flop_per_s[work->dtype] * work->rate_fraction);
    power_s /= work->clock_fraction > 0 ? work->clock_fraction : 1;
    double q = gemm->power_exponent, larger_s = fmax(power_s, oracle_units_s(a));
    return larger_s *
           pow(pow(power_s / larger_s, q) + pow(oracle_units_s(a) / larger_s, q), 1 / q);
}

/* Bytes of A and B through a level: once where they fit, else for each block of tiles that
 * share, as square as the product's grid lets it be. */
static double
oracle_level_bytes(const struct attempt *a, double once, double sharing, double capacity)
{
    if (once <= capacity)
        return once;
    double block = fmin(sharing, a->tiles), height = a->down / a->products;
    double inside = fmin(block, height * a->across);
    double r = fmax(1, fmin(height, sqrt(inside * a->n / a->m)));
    double c = fmin(a->across, inside / r);
    r = fmin(height, inside / c);
    double products = fmax(1, block / (height * a->across));
    double lines = r * a->m + fmin(c * a->n, a->work->n);
    double bytes = products * lines * a->work->k * dtype_bytes(a->work->dtype);
    return fmax(once, a->tiles / block * bytes);
}

static double
oracle_memory_s(const struct attempt *a, double *hbm_bytes)
{
    const struct device_memory *memory = &a->device->memory;
    const struct gemm_work *work = a->work;
    double units = (double)a->device->compute_units, bytes = dtype_bytes(work->dtype);
    double b_columns = work->is_triangle ? 0 : a->products * work->n;
    double once = (a->rows + b_columns) * work->k * bytes;
    double c = a->rows * work->n * fmax(2, bytes);
    double domains = (double)memory->l2_domains;
    double alone = domains > 1 ? 0 : memory->l2_bytes;
    double beyond = oracle_level_bytes(a, once, units / domains, alone);
    double read = beyond;
    if (domains > 1 || memory->last_level_bytes > 0)
        read = oracle_level_bytes(a, once, units,
                                  fmax(memory->l2_bytes, memory->last_level_bytes));
    beyond += c + (a->splits > 1 ? 2 * a->splits * a->rows * work->n * 4 : 0);
    *hbm_bytes = read + c;
    double drawn_s = beyond / (fmin(units, a->tiles * a->splits) * memory->unit_bytes_per_s);
    double last_s = memory->last_level_bytes > 0 ? beyond / memory->last_level_bytes_per_s : 0;
    double hbm_s = read / (memory->hbm_read_bytes_per_s * work->hbm_fraction) +
                   c / memory->hbm_write_bytes_per_s;
    hbm_s += fmin(hbm_s, a->device->gemm.hbm_ramp_s);
    return fmax(hbm_s, fmax(drawn_s, last_s));
}

/* Prices the attempt, k in the parts that it names. */
static struct gemm_cut
oracle_cut(const struct attempt *a)
{
    double p = a->device->gemm.overlap_exponent, hbm_bytes;
    double compute_s = oracle_compute_s(a), memory_s = oracle_memory_s(a, &hbm_bytes);
    double norm_s = pow(pow(compute_s, p) + pow(memory_s, p), 1 / p);
    return (struct gemm_cut){.tiles = a->tiles,
                             .splits = a->splits,
                             .hbm_bytes = hbm_bytes,
                             .seconds_s = a->device->gemm.launch_s + norm_s};
}

/* The fewest parts that spare a tenth of what fewer take, or a power of two. */
static double
oracle_splits(const struct attempt *a)
{
    const struct device_gemm *gemm = &a->device->gemm;
    double units = (double)a->device->compute_units, splits = 1, least = INFINITY;
    if (a->work->has_whole_k)
        return 1;
    for (int s = 1; s <= gemm->free_split_maximum[a->work->dtype]; s++) {
        double rounds = ceil(a->tiles * s / (units * a->held)) / s;
        splits = rounds < 0.9 * least ? s : splits;
        least = rounds < 0.9 * least ? rounds : least;
    }
    while (gemm->free_split_maximum[a->work->dtype] == 0 && 2 * a->tiles * splits <= units &&
           splits * 2 <= (double)gemm->split_maximum)
        splits *= 2;
    return splits;
}

static struct gemm_cut
oracle_quickest(const struct device *device, const struct gemm_work *work)
{
    struct gemm_cut best = {.seconds_s = INFINITY};
    const struct device_tiles *tiles = work->tiles ? work->tiles : &device->gemm.tiles;
    if (!work->tiles && device->gemm.dtype_tiles[work->dtype].count > 0)
        tiles = &device->gemm.dtype_tiles[work->dtype];
    for (int64_t i = 0; i < tiles->count; i++) {
        const struct device_tile *tile = &tiles->items[i];
        struct attempt attempt = {.device = device,
                                  .work = work,
                                  .m = tile->m,
                                  .n = tile->n,
                                  .depth = tile->depth_bytes / dtype_bytes(work->dtype),
                                  .splits = 1,
                                  .held = (double)device->gemm.resident_workgroups};
        if (tile->held > 0)
            attempt.held = tile->held;
        oracle_count(&attempt);
        struct gemm_cut whole = oracle_cut(&attempt);
        attempt.splits = oracle_splits(&attempt);
        struct gemm_cut parts = oracle_cut(&attempt);
        struct gemm_cut cut = parts.seconds_s < whole.seconds_s ? parts : whole;
        if (cut.seconds_s < best.seconds_s)
            best = cut;
    }
    return best;
}

/* ---- Against the search */

static const double exponents[] = {1, 1.5, 3, 10};
static const char *const files[] = {"mi300x", "h200"};
static const int64_t uneven_rows[] = {900, 300, 0, 848, 1, 257, 4096, 31};

/* Square, tall, wide, deep, shallow, tiny; batches, experts, triangles, a wide dtype. */
static const struct gemm_work works[] = {
    {.groups = 1, .m = 8192, .n = 8192, .k = 8192},
    {.groups = 1, .m = 4096, .n = 4096, .k = 4096},
    {.groups = 1, .m = 4097, .n = 4095, .k = 4000},
    {.groups = 1, .m = 2048, .n = 2048, .k = 2048},
    {.groups = 1, .m = 1000, .n = 1000, .k = 1000},
    {.groups = 1, .m = 256, .n = 256, .k = 256},
    {.groups = 1, .m = 64, .n = 64, .k = 64},
    {.groups = 1, .m = 1, .n = 1, .k = 1},
    {.groups = 1, .m = 1, .n = 8192, .k = 8192},
    {.groups = 1, .m = 16, .n = 4096, .k = 4096},
    {.groups = 1, .m = 8192, .n = 262272, .k = 2048},
    {.groups = 1, .m = 262272, .n = 2048, .k = 8192},
    {.groups = 1, .m = 8192, .n = 16, .k = 2048},
    {.groups = 1, .m = 128, .n = 128, .k = 65536},
    {.groups = 1, .m = 200, .n = 300, .k = 20000},
    {.groups = 1, .m = 512, .n = 512, .k = 16384},
    {.groups = 1, .m = 65536, .n = 4096, .k = 16},
    {.groups = 1, .m = 30000, .n = 30000, .k = 64},
    {.groups = 1, .m = 8192, .n = 1280, .k = 2048},
    {.groups = 1, .m = 8192, .n = 2048, .k = 1024},
    {.groups = 64, .m = 256, .n = 256, .k = 64},
    {.groups = 64, .m = 1024, .n = 1024, .k = 128},
    {.groups = 7, .m = 333, .n = 777, .k = 555},
    {.groups = 8, .rows = uneven_rows, .m = INFINITY, .n = 4096, .k = 2048},
    {.groups = 8, .rows = uneven_rows, .m = INFINITY, .n = 2048, .k = 2048},
    {.groups = 3, .rows = uneven_rows, .m = INFINITY, .n = 100, .k = 12000},
    {.groups = 1, .m = 2048, .n = 2048, .k = 4096, .is_triangle = true},
    {.groups = 1, .m = 2048, .n = 2048, .k = 2048, .is_triangle = true},
    {.groups = 1, .m = 16384, .n = 16384, .k = 512, .is_triangle = true},
    {.groups = 1, .m = 300, .n = 300, .k = 9000, .is_triangle = true},
    {.groups = 1, .m = 2048, .n = 2048, .k = 2048, .dtype = DTYPE_FP32},
    {.groups = 1, .m = 777, .n = 5000, .k = 3000, .dtype = DTYPE_FP32},
    {.groups = 1, .m = 300, .n = 400, .k = 9000, .dtype = DTYPE_FP32, .turned = 2},
    {.groups = 1, .m = 3000, .n = 2000, .k = 1000, .dtype = DTYPE_TF32, .turned = 1},
    {.groups = 1, .m = 30, .n = 2000, .k = 5000, .dtype = DTYPE_TF32, .turned = 2},
    {.groups = 1, .m = 4096, .n = 4096, .k = 4096, .dtype = DTYPE_FP8},
    {.groups = 1, .m = 100, .n = 4096, .k = 4096, .dtype = DTYPE_FP8, .rate_fraction = 0.6},
    {.groups = 1, .m = 100, .n = 512, .k = 6144, .dtype = DTYPE_FP8},
    {.groups = 1, .m = 5000, .n = 512, .k = 6144, .dtype = DTYPE_FP8, .clock_fraction = 1.1},
    {.groups = 1,
     .m = 4000,
     .n = 1000,
     .k = 3000,
     .a_pitch_bytes = 6000,
     .c_pitch_bytes = 2000},
    {.groups = 1, .m = 500, .n = 500, .k = 500, .b_pitch_bytes = 1000, .has_whole_k = true},
    {.groups = 8, .m = 500, .n = 4096, .k = 2048, .switch_s = 2e-6, .hbm_fraction = 0.7},
    {.groups = 1,
     .m = 3000,
     .n = 5120,
     .k = 12800,
     .a_pitch_bytes = 12800,
     .b_pitch_bytes = 12900,
     .c_pitch_bytes = 10240,
     .dtype = DTYPE_FP8},
};
enum { WORKS = sizeof works / sizeof works[0] };

static void
check_against_oracle(const struct device *device, const struct gemm_work *work)
{
    struct gemm_cut wanted = oracle_quickest(device, work);
    struct gemm_cut found = gemm_search_quickest(device, work);
    const char *const format = "%g x %g x %g, p = %g: %.15g s, wanted %.15g s";
    ck_assert_msg(fabs(found.seconds_s - wanted.seconds_s) <= 1e-12 * wanted.seconds_s, format,
                  work->m, work->n, work->k, device->gemm.overlap_exponent, found.seconds_s,
                  wanted.seconds_s);
    CHECK_NEAR(found.hbm_bytes, wanted.hbm_bytes, 1e-12);
    CHECK_NEAR(found.tiles, wanted.tiles, 1e-12);
    CHECK_NEAR(found.splits, wanted.splits, 0);
}

/* Loops over the devices. Memory as it is, and so slow that moving decides. */
START_TEST(no_tile_and_no_split_is_quicker)
{
    struct arena *arena = check_arena_new();
    const struct device *read = check_device_read(arena, files[_i]);
    for (int i = 0; i < 8 * WORKS; i++) {
        struct device device = *read;
        struct gemm_work work = works[i / 8];
        device.gemm.overlap_exponent = exponents[i % 4];
        if (i % 8 >= 4) {
            device.memory.hbm_read_bytes_per_s /= 8;
            device.memory.unit_bytes_per_s /= 3;
        }
        work.dtype = work.dtype == DTYPE_FP64 ? DTYPE_BF16 : work.dtype; /* unsaid */
        work.rate_fraction = work.rate_fraction > 0 ? work.rate_fraction : 1;
        work.hbm_fraction = work.hbm_fraction > 0 ? work.hbm_fraction : 1;
        if (device.gemm.boost_flop_per_s[work.dtype] > 0)
            check_against_oracle(&device, &work);
    }
    arena_free(arena);
}
END_TEST

/* ---- Against all cuts, priced by the same formulas: to the last bit, ties included */

static void
try_in_full(const struct gemm_setting *setting, const struct gemm_grid *grid,
            struct gemm_cut *cut, struct gemm_cut *best)
{
    gemm_cut_move(setting, grid, cut);
    gemm_cut_finish(setting, cut);
    if (cut->seconds_s < best->seconds_s)
        *best = *cut;
}

static struct gemm_cut
quickest_of_all(const struct device *device, const struct gemm_work *work)
{
    struct gemm_setting setting = gemm_setting_of(device, work);
    struct gemm_cut best = {.seconds_s = INFINITY}, cut;
    for (int64_t i = 0; i < setting.tiles->count; i++) {
        const struct device_tile *tile = &setting.tiles->items[i];
        struct gemm_grid grid = gemm_grid_of(&setting, tile, gemm_grid_down(work, tile));
        gemm_cut_in_rounds(&setting, &grid, 1, &cut);
        try_in_full(&setting, &grid, &cut, &best);
        gemm_cut_in_rounds(&setting, &grid, gemm_cut_splits(&setting, &grid), &cut);
        try_in_full(&setting, &grid, &cut, &best);
        if (setting.stream_k_s > 0) {
            gemm_cut_streamed(&setting, &grid, &cut);
            try_in_full(&setting, &grid, &cut, &best);
        }
    }
    return best;
}

/* Numbers from 0 to below 1 that repeat. */
static double
next_random(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(*seed >> 11) * 0x1p-53;
}

/* From 1 to 40,000, as many of each order; a half of them whole tiles or powers of two, of which
 * more ways to cut tie. */
static double
random_side(uint64_t *seed)
{
    double side = ceil(exp(next_random(seed) * log(40000))), kind = next_random(seed);
    if (kind < 0.25)
        return ceil(side / 64) * 64;
    return kind < 0.5 ? exp2(floor(log2(side))) : side;
}

enum { MOST_GROUPS = 20 };

static struct gemm_work
random_work(uint64_t *seed, enum dtype dtype, int64_t rows[MOST_GROUPS])
{
    struct gemm_work work = {.groups = 1,
                             .m = random_side(seed),
                             .k = random_side(seed),
                             .dtype = dtype,
                             .turned = (int)(next_random(seed) * 3),
                             .has_whole_k = next_random(seed) < 0.2,
                             .rate_fraction = 1,
                             .hbm_fraction = 1};
    double kind = next_random(seed), bytes = dtype_bytes(dtype);
    work.is_triangle = kind < 0.1;
    work.n = kind < 0.3 ? work.m : random_side(seed);
    work.a_pitch_bytes = work.k * bytes;
    work.c_pitch_bytes = work.n * bytes;
    if (kind > 0.7)
        work.groups = 1 + (int64_t)(next_random(seed) * MOST_GROUPS);
    if (kind > 0.85) {
        work.m = INFINITY;
        work.rows = rows;
        work.switch_s = 1e-6;
        for (int64_t i = 0; i < work.groups; i++)
            rows[i] = i == 0 || next_random(seed) < 0.7 ? (int64_t)random_side(seed) : 0;
    }
    return work;
}

/* As read, and with what no device file says of every type: streams, free parts, slow memory,
 * a power limit that hides what the units take. */
static void
vary(struct device *device, enum dtype dtype, uint64_t *seed)
{
    if (next_random(seed) < 0.3)
        device->gemm.stream_k_s[dtype] = 1e-6;
    if (next_random(seed) < 0.2)
        device->gemm.free_split_maximum[dtype] = 16;
    if (next_random(seed) < 0.2)
        device->memory.unit_bytes_per_s /= 20;
    if (next_random(seed) < 0.2)
        device->gemm.sustained_flop_per_s[dtype] /= 10;
    if (next_random(seed) < 0.2)
        device->gemm.resident_workgroups = 1 + (int64_t)(next_random(seed) * 4);
    if (next_random(seed) < 0.3)
        device->gemm.overlap_exponent = exponents[(int)(next_random(seed) * 4)];
}

static const char *const all_files[] = {"a100-80gb", "cpu-core", "h100-500w", "h100-sxm",
                                        "h200",      "mi300x",   "mi325x"};

/* Loops over the devices. */
START_TEST(what_wins_is_what_wins_were_all_priced)
{
    struct arena *arena = check_arena_new();
    const struct device *read = check_device_read(arena, all_files[_i]);
    uint64_t seed = 42 + (uint64_t)_i;
    for (int i = 0; i < 7000; i++) {
        enum dtype dtype = (enum dtype)(i % DTYPE_COUNT);
        if (read->gemm.sustained_flop_per_s[dtype] == 0)
            continue;
        struct device device = *read;
        if (i % 2)
            vary(&device, dtype, &seed);
        int64_t rows[MOST_GROUPS];
        struct gemm_work work = random_work(&seed, dtype, rows);
        struct gemm_cut wanted = quickest_of_all(&device, &work);
        struct gemm_cut found = gemm_search_quickest(&device, &work);
        CHECK_OFTEN(found.seconds_s == wanted.seconds_s && found.issue_s == wanted.issue_s);
        CHECK_OFTEN(found.memory_s == wanted.memory_s && found.hbm_bytes == wanted.hbm_bytes);
        CHECK_OFTEN(found.tile_m == wanted.tile_m && found.tile_n == wanted.tile_n);
        CHECK_OFTEN(found.splits == wanted.splits && found.is_streamed == wanted.is_streamed);
    }
    arena_free(arena);
}
END_TEST

Suite *
gemm_search_suite(void)
{
    Suite *suite = suite_create("gemm_search");
    TCase *tests = tcase_create("against every cut");
    tcase_add_loop_test(tests, no_tile_and_no_split_is_quicker, 0,
                        sizeof files / sizeof files[0]);
    tcase_add_loop_test(tests, what_wins_is_what_wins_were_all_priced, 0,
                        sizeof all_files / sizeof all_files[0]);
    suite_add_tcase(suite, tests);
    return suite;
}
