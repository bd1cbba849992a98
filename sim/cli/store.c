/* Results in SQLite: rows in and out. */
#include "sim/cli/store.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <sqlite3.h>

#include "sim/cli/store_file.h"
#include "sim/cli/version.h"
#include "validate/measure_times.h"

static const double WAIT_S = 10;

static const double FLUSH_S = 0.5; /* what a program that is killed loses at most */

struct held_row {
    struct store_label label;
    struct sweep_row row;
};

struct store {
    struct store_file file;
    sqlite3_stmt **finds; /* one a thread */
    int threads;
    sqlite3_stmt *put;
    struct measure_clock clock;
    bool has_failed;  /* and has said why: nothing more is written */
    double flushed_s; /* when */
    struct arena *held_arena;
    struct held_row *held;
    size_t held_count, held_room;
};

/* ", "step_s", "low_s", ..."; a "?" for each instead. */
static void
append_quantities(struct text *sql, bool is_value)
{
    for (int i = 0; i < SWEEP_QUANTITY_COUNT; i++)
        if (is_value)
            text_format(sql, ", ?");
        else
            text_format(sql, ", \"%s\"", sweep_quantity_key((enum sweep_quantity)i));
}

static bool
prepare_put(struct store *store, struct error_list *errors)
{
    struct text sql = text_new(store->file.arena);
    text_format(&sql, "INSERT OR REPLACE INTO points (inputs, version, run, settings, reason");
    append_quantities(&sql, false);
    text_format(&sql, ") VALUES (?, ?, ?, ?, ?");
    append_quantities(&sql, true);
    text_format(&sql, ")");
    store->put = store_file_prepare(&store->file, sql.bytes, errors);
    return store->put != NULL;
}

static bool
prepare_finds(struct store *store, struct error_list *errors)
{
    struct text sql = text_new(store->file.arena);
    text_format(&sql, "SELECT reason");
    append_quantities(&sql, false);
    text_format(&sql, " FROM points WHERE inputs = ? AND version = ?");
    store->finds = arena_alloc(store->file.arena, (size_t)store->threads, sizeof(void *));
    for (int i = 0; i < store->threads; i++) {
        store->finds[i] = store_file_prepare(&store->file, sql.bytes, errors);
        if (!store->finds[i])
            return false;
    }
    return true;
}

struct store *
store_open(const struct store_request *request, struct arena *arena, struct error_list *errors)
{
    struct store *store = arena_alloc(arena, 1, sizeof *store);
    *store = (struct store){.file = {.path = request->path,
                                     .wait_s = request->wait_s > 0 ? request->wait_s : WAIT_S,
                                     .arena = arena},
                            .threads = request->threads,
                            .clock = measure_system_clock(),
                            .held_arena = arena_new_beside(arena)};
    store->flushed_s = store->clock.now_s(store->clock.context);
    if (store_file_open(&store->file, false, errors) && prepare_put(store, errors) &&
        prepare_finds(store, errors))
        return store;
    store_close(store);
    return NULL;
}

static void
bind_text(sqlite3_stmt *statement, int place, const char *text)
{
    (void)sqlite3_bind_text(statement, place, text, -1, SQLITE_STATIC);
}

static double
read_number(sqlite3_stmt *statement, int column)
{
    return sqlite3_column_type(statement, column) == SQLITE_NULL
               ? (double)NAN
               : sqlite3_column_double(statement, column);
}

bool
store_find(struct store *store, int thread, const char *inputs, struct sweep_row *row)
{
    sqlite3_stmt *find = store->finds[thread];
    bind_text(find, 1, inputs);
    bind_text(find, 2, program_version);
    bool is_found = sqlite3_step(find) == SQLITE_ROW &&
                    sqlite3_column_type(find, 1 + SWEEP_STEP_S) != SQLITE_NULL;
    for (int i = 0; i < SWEEP_QUANTITY_COUNT && is_found; i++)
        row->values[i] = read_number(find, 1 + i);
    if (is_found) {
        const char *reason = (const char *)sqlite3_column_text(find, 0);
        (void)snprintf(row->reason, sizeof row->reason, "%s", reason ? reason : "");
        row->status = SWEEP_DONE;
    }
    (void)sqlite3_reset(find);
    return is_found;
}

