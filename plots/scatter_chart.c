/* Ranges, axes, then lines, faint points, strong points, labels. */
#include "plots/scatter_chart.h"

#include <math.h>

#include "plots/labels.h"
#include "plots/page.h"
#include "plots/plane.h"
#include "plots/range.h"
#include "plots/thin.h"

static const double largest_radius_pt = 16.0, least_radius_pt = 2.0;
static const double largest_part = 0.09; /* of the plane's height or half the page, a radius */
static const double small_radius_pt = 2.6, faint_radius_pt = 1.5;
static const double halo_pt = 0.7;
static const double line_pt = 1.2, quiet_line_pt = 0.8, limit_pt = 1.2;
static const double dash_pt = 4.0;
static const double y_name_pt = 14.0; /* above the box */
static const double overhang_pt = 12.0;
static const double headroom = 0.08; /* of the range, beyond its ends, */
static const double label_room_pt =
    18.0; /* but as much as a label over a line at the top takes */
static const double height_least_pt = 160.0;
static const double height_per_tick_pt = 11.0;
static const double thin_pitch_pt = 0.5;

static const struct canvas_font quiet_font = {STYLE_SMALL_PT, false, STYLE_QUIET, CANVAS_LEFT};
static const struct canvas_font label_font = {STYLE_TINY_PT, false, STYLE_INK, CANVAS_LEFT};

struct drawing {
    const struct scatter_chart *chart;
    struct page page;
    struct plane plane;
    double disc_pt; /* radius of the largest disc */
};

static bool
can_stand(double value, enum line_chart_scale scale)
{
    return isfinite(value) && (!range_is_log(scale) || value > 0.0);
}

static bool
is_drawn(const struct scatter_chart *chart, double x, double y)
{
    return can_stand(x, chart->x.scale) && can_stand(y, chart->y.scale);
}

/* Points decide, and what lines there are between them. */
static void
find_ranges(const struct scatter_chart *chart, struct range *x, struct range *y)
{
    *x = *y = range_new();
    for (size_t i = 0; i < chart->point_count; i++) {
        const struct scatter_point *point = &chart->points[i];
        if (!is_drawn(chart, point->x, point->y))
            continue;
        range_widen(x, point->x);
        range_widen(y, point->y);
    }
    for (size_t i = 0; i < chart->line_count; i++)
        for (size_t k = 0; k < chart->lines[i].count; k++) {
            struct canvas_point at = chart->lines[i].points[k];
            if (!is_drawn(chart, at.x_pt, at.y_pt))
                continue;
            range_widen(x, at.x_pt);
            range_widen(y, at.y_pt);
        }
    if (chart->limit.name != NULL && can_stand(chart->limit.x, chart->x.scale))
        range_widen(x, chart->limit.x);
}

/* Of the chart's discs at most; 0 where all points are small. */
static double
largest_disc_pt(const struct scatter_chart *chart, const struct page *page, double height_pt)
{
    for (size_t i = 0; i < chart->point_count; i++)
        if (chart->points[i].area_part > 0.0 && !chart->points[i].is_faint)
            return fmin(largest_radius_pt,
                        largest_part * fmin(height_pt, page_content_width_pt(page) / 2));
    return 0.0;
}

/* The range with so much room at its ends that discs there stay off the axes. Of what is never
 * negative the room ends at 0 but for the discs. */
static struct range
with_room(struct range range, enum line_chart_scale scale, double length_pt, double disc_pt)
{
    double disc_part = disc_pt / fmax(disc_pt, length_pt - 2 * disc_pt);
    double part = fmax(fmax(headroom, label_room_pt / length_pt), disc_part);
    range = range_open(range, scale);
    if (range_is_log(scale)) {
        double ratio = pow(range.high / range.low, part);
        return (struct range){range.low / ratio, range.high * ratio};
    }
    double span = range.high - range.low;
    double low = range.low - part * span;
    if (range.low >= 0.0)
        low = fmax(disc_pt > 0.0 ? -disc_part * span : 0.0, low);
    return (struct range){low, range.high + part * span};
}

