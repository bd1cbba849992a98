/* Scales that suit all panels first, then a grid of boxes for each section, then box by box. */
#include "plots/ratio_chart.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "plots/labels.h"
#include "plots/page.h"
#include "plots/plane.h"

static const double panel_width_pt = 150.0; /* at least, where the page has it */
static const double panel_gap_pt = 14.0;
static const double overhang_pt = 6.0; /* of labels of x: less than half of the gap */
static const double box_low_pt = 84.0, box_high_pt = 230.0;
static const double head_pt = 24.0;    /* title and note above a box */
static const double section_pt = 20.0; /* a section's title */
static const double row_gap_pt = 12.0;
static const double dot_pt = 1.5, faint_dot_pt = 1.1;
static const double crowd_dot_pt = 0.9, faint_crowd_dot_pt = 0.7;
static const double triangle_pt = 2.6;
static const double rim_pt = 0.8; /* of a dot that has a label */
static const double median_pt = 1.1;
static const double within_scale = 0.985; /* of the points */

enum { CROWD = 400, COLUMNS_MAX = 5, MEDIAN_LEAST = 5, BINS_A_DECADE = 3, BINS_MAX = 64 };

/* The ratio at the upper end of a scale, its inverse at the lower, and a tick between. */
static const double scale_ends[][2] = {{1.25, 1.1}, {1.5, 1.2}, {2, 1.4},
                                       {3, 1.7},    {5, 2},     {10, 3}};
enum { SCALE_COUNT = sizeof scale_ends / sizeof *scale_ends };

struct grid {
    const struct ratio_chart *chart;
    struct page page;
    struct axis x, y;
    size_t columns;
    double left_pt; /* of the first box */
    struct canvas_box box;
};

/* A point of any panel in its order; NULL past the last. */
struct walk {
    const struct ratio_chart *chart;
    size_t section, panel, point;
};

static const struct ratio_chart_point *
next_point(struct walk *walk)
{
    for (; walk->section < walk->chart->section_count; walk->section++, walk->panel = 0) {
        const struct ratio_chart_section *section = &walk->chart->sections[walk->section];
        for (; walk->panel < section->panel_count; walk->panel++, walk->point = 0)
            if (walk->point < section->panels[walk->panel].point_count)
                return &section->panels[walk->panel].points[walk->point++];
    }
    return NULL;
}

/* The tightest scale that holds nearly all. */
static size_t
choose_scale(const struct ratio_chart *chart)
{
    for (size_t scale = 0; scale + 1 < SCALE_COUNT; scale++) {
        struct walk walk = {.chart = chart};
        size_t count = 0, within = 0;
        double end = log(scale_ends[scale][0]);
        for (const struct ratio_chart_point *point; (point = next_point(&walk)) != NULL;) {
            count++;
            within += fabs(log(point->ratio)) <= end;
        }
        if ((double)within >= within_scale * (double)count)
            return scale;
    }
    return SCALE_COUNT - 1;
}

static struct axis
ratio_axis(const struct ratio_chart *chart)
{
    const double *ends = scale_ends[choose_scale(chart)];
    const double values[] = {1 / ends[0], 1 / ends[1], 1, ends[1], ends[0]};
    struct axis axis = {.low = values[0], .high = values[4], .is_log = true, .tick_count = 5};
    for (size_t i = 0; i < axis.tick_count; i++) {
        axis.ticks[i].value = values[i];
        snprintf(axis.ticks[i].label, sizeof axis.ticks[i].label, "%.3g",
                 round(values[i] * 100) / 100);
    }
    return axis;
}

/* From the smallest truth to the largest with a little room, a decade at least. */
static struct axis
truth_axis(const struct ratio_chart *chart, double width_pt)
{
    const double room = 1.15, decade = 10.0;
    double low = INFINITY, high = 0.0;
    struct walk walk = {.chart = chart};
    for (const struct ratio_chart_point *point; (point = next_point(&walk)) != NULL;) {
        low = fmin(low, point->truth);
        high = fmax(high, point->truth);
    }
    if (low > high)
        low = high = 1.0;
    double widening = fmax(room, sqrt(decade * low / high));
    return axis_log(low / widening, high * widening, chart->x_unit, plane_x_tick_max(width_pt));
}

