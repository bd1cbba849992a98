/* Labels one below the other beside a panel: each as near to the height that it belongs to as the
 * others let it. Where there are more than the column holds, the uppermost and the lowest stay, of
 * those between an even choice, and the last line says how many are missing: "+163 more". */
#ifndef PLOTS_LABEL_COLUMN_H
#define PLOTS_LABEL_COLUMN_H

#include <stdbool.h>

#include "plots/canvas.h"

struct column_label {
    double wanted_pt; /* y of its middle; ascending over the labels */
    const char *text;
    uint32_t rgb;
    bool has_swatch; /* before it, of its own colour: */
    uint32_t swatch_rgb;
    double middle_pt; /* the answer; NAN of one that is missing */
};

struct label_column {
    struct canvas_box box;
    struct canvas_font font; /* its colour and alignment are not looked at */
};

/* "+163 more"; where a column is too narrow for it "+163" is said. */
const char *label_column_rest(struct arena *arena, size_t missing);

/* What a swatch takes of a line's width, in letters of that size. */
double label_column_swatch_pt(double size_pt);

void label_column_draw(const struct label_column *column, struct column_label *labels,
                       size_t count, struct canvas *canvas);

#endif
