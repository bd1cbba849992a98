/* Where the time goes: one bar whose parts add up, each with its name and its time beside it. */
#ifndef PLOTS_STRIP_H
#define PLOTS_STRIP_H

#include "plots/timeline.h"

/* A bar laid out for a canvas and a width, not drawn yet. */
struct strip;

/* The pieces of the timeline that are positive numbers; NULL when there is none. Parts too thin
 * for their name get it below with a line to it; where these would run too far aside, names with
 * swatches stand below in the order of the bar. */
struct strip *strip_new(const struct timeline *timeline, double width_pt,
                        const struct canvas *canvas);

/* With its title and all names; 0 of NULL. */
double strip_height_pt(const struct strip *strip);

/* Its top left corner at that point. */
void strip_draw(const struct strip *strip, struct canvas_point at, struct canvas *canvas);

/* Rounds parts to multiples of the quantum so that they still add up to their rounded sum: down
 * first, then those that lost most get one more (largest remainder). */
void strip_round(struct arena *arena, double *parts, size_t count, double quantum);

#endif