static size_t
most_panels(const struct ratio_chart *chart)
{
    size_t most = 1;
    for (size_t s = 0; s < chart->section_count; s++)
        if (chart->sections[s].panel_count > most)
            most = chart->sections[s].panel_count;
    return most;
}

static size_t
rows_of(size_t panels, size_t columns)
{
    return (panels + columns - 1) / columns;
}

static size_t
all_rows(const struct grid *grid)
{
    size_t rows = 0;
    for (size_t s = 0; s < grid->chart->section_count; s++)
        rows += rows_of(grid->chart->sections[s].panel_count, grid->columns);
    return rows > 0 ? rows : 1;
}

/* What stands around boxes: heads, section titles, labels below each section, the footer. */
static double
fixed_height_pt(const struct grid *grid)
{
    const struct ratio_chart *chart = grid->chart;
    double height = (double)all_rows(grid) * (head_pt + row_gap_pt) + PAGE_MARGIN_PT;
    for (size_t s = 0; s < chart->section_count; s++) {
        height += PLANE_LABELS_PT + PLANE_NAME_PT;
        height += chart->sections[s].title != NULL ? section_pt : 0.0;
    }
    return height + (chart->footer != NULL ? PAGE_FOOTER_PT : 0.0);
}

/* As few rows as the width allows, and their panels shared out evenly. */
static void
settle_grid(struct grid *grid, double page_height_pt)
{
    double content = page_content_width_pt(&grid->page);
    grid->y = ratio_axis(grid->chart);
    double gutter = plane_gutter_pt(&grid->y, grid->page.canvas);
    double fitting = floor((content - gutter + panel_gap_pt) / (panel_width_pt + panel_gap_pt));
    size_t columns_max = (size_t)fmax(1.0, fmin(fitting, COLUMNS_MAX));
    size_t most = most_panels(grid->chart);
    grid->columns = rows_of(most, rows_of(most, columns_max));
    double width = content - gutter - (double)(grid->columns - 1) * panel_gap_pt;
    width /= (double)grid->columns;
    double fixed = grid->page.y_pt + fixed_height_pt(grid), rows = (double)all_rows(grid);
    double height = fmax(box_low_pt, fmin(box_high_pt, (page_height_pt - fixed) / rows));
    if (grid->columns == 1 && rows == 1.0)
        height = fmax(box_low_pt, page_height_pt - fixed);
    grid->x = truth_axis(grid->chart, width);
    grid->left_pt = PAGE_MARGIN_PT + gutter;
    grid->box = (struct canvas_box){grid->left_pt, 0.0, width, height};
    canvas_set_size(grid->page.canvas, grid->page.width_pt, fixed + rows * height);
}

static void
draw_head(const struct plane *plane, const struct ratio_chart_panel *panel,
          struct canvas *canvas)
{
    const struct canvas_font title = {STYLE_SMALL_PT, true, STYLE_INK, CANVAS_LEFT};
    const struct canvas_font note = {STYLE_TINY_PT, false, STYLE_QUIET, CANVAS_LEFT};
    const struct canvas_box *box = &plane->box;
    canvas_text_short(canvas, (struct canvas_point){box->x_pt, box->y_pt - 14.5}, &title,
                      canvas_text_cut(canvas, &title, panel->title, box->width_pt),
                      panel->title);
    if (panel->note != NULL)
        canvas_text_short(canvas, (struct canvas_point){box->x_pt, box->y_pt - 5.0}, &note,
                          canvas_text_cut(canvas, &note, panel->note, box->width_pt),
                          panel->note);
}

