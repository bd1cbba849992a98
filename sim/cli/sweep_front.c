/* The Pareto front of a sweep: every row is held against those found so far that none beats. */
#include "sim/cli/sweep_front.h"

#include <math.h>
#include <string.h>

#include "sim/base/spelling.h"

static bool
is_there(const struct sweep_space *space, enum sweep_quantity quantity)
{
    for (size_t i = 0; i < space->front_count; i++)
        if (space->front[i] == quantity)
            return true;
    return false;
}

/* One column more; false when there is no such column, or it stands there already. */
static bool
add_column(struct sweep_space *space, const char *key, struct arena *arena, const char **fault)
{
    const char *keys[SWEEP_QUANTITY_COUNT];
    enum sweep_quantity found = SWEEP_STEP_S;
    int known = sweep_space_quantities(space);
    for (int i = 0; i < known; i++)
        keys[i] = sweep_quantity_key((enum sweep_quantity)i);
    if (!sweep_quantity_find(key, &found)) {
        const char *nearest = spelling_nearest(key, keys, (size_t)known);
        *fault = arena_format(arena, "'%s' is no column%s%s%s", key,
                              nearest ? ", did you mean '" : "", nearest ? nearest : "",
                              nearest ? "'?" : "");
        return false;
    }
    if ((int)found >= known || is_there(space, found)) {
        *fault = arena_format(arena,
                              (int)found >= known ? "'%s' is a column of --inference"
                                                  : "'%s' stands there twice",
                              key);
        return false;
    }
    space->front[space->front_count++] = found;
    return true;
}

bool
sweep_front_read(struct sweep_space *space, const char *text, struct arena *arena,
                 const char **fault)
{
    space->front_count = 0;
    for (const char *at = text;; at++) {
        size_t length = strcspn(at, ",");
        const char *key = arena_format(arena, "%.*s", (int)length, at);
        if (!add_column(space, key, arena, fault))
            return false;
        at += length;
        if (*at == '\0')
            break;
    }
    *fault = "wanted two columns or more, parted by commas";
    return space->front_count >= 2;
}

static bool
has_values(const struct sweep_space *space, const struct sweep_row *row)
{
    for (size_t i = 0; i < space->front_count; i++)
        if (row->status != SWEEP_DONE || isnan(row->values[space->front[i]]))
            return false;
    return true;
}

/* How much better a is than b in a column, as a logarithm of their ratio: such gains add up. */
static double
gain_of(const struct sweep_row *a, const struct sweep_row *b, enum sweep_quantity quantity)
{
    const double tiny = 1e-300; /* a bubble of 0 s has no logarithm */
    double ratio = log(fmax(a->values[quantity], tiny) / fmax(b->values[quantity], tiny));
    return sweep_quantity_is_gain(quantity) ? ratio : -ratio;
}

/* Whether a is nowhere worse than b by more than the slack, and in sum better. Never in a circle:
 * sums of gains round a circle are 0. */
static bool
beats(const struct sweep_space *space, const struct sweep_row *a, const struct sweep_row *b,
      double slack)
{
    double sum = 0;
    for (size_t i = 0; i < space->front_count; i++) {
        double gain = gain_of(a, b, space->front[i]);
        if (gain < -slack)
            return false;
        sum += gain;
    }
    return sum > slack;
}

/* Without slack: what beats the one that beats a row beats the row, so one pass finds them. */
static size_t
find_strict_front(const struct sweep_space *space, struct sweep_row *rows, size_t count,
                  struct sweep_row **front)
{
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        bool is_beaten = !has_values(space, &rows[i]);
        for (size_t j = 0; j < found && !is_beaten; j++)
            is_beaten = beats(space, front[j], &rows[i], 0);
        if (is_beaten)
            continue;
        size_t kept = 0;
        for (size_t j = 0; j < found; j++)
            if (!beats(space, &rows[i], front[j], 0))
                front[kept++] = front[j];
        front[kept++] = &rows[i];
        found = kept;
    }
    return found;
}

/* With slack a row is beaten by one of the strict front, if by any. */
void
sweep_front_mark(const struct sweep_space *space, struct sweep_row *rows, size_t count,
                 struct arena *arena)
{
    struct sweep_row **front = arena_alloc(arena, count + 1, sizeof *front);
    size_t found = find_strict_front(space, rows, count, front);
    for (size_t i = 0; i < found; i++) {
        bool is_beaten = false;
        for (size_t j = 0; j < found && !is_beaten; j++)
            is_beaten = j != i && beats(space, front[j], front[i], space->slack_fraction);
        front[i]->is_on_front = !is_beaten;
    }
}
