/* How far answers are from the truth: their ratio against the truth's size, a small panel for each
 * sort of answer, all with the same two axes.
 *
 *      title: what the picture shows
 *      subtitle: of what
 *      ● held out  ● seen  ▒ within 10 %  ── median
 *      section
 *      gemm bf16              attention bf16         rms_norm bf16
 *      MAPE 7.2 % of 122      MAPE 4.0 % of 31       MAPE 9.1 % of 12
 *      2    |    . far off    |                      |
 *      1    |▒▒▒▒▒▒▒▒▒▒       |▒▒▒▒▒▒▒▒▒▒            |▒▒▒▒▒▒▒▒▒▒
 *      0.5  |      .          |                      |
 *           1 µs ── 1 ms      1 µs ── 1 ms           1 µs ── 1 ms
 *      footer
 *
 * Both scales are logarithmic. Ratios beyond the scale, which holds all but a few of a hundred, are
 * small triangles at its edge. Drawn as a timeline is. */
#ifndef PLOTS_RATIO_CHART_H
#define PLOTS_RATIO_CHART_H

#include <stdbool.h>
#include <stddef.h>

#include "plots/canvas.h"
#include "plots/style.h"

struct ratio_chart_point {
    double truth, ratio; /* both positive and finite */
    bool is_faint;       /* of less weight: drawn lighter, under the others */
    const char *label;   /* NULL: none; the first of a panel have the first choice of place */
};

struct ratio_chart_panel {
    const char *title;
    const char *note; /* a figure or two; may be NULL */
    const struct ratio_chart_point *points;
    size_t point_count;
};

struct ratio_chart_section {
    const char *title; /* may be NULL */
    const struct ratio_chart_panel *panels;
    size_t panel_count;
};

struct ratio_chart {
    const char *title;    /* the finding */
    const char *subtitle; /* the set-up; may be NULL */
    const char *footer;   /* the source; may be NULL */
    const char *x_name, *x_unit;
    const char *note;     /* after the legend; may be NULL */
    double band_fraction; /* ratios so near to 1 are on grey ground: 0.1 */
    const char *strong_name, *faint_name, *band_name, *median_name; /* in the legend */
    const struct ratio_chart_section *sections;
    size_t section_count;
};

/* Draws and sets the canvas's size: the page's width, and its height or what the panels need. */
void ratio_chart_draw(const struct ratio_chart *chart, const struct style_page *page,
                      struct canvas *canvas);

#endif
