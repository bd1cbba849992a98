/* For each label in turn the cheapest of a hundred places round its point: off other labels, marks
 * and curves in any case. */
#include "plots/labels.h"

#include <math.h>

#include "plots/coverage.h"
#include "plots/style.h"

static const double gap_pt = 3.0;  /* from the mark to its label */
static const double air_pt = 1.5;  /* round each label */
static const double near_pt = 8.0; /* farther labels get a line */
static const double text_top = 0.76,
                    text_foot = 0.24; /* of the size, above the baseline, below */
static const double shorter = 0.7;    /* of its width, a label that finds no place */
static const double shortest_em = 7.0;

/* Directions in the order that they are liked in: of the label's nearest point from the mark. */
static const struct direction {
    double x, y, dislike_pt;
} directions[] = {{1, 0, 0},        {0.7, -0.7, 1},  {0.7, 0.7, 1},     {0, -1, 2},
                  {0, 1, 2},        {-1, 0, 3},      {-0.7, -0.7, 3},   {-0.7, 0.7, 3},
                  {0.4, -0.9, 3},   {0.4, 0.9, 3},   {-0.4, -0.9, 4},   {-0.4, 0.9, 4},
                  {0.94, -0.34, 2}, {0.94, 0.34, 2}, {-0.94, -0.34, 4}, {-0.94, 0.34, 4}};
enum { DIRECTION_COUNT = sizeof directions / sizeof *directions, RING_COUNT = 12 };
static const double rings_pt[RING_COUNT] = {0, 6, 12, 20, 32, 48, 70, 95, 125, 160, 200, 250};

struct placed {
    struct canvas_box box;
    struct canvas_point from, to; /* from the mark to the box */
    bool is_led;                  /* there is a line between these */
};

struct placing {
    const struct label_field *field;
    struct coverage *coverage; /* of what the field says is covered */
    struct placed *placed;
    size_t count;
    bool may_cross; /* lines to labels may run over curves */
};

static bool
overlap(const struct canvas_box *a, const struct canvas_box *b)
{
    return a->x_pt < b->x_pt + b->width_pt && b->x_pt < a->x_pt + a->width_pt &&
           a->y_pt < b->y_pt + b->height_pt && b->y_pt < a->y_pt + a->height_pt;
}

/* Narrows [range[0], range[1]], parts of a way from `from` by `step`, to where that is within
 * [low, high]. */
static void
clip_range(double from, double step, double low, double high, double range[2])
{
    if (step == 0.0) {
        if (from <= low || from >= high)
            range[1] = -1.0;
        return;
    }
    double one = (low - from) / step, two = (high - from) / step;
    range[0] = fmax(range[0], fmin(one, two));
    range[1] = fmin(range[1], fmax(one, two));
}

/* Liang and Barsky, "A new concept and method for line clipping" (1984). */
bool
labels_crosses(const struct canvas_box *box, struct canvas_point a, struct canvas_point b)
{
    double range[2] = {0.0, 1.0};
    clip_range(a.x_pt, b.x_pt - a.x_pt, box->x_pt, box->x_pt + box->width_pt, range);
    clip_range(a.y_pt, b.y_pt - a.y_pt, box->y_pt, box->y_pt + box->height_pt, range);
    return range[0] < range[1];
}

static bool
is_within(const struct canvas_box *box, const struct canvas_box *outer)
{
    return box->x_pt >= outer->x_pt && box->y_pt >= outer->y_pt &&
           box->x_pt + box->width_pt <= outer->x_pt + outer->width_pt &&
           box->y_pt + box->height_pt <= outer->y_pt + outer->height_pt;
}

static bool
line_crosses(const struct placed *place, const struct canvas_box *box)
{
    return place->is_led && labels_crosses(box, place->from, place->to);
}

/* Above 0 where c lies on one side of the line from a to b, below 0 on the other. */
static double
side_of(struct canvas_point a, struct canvas_point b, struct canvas_point c)
{
    return (b.x_pt - a.x_pt) * (c.y_pt - a.y_pt) - (b.y_pt - a.y_pt) * (c.x_pt - a.x_pt);
}

