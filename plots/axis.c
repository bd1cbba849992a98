/* Nice ticks after P. S. Heckbert, "Nice numbers for graph labels", Graphics Gems (1990), with
 * the step chosen as the smallest that keeps within the number of ticks. */
#include "plots/axis.h"

#include <assert.h>
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { PREFIX_LOW = -4, PREFIX_HIGH = 5, COARSE_TICKS = 3 };

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

/* A unit that is a word, as "token/s", stands apart from a prefix. */
static bool
needs_space(int power, const char *unit)
{
    return power != 0 && strlen(unit) > 2 && islower((unsigned char)unit[0]) &&
           islower((unsigned char)unit[1]) && islower((unsigned char)unit[2]);
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
    snprintf(axis.unit, sizeof axis.unit, "%s%s%s", axis_prefix(power),
             needs_space(power, unit) ? " " : "", unit);
    axis.tick_count = multiples_within(low, high, step);
    for (size_t i = 0; i < axis.tick_count; i++) {
        struct axis_tick *tick = &axis.ticks[i];
        tick->value = (first_multiple(low, step) + (double)i) * step;
        snprintf(tick->label, sizeof tick->label, "%.*f", decimals, tick->value / scale + 0.0);
    }
    return axis;
}

/* Its label is the value alone: "20 µs". */
static void
add_log_tick(struct axis *axis, double value, const char *unit)
{
    struct axis_tick *tick = &axis->ticks[axis->tick_count++];
    tick->value = value;
    int power = axis_prefix_power(value * (1.0 + tick_slack), unit);
    snprintf(tick->label, sizeof tick->label, "%.4g %s%s%s", value / pow(1000.0, power),
             axis_prefix(power), needs_space(power, unit) ? " " : "", unit);
}

/* At 1, 2 and 5 times the powers of ten, as many as there is room for; how many there would be. */
static size_t
add_fine_log_ticks(struct axis *axis, const char *unit, size_t tick_max)
{
    static const double leads[3] = {1.0, 2.0, 5.0};
    size_t count = 0;
    axis->tick_count = 0;
    int first = (int)floor(log10(axis->low)), last = (int)floor(log10(axis->high));
    for (int exponent = first; exponent <= last; exponent++)
        for (int i = 0; i < 3; i++) {
            double value = leads[i] * pow(10.0, exponent);
            if (value < axis->low * (1.0 - tick_slack) ||
                value > axis->high * (1.0 + tick_slack))
                continue;
            count++;
            if (axis->tick_count < tick_max)
                add_log_tick(axis, value, unit);
        }
    return count;
}

/* How many exponents apart ticks stand, so that tick_max hold the length. */
static int
stride_of(int length, size_t tick_max)
{
    int stride = 1;
    while (length >= stride * (int)tick_max)
        stride++;
    return stride;
}

struct axis
axis_log(double low, double high, const char *unit, size_t tick_max)
{
    assert(isfinite(high) && low > 0.0 && low < high);
    assert(tick_max >= 1 && tick_max <= AXIS_TICK_MAX);
    struct axis axis = {.low = low, .high = high, .is_log = true};
    int first = (int)ceil(log10(low) - tick_slack), last = (int)floor(log10(high) + tick_slack);
    int stride = stride_of(last - first, tick_max);
    for (int exponent = first; exponent <= last; exponent += stride)
        add_log_tick(&axis, pow(10.0, exponent), unit);
    struct axis fine = axis;
    bool is_coarse = axis.tick_count < COARSE_TICKS; /* of decades */
    bool fits = is_coarse && add_fine_log_ticks(&fine, unit, tick_max) <= tick_max;
    return fits || axis.tick_count < 2 ? fine : axis;
}

static void
add_binary_tick(struct axis *axis, double value, const char *unit)
{
    static const char prefixes[][3] = {"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
    struct axis_tick *tick = &axis->ticks[axis->tick_count++];
    size_t power = 0;
    tick->value = value;
    if (strcmp(unit, "B") == 0)
        while (value >= 1024.0 && power + 1 < sizeof prefixes / sizeof *prefixes) {
            value /= 1024.0;
            power++;
        }
    snprintf(tick->label, sizeof tick->label, "%.15g%s%s%s", value, *unit ? " " : "",
             prefixes[power], unit);
}

struct axis
axis_binary(double low, double high, const char *unit, size_t tick_max)
{
    assert(low >= 0.0 && low < high && high <= 0x1p62);
    assert(tick_max >= 1 && tick_max <= AXIS_TICK_MAX);
    struct axis axis = {.low = low, .high = high};
    double step = 1.0;
    while (floor(high / step) - ceil(low / step) + 1.0 > (double)tick_max)
        step *= 2.0;
    double first = ceil(low / step);
    for (int i = 0; (first + i) * step <= high; i++)
        add_binary_tick(&axis, (first + i) * step, unit);
    return axis;
}

struct axis
axis_log_binary(double low, double high, const char *unit, size_t tick_max)
{
    assert(low > 0.0 && low < high && high <= 0x1p62);
    assert(tick_max >= 1 && tick_max <= AXIS_TICK_MAX);
    struct axis axis = {.low = low, .high = high, .is_log = true};
    int first = (int)ceil(log2(low) - tick_slack), last = (int)floor(log2(high) + tick_slack);
    int stride = stride_of(last - first, tick_max);
    for (int exponent = first; exponent <= last; exponent += stride)
        add_binary_tick(&axis, exp2(exponent), unit);
    return axis;
}
