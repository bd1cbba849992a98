/* Ranges first, then the axes that they need, then everything from the back to the front. */
#include "plots/line_chart.h"

#include <math.h>
#include <string.h>

#include "plots/page.h"
#include "plots/plane.h"
#include "plots/spread.h"

static const double curve_pt = 1.4;
static const double point_radius_pt = 2.2;
static const double point_halo_pt = 0.7; /* of paper round a point, to part it from the curve */
static const double ring_pt = 0.8;
static const double band_opaque_fraction = 0.18;
static const double point_shade = 0.45;
static const double y_name_pt = 14.0;    /* above the box */
static const double series_gap_pt = 6.0; /* from the box to a curve's label */
static const double y_headroom = 0.06;   /* of the range, above the highest */
static const double far_from_zero =
    0.4;                                /* low above this part of high: y need not begin at 0 */
static const double overhang_pt = 12.0; /* of labels of x, into the margin */
static const double height_least_pt = 60.0; /* of a panel */
static const double panel_gap_pt = 22.0;    /* with the name of the lower one's y */
static const double height_per_tick_pt = 11.0;

struct range {
    double low, high;
};

struct drawing {
    const struct line_chart *chart;
    struct page page;
    struct plane plane; /* of the panel at hand ... */
    size_t first, end;  /* ... and its series, the last one excluded */
};

uint32_t
line_chart_colour(size_t index)
{
    static const enum style_slot slots[] = {
        STYLE_FORWARD,       STYLE_EXPERT_PARALLEL,   STYLE_OPTIMIZER, STYLE_TENSOR_PARALLEL,
        STYLE_DATA_PARALLEL, STYLE_PIPELINE_PARALLEL, STYLE_OTHER};
    const size_t count = sizeof slots / sizeof *slots;
    const double second_round = 0.4; /* darker */
    return style_shade(style_colour(slots[index % count]), index < count ? 0.0 : second_round);
}

static void
widen(struct range *range, double value)
{
    range->low = fmin(range->low, value);
    range->high = fmax(range->high, value);
}

static void
find_ranges(const struct drawing *drawing, struct range *x, struct range *y)
{
    for (size_t s = drawing->first; s < drawing->end; s++) {
        const struct line_chart_series *series = &drawing->chart->series[s];
        for (size_t i = 0; i < series->vertex_count; i++) {
            widen(x, series->curve[i].x);
            widen(y, series->curve[i].low);
            widen(y, series->curve[i].high);
        }
        for (size_t i = 0; i < series->point_count; i++) {
            widen(x, series->points[i].x);
            widen(y, series->points[i].y);
        }
    }
}

static bool
is_log(enum line_chart_scale scale)
{
    return scale == LINE_CHART_LOG || scale == LINE_CHART_LOG_BINARY;
}

/* A range without length, or of nothing at all, gets one. */
static struct range
open_range(struct range range, bool is_log_scale)
{
    if (range.low > range.high)
        return (struct range){is_log_scale ? 1.0 : 0.0, is_log_scale ? 10.0 : 1.0};
    if (range.low < range.high)
        return range;
    if (is_log_scale)
        return (struct range){range.low / 2, range.high * 2};
    double around = fmax(1.0, fabs(range.low)) / 2;
    return (struct range){fmax(0.0, range.low - around), range.high + around};
}

static struct range
y_range(struct range range, enum line_chart_scale scale)
{
    range = open_range(range, is_log(scale));
    if (is_log(scale)) {
        double margin = pow(range.high / range.low, y_headroom);
        return (struct range){range.low / margin, range.high * margin};
    }
    double margin = y_headroom * (range.high - range.low);
    bool is_far = range.low > far_from_zero * range.high;
    bool has_negative = range.low < 0.0;
    return (struct range){is_far || has_negative ? range.low - margin : 0.0,
                          range.high + margin};
}

static struct axis
make_axis(const struct line_chart_axis *asked, struct range range, size_t tick_max)
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

