/* Millions of points on some thousand dots: what is drawn looks the same with far fewer. */
#ifndef PLOTS_THIN_H
#define PLOTS_THIN_H

#include "plots/canvas.h"

/* What a path is: a line, or the upper or the lower edge of an area. */
enum thin_side { THIN_LINE, THIN_UPPER, THIN_LOWER };

/* In place, of a path from left to right: of each column of the pitch the first, the lowest, the
 * highest and the last point, in their order; of a column of many the lowest and the highest, of an
 * edge the outer one of these. Short paths stay as they are. How many are left. */
size_t thin_path(struct canvas_point *points, size_t count, double pitch_pt,
                 enum thin_side side);

/* In place: the first point of each square of the pitch within the box, in their order. Points
 * outside are left out, too. Few points stay as they are. How many are left. */
size_t thin_dots(struct canvas_point *points, size_t count, struct canvas_box box,
                 double pitch_pt, struct arena *arena);

/* The same, however many there are, of two sorts of dots that share the squares: one beneath is
 * left only where none is above it. */
struct thin_dots {
    struct canvas_point *points;
    size_t count;
};
void thin_dots_beneath(struct thin_dots *above, struct thin_dots *beneath,
                       struct canvas_box box, double pitch_pt, struct arena *arena);

#endif
