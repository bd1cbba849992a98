/* Thousands of spans on a few hundred dots: each column of dots shows one colour, and over a row
 * every colour keeps its share.
 *
 *      spans    |aaaaaaaaaaaaaaa|b|a|b|a|b|b|b|      |
 *      columns  |a  a  a  a  a  |b  a  b  b  |  .  . |
 *
 * A column goes to the colour, among those that it holds, that is owed most: its time so far less
 * the columns that it was given. So no colour is more than about a column off its true area. */
#ifndef PLOTS_COLUMNS_H
#define PLOTS_COLUMNS_H

#include <stddef.h>
#include <stdint.h>

#include "sim/base/arena.h"

enum { COLUMNS_INK_MAX = 64 };

/* A stretch of time in one ink, 1 to COLUMNS_INK_MAX - 1; 0 is what lies between. */
struct columns_span {
    int64_t start_ps, end_ps;
    unsigned ink;
};

/* Columns first to last - 1 in one ink. */
struct columns_run {
    size_t first, last;
    unsigned ink;
};

struct columns_window {
    int64_t start_ps, end_ps;
    size_t column_count;
};

/* The window's columns as runs from left to right, ink 0 left out: *run_count of them. Spans
 * ascend by start; one that begins before the last has ended is cut there. */
struct columns_run *columns_merge(struct arena *arena, const struct columns_window *window,
                                  const struct columns_span *spans, size_t count,
                                  size_t *run_count);

#endif
