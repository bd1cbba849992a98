/* Rows as bars of what each is made of, from 0; beside them another quantity and its limit.
 *
 *      title: the finding
 *      subtitle: the set-up
 *      ■ computing  ■ waiting
 *                                                          memory
 *                                                                       limit
 *      one     ▇▇▇▇▇▇▇▇▇▇▇▇▒▒▒▒├─┤ 599 ms                  ▇▇▇ 84 GB      |
 *      two     ▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▒▒▒▒▒▒▒▒├─┤ 715 ms         ▇▇ 65 GB       |
 *      three   ┌──────────┐                                ┌────────────────┐ 210 GB
 *              why it cannot be
 *              0 ──── 200 ──── 400 ──── 600 ──── 800       0 ─── 100 ─── 200
 *                         step (ms)                               (GB)
 *      footer
 *
 * Names stand above the bars where the page is narrow. Drawn as a timeline is. */
#ifndef PLOTS_BAR_CHART_H
#define PLOTS_BAR_CHART_H

#include <stdbool.h>
#include <stddef.h>

#include "plots/canvas.h"
#include "plots/style.h"

/* A sort of piece, the same in every row. */
struct bar_chart_kind {
    const char *name;
    enum style_slot slot;
    double shade; /* of the slot's colour */
};

struct bar_chart_piece {
    double value;     /* from 0; what is not finite is not drawn */
    const char *text; /* on it where it fits; may be NULL */
};

struct bar_chart_row {
    const char *name;
    const struct bar_chart_piece *pieces; /* one of each kind; NULL: nothing is known */
    double low, high;                     /* of the sum, an interval; both 0: none */
    const char *text, *short_text; /* at the bar's end, where that is too long; may be NULL */
    double side;                   /* the other quantity; 0: unknown */
    double side_limit;             /* 0: none */
    const char *side_text;
    const char *reason; /* why it cannot be, its bars then hollow; NULL: it can */
};

struct bar_chart_scale {
    const char *name, *unit; /* "step", "s" */
};

struct bar_chart {
    const char *title;                 /* the finding */
    const char *subtitle;              /* the set-up; may be NULL */
    const char *footer;                /* the source; may be NULL */
    struct bar_chart_scale main, side; /* side.name NULL: there is none */
    const char *limit_name; /* over the limit's line where all rows have the same one */
    const struct bar_chart_kind *kinds;
    size_t kind_count;
    const struct bar_chart_row *rows;
    size_t row_count;
};

/* Draws and sets the canvas's size: the page's width, and as high as the rows are. */
void bar_chart_draw(const struct bar_chart *chart, const struct style_page *page,
                    struct canvas *canvas);

/* All of a row's pieces. */
double bar_chart_sum(const struct bar_chart *chart, const struct bar_chart_row *row);

#endif
