/* Labels beside points, none on another: each as near to its point as the others let it.
 *
 *            ○ first      ○             a label right of its point; where that is taken above,
 *      second            third          below or left of it; farther off it gets a line
 *            \
 *             ○
 */
#ifndef PLOTS_LABELS_H
#define PLOTS_LABELS_H

#include "plots/canvas.h"

struct label {
    struct canvas_point at;
    double radius_pt; /* of the mark there */
    const char *text;
    struct canvas_font font; /* its alignment is not looked at */
};

/* Where labels go. */
struct label_field {
    struct canvas_box box;          /* they stay within */
    const struct canvas_box *taken; /* and do not touch these */
    size_t taken_count;
    const struct canvas_point *dots; /* nor cover these, where they need not */
    size_t dot_count;
    const struct canvas_path *paths; /* and never these */
    size_t path_count;
};

/* Draws them, the first with the first choice; those without a place are left out. How many were
 * drawn. */
size_t labels_draw(const struct label_field *field, const struct label *labels, size_t count,
                   struct canvas *canvas);

#endif
