/* Labels beside points, none on another, on a mark or on a curve: each as near to its point as the
 * others let it.
 *
 *            ○ first      ○             a label right of its point; where that is taken above,
 *      second            third          below or left of it; farther off it gets a line, if it
 *            \                          must across a curve; where no place is large enough its
 *             ○                         middle is left out: "fou…th"
 */
#ifndef PLOTS_LABELS_H
#define PLOTS_LABELS_H

#include <stdbool.h>

#include "plots/canvas.h"

struct label {
    struct canvas_point at;
    double radius_pt; /* of the mark there */
    const char *text;
    struct canvas_font font;  /* its alignment is not looked at */
    struct canvas_box placed; /* the answer: where it stands; no width: nowhere */
    bool is_led;              /* the answer: there is a line to it, between these */
    struct canvas_point line[2];
};

/* A mark. Leaders may run over faint ones. */
struct label_disc {
    struct canvas_point centre;
    double radius_pt;
    bool is_faint;
};

/* Where labels go. */
struct label_field {
    struct canvas_box box;          /* they stay within */
    const struct canvas_box *taken; /* and touch none of these, */
    size_t taken_count;
    const struct label_disc *discs; /* nor these, */
    size_t disc_count;
    const struct canvas_path *paths; /* nor these */
    size_t path_count;
};

/* Draws them, the first with the first choice; those without a place are left out. How many were
 * drawn. */
size_t labels_draw(const struct label_field *field, struct label *labels, size_t count,
                   struct canvas *canvas);

/* Whether the line between two points runs through the box. */
bool labels_crosses(const struct canvas_box *box, struct canvas_point a, struct canvas_point b);

/* Puts labels of a row in the order of first choices that thins them evenly: both ends, then the
 * middle, the quarters and so on. */
void labels_order_evenly(struct arena *arena, struct label *labels, size_t count);

#endif
