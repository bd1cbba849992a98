/* Ranges first, then the axes that they need, then everything from the back to the front. */
#include "plots/line_chart.h"

#include <math.h>
#include <string.h>

#include "plots/line_panel.h"
#include "plots/page.h"
#include "plots/range.h"

static const double y_name_pt = 14.0;  /* above the box */
static const double y_headroom = 0.06; /* of the range, above the highest */
static const double far_from_zero =
    0.4;                                /* low above this part of high: y need not begin at 0 */
static const double overhang_pt = 12.0; /* of labels of x, into the margin */
static const double height_least_pt = 80.0; /* of panels, and what each has at least: */
static const double each_least_pt = 60.0;
static const double head_gap_pt = 8.0;   /* behind the name of y */
static const double panel_gap_pt = 22.0; /* with the name of the lower one's y */
static const double height_per_tick_pt = 11.0;

struct drawing {
    const struct line_chart *chart;
    struct page page;
    struct range x;          /* of all panels */
    struct range *y;         /* of each panel */
    struct line_panel panel; /* the one at hand */
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

/* The y of the panel at hand. */
static const struct line_chart_axis *
panel_y(const struct drawing *drawing)
{
    const struct line_chart *chart = drawing->chart;
    bool is_own = line_panel_count(chart) > 1 && chart->series[drawing->panel.first].y != NULL;
    return is_own ? chart->series[drawing->panel.first].y : &chart->y;
}

static void
find_ranges(struct drawing *drawing, struct range *y)
{
    struct range *x = &drawing->x;
    for (size_t s = drawing->panel.first; s < drawing->panel.end; s++) {
        const struct line_chart_series *series = &drawing->chart->series[s];
        for (size_t i = 0; i < series->vertex_count; i++) {
            range_widen(x, series->curve[i].x);
            range_widen(y, series->curve[i].low);
            range_widen(y, series->curve[i].high);
        }
        for (size_t i = 0; i < series->point_count; i++) {
            range_widen(x, series->points[i].x);
            range_widen(y, series->points[i].y);
        }
    }
    for (size_t i = 0; i < drawing->chart->limit_count; i++)
        if (panel_y(drawing) == &drawing->chart->y)
            range_widen(y, drawing->chart->limits[i].y);
}

static struct range
y_range(struct range range, enum line_chart_scale scale)
{
    range = range_open(range, scale);
    if (range_is_log(scale)) {
        double margin = pow(range.high / range.low, y_headroom);
        return (struct range){range.low / margin, range.high * margin};
    }
    double margin = y_headroom * (range.high - range.low);
    bool is_far = range.low > far_from_zero * range.high;
    bool has_negative = range.low < 0.0;
    return (struct range){is_far || has_negative ? range.low - margin : 0.0,
                          range.high + margin};
}

/* Opened so far that the name of the highest limit has room over it. */
static struct range
above_limits(const struct drawing *drawing, struct range range, bool is_log)
{
    const struct line_chart *chart = drawing->chart;
    double height = drawing->panel.plane.box.height_pt;
    double part = height / (height - LINE_PANEL_LIMIT_NAME_PT);
    for (size_t i = 0; i < chart->limit_count; i++) {
        double limit = chart->limits[i].y;
        double high = is_log ? range.low * pow(limit / range.low, part)
                             : range.low + (limit - range.low) * part;
        range.high = fmax(range.high, high);
    }
    return range;
}

/* The first panel's box: an even part of what titles, labels and footer leave. */
static struct canvas_box
first_box(const struct drawing *drawing, double page_height_pt, double below_pt)
{
    double panels = (double)line_panel_count(drawing->chart);
    double top = drawing->page.y_pt + y_name_pt;
    double height = (page_height_pt - top - below_pt - (panels - 1) * panel_gap_pt) / panels;
    return (struct canvas_box){
        .y_pt = top, .height_pt = fmax(fmax(each_least_pt, height_least_pt / panels), height)};
}

/* Makes the index-th panel's series those at hand. */
static void
choose_series(struct drawing *drawing, size_t index)
{
    const struct line_chart *chart = drawing->chart;
    size_t series_each =
        line_panel_count(chart) > 1 ? chart->series_a_panel : chart->series_count;
    drawing->panel.first = index * series_each;
    drawing->panel.end = drawing->panel.first + series_each;
    if (drawing->panel.end > chart->series_count)
        drawing->panel.end = chart->series_count;
}

/* Of every panel, once: there may be millions of points. */
static void
measure(struct drawing *drawing)
{
    size_t panels = line_panel_count(drawing->chart);
    drawing->x = range_new();
    drawing->y = arena_alloc(canvas_arena(drawing->page.canvas), panels, sizeof *drawing->y);
    for (size_t i = 0; i < panels; i++) {
        choose_series(drawing, i);
        drawing->y[i] = range_new();
        find_ranges(drawing, &drawing->y[i]);
    }
}

/* Makes the index-th panel the one at hand: its series, and its own scale of y. */
static void
choose_panel(struct drawing *drawing, size_t index)
{
    choose_series(drawing, index);
    const struct line_chart_axis *y = panel_y(drawing);
    double ticks = floor(drawing->panel.plane.box.height_pt / height_per_tick_pt);
    struct range range = y_range(drawing->y[index], y->scale);
    if (y == &drawing->chart->y)
        range = above_limits(drawing, range, range_is_log(y->scale));
    drawing->panel.plane.y = range_axis(range, y, (size_t)fmin(AXIS_TICK_MAX, ticks));
}

/* Room for the widest labels of y of any panel. */
static double
widest_gutter_pt(struct drawing *drawing)
{
    double widest = 20.0;
    for (size_t i = 0; i < line_panel_count(drawing->chart); i++) {
        choose_panel(drawing, i);
        widest = fmax(widest, plane_gutter_pt(&drawing->panel.plane.y, drawing->page.canvas));
    }
    return widest;
}

/* The first panel's box and the axis of x that all share. */
static void
settle_plane(struct drawing *drawing, double page_height_pt)
{
    const struct line_chart *chart = drawing->chart;
    struct plane *plane = &drawing->panel.plane;
    double below = PLANE_LABELS_PT + PLANE_NAME_PT + PAGE_SECTION_GAP_PT + PAGE_MARGIN_PT;
    below += chart->footer != NULL ? PAGE_FOOTER_PT : 0.0;
    measure(drawing);
    plane->overhang_pt = overhang_pt;
    plane->box = first_box(drawing, page_height_pt, below);
    double gutter = widest_gutter_pt(drawing);
    plane->box.x_pt = PAGE_MARGIN_PT + gutter;
    plane->box.width_pt =
        page_content_width_pt(&drawing->page) - gutter - drawing->panel.labels_pt;
    plane->x = range_axis(range_open(drawing->x, chart->x.scale), &chart->x,
                          plane_x_tick_max(plane->box.width_pt));
    double panels = (double)line_panel_count(chart);
    double height = panels * (plane->box.height_pt + panel_gap_pt) - panel_gap_pt;
    canvas_set_size(drawing->page.canvas, drawing->page.width_pt,
                    plane->box.y_pt + height + below);
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
    line_panel_draw_point(drawing->page.canvas, centre, is_hollow,
                          line_panel_point_colour(chart, 0));
    return x_pt;
}

static void
draw_legend_mark(struct drawing *drawing, double x_pt)
{
    const struct line_chart *chart = drawing->chart;
    bool is_drawn = chart->series_count > 0 && chart->series[0].mark_count > 0 &&
                    chart->series_count == line_panel_count(chart);
    if (chart->mark_name == NULL || !is_drawn)
        return;
    struct canvas_box box =
        page_draw_legend_name(&drawing->page, x_pt, chart->mark_name, &x_pt);
    double middle_pt = box.x_pt + box.width_pt / 2;
    canvas_line(drawing->page.canvas, (struct canvas_point){middle_pt, box.y_pt - 1.0},
                (struct canvas_point){middle_pt, box.y_pt + box.height_pt + 1.0},
                2 * STYLE_HAIRLINE_PT, STYLE_GRID);
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
                    (struct canvas_point){box.x_pt + box.width_pt, y_pt}, LINE_PANEL_CURVE_PT,
                    line_chart_colour(0));
    }
    if (chart->band_name != NULL) {
        box = page_draw_legend_name(&drawing->page, x_pt, chart->band_name, &x_pt);
        canvas_fill(canvas, box,
                    style_shade(line_chart_colour(0), LINE_PANEL_BAND_OPAQUE_FRACTION - 1.0));
    }
    x_pt = draw_legend_point(drawing, x_pt, false);
    x_pt = draw_legend_point(drawing, x_pt, true);
    draw_legend_mark(drawing, x_pt);
    drawing->page.y_pt += PAGE_SECTION_GAP_PT;
}

