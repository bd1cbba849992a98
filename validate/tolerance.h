/* Limits that held-out errors must keep, and whether they do. */
#ifndef VALIDATE_TOLERANCE_H
#define VALIDATE_TOLERANCE_H

#include <stdbool.h>
#include <stddef.h>

#include "sim/base/error.h"
#include "sim/base/json.h"
#include "sim/base/json_writer.h"
#include "validate/error_table.h"

/* The rows are selected by "kind", "kind/dtype" or "kind/dtype/size"; without dtype every dtype
 * is meant (each row by itself), without size the rows of all sizes. */
struct tolerance {
    const char *kind;
    const char *dtype; /* "" for every dtype */
    const char *size;
    double mape_fraction_max;
    const char *where; /* for messages: what the user wrote, or its place in a file */
};

struct tolerance_list {
    struct tolerance *items;
    size_t count, capacity;
};

/* One row of a table against its limit. */
struct tolerance_verdict {
    const struct tolerance *tolerance;
    const struct error_row *row;
    bool holds;
};

struct tolerance_verdicts {
    struct tolerance_verdict *items;
    size_t count, capacity;
    bool all_hold;
};

/* Adds one as people write it: "gemm=8%", "gemm/bf16/over 100 us=0.04". */
bool tolerance_parse(struct tolerance_list *list, const char *text, struct arena *arena,
                     struct error_list *errors);

/* Adds an object of selectors and fractions: {"gemm/bf16": 0.08}. */
bool tolerance_read(struct tolerance_list *list, const struct json *object, struct arena *arena,
                    struct error_list *errors);

/* Holds the held-out rows against the limits. False after adding a fault for each limit that
 * selects no row: a limit on nothing would hold for ever. */
bool tolerance_check(const struct tolerance_list *list, const struct error_table *table,
                     struct tolerance_verdicts *verdicts, struct arena *arena,
                     struct error_list *errors);

/* A line for each limit that does not hold; gives their number. */
size_t tolerance_print_broken(const struct tolerance_verdicts *verdicts, struct text *out);
/* The same, and a line that counts those that do. */
void tolerance_print(const struct tolerance_verdicts *verdicts, struct text *out);

void tolerance_write(const struct tolerance_verdicts *verdicts, struct json_writer *writer);

#endif
