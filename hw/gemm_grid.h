/* A product's result cut into one kind of tile, whatever k's parts. Inline and without a branch: it
 * is worked out for every tile of a library a million times a second, two or more at once where
 * the compiler sees to it (hw/gemm_search.c). */
#ifndef HW_GEMM_GRID_H
#define HW_GEMM_GRID_H

#include "hw/gemm_setting.h"

struct gemm_grid {
    double m, n, depth;  /* of the tile, in elements */
    double held;         /* of them, by one unit */
    double down, across; /* tiles: down all products, and across */
    double tiles;        /* of all products */
    /* Of one step: multiplying and loading, which overlap all but a part; with book-keeping. */
    double work_s, alone_s;
    double fill_s, part_fill_s; /* filling and storing, once per resident wave; a part of k */
};

/* Tiles down all products. */
static inline double
gemm_grid_down(const struct gemm_work *work, const struct device_tile *tile)
{
    if (!work->rows)
        return (double)work->groups * whole(work->m / tile->m);
    double tiles = 0;
    for (int64_t i = 0; i < work->groups; i++)
        tiles += whole((double)work->rows[i] / tile->m);
    return tiles;
}

/* Of a symmetric result the half of the tiles, and half of the longer side's for the diagonal. */
static inline double
gemm_grid_tiles(const struct gemm_setting *setting, double down, double across)
{
    return (down * across + setting->mirrored * most(down, across)) *
           (1 - setting->mirrored / 2);
}

/* Of a tile's side past the product's, what loading still takes: filling with zeros. */
static inline double
gemm_grid_loaded(const struct gemm_setting *setting, double tile_side, double side)
{
    double inside = least(tile_side, side);
    return inside + setting->edge_fill_fraction * (tile_side - inside);
}

/* One step of the k loop of one workgroup at the boost clock, without book-keeping. */
static inline double
gemm_grid_work_s(const struct gemm_setting *setting, const struct device_tile *tile,
                 double depth)
{
    double multiply_s = 2 * tile->m * tile->n * depth * setting->boost_s_per_flop;
    double load_s =
        (gemm_grid_loaded(setting, tile->m, setting->work->m) * setting->a_s_per_byte +
         gemm_grid_loaded(setting, tile->n, setting->work->n) * setting->b_s_per_byte) *
        tile->depth_bytes;
    return most(multiply_s, load_s) + setting->exposed_fraction * least(multiply_s, load_s);
}

/* Of the units, how many no longer keep step with the others in the last of so many rounds. */
static inline double
gemm_grid_drifted(const struct gemm_setting *setting, double rounds)
{
    return (rounds - 1) / (rounds - 1 + setting->drift_rounds);
}

/* Stores are clipped at the result's edge, multiplications are not. down: gemm_grid_down's. */
static inline struct gemm_grid
gemm_grid_of(const struct gemm_setting *setting, const struct device_tile *tile, double down)
{
    const struct gemm_work *work = setting->work;
    double depth = tile->depth_bytes / setting->element_bytes;
    double across = whole(work->n / tile->n);
    double work_s = gemm_grid_work_s(setting, tile, depth);
    double result_bytes =
        least(tile->m, work->m) * least(tile->n, work->n) * setting->result_bytes;
    return (struct gemm_grid){
        .m = tile->m,
        .n = tile->n,
        .depth = depth,
        .held = tile->held > 0 ? tile->held : setting->held,
        .down = down,
        .across = across,
        .tiles = gemm_grid_tiles(setting, down, across),
        .work_s = work_s,
        .alone_s = work_s + setting->step_s,
        .fill_s = setting->tile_s + result_bytes * setting->store_s_per_byte,
        .part_fill_s = setting->tile_s + result_bytes * setting->add_s_per_byte,
    };
}

/* k in as many parts, a power of two, as units are idle. */
static inline double
gemm_grid_idle_splits(const struct gemm_setting *setting, const struct gemm_grid *grid)
{
    return power_of_two_down(
        most(1, least(setting->split_maximum, setting->units / grid->tiles)));
}

#endif
