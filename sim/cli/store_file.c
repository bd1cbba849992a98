/* An SQLite file of results: its layout, and its faults in our words. */
#include "sim/cli/store_file.h"

#include <string.h>

#include <sqlite3.h>

#include "sim/cli/sweep_point.h"

/* "stpc" as the file's application, by which file(1) and we tell it from other databases; the
 * layout changes when a program that knows only the old one could not use the file. */
enum { APPLICATION = 0x73747063, LAYOUT = 1 };

static const char *const CREATE_TABLE =
    "CREATE TABLE points ("
    "inputs TEXT NOT NULL, " /* SHA-256 of the contents of all files, with their settings */
    "version TEXT NOT NULL, "
    "run TEXT NOT NULL, "
    "settings TEXT NOT NULL, " /* JSON list */
    "reason TEXT, "            /* why there is no step */
    "UNIQUE (inputs, version))";

static const char *const LABELS[] = {"inputs", "version", "run", "settings", "reason"};
const struct store_columns STORE_LABELS = {LABELS, sizeof LABELS / sizeof *LABELS};

bool
store_file_fail(const struct store_file *file, struct error_list *errors)
{
    sqlite3 *database = file->database;
    int system_error = sqlite3_system_errno(database);
    const char *words = sqlite3_errmsg(database);
    switch (sqlite3_errcode(database) & 0xFF) {
    case SQLITE_NOTADB:
        return error_add(errors, ERROR_INPUT, file->path, "is no store of results: %s", words);
    case SQLITE_CORRUPT:
        return error_add(errors, ERROR_INPUT, file->path, "is damaged: %s", words);
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return error_add(errors, ERROR_IO, file->path,
                         "is held by another program, for more than %g s by now", file->wait_s);
    case SQLITE_CANTOPEN:
        return error_add(errors, ERROR_IO, file->path, "cannot be opened: %s",
                         system_error ? strerror(system_error) : words);
    case SQLITE_IOERR:
        return error_add(errors, ERROR_IO, file->path, "cannot be read or written: %s",
                         system_error ? strerror(system_error) : words);
    default: /* a full disk, a file that is protected, and what no disk should do */
        return error_add(errors, ERROR_IO, file->path, "cannot be written: %s", words);
    }
}

bool
store_file_execute(const struct store_file *file, const char *sql, struct error_list *errors)
{
    return sqlite3_exec(file->database, sql, NULL, NULL, NULL) == SQLITE_OK ||
           store_file_fail(file, errors);
}

struct sqlite3_stmt *
store_file_prepare(const struct store_file *file, const char *sql, struct error_list *errors)
{
    sqlite3_stmt *statement = NULL;
    if (sqlite3_prepare_v2(file->database, sql, -1, &statement, NULL) != SQLITE_OK)
        store_file_fail(file, errors);
    return statement;
}

bool
store_file_number(const struct store_file *file, const char *sql, int64_t *number,
                  struct error_list *errors)
{
    sqlite3_stmt *statement = store_file_prepare(file, sql, errors);
    bool is_answered = statement && sqlite3_step(statement) == SQLITE_ROW;
    if (is_answered)
        *number = sqlite3_column_int64(statement, 0);
    else if (statement)
        store_file_fail(file, errors);
    (void)sqlite3_finalize(statement);
    return is_answered;
}

bool
store_file_begin(const struct store_file *file, struct error_list *errors)
{
    return store_file_execute(file, "BEGIN IMMEDIATE", errors);
}

bool
store_file_end(const struct store_file *file, bool is_right, struct error_list *errors)
{
    if (is_right && store_file_execute(file, "COMMIT", errors))
        return true;
    (void)sqlite3_exec(file->database, "ROLLBACK", NULL, NULL, NULL);
    return false;
}

bool
store_file_columns(const struct store_file *file, const char *schema,
                   struct store_columns *columns, struct error_list *errors)
{
    const char **names = NULL;
    size_t count = 0, room = 0;
    const char *sql = arena_format(file->arena, "PRAGMA %s.table_info(points)", schema);
    sqlite3_stmt *statement = store_file_prepare(file, sql, errors);
    if (!statement)
        return false;
    while (sqlite3_step(statement) == SQLITE_ROW) {
        names = arena_grow(file->arena, names, count, &room, sizeof *names);
        names[count++] =
            arena_format(file->arena, "%s", (const char *)sqlite3_column_text(statement, 1));
    }
    *columns = (struct store_columns){names, count};
    return sqlite3_finalize(statement) == SQLITE_OK || store_file_fail(file, errors);
}

