/* Columns first: names, bars with their texts, the other quantity; then row by row. */
#include "plots/bar_chart.h"

#include <math.h>

#include "plots/page.h"
#include "plots/plane.h"

static const double narrow_pt = 400.0; /* of content: names above the bars */
static const double name_part = 0.3;   /* of the content, at most */
static const double text_part = 0.3;   /* of its column, at most: what stands at bars' ends, */
static const double short_part = 0.5;  /* and what does where that would be more */
static const double side_part = 0.28, narrow_side_part = 0.36;
static const double column_gap_pt = 20.0;
static const double bar_pt = 18.0;
static const double row_pt = 30.0;       /* from bar to bar */
static const double name_pt = 12.0;      /* above a bar */
static const double reason_pt = 11.0;    /* under a bar */
static const double reason_gap_pt = 3.0; /* off the line that bars begin at */
static const double head_pt = 26.0;      /* the other quantity's name and limit */
static const double name_gap_pt = 10.0, text_gap_pt = 5.0;
static const double whisker_pt = 1.0, whisker_end_pt = 4.0;
static const double outline_pt = 0.8, limit_pt = 1.2;
static const double overhang_pt = 10.0;

static const struct canvas_font text_font = {STYLE_SMALL_PT, false, STYLE_INK, CANVAS_LEFT};
static const struct canvas_font quiet_font = {STYLE_TINY_PT, false, STYLE_QUIET, CANVAS_LEFT};

struct drawing {
    const struct bar_chart *chart;
    struct page page;
    bool is_narrow;
    bool is_short;   /* the texts at the bars' ends */
    double names_pt; /* width of the names' column */
    struct plane main, side;
    double main_reach_pt, side_reach_pt; /* how far right texts at bars' ends may go */
};

static double
known(double value)
{
    return isfinite(value) && value > 0.0 ? value : 0.0;
}

double
bar_chart_sum(const struct bar_chart *chart, const struct bar_chart_row *row)
{
    double sum = 0.0;
    for (size_t i = 0; row->pieces != NULL && i < chart->kind_count; i++)
        sum += known(row->pieces[i].value);
    return sum;
}

static double
row_end(const struct bar_chart *chart, const struct bar_chart_row *row)
{
    return fmax(bar_chart_sum(chart, row), known(row->high));
}

static bool
has_bar(const struct bar_chart *chart, const struct bar_chart_row *row)
{
    return bar_chart_sum(chart, row) > 0.0;
}

/* The lines of a row's reason under its bar; where there is no bar the first takes its place. */
static size_t
reason_lines(const struct drawing *drawing, const struct bar_chart_row *row,
             const char *lines[PAGE_LINES_MAX])
{
    const char *own[PAGE_LINES_MAX];
    double right_pt = PAGE_MARGIN_PT + page_content_width_pt(&drawing->page);
    if (row->reason == NULL)
        return 0;
    if (drawing->chart->side.name != NULL)
        right_pt = drawing->main_reach_pt; /* a limit's line may stand beside it */
    size_t count = page_wrap(drawing->page.canvas, &quiet_font, row->reason,
                             right_pt - drawing->main.box.x_pt - reason_gap_pt,
                             lines != NULL ? lines : own);
    return lines == NULL && !has_bar(drawing->chart, row) ? count - 1 : count;
}

static double
row_height_pt(const struct drawing *drawing, const struct bar_chart_row *row)
{
    return row_pt + (drawing->is_narrow ? name_pt : 0.0) +
           reason_pt * (double)reason_lines(drawing, row, NULL);
}

static double
text_width_pt(const struct drawing *drawing, const char *text)
{
    return text != NULL
               ? text_gap_pt + canvas_text_width_pt(drawing->page.canvas, &text_font, text)
               : 0.0;
}

/* An axis from 0 over all values, in a column whose texts at the bars' ends need room too. */
static struct plane
make_plane(double left_pt, double width_pt, double most, const char *unit)
{
    struct plane plane = {.overhang_pt = overhang_pt};
    plane.box = (struct canvas_box){.x_pt = left_pt, .width_pt = width_pt};
    plane.x = axis_linear(0.0, most > 0.0 ? most : 1.0, unit, plane_x_tick_max(width_pt));
    plane.y = (struct axis){.low = 0.0, .high = 1.0};
    return plane;
}

