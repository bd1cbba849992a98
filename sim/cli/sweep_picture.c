/* A sweep as curves: one quantity over the first field, a curve for each value of the others. */
#include <stdlib.h>
#include <string.h>

#include "plots/line_chart.h"
#include "sim/base/units.h"
#include "sim/cli/sweep_point.h"
#include "sim/cli/version.h"

enum { CURVES_MAX = 12 }; /* more cannot be told apart */

/* What stands at the axis: the column's name for people. */
static const char *
name_of(enum sweep_quantity quantity)
{
    switch (quantity) {
    case SWEEP_STEP_S:
        return "step";
    case SWEEP_TOKENS_PER_S:
        return "tokens a second";
    case SWEEP_TOKENS_PER_S_PER_GPU:
        return "tokens a second and GPU";
    case SWEEP_MEMORY_BYTES:
        return "memory at its peak";
    case SWEEP_MFU:
        return "model FLOP/s, of the peak";
    case SWEEP_LOW_S:
    case SWEEP_HIGH_S:
    case SWEEP_MODEL_FLOP_PER_S_PER_GPU:
    case SWEEP_NETWORK_S:
    case SWEEP_BUBBLE_S:
    case SWEEP_PARAMETERS_COUNT:
    case SWEEP_ACTIVE_PARAMETERS_COUNT:
    case SWEEP_QUANTITY_COUNT:
        break;
    }
    return sweep_quantity_key(quantity);
}

static const char *
unit_of(enum sweep_quantity quantity)
{
    switch (quantity) {
    case SWEEP_STEP_S:
    case SWEEP_LOW_S:
    case SWEEP_HIGH_S:
    case SWEEP_NETWORK_S:
    case SWEEP_BUBBLE_S:
        return "s";
    case SWEEP_TOKENS_PER_S:
    case SWEEP_TOKENS_PER_S_PER_GPU:
        return "token/s";
    case SWEEP_MODEL_FLOP_PER_S_PER_GPU:
        return "FLOP/s";
    case SWEEP_MEMORY_BYTES:
        return "B";
    case SWEEP_MFU:
    case SWEEP_PARAMETERS_COUNT:
    case SWEEP_ACTIVE_PARAMETERS_COUNT:
    case SWEEP_QUANTITY_COUNT:
        break;
    }
    return "";
}

/* The interval of the step, as far as it moves the quantity. */
static void
set_band(enum sweep_quantity quantity, const double *values, struct line_chart_vertex *vertex)
{
    double low = values[SWEEP_LOW_S] / values[SWEEP_STEP_S];
    double high = values[SWEEP_HIGH_S] / values[SWEEP_STEP_S];
    bool is_time = quantity == SWEEP_STEP_S;
    bool is_rate = quantity == SWEEP_TOKENS_PER_S || quantity == SWEEP_TOKENS_PER_S_PER_GPU ||
                   quantity == SWEEP_MODEL_FLOP_PER_S_PER_GPU || quantity == SWEEP_MFU;
    vertex->low = is_time ? vertex->y * low : is_rate ? vertex->y / high : vertex->y;
    vertex->high = is_time              ? vertex->y * high
                   : is_rate && low > 0 ? vertex->y / low
                                        : vertex->y;
}

static int
compare_vertices(const void *a, const void *b)
{
    const struct line_chart_vertex *one = a, *two = b;
    return (one->x > two->x) - (one->x < two->x);
}

/* "plan.tensor = 2, plan.expert = 4" of the other fields at a point. */
static const char *
label_of(const struct sweep_picture *picture, size_t point, struct arena *arena)
{
    struct text label = text_new(arena);
    const struct run_settings *settings = &picture->rows[point].settings;
    for (size_t i = 1; i < picture->space->axis_count; i++) {
        const char *text = settings->texts[i];
        const char *dot = strchr(text, '.');
        text_format(&label, "%s%s", i > 1 ? ", " : "", dot ? dot + 1 : text);
    }
    return label.bytes;
}

/* Points of a curve are a stride apart: the first field runs slowest. */
static struct line_chart_series
make_series(const struct sweep_picture *picture, size_t first, size_t stride,
            struct arena *arena)
{
    const struct sweep_axis *axis = &picture->space->axes[0];
    struct line_chart_vertex *curve = arena_alloc(arena, axis->count, sizeof *curve);
    size_t count = 0;
    for (size_t i = 0; i < axis->count; i++) {
        const struct sweep_row *row = &picture->rows[first + i * stride];
        struct line_chart_vertex *vertex = &curve[count];
        if (row->status != SWEEP_DONE)
            continue;
        vertex->x = strtod(axis->values[i], NULL);
        vertex->y = row->values[picture->quantity];
        set_band(picture->quantity, row->values, vertex);
        count++;
    }
    qsort(curve, count, sizeof *curve, compare_vertices);
    return (struct line_chart_series){
        .label = label_of(picture, first, arena), .curve = curve, .vertex_count = count};
}

