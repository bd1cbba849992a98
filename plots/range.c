/* Ranges and their axes. */
#include "plots/range.h"

#include <math.h>

struct range
range_new(void)
{
    return (struct range){INFINITY, -INFINITY};
}

bool
range_is_log(enum line_chart_scale scale)
{
    return scale == LINE_CHART_LOG || scale == LINE_CHART_LOG_BINARY;
}

struct range
range_open(struct range range, enum line_chart_scale scale)
{
    bool is_log = range_is_log(scale);
    if (range.low > range.high)
        return (struct range){is_log ? 1.0 : 0.0, is_log ? 10.0 : 1.0};
    if (range.low < range.high)
        return range;
    if (is_log)
        return (struct range){range.low / 2, range.high * 2};
    double around = fmax(1.0, fabs(range.low)) / 2;
    return (struct range){fmax(0.0, range.low - around), range.high + around};
}

struct axis
range_axis(struct range range, const struct line_chart_axis *asked, size_t tick_max)
{
    switch (asked->scale) {
    case LINE_CHART_LINEAR:
        return axis_linear(range.low, range.high, asked->unit, tick_max);
    case LINE_CHART_LOG:
        return axis_log(range.low, range.high, asked->unit, tick_max);
    case LINE_CHART_BINARY:
        return axis_binary(range.low, range.high, asked->unit, tick_max);
    case LINE_CHART_LOG_BINARY:
        return axis_log_binary(range.low, range.high, asked->unit, tick_max);
    }
    return axis_linear(range.low, range.high, asked->unit, tick_max);
}