static void
settle_side(struct drawing *drawing, double right_pt, double width_pt)
{
    const struct bar_chart *chart = drawing->chart;
    double most = 0.0, texts_pt = 0.0;
    for (size_t i = 0; i < chart->row_count; i++) {
        const struct bar_chart_row *row = &chart->rows[i];
        most = fmax(most, fmax(known(row->side), known(row->side_limit)));
        texts_pt = fmax(texts_pt, text_width_pt(drawing, row->side_text));
    }
    texts_pt = fmin(texts_pt, width_pt / 2);
    drawing->side_reach_pt = right_pt;
    drawing->side =
        make_plane(right_pt - width_pt, width_pt - texts_pt, most, chart->side.unit);
}

/* At a row's end. */
static const char *
end_text(const struct drawing *drawing, const struct bar_chart_row *row)
{
    return drawing->is_short ? row->short_text : row->text;
}

static double
widest_end_pt(const struct drawing *drawing)
{
    double widest = 0.0;
    for (size_t i = 0; i < drawing->chart->row_count; i++)
        widest =
            fmax(widest, text_width_pt(drawing, end_text(drawing, &drawing->chart->rows[i])));
    return widest;
}

static void
settle_main(struct drawing *drawing, double left_pt, double right_pt)
{
    const struct bar_chart *chart = drawing->chart;
    double most = 0.0, width_pt = right_pt - left_pt;
    for (size_t i = 0; i < chart->row_count; i++)
        most = fmax(most, row_end(chart, &chart->rows[i]));
    drawing->is_short = drawing->is_narrow || widest_end_pt(drawing) > text_part * width_pt;
    double texts_pt = fmin(widest_end_pt(drawing), short_part * width_pt);
    drawing->main_reach_pt = right_pt;
    drawing->main = make_plane(left_pt, width_pt - texts_pt, most, chart->main.unit);
}

static double
widest_name_pt(const struct drawing *drawing)
{
    double widest = 0.0;
    for (size_t i = 0; i < drawing->chart->row_count; i++)
        widest = fmax(widest, canvas_text_width_pt(drawing->page.canvas, &text_font,
                                                   drawing->chart->rows[i].name));
    return widest;
}

static void
settle_columns(struct drawing *drawing)
{
    const struct bar_chart *chart = drawing->chart;
    double content_pt = page_content_width_pt(&drawing->page);
    double left_pt = PAGE_MARGIN_PT, right_pt = PAGE_MARGIN_PT + content_pt;
    drawing->is_narrow = content_pt < narrow_pt;
    if (!drawing->is_narrow) {
        drawing->names_pt = fmin(widest_name_pt(drawing), name_part * content_pt);
        left_pt += drawing->names_pt + name_gap_pt;
    } else {
        drawing->names_pt = content_pt;
    }
    if (chart->side.name != NULL) {
        double part = drawing->is_narrow ? narrow_side_part : side_part;
        settle_side(drawing, right_pt, part * content_pt);
        right_pt -= part * content_pt + column_gap_pt;
    }
    settle_main(drawing, left_pt, right_pt);
}

/* Places the rows' boxes and sets the canvas's size. */
static void
settle_height(struct drawing *drawing)
{
    const struct bar_chart *chart = drawing->chart;
    double below_pt = PLANE_LABELS_PT + PLANE_NAME_PT + PAGE_MARGIN_PT + 4.0;
    below_pt += chart->footer != NULL ? PAGE_FOOTER_PT : 0.0;
    double height_pt = 0.0, top_pt = drawing->page.y_pt;
    top_pt += chart->side.name != NULL ? head_pt : 0.0;
    for (size_t i = 0; i < chart->row_count; i++)
        height_pt += row_height_pt(drawing, &chart->rows[i]);
    drawing->main.box.y_pt = drawing->side.box.y_pt = top_pt;
    drawing->main.box.height_pt = drawing->side.box.height_pt = height_pt;
    canvas_set_size(drawing->page.canvas, drawing->page.width_pt,
                    top_pt + height_pt + below_pt);
}

static double
x_of(const struct plane *plane, double value)
{
    return plane_point(plane, value, 0.0).x_pt;
}

