/* Values set from the command line: where they go, what they are, how messages name them. */
#include <check.h>

#include "sim/base/check_arena.h"
#include "sim/base/check_json.h"

static struct arena *arena;
static struct error_list errors;
static const struct json *root;

static void
setup(void)
{
    arena = check_arena_new();
    errors = (struct error_list){0};
    root = check_json_read(arena, "{\"plan\": {\"tensor\": 1, \"name\": \"a\", \"more\": {}},\n"
                                  " \"layers\": [{\"width\": 10}, {\"width\": 20}]}");
}

static void
teardown(void)
{
    arena_free(arena);
}

/* As --set PATH=VALUE does. */
static bool
set(const char *path, const char *value)
{
    return json_set(root, path, value, arena_format(arena, "--set %s=%s", path, value),
                    &errors);
}

static const struct json *
plan(const char *key)
{
    return json_member(json_member(root, "plan"), key);
}

START_TEST(a_value_is_replaced_and_named_after_its_origin)
{
    ck_assert(set("plan.tensor", "8"));
    ck_assert_int_eq(json_as_integer(plan("tensor")), 8);
    ck_assert_str_eq(json_where(plan("tensor")), "--set plan.tensor=8: $.plan.tensor");
    ck_assert(set("plan.tensor", "16")); /* the last one holds */
    ck_assert_str_eq(json_where(plan("tensor")), "--set plan.tensor=16: $.plan.tensor");
    ck_assert_str_eq(json_key(json_member(root, "plan"), 0), "tensor");
}
END_TEST

START_TEST(text_that_is_not_json_is_a_string)
{
    ck_assert(set("plan.name", "fast one"));
    ck_assert_str_eq(json_as_string(plan("name")), "fast one");
    ck_assert(set("plan.name", "\"8\""));
    ck_assert_str_eq(json_as_string(plan("name")), "8");
    ck_assert(set("plan.name", ""));
    ck_assert_str_eq(json_as_string(plan("name")), "");
    ck_assert(set("plan.name", "true"));
    ck_assert(json_as_bool(plan("name")));
    ck_assert(set("plan.name", "null"));
    ck_assert_int_eq(json_kind(plan("name")), JSON_KIND_NULL);
    ck_assert(set("plan.name", "{\"a\": 1"));
    ck_assert_int_eq(json_kind(plan("name")), JSON_KIND_STRING);
}
END_TEST

START_TEST(a_new_key_comes_last)
{
    ck_assert(set("plan.expert", "4"));
    ck_assert(set("plan.more.deep", "1")); /* into an object that was empty */
    ck_assert_uint_eq(json_count(json_member(root, "plan")), 4);
    ck_assert_str_eq(json_key(json_member(root, "plan"), 3), "expert");
    ck_assert_str_eq(json_where(plan("expert")), "--set plan.expert=4: $.plan.expert");
    ck_assert_int_eq(json_as_integer(json_member(plan("more"), "deep")), 1);
    ck_assert_str_eq(json_where(plan("name")), "a.json:1:32: $.plan.name"); /* still */
}
END_TEST

START_TEST(a_value_inside_a_set_value_shares_its_origin)
{
    ck_assert(set("plan.more", "{\"x\": [5, {\"y\": 6}]}"));
    const struct json *five = json_element(json_member(plan("more"), "x"), 0);
    ck_assert_str_eq(json_where(five),
                     "--set plan.more={\"x\": [5, {\"y\": 6}]}: $.plan.more.x[0]");
    ck_assert(set("plan.more.x.1.y", "7"));
    const struct json *seven =
        json_member(json_element(json_member(plan("more"), "x"), 1), "y");
    ck_assert_int_eq(json_as_integer(seven), 7);
    ck_assert_str_eq(json_where(seven), "--set plan.more.x.1.y=7: $.plan.more.x[1].y");
}
END_TEST

START_TEST(an_element_is_named_by_its_index)
{
    ck_assert(set("layers.1.width", "30"));
    const struct json *layers = json_member(root, "layers");
    const struct json *width = json_member(json_element(layers, 1), "width");
    ck_assert_int_eq(json_as_integer(width), 30);
    ck_assert_str_eq(json_where(width), "--set layers.1.width=30: $.layers[1].width");
    ck_assert_str_eq(json_where(json_member(json_element(layers, 0), "width")),
                     "a.json:2:23: $.layers[0].width");
    ck_assert(set("layers.0", "5"));
    ck_assert_str_eq(json_where(json_element(layers, 0)), "--set layers.0=5: $.layers[0]");
}
END_TEST

static void
check_refused(const char *path, const char *wanted)
{
    ck_assert(!set(path, "1"));
    ck_assert_int_eq(errors.items[0].kind, ERROR_INPUT);
    ck_assert_str_eq(check_json_faults(arena, &errors),
                     arena_format(arena, "--set %s=1: %s", path, wanted));
}

START_TEST(a_path_that_leads_nowhere_is_refused_where_it_ends)
{
    check_refused("plna.tensor", "a.json has no 'plna'");
    check_refused("plan.mroe.deep.er", "a.json has no 'plan.mroe'");
    check_refused("plan.tensor.x", "a.json has no 'plan.tensor.x'");
    check_refused("layers.2", "a.json has no 'layers.2'");
    check_refused("layers.2.width", "a.json has no 'layers.2'");
    check_refused("layers.width", "a.json has no 'layers.width'");
    check_refused("layers.-1", "a.json has no 'layers.-1'");
    check_refused("layers.+1", "a.json has no 'layers.+1'");
    check_refused("layers.18446744073709551616", "a.json has no 'layers.18446744073709551616'");
    ck_assert_uint_eq(json_count(json_member(root, "plan")), 3);
}
END_TEST

START_TEST(a_path_with_an_empty_part_is_refused)
{
    static const char *const paths[] = {"", ".", "plan.", ".plan", "plan..tensor"};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        check_refused(
            paths[i],
            arena_format(arena, "'%s' is no path, wanted keys joined by dots: a.b", paths[i]));
}
END_TEST

Suite *json_set_suite(void);

Suite *
json_set_suite(void)
{
    Suite *suite = suite_create("json_set");
    TCase *tests = tcase_create("json_set");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, a_value_is_replaced_and_named_after_its_origin);
    tcase_add_test(tests, text_that_is_not_json_is_a_string);
    tcase_add_test(tests, a_new_key_comes_last);
    tcase_add_test(tests, a_value_inside_a_set_value_shares_its_origin);
    tcase_add_test(tests, an_element_is_named_by_its_index);
    tcase_add_test(tests, a_path_that_leads_nowhere_is_refused_where_it_ends);
    tcase_add_test(tests, a_path_with_an_empty_part_is_refused);
    suite_add_tcase(suite, tests);
    return suite;
}
