/* Millions of points on some thousand dots: what is drawn looks the same with far fewer. */
#ifndef PLOTS_THIN_H
#define PLOTS_THIN_H

#include "plots/canvas.h"

/* In place, of a path from left to right: of each column of the pitch the first, the lowest, the
 * highest and the last point, in their order. Short paths stay as they are. How many are left. */
size_t thin_path(struct canvas_point *points, size_t count, double pitch_pt);

/* In place: the first point of each square of the pitch within the box, in their order. Points
 * outside are left out, too. Few points stay as they are. How many are left. */
size_t thin_dots(struct canvas_point *points, size_t count, struct canvas_box box,
                 double pitch_pt, struct arena *arena);

#endif