/* Above the axis that it names, its unit with it. */
static void
draw_y_name(struct drawing *drawing)
{
    const struct canvas_font font = {STYLE_SMALL_PT, false, STYLE_QUIET, CANVAS_LEFT};
    const struct line_chart_axis *y = panel_y(drawing);
    struct canvas *canvas = drawing->page.canvas;
    const char *unit = range_is_log(y->scale) ? "" : drawing->panel.plane.y.unit;
    const char *name = unit;
    if (y->name != NULL)
        name = *unit != '\0' ? arena_format(canvas_arena(canvas), "%s (%s)", y->name, unit)
                             : y->name;
    const char *shown =
        canvas_text_cut(canvas, &font, name, page_content_width_pt(&drawing->page));
    canvas_text_short(
        canvas, (struct canvas_point){PAGE_MARGIN_PT, drawing->panel.plane.box.y_pt - 6.0},
        &font, shown, name);
    drawing->panel.head_from_pt =
        PAGE_MARGIN_PT + canvas_text_width_pt(canvas, &font, shown) + head_gap_pt;
}

/* "time (ms)" of a linear scale; a log scale's labels carry the unit themselves. */
static const char *
x_name(const struct drawing *drawing)
{
    const struct line_chart_axis *x = &drawing->chart->x;
    if (x->scale != LINE_CHART_LINEAR || drawing->panel.plane.x.unit[0] == '\0')
        return x->name;
    return arena_format(canvas_arena(drawing->page.canvas), "%s (%s)", x->name,
                        drawing->panel.plane.x.unit);
}

