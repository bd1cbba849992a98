/* A column of names, one of bars either way of a line at 0 with room for texts at both ends. */
#include "plots/tornado_chart.h"

#include <math.h>

#include "plots/page.h"
#include "plots/plane.h"

static const double narrow_pt = 400.0; /* of content: names above the bars */
static const double name_part = 0.36;  /* of the content, at most */
static const double text_part = 0.28;  /* of the bars' column, at most, on each side */
static const double bar_pt = 16.0, row_pt = 26.0, name_pt = 12.0;
static const double name_gap_pt = 12.0, text_gap_pt = 4.0;
static const double overhang_pt = 10.0;

static const struct canvas_font text_font = {STYLE_SMALL_PT, false, STYLE_INK, CANVAS_LEFT};

struct drawing {
    const struct tornado_chart *chart;
    struct page page;
    bool is_narrow;
    double names_pt;
    double reach_pt[2]; /* how far left and right texts may go */
    struct plane plane;
};

static double
known(double value)
{
    return isfinite(value) ? value : 0.0;
}

static double
widest_pt(const struct drawing *drawing, const char *(*text_of)(const struct tornado_row *row))
{
    double widest = 0.0;
    for (size_t i = 0; i < drawing->chart->row_count; i++) {
        const char *text = text_of(&drawing->chart->rows[i]);
        if (text != NULL)
            widest = fmax(widest, canvas_text_width_pt(drawing->page.canvas, &text_font, text));
    }
    return widest;
}

static const char *
name_of(const struct tornado_row *row)
{
    return row->name;
}

static const char *
better_of(const struct tornado_row *row)
{
    return row->better_text;
}

static const char *
worse_of(const struct tornado_row *row)
{
    return row->worse_text;
}

/* What goes left, below 0, and what goes right. */
static void
find_ends(const struct tornado_chart *chart, double ends[2])
{
    ends[0] = ends[1] = 0.0;
    for (size_t i = 0; i < chart->row_count; i++) {
        const double values[2] = {known(chart->rows[i].better), known(chart->rows[i].worse)};
        for (int k = 0; k < 2; k++) {
            ends[0] = fmin(ends[0], values[k]);
            ends[1] = fmax(ends[1], values[k]);
        }
    }
    if (ends[0] >= ends[1])
        ends[1] = 1.0;
}

static void
settle(struct drawing *drawing)
{
    const struct tornado_chart *chart = drawing->chart;
    double content_pt = page_content_width_pt(&drawing->page), ends[2];
    double left_pt = PAGE_MARGIN_PT, right_pt = PAGE_MARGIN_PT + content_pt;
    drawing->is_narrow = content_pt < narrow_pt;
    drawing->names_pt = content_pt;
    if (!drawing->is_narrow) {
        drawing->names_pt = fmin(widest_pt(drawing, name_of), name_part * content_pt);
        left_pt += drawing->names_pt + name_gap_pt;
    }
    drawing->reach_pt[0] = left_pt;
    drawing->reach_pt[1] = right_pt;
    double text_most_pt = text_part * (right_pt - left_pt);
    left_pt += fmin(text_most_pt, widest_pt(drawing, better_of) + text_gap_pt);
    right_pt -= fmin(text_most_pt, widest_pt(drawing, worse_of) + text_gap_pt);
    find_ends(chart, ends);
    double height_pt =
        (double)chart->row_count * (row_pt + (drawing->is_narrow ? name_pt : 0.0));
    drawing->plane = (struct plane){
        .box = {left_pt, drawing->page.y_pt, right_pt - left_pt, height_pt},
        .x = axis_linear(ends[0], ends[1], chart->x_unit,
                         (size_t)fmax(3.0, (double)plane_x_tick_max(right_pt - left_pt))),
        .y = {.low = 0.0, .high = 1.0},
        .overhang_pt = overhang_pt};
    double below_pt = PLANE_LABELS_PT + PLANE_NAME_PT + PAGE_MARGIN_PT + 4.0;
    below_pt += chart->footer != NULL ? PAGE_FOOTER_PT : 0.0;
    canvas_set_size(drawing->page.canvas, drawing->page.width_pt,
                    drawing->page.y_pt + height_pt + below_pt);
}

static double
x_of(const struct drawing *drawing, double value)
{
    return plane_point(&drawing->plane, value, 0.0).x_pt;
}

static void
draw_upright(const struct drawing *drawing, double value, double line_pt, uint32_t rgb)
{
    const struct canvas_box *box = &drawing->plane.box;
    double x_pt = x_of(drawing, value);
    canvas_line(drawing->page.canvas, (struct canvas_point){x_pt, box->y_pt},
                (struct canvas_point){x_pt, box->y_pt + box->height_pt}, line_pt, rgb);
}

/* Through the bars; not through names above them. */
static void
draw_zero(const struct drawing *drawing)
{
    struct canvas *canvas = drawing->page.canvas;
    double x_pt = x_of(drawing, 0.0), top_pt = drawing->plane.box.y_pt;
    double lead_pt = drawing->is_narrow ? name_pt : 0.0;
    double inset_pt = drawing->is_narrow ? (row_pt - bar_pt) / 2 : 0.0;
    for (size_t i = 0; i < drawing->chart->row_count; i++) {
        double bottom_pt = top_pt + lead_pt + row_pt;
        canvas_line(canvas, (struct canvas_point){x_pt, top_pt + lead_pt + inset_pt},
                    (struct canvas_point){x_pt, bottom_pt - inset_pt}, 1.0, STYLE_INK);
        top_pt = bottom_pt;
    }
}

