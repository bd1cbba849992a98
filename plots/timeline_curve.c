/* Each column of dots shows the highest that the stack gets within it, so that no peak is lost and
 * a drawing's size depends on the page alone. */
#include "plots/timeline_curve.h"

#include <math.h>

static const double gap_pt = 6.0;
static const double box_pt = 44.0;
static const double gutter_gap_pt = 10.0;
static const double head_room = 1.28; /* above limit and stack: for the limit's name */
static const double name_from_pt = 9.0;
static const double limit_line_pt = 0.9;
static const double outer_line_pt = 9.5, outer_swatch_pt = 5.5; /* of names over the stack */

double
timeline_curve_height_pt(const struct timeline_curve *curve)
{
    return curve != NULL && curve->count > 0 ? gap_pt + box_pt : 0.0;
}

static const struct canvas_font label_font = {STYLE_LABEL_PT, false, STYLE_INK, CANVAS_LEFT};
static const struct canvas_font sub_font = {STYLE_TINY_PT, false, STYLE_QUIET, CANVAS_LEFT};

double
timeline_curve_gutter_pt(const struct timeline_curve *curve, const struct canvas *canvas)
{
    if (timeline_curve_height_pt(curve) <= 0.0)
        return 0.0;
    double label = canvas_text_width_pt(canvas, &label_font, curve->label);
    double sub_label = canvas_text_width_pt(canvas, &sub_font,
                                            curve->sub_label != NULL ? curve->sub_label : "");
    return fmax(label, sub_label) + gutter_gap_pt;
}

struct stack {
    const struct timeline_curve *curve;
    const struct panel *panel;
    struct canvas_box box;
    size_t column_count;
    const double *tops; /* (layer_count, column_count): of a layer and all below it */
    double scale;       /* points a unit */
    double free_pt;     /* of the width, what the limit's name leaves */
};

static double
value_at(const struct timeline_curve *curve, size_t layer, size_t moment)
{
    double sum = 0.0;
    for (size_t i = 0; i <= layer; i++) {
        double value = curve->layers[i].values[moment];
        sum += isfinite(value) && value > 0.0 ? value : 0.0;
    }
    return sum;
}

/* The highest of the straight line between two moments within a stretch of time. */
static double
highest_between(const struct timeline_curve *curve, size_t layer, size_t left,
                const int64_t window[2])
{
    double from = value_at(curve, layer, left), to = value_at(curve, layer, left + 1);
    double start = (double)curve->at_ps[left];
    double length = (double)curve->at_ps[left + 1] - start;
    double first = fmax(start, (double)window[0]);
    double last = fmin(start + length, (double)window[1]);
    if (length <= 0.0)
        return fmax(from, to);
    return fmax(from + (to - from) * (first - start) / length,
                from + (to - from) * (last - start) / length);
}

/* The highest within a column; *moment is the last one at or before its start, and moves on. */
static double
column_top(const struct stack *stack, size_t layer, size_t column, size_t *moment)
{
    const struct timeline_curve *curve = stack->curve;
    const struct panel *panel = stack->panel;
    double step_ps = (double)(panel->end_ps - panel->start_ps) / (double)stack->column_count;
    const int64_t window[2] = {panel->start_ps + (int64_t)(step_ps * (double)column),
                               panel->start_ps + (int64_t)(step_ps * (double)(column + 1))};
    while (*moment + 1 < curve->count && curve->at_ps[*moment + 1] <= window[0])
        (*moment)++;
    double top = value_at(curve, layer, *moment);
    if (curve->at_ps[*moment] < window[0] && *moment + 1 < curve->count)
        top = 0.0; /* it lies before the column */
    for (size_t i = *moment; i + 1 < curve->count && curve->at_ps[i] < window[1]; i++)
        top = fmax(top, highest_between(curve, layer, i, window));
    return top;
}

static const double *
tops_of(struct stack *stack, struct arena *arena)
{
    size_t layers = stack->curve->layer_count, columns = stack->column_count;
    double *tops = arena_alloc(arena, layers * columns + 1, sizeof *tops);
    for (size_t layer = 0; layer < layers; layer++)
        for (size_t column = 0, moment = 0; column < columns; column++)
            tops[layer * columns + column] = column_top(stack, layer, column, &moment);
    return tops;
}