bool
store_columns_have(const struct store_columns *columns, const char *name)
{
    size_t i = 0;
    while (i < columns->count && strcmp(columns->names[i], name) != 0)
        i++;
    return i < columns->count;
}

bool
store_file_add_columns(const struct store_file *file, const struct store_columns *wanted,
                       struct error_list *errors)
{
    struct store_columns here = {0};
    bool is_right = store_file_columns(file, "main", &here, errors);
    for (size_t i = 0; i < wanted->count && is_right; i++)
        if (!store_columns_have(&here, wanted->names[i]))
            is_right = store_file_execute(
                file,
                arena_format(file->arena, "ALTER TABLE points ADD COLUMN \"%s\" REAL",
                             wanted->names[i]),
                errors);
    return is_right;
}

/* Whether the file is a store, or nothing yet: then *is_empty. */
static bool
check_layout(const struct store_file *file, bool *is_empty, struct error_list *errors)
{
    int64_t application = 0, layout = 0, tables = 0;
    if (!store_file_number(file, "PRAGMA application_id", &application, errors) ||
        !store_file_number(file, "PRAGMA user_version", &layout, errors) ||
        !store_file_number(file, "SELECT count(*) FROM sqlite_schema", &tables, errors))
        return false;
    *is_empty = application == 0 && layout == 0 && tables == 0;
    if (application != APPLICATION && !*is_empty)
        return error_add(errors, ERROR_INPUT, file->path,
                         "is no store of results: it is another program's database");
    if (!*is_empty && layout != LAYOUT)
        return error_add(errors, ERROR_INPUT, file->path,
                         "was made by another version of stepcast: its layout is %lld, this "
                         "one's is %d",
                         (long long)layout, LAYOUT);
    return true;
}

static bool
make_layout(const struct store_file *file, struct error_list *errors)
{
    bool is_empty = false;
    const char *names[SWEEP_QUANTITY_COUNT];
    for (int i = 0; i < SWEEP_QUANTITY_COUNT; i++)
        names[i] = sweep_quantity_key((enum sweep_quantity)i);
    if (!check_layout(file, &is_empty, errors))
        return false;
    const char *sql =
        arena_format(file->arena, "%s; PRAGMA application_id = %d; PRAGMA user_version = %d",
                     CREATE_TABLE, APPLICATION, LAYOUT);
    return (!is_empty || store_file_execute(file, sql, errors)) &&
           store_file_add_columns(file, &(struct store_columns){names, SWEEP_QUANTITY_COUNT},
                                  errors);
}

/* Whether there is nothing to lay out. */
static bool
is_laid_out(const struct store_file *file, bool *is_right, struct error_list *errors)
{
    bool is_empty = false;
    struct store_columns columns = {0};
    *is_right = check_layout(file, &is_empty, errors) &&
                (is_empty || store_file_columns(file, "main", &columns, errors));
    bool is_whole = *is_right && !is_empty;
    for (int i = 0; i < SWEEP_QUANTITY_COUNT && is_whole; i++)
        is_whole = store_columns_have(&columns, sweep_quantity_key((enum sweep_quantity)i));
    return is_whole;
}

static bool
lay_out(const struct store_file *file, bool is_read, struct error_list *errors)
{
    bool is_right = false;
    if (is_laid_out(file, &is_right, errors) || !is_right || is_read)
        return is_right;
    return store_file_begin(file, errors) &&
           store_file_end(file, make_layout(file, errors), errors);
}

bool
store_file_open(struct store_file *file, bool is_read, struct error_list *errors)
{
    int flags = is_read ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
    int code =
        sqlite3_open_v2(file->path, &file->database, flags | SQLITE_OPEN_FULLMUTEX, NULL);
    if (!file->database)
        return error_add(errors, ERROR_IO, file->path, "cannot be opened: no memory");
    (void)sqlite3_busy_timeout(file->database, (int)(1e3 * file->wait_s));
    bool is_open =
        code == SQLITE_OK ? lay_out(file, is_read, errors) : store_file_fail(file, errors);
    if (!is_open)
        store_file_close(file);
    return is_open;
}

void
store_file_close(struct store_file *file)
{
    (void)sqlite3_close_v2(file->database);
    file->database = NULL;
}
