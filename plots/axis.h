/* Scales of a chart: where ticks stand and what they say. */
#ifndef PLOTS_AXIS_H
#define PLOTS_AXIS_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

enum { AXIS_TICK_MAX = 7, AXIS_LABEL_MAX = 48, AXIS_UNIT_MAX = 16 };

struct axis_tick {
    double value;
    char label[AXIS_LABEL_MAX]; /* the number alone; of a log scale with prefix and unit */
};

struct axis {
    double low, high;
    bool is_log;
    char unit[AXIS_UNIT_MAX]; /* with the one prefix of all ticks: "ms", "k token/s" */
    size_t tick_count;        /* 0 to AXIS_TICK_MAX, all within low and high */
    struct axis_tick ticks[AXIS_TICK_MAX];
};

/* Ticks at multiples of 1, 2 or 5 times a power of ten, as close as tick_max allows (1 to
 * AXIS_TICK_MAX). Asserts that low < high are finite. `unit` is an SI unit: "s", "B/s"; "" for
 * none. Seconds take no prefix above 1, nothing else one below. */
struct axis axis_linear(double low, double high, const char *unit, size_t tick_max);

/* Ticks at powers of ten, or of the power of ten that leaves tick_max of them; where few lie within
 * and there is room, at 1, 2 and 5 times powers of ten. Asserts that 0 < low < high are finite. */
struct axis axis_log(double low, double high, const char *unit, size_t tick_max);

/* For sizes that people double: ticks at multiples of a power of two ("1024", "2048", ...), of a
 * log scale at powers of two. Labels are whole numbers without prefix or, of the unit "B", with a
 * binary one ("64 KiB"). Asserts that 0 <= low < high <= 2^62, of a log scale 0 < low. */
struct axis axis_binary(double low, double high, const char *unit, size_t tick_max);
struct axis axis_log_binary(double low, double high, const char *unit, size_t tick_max);

/* 0 at low, 1 at high, beyond them outside. Here, like plane_point, since charts of a million
 * points ask for each of them. */
static inline double
axis_fraction(const struct axis *axis, double value)
{
    if (axis->is_log)
        return log(value / axis->low) / log(axis->high / axis->low);
    return (value - axis->low) / (axis->high - axis->low);
}

/* The power of 1000 of the prefix that suits the size, -4 ("p") to 5 ("P"), and its letter(s). */
int axis_prefix_power(double size, const char *unit);
const char *axis_prefix(int power);

#endif
