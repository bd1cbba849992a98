/* A file of error tables that must keep their limits: what the regression command runs. */
#ifndef VALIDATE_SUITE_H
#define VALIDATE_SUITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/base/arena.h"
#include "sim/base/error.h"
#include "sim/base/json.h"
#include "validate/tolerance.h"

/* One table. Paths are as the program can open them: those of a file were taken relative to it.
 */
struct suite_table {
    const char *title;
    const char
        *device; /* path; "" when kernels are not in the lists, or of the cluster's device */
    const char *cluster; /* path; "" when collectives are not in the lists */
    bool holds_steps;    /* the lists are of whole steps, whose runs say what prices them */
    bool forgets_clocks; /* rows of machines whose clock is known, priced as if it were not */
    const char *const *lists;
    size_t list_count;
    const char *const
        *again; /* lists of the same rows measured again: in place of predictions */
    size_t again_count;
    const char *const *overlaps; /* lists of kernels beside collectives (overlap_list.h) */
    size_t overlap_count;
    double small_s, large_s; /* edges of the size classes (comparison.h) */
    int64_t seed;            /* of the split */
    struct tolerance_list tolerances;
};

struct suite {
    struct suite_table *tables;
    size_t count;
};

/* The defaults of what a table need not say: classes under 10 us and over 100 us, seed 1. */
struct suite_table suite_table_new(void);

/* Reads {"tables": [{"title", "measured": [...], "device" or "cluster", "small_s", "large_s",
 * "seed", "forgets_clocks", "mape_fraction_max": {...}}]}; "holds_steps", or "measured_again":
 * [...], in place of device and cluster.
 * False after adding every fault. */
bool suite_read(struct suite *suite, const struct json *object, struct arena *arena,
                struct error_list *errors);

#endif
