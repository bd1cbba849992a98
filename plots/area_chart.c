/* Axes for all panels first, then panel by panel: layers from the lowest, limit, labels. */
#include "plots/area_chart.h"

#include <math.h>
#include <string.h>

#include "plots/label_column.h"
#include "plots/page.h"
#include "plots/plane.h"
#include "plots/thin.h"

static const double label_part = 0.42; /* of the content, at most */
static const double narrow_pt = 400.0; /* of content: smaller labels */
static const double label_gap_pt = 6.0;
static const double label_shade = 0.45; /* of the kind's colour, that letters be read */
static const double light_shade = 0.55; /* the same of light ones */
static const double headroom = 0.06;
static const double height_least_pt = 80.0, panel_gap_pt = 24.0;
static const double y_name_pt = 14.0; /* above a panel */
static const double height_per_tick_pt = 16.0;
static const double overhang_pt = 12.0;
static const double limit_pt = 1.2;
static const double thin_pitch_pt = 0.375; /* a dot of a PNG */

static const struct canvas_font label_font = {STYLE_SMALL_PT, true, STYLE_INK, CANVAS_LEFT};
static const struct canvas_font quiet_font = {STYLE_SMALL_PT, false, STYLE_QUIET, CANVAS_LEFT};
static const struct canvas_font narrow_font = {STYLE_TINY_PT, false, STYLE_INK, CANVAS_LEFT};

struct drawing {
    const struct area_chart *chart;
    struct page page;
    struct plane plane; /* of the panel at hand */
    double labels_pt;
    struct canvas_font font; /* of labels */
};

static double
known(double value)
{
    return isfinite(value) && value > 0.0 ? value : 0.0;
}

/* The sum of the lowest layers at a moment. */
static double
stack_height(const struct area_chart_panel *panel, size_t layers, size_t at)
{
    double sum = 0.0;
    for (size_t i = 0; i < layers; i++)
        sum += known(panel->layers[i].heights[at]);
    return sum;
}

static double
highest(const struct area_chart *chart)
{
    double most = known(chart->limit);
    for (size_t p = 0; p < chart->panel_count; p++)
        for (size_t i = 0; i < chart->panels[p].count; i++)
            most = fmax(most, stack_height(&chart->panels[p], chart->kind_count, i));
    return most > 0.0 ? most : 1.0;
}

static void
find_x(const struct area_chart *chart, double range[2])
{
    range[0] = INFINITY;
    range[1] = -INFINITY;
    for (size_t p = 0; p < chart->panel_count; p++)
        for (size_t i = 0; i < chart->panels[p].count; i++) {
            range[0] = fmin(range[0], chart->panels[p].x[i]);
            range[1] = fmax(range[1], chart->panels[p].x[i]);
        }
    if (!(range[0] < range[1])) {
        range[0] = isfinite(range[0]) ? range[0] : 0.0;
        range[1] = range[0] + 1.0;
    }
}

static double
label_width_pt(const struct drawing *drawing, const char *label)
{
    return label == NULL ? 0.0
                         : label_gap_pt + canvas_text_width_pt(drawing->page.canvas,
                                                               &drawing->font, label);
}

static double
widest_label_pt(const struct drawing *drawing)
{
    const struct area_chart *chart = drawing->chart;
    double widest =
        known(chart->limit) > 0.0 ? label_width_pt(drawing, chart->limit_name) : 0.0;
    for (size_t p = 0; p < chart->panel_count; p++)
        for (size_t i = 0; i < chart->kind_count; i++)
            widest =
                fmax(widest, label_column_swatch_pt(drawing->font.size_pt) +
                                 label_width_pt(drawing, chart->panels[p].layers[i].label));
    return fmin(widest, label_part * page_content_width_pt(&drawing->page));
}

