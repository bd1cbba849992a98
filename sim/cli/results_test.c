/* Are results read as they were written, whatever wrote them? */
#include "sim/cli/results.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <check.h>

#include "sim/base/check_arena.h"

Suite *results_suite(void);

static struct arena *arena;
static struct error_list errors;
static struct results results;
static char path[64];

static void
setup(void)
{
    arena = check_arena_new();
    errors = (struct error_list){0};
    snprintf(path, sizeof path, "/tmp/results_test_XXXXXX");
    int file = mkstemp(path);
    ck_assert_int_ge(file, 0);
    close(file);
}

static void
teardown(void)
{
    unlink(path);
    arena_free(arena);
}

static bool
read_text(const char *text)
{
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fputs(text, file);
    fclose(file);
    errors = (struct error_list){0};
    struct results none = {.path = "none"};
    return results_read(&results, path, arena, &errors) &&
           results_align(&results, &none, arena, &errors);
}

static void
check_value(size_t index, const char *column, double value)
{
    double found = results_value(&results, &results.items[index], column);
    ck_assert_msg(found >= value && found <= value, "%s is %g", column, found);
}

START_TEST(columns_before_the_step_set_a_csv_point_apart)
{
    ck_assert(read_text("plan.b,plan.a,step_s,mfu,reason\n2,x,0.5,0.25,\n"
                        "1,\"a, \"\"b\"\"\",,,\"no, never\"\n"));
    ck_assert_uint_eq(results.count, 2);
    ck_assert_str_eq(results.items[0].label, "plan.b=1 plan.a=a, \"b\"");
    ck_assert_str_eq(results.items[0].reason, "no, never");
    ck_assert(isnan(results_value(&results, &results.items[0], "step_s")));
    ck_assert_str_eq(results.items[1].label, "plan.b=2 plan.a=x");
    check_value(1, "step_s", 0.5);
    check_value(1, "mfu", 0.25);
}
END_TEST

START_TEST(json_lines_are_points_by_their_settings)
{
    ck_assert(read_text("{\"settings\": [\"b=1\", \"c=2\"], \"step_s\": 2}\n"
                        "{\"settings\": [\"a=1\"], \"reason\": \"no\", \"has\": true}\n"));
    ck_assert_uint_eq(results.count, 2);
    ck_assert_str_eq(results.items[0].label, "a=1");
    ck_assert_str_eq(results.items[0].reason, "no");
    check_value(0, "has", 1);
    ck_assert_str_eq(results.items[1].label, "b=1 c=2");
    check_value(1, "step_s", 2);
}
END_TEST

/* As a search writes: plans in a document, whose own numbers go on behind them. */
START_TEST(a_document_is_a_point_and_what_has_settings_in_it_others)
{
    ck_assert(read_text("{\n\"best\": [{\"settings\": \"--set plan.a=1 --set plan.b=2\",\n"
                        "\"step_s\": 3}],\n\"part\": {\"x_s\": [4, 5]}}"));
    ck_assert_uint_eq(results.count, 2);
    ck_assert_str_eq(results.items[0].label, "");
    check_value(0, "part.x_s.1", 5);
    ck_assert_str_eq(results.items[1].label, "plan.a=1 plan.b=2");
    check_value(1, "step_s", 3);
    ck_assert(isnan(results_value(&results, &results.items[1], "part.x_s.1")));
}
END_TEST

/* A search's columns are fields of plans; what made them so stands in the last. */
START_TEST(a_column_of_settings_sets_a_csv_point_apart)
{
    ck_assert(read_text("nodes,tensor,step_s,settings\n"
                        "2,1,0.5,\"--set plan.stage_layers=[1,2] --set plan.tensor=2\"\n"
                        "2,2,0.25,\n"));
    ck_assert_uint_eq(results.count, 2);
    ck_assert_str_eq(results.items[0].label, "");
    check_value(0, "step_s", 0.25);
    ck_assert_str_eq(results.items[1].label, "plan.stage_layers=[1,2] plan.tensor=2");
    ck_assert_uint_eq(results.items[1].setting_count, 2);
}
END_TEST