/* Or lie on one line. */
static bool
lines_meet(const struct placed *place, struct canvas_point a, struct canvas_point b)
{
    return side_of(place->from, place->to, a) * side_of(place->from, place->to, b) <= 0.0 &&
           side_of(a, b, place->from) * side_of(a, b, place->to) <= 0.0;
}

/* No curve runs between mark and label, unless it may, and their line, if there is one, meets no
 * other. */
static bool
is_line_free(const struct placing *placing, const struct placed *place)
{
    const struct label_field *field = placing->field;
    for (size_t i = 0; place->is_led && i < placing->count; i++)
        if (placing->placed[i].is_led &&
            lines_meet(place, placing->placed[i].from, placing->placed[i].to))
            return false;
    for (size_t i = 0; !placing->may_cross && i < field->path_count; i++)
        for (size_t k = 1; k < field->paths[i].count; k++)
            if (lines_meet(place, field->paths[i].points[k - 1], field->paths[i].points[k]))
                return false;
    return true;
}

/* The line keeps off what the field has, but for faint marks. */
static bool
is_line_off_marks(const struct placing *placing, const struct placed *place)
{
    const struct label_field *field = placing->field;
    for (size_t i = 0; i < field->taken_count; i++)
        if (line_crosses(place, &field->taken[i]))
            return false;
    for (size_t i = 0; i < field->disc_count; i++) {
        const struct label_disc *disc = &field->discs[i];
        double half_pt = sqrt(0.5) * disc->radius_pt; /* the square in it */
        struct canvas_box square = {disc->centre.x_pt - half_pt, disc->centre.y_pt - half_pt,
                                    2 * half_pt, 2 * half_pt};
        if (!disc->is_faint && line_crosses(place, &square))
            return false;
    }
    return true;
}

static bool
is_free(const struct placing *placing, const struct placed *place)
{
    if (!is_within(&place->box, &placing->field->box) ||
        !coverage_is_free(placing->coverage, place->box))
        return false;
    for (size_t i = 0; i < placing->count; i++) {
        const struct placed *other = &placing->placed[i];
        if (overlap(&place->box, &other->box) || line_crosses(other, &place->box) ||
            line_crosses(place, &other->box))
            return false;
    }
    return (!place->is_led || is_line_off_marks(placing, place)) &&
           is_line_free(placing, place);
}

/* The label's box on one side of its mark, so far off. */
static struct placed
make_place(const struct label *label, double width_pt, const struct direction *way,
           double distance_pt)
{
    double size_pt = label->font.size_pt, reach_pt = label->radius_pt + gap_pt + distance_pt;
    double height_pt = (text_top + text_foot) * size_pt + 2 * air_pt;
    struct canvas_point touch = {label->at.x_pt + way->x * reach_pt,
                                 label->at.y_pt + way->y * reach_pt};
    double off_pt = fmax(label->radius_pt, 1.0); /* off a curve that the mark lies on */
    struct placed place = {.to = touch, .is_led = distance_pt >= near_pt};
    place.from.x_pt = label->at.x_pt + way->x * off_pt;
    place.from.y_pt = label->at.y_pt + way->y * off_pt;
    width_pt += 2 * air_pt;
    place.box.x_pt = touch.x_pt - (way->x > 0.5    ? 0.0
                                   : way->x < -0.5 ? width_pt
                                                   : width_pt * (0.5 - 0.5 * way->x));
    place.box.y_pt = touch.y_pt - (way->y > 0.5    ? 0.0
                                   : way->y < -0.5 ? height_pt
                                                   : height_pt / 2);
    place.box.width_pt = width_pt;
    place.box.height_pt = height_pt;
    return place;
}

static bool
find_place(const struct placing *placing, const struct label *label, double width_pt,
           struct placed *best)
{
    double least_pt = INFINITY;
    for (int ring = 0; ring < RING_COUNT; ring++) {
        if (rings_pt[ring] >= least_pt)
            break;
        for (int i = 0; i < DIRECTION_COUNT; i++) {
            struct placed place = make_place(label, width_pt, &directions[i], rings_pt[ring]);
            place.is_led |= placing->may_cross; /* else it would seem to be of what is there */
            double cost_pt = rings_pt[ring] + directions[i].dislike_pt;
            if (cost_pt >= least_pt || !is_free(placing, &place))
                continue;
            least_pt = cost_pt;
            *best = place;
        }
    }
    return isfinite(least_pt);
}

