/* The bar of causes, to scale, its numbers in one unit. */
#include "plots/strip.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "plots/axis.h"
#include "plots/spread.h"

static const double head_pt = 14.0;
static const double bar_height_pt = 30.0; /* three lines */
static const double leader_pt = 10.0;
static const double leader_aside_pt = 80.0; /* farther off, a name needs a swatch instead */
static const double leading_pt = 8.5;
static const double entry_leading_pt = 12.0;
static const double swatch_pt = 6.5;
static const double padding_pt = 1.5;
static const double label_gap_pt = 9.0;
static const double divider_pt = 0.75;

struct part {
    const char *label;
    char value[48]; /* "18.1 ms · 3.7 %" */
    char time[32];  /* "18.1 ms" */
    double seconds;
    double x_pt, width_pt; /* from the bar's left end */
    double label_pt;       /* middle of the name below */
    uint32_t rgb;
    bool is_hatched;
    bool is_inside; /* its name fits on it, in these lines: the last one is the time */
    const char *lines[3];
    int line_count;
};

struct strip {
    struct part *items;
    size_t count;
    const char *title;
    double width_pt;
    double total_s, total_shown, unit_s; /* shown in units of unit_s */
    int decimals;
    char unit[AXIS_UNIT_MAX];
    bool has_leaders; /* else names below stand in lines, in the order of the bar */
    size_t outside_count;
    size_t line_count; /* of names with swatches */
};

struct remainder {
    double lost;
    size_t index;
};

static int
compare_remainders(const void *a, const void *b)
{
    const struct remainder *one = a, *two = b;
    if (one->lost != two->lost)
        return one->lost > two->lost ? -1 : 1;
    return (one->index > two->index) - (one->index < two->index);
}

void
strip_round(struct arena *arena, double *parts, size_t count, double quantum)
{
    struct remainder *lost = arena_alloc(arena, count + 1, sizeof *lost);
    double sum = 0.0, floors = 0.0;
    for (size_t i = 0; i < count; i++) {
        double quanta = parts[i] / quantum;
        sum += quanta;
        floors += floor(quanta);
        lost[i] = (struct remainder){quanta - floor(quanta), i};
        parts[i] = floor(quanta) * quantum;
    }
    if (count > 0)
        qsort(lost, count, sizeof *lost, compare_remainders);
    size_t missing = (size_t)lround(round(sum) - floors);
    for (size_t i = 0; i < missing && i < count; i++)
        parts[lost[i].index] += quantum;
}

/* The pieces that have a length. */
static void
collect(struct strip *strip, const struct timeline *timeline)
{
    for (size_t i = 0; i < timeline->piece_count; i++) {
        const struct timeline_piece *piece = &timeline->pieces[i];
        if (!isfinite(piece->seconds) || piece->seconds <= 0.0)
            continue;
        strip->items[strip->count++] =
            (struct part){.label = piece->label,
                          .seconds = piece->seconds,
                          .rgb = style_shade(style_colour(piece->slot), piece->shade),
                          .is_hatched = piece->slot == STYLE_BUBBLE};
        strip->total_s += piece->seconds;
    }
}

/* One unit for all: the total has two to four digits before the point, four in all. */
static void
choose_unit(struct strip *strip)
{
    const double two_digits = 10.0;
    int power = axis_prefix_power(strip->total_s / two_digits, "s");
    strip->unit_s = pow(1000.0, power);
    double scaled = strip->total_s / strip->unit_s;
    strip->decimals = scaled >= 1000.0 ? 0 : scaled >= 100.0 ? 1 : 2;
    snprintf(strip->unit, sizeof strip->unit, "%ss", axis_prefix(power));
}

static void
write_values(struct strip *strip, struct arena *arena)
{
    double *shown = arena_alloc(arena, strip->count, sizeof *shown);
    double *percent = arena_alloc(arena, strip->count, sizeof *percent);
    for (size_t i = 0; i < strip->count; i++) {
        shown[i] = strip->items[i].seconds / strip->unit_s;
        percent[i] = 100.0 * strip->items[i].seconds / strip->total_s;
    }
    strip_round(arena, shown, strip->count, pow(10.0, -strip->decimals));
    strip_round(arena, percent, strip->count, 0.1);
    for (size_t i = 0; i < strip->count; i++) {
        struct part *part = &strip->items[i];
        strip->total_shown += shown[i];
        snprintf(part->time, sizeof part->time, "%.*f %s", strip->decimals, shown[i],
                 strip->unit);
        snprintf(part->value, sizeof part->value, "%s · %.1f %%", part->time, percent[i]);
    }
}