/* A layer's outline: along the bottom, and back along its tops. */
static void
draw_layer(const struct stack *stack, size_t layer, struct canvas *canvas)
{
    const struct timeline_layer *looks = &stack->curve->layers[layer];
    const double *tops = &stack->tops[layer * stack->column_count];
    size_t count = 2 * stack->column_count + 2;
    struct canvas_point *points = arena_alloc(canvas_arena(canvas), count, sizeof *points);
    double bottom = stack->box.y_pt + stack->box.height_pt;
    points[0] = (struct canvas_point){stack->box.x_pt, bottom};
    for (size_t column = 0; column < stack->column_count; column++) {
        double left = stack->box.x_pt + (double)column * PANEL_COLUMN_PT;
        double y = bottom - stack->scale * tops[column];
        points[2 * column + 1] = (struct canvas_point){left, y};
        points[2 * column + 2] = (struct canvas_point){left + PANEL_COLUMN_PT, y};
    }
    points[count - 1] = (struct canvas_point){stack->box.x_pt + stack->box.width_pt, bottom};
    canvas_polygon(canvas, (struct canvas_path){points, count},
                   style_shade(style_colour(looks->slot), looks->shade), 1.0);
}

static double
limit_y_pt(const struct stack *stack)
{
    return stack->box.y_pt + stack->box.height_pt - stack->scale * stack->curve->limit;
}

/* A line of small letters round that height would be crossed by the limit's. */
static bool
is_on_limit(const struct stack *stack, double centre_pt)
{
    return stack->curve->limit > 0.0 && fabs(limit_y_pt(stack) - centre_pt) < STYLE_TINY_PT;
}

/* The name of a layer around a place, if the layer is high enough there. */
static bool
draw_layer_name(const struct stack *stack, size_t layer, double at_fraction,
                struct canvas *canvas)
{
    const struct timeline_layer *looks = &stack->curve->layers[layer];
    uint32_t fill = style_shade(style_colour(looks->slot), looks->shade);
    const struct canvas_font font = {STYLE_TINY_PT, false, style_text_on(fill), CANVAS_CENTRE};
    double half = canvas_text_width_pt(canvas, &font, looks->name) / 2 + 3.0;
    double middle = at_fraction * stack->box.width_pt, low = INFINITY, high = 0.0;
    if (middle < half || middle + half > stack->free_pt)
        return false;
    size_t first = (size_t)((middle - half) / PANEL_COLUMN_PT);
    size_t last = (size_t)((middle + half) / PANEL_COLUMN_PT);
    for (size_t i = first; i < last && i < stack->column_count; i++) {
        low = fmin(low, stack->tops[layer * stack->column_count + i]);
        if (layer > 0)
            high = fmax(high, stack->tops[(layer - 1) * stack->column_count + i]);
    }
    if (!isfinite(low) || (low - high) * stack->scale < name_from_pt)
        return false;
    double bottom = stack->box.y_pt + stack->box.height_pt;
    double centre = bottom - (low + high) / 2 * stack->scale;
    double left = stack->box.x_pt + middle - half;
    if (is_on_limit(stack, centre) || panel_is_on_edge(stack->panel, left, left + 2 * half))
        return false;
    canvas_text(canvas,
                (struct canvas_point){stack->box.x_pt + middle, centre + 0.365 * STYLE_TINY_PT},
                &font, looks->name);
    return true;
}

/* The highest that the stack, or the limit's line, gets from that part of the width to another:
 * from there up is paper. */
static double
highest_pt(const struct stack *stack, double left_pt, double right_pt)
{
    size_t layers = stack->curve->layer_count;
    double top = 0.0;
    for (size_t i = (size_t)(left_pt / PANEL_COLUMN_PT);
         i < stack->column_count && (double)i * PANEL_COLUMN_PT < right_pt; i++)
        top = fmax(top, stack->tops[(layers - 1) * stack->column_count + i]);
    return stack->box.y_pt + stack->box.height_pt - stack->scale * top;
}

/* With a swatch in a line over the stack, under the limit, from x on: the x behind it, or that x
 * again where it has no room. */
static double
draw_outer_name(const struct stack *stack, size_t layer, double from_pt, struct canvas *canvas)
{
    const struct timeline_layer *looks = &stack->curve->layers[layer];
    const struct canvas_font font = {STYLE_TINY_PT, false, STYLE_QUIET, CANVAS_LEFT};
    double width_pt = outer_swatch_pt + 3.0 + canvas_text_width_pt(canvas, &font, looks->name);
    double x_pt = from_pt;
    for (int i = 0; i < 2; i++) { /* right of what would cross it */
        double edge = stack->panel->edges_pt[i] - stack->box.x_pt;
        if (edge > x_pt - 3.0 && edge < x_pt + width_pt + 3.0)
            x_pt = edge + 6.0;
    }
    double top_pt = stack->box.y_pt + outer_line_pt * 0.15;
    if (stack->curve->limit > 0.0)
        top_pt = limit_y_pt(stack) + outer_line_pt * 0.15;
    double left_pt = stack->box.x_pt + x_pt;
    if (x_pt + width_pt > stack->box.width_pt - 3.0 ||
        highest_pt(stack, x_pt, x_pt + width_pt) < top_pt + outer_line_pt ||
        panel_is_on_edge(stack->panel, left_pt, left_pt + width_pt))
        return from_pt;
    double foot_pt = top_pt + 0.8 * outer_line_pt;
    canvas_fill(canvas,
                (struct canvas_box){left_pt, foot_pt - outer_swatch_pt, outer_swatch_pt,
                                    outer_swatch_pt},
                style_shade(style_colour(looks->slot), looks->shade));
    canvas_text(canvas, (struct canvas_point){left_pt + outer_swatch_pt + 3.0, foot_pt}, &font,
                looks->name);
    return x_pt + width_pt + 10.0;
}