static void
draw_upright(const struct plane *plane, double value, double line_pt, uint32_t rgb,
             struct canvas *canvas)
{
    double x_pt = x_of(plane, value), top_pt = plane->box.y_pt;
    canvas_line(canvas, (struct canvas_point){x_pt, top_pt},
                (struct canvas_point){x_pt, top_pt + plane->box.height_pt}, line_pt, rgb);
}

/* Hairlines at the ticks, the axis below with its name and unit. */
static void
draw_axis(const struct drawing *drawing, const struct plane *plane,
          const struct bar_chart_scale *scale)
{
    struct canvas *canvas = drawing->page.canvas;
    const char *unit = plane->x.unit;
    for (size_t i = 0; i < plane->x.tick_count; i++)
        draw_upright(plane, plane->x.ticks[i].value, STYLE_HAIRLINE_PT, STYLE_GRID, canvas);
    plane_draw_x(plane,
                 *unit != '\0'
                     ? arena_format(canvas_arena(canvas), "%s (%s)", scale->name, unit)
                     : scale->name,
                 canvas);
}

static void
fill_kind(struct canvas *canvas, struct canvas_box box, const struct bar_chart_kind *kind)
{
    uint32_t rgb = style_shade(style_colour(kind->slot), kind->shade);
    if (kind->slot != STYLE_BUBBLE) {
        canvas_fill(canvas, box, rgb);
        return;
    }
    canvas_fill(canvas, box, rgb);
    canvas_hatch(canvas, box, style_colour(STYLE_HOST));
}

static void
draw_piece_text(struct canvas *canvas, struct canvas_box box, const char *text, uint32_t ground)
{
    const double room_pt = 6.0;
    const struct canvas_font font = {STYLE_TINY_PT, false, style_text_on(ground),
                                     CANVAS_CENTRE};
    if (text == NULL || canvas_text_width_pt(canvas, &font, text) + room_pt > box.width_pt)
        return;
    canvas_text(canvas,
                (struct canvas_point){box.x_pt + box.width_pt / 2,
                                      box.y_pt + bar_pt / 2 + 0.365 * STYLE_TINY_PT},
                &font, text);
}

static void
draw_pieces(const struct drawing *drawing, const struct bar_chart_row *row, double y_pt)
{
    const struct bar_chart *chart = drawing->chart;
    struct canvas *canvas = drawing->page.canvas;
    double from = 0.0;
    for (size_t i = 0; i < chart->kind_count; i++) {
        double to = from + known(row->pieces[i].value);
        double x_pt = x_of(&drawing->main, from);
        struct canvas_box box = {x_pt, y_pt, x_of(&drawing->main, to) - x_pt, bar_pt};
        if (to > from) {
            const struct bar_chart_kind *kind = &chart->kinds[i];
            fill_kind(canvas, box, kind);
            bool is_under_whisker = known(row->high) > known(row->low) && to > known(row->low);
            if (kind->slot != STYLE_BUBBLE && !is_under_whisker)
                draw_piece_text(canvas, box, row->pieces[i].text,
                                style_shade(style_colour(kind->slot), kind->shade));
        }
        from = to;
    }
}

static void
draw_whisker(const struct drawing *drawing, const struct bar_chart_row *row, double y_pt)
{
    struct canvas *canvas = drawing->page.canvas;
    if (!(known(row->high) > known(row->low)))
        return;
    double middle_pt = y_pt + bar_pt / 2;
    double ends_pt[2] = {x_of(&drawing->main, known(row->low)),
                         x_of(&drawing->main, row->high)};
    canvas_line(canvas, (struct canvas_point){ends_pt[0], middle_pt},
                (struct canvas_point){ends_pt[1], middle_pt}, whisker_pt, STYLE_INK);
    for (int i = 0; i < 2; i++)
        canvas_line(canvas, (struct canvas_point){ends_pt[i], middle_pt - whisker_end_pt},
                    (struct canvas_point){ends_pt[i], middle_pt + whisker_end_pt}, whisker_pt,
                    STYLE_INK);
}

static void
draw_end_text(const struct drawing *drawing, double end_pt, double reach_pt, double y_pt,
              const char *text)
{
    struct canvas *canvas = drawing->page.canvas;
    double x_pt = end_pt + text_gap_pt;
    if (text != NULL)
        canvas_text_short(
            canvas, (struct canvas_point){x_pt, y_pt + bar_pt / 2 + 0.365 * STYLE_SMALL_PT},
            &text_font, canvas_text_cut(canvas, &text_font, text, reach_pt - x_pt + 0.01),
            text);
}

