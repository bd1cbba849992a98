/* Names of curves in their colours where these end: beside the end of one that stops early, else in
 * a column right of the plane. */
#ifndef PLOTS_CURVE_ENDS_H
#define PLOTS_CURVE_ENDS_H

#include "plots/labels.h"

struct curve_end {
    struct canvas_point at;
    const char *text;
    uint32_t rgb;
    struct canvas_box
        placed; /* the answer: where in the plane it stands; no width: not in it */
    struct canvas_path leader; /* the answer: a line to its name; may have no points */
};

#define CURVE_ENDS_GAP_PT 6.0  /* from the plane to the column */
#define CURVE_ENDS_SHADE  0.45 /* of a curve's colour, that letters be read */

/* How wide the column for such names is, with its gap; a name may be NULL. */
double curve_ends_width_pt(const char *const *names, size_t count, const struct canvas *canvas);

/* Beside the field's box, so wide; orders the ends from the top down. */
void curve_ends_draw(const struct label_field *field, double column_pt, struct curve_end *ends,
                     size_t count, struct canvas *canvas);

#endif
