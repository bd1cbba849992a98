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
#include "hw/gemm_cut.h"

#include <assert.h>
#include <math.h>

#include "hw/gemm_math.h"

/* The same for every tile tried; rates as seconds: a million prices a second leave 20 ns a cut. */
struct setting {
    const struct device *device;
    const struct gemm_work *work;
    double units;
    double products; /* with at least one row */
    double rows;     /* of all */
    double element_bytes, result_bytes;
    double operand_bytes, c_bytes; /* A and B, C: each once */
    double boost_s_per_flop;       /* of one unit, operands turned */
    /* Of one unit; add: storing a part of k. */
    double a_s_per_byte, b_s_per_byte, store_s_per_byte, add_s_per_byte;
    double step_s, tile_s, split_s, exposed_fraction, power_s; /* power: at least, of all */
    struct norm power, overlap;
    const struct device_tiles *tiles;
    double read_s_per_byte; /* from HBM */
    double c_s;             /* writing C to HBM */
    double least_memory_s;  /* operands once, C once */
};

/* A tile of the grid, whatever k's parts. */
struct grid {
    double m, n, depth; /* of the tile, in elements */
    double rows, cols;  /* tiles down one product (mean) and across */
    double tiles;       /* of all products */
    double held;        /* of them, by one unit */
    /* Of one step: multiplying and loading, which overlap all but a part; with book-keeping. */
    double work_s, alone_s;
    double fill_s, part_fill_s; /* filling and storing, once per resident wave; a part of k */
};

static void
count_rows(struct setting *setting)
{
    const struct gemm_work *work = setting->work;
    if (!work->rows) {
        setting->products = (double)work->groups;
        setting->rows = work->m * setting->products;
        return;
    }
    for (int64_t i = 0; i < work->groups; i++) {
        setting->products += work->rows[i] > 0;
        setting->rows += (double)work->rows[i];
    }
}

/* Of a symmetric product B is A again. Results of 8-bit products are written in 16 bits (bf16),
 * others in their own type. */
static void
count_bytes(struct setting *setting)
{
    const struct gemm_work *work = setting->work;
    setting->element_bytes = dtype_bytes(work->dtype);
    setting->result_bytes = most(setting->element_bytes, 2);
    double a_columns = setting->rows, b_columns = setting->products * work->n;
    setting->operand_bytes =
        (a_columns + (work->is_triangle ? 0 : b_columns)) * work->k * setting->element_bytes;
    setting->c_bytes = setting->rows * work->n * setting->result_bytes;
}

/* Of the results that are kept; padding up to whole tiles draws next to no power. */
static double
work_flop(const struct setting *setting)
{
    const struct gemm_work *work = setting->work;
    double flop = 2 * setting->rows * work->n * work->k;
    return work->is_triangle ? flop / 2 : flop;
}

/* Cache lines of both vendors' devices (AMD CDNA 3 architecture white paper; NVIDIA H100
 * architecture white paper). */
static const double LINE_BYTES = 128;

/* What storing rows takes for the distance between them: one that does not begin with a line
 * touches one more. */
static double
pitch_ratio(const struct device_gemm *gemm, double pitch_bytes)
{
    return fmod(pitch_bytes, LINE_BYTES) == 0 ? 1 : 1 + gemm->unaligned_fraction;
}

/* The same of loading, for which rows may lie on too few of the channels of memory. */
static double
load_pitch_ratio(const struct device_gemm *gemm, enum dtype dtype, double pitch_bytes)
{
    double crowded_fraction = gemm->crowded_fraction[dtype];
    bool is_crowded = crowded_fraction > 0 && pitch_bytes > 0 &&
                      fmod(pitch_bytes, gemm->crowded_pitch_bytes) == 0;
    return is_crowded ? 1 + crowded_fraction : pitch_ratio(gemm, pitch_bytes);
}

static const struct device_tiles *
tiles_of(const struct device_gemm *gemm, const struct gemm_work *work)
{
    if (work->tiles)
        return work->tiles;
    const struct device_tiles *tiles = &gemm->dtype_tiles[work->dtype];
    return tiles->count > 0 ? tiles : &gemm->tiles;
}

