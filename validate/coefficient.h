/* Which numbers of a device file may be fitted: where each stands, within which physical bounds,
 * and which measured kernels tell it.
 *
 * A new coefficient is one line of the table in coefficient.c. Those of one group are fitted
 * together, on the group's kernels; within a group the earlier in the table comes first where the
 * kernels at hand cannot tell two apart. */
#ifndef VALIDATE_COEFFICIENT_H
#define VALIDATE_COEFFICIENT_H

#include <stdbool.h>
#include <stddef.h>

#include "hw/device.h"
#include "sim/base/json.h"

/* The kernels of one kind; of attention, those of one implementation and direction. Grouped
 * products are in the group of products, on whose coefficients they stand too. */
struct coefficient_group {
    enum kernel_kind kind;
    int64_t implementation; /* index in the device */
    enum direction direction;
};

struct coefficient {
    const char *path; /* "gemm.launch_s": of the object with value and source */
    double *value;    /* in the device that the list was made of */
    struct coefficient_group group;
    enum kernel_kind kind; /* who asks for this kind asks for the coefficient */
    bool is_logarithmic;   /* searched by its logarithm: spans powers of ten and is never 0 */
    double least, most;    /* both included */
    const char *least_reason, *most_reason;
};

struct coefficient_list {
    struct coefficient *items; /* group after group, in the order in which groups are fitted */
    size_t count, capacity;
};

/* All that the device has: rates of units that it lacks are no coefficients. */
struct coefficient_list coefficient_list_of(struct device *device, struct arena *arena);

/* False after adding a fault, at its place in the file, for each one outside its bounds. */
bool coefficient_list_check(const struct coefficient_list *list, const struct json *file,
                            struct error_list *errors);

bool coefficient_group_is(const struct coefficient_group *a, const struct coefficient_group *b);

/* The group of a kernel that the device can price. */
struct coefficient_group coefficient_group_of(const struct device *device,
                                              const struct kernel *kernel);

/* "gemm", "attention flash2 backward". */
const char *coefficient_group_name(const struct coefficient_group *group,
                                   const struct device *device, struct arena *arena);

/* A relative standard deviation in the device file, and the kernels that it speaks of: those of its
 * group, predicted to take longer than above_s and at most up_to_s. */
struct coefficient_sigma {
    const char *path;
    double *value;
    struct coefficient_group group;
    double above_s, up_to_s;
};

struct coefficient_sigma_list {
    struct coefficient_sigma *items;
    size_t count, capacity;
};

struct coefficient_sigma_list coefficient_sigma_list_of(struct device *device,
                                                        struct arena *arena);

bool coefficient_sigma_covers(const struct coefficient_sigma *sigma,
                              const struct coefficient_group *group, double predicted_s);

#endif
