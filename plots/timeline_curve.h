/* What is stacked under a timeline's rows over the same time, with the limit that it must keep. */
#ifndef PLOTS_TIMELINE_CURVE_H
#define PLOTS_TIMELINE_CURVE_H

#include "plots/panel.h"

/* With its distance to the rows; 0 of NULL and of a curve without moments. */
double timeline_curve_height_pt(const struct timeline_curve *curve);

/* How wide its labels are, left of the rows. */
double timeline_curve_gutter_pt(const struct timeline_curve *curve,
                                const struct canvas *canvas);

/* In the panel's room below its rows. */
void timeline_curve_draw(const struct timeline_curve *curve, const struct panel *panel,
                         struct canvas *canvas);

#endif
