/* Labels along a line: each as near to where it belongs as the others let it. */
#ifndef PLOTS_SPREAD_H
#define PLOTS_SPREAD_H

#include <stdbool.h>
#include <stddef.h>

#include "sim/base/arena.h"

struct spread_label {
    double wanted; /* where its middle belongs; ascending over the labels */
    double width;
    double centre; /* the answer */
};

/* Places the labels in their order within [low, high], at least `gap` apart, with the least sum of
 * squared displacements. False, placing none, when they do not fit. */
bool spread_labels(struct arena *arena, struct spread_label *labels, size_t count,
                   const double range[2], double gap);

#endif
