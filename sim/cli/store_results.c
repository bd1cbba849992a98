/* Results of a store: rows of one version, of each run and settings the latest. */
#include <string.h>

#include <sqlite3.h>

#include "sim/base/json.h"
#include "sim/cli/results.h"
#include "sim/cli/store_file.h"

enum { WAIT_S = 10 };

static const char *
text_at(sqlite3_stmt *statement, int column)
{
    const char *text = (const char *)sqlite3_column_text(statement, column);
    return text ? text : "";
}

/* ["a=1", "b=2"] */
static void
set_apart(struct results *results, const char *settings, struct arena *arena)
{
    struct error_list errors = {0};
    const struct json *list = json_read_text(arena, "", 1, settings, strlen(settings), &errors);
    for (size_t i = 0; list && i < json_count(list); i++)
        if (json_kind(json_element(list, i)) == JSON_KIND_STRING)
            results_set_apart(results, json_as_string(json_element(list, i)), arena);
}

static void
take_row(struct results *results, sqlite3_stmt *rows, struct arena *arena)
{
    struct result *result = results_add(results, arena);
    result->run = arena_format(arena, "%s", text_at(rows, 0));
    result->label = arena_format(arena, "%s:", result->run);
    result->reason = arena_format(arena, "%s", text_at(rows, 2));
    set_apart(results, text_at(rows, 1), arena);
    for (int i = 3; i < sqlite3_column_count(rows); i++)
        if (sqlite3_column_type(rows, i) != SQLITE_NULL)
            results_set(results, results->count - 1,
                        &(struct result_number){sqlite3_column_name(rows, i),
                                                sqlite3_column_double(rows, i)},
                        arena);
}

static bool
read_rows(const struct store_file *file, const char *version, struct results *results,
          struct error_list *errors)
{
    struct store_columns columns = {0};
    struct text sql = text_new(file->arena);
    if (!store_file_columns(file, "main", &columns, errors))
        return false;
    text_format(&sql, "SELECT run, settings, reason");
    for (size_t i = 0; i < columns.count; i++)
        if (!store_columns_have(&STORE_LABELS, columns.names[i]))
            text_format(&sql, ", \"%s\"", columns.names[i]);
    text_format(&sql, " FROM points WHERE rowid IN (SELECT max(rowid) FROM points "
                      "WHERE version = ?1 GROUP BY run, settings) ORDER BY rowid");
    sqlite3_stmt *rows = store_file_prepare(file, sql.bytes, errors);
    if (!rows)
        return false;
    (void)sqlite3_bind_text(rows, 1, version, -1, SQLITE_STATIC);
    int code = sqlite3_step(rows);
    for (; code == SQLITE_ROW; code = sqlite3_step(rows))
        take_row(results, rows, file->arena);
    bool is_read = code == SQLITE_DONE || store_file_fail(file, errors);
    (void)sqlite3_finalize(rows);
    return is_read;
}

/* The version that begins so, of several the one that was put last. */
static const char *
find_version(const struct store_file *file, const char *begin, struct error_list *errors)
{
    const char *version = NULL;
    struct text known = text_new(file->arena);
    sqlite3_stmt *versions = store_file_prepare(
        file, "SELECT version FROM points GROUP BY version ORDER BY max(rowid) DESC", errors);
    while (versions && sqlite3_step(versions) == SQLITE_ROW) {
        const char *own = text_at(versions, 0);
        text_format(&known, "%s%s", known.length > 0 ? ", " : "", own);
        if (!version && (!begin || strncmp(own, begin, strlen(begin)) == 0))
            version = arena_format(file->arena, "%s", own);
    }
    (void)sqlite3_finalize(versions);
    if (versions && !version)
        error_add(errors, ERROR_INPUT, file->path, "has no points%s%.60s; it has %.120s",
                  begin ? " of version " : "", begin ? begin : "",
                  known.length > 0 ? known.bytes : "none");
    return version;
}

bool
results_read_store(struct results *results, const char *path, const char *version,
                   struct arena *arena, struct error_list *errors)
{
    struct store_file file = {.path = path, .wait_s = WAIT_S, .arena = arena};
    if (!store_file_open(&file, true, errors))
        return false;
    const char *own = find_version(&file, version, errors);
    bool is_read = own && read_rows(&file, own, results, errors);
    store_file_close(&file);
    return is_read;
}