/* Grey where answers are near, and a line where they are right. */
static void
draw_ground(const struct plane *plane, double band_fraction, struct canvas *canvas)
{
    double end = fmin(1 + band_fraction, plane->y.high);
    double start = fmax(1 - band_fraction, plane->y.low);
    double top_pt = plane_point(plane, plane->x.low, end).y_pt;
    double bottom_pt = plane_point(plane, plane->x.low, start).y_pt;
    double right_pt = plane->box.x_pt + plane->box.width_pt;
    canvas_fill(
        canvas,
        (struct canvas_box){plane->box.x_pt, top_pt, plane->box.width_pt, bottom_pt - top_pt},
        STYLE_GUIDE);
    plane_draw_grid(plane, canvas);
    struct canvas_point one = plane_point(plane, plane->x.low, 1);
    canvas_line(canvas, one, (struct canvas_point){right_pt, one.y_pt}, 0.75, STYLE_QUIET);
}

/* Where a point is drawn: at the edge if it is beyond the scale. */
static struct canvas_point
place_of(const struct plane *plane, const struct ratio_chart_point *point)
{
    double ratio = fmax(plane->y.low, fmin(plane->y.high, point->ratio));
    return plane_point(plane, point->truth, ratio);
}

/* A dot, or at the edge a triangle that points to where the ratio is. */
static void
draw_point(const struct plane *plane, const struct ratio_chart_point *point, double radius_pt,
           struct canvas *canvas)
{
    uint32_t rgb = style_colour(point->is_faint ? STYLE_HOST : STYLE_FORWARD);
    double ratio = fmax(plane->y.low, fmin(plane->y.high, point->ratio));
    struct canvas_point at = place_of(plane, point);
    if (ratio == point->ratio) {
        if (point->label != NULL)
            canvas_dot(canvas, at, radius_pt + rim_pt, STYLE_INK);
        canvas_dot(canvas, at, radius_pt, rgb);
        return;
    }
    double inwards_pt = point->ratio > ratio ? triangle_pt : -triangle_pt;
    const struct canvas_point corners[] = {at,
                                           {at.x_pt - triangle_pt / 2, at.y_pt + inwards_pt},
                                           {at.x_pt + triangle_pt / 2, at.y_pt + inwards_pt}};
    canvas_polygon(canvas, (struct canvas_path){corners, 3}, rgb, 1.0);
}

static int
compare_points(const void *a, const void *b)
{
    const struct ratio_chart_point *one = a, *two = b;
    return (one->ratio > two->ratio) - (one->ratio < two->ratio);
}

/* Of a bin of truths its strong points by ratio; how many. */
static size_t
fill_bin(const struct ratio_chart_panel *panel, const double ends[2],
         struct ratio_chart_point *bin)
{
    size_t count = 0;
    for (size_t i = 0; i < panel->point_count; i++) {
        const struct ratio_chart_point *point = &panel->points[i];
        if (!point->is_faint && point->truth >= ends[0] && point->truth < ends[1])
            bin[count++] = *point;
    }
    qsort(bin, count, sizeof *bin, compare_points);
    return count;
}

/* Through the median of the strong points of each third of a decade that has a few: where answers
 * lean to one side, which a cloud of dots hides. */
static struct canvas_path
draw_median(const struct plane *plane, const struct ratio_chart_panel *panel,
            struct canvas *canvas)
{
    struct arena *arena = canvas_arena(canvas);
    struct canvas_point *points = arena_alloc(arena, BINS_MAX, sizeof *points);
    struct ratio_chart_point *bin = arena_alloc(arena, panel->point_count + 1, sizeof *bin);
    size_t used = 0;
    double first = floor(log10(plane->x.low) * BINS_A_DECADE);
    for (int b = 0; b < BINS_MAX; b++) {
        const double ends[] = {pow(10.0, (first + b) / BINS_A_DECADE),
                               pow(10.0, (first + b + 1) / BINS_A_DECADE)};
        size_t count = fill_bin(panel, ends, bin);
        double median = count < MEDIAN_LEAST ? 0.0 : bin[count / 2].ratio;
        if (median > plane->y.low && median < plane->y.high)
            points[used++] = plane_point(plane, sqrt(ends[0] * ends[1]), median);
    }
    canvas_curve(canvas, (struct canvas_path){points, used}, median_pt, STYLE_INK);
    return (struct canvas_path){points, used};
}

