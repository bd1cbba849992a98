/* Two passes: heights first, of things whose height depends on the page's width alone; then the
 * rows share what the page has left, and everything is drawn from top to bottom. */
#include "plots/timeline.h"

#include <assert.h>
#include <math.h>

#include "plots/page.h"
#include "plots/panel.h"
#include "plots/spread.h"
#include "plots/strip.h"
#include "plots/timeline_curve.h"

static const double phases_pt = 18.0;
static const double zoom_gap_pt = 24.0; /* between the first axis and the enlarged rows */
static const double pitch_low_pt = 4.0; /* of a row: more rows than that make the page longer */
static const double pitch_zoom_pt = 11.0; /* the same of enlarged ones, for numbers on them */
static const double pitch_good_pt =
    24.0; /* as far as rows of it are at most rows_good_pt high */
static const double rows_good_pt = 200.0;
static const double pitch_max_pt = 56.0;

struct sheet {
    const struct timeline *timeline;
    struct page page;
    struct arena *arena;
    double pitch_pt, zoom_pitch_pt;
    double left_pt, right_pt; /* of the rows */
    const struct strip *strip;
};

static void
draw_swatch(struct canvas *canvas, struct canvas_box box, enum style_slot slot)
{
    uint32_t rgb = slot < STYLE_SLOT_COUNT ? style_colour(slot) : STYLE_PAPER;
    canvas_fill(canvas, box, rgb);
    if (slot == STYLE_BUBBLE)
        canvas_hatch(canvas, box, style_shade(rgb, 0.25));
    if (slot == STYLE_SLOT_COUNT)
        canvas_outline(canvas, box, 0.75, STYLE_INK);
}

/* A swatch and its name at x, on the next line if this one is full. Returns the next x. */
static double
draw_legend_entry(struct sheet *sheet, double x_pt, enum style_slot slot, const char *name)
{
    struct canvas_box swatch = page_draw_legend_name(&sheet->page, x_pt, name, &x_pt);
    draw_swatch(sheet->page.canvas, swatch, slot);
    return x_pt;
}

/* The note after the last entry, on a line of its own if it must. */
static void
draw_legend_note(struct sheet *sheet, double x_pt)
{
    const struct canvas_font font = {STYLE_SMALL_PT, false, STYLE_QUIET, CANVAS_LEFT};
    const struct canvas *canvas = sheet->page.canvas;
    const char *note = canvas_text_cut(canvas, &font, sheet->timeline->legend_note,
                                       page_content_width_pt(&sheet->page));
    x_pt = page_legend_x_pt(&sheet->page, x_pt, canvas_text_width_pt(canvas, &font, note));
    canvas_text(sheet->page.canvas, (struct canvas_point){x_pt, sheet->page.y_pt}, &font, note);
}

/* The slots that are seen, in the order of the palette, then what a frame means. */
static void
draw_legend(struct sheet *sheet)
{
    const struct timeline *timeline = sheet->timeline;
    bool is_used[STYLE_SLOT_COUNT] = {false}, has_critical = false;
    double x_pt = PAGE_MARGIN_PT;
    for (size_t i = 0; i < timeline->span_count; i++) {
        is_used[timeline->spans[i].slot] = true;
        has_critical = has_critical || timeline->spans[i].is_critical;
    }
    if (timeline->span_count == 0)
        return;
    sheet->page.y_pt += PAGE_LEGEND_LEADING_PT - 4.0;
    for (int slot = 0; slot < STYLE_SLOT_COUNT; slot++) {
        const char *name = timeline->slot_names[slot];
        if (is_used[slot])
            x_pt =
                draw_legend_entry(sheet, x_pt, (enum style_slot)slot,
                                  name != NULL ? name : style_slot_name((enum style_slot)slot));
    }
    if (has_critical)
        x_pt = draw_legend_entry(sheet, x_pt, STYLE_SLOT_COUNT, "critical path");
    if (timeline->legend_note != NULL)
        draw_legend_note(sheet, x_pt);
    sheet->page.y_pt += PAGE_SECTION_GAP_PT;
}