static const struct canvas_font series_font = {STYLE_SMALL_PT, true, STYLE_INK, CANVAS_LEFT};

/* How wide the labels at the curves' ends are. */
static double
series_width_pt(const struct drawing *drawing)
{
    double widest = 0.0;
    for (size_t s = 0; s < drawing->chart->series_count; s++) {
        const char *label = drawing->chart->series[s].label;
        if (label != NULL)
            widest = fmax(widest, series_gap_pt + canvas_text_width_pt(drawing->page.canvas,
                                                                       &series_font, label));
    }
    return fmin(widest, page_content_width_pt(&drawing->page) / 3);
}

static size_t
panel_count(const struct line_chart *chart)
{
    return chart->has_panels && chart->series_count > 1 ? chart->series_count : 1;
}

/* The first panel's box: an even part of what titles, labels and footer leave. */
static struct canvas_box
first_box(const struct drawing *drawing, double page_height_pt, double below_pt)
{
    double panels = (double)panel_count(drawing->chart);
    double top = drawing->page.y_pt + y_name_pt;
    double height = (page_height_pt - top - below_pt - (panels - 1) * panel_gap_pt) / panels;
    return (struct canvas_box){.y_pt = top, .height_pt = fmax(height_least_pt, height)};
}

/* Makes the index-th panel the one at hand: its series, and its own scale of y. */
static void
choose_panel(struct drawing *drawing, size_t index)
{
    const struct line_chart *chart = drawing->chart;
    struct range x = {INFINITY, -INFINITY}, y = {INFINITY, -INFINITY};
    size_t series_each = panel_count(chart) > 1 ? 1 : chart->series_count;
    drawing->first = index * series_each;
    drawing->end = drawing->first + series_each;
    find_ranges(drawing, &x, &y);
    double ticks = floor(drawing->plane.box.height_pt / height_per_tick_pt);
    drawing->plane.y =
        make_axis(&chart->y, y_range(y, chart->y.scale), (size_t)fmin(AXIS_TICK_MAX, ticks));
}

/* Room for the widest labels of y of any panel. */
static double
widest_gutter_pt(struct drawing *drawing)
{
    double widest = 20.0;
    for (size_t i = 0; i < panel_count(drawing->chart); i++) {
        choose_panel(drawing, i);
        widest = fmax(widest, plane_gutter_pt(&drawing->plane.y, drawing->page.canvas));
    }
    return widest;
}

/* The first panel's box and the axis of x that all share. */
static void
settle_plane(struct drawing *drawing, double page_height_pt)
{
    const struct line_chart *chart = drawing->chart;
    struct range x = {INFINITY, -INFINITY}, y = {INFINITY, -INFINITY};
    struct plane *plane = &drawing->plane;
    double below = PLANE_LABELS_PT + PLANE_NAME_PT + PAGE_SECTION_GAP_PT + PAGE_MARGIN_PT;
    below += chart->footer != NULL ? PAGE_FOOTER_PT : 0.0;
    drawing->end = chart->series_count;
    find_ranges(drawing, &x, &y);
    plane->overhang_pt = overhang_pt;
    plane->box = first_box(drawing, page_height_pt, below);
    double gutter = widest_gutter_pt(drawing);
    plane->box.x_pt = PAGE_MARGIN_PT + gutter;
    plane->box.width_pt =
        page_content_width_pt(&drawing->page) - gutter - series_width_pt(drawing);
    plane->x = make_axis(&chart->x, open_range(x, is_log(chart->x.scale)),
                         plane_x_tick_max(plane->box.width_pt));
    double panels = (double)panel_count(chart);
    double height = panels * (plane->box.height_pt + panel_gap_pt) - panel_gap_pt;
    canvas_set_size(drawing->page.canvas, drawing->page.width_pt,
                    plane->box.y_pt + height + below);
}

