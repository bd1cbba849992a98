/* The quickest cut without pricing all: every one is looked at, few are priced.
 *
 *     look    what the units take at least, of each tile and each way to walk down k: the bounds
 *     price   the most promising, nearly always the quickest
 *     skip    all whose units alone take too long, and price what is left
 *
 * What wins is what would win were all priced (hw/gemm_search_test.c): the formulas of gemm_cut.c
 * decide, bounds only save their work. */
#include "hw/gemm_search.h"

#include <assert.h>
#include <math.h>

enum walk { WALK_WHOLE, WALK_PARTS, WALK_STREAMED, WALKS };

/* ---- Looking */

struct bounds {
    double down[DEVICE_TILES_MAX];           /* of each tile, gemm_grid_down */
    double issue_s[WALKS][DEVICE_TILES_MAX]; /* at least; INFINITY: not to be had */
    double least_s[DEVICE_TILES_MAX];        /* the least of the walks */
};

/* What issuing takes at least, k in so many parts: of the last round what drifting does not spare,
 * each round its work, and each wave of as many as a unit holds what one workgroup takes alone. So
 * much gemm_cut_in_rounds has where a unit holds one at a time or one round is all, else more. */
static inline double
least_issue_s(const struct gemm_setting *setting, const struct gemm_grid *grid, double splits,
              double fill_s)
{
    double steps = whole(setting->work->k / (splits * grid->depth));
    double share = grid->tiles * splits / setting->units, count = whole(share);
    double drifted = gemm_grid_drifted(setting, count);
    double rounds = count - (count - share) * drifted, waves = most(1, rounds / grid->held);
    return steps * most(rounds * grid->work_s, waves * grid->alone_s) +
           waves * fill_s * (1 - setting->hidden_fill_fraction * drifted);
}

/* The same of parts for idle units, which one round holds. */
static inline double
least_parts_s(const struct gemm_setting *setting, const struct gemm_grid *grid, double splits)
{
    double steps = whole(setting->work->k / (splits * grid->depth));
    double issue_s = steps * grid->alone_s + grid->part_fill_s + setting->split_s;
    return splits > 1 ? issue_s : HUGE_VAL;
}

/* The second loop calls nothing and goes one way, so that compilers take two tiles at once. */
static void
look_at_rounds(const struct gemm_setting *setting, struct bounds *restrict bounds)
{
    const struct device_tile *tiles = setting->tiles->items;
    int count = (int)setting->tiles->count;
    for (int i = 0; i < count; i++)
        bounds->down[i] = gemm_grid_down(setting->work, &tiles[i]);
    for (int i = 0; i < count; i++) {
        struct gemm_grid grid = gemm_grid_of(setting, &tiles[i], bounds->down[i]);
        double splits = gemm_grid_idle_splits(setting, &grid);
        double whole_s = least_issue_s(setting, &grid, 1, grid.fill_s);
        double parts_s = least_parts_s(setting, &grid, splits);
        bounds->issue_s[WALK_WHOLE][i] = whole_s;
        bounds->issue_s[WALK_PARTS][i] = parts_s;
        bounds->issue_s[WALK_STREAMED][i] = INFINITY;
        bounds->least_s[i] = least(whole_s, parts_s);
    }
}

/* The walks of few libraries: k in any number of parts, stream-K. */
static void
look_at_others(const struct gemm_setting *setting, struct bounds *bounds)
{
    for (int i = 0; i < (int)setting->tiles->count; i++) {
        struct gemm_grid grid =
            gemm_grid_of(setting, &setting->tiles->items[i], bounds->down[i]);
        double splits = gemm_cut_splits(setting, &grid);
        double parts_s = least_issue_s(setting, &grid, splits, grid.part_fill_s);
        double least_s = splits > 1 ? parts_s + setting->split_s : HUGE_VAL;
        bounds->issue_s[WALK_PARTS][i] = least_s;
        if (setting->stream_k_s > 0) {
            struct gemm_cut cut;
            gemm_cut_streamed(setting, &grid, &cut);
            bounds->issue_s[WALK_STREAMED][i] = cut.issue_s;
            least_s = least(least_s, cut.issue_s);
        }
        bounds->least_s[i] = least(least_s, bounds->issue_s[WALK_WHOLE][i]);
    }
}

static int
most_promising(const struct bounds *bounds, int count)
{
    int tile = 0;
    for (int i = 1; i < count; i++)
        tile = bounds->least_s[i] < bounds->least_s[tile] ? i : tile;
    return tile;
}