/* What a data type or the work has of its own, or what all have. */
static double
own_or(double own, double all)
{
    return own > 0 ? own : all;
}

static struct setting
setting_of(const struct device *device, const struct gemm_work *work)
{
    const struct device_memory *memory = &device->memory;
    const struct device_gemm *gemm = &device->gemm;
    struct setting setting = {
        .device = device, .work = work, .units = (double)device->compute_units};
    count_rows(&setting);
    count_bytes(&setting);
    double share = work->rate_fraction;
    setting.boost_s_per_flop = setting.units / (gemm->boost_flop_per_s[work->dtype] * share);
    if (work->turned > 0)
        setting.boost_s_per_flop *= 1 + gemm->turned_fraction[work->dtype];
    if (work->turned > 1)
        setting.boost_s_per_flop *= 1 + gemm->rewritten_fraction[work->dtype];
    setting.power_s =
        work_flop(&setting) / share /
        own_or(work->sustained_flop_per_s, gemm->sustained_flop_per_s[work->dtype]);
    double walk_bytes = work->k * setting.element_bytes;
    double load_s_per_byte =
        setting.units /
        own_or(gemm->dtype_load_bytes_per_s[work->dtype], memory->l2_bytes_per_s) *
        (1 + walk_bytes * gemm->stray_per_byte[work->dtype]);
    setting.a_s_per_byte =
        load_s_per_byte * load_pitch_ratio(gemm, work->dtype, work->a_pitch_bytes);
    setting.b_s_per_byte =
        load_s_per_byte * load_pitch_ratio(gemm, work->dtype, work->b_pitch_bytes);
    double store_bytes_per_s =
        own_or(gemm->dtype_store_bytes_per_s[work->dtype], gemm->store_bytes_per_s);
    double c_ratio = pitch_ratio(gemm, work->c_pitch_bytes);
    setting.store_s_per_byte = c_ratio / store_bytes_per_s;
    setting.add_s_per_byte =
        c_ratio / own_or(gemm->dtype_add_bytes_per_s[work->dtype], store_bytes_per_s);
    setting.step_s = gemm->step_s[work->dtype];
    setting.tile_s = own_or(gemm->dtype_tile_s[work->dtype], gemm->tile_s);
    setting.split_s = own_or(gemm->dtype_split_s[work->dtype], gemm->split_s);
    setting.exposed_fraction =
        own_or(gemm->dtype_exposed_fraction[work->dtype], gemm->exposed_fraction);
    setting.tiles = tiles_of(gemm, work);
    setting.c_s = setting.c_bytes / memory->hbm_write_bytes_per_s;
    setting.read_s_per_byte = 1 / (memory->hbm_read_bytes_per_s * work->hbm_fraction);
    double least_hbm_s = setting.operand_bytes * setting.read_s_per_byte + setting.c_s;
    setting.least_memory_s = least_hbm_s + least(least_hbm_s, gemm->hbm_ramp_s);
    setting.power = norm_new(gemm->power_exponent);
    setting.overlap = norm_new(gemm->overlap_exponent);
    return setting;
}

/* Tiles down all products. */
static double
row_tiles(const struct gemm_work *work, double tile_m)
{
    if (!work->rows)
        return (double)work->groups * whole(work->m / tile_m);
    double tiles = 0;
    for (int64_t i = 0; i < work->groups; i++)
        tiles += whole((double)work->rows[i] / tile_m);
    return tiles;
}

/* Of a symmetric result the half of the tiles, and half of the longer side's for the diagonal. */
static double
triangle_tiles(double rows, double cols)
{
    return (rows * cols + most(rows, cols)) / 2;
}

/* Of a tile's side past the product's, what loading still takes: filling with zeros. */
static double
loaded_side(const struct setting *setting, double tile_side, double side)
{
    double inside = least(tile_side, side);
    return inside + setting->device->gemm.edge_fill_fraction * (tile_side - inside);
}

