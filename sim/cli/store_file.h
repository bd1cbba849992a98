/* An SQLite file of results: opened, laid out, its faults in our words. For store*.c only; others
 * see sim/cli/store.h. */
#ifndef SIM_CLI_STORE_FILE_H
#define SIM_CLI_STORE_FILE_H

#include <stdint.h>

#include "sim/base/text.h"

struct sqlite3;
struct sqlite3_stmt;

struct store_file {
    const char *path;
    struct sqlite3 *database;
    double wait_s; /* for another program */
    struct arena *arena;
};

/* Makes an empty file, or none, a store of no rows; each false or NULL after adding the fault. Read
 * only, it must be there and stays as it is. */
bool store_file_open(struct store_file *file, bool is_read, struct error_list *errors);
void store_file_close(struct store_file *file);

/* The last fault of SQLite. Always false. */
bool store_file_fail(const struct store_file *file, struct error_list *errors);

bool store_file_execute(const struct store_file *file, const char *sql,
                        struct error_list *errors);
struct sqlite3_stmt *store_file_prepare(const struct store_file *file, const char *sql,
                                        struct error_list *errors);
/* The whole number that a statement answers. */
bool store_file_number(const struct store_file *file, const char *sql, int64_t *number,
                       struct error_list *errors);

/* Changes that belong together: all of them or, unless all are right, none. */
bool store_file_begin(const struct store_file *file, struct error_list *errors);
bool store_file_end(const struct store_file *file, bool is_right, struct error_list *errors);

/* Columns of the table of points of a schema: "main" or an attached one. */
struct store_columns {
    const char *const *names;
    size_t count;
};
bool store_file_columns(const struct store_file *file, const char *schema,
                        struct store_columns *columns, struct error_list *errors);
/* Those that are no numbers. */
extern const struct store_columns STORE_LABELS;
bool store_columns_have(const struct store_columns *columns, const char *name);
/* Adds those that the table lacks, as numbers; rows so far say NULL. */
bool store_file_add_columns(const struct store_file *file, const struct store_columns *wanted,
                            struct error_list *errors);

/* The file behind a store. */
struct store;
const struct store_file *store_file_of(const struct store *store);

#endif
