/* Grid, ticks and labels of a box. */
#include "plots/plane.h"

#include <math.h>

#include "plots/style.h"

static const double label_gap_pt = 5.0;
static const double tick_pt = 4.0;
static const double width_per_tick_pt = 44.0;
static const struct canvas_font label_font = {STYLE_SMALL_PT, false, STYLE_QUIET,
                                              CANVAS_CENTRE};

double
plane_gutter_pt(const struct axis *y, const struct canvas *canvas)
{
    double widest = 0.0;
    for (size_t i = 0; i < y->tick_count; i++)
        widest = fmax(widest, canvas_text_width_pt(canvas, &label_font, y->ticks[i].label));
    return widest + label_gap_pt;
}

size_t
plane_x_tick_max(double width_pt)
{
    double least = width_pt < 2 * width_per_tick_pt ? 2.0 : 3.0; /* the ends and the middle */
    return (size_t)fmax(least, fmin(AXIS_TICK_MAX, floor(width_pt / width_per_tick_pt)));
}

static void
draw_level(const struct plane *plane, double y_pt, uint32_t rgb, struct canvas *canvas)
{
    const struct canvas_box *box = &plane->box;
    canvas_line(canvas, (struct canvas_point){box->x_pt, y_pt},
                (struct canvas_point){box->x_pt + box->width_pt, y_pt}, STYLE_HAIRLINE_PT, rgb);
}

void
plane_draw_grid(const struct plane *plane, struct canvas *canvas)
{
    for (size_t i = 0; i < plane->y.tick_count; i++)
        draw_level(plane, plane_point(plane, plane->x.low, plane->y.ticks[i].value).y_pt,
                   STYLE_GRID, canvas);
}

void
plane_draw_x_ticks(const struct plane *plane, struct canvas *canvas)
{
    double bottom_pt = plane->box.y_pt + plane->box.height_pt;
    draw_level(plane, bottom_pt, STYLE_QUIET, canvas);
    for (size_t i = 0; i < plane->x.tick_count; i++) {
        double x_pt = plane_point(plane, plane->x.ticks[i].value, plane->y.low).x_pt;
        canvas_line(canvas, (struct canvas_point){x_pt, bottom_pt},
                    (struct canvas_point){x_pt, bottom_pt + tick_pt}, STYLE_HAIRLINE_PT,
                    STYLE_QUIET);
    }
}

void
plane_draw_x(const struct plane *plane, const char *name, struct canvas *canvas)
{
    double bottom_pt = plane->box.y_pt + plane->box.height_pt, reached_pt = -INFINITY;
    double left_pt = plane->box.x_pt - plane->overhang_pt;
    double right_pt = plane->box.x_pt + plane->box.width_pt + plane->overhang_pt;
    plane_draw_x_ticks(plane, canvas);
    for (size_t i = 0; i < plane->x.tick_count; i++) {
        const struct axis_tick *tick = &plane->x.ticks[i];
        double half_pt = canvas_text_width_pt(canvas, &label_font, tick->label) / 2;
        double x_pt = plane_point(plane, tick->value, plane->y.low).x_pt;
        x_pt = fmax(left_pt + half_pt, fmin(right_pt - half_pt, x_pt));
        if (x_pt - half_pt < reached_pt)
            continue;
        canvas_text(canvas, (struct canvas_point){x_pt, bottom_pt + PLANE_LABELS_PT - 3.0},
                    &label_font, tick->label);
        reached_pt = x_pt + half_pt + label_gap_pt;
    }
    double baseline_pt = bottom_pt + PLANE_LABELS_PT + PLANE_NAME_PT - 3.0;
    if (name != NULL)
        canvas_text_short(
            canvas,
            (struct canvas_point){plane->box.x_pt + plane->box.width_pt / 2, baseline_pt},
            &label_font,
            canvas_text_cut(canvas, &label_font, name,
                            plane->box.width_pt + 2 * plane->overhang_pt),
            name);
}

void
plane_draw_y(const struct plane *plane, struct canvas *canvas)
{
    struct canvas_font font = label_font;
    font.align = CANVAS_RIGHT;
    for (size_t i = 0; i < plane->y.tick_count; i++) {
        struct canvas_point at = plane_point(plane, plane->x.low, plane->y.ticks[i].value);
        at = (struct canvas_point){plane->box.x_pt - label_gap_pt,
                                   at.y_pt + 0.365 * STYLE_SMALL_PT};
        canvas_text(canvas, at, &font, plane->y.ticks[i].label);
    }
}
