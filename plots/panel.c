/* Spans become columns of dots first, so that a drawing's size depends on the page alone. */
#include "plots/panel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plots/axis.h"
#include "plots/columns.h"
#include "plots/critical_frame.h"
#include "plots/span_labels.h"
#include "sim/base/units.h"

const double PANEL_COLUMN_PT = 0.375;

static const double two_line_pitch_pt = 21.0; /* room for label and sub-label in two lines */
static const double label_pitch_pt = 9.5;     /* room for one line */
static const double gutter_gap_pt = 10.0;
static const double divider_from_pt = 3.0; /* equal neighbours at least so wide are divided */

static int
compare_spans(const void *a, const void *b)
{
    const struct timeline_span *one = a, *two = b;
    if (one->row != two->row)
        return one->row < two->row ? -1 : 1;
    if (one->start_ps != two->start_ps)
        return one->start_ps < two->start_ps ? -1 : 1;
    if (one->end_ps != two->end_ps)
        return one->end_ps < two->end_ps ? -1 : 1;
    return (one->slot > two->slot) - (one->slot < two->slot);
}

struct panel_source
panel_source_new(struct arena *arena, const struct timeline *timeline)
{
    size_t count = timeline->span_count;
    struct timeline_span *spans = arena_alloc(arena, count + 1, sizeof *spans);
    size_t *row_begin = arena_alloc(arena, timeline->row_count + 1, sizeof *row_begin);
    if (count > 0) {
        memcpy(spans, timeline->spans, count * sizeof *spans);
        qsort(spans, count, sizeof *spans, compare_spans);
    }
    for (size_t row = 0, i = 0; row <= timeline->row_count; row++) {
        while (i < count && spans[i].row < row)
            i++;
        row_begin[row] = i;
    }
    return (struct panel_source){
        .timeline = timeline, .spans = spans, .row_begin = row_begin, .arena = arena};
}

/* The colours of a panel, numbered for columns_merge. */
struct inks {
    uint32_t rgb[COLUMNS_INK_MAX];
    bool is_hatched[COLUMNS_INK_MAX];
    unsigned count; /* the next free number; 0 is no ink */
};

uint32_t
panel_span_colour(const struct timeline_span *span)
{
    const double shade_steps = 8.0;
    double shade = fmax(-1.0, fmin(1.0, span->shade));
    return style_shade(style_colour(span->slot), round(shade * shade_steps) / shade_steps);
}

/* The number of a span's colour; a chart of more colours than there are numbers uses the first. */
static unsigned
ink_of(struct inks *inks, const struct timeline_span *span)
{
    bool is_hatched = span->slot == STYLE_BUBBLE;
    uint32_t rgb = panel_span_colour(span);
    for (unsigned i = 1; i < inks->count; i++)
        if (inks->rgb[i] == rgb && inks->is_hatched[i] == is_hatched)
            return i;
    if (inks->count == COLUMNS_INK_MAX)
        return 1;
    inks->rgb[inks->count] = rgb;
    inks->is_hatched[inks->count] = is_hatched;
    return inks->count++;
}

double
panel_x_pt(const struct panel *panel, int64_t at_ps)
{
    double part = (double)(at_ps - panel->start_ps) / (double)(panel->end_ps - panel->start_ps);
    return panel->rows.x_pt + panel->rows.width_pt * part;
}

bool
panel_is_on_edge(const struct panel *panel, double left_pt, double right_pt)
{
    for (int i = 0; i < 2; i++)
        if (panel->edges_pt[i] > left_pt - 1.0 && panel->edges_pt[i] < right_pt + 1.0)
            return true;
    return false;
}

static bool
is_shown(const struct timeline_row *row, bool is_whole)
{
    return row->place == TIMELINE_BOTH || (row->place == TIMELINE_WHOLE) == is_whole;
}

static double
weight_of(const struct timeline_row *row)
{
    return row->weight > 0.0 ? row->weight : 1.0;
}

double
panel_weight(const struct timeline *timeline, bool is_whole)
{
    double sum = 0.0;
    for (size_t row = 0; row < timeline->row_count; row++)
        if (is_shown(&timeline->rows[row], is_whole))
            sum += weight_of(&timeline->rows[row]);
    return fmax(1.0, sum);
}

/* Of a weight of 1. */
static double
pitch_pt(const struct panel *panel)
{
    return panel->rows.height_pt / panel_weight(panel->source->timeline, panel->is_whole);
}

/* How many rows are attached to one. */
static size_t
attached_to(const struct timeline *timeline, size_t row)
{
    size_t count = 0;
    while (row + count + 1 < timeline->row_count && timeline->rows[row + count + 1].is_attached)
        count++;
    return count;
}

static double
snap_pt(double y_pt)
{
    return round(y_pt / PANEL_COLUMN_PT) * PANEL_COLUMN_PT;
}

