/* A frame stands a little outside the bar, so that it is seen around dark colours too. */
#include "plots/critical_frame.h"

#include <math.h>

static const double frame_line_pt = 0.75;
static const double frame_outside_pt = 1.5; /* line and a sliver of paper */
static const double join_gap_pt = 1.5;      /* nearer spans share a frame */
static const double roomy_bar_pt = 8.0;     /* lower bars have no room around them */

static void
draw_frame(struct canvas *canvas, struct canvas_box bar, double from_pt, double to_pt)
{
    bar.x_pt = from_pt;
    bar.width_pt = fmax(to_pt - from_pt, PANEL_COLUMN_PT);
    if (bar.height_pt < roomy_bar_pt) { /* a line along its foot instead */
        double line_pt = fmax(PANEL_COLUMN_PT, bar.height_pt / 5);
        bar.y_pt += bar.height_pt - line_pt;
        bar.height_pt = line_pt;
        canvas_fill(canvas, bar, STYLE_INK);
        return;
    }
    bar.x_pt -= frame_line_pt;
    bar.width_pt += 2 * frame_line_pt;
    bar.y_pt -= frame_outside_pt;
    bar.height_pt += 2 * frame_outside_pt;
    canvas_outline(canvas, bar, frame_line_pt, STYLE_INK);
}

void
critical_frame_draw(const struct panel *panel, size_t row, struct canvas_box bar,
                    struct canvas *canvas)
{
    const struct panel_source *source = panel->source;
    bool is_open = false;
    double from_pt = 0.0, to_pt = 0.0;
    for (size_t i = source->row_begin[row]; i < source->row_begin[row + 1]; i++) {
        const struct timeline_span *span = &source->spans[i];
        int64_t start = span->start_ps > panel->start_ps ? span->start_ps : panel->start_ps;
        int64_t end = span->end_ps < panel->end_ps ? span->end_ps : panel->end_ps;
        if (!span->is_critical || start >= end)
            continue;
        if (is_open && panel_x_pt(panel, start) - to_pt > join_gap_pt) {
            draw_frame(canvas, bar, from_pt, to_pt);
            is_open = false;
        }
        if (!is_open)
            from_pt = panel_x_pt(panel, start);
        to_pt = fmax(is_open ? to_pt : from_pt, panel_x_pt(panel, end));
        is_open = true;
    }
    if (is_open)
        draw_frame(canvas, bar, from_pt, to_pt);
}