/* Beside their points, off all others, the median and the line where answers are right. How many
 * have no place. */
static size_t
draw_labels(const struct plane *plane, const struct ratio_chart_panel *panel,
            struct canvas_path median, double radius_pt, struct canvas *canvas)
{
    struct arena *arena = canvas_arena(canvas);
    const struct canvas_font font = {STYLE_TINY_PT, false, STYLE_QUIET, CANVAS_LEFT};
    struct label *labels = arena_alloc(arena, panel->point_count + 1, sizeof *labels);
    struct label_disc *discs = arena_alloc(arena, panel->point_count + 1, sizeof *discs);
    const struct canvas_point right[] = {plane_point(plane, plane->x.low, 1),
                                         plane_point(plane, plane->x.high, 1)};
    const struct canvas_path paths[] = {{right, 2}, median};
    size_t count = 0;
    for (size_t i = 0; i < panel->point_count; i++) {
        struct canvas_point at = place_of(plane, &panel->points[i]);
        bool is_beyond =
            panel->points[i].ratio < plane->y.low || panel->points[i].ratio > plane->y.high;
        double reach_pt = is_beyond ? triangle_pt : radius_pt;
        reach_pt += panel->points[i].label != NULL ? rim_pt : 0.0;
        discs[i] = (struct label_disc){at, reach_pt, true};
        if (panel->points[i].label != NULL)
            labels[count++] = (struct label){
                .at = at, .radius_pt = reach_pt, .text = panel->points[i].label, .font = font};
    }
    const struct label_field field = {.box = plane->box,
                                      .discs = discs,
                                      .disc_count = panel->point_count,
                                      .paths = paths,
                                      .path_count = 2};
    return count - labels_draw(&field, labels, count, canvas);
}

static void
draw_panel(struct grid *grid, const struct plane *plane, const struct ratio_chart_panel *panel)
{
    struct canvas *canvas = grid->page.canvas;
    bool is_crowd = panel->point_count > CROWD;
    double faint_pt = is_crowd ? faint_crowd_dot_pt : faint_dot_pt;
    double strong_pt = is_crowd ? crowd_dot_pt : dot_pt;
    draw_head(plane, panel, canvas);
    draw_ground(plane, grid->chart->band_fraction, canvas);
    for (int layer = 0; layer < 2; layer++)
        for (size_t i = 0; i < panel->point_count; i++)
            if (panel->points[i].is_faint == (layer == 0))
                draw_point(plane, &panel->points[i], layer == 0 ? faint_pt : strong_pt, canvas);
    struct canvas_path median = draw_median(plane, panel, canvas);
    grid->page.left_out_count += draw_labels(plane, panel, median, strong_pt, canvas);
}

static void
draw_section_title(struct grid *grid, const char *title)
{
    const struct canvas_font font = {STYLE_LABEL_PT, true, STYLE_QUIET, CANVAS_LEFT};
    if (title == NULL)
        return;
    struct canvas_point at = {PAGE_MARGIN_PT, grid->page.y_pt + section_pt - 8.0};
    canvas_text_short(
        grid->page.canvas, at, &font,
        canvas_text_cut(grid->page.canvas, &font, title, page_content_width_pt(&grid->page)),
        title);
    grid->page.y_pt += section_pt;
}