static void
draw_main_bar(const struct drawing *drawing, const struct bar_chart_row *row, double y_pt)
{
    struct canvas *canvas = drawing->page.canvas;
    double sum = bar_chart_sum(drawing->chart, row), zero_pt = x_of(&drawing->main, 0.0);
    if (sum <= 0.0)
        return;
    struct canvas_box box = {zero_pt, y_pt, x_of(&drawing->main, sum) - zero_pt, bar_pt};
    if (row->reason != NULL) {
        canvas_outline(canvas, box, outline_pt, STYLE_QUIET);
    } else {
        draw_pieces(drawing, row, y_pt);
        draw_whisker(drawing, row, y_pt);
    }
    double end = row->reason != NULL ? sum : row_end(drawing->chart, row);
    draw_end_text(drawing, x_of(&drawing->main, end), drawing->main_reach_pt, y_pt,
                  end_text(drawing, row));
}

/* The limit that all rows share; 0: they do not. */
static double
common_limit(const struct bar_chart *chart)
{
    for (size_t i = 1; i < chart->row_count; i++)
        if (chart->rows[i].side_limit != chart->rows[0].side_limit)
            return 0.0;
    return chart->row_count > 0 ? known(chart->rows[0].side_limit) : 0.0;
}

/* Drawn in one through all rows: names above the bars would be crossed. */
static bool
is_limit_common(const struct drawing *drawing)
{
    return !drawing->is_narrow && common_limit(drawing->chart) > 0.0;
}

static void
draw_side_bar(const struct drawing *drawing, const struct bar_chart_row *row, double y_pt)
{
    struct canvas *canvas = drawing->page.canvas;
    const struct plane *side = &drawing->side;
    double zero_pt = x_of(side, 0.0), end_pt = x_of(side, known(row->side));
    double limit = known(row->side_limit);
    if (known(row->side) > 0.0) {
        struct canvas_box box = {zero_pt, y_pt, end_pt - zero_pt, bar_pt};
        if (row->reason != NULL)
            canvas_outline(canvas, box, outline_pt, STYLE_QUIET);
        else
            canvas_fill(canvas, box, style_colour(STYLE_HOST));
    }
    if (limit > 0.0) {
        double x_pt = x_of(side, limit);
        double around_pt = drawing->is_narrow ? 0.0 : (row_pt - bar_pt) / 2;
        if (!is_limit_common(drawing))
            canvas_line(canvas, (struct canvas_point){x_pt, y_pt - around_pt},
                        (struct canvas_point){x_pt, y_pt + bar_pt + around_pt}, limit_pt,
                        STYLE_INK);
        bool is_in_the_way = known(row->side) <= limit && x_pt > end_pt &&
                             x_pt < end_pt + text_width_pt(drawing, row->side_text) + 2.0;
        end_pt = is_in_the_way ? x_pt : end_pt;
    }
    draw_end_text(drawing, end_pt, drawing->side_reach_pt, y_pt, row->side_text);
}

static void
draw_reason(const struct drawing *drawing, const struct bar_chart_row *row, double bar_top_pt)
{
    const char *lines[PAGE_LINES_MAX];
    size_t count = reason_lines(drawing, row, lines);
    double y_pt = has_bar(drawing->chart, row) ? bar_top_pt + bar_pt + reason_pt - 1.0
                                               : bar_top_pt + bar_pt / 2 + 2.5;
    double x_pt = drawing->main.box.x_pt + reason_gap_pt;
    for (size_t i = 0; i < count; i++)
        canvas_text(drawing->page.canvas,
                    (struct canvas_point){x_pt, y_pt + reason_pt * (double)i}, &quiet_font,
                    lines[i]);
}