/* The part of a phase that the panel shows; false for none. */
static bool
phase_ends(const struct panel *panel, const struct timeline_phase *phase, double ends_pt[2])
{
    int64_t start = phase->start_ps > panel->start_ps ? phase->start_ps : panel->start_ps;
    int64_t end = phase->end_ps < panel->end_ps ? phase->end_ps : panel->end_ps;
    if (start >= end)
        return false;
    ends_pt[0] = panel_x_pt(panel, start);
    ends_pt[1] = panel_x_pt(panel, end);
    return true;
}

/* A level line as long as the phase with a foot at each end. */
static void
draw_bracket(struct canvas *canvas, const double ends_pt[2], double y_pt)
{
    double from = ends_pt[0] + 0.75, to = fmax(from, ends_pt[1] - 0.75);
    canvas_line(canvas, (struct canvas_point){from, y_pt}, (struct canvas_point){to, y_pt},
                0.75, STYLE_QUIET);
    canvas_line(canvas, (struct canvas_point){from, y_pt},
                (struct canvas_point){from, y_pt + 3.0}, 0.75, STYLE_QUIET);
    canvas_line(canvas, (struct canvas_point){to, y_pt}, (struct canvas_point){to, y_pt + 3.0},
                0.75, STYLE_QUIET);
}

struct phase_label {
    const char *text;
    double width_pt; /* of its bracket */
};

/* Gives up the name of the shortest phase. */
static size_t
drop_shortest(struct phase_label *names, struct spread_label *labels, size_t count)
{
    size_t shortest = 0;
    for (size_t i = 1; i < count; i++)
        if (names[i].width_pt < names[shortest].width_pt)
            shortest = i;
    for (size_t i = shortest; i + 1 < count; i++) {
        names[i] = names[i + 1];
        labels[i] = labels[i + 1];
    }
    return count - 1;
}

/* Whether each name stands at least partly over its bracket. */
static bool
names_are_near(const struct phase_label *names, const struct spread_label *labels, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (fabs(labels[i].centre - labels[i].wanted) >
            (labels[i].width + names[i].width_pt) / 2)
            return false;
    return true;
}

static void
draw_phase_names(struct sheet *sheet, struct phase_label *names, struct spread_label *labels,
                 size_t count)
{
    const struct canvas_font font = {STYLE_SMALL_PT, false, STYLE_INK, CANVAS_CENTRE};
    const double range[2] = {sheet->left_pt, sheet->right_pt}, gap_pt = 6.0;
    while (count > 0 && (!spread_labels(sheet->arena, labels, count, range, gap_pt) ||
                         !names_are_near(names, labels, count)))
        count = drop_shortest(names, labels, count);
    for (size_t i = 0; i < count; i++)
        canvas_text(sheet->page.canvas,
                    (struct canvas_point){labels[i].centre, sheet->page.y_pt + 8.0}, &font,
                    names[i].text);
}

/* Names of the phases above the first panel, each over its bracket or as near as may be. */
static void
draw_phases(struct sheet *sheet, const struct panel *panel)
{
    const struct canvas_font font = {STYLE_SMALL_PT, false, STYLE_INK, CANVAS_CENTRE};
    const struct timeline *timeline = sheet->timeline;
    size_t used = 0, room = timeline->phase_count + 1;
    struct spread_label *labels = arena_alloc(sheet->arena, room, sizeof *labels);
    struct phase_label *names = arena_alloc(sheet->arena, room, sizeof *names);
    for (size_t i = 0; i < timeline->phase_count; i++) {
        double ends_pt[2];
        if (!phase_ends(panel, &timeline->phases[i], ends_pt))
            continue;
        draw_bracket(sheet->page.canvas, ends_pt, sheet->page.y_pt + 12.0);
        names[used] = (struct phase_label){timeline->phases[i].label, ends_pt[1] - ends_pt[0]};
        labels[used] = (struct spread_label){
            .wanted = (ends_pt[0] + ends_pt[1]) / 2,
            .width = canvas_text_width_pt(sheet->page.canvas, &font, names[used].text)};
        used++;
    }
    draw_phase_names(sheet, names, labels, used);
}