static void
draw_panel(struct drawing *drawing)
{
    struct canvas *canvas = drawing->page.canvas;
    plane_draw_grid(&drawing->panel.plane, canvas);
    draw_y_name(drawing);
    drawing->page.left_out_count += line_panel_draw(&drawing->panel, canvas);
    plane_draw_y(&drawing->panel.plane, canvas);
    if (drawing->panel.end == drawing->chart->series_count)
        plane_draw_x(&drawing->panel.plane, x_name(drawing), canvas);
    else
        plane_draw_x_ticks(&drawing->panel.plane, canvas);
}

/* Room for the curves' names, a third of the page at most. */
static void
settle_labels(struct drawing *drawing)
{
    struct line_panel *panel = &drawing->panel;
    const struct canvas *canvas = drawing->page.canvas;
    double most_pt = page_content_width_pt(&drawing->page) / 3;
    panel->has_short_labels = line_panel_labels_pt(panel, canvas) > most_pt;
    panel->labels_pt = fmin(line_panel_labels_pt(panel, canvas), most_pt);
}

void
line_chart_draw(const struct line_chart *chart, const struct style_page *page,
                struct canvas *canvas)
{
    struct drawing drawing = {.chart = chart,
                              .page = {.canvas = canvas, .width_pt = page->width_pt}};
    drawing.panel.chart = chart;
    settle_labels(&drawing);
    page_draw_titles(&drawing.page, chart->title, chart->subtitle);
    draw_legend(&drawing);
    settle_plane(&drawing, page->height_pt);
    for (size_t i = 0; i < line_panel_count(chart); i++) {
        choose_panel(&drawing, i);
        draw_panel(&drawing);
        drawing.panel.plane.box.y_pt += drawing.panel.plane.box.height_pt + panel_gap_pt;
    }
    page_draw_footer(&drawing.page, chart->footer);
}
