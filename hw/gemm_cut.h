/* One way to cut a product into tiles, rounds and parts of k, and what it costs. */
#ifndef HW_GEMM_CUT_H
#define HW_GEMM_CUT_H

#include "hw/gemm_grid.h"

struct gemm_cut {
    double tiles; /* of all products; a mean where rows are dealt out at random */
    double tile_m, tile_n;
    double splits;     /* of k */
    bool is_streamed;  /* instead: stream-K, all tiles' steps dealt out evenly to the units */
    double workgroups; /* tiles times splits */
    double rounds;     /* of workgroups over the units */
    double steps_s;    /* of issue_s, what is not filling and storing */
    double issue_s;    /* what the units take at the boost clock */
    double memory_s;   /* what moving takes, alone */
    double hbm_s, hbm_bytes;
    bool is_cache_bound; /* of memory_s: a cache, not HBM */
    double units_s;      /* what computing takes, alone: issue_s within the power */
    double seconds_s;    /* with the launch */
};

/* The parts into which the library would cut k, 1: none. */
double gemm_cut_splits(const struct gemm_setting *setting, const struct gemm_grid *grid);

/* A cut is priced in three steps. First what the units take to issue it, which fills all up to
 * issue_s: tile after tile with k in so many parts ... */
void gemm_cut_in_rounds(const struct gemm_setting *setting, const struct gemm_grid *grid,
                        double splits, struct gemm_cut *cut);

/* ... or streamed, where the library can. */
void gemm_cut_streamed(const struct gemm_setting *setting, const struct gemm_grid *grid,
                       struct gemm_cut *cut);

/* Then what its bytes take: memory_s up to is_cache_bound. */
void gemm_cut_move(const struct gemm_setting *setting, const struct gemm_grid *grid,
                   struct gemm_cut *cut);

/* Last both together, units_s and seconds_s. */
void gemm_cut_finish(const struct gemm_setting *setting, struct gemm_cut *cut);

#endif