static bool
has_zoom(const struct timeline *timeline)
{
    return timeline->row_count > 0 && timeline->zoom_start_ps >= 0 &&
           timeline->zoom_start_ps < timeline->zoom_end_ps &&
           timeline->zoom_end_ps <= timeline->end_ps;
}

static int
panel_count(const struct timeline *timeline)
{
    return has_zoom(timeline) ? 2 : 1;
}

/* What the page needs below the legend apart from rows. */
static double
fixed_height_pt(const struct sheet *sheet)
{
    const struct timeline *timeline = sheet->timeline;
    double height = panel_count(timeline) * (double)PANEL_AXIS_PT + PAGE_MARGIN_PT;
    height += timeline->phase_count > 0 ? phases_pt : 0.0;
    height += timeline_curve_height_pt(timeline->curve);
    height += has_zoom(timeline) ? zoom_gap_pt : 0.0;
    height += sheet->strip != NULL ? strip_height_pt(sheet->strip) + PAGE_SECTION_GAP_PT : 0.0;
    height += timeline->footer != NULL ? PAGE_FOOTER_PT : 0.0;
    return height;
}

/* Rows as high as the page leaves room for; a page that is too low for them grows. */
static void
settle_height(struct sheet *sheet, double page_height_pt)
{
    const struct timeline *timeline = sheet->timeline;
    double whole = panel_weight(timeline, true);
    double part = has_zoom(timeline) ? panel_weight(timeline, false) : 0.0;
    double taken = sheet->page.y_pt + fixed_height_pt(sheet);
    double wanted = fmin(pitch_max_pt, (page_height_pt - taken) / (whole + part));
    double good = fmin(pitch_good_pt, rows_good_pt / fmax(whole, part));
    sheet->pitch_pt = fmax(fmax(pitch_low_pt, good), wanted);
    sheet->zoom_pitch_pt = fmax(pitch_zoom_pt, sheet->pitch_pt);
    canvas_set_size(sheet->page.canvas, sheet->page.width_pt,
                    taken + whole * sheet->pitch_pt + part * sheet->zoom_pitch_pt);
}

/* The rows' left and right end on whole dots; a page too narrow for its labels cuts them. */
static void
settle_width(struct sheet *sheet)
{
    double gutter = panel_gutter_pt(sheet->timeline, sheet->page.canvas, sheet->pitch_pt);
    gutter = fmax(gutter, timeline_curve_gutter_pt(sheet->timeline->curve, sheet->page.canvas));
    double narrowest = 52.0; /* "time (ms)" stands there too */
    gutter = fmin(fmax(gutter, narrowest), page_content_width_pt(&sheet->page) / 3);
    sheet->left_pt = ceil((PAGE_MARGIN_PT + gutter) / PANEL_COLUMN_PT) * PANEL_COLUMN_PT;
    sheet->right_pt =
        floor((sheet->page.width_pt - PAGE_MARGIN_PT) / PANEL_COLUMN_PT) * PANEL_COLUMN_PT;
}

static struct panel
next_panel(struct sheet *sheet, const struct panel_source *source, bool is_whole)
{
    struct panel panel = {.source = source, .margin_pt = PAGE_MARGIN_PT, .is_whole = is_whole};
    double pitch = is_whole ? sheet->pitch_pt : sheet->zoom_pitch_pt;
    panel.rows =
        (struct canvas_box){sheet->left_pt, sheet->page.y_pt, sheet->right_pt - sheet->left_pt,
                            panel_weight(sheet->timeline, is_whole) * pitch};
    panel.below_pt = is_whole ? timeline_curve_height_pt(sheet->timeline->curve) : 0.0;
    sheet->page.y_pt += panel.rows.height_pt + panel.below_pt + PANEL_AXIS_PT;
    return panel;
}