/* Stores are clipped at the result's edge, multiplications are not. */
static struct grid
grid_of(const struct setting *setting, const struct device_tile *tile)
{
    const struct gemm_work *work = setting->work;
    struct grid grid = {
        .m = (double)tile->m,
        .n = (double)tile->n,
        .depth = (double)tile->depth_bytes / setting->element_bytes,
        .held =
            (double)(tile->held > 0 ? tile->held : setting->device->gemm.resident_workgroups)};
    double down = row_tiles(work, grid.m);
    double m = least(grid.m, work->m), n = least(grid.n, work->n);
    grid.rows = down / setting->products;
    grid.cols = whole(work->n / grid.n);
    grid.tiles = work->is_triangle ? triangle_tiles(down, grid.cols) : down * grid.cols;
    double multiply_s = 2 * grid.m * grid.n * grid.depth * setting->boost_s_per_flop;
    double load_s = (loaded_side(setting, grid.m, work->m) * setting->a_s_per_byte +
                     loaded_side(setting, grid.n, work->n) * setting->b_s_per_byte) *
                    (double)tile->depth_bytes;
    grid.work_s =
        most(multiply_s, load_s) + setting->exposed_fraction * least(multiply_s, load_s);
    grid.alone_s = grid.work_s + setting->step_s;
    double result_bytes = m * n * setting->result_bytes;
    grid.fill_s = setting->tile_s + result_bytes * setting->store_s_per_byte;
    grid.part_fill_s = setting->tile_s + result_bytes * setting->add_s_per_byte;
    return grid;
}

/* One step of the k loop of `held` workgroups of a unit, at the boost clock: book-keeping is
 * hidden behind the other workgroups' work. */
static double
step_s(const struct grid *grid, double held)
{
    return held > 0 ? most(held * grid->work_s, grid->alone_s) : 0;
}

/* A cut whose units are priced; its memory is looked at only if it may still win. */
struct candidate {
    const struct grid *grid;
    double splits; /* these as in struct gemm_cut */
    bool is_streamed;
    double workgroups, rounds, units_s, steps_s;
    double least_s; /* what it takes at least, without the launch */
};

/* Stream-K (Osama et al., arXiv:2301.03598): every unit walks the same number of steps, through
 * the end of one tile and the beginning of the next; a tile that two walk meets again. */
static void
price_stream(const struct setting *setting, const struct grid *grid, struct candidate *cut)
{
    const struct device_gemm *gemm = &setting->device->gemm;
    double steps = grid->tiles * whole(setting->work->k / grid->depth);
    cut->workgroups = least(setting->units, steps);
    cut->rounds = 1;
    cut->steps_s = whole(steps / setting->units) * step_s(grid, 1);
    double fills = whole(grid->tiles / setting->units) + 1;
    cut->units_s = cut->steps_s + fills * grid->fill_s + gemm->stream_k_s[setting->work->dtype];
}

/* What the units take to issue all rounds, as many at once as a unit holds, then the rest. In the
 * first all begin together, so that units without a workgroup in the last one wait for it; round by
 * round they drift apart, until whoever is free takes the others' work: of the last round only the
 * share of its units counts. */
static void
price_rounds(const struct setting *setting, const struct grid *grid, struct candidate *cut)
{
    const struct device_gemm *gemm = &setting->device->gemm;
    double steps = whole(setting->work->k / (cut->splits * grid->depth));
    double rounds = cut->workgroups / setting->units, held = grid->held;
    cut->rounds = whole(rounds);
    double together = held == 1 ? cut->rounds : whole_down(cut->rounds / held);
    double rest = cut->rounds - together * held;
    double fills = together + (rest > 0 ? 1 : 0);
    double one_s = together * step_s(grid, held) + step_s(grid, rest);
    if (cut->rounds > rounds && cut->rounds > 1) {
        double last = rest > 0 ? rest : held, before = cut->rounds - 1;
        double spared = (cut->rounds - rounds) * before / (before + gemm->drift_rounds);
        one_s -= spared * (step_s(grid, last) - step_s(grid, last - 1));
        fills -= last == 1 ? spared : 0;
    }
    cut->steps_s = steps * one_s;
    bool is_split = cut->splits > 1;
    cut->units_s = cut->steps_s + fills * (is_split ? grid->part_fill_s : grid->fill_s);
    cut->units_s += is_split ? setting->split_s : 0;
    cut->units_s += least(cut->rounds, setting->products) * setting->work->switch_s;
}

