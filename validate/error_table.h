/* How far predictions are from measurements, group by group, fit and held-out rows apart.
 *
 * The error of a row is predicted / measured - 1: +0.1 is 10 % too slow. A group is all rows of
 * one kind (and dtype), or those of them of one size class; MAPE is the mean of |error|, bias
 * the mean of error, p90 the 0.9 quantile of |error| (linear between rows), worst the largest
 * |error|, with its sign. */
#ifndef VALIDATE_ERROR_TABLE_H
#define VALIDATE_ERROR_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "sim/base/arena.h"
#include "sim/base/json_writer.h"
#include "sim/base/text.h"
#include "validate/split.h"

/* What a sample belongs to. Compared as texts; "" for none. */
struct error_group {
    const char *kind;  /* "gemm", "attention_backward" */
    const char *dtype; /* "bf16" */
    const char *size;  /* "all", or the size class: "over 100 us" */
    int order;         /* of the group in its table */
    bool is_sum;       /* over kinds: its samples stand under their own kind as well */
};

/* Whether kind, dtype and size are the same. */
bool error_group_is(const struct error_group *a, const struct error_group *b);

struct error_sample {
    struct error_group group;
    enum split_part part;
    double measured_s; /* above 0 */
    double predicted_s;
    double relative_sigma; /* what the prediction says of itself */
    const char *shape;     /* of the row, for the reader */
};

struct error_row {
    struct error_group group;
    enum split_part part;
    size_t count;
    double mape_fraction, bias_fraction, p90_fraction, worst_fraction;
    double within_two_sigma_fraction; /* rows whose error is at most twice their sigma */
    bool has_sigma;                   /* of one of its samples, at least */
    struct error_sample worst;
};

struct error_table {
    struct error_row *rows;
    size_t count, capacity;
};

/* A row for each group and part that has samples, groups by their order and, within one order,
 * by first appearance; held-out before fit. */
struct error_table error_table_new(const struct error_sample *samples, size_t count,
                                   struct arena *arena);

/* Columns for people; `title` stands above. */
void error_table_print(const struct error_table *table, const char *title, struct text *out);

/* The held-out rows over all sizes, without their worst shapes; nothing when there are none. */
void error_table_print_summary(const struct error_table *table, const char *title,
                               struct text *out);

/* An array of objects, fractions and seconds. */
void error_table_write(const struct error_table *table, struct json_writer *writer);

#endif
