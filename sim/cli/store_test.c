/* Do results come back bit by bit, and does every way in which a store can fail say so? */
#include "sim/cli/store.h"

#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <unistd.h>

#include <check.h>
#include <sqlite3.h>

#include "sim/base/check_arena.h"

Suite *store_suite(void);

static struct arena *arena;
static struct error_list errors;
static char path[64];

static void
setup(void)
{
    arena = check_arena_new();
    errors = (struct error_list){0};
    snprintf(path, sizeof path, "/tmp/store_test_XXXXXX");
    int file = mkstemp(path); /* an empty file is as good as none */
    ck_assert_int_ge(file, 0);
    close(file);
}

static void
teardown(void)
{
    unlink(path);
    unlink(arena_format(arena, "%s-journal", path));
    arena_free(arena);
}

static struct store *
open_store(void)
{
    return store_open(&(struct store_request){.path = path, .threads = 2, .wait_s = 0.02},
                      arena, &errors);
}

/* Values that a text would not carry: a third, the least double, none. */
static struct sweep_row
odd_row(void)
{
    struct sweep_row row = {.status = SWEEP_DONE};
    for (int i = 0; i < SWEEP_QUANTITY_COUNT; i++)
        row.values[i] = 1.0 / (3 + i);
    row.values[SWEEP_LOW_S] = 5e-324;
    row.values[SWEEP_PREFILL_S] = (double)NAN;
    snprintf(row.reason, sizeof row.reason, "inference, 'quoted'");
    return row;
}

static const struct store_label LABEL = {"ab12", "a run", "[\"plan.tensor=2\"]"};

