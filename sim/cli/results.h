/* Results that were written before, whatever wrote them: points and their numbers. */
#ifndef SIM_CLI_RESULTS_H
#define SIM_CLI_RESULTS_H

#include "sim/base/arena.h"
#include "sim/base/error.h"

struct result {
    const char *label;     /* what sets the point apart: "plan.tensor=2 plan.zero_stage=1" */
    const char *run;       /* of a store, the run that was set so; "" of others */
    const char **settings; /* "plan.tensor=2" each, of one field the last */
    size_t setting_count;
    const char *key;    /* of one point the same in both: results_align */
    const char *reason; /* why it has no numbers; "" of one that has */
    double *values;     /* of the first columns; NaN where there is none */
    size_t value_count;
    size_t order; /* in the file */
};

struct results {
    const char *path;
    const char **columns;
    size_t column_count, column_room;
    struct result *items;
    size_t count, room;
};

/* A store (or one version of it, "FILE@VERSION", of which the first letters will do), CSV of a
 * sweep or search, or JSON: lines, or one document. A store without version gives that which was
 * put last. False after adding why not. */
bool results_read(struct results *results, const char *path, struct arena *arena,
                  struct error_list *errors);

/* Sorts both by keys, so that equal points meet, equal ones of a file in its order. A store says of
 * each point its run and all that was set; of others what all points of a side have set, and no
 * point of the other, is no part of the key, nor is the run. False after adding that points of
 * several runs of a store would be the same. */
bool results_align(struct results *a, struct results *b, struct arena *arena,
                   struct error_list *errors);

/* For the readers: a new result, a setting of it, a number of it. */
struct result *results_add(struct results *results, struct arena *arena);
void results_set_apart(struct results *results, const char *setting, struct arena *arena);
struct result_number {
    const char *column;
    double value;
};
void results_set(struct results *results, size_t index, const struct result_number *number,
                 struct arena *arena);

/* The result's number in a column of a name; NaN where there is none. */
double results_value(const struct results *results, const struct result *result,
                     const char *column);

/* Of a store; NULL: the version that was put last. */
bool results_read_store(struct results *results, const char *path, const char *version,
                        struct arena *arena, struct error_list *errors);

#endif