static void
draw_marks(const struct drawing *drawing)
{
    const struct canvas_font font = {STYLE_TINY_PT, false, STYLE_QUIET, CANVAS_LEFT};
    const struct canvas_box *box = &drawing->plane.box;
    struct canvas *canvas = drawing->page.canvas;
    double reached_pt = box->x_pt;
    const struct line_chart_series *series = &drawing->chart->series[drawing->first];
    size_t count = drawing->end == drawing->first + 1 ? series->mark_count : 0;
    for (size_t i = 0; i < count; i++) {
        const struct line_chart_mark *mark = &series->marks[i];
        double x_pt = plane_point(&drawing->plane, mark->x, drawing->plane.y.low).x_pt;
        canvas_line(canvas, (struct canvas_point){x_pt, box->y_pt},
                    (struct canvas_point){x_pt, box->y_pt + box->height_pt}, STYLE_HAIRLINE_PT,
                    STYLE_GRID);
        if (mark->label == NULL)
            continue;
        double end_pt = x_pt + 2.0 + canvas_text_width_pt(canvas, &font, mark->label);
        if (x_pt < reached_pt || end_pt > box->x_pt + box->width_pt)
            continue;
        canvas_text(canvas, (struct canvas_point){x_pt + 2.0, box->y_pt + STYLE_TINY_PT}, &font,
                    mark->label);
        reached_pt = end_pt + 3.0;
    }
}

static void
draw_band(const struct drawing *drawing, const struct line_chart_series *series, uint32_t rgb)
{
    struct canvas *canvas = drawing->page.canvas;
    size_t count = series->vertex_count;
    struct canvas_point *points =
        arena_alloc(canvas_arena(canvas), 2 * count + 1, sizeof *points);
    bool has_band = false;
    for (size_t i = 0; i < count; i++) {
        const struct line_chart_vertex *vertex = &series->curve[i];
        points[i] = plane_point(&drawing->plane, vertex->x, vertex->high);
        points[2 * count - 1 - i] = plane_point(&drawing->plane, vertex->x, vertex->low);
        has_band = has_band || vertex->low < vertex->high;
    }
    if (has_band)
        canvas_polygon(canvas, (struct canvas_path){points, 2 * count}, rgb,
                       band_opaque_fraction);
}

static void
draw_curve(const struct drawing *drawing, const struct line_chart_series *series, uint32_t rgb)
{
    struct canvas *canvas = drawing->page.canvas;
    struct canvas_point *points =
        arena_alloc(canvas_arena(canvas), series->vertex_count + 1, sizeof *points);
    for (size_t i = 0; i < series->vertex_count; i++)
        points[i] = plane_point(&drawing->plane, series->curve[i].x, series->curve[i].y);
    canvas_curve(canvas, (struct canvas_path){points, series->vertex_count}, curve_pt, rgb);
}

/* A disc, or a ring of the same size, in the paper's colour all round. */
static void
draw_point(struct canvas *canvas, struct canvas_point at, bool is_hollow, uint32_t rgb)
{
    canvas_dot(canvas, at, point_radius_pt, rgb);
    if (is_hollow)
        canvas_dot(canvas, at, point_radius_pt - ring_pt, STYLE_PAPER);
}

/* Rings under discs, for these count more. */
static void
draw_points(const struct drawing *drawing, const struct line_chart_series *series, uint32_t rgb)
{
    struct canvas *canvas = drawing->page.canvas;
    for (size_t i = 0; i < series->point_count; i++)
        canvas_dot(canvas,
                   plane_point(&drawing->plane, series->points[i].x, series->points[i].y),
                   point_radius_pt + point_halo_pt, STYLE_PAPER);
    for (int layer = 0; layer < 2; layer++)
        for (size_t i = 0; i < series->point_count; i++) {
            const struct line_chart_point *point = &series->points[i];
            if (point->is_hollow == (layer == 0))
                draw_point(canvas, plane_point(&drawing->plane, point->x, point->y),
                           point->is_hollow, rgb);
        }
}

