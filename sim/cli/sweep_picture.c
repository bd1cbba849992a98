/* A sweep as curves: one quantity over the first field, a curve for each value of the others. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plots/line_chart.h"
#include "sim/base/units.h"
#include "sim/cli/sweep_notes.h"
#include "sim/cli/version.h"

enum { CURVES_MAX = 12 }; /* more cannot be told apart */

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

/* "tensor=2, expert=4" of the other fields at a point; of one alone, which the legend names,
 * "2". */
static const char *
label_of(const struct sweep_picture *picture, size_t point, bool is_named, struct arena *arena)
{
    struct text label = text_new(arena);
    const struct run_settings *settings = &picture->rows[point].settings;
    if (picture->space->axis_count == 2 && is_named)
        return strchr(settings->texts[1], '=') + 1;
    for (size_t i = 1; i < picture->space->axis_count; i++) {
        const char *text = settings->texts[i];
        const char *dot = strchr(text, '.');
        text_format(&label, "%s%s", i > 1 ? ", " : "", dot ? dot + 1 : text);
    }
    return label.bytes;
}

/* "=2, =4" of the same, whose fields the subtitle names. */
static const char *
short_label_of(const struct sweep_picture *picture, size_t point, struct arena *arena)
{
    struct text label = text_new(arena);
    for (size_t i = 1; i < picture->space->axis_count; i++)
        text_format(&label, "%s%s", i > 1 ? ", " : "",
                    strchr(picture->rows[point].settings.texts[i], '='));
    return label.bytes;
}

static struct line_chart_series
make_series(const struct sweep_curve *points, enum sweep_quantity quantity, struct arena *arena)
{
    struct line_chart_vertex *curve = arena_alloc(arena, points->count + 1, sizeof *curve);
    for (size_t i = 0; i < points->count; i++) {
        curve[i].x = points->x[i];
        curve[i].y = sweep_shown(points->rows[i], quantity);
        set_band(quantity, points->rows[i]->values, &curve[i]);
    }
    return (struct line_chart_series){.curve = curve, .vertex_count = points->count};
}

/* What the title is about: the quantity shown, if more or less of it is better. */
static const struct sweep_row *
find_best(const struct sweep_picture *picture)
{
    bool is_most = sweep_quantity_is_gain(picture->quantity);
    const struct sweep_row *best = NULL;
    for (size_t i = 0; i < picture->count; i++) {
        const struct sweep_row *row = &picture->rows[i];
        double value = row->values[picture->quantity];
        if (row->status != SWEEP_DONE || isnan(value))
            continue;
        double most = best ? best->values[picture->quantity] : 0;
        if (!best || (is_most ? value > most : value < most))
            best = row;
    }
    return best;
}

/* "599 ms". */
static struct units_text
format_value(enum sweep_quantity quantity, double value)
{
    const char *unit = sweep_quantity_unit(quantity);
    if (quantity == SWEEP_MFU)
        return units_format_fraction(value);
    if (strcmp(unit, "s") == 0)
        return units_format_s(value);
    if (strcmp(unit, "B") == 0)
        return units_format_bytes(value);
    return strcmp(unit, "FLOP/s") == 0 ? units_format_flop_per_s(value)
                                       : units_format_count(value);
}

/* "Most tokens a second and GPU, 32.1 k, at plan.microbatch_sequences=4, plan.recompute=none". */
static const char *
make_title(const struct sweep_picture *picture, const struct sweep_row *best,
           struct arena *arena)
{
    struct text title = text_new(arena);
    enum sweep_quantity quantity = picture->quantity;
    const char *superlative = sweep_quantity_is_gain(quantity) ? "Most" : "Least";
    const char *label = quantity == SWEEP_MFU ? "MFU" : sweep_quantity_label(quantity);
    if (quantity == SWEEP_STEP_S)
        superlative = "Shortest";
    text_format(&title, "%s %s, %s, at", superlative, label,
                format_value(quantity, best->values[quantity]).text);
    for (size_t i = 0; i < picture->space->axis_count; i++)
        text_format(&title, "%s %s", i > 0 ? "," : "", best->settings.texts[i]);
    return title.bytes;
}

