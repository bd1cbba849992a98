/* One panel of a timeline: its rows over a window of time, with labels and a time axis. */
#ifndef PLOTS_PANEL_H
#define PLOTS_PANEL_H

#include "plots/timeline.h"

/* A timeline made ready to draw: spans by row and then by start. */
struct panel_source {
    const struct timeline *timeline;
    const struct timeline_span *spans;
    const size_t *row_begin; /* of row r: spans row_begin[r] to row_begin[r + 1] - 1 */
    struct arena *arena;
};

struct panel_source panel_source_new(struct arena *arena, const struct timeline *timeline);

struct panel {
    const struct panel_source *source;
    struct canvas_box rows; /* where spans are drawn */
    double margin_pt;       /* x of the row labels */
    double below_pt;        /* between the rows and the axis */
    double edges_pt[2];     /* x of upright lines that no letters may cross; both 0: none */
    int64_t start_ps, end_ps;
    bool is_whole; /* not a window of it: the axis says when the step ends */
};

/* What rows a panel of the whole, or a window, shows: the sum of their weights, at least 1. */
double panel_weight(const struct timeline *timeline, bool is_whole);

enum { PANEL_AXIS_PT = 22 };

/* The place of a time, which must lie in the window. */
double panel_x_pt(const struct panel *panel, int64_t at_ps);

uint32_t panel_span_colour(const struct timeline_span *span);

/* Whether one of the edges runs between two places, or at less than a point beside them. */
bool panel_is_on_edge(const struct panel *panel, double left_pt, double right_pt);

/* How wide the labels are that stand left of rows of that pitch (of a weight of 1). */
double panel_gutter_pt(const struct timeline *timeline, const struct canvas *canvas,
                       double pitch_pt);

/* Rows, spans and labels, then the axis in PANEL_AXIS_PT behind what is left free below them. */
void panel_draw(const struct panel *panel, struct canvas *canvas);

/* The width of a column of dots, in points: half a CSS pixel. */
extern const double PANEL_COLUMN_PT;

#endif