/* What the title is about: the least of memory, else the most tokens, the shortest step. */
static enum sweep_quantity
judged_by(const struct sweep_picture *picture)
{
    return picture->quantity == SWEEP_MEMORY_BYTES ? SWEEP_MEMORY_BYTES
           : picture->quantity == SWEEP_STEP_S     ? SWEEP_STEP_S
                                                   : SWEEP_TOKENS_PER_S_PER_GPU;
}

static const struct sweep_row *
find_best(const struct sweep_picture *picture)
{
    enum sweep_quantity judge = judged_by(picture);
    bool is_most = judge == SWEEP_TOKENS_PER_S_PER_GPU;
    const struct sweep_row *best = NULL;
    for (size_t i = 0; i < picture->count; i++) {
        const struct sweep_row *row = &picture->rows[i];
        if (row->status != SWEEP_DONE)
            continue;
        if (!best || (is_most ? row->values[judge] > best->values[judge]
                              : row->values[judge] < best->values[judge]))
            best = row;
    }
    return best;
}

static const char *
make_title(const struct sweep_picture *picture, const struct sweep_row *best,
           struct arena *arena)
{
    struct text title = text_new(arena);
    enum sweep_quantity judge = judged_by(picture);
    if (judge == SWEEP_MEMORY_BYTES)
        text_format(&title, "Least memory, %s, at",
                    units_format_bytes(best->values[judge]).text);
    else if (judge == SWEEP_STEP_S)
        text_format(&title, "Shortest step, %s, at", units_format_s(best->values[judge]).text);
    else
        text_format(&title, "Most tokens, %s/s per GPU, at",
                    units_format_count(best->values[judge]).text);
    for (size_t i = 0; i < picture->space->axis_count; i++)
        text_format(&title, "%s %s", i > 0 ? "," : "", best->settings.texts[i]);
    return title.bytes;
}

static bool
is_doubling(const struct sweep_axis *axis)
{
    if (axis->count < 3)
        return false;
    double first = strtod(axis->values[0], NULL), second = strtod(axis->values[1], NULL);
    double last = strtod(axis->values[axis->count - 1], NULL);
    double before = strtod(axis->values[axis->count - 2], NULL);
    return first > 0 && last - before >= 2 * (second - first);
}

const struct line_chart *
sweep_picture_chart(const struct sweep_picture *picture, struct arena *arena,
                    struct error_list *errors)
{
    const struct sweep_space *space = picture->space;
    const struct sweep_row *best = find_best(picture);
    size_t curves = picture->count / space->axes[0].count;
    if (space->samples > 0 || !space->axes[0].is_numeric || curves > CURVES_MAX || !best) {
        error_add(
            errors, ERROR_INPUT, "",
            "a picture needs every point of a sweep, numbers in its first --over, at most "
            "%d combinations of the others, and a point that runs",
            CURVES_MAX);
        return NULL;
    }
    struct line_chart_series *series = arena_alloc(arena, curves, sizeof *series);
    struct line_chart *chart = arena_alloc(arena, 1, sizeof *chart);
    for (size_t i = 0; i < curves; i++) {
        struct line_chart_series one = make_series(picture, i, curves, arena);
        if (one.vertex_count > 0)
            series[chart->series_count++] = one;
    }
    chart->title = make_title(picture, best, arena);
    chart->subtitle = picture->base->name;
    chart->footer = arena_format(arena, "stepcast %s: %s on %s", STEPCAST_VERSION,
                                 picture->base->inputs.workload.arch->name,
                                 picture->base->inputs.cluster->name);
    chart->x = (struct line_chart_axis){space->axes[0].field, "",
                                        is_doubling(&space->axes[0]) ? LINE_CHART_LOG_BINARY
                                                                     : LINE_CHART_BINARY};
    chart->y = (struct line_chart_axis){name_of(picture->quantity), unit_of(picture->quantity),
                                        LINE_CHART_LINEAR};
    chart->series = series;
    chart->curve_name = "predicted";
    chart->band_name = "90 % interval";
    return chart;
}
