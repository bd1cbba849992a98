/* For each label in turn the cheapest of some dozens of places round its point: off other labels in
 * any case and off curves, off dots if it can be. */
#include "plots/labels.h"

#include <math.h>

#include "plots/style.h"

static const double gap_pt = 3.0;       /* from the mark to its label */
static const double air_pt = 1.5;       /* round each label */
static const double near_pt = 8.0;      /* farther labels get a line */
static const double dot_cost_pt = 14.0; /* as so much more distance */
static const double text_top = 0.76,
                    text_foot = 0.24; /* of the size, above the baseline, below */

/* Directions in the order that they are liked in: of the label's nearest point from the mark. */
static const struct direction {
    double x, y, dislike_pt;
} directions[] = {{1, 0, 0},      {0.7, -0.7, 1}, {0.7, 0.7, 1},   {0, -1, 2},
                  {0, 1, 2},      {-1, 0, 3},     {-0.7, -0.7, 3}, {-0.7, 0.7, 3},
                  {0.4, -0.9, 3}, {0.4, 0.9, 3},  {-0.4, -0.9, 4}, {-0.4, 0.9, 4}};
enum {
    DIRECTION_COUNT = sizeof directions / sizeof *directions,
    RING_COUNT = 7,
    DOTS_COVERED_MAX = 2
};
static const double rings_pt[RING_COUNT] = {0, 6, 12, 20, 32, 48, 70};

struct placed {
    struct canvas_box box;
    struct canvas_point from, to; /* of its line; the same where there is none */
};

struct placing {
    const struct label_field *field;
    struct placed *placed;
    size_t count;
};

static bool
overlap(const struct canvas_box *a, const struct canvas_box *b)
{
    return a->x_pt < b->x_pt + b->width_pt && b->x_pt < a->x_pt + a->width_pt &&
           a->y_pt < b->y_pt + b->height_pt && b->y_pt < a->y_pt + a->height_pt;
}

static bool
holds_point(const struct canvas_box *box, struct canvas_point point)
{
    return point.x_pt > box->x_pt && point.x_pt < box->x_pt + box->width_pt &&
           point.y_pt > box->y_pt && point.y_pt < box->y_pt + box->height_pt;
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
static bool
crosses(const struct canvas_box *box, struct canvas_point a, struct canvas_point b)
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
has_line(const struct placed *place)
{
    return place->from.x_pt != place->to.x_pt || place->from.y_pt != place->to.y_pt;
}

static bool
line_crosses(const struct placed *place, const struct canvas_box *box)
{
    return has_line(place) && crosses(box, place->from, place->to);
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

/* The place's line meets none of the others, nor a curve. */
static bool
is_line_free(const struct placing *placing, const struct placed *place)
{
    const struct label_field *field = placing->field;
    if (!has_line(place))
        return true;
    for (size_t i = 0; i < placing->count; i++)
        if (has_line(&placing->placed[i]) &&
            lines_meet(place, placing->placed[i].from, placing->placed[i].to))
            return false;
    for (size_t i = 0; i < field->path_count; i++)
        for (size_t k = 1; k < field->paths[i].count; k++)
            if (lines_meet(place, field->paths[i].points[k - 1], field->paths[i].points[k]))
                return false;
    return true;
}

static bool
is_free(const struct placing *placing, const struct placed *place)
{
    const struct label_field *field = placing->field;
    if (!is_within(&place->box, &field->box))
        return false;
    for (size_t i = 0; i < field->taken_count; i++)
        if (overlap(&place->box, &field->taken[i]) || line_crosses(place, &field->taken[i]))
            return false;
    for (size_t i = 0; i < placing->count; i++) {
        const struct placed *other = &placing->placed[i];
        if (overlap(&place->box, &other->box) || line_crosses(other, &place->box) ||
            line_crosses(place, &other->box))
            return false;
    }
    return is_line_free(placing, place);
}

static bool
is_crossed(const struct canvas_box *box, const struct canvas_path *path)
{
    for (size_t i = 1; i < path->count; i++)
        if (crosses(box, path->points[i - 1], path->points[i]))
            return true;
    return false;
}

/* Infinite where it cannot stand: on a curve, or on more than a few dots. */
static double
covering_cost_pt(const struct label_field *field, const struct canvas_box *box)
{
    double cost_pt = 0.0;
    for (size_t i = 0; i < field->path_count; i++)
        if (is_crossed(box, &field->paths[i]))
            return INFINITY;
    for (size_t i = 0; i < field->dot_count && cost_pt <= DOTS_COVERED_MAX * dot_cost_pt; i++)
        cost_pt += holds_point(box, field->dots[i]) ? dot_cost_pt : 0.0;
    return cost_pt <= DOTS_COVERED_MAX * dot_cost_pt ? cost_pt : (double)INFINITY;
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
    struct placed place = {.from = label->at, .to = label->at};
    width_pt += 2 * air_pt;
    place.box.x_pt = touch.x_pt - (way->x > 0.5    ? 0.0
                                   : way->x < -0.5 ? width_pt
                                                   : width_pt * (0.5 - 0.5 * way->x));
    place.box.y_pt = touch.y_pt - (way->y > 0.5    ? 0.0
                                   : way->y < -0.5 ? height_pt
                                                   : height_pt / 2);
    place.box.width_pt = width_pt;
    place.box.height_pt = height_pt;
    if (distance_pt >= near_pt) {
        place.from.x_pt += way->x * label->radius_pt;
        place.from.y_pt += way->y * label->radius_pt;
        place.to = touch;
    }
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
            double cost_pt = rings_pt[ring] + directions[i].dislike_pt;
            if (cost_pt >= least_pt || !is_free(placing, &place))
                continue;
            cost_pt += covering_cost_pt(placing->field, &place.box);
            if (cost_pt >= least_pt)
                continue;
            least_pt = cost_pt;
            *best = place;
        }
    }
    return isfinite(least_pt);
}

size_t
labels_draw(const struct label_field *field, const struct label *labels, size_t count,
            struct canvas *canvas)
{
    struct placing placing = {.field = field};
    placing.placed = arena_alloc(canvas_arena(canvas), count + 1, sizeof *placing.placed);
    for (size_t i = 0; i < count; i++) {
        struct canvas_font font = labels[i].font;
        struct placed place = {0};
        double width_pt = canvas_text_width_pt(canvas, &font, labels[i].text);
        if (width_pt <= 0.0 || !find_place(&placing, &labels[i], width_pt, &place))
            continue;
        placing.placed[placing.count++] = place;
        if (place.from.x_pt != place.to.x_pt || place.from.y_pt != place.to.y_pt)
            canvas_line(canvas, place.from, place.to, STYLE_HAIRLINE_PT, STYLE_QUIET);
        font.align = CANVAS_LEFT;
        canvas_text(canvas,
                    (struct canvas_point){place.box.x_pt + air_pt,
                                          place.box.y_pt + air_pt + text_top * font.size_pt},
                    &font, labels[i].text);
    }
    return placing.count;
}
