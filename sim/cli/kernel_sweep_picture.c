/* A sweep as curves: which rate, which words, and where waves of tiles begin. */
#include "sim/cli/kernel_sweep.h"

#include <inttypes.h>
#include <string.h>

#include "sim/base/units.h"
#include "sim/cli/version.h"

enum { MARKS_MAX = 64 }; /* more would be a grey field */

static double
rate_at(const struct kernel_sweep *sweep, size_t curve, size_t i)
{
    const struct kernel_cost *cost = &sweep->curves[curve].points[i].cost;
    return kernel_sweep_rate(sweep, cost, cost->seconds_s);
}

/* The rate one standard deviation of the time slower and faster. */
static const struct line_chart_vertex *
make_curve(const struct kernel_sweep *sweep, size_t curve, struct arena *arena)
{
    size_t count = sweep->sweep.count;
    struct line_chart_vertex *vertices = arena_alloc(arena, count, sizeof *vertices);
    for (size_t i = 0; i < count; i++) {
        double sigma = sweep->curves[curve].points[i].cost.relative_sigma;
        double rate = rate_at(sweep, curve, i);
        vertices[i] = (struct line_chart_vertex){.x = (double)sweep->sweep.values[i],
                                                 .y = rate,
                                                 .low = rate / (1 + sigma),
                                                 .high = rate * (1 + sigma)};
    }
    return vertices;
}

static const struct line_chart_point *
make_points(const struct kernel_sweep *sweep, const struct kernel_sweep_curve *curve,
            struct arena *arena)
{
    struct line_chart_point *points = arena_alloc(arena, curve->measured_count, sizeof *points);
    for (size_t i = 0; i < curve->measured_count; i++) {
        const struct kernel_sweep_measured *measured = &curve->measured[i];
        points[i] = (struct line_chart_point){
            .x = (double)measured->at,
            .y = kernel_sweep_rate(sweep, &measured->cost, measured->measured_s),
            .is_hollow = measured->part == SPLIT_FIT};
    }
    return points;
}

/* Whether one more wave of tiles begins between the values i - 1 and i, and costs. */
static bool
begins_wave(const struct kernel_sweep *sweep, size_t curve, size_t i)
{
    const struct kernel_sweep_point *points = sweep->curves[curve].points;
    return points[i].cost.waves > points[i - 1].cost.waves &&
           rate_at(sweep, curve, i) < rate_at(sweep, curve, i - 1);
}

/* Half way between the two values. A larger tile may take fewer waves than the one before. */
static void
add_wave_marks(const struct kernel_sweep *sweep, size_t curve, struct line_chart_series *series,
               struct arena *arena)
{
    const int64_t *values = sweep->sweep.values;
    struct line_chart_mark *marks = arena_alloc(arena, sweep->sweep.count, sizeof *marks);
    size_t count = 0;
    for (size_t i = 1; i < sweep->sweep.count; i++)
        if (begins_wave(sweep, curve, i))
            marks[count++] = (struct line_chart_mark){
                ((double)values[i - 1] + (double)values[i]) / 2,
                arena_format(arena, "%" PRId64 " waves",
                             sweep->curves[curve].points[i].cost.waves)};
    series->marks = marks;
    series->mark_count = count <= MARKS_MAX ? count : 0;
}

static void
add_series(const struct kernel_sweep *sweep, struct line_chart *chart, struct arena *arena)
{
    struct line_chart_series *series = arena_alloc(arena, sweep->curve_count, sizeof *series);
    for (size_t c = 0; c < sweep->curve_count; c++) {
        const struct kernel_sweep_curve *curve = &sweep->curves[c];
        const char *label = NULL;
        if (curve->word != NULL)
            label = arena_format(arena, "%s = %s", sweep->series.key, curve->word);
        series[c] = (struct line_chart_series){
            .label = label,
            .curve = make_curve(sweep, c, arena),
            .vertex_count = sweep->sweep.count,
            .points = make_points(sweep, curve, arena),
            .point_count = curve->measured_count,
        };
        add_wave_marks(sweep, c, &series[c], arena);
    }
    chart->series = series;
    chart->series_count = sweep->curve_count;
}