static struct canvas_font
name_font(uint32_t rgb, enum canvas_align align)
{
    return (struct canvas_font){STYLE_SMALL_PT, false, rgb, align};
}

static struct canvas_font
value_font(uint32_t rgb, enum canvas_align align)
{
    return (struct canvas_font){STYLE_TINY_PT, false, rgb, align};
}

static double
name_width_pt(const struct part *part, const struct canvas *canvas)
{
    struct canvas_font font = name_font(STYLE_INK, CANVAS_LEFT);
    return canvas_text_width_pt(canvas, &font, part->label);
}

static double
value_width_pt(const struct part *part, const struct canvas *canvas)
{
    struct canvas_font font = value_font(STYLE_QUIET, CANVAS_LEFT);
    return canvas_text_width_pt(canvas, &font, part->value);
}

static double
label_width_pt(const struct part *part, const struct canvas *canvas)
{
    return fmax(name_width_pt(part, canvas), value_width_pt(part, canvas));
}

/* The font of a line on the bar: a name in one line is larger than one in two, and than times. */
static struct canvas_font
line_font(const struct part *part, int line)
{
    uint32_t rgb = style_text_on(part->rgb);
    return line == 0 && part->line_count == 2 ? name_font(rgb, CANVAS_CENTRE)
                                              : value_font(rgb, CANVAS_CENTRE);
}

/* Tries a name in one line or two, with or without its percentage, on the bar. */
static bool
fits_inside(struct part *part, bool is_split, const char *value, const struct canvas *canvas)
{
    part->lines[0] = part->label;
    if (is_split && !canvas_text_split(canvas, part->label, part->lines))
        return false;
    part->line_count = is_split ? 3 : 2;
    part->lines[part->line_count - 1] = value;
    for (int i = 0; i < part->line_count; i++) {
        struct canvas_font font = line_font(part, i);
        double width_pt = canvas_text_width_pt(canvas, &font, part->lines[i]);
        if (width_pt + 2 * padding_pt > part->width_pt)
            return false;
    }
    return true;
}

static void
place_parts(struct strip *strip, const struct canvas *canvas)
{
    double x_pt = 0.0;
    for (size_t i = 0; i < strip->count; i++) {
        struct part *part = &strip->items[i];
        part->x_pt = x_pt;
        part->width_pt = strip->width_pt * part->seconds / strip->total_s;
        part->is_inside = fits_inside(part, false, part->value, canvas) ||
                          fits_inside(part, true, part->value, canvas) ||
                          fits_inside(part, false, part->time, canvas) ||
                          fits_inside(part, true, part->time, canvas);
        strip->outside_count += !part->is_inside;
        x_pt += part->width_pt;
    }
}

/* Names that would not fit beside their value on a line of their own are cut. */
static void
cut_labels(struct strip *strip, const struct canvas *canvas)
{
    struct canvas_font font = name_font(STYLE_INK, CANVAS_LEFT);
    for (size_t i = 0; i < strip->count; i++) {
        struct part *part = &strip->items[i];
        double room = strip->width_pt - swatch_pt - 3.0 - 4.0 - value_width_pt(part, canvas);
        part->label = canvas_text_cut(canvas, &font, part->label, room);
    }
}

/* Names below the bar, near their parts; false when there is no room for that. */
static bool
place_leaders(struct strip *strip, const struct canvas *canvas)
{
    struct arena *arena = canvas_arena(canvas);
    struct spread_label *labels = arena_alloc(arena, strip->count, sizeof *labels);
    const double range[2] = {0.0, strip->width_pt};
    size_t count = 0;
    for (size_t i = 0; i < strip->count; i++) {
        const struct part *part = &strip->items[i];
        if (!part->is_inside)
            labels[count++] = (struct spread_label){.wanted = part->x_pt + part->width_pt / 2,
                                                    .width = label_width_pt(part, canvas)};
    }
    if (!spread_labels(arena, labels, count, range, label_gap_pt))
        return false;
    count = 0;
    for (size_t i = 0; i < strip->count; i++) {
        if (strip->items[i].is_inside)
            continue;
        if (fabs(labels[count].centre - labels[count].wanted) > leader_aside_pt)
            return false;
        strip->items[i].label_pt = labels[count++].centre;
    }
    return true;
}