/* A place for the text, on its own side of the curves or else beyond them, or, where there is none,
 * for a shorter and shorter one: what is then to be drawn, NULL where no place is large enough. */
static const char *
find_text(struct placing *placing, const struct label *label, struct placed *best,
          const struct canvas *canvas)
{
    const char *text = label->text;
    double whole_pt = canvas_text_width_pt(canvas, &label->font, text), width_pt = whole_pt;
    while (width_pt > 0.0) {
        bool has_place = find_place(placing, label, width_pt, best);
        placing->may_cross = true;
        has_place = has_place || find_place(placing, label, width_pt, best);
        placing->may_cross = false;
        if (has_place)
            return text;
        double wanted_pt = shorter * fmin(width_pt, placing->field->box.width_pt);
        if (wanted_pt < shortest_em * label->font.size_pt)
            break;
        text = canvas_text_cut_middle(canvas, &label->font, label->text, wanted_pt);
        width_pt = canvas_text_width_pt(canvas, &label->font, text);
    }
    return NULL;
}

static struct coverage *
make_coverage(const struct label_field *field, struct arena *arena)
{
    struct coverage *coverage = coverage_new(arena, field->box);
    for (size_t i = 0; i < field->taken_count; i++)
        coverage_add_box(coverage, field->taken[i]);
    for (size_t i = 0; i < field->disc_count; i++)
        coverage_add_disc(coverage, field->discs[i].centre, field->discs[i].radius_pt);
    for (size_t i = 0; i < field->path_count; i++)
        coverage_add_path(coverage, field->paths[i]);
    return coverage;
}

static void
draw_label(const struct placed *place, const struct label *label, const char *text,
           struct canvas *canvas)
{
    struct canvas_font font = label->font;
    struct canvas_point at = {place->box.x_pt + air_pt,
                              place->box.y_pt + air_pt + text_top * font.size_pt};
    font.align = CANVAS_LEFT;
    if (place->is_led)
        canvas_line(canvas, place->from, place->to, STYLE_HAIRLINE_PT, STYLE_QUIET);
    canvas_text_short(canvas, at, &font, text, label->text);
}

size_t
labels_draw(const struct label_field *field, struct label *labels, size_t count,
            struct canvas *canvas)
{
    struct placing placing = {.field = field};
    if (count == 0)
        return 0;
    placing.coverage = make_coverage(field, canvas_arena(canvas));
    placing.placed = arena_alloc(canvas_arena(canvas), count, sizeof *placing.placed);
    for (size_t i = 0; i < count; i++) {
        struct placed place = {0};
        const char *text = find_text(&placing, &labels[i], &place, canvas);
        labels[i].placed = (struct canvas_box){0};
        labels[i].is_led = false;
        if (text == NULL)
            continue;
        placing.placed[placing.count++] = place;
        labels[i].placed = place.box;
        labels[i].is_led = place.is_led;
        labels[i].line[0] = place.from;
        labels[i].line[1] = place.to;
        draw_label(&place, &labels[i], text, canvas);
    }
    return placing.count;
}

/* Halves of the row first, then halves of halves: each label is met once, at the step that it is a
 * multiple of. */
void
labels_order_evenly(struct arena *arena, struct label *labels, size_t count)
{
    struct label *row = arena_alloc(arena, count + 1, sizeof *row);
    size_t step = 1, used = 0;
    if (count < 3)
        return;
    for (size_t i = 0; i < count; i++)
        row[i] = labels[i];
    while (2 * step < count)
        step *= 2;
    labels[used++] = row[0];
    labels[used++] = row[count - 1];
    for (; step > 0; step /= 2)
        for (size_t i = step; i < count - 1; i += 2 * step)
            labels[used++] = row[i];
}
