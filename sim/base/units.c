/* SI units inside, people's units outside. */
#include "sim/base/units.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>

/* From here on a whole number of the last prefix is too long to read. */
static const double LONGEST = 999999.5;

/* value * 1000^-step below 999.5, so that three digits never round up to 1000. */
static struct units_text
format_scaled(double value, const char *const *units, int count, int step)
{
    struct units_text out;
    double magnitude = fabs(value);
    while (step + 1 < count && magnitude >= 999.5) {
        value /= 1000;
        magnitude /= 1000;
        step++;
    }
    while (step > 0 && magnitude > 0 && magnitude < 0.9995) {
        value *= 1000;
        magnitude *= 1000;
        step--;
    }
    const char *space = *units[step] ? " " : "";
    if (magnitude >= LONGEST) {
        snprintf(out.text, sizeof out.text, "%.3g%s%s", value, space, units[step]);
        return out;
    }
    bool is_whole = magnitude == (step == 0 ? floor(magnitude) : 0); /* "8 B", not "8.00 B" */
    int decimals = is_whole || magnitude >= 99.95 ? 0 : magnitude >= 9.995 ? 1 : 2;
    snprintf(out.text, sizeof out.text, "%.*f%s%s", decimals, value, space, units[step]);
    return out;
}

struct units_text
units_format_s(double s)
{
    static const char *const units[] = {"ps", "ns", "us", "ms", "s"};
    return format_scaled(s, units, 5, 4);
}

struct units_text
units_format_bytes(double bytes)
{
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB", "ZB"};
    return format_scaled(bytes, units, 8, 0);
}

struct units_text
units_format_bytes_per_s(double bytes_per_s)
{
    static const char *const units[] = {"B/s",  "kB/s", "MB/s", "GB/s",
                                        "TB/s", "PB/s", "EB/s", "ZB/s"};
    return format_scaled(bytes_per_s, units, 8, 0);
}

struct units_text
units_format_flop(double flop)
{
    static const char *const units[] = {"FLOP",  "kFLOP", "MFLOP", "GFLOP",
                                        "TFLOP", "PFLOP", "EFLOP", "ZFLOP"};
    return format_scaled(flop, units, 8, 0);
}

struct units_text
units_format_flop_per_s(double flop_per_s)
{
    static const char *const units[] = {"FLOP/s",  "kFLOP/s", "MFLOP/s", "GFLOP/s",
                                        "TFLOP/s", "PFLOP/s", "EFLOP/s", "ZFLOP/s"};
    return format_scaled(flop_per_s, units, 8, 0);
}

struct units_text
units_format_count(double count)
{
    static const char *const units[] = {"", "k", "M", "B", "T"};
    return format_scaled(count, units, 5, 0);
}

struct units_text
units_format_fraction(double fraction)
{
    struct units_text out;
    snprintf(out.text, sizeof out.text, "%.1f %%", fraction * 100);
    return out;
}