static void
settle_plane(struct drawing *drawing, double page_height_pt)
{
    const struct scatter_chart *chart = drawing->chart;
    struct plane *plane = &drawing->plane;
    struct range x, y;
    double below = PLANE_LABELS_PT + PLANE_NAME_PT + PAGE_SECTION_GAP_PT + PAGE_MARGIN_PT;
    below += chart->footer != NULL ? PAGE_FOOTER_PT : 0.0;
    find_ranges(chart, &x, &y);
    double top = drawing->page.y_pt + y_name_pt;
    double height = fmax(height_least_pt, page_height_pt - top - below);
    double ticks = fmin(AXIS_TICK_MAX, floor(height / height_per_tick_pt));
    plane->overhang_pt = overhang_pt;
    double disc_pt = largest_disc_pt(chart, &drawing->page, height);
    drawing->disc_pt = disc_pt;
    plane->y =
        range_axis(with_room(y, chart->y.scale, height, disc_pt), &chart->y, (size_t)ticks);
    double gutter = fmax(20.0, plane_gutter_pt(&plane->y, drawing->page.canvas));
    plane->box = (struct canvas_box){PAGE_MARGIN_PT + gutter, top,
                                     page_content_width_pt(&drawing->page) - gutter, height};
    plane->x = range_axis(with_room(x, chart->x.scale, plane->box.width_pt, disc_pt), &chart->x,
                          plane_x_tick_max(plane->box.width_pt));
    canvas_set_size(drawing->page.canvas, drawing->page.width_pt, top + height + below);
}

static const char *
axis_name(const struct line_chart_axis *asked, const struct axis *axis, struct arena *arena)
{
    bool has_unit = !range_is_log(asked->scale) && axis->unit[0] != '\0';
    return has_unit ? arena_format(arena, "%s (%s)", asked->name, axis->unit) : asked->name;
}

static void
draw_axes(const struct drawing *drawing)
{
    struct canvas *canvas = drawing->page.canvas;
    struct arena *arena = canvas_arena(canvas);
    const struct plane *plane = &drawing->plane;
    const struct scatter_chart *chart = drawing->chart;
    plane_draw_grid(plane, canvas);
    plane_draw_y(plane, canvas);
    plane_draw_x(plane, axis_name(&chart->x, &plane->x, arena), canvas);
    const char *name = axis_name(&chart->y, &plane->y, arena);
    canvas_text_short(
        canvas, (struct canvas_point){PAGE_MARGIN_PT, plane->box.y_pt - 6.0}, &quiet_font,
        canvas_text_cut(canvas, &quiet_font, name, page_content_width_pt(&drawing->page)),
        name);
}

static void
draw_dashes(struct canvas *canvas, struct canvas_point from, struct canvas_point to,
            double width_pt, uint32_t rgb)
{
    double x = to.x_pt - from.x_pt, y = to.y_pt - from.y_pt, length = hypot(x, y);
    int count = (int)ceil(length / (2 * dash_pt));
    for (int i = 0; i < count; i++) {
        double begin = 2 * dash_pt * i / length;
        double end = fmin(1.0, begin + dash_pt / length);
        canvas_line(canvas, (struct canvas_point){from.x_pt + begin * x, from.y_pt + begin * y},
                    (struct canvas_point){from.x_pt + end * x, from.y_pt + end * y}, width_pt,
                    rgb);
    }
}

/* The line's points that can be drawn, on the plane. */
static struct canvas_path
make_path(const struct drawing *drawing, const struct scatter_line *line)
{
    struct arena *arena = canvas_arena(drawing->page.canvas);
    struct canvas_point *points = arena_alloc(arena, line->count + 1, sizeof *points);
    size_t count = 0;
    for (size_t i = 0; i < line->count; i++)
        if (is_drawn(drawing->chart, line->points[i].x_pt, line->points[i].y_pt))
            points[count++] =
                plane_point(&drawing->plane, line->points[i].x_pt, line->points[i].y_pt);
    return (struct canvas_path){points, count};
}