/* The run, how many points of how many, and the fields that follow. */
static const char *
make_subtitle(const struct sweep_picture *picture, struct arena *arena)
{
    struct text text = text_new(arena);
    size_t done = 0, large = 0;
    for (size_t i = 0; i < picture->count; i++) {
        done += picture->rows[i].status == SWEEP_DONE;
        large += picture->rows[i].status == SWEEP_INFEASIBLE &&
                 strstr(picture->rows[i].reason, "does not fit") != NULL;
    }
    text_format(&text, "%s · %zu of %zu points run", picture->base->name, done, picture->count);
    if (large > 0)
        text_format(&text, ", %zu do not fit a GPU's memory", large);
    for (size_t i = 0; i < picture->space->link_count; i++)
        text_format(&text, " · %s = %s", picture->space->links[i].field,
                    picture->space->links[i].formula);
    return text.bytes;
}

/* Values that grow by what they are, or over decades. */
static bool
is_log_range(const struct sweep_axis *axis)
{
    const double decades = 100;
    double low = INFINITY, high = 0;
    for (size_t i = 0; i < axis->count; i++) {
        low = fmin(low, strtod(axis->values[i], NULL));
        high = fmax(high, strtod(axis->values[i], NULL));
    }
    if (axis->count < 3 || low <= 0)
        return false;
    double first = strtod(axis->values[0], NULL), second = strtod(axis->values[1], NULL);
    double last = strtod(axis->values[axis->count - 1], NULL);
    double before = strtod(axis->values[axis->count - 2], NULL);
    return high / low >= decades || last - before >= 2 * (second - first);
}

static bool
is_whole(const struct sweep_axis *axis)
{
    for (size_t i = 0; i < axis->count; i++) {
        double value = strtod(axis->values[i], NULL);
        if (value < 1 || fabs(value - round(value)) > 0 || value >= 0x1p62)
            return false;
    }
    return true;
}

/* Ticks at powers of two suit values that are some. */
static enum line_chart_scale
scale_of(const struct sweep_axis *axis)
{
    int exponent = 0;
    bool is_binary = frexp(strtod(axis->values[0], NULL), &exponent) == 0.5;
    if (is_log_range(axis))
        return is_whole(axis) && is_binary ? LINE_CHART_LOG_BINARY : LINE_CHART_LOG;
    return is_whole(axis) ? LINE_CHART_BINARY : LINE_CHART_LINEAR;
}

static const char *
make_footer(const struct sweep_picture *picture, struct arena *arena)
{
    return arena_format(arena, "stepcast %s: %s on %s", STEPCAST_VERSION,
                        picture->base->inputs.workload.arch->name,
                        picture->base->inputs.cluster->name);
}

/* Whether a point sets what the run says itself. */
static bool
is_own(const struct sweep_picture *picture, const struct sweep_row *row)
{
    const struct sweep_space *space = picture->space;
    for (size_t i = 0; i < space->axis_count; i++) {
        const char *value = strchr(row->settings.texts[i], '=');
        double own = 0;
        if (value == NULL || !run_number(picture->base, space->axes[i].field, &own) ||
            fabs(strtod(value + 1, NULL) - own) > 0)
            return false;
    }
    return true;
}

/* Points with a value in both columns, those on the front filled. */
static struct line_chart_series
make_front_series(const struct sweep_picture *picture, size_t first, size_t stride,
                  struct arena *arena)
{
    const struct sweep_space *space = picture->space;
    size_t most = space->axes[0].count, count = 0;
    struct line_chart_vertex *curve = arena_alloc(arena, most, sizeof *curve);
    struct line_chart_point *points = arena_alloc(arena, most, sizeof *points);
    struct line_chart_note *notes = arena_alloc(arena, most, sizeof *notes);
    for (size_t i = 0; i < most; i++) {
        const struct sweep_row *row = &picture->rows[first + i * stride];
        double x = row->values[space->front[1]], y = row->values[space->front[0]];
        if (row->status != SWEEP_DONE || isnan(x) || isnan(y))
            continue;
        curve[count] = (struct line_chart_vertex){.x = x, .y = y, .low = y, .high = y};
        const char *text = space->axes[0].values[i];
        bool is_base = is_own(picture, row);
        text = is_base ? arena_format(arena, "%s: as it is", text) : text;
        notes[count] = (struct line_chart_note){x, y, text, is_base, true};
        points[count++] = (struct line_chart_point){x, y, !row->is_on_front};
    }
    qsort(curve, count, sizeof *curve, compare_vertices);
    return (struct line_chart_series){.label = label_of(picture, first, false, arena),
                                      .short_label = short_label_of(picture, first, arena),
                                      .curve = curve,
                                      .vertex_count = count,
                                      .points = points,
                                      .point_count = count,
                                      .notes = notes,
                                      .note_count = count};
}

