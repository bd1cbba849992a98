/* How the library cuts a product into tiles, rounds and parts of k: the quickest way found. */
#ifndef HW_GEMM_CUT_H
#define HW_GEMM_CUT_H

#include "hw/gemm_cost.h"

/* One way to cut the work, and what it costs. */
struct gemm_cut {
    double tiles; /* of all products; a mean where rows are dealt out at random */
    double tile_m, tile_n;
    double splits;     /* of k */
    bool is_streamed;  /* instead: stream-K, all tiles' steps dealt out evenly to the units */
    double workgroups; /* tiles times splits */
    double rounds;     /* of workgroups over the units */
    double units_s;    /* what computing takes, alone */
    double steps_s;    /* the part of units_s that is not filling and storing */
    double memory_s;   /* what moving takes, alone */
    double hbm_s, hbm_bytes;
    bool is_cache_bound; /* of memory_s: a cache, not HBM */
    double seconds_s;    /* with the launch */
};

/* The quickest of the device's tiles, each with k whole and in parts.
 * The work must have at least one row; the device a rate for its dtype. */
struct gemm_cut gemm_cut_quickest(const struct device *device, const struct gemm_work *work);

#endif
