/* Millions of points on some thousand dots: what is drawn looks the same with far fewer. */
#ifndef PLOTS_THIN_H
#define PLOTS_THIN_H

#include <math.h>
#include <stdbool.h>

#include "plots/canvas.h"

/* What a path is: a line, or the upper or the lower edge of an area. */
enum thin_side { THIN_LINE, THIN_UPPER, THIN_LOWER };

/* A path from left to right whose points come one by one, and only what is left takes memory: of
 * each column of the pitch the first, the lowest, the highest and the last point, in their order;
 * of a column of many the lowest and the highest, of an edge the outer one of these. */
struct thin_path {
    enum thin_side side;
    double pitch_pt;
    struct arena *arena;
    struct canvas_point *points; /* what is left of the columns so far */
    size_t count, room;
    double end_pt; /* of the column at hand, and which of its points are kept */
    struct thin_place {
        struct canvas_point point;
        size_t place; /* in the column */
    } first, lowest, highest, last;
};

/* For a path of so many points: a short one stays as it is. */
struct thin_path thin_path_new(enum thin_side side, size_t count, double pitch_pt,
                               struct arena *arena);
/* The column at hand is whole: the next one begins with the point. */
void thin_path_turn(struct thin_path *path, struct canvas_point point);
struct canvas_path thin_path_end(struct thin_path *path);

/* Here, as thin_squares_take is, since charts of a million points ask for each of them. */
static inline void
thin_path_add(struct thin_path *path, struct canvas_point point)
{
    if (!(point.x_pt < path->end_pt)) {
        thin_path_turn(path, point);
        return;
    }
    path->last = (struct thin_place){point, path->last.place + 1};
    if (point.y_pt > path->lowest.point.y_pt)
        path->lowest = path->last;
    if (point.y_pt < path->highest.point.y_pt)
        path->highest = path->last;
}

/* Squares of the pitch over a box, and which of them hold a dot. */
struct thin_squares {
    struct canvas_box box;
    double pitch_pt;
    size_t columns, rows;
    bool *is_taken;
};

struct thin_squares thin_squares_new(struct canvas_box box, double pitch_pt,
                                     struct arena *arena);

/* Whether the point is the first of its square; false outside the box. */
static inline bool
thin_squares_take(struct thin_squares *squares, struct canvas_point point)
{
    double x = (point.x_pt - squares->box.x_pt) / squares->pitch_pt;
    double y = (point.y_pt - squares->box.y_pt) / squares->pitch_pt;
    if (!(x >= 0.0 && y >= 0.0 && x < (double)squares->columns && y < (double)squares->rows))
        return false;
    bool *is_taken = &squares->is_taken[(size_t)y * squares->columns + (size_t)x];
    bool is_first = !*is_taken;
    *is_taken = true;
    return is_first;
}

/* Whether so many dots or points of a path are few enough to be drawn as they are. */
bool thin_is_few(size_t count);

/* In place: the points that are the first of their square, in their order. Few points stay as they
 * are. How many are left. */
size_t thin_dots(struct canvas_point *points, size_t count, struct canvas_box box,
                 double pitch_pt, struct arena *arena);

/* The same, however many there are, of two sorts of dots that share the squares: one beneath is
 * left only where none is above it. */
struct thin_dots {
    struct canvas_point *points;
    size_t count, room;
};
void thin_dots_beneath(struct thin_dots *above, struct thin_dots *beneath,
                       struct canvas_box box, double pitch_pt, struct arena *arena);

#endif