/* Where the bars of all rows lie: their pitch less the gap to the next row, on whole columns so
 * that edges are sharp. Rows that are not shown have no height. */
static const struct canvas_box *
lay_rows(const struct panel *panel)
{
    const struct timeline *timeline = panel->source->timeline;
    double pitch = pitch_pt(panel), gap = fmin(6.0, 0.2 * pitch), top = panel->rows.y_pt;
    struct canvas_box *boxes =
        arena_alloc(panel->source->arena, timeline->row_count + 1, sizeof *boxes);
    for (size_t row = 0; row < timeline->row_count; row++) {
        const struct timeline_row *names = &timeline->rows[row];
        double bottom = top;
        if (is_shown(names, panel->is_whole))
            bottom += weight_of(names) * pitch;
        double from = snap_pt(top + (names->is_attached ? 0.0 : gap / 2));
        double to = snap_pt(bottom - (attached_to(timeline, row) > 0 ? 0.0 : gap / 2));
        boxes[row] = (struct canvas_box){panel->rows.x_pt, from, panel->rows.width_pt, 0.0};
        if (bottom > top)
            boxes[row].height_pt = fmax(PANEL_COLUMN_PT, to - from);
        top = bottom;
    }
    return boxes;
}

static struct canvas_box
columns_box(struct canvas_box row, size_t first, size_t last)
{
    row.x_pt += (double)first * PANEL_COLUMN_PT;
    row.width_pt = (double)(last - first) * PANEL_COLUMN_PT;
    return row;
}

/* Lines of a hatch are 3 pt apart: smaller boxes get the shade that they come to. */
static bool
is_hatchable(struct canvas_box box)
{
    return box.width_pt >= 3.0 && box.height_pt >= 3.0;
}

static void
draw_hatched(const struct inks *inks, const struct columns_run *run, struct canvas_box row,
             struct canvas *canvas)
{
    struct canvas_box box = columns_box(row, run->first, run->last);
    uint32_t rgb = inks->rgb[run->ink];
    if (is_hatchable(box))
        canvas_hatch(canvas, box, style_shade(rgb, 0.25));
    else
        canvas_fill(canvas, box, style_shade(rgb, 0.06));
}

/* A row's runs, all of one colour together, which draws as one path. */
static void
draw_runs(const struct inks *inks, const struct columns_run *runs, size_t count,
          struct canvas_box row, struct canvas *canvas)
{
    for (unsigned ink = 1; ink < inks->count; ink++) {
        for (size_t i = 0; i < count; i++)
            if (runs[i].ink == ink)
                canvas_fill(canvas, columns_box(row, runs[i].first, runs[i].last),
                            inks->rgb[ink]);
        for (size_t i = 0; inks->is_hatched[ink] && i < count; i++)
            if (runs[i].ink == ink)
                draw_hatched(inks, &runs[i], row, canvas);
    }
}

/* Where two wide spans of one colour touch: a line of the paper's colour between them. */
static void
draw_dividers(const struct panel *panel, const struct columns_span *spans, size_t count,
              struct canvas_box row, struct canvas *canvas)
{
    double column_ps =
        (double)(panel->end_ps - panel->start_ps) * PANEL_COLUMN_PT / panel->rows.width_pt;
    double wide_ps = column_ps * divider_from_pt / PANEL_COLUMN_PT;
    for (size_t i = 1; i < count; i++) {
        const struct columns_span *left = &spans[i - 1], *right = &spans[i];
        bool is_wide = (double)(left->end_ps - left->start_ps) >= wide_ps &&
                       (double)(right->end_ps - right->start_ps) >= wide_ps;
        bool is_close = (double)(right->start_ps - left->end_ps) < column_ps;
        double from_ps = (double)(right->start_ps - panel->start_ps);
        if (!is_wide || !is_close || left->ink != right->ink || from_ps < 0.0)
            continue;
        size_t column = (size_t)(from_ps / column_ps);
        canvas_fill(canvas, columns_box(row, column, column + 1), STYLE_PAPER);
    }
}

static void
draw_row(const struct panel *panel, size_t row, struct canvas_box bar, struct inks *inks,
         struct canvas *canvas)
{
    const struct panel_source *source = panel->source;
    size_t begin = source->row_begin[row], count = source->row_begin[row + 1] - begin;
    struct columns_span *spans = arena_alloc(source->arena, count + 1, sizeof *spans);
    size_t used = 0, run_count = 0;
    for (size_t i = begin; i < begin + count; i++) {
        const struct timeline_span *span = &source->spans[i];
        if (span->end_ps > panel->start_ps && span->start_ps < panel->end_ps)
            spans[used++] =
                (struct columns_span){span->start_ps, span->end_ps, ink_of(inks, span)};
    }
    struct columns_window window = {panel->start_ps, panel->end_ps,
                                    (size_t)lround(panel->rows.width_pt / PANEL_COLUMN_PT)};
    const struct columns_run *runs =
        columns_merge(source->arena, &window, spans, used, &run_count);
    draw_runs(inks, runs, run_count, bar, canvas);
    draw_dividers(panel, spans, used, bar, canvas);
}

