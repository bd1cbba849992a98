/* Nice ticks after P. S. Heckbert, "Nice numbers for graph labels", Graphics Gems (1990), with
 * the step chosen as the smallest that keeps within the number of ticks. */
#include "plots/axis.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { PREFIX_LOW = -4, PREFIX_HIGH = 5 };

int
axis_prefix_power(double size, const char *unit)
{
    bool is_time = strcmp(unit, "s") == 0;
    int lowest = is_time ? PREFIX_LOW : 0, highest = is_time ? 0 : PREFIX_HIGH;
    int power = highest;
    while (power > lowest && fabs(size) < pow(1000.0, power))
        power--;
    return power;
}

const char *
axis_prefix(int power)
{
    static const char prefixes[][3] = {"p", "n", "µ", "m", "", "k", "M", "G", "T", "P"};
    assert(power >= PREFIX_LOW && power <= PREFIX_HIGH);
    return prefixes[power - PREFIX_LOW];
}

/* A multiple of the step that may be low or high itself but for rounding. */
static const double tick_slack = 1e-9;

static double
first_multiple(double low, double step)
{
    return ceil(low / step - tick_slack);
}

static size_t
multiples_within(double low, double high, double step)
{
    return (size_t)(floor(high / step + tick_slack) - first_multiple(low, step) + 1.0);
}

/* The smallest 1, 2 or 5 times a power of ten that gives at most tick_max multiples. */
static double
nice_step(double low, double high, size_t tick_max)
{
    static const double leads[3] = {1.0, 2.0, 5.0};
    int exponent = (int)floor(log10((high - low) / (double)tick_max)) - 1;
    for (;; exponent++)
        for (int i = 0; i < 3; i++) {
            double step = leads[i] * pow(10.0, exponent);
            if (multiples_within(low, high, step) <= tick_max)
                return step;
        }
}

struct axis
axis_linear(double low, double high, const char *unit, size_t tick_max)
{
    assert(isfinite(low) && isfinite(high) && low < high);
    assert(tick_max >= 1 && tick_max <= AXIS_TICK_MAX);
    struct axis axis = {.low = low, .high = high};
    int power = axis_prefix_power(fmax(fabs(low), fabs(high)), unit);
    double scale = pow(1000.0, power), step = nice_step(low, high, tick_max);
    int decimals = (int)fmax(0.0, -floor(log10(step / scale) + tick_slack));
    snprintf(axis.unit, sizeof axis.unit, "%s%s", axis_prefix(power), unit);
    axis.tick_count = multiples_within(low, high, step);
    for (size_t i = 0; i < axis.tick_count; i++) {
        struct axis_tick *tick = &axis.ticks[i];
        tick->value = (first_multiple(low, step) + (double)i) * step;
        snprintf(tick->label, sizeof tick->label, "%.*f", decimals, tick->value / scale + 0.0);
    }
    return axis;
}

struct axis
axis_log(double low, double high, const char *unit, size_t tick_max)
{
    assert(isfinite(high) && low > 0.0 && low < high);
    assert(tick_max >= 1 && tick_max <= AXIS_TICK_MAX);
    struct axis axis = {.low = low, .high = high, .is_log = true};
    double first = ceil(log10(low) - tick_slack), last = floor(log10(high) + tick_slack);
    double stride = 1.0;
    while (floor((last - first) / stride) + 1.0 > (double)tick_max)
        stride += 1.0;
    for (; first + (double)axis.tick_count * stride <= last; axis.tick_count++) {
        struct axis_tick *tick = &axis.ticks[axis.tick_count];
        tick->value = pow(10.0, first + (double)axis.tick_count * stride);
        int power = axis_prefix_power(tick->value * (1.0 + tick_slack), unit);
        snprintf(tick->label, sizeof tick->label, "%.4g %s%s", tick->value / pow(1000.0, power),
                 axis_prefix(power), unit);
    }
    return axis;
}

double
axis_fraction(const struct axis *axis, double value)
{
    if (axis->is_log)
        return log(value / axis->low) / log(axis->high / axis->low);
    return (value - axis->low) / (axis->high - axis->low);
}