/* Width of a swatch, a name and a value in a line. */
static double
entry_width_pt(const struct part *part, const struct canvas *canvas)
{
    return swatch_pt + 3.0 + name_width_pt(part, canvas) + 4.0 + value_width_pt(part, canvas);
}

/* Where the next entry stands, given where it would; a full line breaks and counts. */
static double
entry_start_pt(const struct strip *strip, double x_pt, double width_pt, size_t *line_count)
{
    if (*line_count > 0 && x_pt + width_pt <= strip->width_pt)
        return x_pt;
    (*line_count)++;
    return 0.0;
}

static void
count_lines(struct strip *strip, const struct canvas *canvas)
{
    double x_pt = 0.0;
    for (size_t i = 0; i < strip->count; i++) {
        if (strip->items[i].is_inside)
            continue;
        double width_pt = entry_width_pt(&strip->items[i], canvas);
        x_pt = entry_start_pt(strip, x_pt, width_pt, &strip->line_count);
        x_pt += width_pt + label_gap_pt;
    }
}

struct strip *
strip_new(const struct timeline *timeline, double width_pt, const struct canvas *canvas)
{
    struct arena *arena = canvas_arena(canvas);
    struct strip *strip = arena_alloc(arena, 1, sizeof *strip);
    strip->items = arena_alloc(arena, timeline->piece_count + 1, sizeof *strip->items);
    strip->title = timeline->pieces_title != NULL ? timeline->pieces_title : "";
    strip->width_pt = width_pt;
    collect(strip, timeline);
    if (strip->count == 0)
        return NULL;
    choose_unit(strip);
    write_values(strip, arena);
    cut_labels(strip, canvas);
    place_parts(strip, canvas);
    strip->has_leaders = place_leaders(strip, canvas);
    if (!strip->has_leaders)
        count_lines(strip, canvas);
    return strip;
}

double
strip_height_pt(const struct strip *strip)
{
    if (strip == NULL)
        return 0.0;
    double height_pt = head_pt + bar_height_pt;
    if (strip->outside_count == 0)
        return height_pt;
    if (strip->has_leaders)
        return height_pt + leader_pt + 2 * leading_pt + 2.0;
    return height_pt + 2.0 + (double)strip->line_count * entry_leading_pt;
}

static void
draw_label(const struct part *part, struct canvas_point at, struct canvas *canvas)
{
    struct canvas_font name = name_font(STYLE_INK, CANVAS_CENTRE);
    struct canvas_font value = value_font(STYLE_QUIET, CANVAS_CENTRE);
    canvas_text(canvas, at, &name, part->label);
    at.y_pt += leading_pt;
    canvas_text(canvas, at, &value, part->value);
}

static void
draw_part(const struct part *part, struct canvas_box box, struct canvas *canvas)
{
    canvas_fill(canvas, box, part->rgb);
    if (part->is_hatched)
        canvas_hatch(canvas, box, style_shade(part->rgb, 0.1));
}

static void
draw_inside(const struct part *part, struct canvas_point middle, struct canvas *canvas)
{
    const double half_cap_height_pt = 0.365 * STYLE_TINY_PT;
    double above_pt = leading_pt * (part->line_count - 1) / 2.0;
    for (int i = 0; i < part->line_count; i++) {
        struct canvas_font font = line_font(part, i);
        struct canvas_point at = {middle.x_pt,
                                  middle.y_pt - above_pt + half_cap_height_pt + leading_pt * i};
        canvas_text(canvas, at, &font, part->lines[i]);
    }
}