double
panel_gutter_pt(const struct timeline *timeline, const struct canvas *canvas, double pitch)
{
    const struct canvas_font label_font = {.size_pt = STYLE_LABEL_PT},
                             small_font = {.size_pt = STYLE_TINY_PT};
    double widest = 0.0;
    for (size_t i = 0; i < timeline->row_count; i++) {
        const struct timeline_row *row = &timeline->rows[i];
        const char *sub_text = row->sub_label != NULL ? row->sub_label : "";
        double label = canvas_text_width_pt(canvas, &label_font, row->label);
        double sub_label = canvas_text_width_pt(canvas, &small_font, sub_text);
        bool is_beside = pitch < two_line_pitch_pt && sub_label > 0.0;
        double both = is_beside ? label + 5.0 + sub_label : fmax(label, sub_label);
        widest = fmax(widest, both);
    }
    return widest + gutter_gap_pt;
}

/* Room for two lines, with the gap to the next row. */
static bool
is_tall(struct canvas_box group)
{
    return group.height_pt + fmin(6.0, group.height_pt / 4) >= two_line_pitch_pt;
}

/* Label and sub-label of a row: in two lines, or both ends of one where both fit. Sub-labels are
 * about the whole, so a window has none. */
static void
draw_row_label(const struct panel *panel, size_t row, struct canvas_box box,
               struct canvas *canvas)
{
    const struct timeline_row *names = &panel->source->timeline->rows[row];
    struct canvas_font font = {STYLE_LABEL_PT, false, STYLE_INK, CANVAS_LEFT};
    struct canvas_font small = {STYLE_TINY_PT, false, STYLE_QUIET, CANVAS_LEFT};
    double room = panel->rows.x_pt - gutter_gap_pt - panel->margin_pt;
    double middle = box.y_pt + box.height_pt / 2;
    const char *sub_label = panel->is_whole && names->sub_label != NULL ? names->sub_label : "";
    struct canvas_point at = {panel->margin_pt, middle + 0.365 * STYLE_LABEL_PT};
    struct canvas_point sub_at = {panel->margin_pt, middle + 8.5};
    double sub_room = room;
    if (is_tall(box) && sub_label[0] != '\0')
        at.y_pt = middle - 1.0;
    else if (sub_label[0] != '\0') { /* at the other end, if it fits there whole */
        sub_at = (struct canvas_point){panel->margin_pt + room, middle + 0.365 * STYLE_TINY_PT};
        small.align = CANVAS_RIGHT;
        sub_room = room - canvas_text_width_pt(canvas, &font, names->label) - 5.0;
        if (canvas_text_width_pt(canvas, &small, sub_label) > sub_room)
            sub_label = "";
    }
    canvas_text_short(canvas, at, &font,
                      canvas_text_cut_middle(canvas, &font, names->label, room), names->label);
    canvas_text_short(canvas, sub_at, &small,
                      canvas_text_cut(canvas, &small, sub_label, sub_room), sub_label);
}

/* The bar of a row with what is attached to it. */
static struct canvas_box
group_box(const struct timeline *timeline, const struct canvas_box *bars, size_t row)
{
    struct canvas_box box = bars[row], last = bars[row + attached_to(timeline, row)];
    box.height_pt = last.y_pt + last.height_pt - box.y_pt;
    return box;
}

/* Of rows that are thinner than letters those whose labels touch none before. */
static void
draw_row_labels(const struct panel *panel, const struct canvas_box *bars, struct canvas *canvas)
{
    const struct timeline *timeline = panel->source->timeline;
    double free_from_pt = panel->rows.y_pt - label_pitch_pt;
    for (size_t row = 0; row < timeline->row_count; row++) {
        if (bars[row].height_pt <= 0.0 || timeline->rows[row].is_attached)
            continue;
        struct canvas_box box = group_box(timeline, bars, row);
        double half = (is_tall(box) ? two_line_pitch_pt : label_pitch_pt) / 2;
        double middle = box.y_pt + box.height_pt / 2;
        if (middle - half < free_from_pt - 0.01)
            continue;
        draw_row_label(panel, row, box, canvas);
        free_from_pt = middle + half;
    }
}

static double
bottom_pt(const struct panel *panel)
{
    return panel->rows.y_pt + panel->rows.height_pt + panel->below_pt;
}