static void
draw_line(struct canvas *canvas, const struct scatter_line *line, struct canvas_path path)
{
    uint32_t rgb = line->is_quiet ? STYLE_QUIET : style_colour(STYLE_FORWARD);
    double width_pt = line->is_quiet ? quiet_line_pt : line_pt;
    if (!line->is_dashed)
        canvas_curve(canvas, path, width_pt, rgb);
    for (size_t i = 1; line->is_dashed && i < path.count; i++)
        draw_dashes(canvas, path.points[i - 1], path.points[i], width_pt, rgb);
}

static double
radius_pt(const struct drawing *drawing, const struct scatter_point *point)
{
    if (point->area_part > 0.0)
        return fmax(least_radius_pt, drawing->disc_pt * sqrt(fmin(1.0, point->area_part)));
    return point->is_faint ? faint_radius_pt : small_radius_pt;
}

/* What labels are of, and what they keep off. */
struct wishes {
    struct label *labels;
    size_t label_count;
    struct label_disc *discs;
    size_t disc_count;
    struct canvas_path *paths;
    size_t path_count;
};

/* Thinned, for there may be a million. */
static void
draw_faint_points(const struct drawing *drawing, struct wishes *wishes)
{
    const struct scatter_chart *chart = drawing->chart;
    struct canvas *canvas = drawing->page.canvas;
    struct canvas_point *points =
        arena_alloc(canvas_arena(canvas), chart->point_count + 1, sizeof *points);
    size_t count = 0;
    for (size_t i = 0; i < chart->point_count; i++) {
        const struct scatter_point *point = &chart->points[i];
        if (point->is_faint && is_drawn(chart, point->x, point->y))
            points[count++] = plane_point(&drawing->plane, point->x, point->y);
    }
    count = thin_dots(points, count, drawing->plane.box, thin_pitch_pt, canvas_arena(canvas));
    for (size_t i = 0; i < count; i++) {
        canvas_dot(canvas, points[i], faint_radius_pt, style_colour(STYLE_HOST));
        wishes->discs[wishes->disc_count++] =
            (struct label_disc){points[i], faint_radius_pt, true};
    }
}

/* Large discs let what lies under them show at their edge. */
static void
draw_strong_points(const struct drawing *drawing)
{
    const struct scatter_chart *chart = drawing->chart;
    struct canvas *canvas = drawing->page.canvas;
    for (size_t i = 0; i < chart->point_count; i++) {
        const struct scatter_point *point = &chart->points[i];
        if (point->is_faint || !is_drawn(chart, point->x, point->y))
            continue;
        struct canvas_point at = plane_point(&drawing->plane, point->x, point->y);
        canvas_dot(canvas, at, radius_pt(drawing, point) + halo_pt, STYLE_PAPER);
        canvas_dot(canvas, at, radius_pt(drawing, point), style_colour(point->slot));
    }
}

static struct canvas_path
draw_limit(const struct drawing *drawing)
{
    struct canvas *canvas = drawing->page.canvas;
    const struct canvas_box *box = &drawing->plane.box;
    struct canvas_point *ends = arena_alloc(canvas_arena(canvas), 2, sizeof *ends);
    ends[0] = plane_point(&drawing->plane, drawing->chart->limit.x, drawing->plane.y.high);
    ends[1] = (struct canvas_point){ends[0].x_pt, box->y_pt + box->height_pt};
    canvas_line(canvas, ends[0], ends[1], limit_pt, STYLE_INK);
    return (struct canvas_path){ends, 2};
}

static void
add_label(struct wishes *wishes, struct canvas_point at, double clear_pt, const char *text)
{
    if (text != NULL && text[0] != '\0')
        wishes->labels[wishes->label_count++] =
            (struct label){.at = at, .radius_pt = clear_pt, .text = text, .font = label_font};
}

/* Of discs of all sizes the first are labelled first, of a row of dots its ends. */
static void
add_points(const struct drawing *drawing, struct wishes *wishes)
{
    const struct scatter_chart *chart = drawing->chart;
    size_t first = wishes->label_count;
    bool has_areas = false;
    for (size_t i = 0; i < chart->point_count; i++) {
        const struct scatter_point *point = &chart->points[i];
        if (point->is_faint || !is_drawn(chart, point->x, point->y))
            continue;
        struct canvas_point at = plane_point(&drawing->plane, point->x, point->y);
        double radius = radius_pt(drawing, point);
        wishes->discs[wishes->disc_count++] = (struct label_disc){at, radius, false};
        has_areas = has_areas || point->area_part > 0.0;
        add_label(wishes, at, radius, point->label);
    }
    if (!has_areas)
        labels_order_evenly(canvas_arena(drawing->page.canvas), wishes->labels + first,
                            wishes->label_count - first);
}