/* Of a curve alone in its panel black, as measurements are everywhere; else in its colour. */
static uint32_t
point_colour(const struct line_chart *chart, size_t series)
{
    return chart->series_count <= panel_count(chart)
               ? style_colour(STYLE_MEASURED)
               : style_shade(line_chart_colour(series), point_shade);
}

static void
draw_series(const struct drawing *drawing)
{
    const struct line_chart *chart = drawing->chart;
    for (size_t s = drawing->end; s-- > drawing->first;)
        draw_band(drawing, &chart->series[s], line_chart_colour(s));
    for (size_t s = drawing->end; s-- > drawing->first;)
        draw_curve(drawing, &chart->series[s], line_chart_colour(s));
    for (size_t s = drawing->end; s-- > drawing->first;)
        draw_points(drawing, &chart->series[s], point_colour(chart, s));
}

/* A curve's label and where it wants to be. */
struct end_label {
    size_t series;
    double y_pt;
};

/* The labels there are, from the top down. */
static size_t
collect_end_labels(const struct drawing *drawing, struct end_label *ends)
{
    size_t count = 0;
    for (size_t s = drawing->first; s < drawing->end; s++) {
        const struct line_chart_series *series = &drawing->chart->series[s];
        if (series->label == NULL || series->vertex_count == 0)
            continue;
        const struct line_chart_vertex *last = &series->curve[series->vertex_count - 1];
        struct end_label end = {s, plane_point(&drawing->plane, last->x, last->y).y_pt};
        size_t place = count++;
        for (; place > 0 && ends[place - 1].y_pt > end.y_pt; place--)
            ends[place] = ends[place - 1];
        ends[place] = end;
    }
    return count;
}

/* Labels at the curves' ends in their colours, moved apart; as many as the box's height holds. */
static void
draw_end_labels(const struct drawing *drawing)
{
    const struct canvas_box *box = &drawing->plane.box;
    struct canvas *canvas = drawing->page.canvas;
    struct arena *arena = canvas_arena(canvas);
    size_t room = drawing->chart->series_count + 1;
    struct end_label *ends = arena_alloc(arena, room, sizeof *ends);
    struct spread_label *labels = arena_alloc(arena, room, sizeof *labels);
    size_t count = collect_end_labels(drawing, ends);
    for (size_t i = 0; i < count; i++)
        labels[i] =
            (struct spread_label){.wanted = ends[i].y_pt, .width = STYLE_SMALL_PT * 1.2};
    const double range[2] = {box->y_pt, box->y_pt + box->height_pt};
    while (count > 0 && !spread_labels(arena, labels, count, range, 0.0))
        count--;
    double right_pt = box->x_pt + box->width_pt;
    for (size_t i = 0; i < count; i++) {
        struct canvas_font font = series_font;
        font.rgb = style_shade(line_chart_colour(ends[i].series), point_shade);
        struct canvas_point at = {right_pt + series_gap_pt,
                                  labels[i].centre + 0.365 * STYLE_SMALL_PT};
        const char *label = drawing->chart->series[ends[i].series].label;
        double width_pt = series_width_pt(drawing) - series_gap_pt + 0.01;
        canvas_text(canvas, at, &font, canvas_text_cut(canvas, &font, label, width_pt));
    }
}

static bool
has_points(const struct line_chart *chart, bool is_hollow)
{
    for (size_t s = 0; s < chart->series_count; s++)
        for (size_t i = 0; i < chart->series[s].point_count; i++)
            if (chart->series[s].points[i].is_hollow == is_hollow)
                return true;
    return false;
}

/* The entry of discs or of rings at x, if they have a name and there are any; the next x. */
static double
draw_legend_point(struct drawing *drawing, double x_pt, bool is_hollow)
{
    const struct line_chart *chart = drawing->chart;
    const char *name = is_hollow ? chart->hollow_name : chart->point_name;
    if (name == NULL || !has_points(chart, is_hollow))
        return x_pt;
    struct canvas_box box = page_draw_legend_name(&drawing->page, x_pt, name, &x_pt);
    struct canvas_point centre = {box.x_pt + box.width_pt / 2, box.y_pt + box.height_pt / 2};
    draw_point(drawing->page.canvas, centre, is_hollow, point_colour(chart, 0));
    return x_pt;
}

