/* Which labels stay is settled first, then where they stand. */
#include "plots/label_column.h"

#include <math.h>

#include "plots/spread.h"
#include "plots/style.h"

static const double line = 1.2; /* of the letters' size */
static const double swatch = 0.7, swatch_gap_pt = 3.0;
static const double to_middle =
    0.365; /* of it, from the middle of small letters to their foot */

/* The place in the row of the index-th of so many that stay, both ends among them. */
static size_t
chosen(size_t index, size_t kept, size_t count)
{
    return kept < 2 ? 0 : (index * (count - 1) + (kept - 1) / 2) / (kept - 1);
}

const char *
label_column_rest(struct arena *arena, size_t missing)
{
    return arena_format(arena, "+%zu more", missing);
}

double
label_column_swatch_pt(double size_pt)
{
    return swatch * size_pt + swatch_gap_pt;
}

static void
draw_line(const struct label_column *column, const struct column_label *label,
          struct canvas *canvas)
{
    struct canvas_font font = column->font;
    struct canvas_box box = column->box;
    double side_pt = swatch * font.size_pt;
    font.rgb = label->rgb;
    font.align = CANVAS_LEFT;
    if (label->has_swatch) {
        canvas_fill(
            canvas,
            (struct canvas_box){box.x_pt, label->middle_pt - side_pt / 2, side_pt, side_pt},
            label->swatch_rgb);
        box.x_pt += label_column_swatch_pt(font.size_pt);
        box.width_pt -= label_column_swatch_pt(font.size_pt);
    }
    canvas_text_short(
        canvas, (struct canvas_point){box.x_pt, label->middle_pt + to_middle * font.size_pt},
        &font, canvas_text_cut_middle(canvas, &font, label->text, box.width_pt + 0.01),
        label->text);
}

static void
draw_count(const struct label_column *column, double middle_pt, size_t missing,
           struct canvas *canvas)
{
    struct canvas_font font = column->font;
    const char *text = label_column_rest(canvas_arena(canvas), missing);
    font.rgb = STYLE_QUIET;
    font.align = CANVAS_LEFT;
    if (canvas_text_width_pt(canvas, &font, text) > column->box.width_pt + 0.01)
        text = arena_format(canvas_arena(canvas), "+%zu", missing);
    canvas_text(canvas,
                (struct canvas_point){column->box.x_pt, middle_pt + to_middle * font.size_pt},
                &font, text);
}

/* The lines of a column that is too low for all; the last says what is missing. */
static void
draw_some(const struct label_column *column, struct column_label *labels, size_t count,
          size_t room, struct canvas *canvas)
{
    double height_pt = line * column->font.size_pt;
    size_t kept = room > 0 ? room - 1 : 0;
    for (size_t i = 0; i < count; i++)
        labels[i].middle_pt = (double)NAN;
    for (size_t i = 0; i < kept; i++) {
        struct column_label *label = &labels[chosen(i, kept, count)];
        label->middle_pt = column->box.y_pt + ((double)i + 0.5) * height_pt;
        draw_line(column, label, canvas);
    }
    if (room > 0)
        draw_count(column, column->box.y_pt + ((double)kept + 0.5) * height_pt, count - kept,
                   canvas);
}

void
label_column_draw(const struct label_column *column, struct column_label *labels, size_t count,
                  struct canvas *canvas)
{
    struct arena *arena = canvas_arena(canvas);
    const struct canvas_box *box = &column->box;
    struct spread_label *places = arena_alloc(arena, count + 1, sizeof *places);
    const double range[2] = {box->y_pt, box->y_pt + box->height_pt};
    double height_pt = line * column->font.size_pt;
    for (size_t i = 0; i < count; i++)
        places[i] = (struct spread_label){.wanted = labels[i].wanted_pt, .width = height_pt};
    if (!spread_labels(arena, places, count, range, 0.0)) {
        draw_some(column, labels, count, (size_t)(box->height_pt / height_pt), canvas);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        labels[i].middle_pt = places[i].centre;
        draw_line(column, &labels[i], canvas);
    }
}
