/* Error tables of an earlier day, as `stepcast validate --json` saved them: what has grown since.
 *
 * Held-out rows alone count, by the title of their table and their group; a fit may trade its own
 * rows for them. A row that is gone counts as grown: errors must not shrink by not being looked
 * at. */
#ifndef VALIDATE_BASELINE_H
#define VALIDATE_BASELINE_H

#include "sim/base/json.h"
#include "sim/base/json_writer.h"
#include "validate/error_table.h"

struct baseline_row {
    const char *title;
    struct error_group group;
    double mape_fraction;
};

/* Zero-initialised by its owner; lives in the arena of the document. */
struct baseline {
    struct baseline_row *rows;
    size_t count, capacity;
};

/* Adds the held-out rows of a saved answer. False after adding every fault. */
bool baseline_read(struct baseline *baseline, const struct json *object, struct arena *arena,
                   struct error_list *errors);

struct baseline_growth {
    const struct baseline_row *before;
    const struct error_row *now; /* NULL: the table has no such row any more */
};

struct baseline_growths {
    struct baseline_growth *items;
    size_t count, capacity;
    size_t compared_count; /* rows that were looked at, grown or not */
};

/* Adds what has grown in the table of that title by more than `allowed_fraction` of MAPE. */
void baseline_compare(const struct baseline *baseline, const char *title,
                      const struct error_table *table, double allowed_fraction,
                      struct baseline_growths *growths, struct arena *arena);

/* A line for each that has grown, and one that counts them. */
void baseline_print(const struct baseline_growths *growths, const char *name, struct text *out);

/* An array of objects; "mape_fraction" is left out of rows that are gone. */
void baseline_write(const struct baseline_growths *growths, struct json_writer *writer);

#endif