/* Bytes of A and B that `tiles` neighbouring tiles read together: they lie in a block as nearly
 * square as the grid allows, r tiles down and c across, and need r m rows of A, c n columns of
 * B. */
static double
block_bytes(const struct setting *setting, const struct grid *grid, double tiles)
{
    double one = grid->rows * grid->cols; /* product's tiles */
    double inside = least(tiles, one);
    double r = most(1, least(grid->rows, sqrt(inside * grid->n / grid->m)));
    double c = least(grid->cols, inside / r);
    r = least(grid->rows, inside / c);
    double lines = r * grid->m + least(c * grid->n, setting->work->n);
    return most(1, tiles / one) * lines * setting->work->k * setting->element_bytes;
}

/* Bytes of A and B that pass a level whose tiles share loads `sharing` at a time: each once if
 * both stay in `capacity_bytes`, else once a block. */
static double
level_bytes(const struct setting *setting, const struct grid *grid, double sharing,
            double capacity_bytes)
{
    double once = setting->operand_bytes;
    if (once <= capacity_bytes)
        return once;
    double block = least(sharing, grid->tiles);
    return most(once, grid->tiles / block * block_bytes(setting, grid, block));
}

/* Partial results are written and read in fp32: of a split the whole result for each part, of
 * stream-K the tile that a unit ends in the middle of. */
static double
partial_bytes(const struct setting *setting, const struct grid *grid,
              const struct gemm_cut *cut)
{
    if (cut->is_streamed)
        return 2 * cut->workgroups * grid->m * grid->n * dtype_bytes(DTYPE_FP32);
    if (cut->splits == 1)
        return 0;
    return 2 * cut->splits * setting->rows * setting->work->n * dtype_bytes(DTYPE_FP32);
}

/* The slowest of: HBM, what all units draw from beyond L2, the last level. Chiplets' L2s hold
 * copies of each other's lines, so that none counts as holding all. */
static void
price_memory(const struct setting *setting, const struct grid *grid, struct gemm_cut *cut)
{
    const struct device_memory *memory = &setting->device->memory;
    bool has_last_level = memory->last_level_bytes > 0;
    double domains = (double)memory->l2_domains;
    double beyond_l2 = level_bytes(setting, grid, setting->units / domains,
                                   domains > 1 ? 0 : memory->l2_bytes);
    double read = has_last_level || domains > 1
                      ? level_bytes(setting, grid, setting->units,
                                    most(memory->last_level_bytes, memory->l2_bytes))
                      : beyond_l2;
    beyond_l2 += setting->c_bytes + partial_bytes(setting, grid, cut);
    cut->hbm_bytes = read + setting->c_bytes;
    cut->hbm_s = read * setting->read_s_per_byte + setting->c_s;
    double ramped_s = cut->hbm_s + least(cut->hbm_s, setting->device->gemm.hbm_ramp_s);
    double drawing = least(setting->units, cut->workgroups);
    double cache_s = beyond_l2 / (drawing * memory->unit_bytes_per_s);
    if (has_last_level)
        cache_s = most(cache_s, beyond_l2 / memory->last_level_bytes_per_s);
    cut->is_cache_bound = cache_s > ramped_s;
    cut->memory_s = most(ramped_s, cache_s);
}

/* More parts are worth it that spare a tenth of the rounds (assumed). */
static const double EVEN_ENOUGH = 0.9;

/* k in the fewest parts by which units do least in all rounds, of up to so many. */
static double
even_splits(const struct setting *setting, const struct grid *grid, double most_splits)
{
    double places = setting->units * grid->held, best = 1, least_rounds = INFINITY;
    for (int i = 1; i <= (int)most_splits; i++) {
        double splits = i;
        double rounds = whole(grid->tiles * splits / places) / splits;
        if (rounds < EVEN_ENOUGH * least_rounds) {
            least_rounds = rounds;
            best = splits;
        }
    }
    return best;
}