static void
draw_legend(struct drawing *drawing)
{
    const struct line_chart *chart = drawing->chart;
    struct canvas *canvas = drawing->page.canvas;
    double x_pt = PAGE_MARGIN_PT;
    struct canvas_box box;
    drawing->page.y_pt += PAGE_LEGEND_LEADING_PT - 4.0;
    if (chart->curve_name != NULL) {
        box = page_draw_legend_name(&drawing->page, x_pt, chart->curve_name, &x_pt);
        double y_pt = box.y_pt + box.height_pt / 2;
        canvas_line(canvas, (struct canvas_point){box.x_pt, y_pt},
                    (struct canvas_point){box.x_pt + box.width_pt, y_pt}, curve_pt,
                    line_chart_colour(0));
    }
    if (chart->band_name != NULL) {
        box = page_draw_legend_name(&drawing->page, x_pt, chart->band_name, &x_pt);
        canvas_fill(canvas, box, style_shade(line_chart_colour(0), band_opaque_fraction - 1.0));
    }
    x_pt = draw_legend_point(drawing, x_pt, false);
    draw_legend_point(drawing, x_pt, true);
    drawing->page.y_pt += PAGE_SECTION_GAP_PT;
}

/* Above the axis that it names, its unit with it. */
static void
draw_y_name(const struct drawing *drawing)
{
    const struct canvas_font font = {STYLE_SMALL_PT, false, STYLE_QUIET, CANVAS_LEFT};
    const struct line_chart_axis *y = &drawing->chart->y;
    struct canvas *canvas = drawing->page.canvas;
    const char *unit = is_log(y->scale) ? "" : drawing->plane.y.unit;
    const char *name = unit;
    if (y->name != NULL)
        name = *unit != '\0' ? arena_format(canvas_arena(canvas), "%s (%s)", y->name, unit)
                             : y->name;
    canvas_text(canvas, (struct canvas_point){PAGE_MARGIN_PT, drawing->plane.box.y_pt - 6.0},
                &font, canvas_text_cut(canvas, &font, name, drawing->plane.box.width_pt));
}

/* "time (ms)" of a linear scale; a log scale's labels carry the unit themselves. */
static const char *
x_name(const struct drawing *drawing)
{
    const struct line_chart_axis *x = &drawing->chart->x;
    if (x->scale != LINE_CHART_LINEAR || drawing->plane.x.unit[0] == '\0')
        return x->name;
    return arena_format(canvas_arena(drawing->page.canvas), "%s (%s)", x->name,
                        drawing->plane.x.unit);
}

static void
draw_panel(const struct drawing *drawing)
{
    struct canvas *canvas = drawing->page.canvas;
    plane_draw_grid(&drawing->plane, canvas);
    draw_marks(drawing);
    draw_series(drawing);
    draw_end_labels(drawing);
    plane_draw_y(&drawing->plane, canvas);
    draw_y_name(drawing);
    if (drawing->end == drawing->chart->series_count)
        plane_draw_x(&drawing->plane, x_name(drawing), canvas);
    else
        plane_draw_x_ticks(&drawing->plane, canvas);
}

void
line_chart_draw(const struct line_chart *chart, const struct style_page *page,
                struct canvas *canvas)
{
    struct drawing drawing = {.chart = chart,
                              .page = {.canvas = canvas, .width_pt = page->width_pt}};
    page_draw_titles(&drawing.page, chart->title, chart->subtitle);
    draw_legend(&drawing);
    settle_plane(&drawing, page->height_pt);
    for (size_t i = 0; i < panel_count(chart); i++) {
        choose_panel(&drawing, i);
        draw_panel(&drawing);
        drawing.plane.box.y_pt += drawing.plane.box.height_pt + panel_gap_pt;
    }
    page_draw_footer(&drawing.page, chart->footer);
}
