/* Notes on a curve, the most telling first. */
#include "sim/cli/sweep_notes.h"

#include <math.h>
#include <stdlib.h>

#include "sim/base/units.h"
#include "sim/cli/sweep_fall.h"

static const double FALL_LEAST_FRACTION = 0.01;

enum { FALLS_MAX = 6 };

struct fall {
    size_t at; /* behind it */
    double fraction;
};

double
sweep_shown(const struct sweep_row *row, enum sweep_quantity quantity)
{
    const double percent = 100;
    return row->values[quantity] * (quantity == SWEEP_MFU ? percent : 1);
}

struct sweep_curve
sweep_curve_of(const struct sweep_picture *picture, size_t first, size_t stride,
               struct arena *arena)
{
    const struct sweep_axis *axis = &picture->space->axes[0];
    struct sweep_curve curve = {
        .rows = arena_alloc(arena, axis->count + 1, sizeof(const struct sweep_row *)),
        .x = arena_alloc(arena, axis->count + 1, sizeof *curve.x)};
    for (size_t i = 0; i < axis->count; i++) {
        const struct sweep_row *row = &picture->rows[first + i * stride];
        double x = strtod(axis->values[i], NULL);
        if (row->status != SWEEP_DONE || isnan(row->values[picture->quantity]))
            continue;
        size_t place = curve.count++;
        for (; place > 0 && curve.x[place - 1] > x; place--) {
            curve.x[place] = curve.x[place - 1];
            curve.rows[place] = curve.rows[place - 1];
        }
        curve.x[place] = x;
        curve.rows[place] = row;
    }
    return curve;
}

static int
compare_falls(const void *a, const void *b)
{
    const struct fall *one = a, *two = b;
    return (one->fraction < two->fraction) - (one->fraction > two->fraction);
}

/* Deepest first. */
static size_t
find_falls(const struct sweep_curve *curve, struct fall *falls)
{
    size_t count = 0;
    for (size_t i = 1; i < curve->count; i++) {
        double fraction =
            1 - curve->rows[i]->values[SWEEP_MFU] / curve->rows[i - 1]->values[SWEEP_MFU];
        if (fraction >= FALL_LEAST_FRACTION)
            falls[count++] = (struct fall){i, fraction};
    }
    qsort(falls, count, sizeof *falls, compare_falls);
    return count < FALLS_MAX ? count : FALLS_MAX;
}

static size_t
find_best(const struct sweep_picture *picture, const struct sweep_curve *curve)
{
    bool is_gain = sweep_quantity_is_gain(picture->quantity);
    size_t best = 0;
    for (size_t i = 1; i < curve->count; i++) {
        double value = curve->rows[i]->values[picture->quantity];
        double most = curve->rows[best]->values[picture->quantity];
        if (is_gain ? value > most : value < most)
            best = i;
    }
    return best;
}

/* The point that has the run's own value; the count, if none has. */
static size_t
find_own(const struct sweep_picture *picture, const struct sweep_curve *curve)
{
    double own = 0;
    size_t i = 0;
    if (!run_number(picture->base, picture->space->axes[0].field, &own))
        return curve->count;
    while (i < curve->count && fabs(curve->x[i] - own) > 0)
        i++;
    return i;
}

static struct line_chart_note
make_note(const struct sweep_picture *picture, const struct sweep_curve *curve, size_t at,
          const char *text)
{
    return (struct line_chart_note){
        curve->x[at], sweep_shown(curve->rows[at], picture->quantity), text, false, false};
}

/* What is said of a point already; NULL when nothing is. */
static struct line_chart_note *
find_note(struct line_chart_note *items, size_t count, double x)
{
    for (size_t i = 0; i < count; i++)
        if (!(fabs(items[i].x - x) > 0))
            return &items[i];
    return NULL;
}

static void
add_falls(const struct sweep_picture *picture, const struct sweep_curve *curve,
          struct sweep_notes *notes, struct line_chart_note *items, struct arena *arena)
{
    struct fall *falls = arena_alloc(arena, curve->count + 1, sizeof *falls);
    size_t count = find_falls(curve, falls);
    for (size_t i = 0; i < count; i++) {
        size_t at = falls[i].at;
        const char *reason =
            sweep_fall_reason(picture->base, curve->rows[at - 1], curve->rows[at], arena);
        const char *text =
            arena_format(arena, "-%s MFU%s%s", units_format_fraction(falls[i].fraction).text,
                         reason ? ", " : "", reason ? reason : "");
        struct line_chart_note *said = find_note(items, notes->count, curve->x[at]);
        if (said)
            said->text = arena_format(arena, "%s, %s", said->text, text);
        else
            items[notes->count++] = make_note(
                picture, curve, at, arena_format(arena, "%.15g: %s", curve->x[at], text));
        if (i > 0)
            continue;
        notes->worst = curve->rows[at];
        notes->worst_reason = reason;
        notes->worst_fraction = falls[i].fraction;
    }
}

static bool
tells_falls(enum sweep_quantity quantity)
{
    return quantity == SWEEP_MFU || quantity == SWEEP_MODEL_FLOP_PER_S_PER_GPU ||
           quantity == SWEEP_TOKENS_PER_S || quantity == SWEEP_TOKENS_PER_S_PER_GPU ||
           quantity == SWEEP_STEP_S;
}

struct sweep_notes
sweep_notes_of(const struct sweep_picture *picture, const struct sweep_curve *curve,
               struct arena *arena)
{
    struct sweep_notes notes = {0};
    struct line_chart_note *items = arena_alloc(arena, FALLS_MAX + 2, sizeof *items);
    notes.notes = items;
    if (curve->count < 2)
        return notes;
    size_t best = find_best(picture, curve), own = find_own(picture, curve);
    const char *word = own == best ? "as it is, the best" : "best";
    items[0] =
        make_note(picture, curve, best, arena_format(arena, "%.15g: %s", curve->x[best], word));
    items[0].is_strong = true;
    notes.count = 1;
    if (own < curve->count && own != best) {
        items[1] = make_note(picture, curve, own,
                             arena_format(arena, "%.15g: as it is", curve->x[own]));
        items[1].is_strong = true;
        notes.count = 2;
    }
    if (tells_falls(picture->quantity))
        add_falls(picture, curve, &notes, items, arena);
    return notes;
}
