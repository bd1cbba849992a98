/* Does an edit change what it names and not one byte more? */
#include "sim/base/json_edit.h"

#include <check.h>

#include "sim/base/check_arena.h"
#include "sim/base/check_json.h"

Suite *json_edit_suite(void);

static struct arena *arena;
static struct json_edit edit;

static void
setup(void)
{
    arena = check_arena_new();
    edit = (struct json_edit){0};
}

static void
teardown(void)
{
    arena_free(arena);
}

static void
check_edited(const struct json *root, const char *wanted)
{
    struct text out = text_new(arena);
    json_edit_apply(&edit, root, &out);
    ck_assert_str_eq(out.bytes, wanted);
}

START_TEST(values_of_every_sort_are_replaced)
{
    const struct json *root = check_json_read(
        arena, " {\"a\" :  1.50e3 , \"b\": [ \"x, }\", {\"c\": true} ],\n\"d\":{ } }\n");
    json_edit_replace(&edit, json_at(root, "d"), "null", arena); /* in any order */
    json_edit_replace(&edit, json_at(root, "b.0"), "\"y\"", arena);
    json_edit_replace(&edit, json_at(root, "a"), "2", arena);
    json_edit_replace(&edit, json_at(root, "b.1.c"), "[]", arena);
    check_edited(root, " {\"a\" :  2 , \"b\": [ \"y\", {\"c\": []} ],\n\"d\":null }\n");
}
END_TEST

START_TEST(a_member_is_added_behind_the_last)
{
    const struct json *root = check_json_read(arena, "{\n  \"a\": {\"b\": 1}\n}\n");
    json_edit_add(&edit, root, "new", "[1, 2]", arena);
    check_edited(root, "{\n  \"a\": {\"b\": 1},\n  \"new\": [1, 2]\n}\n");
}
END_TEST

START_TEST(the_last_value_may_change_before_a_member_is_added)
{
    const struct json *root = check_json_read(arena, "{\"a\": 1}");
    json_edit_replace(&edit, json_at(root, "a"), "22", arena);
    json_edit_add(&edit, root, "b", "3", arena);
    check_edited(root, "{\"a\": 22,\n  \"b\": 3}");
}
END_TEST

START_TEST(no_change_is_the_same_file)
{
    const char *text = "{\"a\": [1,2 , 3], \"b\": \"\\\"\"}\n";
    check_edited(check_json_read(arena, text), text);
}
END_TEST

Suite *
json_edit_suite(void)
{
    Suite *suite = suite_create("json_edit");
    TCase *tests = tcase_create("edits");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, values_of_every_sort_are_replaced);
    tcase_add_test(tests, a_member_is_added_behind_the_last);
    tcase_add_test(tests, the_last_value_may_change_before_a_member_is_added);
    tcase_add_test(tests, no_change_is_the_same_file);
    suite_add_tcase(suite, tests);
    return suite;
}