static bool
write_row(struct store *store, const struct held_row *held, struct error_list *errors)
{
    sqlite3_stmt *put = store->put;
    const struct sweep_row *row = &held->row;
    bind_text(put, 1, held->label.inputs);
    bind_text(put, 2, program_version);
    bind_text(put, 3, held->label.run);
    bind_text(put, 4, held->label.settings);
    bind_text(put, 5, *row->reason ? row->reason : NULL);
    for (int i = 0; i < SWEEP_QUANTITY_COUNT; i++)
        if (row->status == SWEEP_DONE && !isnan(row->values[i]))
            (void)sqlite3_bind_double(put, 6 + i, row->values[i]);
        else
            (void)sqlite3_bind_null(put, 6 + i);
    bool is_written = sqlite3_step(put) == SQLITE_DONE || store_file_fail(&store->file, errors);
    (void)sqlite3_reset(put);
    return is_written;
}

bool
store_flush(struct store *store, struct error_list *errors)
{
    store->flushed_s = store->clock.now_s(store->clock.context);
    if (store->held_count == 0 || store->has_failed)
        return !store->has_failed;
    bool is_right = store_file_begin(&store->file, errors);
    if (is_right) {
        for (size_t i = 0; i < store->held_count && is_right; i++)
            is_right = write_row(store, &store->held[i], errors);
        is_right = store_file_end(&store->file, is_right, errors);
    }
    struct arena *fresh = arena_new_beside(store->held_arena);
    arena_free(store->held_arena);
    store->held_arena = fresh;
    store->held = NULL;
    store->held_count = store->held_room = 0;
    store->has_failed = !is_right;
    return is_right;
}

bool
store_put(struct store *store, const struct store_label *label, const struct sweep_row *row,
          struct error_list *errors)
{
    struct arena *arena = store->held_arena;
    store->held = arena_grow(arena, store->held, store->held_count, &store->held_room,
                             sizeof *store->held);
    store->held[store->held_count++] =
        (struct held_row){.label = {arena_format(arena, "%s", label->inputs),
                                    arena_format(arena, "%s", label->run),
                                    arena_format(arena, "%s", label->settings)},
                          .row = *row};
    double now_s = store->clock.now_s(store->clock.context);
    return now_s - store->flushed_s < FLUSH_S || store_flush(store, errors);
}

void
store_close(struct store *store)
{
    for (int i = 0; store->finds && i < store->threads; i++)
        (void)sqlite3_finalize(store->finds[i]);
    (void)sqlite3_finalize(store->put);
    store_file_close(&store->file);
    arena_free(store->held_arena);
}

bool
store_count(struct store *store, int64_t *rows, struct error_list *errors)
{
    return store_file_number(&store->file, "SELECT count(*) FROM points", rows, errors);
}

const char *
store_list_others(struct store *store, struct error_list *errors)
{
    enum { LISTED = 3 };
    int64_t versions = 0;
    struct text list = text_new(store->file.arena);
    sqlite3_stmt *statement =
        store_file_prepare(&store->file,
                           "SELECT version, count(*) FROM points WHERE version <> ? GROUP BY "
                           "version ORDER BY 2 DESC, 1",
                           errors);
    if (!statement)
        return NULL;
    bind_text(statement, 1, program_version);
    for (; sqlite3_step(statement) == SQLITE_ROW; versions++)
        if (versions < LISTED)
            text_format(&list, "%s%lld of %s", versions > 0 ? ", " : "",
                        (long long)sqlite3_column_int64(statement, 1),
                        (const char *)sqlite3_column_text(statement, 0));
    if (versions > LISTED)
        text_format(&list, ", and of %lld more", (long long)(versions - LISTED));
    bool is_whole = sqlite3_finalize(statement) == SQLITE_OK;
    if (!is_whole)
        store_file_fail(&store->file, errors);
    return !is_whole ? NULL : list.bytes ? list.bytes : "";
}

const struct store_file *
store_file_of(const struct store *store)
{
    return &store->file;
}
