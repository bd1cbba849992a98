/* What of a box is covered already, on a raster: whether a label can stand somewhere is then one
 * question, however many marks there are.
 *
 * Everything is rounded outwards to cells of a point (larger ones where the box is large), so that
 * what is free here is free. */
#ifndef PLOTS_COVERAGE_H
#define PLOTS_COVERAGE_H

#include "plots/canvas.h"

struct coverage;

/* Nothing of it is covered. Lives in the arena. */
struct coverage *coverage_new(struct arena *arena, struct canvas_box box);

/* What lies outside of the box counts for nothing. */
void coverage_add_box(struct coverage *coverage, struct canvas_box box);
void coverage_add_disc(struct coverage *coverage, struct canvas_point centre, double radius_pt);
void coverage_add_path(struct coverage *coverage, struct canvas_path path);

/* Whether nothing added so far touches a box that lies within. Quick as long as nothing is added
 * between two questions. */
bool coverage_is_free(struct coverage *coverage, struct canvas_box box);

#endif
