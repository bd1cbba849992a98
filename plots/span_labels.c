/* A label stands in the middle of what is seen of its span, off the panel's edges. */
#include "plots/span_labels.h"

#include <math.h>
#include <string.h>

static const double span_padding_pt = 1.5;
static const double roomy_bar_pt = 14.0;     /* room for STYLE_SMALL_PT */
static const double two_lines_bar_pt = 18.0; /* room for two lines of STYLE_TINY_PT */

/* The text at the box's centre line, `lines` lines of it starting at line 0. */
static void
draw_in_box(struct canvas *canvas, struct canvas_box box, const struct canvas_font *font,
            const char *const lines[2])
{
    int count = lines[1] != NULL ? 2 : 1;
    double leading = font->size_pt * 1.15, cap_height = font->size_pt * 0.73;
    double first = box.y_pt + box.height_pt / 2 + cap_height / 2 - leading * (count - 1) / 2.0;
    for (int i = 0; i < count; i++)
        canvas_text(canvas,
                    (struct canvas_point){box.x_pt + box.width_pt / 2, first + leading * i},
                    font, lines[i]);
}

static bool
lines_fit(const struct canvas *canvas, const struct canvas_font *font,
          const char *const lines[2], double room_pt)
{
    return canvas_text_width_pt(canvas, font, lines[0]) <= room_pt &&
           (lines[1] == NULL || canvas_text_width_pt(canvas, font, lines[1]) <= room_pt);
}

/* Numbers stand on the line, other words reach below it, where an attached row's frame may be. */
static double
least_height_pt(const char *label, bool has_attached)
{
    const double frame_pt = 1.5;
    bool is_number = strspn(label, "0123456789") == strlen(label);
    return is_number ? 0.88 * STYLE_TINY_PT
                     : STYLE_TINY_PT + 2.0 + (has_attached ? frame_pt : 0.0);
}

/* The label in one line, else in smaller letters, else in two lines, else not at all. */
static void
draw_span_label(struct canvas *canvas, struct canvas_box box, const struct timeline_span *span,
                bool has_attached)
{
    const char *label = span->label;
    uint32_t fill = panel_span_colour(span);
    struct canvas_font font = {STYLE_SMALL_PT, false, style_text_on(fill), CANVAS_CENTRE};
    double room_pt = box.width_pt - 2 * span_padding_pt;
    const char *lines[2] = {label, NULL};
    if (box.height_pt < least_height_pt(label, has_attached) || room_pt < STYLE_TINY_PT / 2)
        return;
    if (box.height_pt < roomy_bar_pt || !lines_fit(canvas, &font, lines, room_pt))
        font.size_pt = STYLE_TINY_PT;
    if (lines_fit(canvas, &font, lines, room_pt)) {
        draw_in_box(canvas, box, &font, lines);
        return;
    }
    if (box.height_pt >= two_lines_bar_pt && canvas_text_split(canvas, label, lines) &&
        lines_fit(canvas, &font, lines, room_pt))
        draw_in_box(canvas, box, &font, lines);
}

/* Where the next frame begins, at the latest `to`: only spans that overlap hold one. */
static int64_t
next_frame(const struct panel_source *source, size_t row, size_t span, int64_t to)
{
    for (size_t i = span + 1; i < source->row_begin[row + 1]; i++) {
        if (source->spans[i].start_ps >= to)
            break;
        if (source->spans[i].is_critical)
            return source->spans[i].start_ps;
    }
    return to;
}

/* The widest part of a box between the panel's edges. */
static struct canvas_box
between_edges(const struct panel *panel, struct canvas_box box)
{
    double left = box.x_pt, right = box.x_pt + box.width_pt, from = left;
    double ends[3] = {panel->edges_pt[0], panel->edges_pt[1], right};
    struct canvas_box widest = box;
    widest.width_pt = 0.0;
    for (int i = 0; i < 3; i++) {
        double to = fmax(left, fmin(right, ends[i]));
        if (to - from > widest.width_pt) {
            widest.x_pt = from;
            widest.width_pt = to - from;
        }
        from = fmax(from, to);
    }
    return widest;
}

void
span_labels_draw(const struct panel *panel, size_t row, bool has_attached,
                 struct canvas_box bar, struct canvas *canvas)
{
    const struct panel_source *source = panel->source;
    int64_t reached = panel->start_ps;
    for (size_t i = source->row_begin[row]; i < source->row_begin[row + 1]; i++) {
        const struct timeline_span *span = &source->spans[i];
        int64_t from = span->start_ps > reached ? span->start_ps : reached;
        int64_t to = span->end_ps < panel->end_ps ? span->end_ps : panel->end_ps;
        if (from >= to)
            continue;
        reached = to;
        if (span->label == NULL)
            continue;
        struct canvas_box box = bar;
        box.x_pt = panel_x_pt(panel, from);
        box.width_pt = panel_x_pt(panel, next_frame(source, row, i, to)) - box.x_pt;
        box = between_edges(panel, box);
        if (box.width_pt >= STYLE_TINY_PT)
            draw_span_label(canvas, box, span, has_attached);
    }
}
