/* Points of two quantities, lines that bound or join them, labels beside those that matter.
 *
 *      title: the finding
 *      subtitle: the set-up
 *      ● none is better  ● another is better
 *      step (s)                                  |
 *      1 s   ●  small                            |  limit
 *             ●      ·       ·                   |
 *      0.5 s     ●────·──────────● large         |
 *            10 GB ──── 50 GB ──── 100 GB ───────
 *                        memory
 *      footer
 *
 * Drawn as a timeline is. */
#ifndef PLOTS_SCATTER_CHART_H
#define PLOTS_SCATTER_CHART_H

#include "plots/line_chart.h"

struct scatter_point {
    double x, y;       /* not drawn where not finite, or not positive on a log scale */
    const char *label; /* NULL: none. Of discs the first have the first choice of place; of dots
                          the ends of their row, then an even choice */
    double area_part;  /* of the largest disc, 0 to 1; 0: a small disc */
    bool is_faint;     /* of less weight: grey, under the others */
    enum style_slot slot;
};

struct scatter_line {
    const struct canvas_point *points; /* in the chart's values: x_pt is x, y_pt is y */
    size_t count;
    const char *label; /* at its upper end; may be NULL */
    bool is_dashed, is_quiet;
};

/* An upright line that no point may be right of. */
struct scatter_limit {
    double x;
    const char *name; /* NULL: there is none */
};

struct scatter_chart {
    const char *title;    /* the finding */
    const char *subtitle; /* the set-up; may be NULL */
    const char *footer;   /* the source; may be NULL */
    struct line_chart_axis x, y;
    const struct scatter_point *points;
    size_t point_count;
    const struct scatter_line *lines;
    size_t line_count;
    struct scatter_limit limit;
    const char *strong_name, *faint_name, *area_name; /* in the legend; NULL: not there */
};

/* Draws and sets the canvas's size to the page's. */
void scatter_chart_draw(const struct scatter_chart *chart, const struct style_page *page,
                        struct canvas *canvas);

#endif