/* ---- Pricing */

/* A cut's time is, beside the launch, the norm of memory and the norm of issuing and power. The
 * plane that touches it at the best cut lies under it everywhere: what is over the best's time on
 * the plane is slower. */
struct search {
    const struct gemm_setting *setting;
    const struct bounds *bounds;
    struct gemm_cut best;
    int best_place; /* in the order of gemm_search_quickest */
    double issue_slope, memory_slope;
    double limit_s;       /* of slopes times times; the power's is taken off */
    double issue_limit_s; /* of issuing, were memory's the least */
};

/* What planes and bounds may be off by, rounded: a few parts in 2^53. */
static const double ROUNDING = 1 + 0x1p-40;

static void
keep(struct search *search, const struct gemm_cut *cut, int place)
{
    const struct gemm_setting *setting = search->setting;
    double launch_s = setting->device->gemm.launch_s;
    struct norm_slopes power =
        norm_slopes_of(&setting->power, cut->issue_s, setting->power_s, cut->units_s);
    struct norm_slopes overlap = norm_slopes_of(&setting->overlap, cut->units_s, cut->memory_s,
                                                cut->seconds_s - launch_s);
    search->best = *cut;
    search->best_place = place;
    search->issue_slope = overlap.a * power.a;
    search->memory_slope = overlap.b;
    search->limit_s =
        cut->seconds_s * ROUNDING - launch_s - overlap.a * power.b * setting->power_s;
    search->issue_limit_s = (search->limit_s - search->memory_slope * setting->least_memory_s) /
                            search->issue_slope;
}

/* Asked before its last step, which takes powers. */
static bool
may_win(const struct search *search, const struct gemm_cut *cut)
{
    return search->issue_slope * cut->issue_s + search->memory_slope * cut->memory_s <
           search->limit_s;
}

static bool
is_quicker(const struct search *search, const struct gemm_cut *cut, int place)
{
    double best_s = search->best.seconds_s;
    return cut->seconds_s < best_s || (cut->seconds_s == best_s && place < search->best_place);
}

static void
try_walk(struct search *search, int tile, enum walk walk)
{
    const struct gemm_setting *setting = search->setting;
    const struct bounds *bounds = search->bounds;
    int place = tile * WALKS + (int)walk;
    if (bounds->issue_s[walk][tile] >= search->issue_limit_s)
        return;
    struct gemm_grid grid =
        gemm_grid_of(setting, &setting->tiles->items[tile], bounds->down[tile]);
    double splits = walk == WALK_PARTS ? gemm_cut_splits(setting, &grid) : 1;
    struct gemm_cut cut;
    if (walk == WALK_STREAMED)
        gemm_cut_streamed(setting, &grid, &cut);
    else
        gemm_cut_in_rounds(setting, &grid, splits, &cut);
    if (cut.issue_s >= search->issue_limit_s)
        return;
    gemm_cut_move(setting, &grid, &cut);
    if (!may_win(search, &cut))
        return;
    gemm_cut_finish(setting, &cut);
    if (is_quicker(search, &cut, place))
        keep(search, &cut, place);
}

static void
try_tile(struct search *search, int tile)
{
    const struct bounds *bounds = search->bounds;
    bool is_whole_last = bounds->issue_s[WALK_PARTS][tile] < bounds->issue_s[WALK_WHOLE][tile];
    try_walk(search, tile, is_whole_last ? WALK_PARTS : WALK_WHOLE);
    try_walk(search, tile, is_whole_last ? WALK_WHOLE : WALK_PARTS);
    try_walk(search, tile, WALK_STREAMED);
}

struct gemm_cut
gemm_search_quickest(const struct device *device, const struct gemm_work *work)
{
    struct gemm_setting setting = gemm_setting_of(device, work);
    int count = (int)setting.tiles->count;
    assert(count > 0);
    struct bounds bounds;
    look_at_rounds(&setting, &bounds);
    if (setting.free_split_maximum > 0 || setting.stream_k_s > 0)
        look_at_others(&setting, &bounds);
    struct search search = {.setting = &setting,
                            .bounds = &bounds,
                            .best = {.seconds_s = INFINITY},
                            .limit_s = INFINITY,
                            .issue_limit_s = INFINITY,
                            .issue_slope = 1};
    int promising = most_promising(&bounds, count);
    try_tile(&search, promising);
    for (int i = 0; i < count; i++)
        if (i != promising && bounds.least_s[i] < search.issue_limit_s)
            try_tile(&search, i);
    return search.best;
}
