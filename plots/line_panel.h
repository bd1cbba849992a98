/* One panel of a line chart: curves, points, notes and what is said of them, in a plane. */
#ifndef PLOTS_LINE_PANEL_H
#define PLOTS_LINE_PANEL_H

#include "plots/line_chart.h"
#include "plots/plane.h"

struct line_panel {
    const struct line_chart *chart;
    struct plane plane;
    size_t first, end; /* its series, the last one excluded */
    bool has_short_labels;
    double labels_pt;    /* room right of the plane for labels at the curves' ends */
    double head_from_pt; /* x from where on marks are named above the plane */
};

#define LINE_PANEL_CURVE_PT             1.4
#define LINE_PANEL_LIMIT_NAME_PT        15.0 /* from a limit to the top of its name */
#define LINE_PANEL_BAND_OPAQUE_FRACTION 0.18

/* The widest label at a curve's end, with its gap, were all series in this panel. */
double line_panel_labels_pt(const struct line_panel *panel, const struct canvas *canvas);

/* All but the axes' labels; the grid behind it is drawn already. How many labels of notes,
 * marks and limit have no place. */
size_t line_panel_draw(const struct line_panel *panel, struct canvas *canvas);

/* A measured point of a series as a disc or a ring. */
void line_panel_draw_point(struct canvas *canvas, struct canvas_point at, bool is_hollow,
                           uint32_t rgb);
/* Of a curve alone in its panel black, as measurements are everywhere; else in its colour. */
uint32_t line_panel_point_colour(const struct line_chart *chart, size_t series);

/* How many panels a chart has. */
size_t line_panel_count(const struct line_chart *chart);

#endif
