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
 * while the memory levels deliver what all of them together have not yet seen. A tile's steps are
 * in gemm_grid.h, rounds and bytes here; the library is taken to choose the quickest of the device
 * file's tiles and splits of k (gemm_search.c). */
#include "hw/gemm_cut.h"

#include <math.h>

/* More parts are worth it that spare a tenth of the rounds (assumed). */
static const double EVEN_ENOUGH = 0.9;

/* k in the fewest parts by which units do least in all rounds, of up to so many. */
static double
even_splits(const struct gemm_setting *setting, const struct gemm_grid *grid,
            double most_splits)
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

double
gemm_cut_splits(const struct gemm_setting *setting, const struct gemm_grid *grid)
{
    double free_most = setting->free_split_maximum;
    return free_most > 0 ? even_splits(setting, grid, free_most)
                         : gemm_grid_idle_splits(setting, grid);
}

static void
begin(const struct gemm_grid *grid, double splits, bool is_streamed, struct gemm_cut *cut)
{
    cut->tiles = grid->tiles;
    cut->tile_m = grid->m;
    cut->tile_n = grid->n;
    cut->splits = splits;
    cut->is_streamed = is_streamed;
    cut->workgroups = grid->tiles * splits;
}

/* One step of the k loop of `held` workgroups of a unit, at the boost clock: book-keeping is
 * hidden behind the other workgroups' work. */
static double
step_s(const struct gemm_grid *grid, double held)
{
    return held > 0 ? most(held * grid->work_s, grid->alone_s) : 0;
}

/* What the units take to issue all rounds, as many at once as a unit holds, then the rest. In the
 * first all begin together, so that units without a workgroup in the last one wait for it; round by
 * round they drift apart, until whoever is free takes the others' work: of the last round only the
 * share of its units counts, and one workgroup stores while another of its unit multiplies. */
void
gemm_cut_in_rounds(const struct gemm_setting *setting, const struct gemm_grid *grid,
                   double splits, struct gemm_cut *cut)
{
    begin(grid, splits, false, cut);
    double steps = whole(setting->work->k / (splits * grid->depth));
    double rounds = cut->workgroups / setting->units, held = grid->held;
    cut->rounds = whole(rounds);
    double drifted = gemm_grid_drifted(setting, cut->rounds);
    double together = held == 1 ? cut->rounds : whole_down(cut->rounds / held);
    double rest = cut->rounds - together * held;
    double fills = together + (rest > 0 ? 1 : 0);
    double one_s = together * step_s(grid, held) + step_s(grid, rest);
    if (cut->rounds > rounds && cut->rounds > 1) {
        double last = rest > 0 ? rest : held;
        double spared = (cut->rounds - rounds) * drifted;
        one_s -= spared * (step_s(grid, last) - step_s(grid, last - 1));
        fills -= last == 1 ? spared : 0;
    }
    cut->steps_s = steps * one_s;
    bool is_split = splits > 1;
    double fill_s = is_split ? grid->part_fill_s : grid->fill_s;
    cut->issue_s =
        cut->steps_s + fills * fill_s * (1 - setting->hidden_fill_fraction * drifted);
    cut->issue_s += is_split ? setting->split_s : 0;
    cut->issue_s += least(cut->rounds, setting->products) * setting->work->switch_s;
}

/* Stream-K (Osama et al., arXiv:2301.03598): every unit walks the same number of steps, through
 * the end of one tile and the beginning of the next; a tile that two walk meets again. */
void
gemm_cut_streamed(const struct gemm_setting *setting, const struct gemm_grid *grid,
                  struct gemm_cut *cut)
{
    begin(grid, 1, true, cut);
    double steps = grid->tiles * whole(setting->work->k / grid->depth);
    cut->workgroups = least(setting->units, steps);
    cut->rounds = 1;
    cut->steps_s = whole(steps / setting->units) * step_s(grid, 1);
    double fills = whole(grid->tiles / setting->units) + 1;
    cut->issue_s = cut->steps_s + fills * grid->fill_s + setting->stream_k_s;
}

/* Bytes of A and B that `tiles` neighbouring tiles read together: they lie in a block as nearly
 * square as the grid allows, r tiles down and c across, and need r m rows of A, c n columns of
 * B. */
static double
block_bytes(const struct gemm_setting *setting, const struct gemm_grid *grid, double tiles)
{
    double down = grid->down / setting->products, one = down * grid->across; /* product */
    double inside = least(tiles, one);
    double r = most(1, least(down, sqrt(inside * grid->n / grid->m)));
    double c = least(grid->across, inside / r);
    r = least(down, inside / c);
    double lines = r * grid->m + least(c * grid->n, setting->work->n);
    return most(1, tiles / one) * lines * setting->work->k * setting->element_bytes;
}

/* Bytes of A and B that pass a level whose tiles share loads `sharing` at a time: each once if
 * both stay in `capacity_bytes`, else once a block. */
static double
level_bytes(const struct gemm_setting *setting, const struct gemm_grid *grid, double sharing,
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
partial_bytes(const struct gemm_setting *setting, const struct gemm_grid *grid,
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
void
gemm_cut_move(const struct gemm_setting *setting, const struct gemm_grid *grid,
              struct gemm_cut *cut)
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

void
gemm_cut_finish(const struct gemm_setting *setting, struct gemm_cut *cut)
{
    cut->units_s = norm_s(&setting->power, cut->issue_s, setting->power_s);
    cut->seconds_s =
        setting->device->gemm.launch_s + norm_s(&setting->overlap, cut->units_s, cut->memory_s);
}