static void
draw_tick_label(const struct panel *panel, double x_pt, const char *label,
                double right_limit_pt, struct canvas *canvas)
{
    const struct canvas_font font = {STYLE_SMALL_PT, false, STYLE_QUIET, CANVAS_CENTRE};
    double half = canvas_text_width_pt(canvas, &font, label) / 2;
    double baseline = bottom_pt(panel) + 14.0;
    if (x_pt + half <= right_limit_pt)
        canvas_text(canvas, (struct canvas_point){x_pt, baseline}, &font, label);
}

/* When the step ends, at the right end of the axis; returns where other labels must stop. */
static double
draw_end_label(const struct panel *panel, struct canvas *canvas)
{
    const struct canvas_font font = {STYLE_SMALL_PT, true, STYLE_INK, CANVAS_RIGHT};
    double right = panel->rows.x_pt + panel->rows.width_pt;
    double bottom = bottom_pt(panel);
    if (!panel->is_whole)
        return right + PANEL_AXIS_PT / 2.0;
    struct units_text end = units_format_s(units_s_from_ps(panel->end_ps));
    canvas_line(canvas, (struct canvas_point){right, bottom},
                (struct canvas_point){right, bottom + 4.0}, STYLE_HAIRLINE_PT, STYLE_INK);
    canvas_text(canvas, (struct canvas_point){right, bottom + 14.0}, &font, end.text);
    return right - canvas_text_width_pt(canvas, &font, end.text) - 6.0;
}

static struct axis
time_axis(const struct panel *panel)
{
    double width_per_tick_pt = 40.0;
    double fitting = floor(panel->rows.width_pt / width_per_tick_pt);
    size_t tick_max = (size_t)fmax(2.0, fmin((double)AXIS_TICK_MAX, fitting));
    return axis_linear((double)panel->start_ps * 1e-12, (double)panel->end_ps * 1e-12, "s",
                       tick_max);
}

static void
draw_axis(const struct panel *panel, const struct axis *axis, struct canvas *canvas)
{
    const struct canvas_font font = {STYLE_SMALL_PT, false, STYLE_QUIET, CANVAS_LEFT};
    double bottom = bottom_pt(panel);
    double left = panel->rows.x_pt, limit = draw_end_label(panel, canvas);
    canvas_line(canvas, (struct canvas_point){left, bottom},
                (struct canvas_point){left + panel->rows.width_pt, bottom}, STYLE_HAIRLINE_PT,
                STYLE_QUIET);
    for (size_t i = 0; i < axis->tick_count; i++) {
        double x = left + axis_fraction(axis, axis->ticks[i].value) * panel->rows.width_pt;
        canvas_line(canvas, (struct canvas_point){x, bottom},
                    (struct canvas_point){x, bottom + 4.0}, STYLE_HAIRLINE_PT, STYLE_QUIET);
        draw_tick_label(panel, x, axis->ticks[i].label, limit, canvas);
    }
    canvas_text(canvas, (struct canvas_point){panel->margin_pt, bottom + 14.0}, &font,
                arena_format(panel->source->arena, "time (%s)", axis->unit));
}

/* Empty rows and the grid behind everything. */
static void
draw_ground(const struct panel *panel, const struct axis *axis, const struct canvas_box *bars,
            struct canvas *canvas)
{
    for (size_t row = 0; row < panel->source->timeline->row_count; row++)
        if (bars[row].height_pt > 0.0)
            canvas_fill(canvas, bars[row], STYLE_LANE);
    for (size_t i = 0; i < axis->tick_count; i++) {
        double x =
            panel->rows.x_pt + axis_fraction(axis, axis->ticks[i].value) * panel->rows.width_pt;
        canvas_line(canvas, (struct canvas_point){x, panel->rows.y_pt},
                    (struct canvas_point){x, bottom_pt(panel)}, STYLE_HAIRLINE_PT, STYLE_GRID);
    }
}

void
panel_draw(const struct panel *panel, struct canvas *canvas)
{
    struct axis axis = time_axis(panel);
    struct inks inks = {.count = 1};
    size_t row_count = panel->source->timeline->row_count;
    const struct canvas_box *bars = lay_rows(panel);
    draw_ground(panel, &axis, bars, canvas);
    for (size_t row = 0; row < row_count; row++)
        if (bars[row].height_pt > 0.0)
            draw_row(panel, row, bars[row], &inks, canvas);
    for (size_t row = 0; row < row_count; row++)
        if (bars[row].height_pt > 0.0)
            critical_frame_draw(panel, row, bars[row], canvas);
    for (size_t row = 0; row < row_count; row++)
        if (bars[row].height_pt > 0.0)
            span_labels_draw(panel, row, attached_to(panel->source->timeline, row) > 0,
                             bars[row], canvas);
    draw_row_labels(panel, bars, canvas);
    draw_axis(panel, &axis, canvas);
}
