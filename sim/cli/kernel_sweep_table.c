/* A sweep as a table for people and as CSV. */
#include "sim/cli/kernel_sweep.h"

#include <inttypes.h>
#include <string.h>

#include "sim/base/json_writer.h"
#include "sim/base/units.h"

enum { RATE_WIDTH = 13 };

static int
wider(size_t a, int b)
{
    return (int)a > b ? (int)a : b;
}

/* Columns as wide as what stands in them. */
static int
series_width(const struct kernel_sweep *sweep)
{
    int width = 0;
    for (size_t c = 0; sweep->series.count > 0 && c < sweep->curve_count; c++)
        width = wider(strlen(sweep->curves[c].word), width);
    return sweep->series.count > 0 ? wider(strlen(sweep->series.key), width) : 0;
}

static int
value_width(const struct kernel_sweep *sweep, struct arena *arena)
{
    int64_t last = sweep->sweep.values[sweep->sweep.count - 1];
    return wider(strlen(arena_format(arena, "%" PRId64, last)),
                 wider(strlen(sweep->sweep.key), 6));
}

static struct units_text
format_rate(const struct kernel_sweep *sweep, const struct kernel_cost *cost)
{
    double rate = kernel_sweep_rate(sweep, cost, cost->seconds_s);
    return kernel_sweep_has_flop(sweep) ? units_format_flop_per_s(rate)
                                        : units_format_bytes_per_s(rate);
}

static void
print_point(const struct kernel_sweep *sweep, const struct kernel_sweep_point *point,
            struct text *out)
{
    const struct kernel_cost *cost = &point->cost;
    text_format(out, "  %9s %*s %6.1f  %-7s %7" PRId64 " %6" PRId64,
                units_format_s(cost->seconds_s).text, RATE_WIDTH, format_rate(sweep, cost).text,
                cost->relative_sigma * 100, kernel_bound_name(cost->bound), cost->tiles,
                cost->waves);
    if (point->measured_s > 0)
        text_format(out, "  %9s %+7.1f", units_format_s(point->measured_s).text,
                    (cost->seconds_s / point->measured_s - 1) * 100);
    text_format(out, "\n");
}

void
kernel_sweep_print(const struct kernel_sweep *sweep, struct text *out)
{
    int series = series_width(sweep), width = value_width(sweep, out->arena);
    size_t measured_count = kernel_sweep_measured_count(sweep);
    text_format(out, "%s on %s\n\n", sweep->fixed, sweep->device->name);
    if (series > 0)
        text_format(out, "%*s ", series, sweep->series.key);
    text_format(out, "%*s  %9s %*s %6s  %-7s %7s %6s%s\n", width, sweep->sweep.key, "time",
                RATE_WIDTH, "rate", "+- %", "bound", "tiles", "waves",
                measured_count > 0 ? "   measured error %" : "");
    for (size_t c = 0; c < sweep->curve_count; c++)
        for (size_t i = 0; i < sweep->sweep.count; i++) {
            if (series > 0)
                text_format(out, "%*s ", series, sweep->curves[c].word);
            text_format(out, "%*" PRId64, width, sweep->sweep.values[i]);
            print_point(sweep, &sweep->curves[c].points[i], out);
        }
    if (measured_count > 0)
        text_format(out, "\n%zu measured, MAPE %.1f %%\n", measured_count,
                    kernel_sweep_mape_fraction(sweep) * 100);
}

/* A number as JSON has it, so that it reads back to the same double. */
static void
write_real(struct text *out, double value, const char *after)
{
    struct json_writer writer = json_writer_new(out, false);
    json_write_real(&writer, value);
    text_append(out, after, strlen(after));
}

static void
write_point(const struct kernel_sweep_point *point, struct text *out)
{
    const struct kernel_cost *cost = &point->cost;
    write_real(out, cost->seconds_s, ",");
    write_real(out, cost->relative_sigma, ",");
    text_format(out, "%s,", kernel_bound_name(cost->bound));
    write_real(out, cost->flop, ",");
    write_real(out, cost->hbm_bytes, ",");
    write_real(out, cost->flop / cost->seconds_s, ",");
    write_real(out, cost->hbm_bytes / cost->seconds_s, ",");
    text_format(out, "%" PRId64 ",%" PRId64 ",", cost->tiles, cost->waves);
    if (point->measured_s > 0)
        write_real(out, point->measured_s, "");
    text_append(out, "\n", 1);
}

void
kernel_sweep_write_csv(const struct kernel_sweep *sweep, struct text *out)
{
    if (sweep->series.count > 0)
        text_format(out, "%s,", sweep->series.key);
    text_format(out,
                "%s,predicted_s,sigma,bound,flop,hbm_bytes,flop_per_s,hbm_bytes_per_s,"
                "tiles,waves,measured_s\n",
                sweep->sweep.key);
    for (size_t c = 0; c < sweep->curve_count; c++)
        for (size_t i = 0; i < sweep->sweep.count; i++) {
            if (sweep->series.count > 0)
                text_format(out, "%s,", sweep->curves[c].word);
            text_format(out, "%" PRId64 ",", sweep->sweep.values[i]);
            write_point(&sweep->curves[c].points[i], out);
        }
}
