/* Is a suite read with its defaults, its paths beside its file, and its faults named? */
#include "validate/suite.h"

#include <string.h>

#include "sim/base/check_arena.h"
#include "sim/base/check_near.h"

Suite *suite_suite(void);

static struct arena *arena;
static struct error_list errors;
static struct suite suite_read_into;

static void
setup(void)
{
    arena = check_arena_new();
    memset(&errors, 0, sizeof errors);
}

static void
teardown(void)
{
    arena_free(arena);
}

static bool
read_text(const char *text)
{
    const struct json *object =
        json_read_text(arena, "a/b/s.json", 1, text, strlen(text), &errors);
    return suite_read(&suite_read_into, object, arena, &errors);
}

START_TEST(paths_are_taken_beside_the_file)
{
    ck_assert(read_text("{\"tables\": [{\"title\": \"t\", \"device\": \"../d.json\","
                        "\"measured\": [\"m.jsonl\", \"/abs.jsonl\"]}]}"));
    const struct suite_table *table = &suite_read_into.tables[0];
    ck_assert_str_eq(table->device, "a/d.json");
    ck_assert_str_eq(table->cluster, "");
    ck_assert_uint_eq(table->list_count, 2);
    ck_assert_str_eq(table->lists[0], "a/b/m.jsonl");
    ck_assert_str_eq(table->lists[1], "/abs.jsonl");
}
END_TEST

START_TEST(what_was_measured_again_needs_no_device)
{
    ck_assert(read_text("{\"tables\": [{\"title\": \"t\", \"measured\": [\"m.jsonl\"],"
                        "\"measured_again\": [\"own.jsonl\"]}]}"));
    const struct suite_table *table = &suite_read_into.tables[0];
    ck_assert_uint_eq(table->again_count, 1);
    ck_assert_str_eq(table->again[0], "a/b/own.jsonl");
}
END_TEST

START_TEST(what_is_not_said_has_its_default)
{
    ck_assert(read_text("{\"tables\": [{\"title\": \"t\", \"cluster\": \"c.json\","
                        "\"measured\": [\"m\"], \"mape_fraction_max\": {\"gemm\": 0.1}}]}"));
    const struct suite_table *table = &suite_read_into.tables[0];
    CHECK_NEAR(table->small_s, 10e-6, 0);
    CHECK_NEAR(table->large_s, 100e-6, 0);
    ck_assert_int_eq(table->seed, 1);
    ck_assert(!table->forgets_clocks);
    ck_assert_uint_eq(table->tolerances.count, 1);
    ck_assert(read_text("{\"tables\": [{\"title\": \"t\", \"device\": \"d.json\","
                        "\"measured\": [\"m\"], \"forgets_clocks\": true}]}"));
    ck_assert(suite_read_into.tables[0].forgets_clocks);
}
END_TEST

START_TEST(pairs_may_stand_alone)
{
    ck_assert(read_text("{\"tables\": [{\"title\": \"t\", \"cluster\": \"c.json\","
                        "\"overlap\": [\"pairs.jsonl\"]}]}"));
    const struct suite_table *table = &suite_read_into.tables[0];
    ck_assert_uint_eq(table->list_count, 0);
    ck_assert_uint_eq(table->overlap_count, 1);
    ck_assert_str_eq(table->overlaps[0], "a/b/pairs.jsonl");
    ck_assert(!read_text("{\"tables\": [{\"title\": \"t\", \"cluster\": \"c.json\"}]}"));
}
END_TEST

/* Each text has one fault of its own. */
START_TEST(broken_suites_are_refused)
{
    const char *const texts[] = {
        "{}",
        "{\"tables\": []}",
        "{\"tables\": {}}",
        "{\"tables\": [{\"title\": \"t\", \"measured\": [\"m\"]}]}",
        "{\"tables\": [{\"title\": \"t\", \"device\": \"d\", \"measured\": []}]}",
        "{\"tables\": [{\"title\": \"t\", \"device\": \"d\", \"measured\": [3]}]}",
        "{\"tables\": [{\"title\": \"t\", \"device\": \"d\", \"measured\": \"m\"}]}",
        "{\"tables\": [{\"title\": \"t\", \"device\": \"d\", \"measured\": [\"m\"],"
        " \"small_s\": 1}]}",
        "{\"tables\": [{\"title\": \"t\", \"device\": \"d\", \"measured\": [\"m\"],"
        " \"mape_fraction_max\": 0.1}]}",
        "{\"tables\": [{\"title\": \"t\", \"device\": \"d\", \"measured\": [\"m\"],"
        " \"sead\": 1}]}",
        "{\"tables\": [{\"title\": \"t\", \"measured_again\": [\"n\"], \"measured\": [\"m\"],"
        " \"forgets_clocks\": true}]}",
    };
    const int count = sizeof texts / sizeof texts[0];
    for (int i = 0; i < count; i++) {
        ck_assert_msg(!read_text(texts[i]), "%s", texts[i]);
        ck_assert_int_eq(errors.count, i + 1);
    }
}
END_TEST

Suite *
suite_suite(void)
{
    Suite *suite = suite_create("suite");
    TCase *reading = tcase_create("reading");
    tcase_add_checked_fixture(reading, setup, teardown);
    tcase_add_test(reading, paths_are_taken_beside_the_file);
    tcase_add_test(reading, what_was_measured_again_needs_no_device);
    tcase_add_test(reading, what_is_not_said_has_its_default);
    tcase_add_test(reading, pairs_may_stand_alone);
    tcase_add_test(reading, broken_suites_are_refused);
    suite_add_tcase(suite, reading);
    return suite;
}
