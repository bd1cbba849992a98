/* Prices measured rows and sorts them into the groups of an error table. */
#ifndef VALIDATE_COMPARISON_H
#define VALIDATE_COMPARISON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hw/cluster.h"
#include "hw/device.h"
#include "validate/error_table.h"
#include "validate/measured_list.h"

/* What prices the rows, and how they are sorted. */
struct comparison_basis {
    const struct device *device;   /* of kernels; may be NULL when there are none */
    const struct cluster *cluster; /* of collectives; may be NULL when there are none */
    double small_s, large_s; /* size classes of matrix kernels: measured times up to small_s,
                                from large_s, and between */
    uint64_t seed;           /* of the split */
};

/* Zero-initialised by its owner; lives in the arena. */
struct comparison {
    struct error_sample *samples;
    size_t count, capacity;
};

/* Adds every row of the list under its groups:
 * - its kind ("gemm", "attention_backward" of the other direction) and dtype, size "all";
 * - a matrix kernel or attention: the same with its size class, by measured time;
 * - a kernel that only moves bytes: "memory_bound" as well, whatever its dtype;
 * - a collective: "collective" as well, under or from 1 MiB.
 * False after adding a fault for each row that has no price, with its list and line: an error
 * table never leaves a row out in silence. */
bool comparison_add(struct comparison *comparison, const struct measured_list *list,
                    const struct comparison_basis *basis, struct arena *arena,
                    struct error_list *errors);

/* Adds what was measured again, each row as if it were the prediction of the row of `list` that is
 * the same kernel or collective (the first of several), under its groups and held out: nothing was
 * fitted, and no row says how sure it is (a relative sigma of 0).
 * Rows of `list` that nobody measured again are left out. False after adding a fault for each row
 * of `again` without such a row. */
bool comparison_add_again(struct comparison *comparison, const struct measured_list *list,
                          const struct measured_list *again,
                          const struct comparison_basis *basis, struct arena *arena,
                          struct error_list *errors);

#endif
