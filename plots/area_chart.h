/* What is stacked over time, and the limit that the sum must keep; a panel for each place.
 *
 *      title: the finding
 *      subtitle: the set-up
 *      stage 0 (GB)
 *      200 ──────────────────────────────── a GPU has 192 GB
 *      100     ╱▔▔▔▔╲      ╱▔▔▔▔╲           activations 25 GB
 *            ▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒       gradients 35 GB
 *        0   ▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓       weights 18 GB
 *            0 ──── 200 ──── 400 ──── 600
 *                   time (ms)
 *      footer
 *
 * Drawn as a timeline is. */
#ifndef PLOTS_AREA_CHART_H
#define PLOTS_AREA_CHART_H

#include <stddef.h>

#include "plots/canvas.h"
#include "plots/style.h"

/* A sort of thing, the same colour in every panel. */
struct area_chart_kind {
    const char *name;
    enum style_slot slot;
    double shade;
};

struct area_chart_layer {
    const double *heights; /* one a moment; what is not a positive number counts as 0 */
    const char *label;     /* right of the panel, in the kind's colour; NULL: none */
};

struct area_chart_panel {
    const char *title; /* NULL: none */
    const double *x;   /* moments, ascending; straight lines between; all finite */
    size_t count;
    const struct area_chart_layer *layers; /* one of each kind, the lowest first */
};

struct area_chart {
    const char *title;    /* the finding */
    const char *subtitle; /* the set-up; may be NULL */
    const char *footer;   /* the source; may be NULL */
    const char *x_name, *x_unit, *y_name, *y_unit;
    double limit;           /* a line in every panel; 0: none */
    const char *limit_name; /* may be NULL */
    const struct area_chart_kind *kinds;
    size_t kind_count;
    const struct area_chart_panel *panels; /* one below the other, all with the same axes */
    size_t panel_count;
};

/* Draws and sets the canvas's size: the page's, higher if panels need it. */
void area_chart_draw(const struct area_chart *chart, const struct style_page *page,
                     struct canvas *canvas);

#endif