/* k in as many parts, a power of two, as units are idle. */
static double
useful_splits(const struct setting *setting, const struct grid *grid)
{
    double splits = 1, most_splits = (double)setting->device->gemm.split_maximum;
    if (setting->work->has_whole_k)
        return 1;
    double free_most = setting->device->gemm.free_split_maximum[setting->work->dtype];
    if (free_most > 0)
        return even_splits(setting, grid, free_most);
    while (2 * grid->tiles * splits <= setting->units && 2 * splits <= most_splits)
        splits *= 2;
    return splits;
}

/* Prices the candidate and keeps it if it is quicker than the best. */
static void
keep_quicker(const struct setting *setting, const struct candidate *candidate,
             struct gemm_cut *best)
{
    double launch_s = setting->device->gemm.launch_s, to_beat_s = best->seconds_s - launch_s;
    const struct grid *grid = candidate->grid;
    struct gemm_cut cut = {.tiles = grid->tiles,
                           .tile_m = grid->m,
                           .tile_n = grid->n,
                           .splits = candidate->splits,
                           .is_streamed = candidate->is_streamed,
                           .workgroups = candidate->workgroups,
                           .rounds = candidate->rounds,
                           .units_s = candidate->units_s,
                           .steps_s = candidate->steps_s};
    price_memory(setting, grid, &cut);
    if (norm_least_s(&setting->overlap, most(cut.units_s, setting->power_s), cut.memory_s) >=
        to_beat_s)
        return;
    cut.units_s = norm_s(&setting->power, cut.units_s, setting->power_s);
    cut.seconds_s = launch_s + norm_s(&setting->overlap, cut.units_s, cut.memory_s);
    if (cut.seconds_s < best->seconds_s)
        *best = cut;
}

/* All that the library chooses from: of each tile k whole, in parts where units are idle, and
 * streamed where it can. */
struct choice {
    struct grid grids[DEVICE_TILES_MAX];
    struct candidate candidates[3 * DEVICE_TILES_MAX];
    int count, most_promising;
};

static void
choice_add(struct choice *choice, const struct setting *setting, const struct grid *grid,
           double splits, bool is_streamed)
{
    int i = choice->count++;
    struct candidate *candidate = &choice->candidates[i];
    candidate->grid = grid;
    candidate->splits = splits;
    candidate->is_streamed = is_streamed;
    candidate->workgroups = grid->tiles * splits;
    if (is_streamed)
        price_stream(setting, grid, candidate);
    else
        price_rounds(setting, grid, candidate);
    double compute_s = norm_least_s(&setting->power, candidate->units_s, setting->power_s);
    candidate->least_s = norm_least_s(&setting->overlap, compute_s, setting->least_memory_s);
    if (candidate->least_s < choice->candidates[choice->most_promising].least_s)
        choice->most_promising = i;
}

static void
choice_add_tile(struct choice *choice, const struct setting *setting, int tile)
{
    struct grid *grid = &choice->grids[tile];
    *grid = grid_of(setting, &setting->tiles->items[tile]);
    choice_add(choice, setting, grid, 1, false);
    double splits = useful_splits(setting, grid);
    if (splits > 1)
        choice_add(choice, setting, grid, splits, false);
    if (setting->device->gemm.stream_k_s[setting->work->dtype] > 0 &&
        !setting->work->has_whole_k)
        choice_add(choice, setting, grid, 1, true);
}

/* The most promising is priced first, so that few others need more than a look. */
struct gemm_cut
gemm_cut_quickest(const struct device *device, const struct gemm_work *work)
{
    struct setting setting = setting_of(device, work);
    struct choice choice;
    choice.count = choice.most_promising = 0;
    assert(setting.tiles->count > 0);
    for (int i = 0; i < (int)setting.tiles->count; i++)
        choice_add_tile(&choice, &setting, i);
    struct gemm_cut best = {.seconds_s = INFINITY};
    keep_quicker(&setting, &choice.candidates[choice.most_promising], &best);
    for (int i = 0; i < choice.count; i++)
        if (choice.candidates[i].least_s < best.seconds_s - device->gemm.launch_s)
            keep_quicker(&setting, &choice.candidates[i], &best);
    return best;
}