/* From the window in the first panel down to the second one: behind everything. */
static void
draw_guide(const struct panel *whole, const struct panel *part, struct canvas *canvas)
{
    double from = panel_x_pt(whole, part->start_ps), to = panel_x_pt(whole, part->end_ps);
    double high = whole->rows.height_pt + whole->below_pt;
    double top = whole->rows.y_pt + high, bottom = part->rows.y_pt;
    double right = part->rows.x_pt + part->rows.width_pt;
    const struct canvas_point corners[4] = {
        {from, top}, {to, top}, {right, bottom}, {part->rows.x_pt, bottom}};
    canvas_quad(canvas, corners, STYLE_GUIDE);
    struct canvas_box window = {from, whole->rows.y_pt, to - from, high};
    canvas_fill(canvas, window, STYLE_GUIDE);
}

/* The window's edges, over the rows. */
static void
draw_window(const struct panel *whole, const struct panel *part, struct canvas *canvas)
{
    double from = panel_x_pt(whole, part->start_ps), to = panel_x_pt(whole, part->end_ps);
    struct canvas_box window = {from - 0.75, whole->rows.y_pt - 0.5, to - from + 1.5,
                                whole->rows.height_pt + whole->below_pt + 1.0};
    canvas_outline(canvas, window, 0.75, STYLE_INK);
}

static void
draw_zoom_title(const struct sheet *sheet, const struct panel *part)
{
    const struct canvas_font font = {STYLE_SMALL_PT, true, STYLE_INK, CANVAS_CENTRE};
    const char *title = sheet->timeline->zoom_title;
    double width = (part->rows.width_pt) * 0.9;
    if (title != NULL)
        canvas_text_short(sheet->page.canvas,
                          (struct canvas_point){part->rows.x_pt + part->rows.width_pt / 2,
                                                part->rows.y_pt - 6.0},
                          &font, canvas_text_cut(sheet->page.canvas, &font, title, width),
                          title);
}

static void
draw_panels(struct sheet *sheet)
{
    const struct timeline *timeline = sheet->timeline;
    struct panel_source source = panel_source_new(sheet->arena, timeline);
    double phases_top = sheet->page.y_pt;
    sheet->page.y_pt += timeline->phase_count > 0 ? phases_pt : 0.0;
    struct panel whole = next_panel(sheet, &source, true);
    whole.end_ps = timeline->end_ps > 0 ? timeline->end_ps : 1;
    if (has_zoom(timeline)) {
        sheet->page.y_pt += zoom_gap_pt;
        struct panel part = next_panel(sheet, &source, false);
        part.start_ps = timeline->zoom_start_ps;
        part.end_ps = timeline->zoom_end_ps;
        whole.edges_pt[0] = panel_x_pt(&whole, part.start_ps);
        whole.edges_pt[1] = panel_x_pt(&whole, part.end_ps);
        draw_guide(&whole, &part, sheet->page.canvas);
        panel_draw(&whole, sheet->page.canvas);
        timeline_curve_draw(timeline->curve, &whole, sheet->page.canvas);
        draw_window(&whole, &part, sheet->page.canvas);
        draw_zoom_title(sheet, &part);
        panel_draw(&part, sheet->page.canvas);
    } else {
        panel_draw(&whole, sheet->page.canvas);
        timeline_curve_draw(timeline->curve, &whole, sheet->page.canvas);
    }
    double below = sheet->page.y_pt;
    sheet->page.y_pt = phases_top;
    draw_phases(sheet, &whole);
    sheet->page.y_pt = below;
}

void
timeline_draw(const struct timeline *timeline, const struct style_page *page,
              struct canvas *canvas)
{
    struct sheet sheet = {.timeline = timeline,
                          .page = {.canvas = canvas, .width_pt = page->width_pt},
                          .arena = canvas_arena(canvas)};
    page_draw_titles(&sheet.page, timeline->title, timeline->subtitle);
    draw_legend(&sheet);
    sheet.strip = strip_new(timeline, page_content_width_pt(&sheet.page), canvas);
    settle_height(&sheet, page->height_pt);
    settle_width(&sheet);
    draw_panels(&sheet);
    sheet.page.y_pt += PAGE_SECTION_GAP_PT;
    strip_draw(sheet.strip, (struct canvas_point){PAGE_MARGIN_PT, sheet.page.y_pt}, canvas);
    page_draw_footer(&sheet.page, timeline->footer);
}