static void
settle(struct drawing *drawing, double page_height_pt)
{
    const struct area_chart *chart = drawing->chart;
    double panels = (double)chart->panel_count, range[2];
    double below_pt = PLANE_LABELS_PT + PLANE_NAME_PT + PAGE_SECTION_GAP_PT + PAGE_MARGIN_PT;
    below_pt += chart->footer != NULL ? PAGE_FOOTER_PT : 0.0;
    double top_pt = drawing->page.y_pt + y_name_pt;
    double height_pt = page_height_pt - top_pt - below_pt - (panels - 1.0) * panel_gap_pt;
    height_pt = fmax(height_least_pt, height_pt / fmax(1.0, panels));
    struct plane *plane = &drawing->plane;
    find_x(chart, range);
    drawing->labels_pt = widest_label_pt(drawing);
    plane->overhang_pt = overhang_pt;
    plane->y = axis_linear(0.0, (1.0 + headroom) * highest(chart), chart->y_unit,
                           (size_t)fmin(AXIS_TICK_MAX, floor(height_pt / height_per_tick_pt)));
    double gutter_pt = fmax(20.0, plane_gutter_pt(&plane->y, drawing->page.canvas));
    double width_pt = page_content_width_pt(&drawing->page) - gutter_pt - drawing->labels_pt;
    plane->box = (struct canvas_box){PAGE_MARGIN_PT + gutter_pt, top_pt, width_pt, height_pt};
    plane->x = axis_linear(range[0], range[1], chart->x_unit, plane_x_tick_max(width_pt));
    canvas_set_size(drawing->page.canvas, drawing->page.width_pt,
                    top_pt + fmax(1.0, panels) * (height_pt + panel_gap_pt) - panel_gap_pt +
                        below_pt);
}

/* The upper edge of so many layers. */
static struct canvas_path
make_edge(const struct drawing *drawing, const struct area_chart_panel *panel, size_t layers)
{
    struct thin_path edge = thin_path_new(THIN_LINE, panel->count, thin_pitch_pt,
                                          canvas_arena(drawing->page.canvas));
    for (size_t i = 0; i < panel->count; i++)
        thin_path_add(
            &edge, plane_point(&drawing->plane, panel->x[i], stack_height(panel, layers, i)));
    return thin_path_end(&edge);
}

static bool
is_empty(const struct area_chart_panel *panel, size_t layer)
{
    for (size_t i = 0; i < panel->count; i++)
        if (known(panel->layers[layer].heights[i]) > 0.0)
            return false;
    return true;
}

static uint32_t
kind_colour(const struct area_chart_kind *kind)
{
    return style_shade(style_colour(kind->slot), kind->shade);
}

/* Between its lower edge and its upper edge back again. */
static void
draw_layer(const struct drawing *drawing, const struct area_chart_panel *panel, size_t layer)
{
    struct canvas *canvas = drawing->page.canvas;
    const struct area_chart_kind *kind = &drawing->chart->kinds[layer];
    if (is_empty(panel, layer))
        return;
    canvas_area(canvas, make_edge(drawing, panel, layer), make_edge(drawing, panel, layer + 1),
                kind_colour(kind), 1.0);
}

/* Dark enough to be read, of the kind's colour. */
static uint32_t
letter_colour(const struct area_chart_kind *kind)
{
    const double wanted = 4.5;
    uint32_t rgb = style_shade(style_colour(kind->slot), label_shade);
    return style_contrast_ratio(rgb, STYLE_PAPER) >= wanted ? rgb
                                                            : style_shade(rgb, light_shade);
}

/* The middle of a layer where it is highest. */
static double
middle_pt(const struct drawing *drawing, const struct area_chart_panel *panel, size_t layer)
{
    size_t at = 0;
    for (size_t i = 1; i < panel->count; i++)
        if (known(panel->layers[layer].heights[i]) > known(panel->layers[layer].heights[at]))
            at = i;
    double low = stack_height(panel, layer, at), high = stack_height(panel, layer + 1, at);
    return plane_point(&drawing->plane, drawing->plane.x.low, (low + high) / 2).y_pt;
}

/* What stands right of a panel, from the top down as the layers lie, the limit among them. */
static size_t
collect_labels(const struct drawing *drawing, const struct area_chart_panel *panel,
               struct column_label *labels)
{
    const struct area_chart *chart = drawing->chart;
    size_t count = 0, place = 0;
    for (size_t i = chart->kind_count; i-- > 0 && panel->count > 0;) {
        if (panel->layers[i].label == NULL || is_empty(panel, i))
            continue;
        double wanted_pt = middle_pt(drawing, panel, i);
        if (count > 0) /* layers may be highest at different moments */
            wanted_pt = fmax(wanted_pt, labels[count - 1].wanted_pt);
        labels[count++] = (struct column_label){.wanted_pt = wanted_pt,
                                                .text = panel->layers[i].label,
                                                .rgb = letter_colour(&chart->kinds[i]),
                                                .has_swatch = true,
                                                .swatch_rgb = kind_colour(&chart->kinds[i])};
    }
    if (known(chart->limit) <= 0.0 || chart->limit_name == NULL)
        return count;
    struct column_label limit = {
        .wanted_pt = plane_point(&drawing->plane, drawing->plane.x.low, chart->limit).y_pt,
        .text = chart->limit_name,
        .rgb = STYLE_INK};
    while (place < count && labels[place].wanted_pt < limit.wanted_pt)
        place++;
    memmove(&labels[place + 1], &labels[place], (count - place) * sizeof *labels);
    labels[place] = limit;
    return count + 1;
}

