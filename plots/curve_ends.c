/* Names within the plane first, for those that find no place there go to the column. */
#include "plots/curve_ends.h"

#include <math.h>
#include <stdlib.h>

#include "plots/label_column.h"
#include "plots/style.h"

/* Every plane is high enough for so many names; of more some may only be counted. Of as many are
 * those that end early looked a place for. */
enum { NAMES_SURE = 16 };

static const double early_pt = 24.0; /* before the plane's right edge */
static const struct canvas_font name_font = {STYLE_SMALL_PT, true, STYLE_INK, CANVAS_LEFT};

double
curve_ends_width_pt(const char *const *names, size_t count, const struct canvas *canvas)
{
    double widest = 0.0;
    if (count > NAMES_SURE)
        widest = canvas_text_width_pt(canvas, &name_font,
                                      label_column_rest(canvas_arena(canvas), count));
    for (size_t i = 0; i < count; i++)
        if (names[i] != NULL)
            widest = fmax(widest, canvas_text_width_pt(canvas, &name_font, names[i]));
    return widest > 0.0 ? CURVE_ENDS_GAP_PT + widest : 0.0;
}

static int
compare_ends(const void *a, const void *b)
{
    const struct curve_end *one = a, *two = b;
    return (one->at.y_pt > two->at.y_pt) - (one->at.y_pt < two->at.y_pt);
}

static bool
is_early(const struct label_field *field, const struct curve_end *end)
{
    return end->at.x_pt + early_pt < field->box.x_pt + field->box.width_pt;
}

/* A leader to the column would cross what the others show there. */
static void
draw_early(const struct label_field *field, struct curve_end *ends, size_t count,
           struct canvas *canvas)
{
    struct label labels[NAMES_SURE];
    struct curve_end *of[NAMES_SURE];
    size_t used = 0;
    for (size_t i = 0; i < count && count <= NAMES_SURE; i++) {
        if (!is_early(field, &ends[i]))
            continue;
        of[used] = &ends[i];
        labels[used] =
            (struct label){.at = ends[i].at, .text = ends[i].text, .font = name_font};
        labels[used++].font.rgb = style_shade(ends[i].rgb, CURVE_ENDS_SHADE);
    }
    labels_draw(field, labels, used, canvas);
    for (size_t i = 0; i < used; i++) {
        of[i]->placed = labels[i].placed;
        if (labels[i].is_led)
            of[i]->leader = (struct canvas_path){
                arena_copy(canvas_arena(canvas), labels[i].line, sizeof labels[i].line), 2};
    }
}

/* From the index-th end to its name in the column; none where it would cross a name. */
static void
draw_leader(const struct label_field *field, struct curve_end *ends, size_t count, size_t index,
            double middle_pt, struct canvas *canvas)
{
    struct curve_end *end = &ends[index];
    double right_pt = field->box.x_pt + field->box.width_pt + CURVE_ENDS_GAP_PT / 2;
    struct canvas_point *points = arena_alloc(canvas_arena(canvas), 2, sizeof *points);
    if (!isfinite(middle_pt) || !is_early(field, end))
        return;
    points[0] = end->at;
    points[1] = (struct canvas_point){right_pt, middle_pt};
    for (size_t i = 0; i < count; i++)
        if (ends[i].placed.width_pt > 0.0 &&
            labels_crosses(&ends[i].placed, points[0], points[1]))
            return;
    canvas_line(canvas, points[0], points[1], STYLE_HAIRLINE_PT, end->rgb);
    end->leader = (struct canvas_path){points, 2};
}

void
curve_ends_draw(const struct label_field *field, double column_pt, struct curve_end *ends,
                size_t count, struct canvas *canvas)
{
    struct arena *arena = canvas_arena(canvas);
    struct column_label *labels = arena_alloc(arena, count + 1, sizeof *labels);
    struct label_column column = {.box = field->box, .font = name_font};
    size_t used = 0;
    qsort(ends, count, sizeof *ends, compare_ends);
    draw_early(field, ends, count, canvas);
    for (size_t i = 0; i < count; i++)
        if (ends[i].placed.width_pt <= 0.0)
            labels[used++] =
                (struct column_label){.wanted_pt = ends[i].at.y_pt,
                                      .text = ends[i].text,
                                      .rgb = style_shade(ends[i].rgb, CURVE_ENDS_SHADE)};
    column.box.x_pt += column.box.width_pt + CURVE_ENDS_GAP_PT;
    column.box.width_pt = column_pt;
    label_column_draw(&column, labels, used, canvas);
    used = 0;
    for (size_t i = 0; i < count; i++)
        if (ends[i].placed.width_pt <= 0.0)
            draw_leader(field, ends, count, i, labels[used++].middle_pt, canvas);
}