/* "6 of 14 points are beaten by no other in step and memory". */
static const char *
make_front_title(const struct sweep_picture *picture, struct arena *arena)
{
    const struct sweep_space *space = picture->space;
    struct text title = text_new(arena);
    size_t on_front = 0, done = 0;
    for (size_t i = 0; i < picture->count; i++) {
        on_front += picture->rows[i].is_on_front;
        done += picture->rows[i].status == SWEEP_DONE;
    }
    text_format(&title, "%zu of %zu points are beaten by no other in", on_front, done);
    for (size_t i = 0; i < space->front_count; i++)
        text_format(&title, "%s %s",
                    i == 0                       ? ""
                    : i + 1 < space->front_count ? ","
                                                 : " and",
                    sweep_quantity_label(space->front[i]));
    return title.bytes;
}

/* "ZAYA1-base · a line for each model.experts_per_token · at each point its model.experts". */
static const char *
make_front_subtitle(const struct sweep_picture *picture, struct arena *arena)
{
    const struct sweep_space *space = picture->space;
    struct text subtitle = text_new(arena);
    text_format(&subtitle, "%s", picture->base->name);
    for (size_t i = 1; i < space->axis_count; i++)
        text_format(&subtitle, "%s %s", i == 1 ? " · a line for each" : " and",
                    space->axes[i].field);
    text_format(&subtitle, " · at each point its %s", space->axes[0].field);
    if (space->front_count > 2)
        text_format(&subtitle, " · drawn: the first two");
    return subtitle.bytes;
}

static struct line_chart_axis
make_front_axis(enum sweep_quantity quantity)
{
    return (struct line_chart_axis){sweep_quantity_label(quantity),
                                    sweep_quantity_unit(quantity), LINE_CHART_LINEAR};
}

static const struct line_chart *
make_front_chart(const struct sweep_picture *picture, struct arena *arena)
{
    const struct sweep_space *space = picture->space;
    size_t curves = picture->count / space->axes[0].count;
    struct line_chart_series *series = arena_alloc(arena, curves, sizeof *series);
    struct line_chart *chart = arena_alloc(arena, 1, sizeof *chart);
    for (size_t i = 0; i < curves; i++) {
        struct line_chart_series one = make_front_series(picture, i, curves, arena);
        if (one.vertex_count > 0)
            series[chart->series_count++] = one;
    }
    chart->title = make_front_title(picture, arena);
    chart->subtitle = make_front_subtitle(picture, arena);
    chart->footer = make_footer(picture, arena);
    chart->y = make_front_axis(space->front[0]);
    chart->x = make_front_axis(space->front[1]);
    chart->series = series;
    chart->point_name = "none beats it";
    chart->hollow_name = "another is better";
    return chart;
}

static struct line_chart_axis
axis_of(enum sweep_quantity quantity)
{
    const char *unit = quantity == SWEEP_MFU ? "%" : sweep_quantity_unit(quantity);
    return (struct line_chart_axis){sweep_quantity_label(quantity), unit, LINE_CHART_LINEAR};
}

/* One curve says more of itself; of FLOP/s the time of a step stands below, since what does less a
 * second need not take longer. */