static void
draw_axis(const struct drawing *drawing)
{
    const struct axis *x = &drawing->plane.x;
    struct canvas *canvas = drawing->page.canvas;
    const char *name = drawing->chart->x_name;
    for (size_t i = 0; i < x->tick_count; i++)
        draw_upright(drawing, x->ticks[i].value, STYLE_HAIRLINE_PT, STYLE_GRID);
    if (x->unit[0] != '\0')
        name = arena_format(canvas_arena(canvas), "%s (%s)", name, x->unit);
    plane_draw_x(&drawing->plane, name, canvas);
}

/* From 0 to the value. */
static void
draw_bar(const struct drawing *drawing, double value, double y_pt, uint32_t rgb)
{
    struct canvas *canvas = drawing->page.canvas;
    double zero_pt = x_of(drawing, 0.0), end_pt = x_of(drawing, known(value));
    double left_pt = fmin(zero_pt, end_pt);
    if (known(value) != 0.0)
        canvas_fill(canvas, (struct canvas_box){left_pt, y_pt, fabs(end_pt - zero_pt), bar_pt},
                    rgb);
}

/* What is better stands left of the row's bars, what is worse right of them, whichever way they
 * go. */
static void
draw_text(const struct drawing *drawing, double end_pt, const char *text, double y_pt,
          bool is_left)
{
    struct canvas *canvas = drawing->page.canvas;
    struct canvas_font font = text_font;
    double x_pt = is_left ? end_pt - text_gap_pt : end_pt + text_gap_pt;
    double room_pt = is_left ? x_pt - drawing->reach_pt[0] : drawing->reach_pt[1] - x_pt;
    font.align = is_left ? CANVAS_RIGHT : CANVAS_LEFT;
    if (text != NULL)
        canvas_text_short(
            canvas, (struct canvas_point){x_pt, y_pt + bar_pt / 2 + 0.365 * STYLE_SMALL_PT},
            &font, canvas_text_cut(canvas, &text_font, text, room_pt + 0.01), text);
}

static void
draw_row(const struct drawing *drawing, const struct tornado_row *row, double y_pt)
{
    struct canvas *canvas = drawing->page.canvas;
    double bar_top_pt = y_pt + (row_pt - bar_pt) / 2 + (drawing->is_narrow ? name_pt : 0.0);
    double base_pt = drawing->is_narrow ? bar_top_pt - 3.0
                                        : bar_top_pt + bar_pt / 2 + 0.365 * STYLE_SMALL_PT;
    double zero_pt = x_of(drawing, 0.0);
    double ends_pt[2] = {x_of(drawing, known(row->better)), x_of(drawing, known(row->worse))};
    canvas_text_short(canvas, (struct canvas_point){PAGE_MARGIN_PT, base_pt}, &text_font,
                      canvas_text_cut_middle(canvas, &text_font, row->name, drawing->names_pt),
                      row->name);
    draw_bar(drawing, row->worse, bar_top_pt, style_colour(STYLE_OTHER));
    draw_bar(drawing, row->better, bar_top_pt, style_colour(STYLE_FORWARD));
    draw_text(drawing, fmin(zero_pt, fmin(ends_pt[0], ends_pt[1])), row->better_text,
              bar_top_pt, true);
    draw_text(drawing, fmax(zero_pt, fmax(ends_pt[0], ends_pt[1])), row->worse_text, bar_top_pt,
              false);
}

static void
draw_legend(struct drawing *drawing)
{
    double x_pt = PAGE_MARGIN_PT;
    drawing->page.y_pt += PAGE_LEGEND_LEADING_PT - 4.0;
    struct canvas_box box =
        page_draw_legend_name(&drawing->page, x_pt, drawing->chart->better, &x_pt);
    canvas_fill(drawing->page.canvas, box, style_colour(STYLE_FORWARD));
    box = page_draw_legend_name(&drawing->page, x_pt, drawing->chart->worse, &x_pt);
    canvas_fill(drawing->page.canvas, box, style_colour(STYLE_OTHER));
    drawing->page.y_pt += PAGE_SECTION_GAP_PT;
}

void
tornado_chart_draw(const struct tornado_chart *chart, const struct style_page *page,
                   struct canvas *canvas)
{
    struct drawing drawing = {.chart = chart,
                              .page = {.canvas = canvas, .width_pt = page->width_pt}};
    page_draw_titles(&drawing.page, chart->title, chart->subtitle);
    draw_legend(&drawing);
    settle(&drawing);
    draw_axis(&drawing);
    for (size_t i = 0; i < chart->row_count; i++)
        draw_row(&drawing, &chart->rows[i],
                 drawing.plane.box.y_pt +
                     (double)i * (row_pt + (drawing.is_narrow ? name_pt : 0.0)));
    draw_zero(&drawing);
    page_draw_footer(&drawing.page, chart->footer);
}
