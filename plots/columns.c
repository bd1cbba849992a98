/* One walk over spans and columns together. */
#include "plots/columns.h"

#include <assert.h>

struct merge {
    const struct columns_window *window;
    double column_ps;
    const struct columns_span *spans;
    size_t count;
    size_t next;                  /* the first span that may still reach into a column */
    double owed[COLUMNS_INK_MAX]; /* in columns; their sum is 0 between columns */
    double held[COLUMNS_INK_MAX]; /* of this column, the part of each ink */
};

static double
minimum(double a, double b)
{
    return a < b ? a : b;
}

/* Fills merge->held for the column; spans that end inside it are done with. */
static void
hold_column(struct merge *merge, size_t column)
{
    double start = (double)merge->window->start_ps + (double)column * merge->column_ps;
    double end = start + merge->column_ps, reached = start;
    for (unsigned ink = 0; ink < COLUMNS_INK_MAX; ink++)
        merge->held[ink] = 0.0;
    while (merge->next < merge->count) {
        const struct columns_span *span = &merge->spans[merge->next];
        double from = (double)span->start_ps, to = minimum((double)span->end_ps, end);
        if (from >= end)
            break;
        from = from < reached ? reached : from;
        if (to > from) {
            merge->held[span->ink] += (to - from) / merge->column_ps;
            merge->held[0] += (from - reached) / merge->column_ps;
            reached = to;
        }
        if ((double)span->end_ps > end)
            break;
        merge->next++;
    }
    merge->held[0] += (end - reached) / merge->column_ps;
}

/* Pays the column to the ink that is owed most of those it holds. */
static unsigned
pay_column(struct merge *merge)
{
    unsigned best = 0;
    double most = 0.0;
    for (unsigned ink = 0, first = 1; ink < COLUMNS_INK_MAX; ink++) {
        if (merge->held[ink] <= 0.0)
            continue;
        merge->owed[ink] += merge->held[ink];
        if (first || merge->owed[ink] > most) {
            best = ink;
            most = merge->owed[ink];
            first = 0;
        }
    }
    merge->owed[best] -= 1.0;
    return best;
}

struct columns_run *
columns_merge(struct arena *arena, const struct columns_window *window,
              const struct columns_span *spans, size_t count, size_t *run_count)
{
    assert(window->start_ps < window->end_ps && window->column_count > 0);
    struct merge merge = {.window = window, .spans = spans, .count = count};
    merge.column_ps =
        (double)(window->end_ps - window->start_ps) / (double)window->column_count;
    struct columns_run *runs = NULL;
    size_t room = 0, used = 0;
    for (size_t column = 0; column < window->column_count; column++) {
        hold_column(&merge, column);
        unsigned ink = pay_column(&merge);
        if (ink == 0)
            continue;
        if (used > 0 && runs[used - 1].last == column && runs[used - 1].ink == ink) {
            runs[used - 1].last++;
            continue;
        }
        runs = arena_grow(arena, runs, used, &room, sizeof *runs);
        runs[used++] = (struct columns_run){column, column + 1, ink};
    }
    *run_count = used;
    return runs;
}