static void
add_one_curve(const struct sweep_picture *picture, struct line_chart *chart,
              struct line_chart_series *series, struct arena *arena)
{
    bool is_rate =
        picture->quantity == SWEEP_MFU || picture->quantity == SWEEP_MODEL_FLOP_PER_S_PER_GPU;
    struct sweep_curve curve = sweep_curve_of(picture, 0, 1, arena);
    struct sweep_notes notes = sweep_notes_of(picture, &curve, arena);
    series[0] = make_series(&curve, picture->quantity, arena);
    series[0].notes = notes.notes;
    series[0].note_count = notes.count;
    chart->series_count = 1;
    if (notes.worst)
        chart->title = arena_format(arena, "%s; %s loses %s of MFU%s%s", chart->title,
                                    strchr(notes.worst->settings.texts[0], '=') + 1,
                                    units_format_fraction(notes.worst_fraction).text,
                                    notes.worst_reason ? ": " : "",
                                    notes.worst_reason ? notes.worst_reason : "");
    if (!is_rate)
        return;
    series[1] = make_series(&curve, SWEEP_STEP_S, arena);
    series[1].y = arena_copy(arena, &(struct line_chart_axis){"step", "s", LINE_CHART_LINEAR},
                             sizeof *series[1].y);
    chart->series_count = 2;
    chart->series_a_panel = 1;
}

/* Points of a curve are a stride apart: the first field runs slowest. */
static void
add_curves(const struct sweep_picture *picture, struct line_chart *chart,
           struct line_chart_series *series, struct arena *arena)
{
    size_t curves = picture->count / picture->space->axes[0].count;
    for (size_t i = 0; i < curves; i++) {
        struct sweep_curve curve = sweep_curve_of(picture, i, curves, arena);
        if (curve.count == 0)
            continue;
        struct line_chart_series *one = &series[chart->series_count++];
        *one = make_series(&curve, picture->quantity, arena);
        one->label = label_of(picture, i, true, arena);
    }
}

static const char *
curve_name(const struct sweep_space *space, struct arena *arena)
{
    return space->axis_count == 2
               ? arena_format(arena, "predicted, for each %s", space->axes[1].field)
               : "predicted";
}

static const struct line_chart *
make_curve_chart(const struct sweep_picture *picture, const struct sweep_row *best,
                 struct arena *arena)
{
    const struct sweep_space *space = picture->space;
    size_t curves = picture->count / space->axes[0].count;
    struct line_chart_series *series = arena_alloc(arena, curves + 1, sizeof *series);
    struct line_chart *chart = arena_alloc(arena, 1, sizeof *chart);
    chart->title = make_title(picture, best, arena);
    chart->subtitle = make_subtitle(picture, arena);
    chart->footer = make_footer(picture, arena);
    chart->x = (struct line_chart_axis){space->axes[0].field, "", scale_of(&space->axes[0])};
    chart->y = axis_of(picture->quantity);
    chart->series = series;
    chart->curve_name = curve_name(space, arena);
    chart->band_name = "90 % interval";
    if (picture->quantity == SWEEP_MEMORY_BYTES) {
        double bytes = picture->base->inputs.cluster->device->hbm_bytes;
        struct line_chart_limit *limit = arena_alloc(arena, 1, sizeof *limit);
        *limit = (struct line_chart_limit){
            bytes, arena_format(arena, "a GPU has %s", units_format_bytes(bytes).text)};
        chart->limits = limit;
        chart->limit_count = 1;
        chart->band_name = NULL;
    }
    if (curves == 1)
        add_one_curve(picture, chart, series, arena);
    else
        add_curves(picture, chart, series, arena);
    return chart;
}

static const char *
first_reason(const struct sweep_picture *picture)
{
    for (size_t i = 0; i < picture->count; i++)
        if (picture->rows[i].reason[0] != '\0')
            return picture->rows[i].reason;
    return "all are left out";
}

const struct line_chart *
sweep_picture_chart(const struct sweep_picture *picture, struct arena *arena,
                    struct error_list *errors)
{
    const struct sweep_space *space = picture->space;
    const struct sweep_row *best = find_best(picture);
    size_t curves = picture->count / space->axes[0].count;
    bool has_order = space->axes[0].is_numeric || space->front_count > 0;
    if (!best) {
        error_add(errors, ERROR_INPUT, "",
                  "nothing to draw: none of %zu points has a value, %s", picture->count,
                  first_reason(picture));
        return NULL;
    }
    if (space->samples > 0 || !has_order || curves > CURVES_MAX) {
        error_add(
            errors, ERROR_INPUT, "",
            "a picture needs every point of a sweep, numbers in its first --over, and at most "
            "%d combinations of the others",
            CURVES_MAX);
        return NULL;
    }
    return space->front_count > 0 ? make_front_chart(picture, arena)
                                  : make_curve_chart(picture, best, arena);
}