static void
draw_row(const struct drawing *drawing, const struct bar_chart_row *row, double y_pt)
{
    struct canvas *canvas = drawing->page.canvas;
    const char *name = canvas_text_cut_middle(canvas, &text_font, row->name, drawing->names_pt);
    double bar_top_pt = y_pt + (row_pt - bar_pt) / 2 + (drawing->is_narrow ? name_pt : 0.0);
    double name_base_pt = drawing->is_narrow ? bar_top_pt - 4.0
                                             : bar_top_pt + bar_pt / 2 + 0.365 * STYLE_SMALL_PT;
    canvas_text_short(canvas, (struct canvas_point){PAGE_MARGIN_PT, name_base_pt}, &text_font,
                      name, row->name);
    draw_main_bar(drawing, row, bar_top_pt);
    if (drawing->chart->side.name != NULL)
        draw_side_bar(drawing, row, bar_top_pt);
    draw_reason(drawing, row, bar_top_pt);
}

static bool
has_kind(const struct bar_chart *chart, size_t kind)
{
    for (size_t i = 0; i < chart->row_count; i++)
        if (chart->rows[i].reason == NULL && chart->rows[i].pieces != NULL &&
            known(chart->rows[i].pieces[kind].value) > 0.0)
            return true;
    return false;
}

/* Whether any bar is drawn hollow: of what cannot be run there may be no numbers. */
static bool
has_hollow(const struct bar_chart *chart)
{
    for (size_t i = 0; i < chart->row_count; i++)
        if (chart->rows[i].reason != NULL &&
            (has_bar(chart, &chart->rows[i]) || known(chart->rows[i].side) > 0.0))
            return true;
    return false;
}

static void
draw_legend(struct drawing *drawing)
{
    const struct bar_chart *chart = drawing->chart;
    struct canvas *canvas = drawing->page.canvas;
    double x_pt = PAGE_MARGIN_PT;
    drawing->page.y_pt += PAGE_LEGEND_LEADING_PT - 4.0;
    for (size_t i = 0; i < chart->kind_count; i++)
        if (has_kind(chart, i)) {
            struct canvas_box box =
                page_draw_legend_name(&drawing->page, x_pt, chart->kinds[i].name, &x_pt);
            fill_kind(canvas, box, &chart->kinds[i]);
        }
    if (has_hollow(chart)) {
        struct canvas_box box =
            page_draw_legend_name(&drawing->page, x_pt, "cannot be run", &x_pt);
        canvas_outline(canvas, box, outline_pt, STYLE_QUIET);
    }
    drawing->page.y_pt += PAGE_SECTION_GAP_PT;
}

/* Through all rows, its name over it as far as the column reaches. */
static void
draw_common_limit(const struct drawing *drawing)
{
    struct canvas *canvas = drawing->page.canvas;
    double limit = common_limit(drawing->chart);
    if (limit <= 0.0)
        return;
    if (is_limit_common(drawing))
        draw_upright(&drawing->side, limit, limit_pt, STYLE_INK, canvas);
    if (drawing->chart->limit_name == NULL)
        return;
    const char *name = canvas_text_cut(canvas, &quiet_font, drawing->chart->limit_name,
                                       drawing->side_reach_pt - drawing->side.box.x_pt);
    double half_pt = canvas_text_width_pt(canvas, &quiet_font, name) / 2;
    double x_pt = fmax(drawing->side.box.x_pt + half_pt,
                       fmin(drawing->side_reach_pt - half_pt, x_of(&drawing->side, limit)));
    canvas_text_short(canvas,
                      (struct canvas_point){x_pt - half_pt, drawing->side.box.y_pt - 4.0},
                      &quiet_font, name, drawing->chart->limit_name);
}

void
bar_chart_draw(const struct bar_chart *chart, const struct style_page *page,
               struct canvas *canvas)
{
    struct drawing drawing = {.chart = chart,
                              .page = {.canvas = canvas, .width_pt = page->width_pt}};
    page_draw_titles(&drawing.page, chart->title, chart->subtitle);
    draw_legend(&drawing);
    settle_columns(&drawing);
    settle_height(&drawing);
    draw_axis(&drawing, &drawing.main, &chart->main);
    if (chart->side.name != NULL) {
        draw_axis(&drawing, &drawing.side, &chart->side);
        draw_common_limit(&drawing);
    }
    double y_pt = drawing.main.box.y_pt;
    for (size_t i = 0; i < chart->row_count; i++) {
        draw_row(&drawing, &chart->rows[i], y_pt);
        y_pt += row_height_pt(&drawing, &chart->rows[i]);
    }
    page_draw_footer(&drawing.page, chart->footer);
}
