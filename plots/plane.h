/* Two axes and the box between them: grid, ticks, labels, and where a pair of values lies. */
#ifndef PLOTS_PLANE_H
#define PLOTS_PLANE_H

#include "plots/axis.h"
#include "plots/canvas.h"

struct plane {
    struct canvas_box box;
    struct axis x, y;
    double overhang_pt; /* how far labels of x may reach beyond the box's ends */
};

/* What stands around the box: below it the labels of x, and under them its name. */
#define PLANE_LABELS_PT 16.0
#define PLANE_NAME_PT   12.0

/* The widest label of y with its gap: how far left of the box they begin. */
double plane_gutter_pt(const struct axis *y, const struct canvas *canvas);

/* How many ticks of x a width has room for, 2 to AXIS_TICK_MAX. */
size_t plane_x_tick_max(double width_pt);

/* The place of a pair; beyond an axis's ends beyond the box. */
static inline double
plane_y_pt(const struct plane *plane, double y)
{
    return plane->box.y_pt + (1.0 - axis_fraction(&plane->y, y)) * plane->box.height_pt;
}

static inline struct canvas_point
plane_point(const struct plane *plane, double x, double y)
{
    const struct canvas_box *box = &plane->box;
    return (struct canvas_point){box->x_pt + axis_fraction(&plane->x, x) * box->width_pt,
                                 plane_y_pt(plane, y)};
}

/* Level hairlines at the ticks of y: behind everything. */
void plane_draw_grid(const struct plane *plane, struct canvas *canvas);

/* The lower edge with ticks; labels below it, as far as they do not touch, and the name, if any, in
 * the PLANE_NAME_PT below them. */
void plane_draw_x(const struct plane *plane, const char *name, struct canvas *canvas);
/* The lower edge and its ticks alone. */
void plane_draw_x_ticks(const struct plane *plane, struct canvas *canvas);
/* Labels left of the box. */
void plane_draw_y(const struct plane *plane, struct canvas *canvas);

#endif
