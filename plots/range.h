/* From values to the axis that holds them. */
#ifndef PLOTS_RANGE_H
#define PLOTS_RANGE_H

#include <float.h>

#include "plots/axis.h"
#include "plots/line_chart.h"

struct range {
    double low, high;
};

/* Of nothing yet. */
struct range range_new(void);

/* Values that are not finite leave it as it is. Here, since charts of a million points ask for each
 * of them. */
static inline void
range_widen(struct range *range, double value)
{
    if (value < range->low && value >= -DBL_MAX)
        range->low = value;
    if (value > range->high && value <= DBL_MAX)
        range->high = value;
}

bool range_is_log(enum line_chart_scale scale);

/* A range without length, or of nothing at all, gets one. */
struct range range_open(struct range range, enum line_chart_scale scale);

struct axis range_axis(struct range range, const struct line_chart_axis *asked,
                       size_t tick_max);

#endif