static void
draw_labels(const struct drawing *drawing, const struct area_chart_panel *panel)
{
    struct canvas *canvas = drawing->page.canvas;
    struct column_label *labels =
        arena_alloc(canvas_arena(canvas), drawing->chart->kind_count + 2, sizeof *labels);
    struct label_column column = {.box = drawing->plane.box, .font = drawing->font};
    column.box.x_pt += column.box.width_pt + label_gap_pt;
    column.box.width_pt = drawing->labels_pt - label_gap_pt;
    label_column_draw(&column, labels, collect_labels(drawing, panel, labels), canvas);
}

static void
draw_limit(const struct drawing *drawing)
{
    if (known(drawing->chart->limit) <= 0.0)
        return;
    struct canvas_point from =
        plane_point(&drawing->plane, drawing->plane.x.low, drawing->chart->limit);
    struct canvas_point to = {from.x_pt + drawing->plane.box.width_pt, from.y_pt};
    canvas_line(drawing->page.canvas, from, to, limit_pt, STYLE_INK);
}

/* "stage 3, memory (GB)". */
static void
draw_y_name(const struct drawing *drawing, const struct area_chart_panel *panel)
{
    struct canvas *canvas = drawing->page.canvas;
    const char *unit = drawing->plane.y.unit, *name = drawing->chart->y_name;
    struct arena *arena = canvas_arena(canvas);
    name = *unit != '\0' ? arena_format(arena, "%s (%s)", name, unit) : name;
    name = panel->title != NULL ? arena_format(arena, "%s: %s", panel->title, name) : name;
    canvas_text(
        canvas, (struct canvas_point){PAGE_MARGIN_PT, drawing->plane.box.y_pt - 6.0},
        &quiet_font,
        canvas_text_cut(canvas, &quiet_font, name, page_content_width_pt(&drawing->page)));
}

static const char *
x_name(const struct drawing *drawing)
{
    const char *unit = drawing->plane.x.unit, *name = drawing->chart->x_name;
    return *unit != '\0'
               ? arena_format(canvas_arena(drawing->page.canvas), "%s (%s)", name, unit)
               : name;
}

static void
draw_panel(struct drawing *drawing, size_t index)
{
    const struct area_chart *chart = drawing->chart;
    const struct area_chart_panel *panel = &chart->panels[index];
    struct canvas *canvas = drawing->page.canvas;
    plane_draw_grid(&drawing->plane, canvas);
    for (size_t i = 0; i < chart->kind_count; i++)
        draw_layer(drawing, panel, i);
    draw_limit(drawing);
    draw_labels(drawing, panel);
    plane_draw_y(&drawing->plane, canvas);
    draw_y_name(drawing, panel);
    if (index + 1 == chart->panel_count)
        plane_draw_x(&drawing->plane, x_name(drawing), canvas);
    else
        plane_draw_x_ticks(&drawing->plane, canvas);
    drawing->plane.box.y_pt += drawing->plane.box.height_pt + panel_gap_pt;
}

void
area_chart_draw(const struct area_chart *chart, const struct style_page *page,
                struct canvas *canvas)
{
    struct drawing drawing = {.chart = chart,
                              .page = {.canvas = canvas, .width_pt = page->width_pt}};
    drawing.font = page_content_width_pt(&drawing.page) < narrow_pt ? narrow_font : label_font;
    page_draw_titles(&drawing.page, chart->title, chart->subtitle);
    settle(&drawing, page->height_pt);
    for (size_t i = 0; i < chart->panel_count; i++)
        draw_panel(&drawing, i);
    page_draw_footer(&drawing.page, chart->footer);
}