static void
draw_bar(const struct strip *strip, struct canvas_point at, struct canvas *canvas)
{
    for (size_t i = 0; i < strip->count; i++) {
        const struct part *part = &strip->items[i];
        double left = at.x_pt + part->x_pt;
        struct canvas_point middle = {left + part->width_pt / 2, at.y_pt + bar_height_pt / 2};
        draw_part(part, (struct canvas_box){left, at.y_pt, part->width_pt, bar_height_pt},
                  canvas);
        if (part->is_inside)
            draw_inside(part, middle, canvas);
    }
    for (size_t i = 1; i < strip->count; i++) {
        double x_pt = at.x_pt + strip->items[i].x_pt;
        canvas_line(canvas, (struct canvas_point){x_pt, at.y_pt},
                    (struct canvas_point){x_pt, at.y_pt + bar_height_pt}, divider_pt,
                    STYLE_PAPER);
    }
}

/* A short line down from the part, one aside, one down to the name. */
static void
draw_leader(struct canvas_point foot, double label_pt, struct canvas *canvas)
{
    const struct canvas_point points[4] = {foot,
                                           {foot.x_pt, foot.y_pt + 2.0},
                                           {label_pt, foot.y_pt + leader_pt - 2.0},
                                           {label_pt, foot.y_pt + leader_pt}};
    for (int i = 0; i < 3; i++)
        canvas_line(canvas, points[i], points[i + 1], STYLE_HAIRLINE_PT, STYLE_QUIET);
}

static void
draw_leaders(const struct strip *strip, struct canvas_point foot, struct canvas *canvas)
{
    for (size_t i = 0; i < strip->count; i++) {
        const struct part *part = &strip->items[i];
        if (part->is_inside)
            continue;
        struct canvas_point from = {foot.x_pt + part->x_pt + part->width_pt / 2, foot.y_pt};
        struct canvas_point name = {foot.x_pt + part->label_pt, foot.y_pt + leader_pt + 8.0};
        draw_leader(from, name.x_pt, canvas);
        draw_label(part, name, canvas);
    }
}

/* Swatch, name and value of each part that has no name on it. */
static void
draw_entries(const struct strip *strip, struct canvas_point foot, struct canvas *canvas)
{
    struct canvas_font name = name_font(STYLE_INK, CANVAS_LEFT);
    struct canvas_font value = value_font(STYLE_QUIET, CANVAS_LEFT);
    double x_pt = 0.0;
    size_t line_count = 0;
    for (size_t i = 0; i < strip->count; i++) {
        const struct part *part = &strip->items[i];
        if (part->is_inside)
            continue;
        double width_pt = entry_width_pt(part, canvas);
        x_pt = entry_start_pt(strip, x_pt, width_pt, &line_count);
        struct canvas_point at = {foot.x_pt + x_pt,
                                  foot.y_pt + (double)line_count * entry_leading_pt};
        draw_part(part, (struct canvas_box){at.x_pt, at.y_pt - 6.0, swatch_pt, swatch_pt},
                  canvas);
        at.x_pt += swatch_pt + 3.0;
        canvas_text(canvas, at, &name, part->label);
        at.x_pt += name_width_pt(part, canvas) + 4.0;
        canvas_text(canvas, at, &value, part->value);
        x_pt += width_pt + label_gap_pt;
    }
}

static void
draw_head(const struct strip *strip, struct canvas_point at, struct canvas *canvas)
{
    const struct canvas_font bold = {STYLE_LABEL_PT, true, STYLE_INK, CANVAS_LEFT};
    const char *text = arena_format(canvas_arena(canvas), "%s%s%.*f %s", strip->title,
                                    strip->title[0] != '\0' ? ": " : "", strip->decimals,
                                    strip->total_shown, strip->unit);
    at.y_pt += 9.0;
    canvas_text(canvas, at, &bold, canvas_text_cut(canvas, &bold, text, strip->width_pt));
}

void
strip_draw(const struct strip *strip, struct canvas_point at, struct canvas *canvas)
{
    if (strip == NULL)
        return;
    draw_head(strip, at, canvas);
    at.y_pt += head_pt;
    draw_bar(strip, at, canvas);
    at.y_pt += bar_height_pt;
    if (strip->has_leaders)
        draw_leaders(strip, at, canvas);
    else
        draw_entries(strip, at, canvas);
}