/* Lines and limit drawn, their labels the first to find a place. */
static void
add_lines(const struct drawing *drawing, struct wishes *wishes)
{
    const struct scatter_chart *chart = drawing->chart;
    for (size_t i = 0; i < chart->line_count; i++) {
        struct canvas_path path = make_path(drawing, &chart->lines[i]);
        draw_line(drawing->page.canvas, &chart->lines[i], path);
        wishes->paths[wishes->path_count++] = path;
        if (path.count > 0)
            add_label(wishes, path.points[path.count - 1], 0.0, chart->lines[i].label);
    }
    if (chart->limit.name == NULL || !can_stand(chart->limit.x, chart->x.scale))
        return;
    struct canvas_path path = draw_limit(drawing);
    struct canvas_point at = {path.points[0].x_pt, path.points[0].y_pt + STYLE_TINY_PT};
    wishes->paths[wishes->path_count++] = path;
    add_label(wishes, at, 0.0, chart->limit.name);
}

static void
draw_points(struct drawing *drawing)
{
    const struct scatter_chart *chart = drawing->chart;
    struct canvas *canvas = drawing->page.canvas;
    struct arena *arena = canvas_arena(canvas);
    struct wishes wishes = {0};
    wishes.labels =
        arena_alloc(arena, chart->point_count + chart->line_count + 1, sizeof *wishes.labels);
    wishes.discs = arena_alloc(arena, chart->point_count + 1, sizeof *wishes.discs);
    wishes.paths = arena_alloc(arena, chart->line_count + 1, sizeof *wishes.paths);
    draw_faint_points(drawing, &wishes);
    add_lines(drawing, &wishes);
    draw_strong_points(drawing);
    add_points(drawing, &wishes);
    const struct label_field field = {.box = drawing->plane.box,
                                      .discs = wishes.discs,
                                      .disc_count = wishes.disc_count,
                                      .paths = wishes.paths,
                                      .path_count = wishes.path_count};
    drawing->page.left_out_count =
        wishes.label_count - labels_draw(&field, wishes.labels, wishes.label_count, canvas);
}

static void
draw_legend(struct drawing *drawing)
{
    const struct scatter_chart *chart = drawing->chart;
    const struct {
        const char *name;
        uint32_t rgb;
        double radius_pt;
    } entries[] = {{chart->strong_name, style_colour(STYLE_FORWARD), small_radius_pt},
                   {chart->faint_name, style_colour(STYLE_HOST), faint_radius_pt},
                   {chart->area_name, style_colour(STYLE_OTHER), PAGE_SWATCH_PT / 2}};
    double x_pt = PAGE_MARGIN_PT;
    drawing->page.y_pt += PAGE_LEGEND_LEADING_PT - 4.0;
    for (int i = 0; i < 3; i++) {
        if (entries[i].name == NULL)
            continue;
        struct canvas_box box =
            page_draw_legend_name(&drawing->page, x_pt, entries[i].name, &x_pt);
        canvas_dot(
            drawing->page.canvas,
            (struct canvas_point){box.x_pt + box.width_pt / 2, box.y_pt + box.height_pt / 2},
            entries[i].radius_pt, entries[i].rgb);
    }
    drawing->page.y_pt += PAGE_SECTION_GAP_PT;
}

void
scatter_chart_draw(const struct scatter_chart *chart, const struct style_page *page,
                   struct canvas *canvas)
{
    struct drawing drawing = {.chart = chart,
                              .page = {.canvas = canvas, .width_pt = page->width_pt}};
    page_draw_titles(&drawing.page, chart->title, chart->subtitle);
    draw_legend(&drawing);
    settle_plane(&drawing, page->height_pt);
    draw_axes(&drawing);
    draw_points(&drawing);
    page_draw_footer(&drawing.page, chart->footer);
}
