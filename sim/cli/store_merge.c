/* A store into another one: SQLite attaches it and copies. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <sqlite3.h>

#include "sim/cli/store.h"
#include "sim/cli/store_file.h"

bool
store_is_one(const char *path)
{
    static const char magic[] = "SQLite format 3"; /* with the 0 behind it */
    char begin[sizeof magic] = "";
    FILE *file = fopen(path, "rb");
    bool is_one = file && fread(begin, 1, sizeof begin, file) == sizeof begin &&
                  memcmp(begin, magic, sizeof begin) == 0;
    if (file)
        fclose(file);
    return is_one;
}

/* Rows that both have must say the same numbers: a reason names files, which may lie elsewhere. */
static bool
check_equal(const struct store_file *file, const struct store_columns *columns,
            const char *path, struct error_list *errors)
{
    int64_t count = 0;
    struct text sql = text_new(file->arena);
    text_format(&sql, "SELECT count(*) FROM other.points AS o JOIN main.points AS p "
                      "USING (inputs, version) WHERE 0");
    for (size_t i = 0; i < columns->count; i++)
        if (!store_columns_have(&STORE_LABELS, columns->names[i]))
            text_format(&sql, " OR o.\"%s\" IS NOT p.\"%s\"", columns->names[i],
                        columns->names[i]);
    if (!store_file_number(file, sql.bytes, &count, errors))
        return false;
    return count == 0 ||
           error_add(errors, ERROR_INPUT, path,
                     "%lld of its points have other numbers than %.120s of the same inputs and "
                     "version",
                     (long long)count, file->path);
}

static bool
copy_rows(const struct store_file *file, const char *path, struct error_list *errors)
{
    struct store_columns columns = {0};
    struct text sql = text_new(file->arena), names = text_new(file->arena);
    if (!store_file_columns(file, "other", &columns, errors) ||
        !store_file_add_columns(file, &columns, errors) ||
        !check_equal(file, &columns, path, errors))
        return false;
    for (size_t i = 0; i < columns.count; i++)
        text_format(&names, "%s\"%s\"", i > 0 ? ", " : "", columns.names[i]);
    text_format(
        &sql,
        "INSERT OR IGNORE INTO main.points (%s) SELECT %s FROM other.points ORDER BY rowid",
        names.bytes, names.bytes);
    return store_file_execute(file, sql.bytes, errors);
}

/* Opened by itself first, so that what is no store is refused as everywhere. */
static bool
check_store(const struct store_file *file, const char *path, struct error_list *errors)
{
    struct store_file other = {.path = path, .wait_s = file->wait_s, .arena = file->arena};
    if (!store_file_open(&other, true, errors))
        return false;
    store_file_close(&other);
    return true;
}

bool
store_merge(struct store *store, const char *path, struct error_list *errors)
{
    const struct store_file *file = store_file_of(store);
    struct sqlite3_stmt *attach = NULL;
    if (!check_store(file, path, errors))
        return false;
    attach = store_file_prepare(file, "ATTACH ? AS other", errors);
    if (!attach)
        return false;
    (void)sqlite3_bind_text(attach, 1, path, -1, SQLITE_STATIC);
    bool is_attached = sqlite3_step(attach) == SQLITE_DONE || store_file_fail(file, errors);
    (void)sqlite3_finalize(attach);
    if (!is_attached)
        return false;
    bool is_right = store_file_begin(file, errors) &&
                    store_file_end(file, copy_rows(file, path, errors), errors);
    (void)sqlite3_exec(file->database, "DETACH other", NULL, NULL, NULL);
    return is_right;
}