/* In the layer where it is high enough for its name, else in a line over the stack. */
static void
draw_layer_names(const struct stack *stack, struct canvas *canvas)
{
    static const double places[] = {0.5, 0.35, 0.65, 0.2, 0.8};
    double outer_pt = 6.0;
    for (size_t layer = 0; layer < stack->curve->layer_count; layer++) {
        bool is_drawn = false;
        for (size_t i = 0; !is_drawn && i < sizeof places / sizeof *places; i++)
            is_drawn = draw_layer_name(stack, layer, places[i], canvas);
        if (!is_drawn && stack->curve->layers[layer].name != NULL)
            outer_pt = draw_outer_name(stack, layer, outer_pt, canvas);
    }
}

/* A line across with its name over its right end. */
static void
draw_limit(struct stack *stack, struct canvas *canvas)
{
    const struct timeline_curve *curve = stack->curve;
    const struct canvas_font font = {STYLE_TINY_PT, true, STYLE_INK, CANVAS_RIGHT};
    double y = limit_y_pt(stack), right = stack->box.x_pt + stack->box.width_pt;
    stack->free_pt = stack->box.width_pt;
    if (!(curve->limit > 0.0))
        return;
    canvas_line(canvas, (struct canvas_point){stack->box.x_pt, y},
                (struct canvas_point){right, y}, limit_line_pt, STYLE_INK);
    const char *whole = curve->limit_label != NULL ? curve->limit_label : "";
    const char *label = canvas_text_cut(canvas, &font, whole, stack->free_pt - 6.0);
    double width = canvas_text_width_pt(canvas, &font, label);
    for (int i = 1; i >= 0; i--) { /* left of what would cross it, if there is room */
        double edge = stack->panel->edges_pt[i];
        if (edge > right - 3.0 - width && edge < right && edge - width > stack->box.x_pt + 6.0)
            right = edge;
    }
    if (panel_is_on_edge(stack->panel, right - 3.0 - width, right - 3.0))
        return;
    canvas_text_short(canvas, (struct canvas_point){right - 3.0, y - 2.5}, &font, label, whole);
    stack->free_pt = right - stack->box.x_pt - width - 6.0;
}

static void
draw_gutter(const struct stack *stack, struct canvas *canvas)
{
    const struct timeline_curve *curve = stack->curve;
    double middle = stack->box.y_pt + stack->box.height_pt / 2;
    double room = stack->box.x_pt - gutter_gap_pt - stack->panel->margin_pt;
    struct canvas_point at = {stack->panel->margin_pt, middle - 1.0};
    canvas_text_short(canvas, at, &label_font,
                      canvas_text_cut(canvas, &label_font, curve->label, room), curve->label);
    at.y_pt = middle + 8.5;
    if (curve->sub_label != NULL)
        canvas_text_short(canvas, at, &sub_font,
                          canvas_text_cut(canvas, &sub_font, curve->sub_label, room),
                          curve->sub_label);
}

void
timeline_curve_draw(const struct timeline_curve *curve, const struct panel *panel,
                    struct canvas *canvas)
{
    if (timeline_curve_height_pt(curve) <= 0.0)
        return;
    struct stack stack = {.curve = curve, .panel = panel, .box = panel->rows};
    stack.box.y_pt += panel->rows.height_pt + gap_pt;
    stack.box.height_pt = box_pt;
    stack.column_count = (size_t)lround(stack.box.width_pt / PANEL_COLUMN_PT);
    double top = isfinite(curve->limit) && curve->limit > 0.0 ? curve->limit : 0.0;
    for (size_t i = 0; curve->layer_count > 0 && i < curve->count; i++)
        top = fmax(top, value_at(curve, curve->layer_count - 1, i));
    stack.scale = top > 0.0 ? box_pt / (head_room * top) : 0.0;
    stack.tops = tops_of(&stack, canvas_arena(canvas));
    canvas_fill(canvas, stack.box, STYLE_LANE);
    for (size_t layer = curve->layer_count; layer-- > 0;)
        draw_layer(&stack, layer, canvas);
    draw_limit(&stack, canvas);
    draw_layer_names(&stack, canvas);
    draw_gutter(&stack, canvas);
}
