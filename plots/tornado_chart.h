/* What moves a quantity, both ways, the strongest at the top.
 *
 *      title: the finding
 *      subtitle: the set-up
 *      ▇ better  ▇ worse
 *      matrix rate         -27 ms ▇▇▇▇▇▇▇▇|▇▇▇▇▇▇▇▇▇▇ +33 ms
 *      bandwidth of HBM       -13 ms ▇▇▇▇▇|▇▇▇▇▇▇ +16 ms
 *      bandwidth of NICs               0 s|0 s
 *                        -20 ──── 0 ──── 20
 *                         step, difference (ms)
 *      footer
 *
 * Names stand above the bars where the page is narrow. Drawn as a timeline is. */
#ifndef PLOTS_TORNADO_CHART_H
#define PLOTS_TORNADO_CHART_H

#include <stddef.h>

#include "plots/canvas.h"
#include "plots/style.h"

struct tornado_row {
    const char *name;
    double better, worse;                 /* differences; not drawn where not finite */
    const char *better_text, *worse_text; /* at the bars' ends; may be NULL */
};

struct tornado_chart {
    const char *title;              /* the finding */
    const char *subtitle;           /* the set-up; may be NULL */
    const char *footer;             /* the source; may be NULL */
    const char *x_name, *x_unit;    /* of the differences */
    const char *better, *worse;     /* in the legend */
    const struct tornado_row *rows; /* in their order from the top */
    size_t row_count;
};

/* Draws and sets the canvas's size: the page's width, and as high as the rows are. */
void tornado_chart_draw(const struct tornado_chart *chart, const struct style_page *page,
                        struct canvas *canvas);

#endif