static void
execute(const char *sql)
{
    sqlite3 *database = NULL;
    ck_assert_int_eq(sqlite3_open(path, &database), SQLITE_OK);
    ck_assert_int_eq(sqlite3_exec(database, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(database);
}

static void
check_refused(const char *words, enum error_kind kind)
{
    ck_assert_ptr_null(open_store());
    ck_assert_int_eq(errors.count, 1);
    ck_assert_str_eq(errors.items[0].where, path);
    ck_assert_ptr_nonnull(strstr(errors.items[0].what, words));
    ck_assert_int_eq(errors.items[0].kind, kind);
}

START_TEST(a_row_comes_back_bit_by_bit_from_another_opening)
{
    struct sweep_row in = odd_row(), out = {0};
    struct store *store = open_store();
    ck_assert(store_put(store, &LABEL, &in, &errors) && store_flush(store, &errors));
    store_close(store);
    store = open_store();
    ck_assert(store_find(store, 1, "ab12", &out));
    ck_assert(!store_find(store, 0, "ab13", &out));
    store_close(store);
    for (int i = 0; i < SWEEP_QUANTITY_COUNT; i++)
        if (i == SWEEP_PREFILL_S)
            ck_assert(isnan(out.values[i]));
        else
            ck_assert(in.values[i] >= out.values[i] && in.values[i] <= out.values[i]);
    ck_assert_str_eq(out.reason, in.reason);
    ck_assert_int_eq(out.status, SWEEP_DONE);
}
END_TEST

START_TEST(what_was_put_is_written_after_half_a_second_or_when_asked)
{
    struct sweep_row in = odd_row(), out = {0};
    struct store *first = open_store(), *second = open_store();
    ck_assert(store_put(first, &LABEL, &in, &errors));
    ck_assert(!store_find(second, 0, "ab12", &out));
    ck_assert(store_flush(first, &errors));
    ck_assert(store_find(second, 0, "ab12", &out));
    select(0, NULL, NULL, NULL, &(struct timeval){.tv_usec = 600000});
    ck_assert(store_put(first, &(struct store_label){"cd34", "", "[]"}, &in, &errors));
    ck_assert(store_find(second, 0, "cd34", &out));
    store_close(first);
    store_close(second);
}
END_TEST

START_TEST(rows_of_another_version_and_refusals_are_not_found)
{
    struct sweep_row row = odd_row();
    struct store *store = open_store();
    ck_assert(store_put(store, &LABEL, &row, &errors));
    row.status = SWEEP_INFEASIBLE;
    ck_assert(store_put(store, &(struct store_label){"ef56", "", "[]"}, &row, &errors));
    ck_assert(store_flush(store, &errors));
    ck_assert(store_find(store, 0, "ab12", &row));
    ck_assert(!store_find(store, 0, "ef56", &row));
    execute("UPDATE points SET version = '0.0.1+0'");
    ck_assert(!store_find(store, 0, "ab12", &row));
    store_close(store);
}
END_TEST

START_TEST(rows_of_other_versions_are_listed_the_most_first)
{
    static const char *const versions[] = {"0.1", "0.2", "0.2", "0.3", "0.4", "0.5"};
    struct sweep_row row = odd_row();
    struct store *store = open_store();
    ck_assert(store_put(store, &LABEL, &row, &errors) && store_flush(store, &errors));
    ck_assert_str_eq(store_list_others(store, &errors), "");
    for (size_t i = 0; i < sizeof versions / sizeof *versions; i++) {
        execute(arena_format(arena,
                             "INSERT INTO points (inputs, version, run, settings) VALUES "
                             "('%zu', '%s', '', '[]')",
                             i, versions[i]));
        if (i == 2)
            ck_assert_str_eq(store_list_others(store, &errors), "2 of 0.2, 1 of 0.1");
    }
    ck_assert_str_eq(store_list_others(store, &errors),
                     "2 of 0.2, 1 of 0.1, 1 of 0.3, and of 2 more");
    execute("DROP TABLE points");
    ck_assert_ptr_null(store_list_others(store, &errors));
    ck_assert_int_eq(errors.count, 1);
    store_close(store);
}
END_TEST

START_TEST(a_store_that_lacks_columns_gets_them)
{
    struct sweep_row in = odd_row(), out = {0};
    execute("CREATE TABLE points (inputs TEXT, version TEXT, run TEXT, settings TEXT, reason "
            "TEXT, step_s REAL, UNIQUE (inputs, version)); "
            "PRAGMA application_id = 0x73747063; PRAGMA user_version = 1");
    struct store *store = open_store();
    ck_assert_ptr_nonnull(store);
    ck_assert(store_put(store, &LABEL, &in, &errors) && store_flush(store, &errors));
    ck_assert(store_find(store, 0, "ab12", &out));
    store_close(store);
}
END_TEST

START_TEST(what_is_no_store_is_left_as_it_is)
{
    execute("CREATE TABLE points (a)");
    check_refused("another program's database", ERROR_INPUT);
    errors = (struct error_list){0};
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fputs("point,step_s\n", file);
    fclose(file);
    check_refused("is no store of results: file is not a database", ERROR_INPUT);
}
END_TEST

START_TEST(a_store_of_another_layout_is_refused)
{
    store_close(open_store());
    execute("PRAGMA user_version = 2");
    check_refused("was made by another version of stepcast: its layout is 2", ERROR_INPUT);
}
END_TEST

START_TEST(a_folder_that_is_not_there_is_an_io_fault)
{
    struct store_request request = {.path = "/nonexistent/a.db", .threads = 1};
    ck_assert_ptr_null(store_open(&request, arena, &errors));
    ck_assert_str_eq(errors.items[0].what, "cannot be opened: No such file or directory");
    ck_assert_int_eq(errors.items[0].kind, ERROR_IO);
}
END_TEST

START_TEST(a_store_that_another_program_holds_is_waited_for_and_then_an_io_fault)
{
    struct sweep_row row = odd_row();
    sqlite3 *other = NULL;
    struct store *store = open_store();
    ck_assert_int_eq(sqlite3_open(path, &other), SQLITE_OK);
    ck_assert_int_eq(sqlite3_exec(other, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    ck_assert(store_put(store, &LABEL, &row, &errors));
    ck_assert(!store_flush(store, &errors));
    ck_assert_str_eq(errors.items[0].what,
                     "is held by another program, for more than 0.02 s by now");
    ck_assert_int_eq(errors.items[0].kind, ERROR_IO);
    sqlite3_close(other);
    ck_assert(store_put(store, &LABEL, &row, &errors));
    ck_assert(!store_flush(store, &errors));
    ck_assert_int_eq(errors.count, 1); /* it is said once */
    store_close(store);
}
END_TEST

/* The file may not grow past 64 KiB: some hundred rows. */
START_TEST(a_disk_that_fills_up_keeps_what_was_written_before)
{
    struct sweep_row row = odd_row();
    struct store *store = open_store();
    struct rlimit small = {65536, RLIM_INFINITY}, before;
    int kept = 0;
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before);
    setrlimit(RLIMIT_FSIZE, &small);
    for (;; kept++) {
        struct store_label label = {arena_format(arena, "%d", kept), "", "[]"};
        if (!store_put(store, &label, &row, &errors) || !store_flush(store, &errors))
            break;
        ck_assert_int_lt(kept, 1000);
    }
    setrlimit(RLIMIT_FSIZE, &before);
    store_close(store);
    ck_assert_int_eq(errors.items[0].kind, ERROR_IO);
    ck_assert_ptr_nonnull(strstr(errors.items[0].what, "cannot be read or written: "));
    store = open_store();
    ck_assert(store_find(store, 0, arena_format(arena, "%d", kept - 1), &row));
    ck_assert(!store_find(store, 0, arena_format(arena, "%d", kept), &row));
    store_close(store);
}
END_TEST

Suite *
store_suite(void)
{
    Suite *suite = suite_create("store");
    TCase *facts = tcase_create("facts");
    tcase_add_checked_fixture(facts, setup, teardown);
    tcase_add_test(facts, a_row_comes_back_bit_by_bit_from_another_opening);
    tcase_add_test(facts, what_was_put_is_written_after_half_a_second_or_when_asked);
    tcase_add_test(facts, rows_of_another_version_and_refusals_are_not_found);
    tcase_add_test(facts, rows_of_other_versions_are_listed_the_most_first);
    tcase_add_test(facts, a_store_that_lacks_columns_gets_them);
    tcase_add_test(facts, what_is_no_store_is_left_as_it_is);
    tcase_add_test(facts, a_store_of_another_layout_is_refused);
    tcase_add_test(facts, a_folder_that_is_not_there_is_an_io_fault);
    tcase_add_test(facts,
                   a_store_that_another_program_holds_is_waited_for_and_then_an_io_fault);
    tcase_add_test(facts, a_disk_that_fills_up_keeps_what_was_written_before);
    suite_add_tcase(suite, facts);
    return suite;
}