static struct units_text
format_rate(const struct kernel_sweep *sweep, double rate)
{
    return kernel_sweep_has_flop(sweep) ? units_format_flop_per_s(rate)
                                        : units_format_bytes_per_s(rate);
}

/* What a reader takes away: the best value, and of one curve the worst step between neighbours. */
static const char *
make_title(const struct kernel_sweep *sweep, struct arena *arena)
{
    size_t best_curve = 0, best = 0, fall = 0;
    double deepest = 0;
    for (size_t c = 0; c < sweep->curve_count; c++)
        for (size_t i = 0; i < sweep->sweep.count; i++) {
            if (rate_at(sweep, c, i) > rate_at(sweep, best_curve, best)) {
                best_curve = c;
                best = i;
            }
            double drop = i > 0 ? 1 - rate_at(sweep, c, i) / rate_at(sweep, c, i - 1) : 0;
            if (sweep->curve_count == 1 && drop > deepest) {
                deepest = drop;
                fall = i;
            }
        }
    const char *key = sweep->sweep.key;
    const int64_t *values = sweep->sweep.values;
    const char *title = arena_format(
        arena, "%s on %s: up to %s at %s = %" PRId64,
        kernel_kind_name(sweep->curves[0].kernel.kind), sweep->device->name,
        format_rate(sweep, rate_at(sweep, best_curve, best)).text, key, values[best]);
    if (best_curve > 0 || sweep->curve_count > 1)
        title = arena_format(arena, "%s, %s = %s", title, sweep->series.key,
                             sweep->curves[best_curve].word);
    const double worth_saying = 0.01;
    if (deepest < worth_saying)
        return title;
    return arena_format(arena, "%s, %.0f %% lost from %" PRId64 " to %" PRId64, title,
                        100 * deepest, values[fall - 1], values[fall]);
}

static const char *
make_subtitle(const struct kernel_sweep *sweep, struct arena *arena)
{
    size_t count = kernel_sweep_measured_count(sweep);
    const struct sweep *values = &sweep->sweep;
    const char *subtitle = arena_format(
        arena, "%s, %s from %" PRId64 " to %" PRId64 " in %zu values", sweep->fixed,
        values->key, values->values[0], values->values[values->count - 1], values->count);
    if (count == 0)
        return subtitle;
    return arena_format(arena, "%s · %zu measured, MAPE %.1f %%", subtitle, count,
                        100 * kernel_sweep_mape_fraction(sweep));
}

static const char *
make_footer(const struct kernel_sweep *sweep, struct arena *arena)
{
    struct text text = text_new(arena);
    text_format(&text, "stepcast %s: %s", STEPCAST_VERSION, sweep->device->description);
    for (size_t i = 0; i < options_text_count(sweep->options, "measured"); i++)
        text_format(&text, "%s %s", i == 0 ? "; measured:" : ",",
                    options_text_at(sweep->options, "measured", i));
    return text.bytes;
}

/* Values whose steps grow are read on a log scale. */
static bool
is_doubling(const struct sweep *sweep)
{
    const int64_t *values = sweep->values;
    size_t last = sweep->count - 1;
    return last >= 2 && values[last] - values[last - 1] >= 2 * (values[1] - values[0]);
}

const struct line_chart *
kernel_sweep_picture(const struct kernel_sweep *sweep, struct arena *arena)
{
    struct line_chart *chart = arena_alloc(arena, 1, sizeof *chart);
    chart->title = make_title(sweep, arena);
    chart->subtitle = make_subtitle(sweep, arena);
    chart->footer = make_footer(sweep, arena);
    chart->x = (struct line_chart_axis){sweep->sweep.key, "",
                                        is_doubling(&sweep->sweep) ? LINE_CHART_LOG_BINARY
                                                                   : LINE_CHART_BINARY};
    chart->y = (struct line_chart_axis){NULL, kernel_sweep_has_flop(sweep) ? "FLOP/s" : "B/s",
                                        LINE_CHART_LINEAR};
    add_series(sweep, chart, arena);
    chart->series_a_panel = sweep->has_panels;
    chart->curve_name = "predicted";
    chart->band_name = "one standard deviation";
    chart->point_name = "measured, held out of the fit";
    chart->hollow_name = "measured, seen by the fit";
    chart->mark_name = "from here a wave of tiles more";
    return chart;
}
