/* Steps side by side as bars of what each goes to. */
#include "sim/base/units.h"
#include "sim/cli/compare.h"
#include "sim/cli/version.h"

static const double MARGIN_PT = 18;
static const double BAR_PT = 26;
static const double GAP_PT = 22;
static const double SWATCH_PT = 8;
static const double TOP_PT = 78; /* title and legend */
static const double NUMBER_PT = 70;

static enum style_slot
slot_of(enum step_group group)
{
    switch (group) {
    case GROUP_COMPUTE:
        return STYLE_FORWARD;
    case GROUP_OPTIMIZER:
        return STYLE_OPTIMIZER;
    case GROUP_OVERLAP:
        return STYLE_OTHER;
    case GROUP_NETWORK:
        return STYLE_DATA_PARALLEL;
    case GROUP_HOST:
        return STYLE_HOST;
    case GROUP_BUBBLE:
    case STEP_GROUP_COUNT:
        break;
    }
    return STYLE_BUBBLE;
}

static void
fill_group(struct canvas *canvas, struct canvas_box box, enum step_group group)
{
    uint32_t rgb = style_colour(slot_of(group));
    if (group == GROUP_BUBBLE)
        canvas_hatch(canvas, box, rgb);
    else
        canvas_fill(canvas, box, rgb);
}

static bool
has_group(const struct comparison *comparison, enum step_group group)
{
    for (size_t i = 0; i < comparison->count; i++)
        if (step_group_ps(comparison->items[i].step, group) > 0)
            return true;
    return false;
}

static void
draw_legend(const struct comparison *comparison, struct canvas *canvas)
{
    const struct canvas_font font = {STYLE_SMALL_PT, false, STYLE_INK, CANVAS_LEFT};
    double x_pt = MARGIN_PT, y_pt = 54;
    for (int i = 0; i < STEP_GROUP_COUNT; i++) {
        enum step_group group = (enum step_group)i;
        const char *label = step_group_label(group);
        if (!has_group(comparison, group))
            continue;
        fill_group(canvas, (struct canvas_box){x_pt, y_pt - SWATCH_PT, SWATCH_PT, SWATCH_PT},
                   group);
        x_pt += SWATCH_PT + 5;
        canvas_text(canvas, (struct canvas_point){x_pt, y_pt}, &font, label);
        x_pt += canvas_text_width_pt(canvas, &font, label) + 16;
    }
}

static void
draw_bar(const struct compared *item, double y_pt, double pt_per_s, struct canvas *canvas)
{
    const struct canvas_font name = {STYLE_LABEL_PT, true, STYLE_INK, CANVAS_LEFT};
    const struct canvas_font number = {STYLE_LABEL_PT, false, STYLE_INK, CANVAS_LEFT};
    double x_pt = MARGIN_PT;
    canvas_text(canvas, (struct canvas_point){x_pt, y_pt - 5}, &name, item->name);
    for (int i = 0; i < STEP_GROUP_COUNT; i++) {
        enum step_group group = (enum step_group)i;
        double width_pt = units_s_from_ps(step_group_ps(item->step, group)) * pt_per_s;
        if (width_pt > 0)
            fill_group(canvas, (struct canvas_box){x_pt, y_pt, width_pt, BAR_PT}, group);
        x_pt += width_pt;
    }
    canvas_text(canvas, (struct canvas_point){x_pt + 6, y_pt + BAR_PT / 2 + 3}, &number,
                units_format_s(item->step->step_s).text);
}

/* The shortest of them. */
static const struct compared *
find_best(const struct comparison *comparison)
{
    const struct compared *best = &comparison->items[0];
    for (size_t i = 1; i < comparison->count; i++)
        if (comparison->items[i].step->step_ps < best->step->step_ps)
            best = &comparison->items[i];
    return best;
}

void
comparison_draw(const struct comparison *comparison, const struct style_page *page,
                struct canvas *canvas)
{
    const struct canvas_font title = {STYLE_TITLE_PT, true, STYLE_INK, CANVAS_LEFT};
    const struct canvas_font quiet = {STYLE_SMALL_PT, false, STYLE_QUIET, CANVAS_LEFT};
    const struct compared *best = find_best(comparison);
    struct arena *arena = canvas_arena(canvas);
    double longest_s = 0, y_pt = TOP_PT + GAP_PT;
    for (size_t i = 0; i < comparison->count; i++)
        if (comparison->items[i].step->step_s > longest_s)
            longest_s = comparison->items[i].step->step_s;
    const char *words = arena_format(arena, "Shortest step: %s, %s", best->name,
                                     units_format_s(best->step->step_s).text);
    canvas_set_title(canvas, words);
    canvas_text(canvas, (struct canvas_point){MARGIN_PT, 28}, &title, words);
    draw_legend(comparison, canvas);
    double pt_per_s = (page->width_pt - 2 * MARGIN_PT - NUMBER_PT) / longest_s;
    for (size_t i = 0; i < comparison->count; i++) {
        draw_bar(&comparison->items[i], y_pt, pt_per_s, canvas);
        y_pt += BAR_PT + GAP_PT;
    }
    canvas_text(canvas, (struct canvas_point){MARGIN_PT, y_pt}, &quiet,
                arena_format(arena, "stepcast %s: %s", STEPCAST_VERSION,
                             comparison->items[0].step->heading));
    canvas_set_size(canvas, page->width_pt, y_pt + MARGIN_PT);
}
