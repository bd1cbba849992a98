/* For tests: does any text lie on a mark, or any mark on a text? */
#ifndef PLOTS_CHECK_MARKS_H
#define PLOTS_CHECK_MARKS_H

#include <check.h>
#include <math.h>

#include "plots/display_list.h"
#include "plots/style.h"

static inline bool
check_disc_touches(const struct display_dot *dot, const struct canvas_box *box)
{
    double x = fabs(dot->centre.x_pt - box->x_pt - box->width_pt / 2) - box->width_pt / 2;
    double y = fabs(dot->centre.y_pt - box->y_pt - box->height_pt / 2) - box->height_pt / 2;
    return x < dot->radius_pt && y < dot->radius_pt &&
           hypot(fmax(0.0, x), fmax(0.0, y)) < dot->radius_pt;
}

/* Some of a thousand points of the line lie within. */
static inline bool
check_line_touches(struct canvas_point a, struct canvas_point b, const struct canvas_box *box)
{
    for (int i = 0; i <= 1000; i++) {
        double x = a.x_pt + (b.x_pt - a.x_pt) * i / 1000,
               y = a.y_pt + (b.y_pt - a.y_pt) * i / 1000;
        if (x > box->x_pt && x < box->x_pt + box->width_pt && y > box->y_pt &&
            y < box->y_pt + box->height_pt)
            return true;
    }
    return false;
}

static inline bool
check_may_touch(struct canvas_point a, struct canvas_point b, const struct canvas_box *box)
{
    return fmin(a.x_pt, b.x_pt) < box->x_pt + box->width_pt &&
           fmax(a.x_pt, b.x_pt) > box->x_pt &&
           fmin(a.y_pt, b.y_pt) < box->y_pt + box->height_pt &&
           fmax(a.y_pt, b.y_pt) > box->y_pt && check_line_touches(a, b, box);
}

/* The edges of a frame; letters within it touch none. */
static inline bool
check_frame_touches(const struct canvas_box *frame, const struct canvas_box *box)
{
    struct canvas_point at[4] = {
        {frame->x_pt, frame->y_pt},
        {frame->x_pt + frame->width_pt, frame->y_pt},
        {frame->x_pt + frame->width_pt, frame->y_pt + frame->height_pt},
        {frame->x_pt, frame->y_pt + frame->height_pt}};
    for (int i = 0; i < 4; i++)
        if (check_may_touch(at[i], at[(i + 1) % 4], box))
            return true;
    return false;
}

/* A grid or a band may lie behind letters; dots, lines, frames and curves may not. */
static inline bool
check_item_touches(const struct display_item *item, const struct canvas_box *box)
{
    const struct canvas_path *path = &item->shape.path;
    if (item->kind == DISPLAY_OUTLINE)
        return check_frame_touches(&item->shape.box, box);
    if (item->kind == DISPLAY_DOT)
        return check_disc_touches(&item->shape.dot, box);
    if (item->kind == DISPLAY_LINE && item->rgb != STYLE_GRID && item->line_pt < 5.0)
        return check_may_touch(item->shape.points[0], item->shape.points[1], box);
    for (size_t i = 1; item->kind == DISPLAY_CURVE && i < path->count; i++)
        if (check_may_touch(path->points[i - 1], path->points[i], box))
            return true;
    return false;
}

/* The first shape that touches a text; their count when none does. */
static inline size_t
check_touching(const struct display_list *list, const struct display_text *text)
{
    size_t index = 0;
    while (index < list->count && !check_item_touches(&list->items[index], &text->ink))
        index++;
    return index;
}

static inline void
check_marks(const struct canvas *canvas)
{
    const struct display_list *list = canvas_display_list(canvas);
    for (size_t i = 0; i < list->count; i++) {
        const struct display_text *text = &list->items[i].shape.text;
        if (list->items[i].kind == DISPLAY_TEXT)
            ck_assert_msg(check_touching(list, text) == list->count,
                          "'%s' at %.1f,%.1f lies on shape %zu of the list", text->text,
                          text->ink.x_pt, text->ink.y_pt, check_touching(list, text));
    }
}

#endif