static void
add_point(struct results *to, const char *run, const char *const *settings)
{
    struct result *result = results_add(to, arena);
    result->run = run;
    for (; *settings; settings++)
        results_set_apart(to, *settings, arena);
}

/* What a store says of its run is no part of a point; of a field set twice the last counts. */
START_TEST(points_of_a_store_meet_those_of_a_file)
{
    static const char *const kept[][4] = {{"nodes=8", "b=2", "a=1"}, {"nodes=8", "a=1", "a=2"}};
    static const char *const said[][3] = {{"a=2"}, {"a=1", "b=2"}};
    struct results store = {.path = "store"}, file = {.path = "file"};
    for (int i = 0; i < 2; i++) {
        add_point(&store, "run", kept[i]);
        add_point(&file, "", said[i]);
    }
    ck_assert(results_align(&store, &file, arena, &errors));
    for (int i = 0; i < 2; i++)
        ck_assert_str_eq(store.items[i].key, file.items[i].key);
    ck_assert_uint_eq(store.items[0].order, 0);
    ck_assert_uint_eq(file.items[0].order, 1);
}
END_TEST

/* Two runs with the same settings: between stores they differ, beside a file nobody knows. */
START_TEST(a_file_does_not_say_of_which_run_it_is)
{
    static const char *const settings[] = {"a=1", NULL};
    struct results store = {.path = "store"}, file = {.path = "file"}, other = store;
    add_point(&store, "one", settings);
    add_point(&store, "two", settings);
    add_point(&other, "two", settings);
    add_point(&file, "", settings);
    ck_assert(results_align(&store, &other, arena, &errors));
    ck_assert_str_eq(store.items[1].key, other.items[0].key);
    ck_assert_str_ne(store.items[0].key, other.items[0].key);
    ck_assert(!results_align(&file, &store, arena, &errors));
    ck_assert_ptr_nonnull(strstr(errors.items[0].what, "\"one\" and \"two\""));
}
END_TEST

START_TEST(what_is_no_result_says_where)
{
    ck_assert(!read_text("a,b\n1,2\n"));
    ck_assert_str_eq(errors.items[0].where, arena_format(arena, "%s:1", path));
    ck_assert(!read_text("a,step_s\n1,2\n1,2,3\n"));
    ck_assert_str_eq(errors.items[0].where, arena_format(arena, "%s:3", path));
    ck_assert(!read_text("a,step_s\n1,two\n"));
    ck_assert_str_eq(errors.items[0].where, arena_format(arena, "%s:2", path));
    ck_assert(!read_text("{\"step_s\": 1}\n{\"step_s\": \n"));
    ck_assert_ptr_nonnull(strstr(errors.items[0].where, ":2"));
    ck_assert(!read_text("{\n\"step_s\": }"));
    ck_assert(!read_text(""));
    ck_assert_int_eq(errors.items[0].kind, ERROR_INPUT);
}
END_TEST

Suite *
results_suite(void)
{
    Suite *suite = suite_create("results");
    TCase *facts = tcase_create("facts");
    tcase_add_checked_fixture(facts, setup, teardown);
    tcase_add_test(facts, columns_before_the_step_set_a_csv_point_apart);
    tcase_add_test(facts, json_lines_are_points_by_their_settings);
    tcase_add_test(facts, a_document_is_a_point_and_what_has_settings_in_it_others);
    tcase_add_test(facts, a_column_of_settings_sets_a_csv_point_apart);
    tcase_add_test(facts, points_of_a_store_meet_those_of_a_file);
    tcase_add_test(facts, a_file_does_not_say_of_which_run_it_is);
    tcase_add_test(facts, what_is_no_result_says_where);
    suite_add_tcase(suite, facts);
    return suite;
}
