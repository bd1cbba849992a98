/* A drawing as SVG for a page of HTML: text stays text that can be searched and copied, and takes
 * the width that it was measured with, whatever font a reader has. */
#ifndef PLOTS_INLINE_SVG_H
#define PLOTS_INLINE_SVG_H

#include "plots/canvas.h"

/* Appends an <svg> of the canvas's size in CSS pixels. Identities inside begin with the prefix, one
 * of its own for each drawing of a page. */
void inline_svg_write(const struct canvas *canvas, const char *prefix, struct text *out);

#endif
