/* Curves over one quantity, each with its uncertainty as a band and with what was measured as
 * points on it.
 *
 *      title: what the picture shows
 *      subtitle: of what
 *      ── predicted  ▒ one standard deviation  ● measured
 *      TFLOP/s      | 2 waves     | 3
 *      600   ╱╲╱╲╱╲╱╲╱╲╱╲╱╲╱╲╱╲╱╲╱╲  m = 4096
 *      400 ╱  ╱╲╱╲╱╲╱╲╱╲╱╲╱╲╱╲╱╲╱    m = 1024
 *      200
 *        1024 ── 2048 ── 3072 ── 4096
 *                     n
 *      footer
 *
 * Curves that would hide each other get panels. Drawn as a timeline is: canvas_new,
 * line_chart_draw, canvas_write, text_write_file, canvas_free. */
#ifndef PLOTS_LINE_CHART_H
#define PLOTS_LINE_CHART_H

#include <stdbool.h>
#include <stddef.h>

#include "plots/canvas.h"
#include "plots/style.h"

enum line_chart_scale {
    LINE_CHART_LINEAR,
    LINE_CHART_LOG,
    LINE_CHART_BINARY,     /* linear, ticks as sizes that people double: 1024, 2048 */
    LINE_CHART_LOG_BINARY, /* doublings: "1 KiB", "2 KiB" of the unit "B" */
};

struct line_chart_axis {
    const char *name; /* "n, columns"; of y, NULL: the unit alone */
    const char *unit; /* SI: "FLOP/s", "s"; "" for none */
    enum line_chart_scale scale;
};

/* A point of a curve; values of a log scale are positive. Where one is not finite the curve has a
 * gap. */
struct line_chart_vertex {
    double x, y;
    double low, high; /* the band's edges; both y where there is none */
};

struct line_chart_point {
    double x, y;
    bool is_hollow; /* a ring: of less weight than the others */
};

/* A place of x that means something: a light upright line, its label above it where there is room.
 * By ascending x. */
struct line_chart_mark {
    double x;
    const char *label; /* may be NULL */
};

/* A vertex that something is said of: a dot, its label beside it where there is room. */
struct line_chart_note {
    double x, y;
    const char *text;
    bool is_strong; /* first of all, and larger */
    bool is_bare;   /* no dot: the series has a point there */
};

struct line_chart_series {
    const char *label; /* at the curve's end; NULL for none */
    const char
        *short_label; /* instead, where labels would take over a third of the page; NULL: the
                                same */
    const struct line_chart_vertex *curve; /* by ascending x */
    size_t vertex_count;
    const struct line_chart_point *points;
    size_t point_count;
    const struct line_chart_mark *marks; /* shown where it is the only curve of its panel */
    size_t mark_count;
    const struct line_chart_note *notes; /* the first with the first choice of place */
    size_t note_count;
    const struct line_chart_axis *y; /* of its panel; NULL: the chart's */
};

/* What no value may be above, or what hardware offers: a line through all panels that have the
 * chart's y. */
struct line_chart_limit {
    double y;
    const char *name;
};

struct line_chart {
    const char *title;    /* the finding */
    const char *subtitle; /* the set-up; may be NULL */
    const char *footer;   /* the source; may be NULL */
    struct line_chart_axis x, y;
    const struct line_chart_limit *limits;
    size_t limit_count;
    const struct line_chart_series *series; /* the first is drawn over the others */
    size_t series_count;
    size_t
        series_a_panel; /* of panels one below the other, so many of the series in each, with a y
                              of its own; 0: all in one */
    /* In the legend; NULL: not there. */
    const char *curve_name, *band_name, *point_name, *hollow_name, *mark_name;
};

/* Draws and sets the canvas's size to the page's, higher if panels need it. A linear y begins at 0
 * unless all values lie close together far from it. */
void line_chart_draw(const struct line_chart *chart, const struct style_page *page,
                     struct canvas *canvas);

/* The colour of the index-th of several curves in a panel. */
uint32_t line_chart_colour(size_t index);

#endif