/* Labels of y left of each row, of x below each panel that has none under it. */
static void
draw_section(struct grid *grid, const struct ratio_chart_section *section)
{
    struct canvas *canvas = grid->page.canvas;
    size_t columns = grid->columns, rows = rows_of(section->panel_count, columns);
    double pitch_pt = head_pt + grid->box.height_pt + row_gap_pt;
    draw_section_title(grid, section->title);
    for (size_t i = 0; i < section->panel_count; i++) {
        struct plane plane = {
            .box = grid->box, .x = grid->x, .y = grid->y, .overhang_pt = overhang_pt};
        plane.box.x_pt += (double)(i % columns) * (grid->box.width_pt + panel_gap_pt);
        size_t row = i / columns;
        plane.box.y_pt = grid->page.y_pt + head_pt + (double)row * pitch_pt;
        draw_panel(grid, &plane, &section->panels[i]);
        if (i % columns == 0)
            plane_draw_y(&plane, canvas);
        if (i + columns < section->panel_count)
            plane_draw_x_ticks(&plane, canvas);
        else
            plane_draw_x(&plane, grid->chart->x_name, canvas);
    }
    grid->page.y_pt += (double)rows * pitch_pt + PLANE_LABELS_PT + PLANE_NAME_PT;
}

static double
draw_legend_dot(struct grid *grid, double x_pt, const char *name, bool is_faint)
{
    struct canvas_box box = page_draw_legend_name(&grid->page, x_pt, name, &x_pt);
    canvas_dot(grid->page.canvas,
               (struct canvas_point){box.x_pt + box.width_pt / 2, box.y_pt + box.height_pt / 2},
               2.0, style_colour(is_faint ? STYLE_HOST : STYLE_FORWARD));
    return x_pt;
}

/* Behind the legend or, where it is wider than the page, in lines below. */
static void
draw_legend_note(struct grid *grid, double x_pt)
{
    const struct canvas_font font = {STYLE_SMALL_PT, false, STYLE_QUIET, CANVAS_LEFT};
    struct canvas *canvas = grid->page.canvas;
    const char *note = grid->chart->note, *lines[PAGE_LINES_MAX];
    if (note == NULL)
        return;
    x_pt = page_legend_x_pt(&grid->page, x_pt, canvas_text_width_pt(canvas, &font, note));
    size_t count = page_wrap(canvas, &font, note,
                             PAGE_MARGIN_PT + page_content_width_pt(&grid->page) - x_pt, lines);
    for (size_t i = 0; i < count; i++) {
        grid->page.y_pt += i > 0 ? PAGE_LEGEND_LEADING_PT : 0.0;
        canvas_text(canvas, (struct canvas_point){x_pt, grid->page.y_pt}, &font, lines[i]);
    }
}

static void
draw_legend(struct grid *grid)
{
    const struct ratio_chart *chart = grid->chart;
    struct canvas *canvas = grid->page.canvas;
    grid->page.y_pt += PAGE_LEGEND_LEADING_PT - 4.0;
    double x_pt = draw_legend_dot(grid, PAGE_MARGIN_PT, chart->strong_name, false);
    x_pt = draw_legend_dot(grid, x_pt, chart->faint_name, true);
    struct canvas_box box = page_draw_legend_name(&grid->page, x_pt, chart->median_name, &x_pt);
    double y_pt = box.y_pt + box.height_pt / 2;
    canvas_line(canvas, (struct canvas_point){box.x_pt, y_pt},
                (struct canvas_point){box.x_pt + box.width_pt, y_pt}, median_pt, STYLE_INK);
    box = page_draw_legend_name(&grid->page, x_pt, chart->band_name, &x_pt);
    canvas_fill(canvas, box, STYLE_GUIDE);
    draw_legend_note(grid, x_pt);
    grid->page.y_pt += PAGE_SECTION_GAP_PT;
}

void
ratio_chart_draw(const struct ratio_chart *chart, const struct style_page *page,
                 struct canvas *canvas)
{
    struct grid grid = {.chart = chart, .page = {.canvas = canvas, .width_pt = page->width_pt}};
    page_draw_titles(&grid.page, chart->title, chart->subtitle);
    draw_legend(&grid);
    settle_grid(&grid, page->height_pt);
    for (size_t s = 0; s < chart->section_count; s++)
        draw_section(&grid, &chart->sections[s]);
    page_draw_footer(&grid.page, chart->footer);
}
