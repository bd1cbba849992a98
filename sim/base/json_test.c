/* What is read from JSON, where each value stands, and what is said of texts that are not JSON. */
#include "sim/base/json.h"

#include <check.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "sim/base/check_arena.h"
#include "sim/base/check_json.h"

static struct arena *arena;
static struct error_list errors;

static void
setup(void)
{
    arena = check_arena_new();
    errors = (struct error_list){0};
}

static void
teardown(void)
{
    arena_free(arena);
}

static const struct json *
read_json(const char *text)
{
    return check_json_read(arena, text);
}

static void
check_refused(const char *text, const char *wanted)
{
    ck_assert_ptr_null(json_read_text(arena, "a.json", 1, text, strlen(text), &errors));
    ck_assert_int_eq(errors.items[0].kind, ERROR_INPUT);
    ck_assert_str_eq(check_json_faults(arena, &errors), wanted);
}

START_TEST(every_kind_is_read)
{
    const struct json *root =
        read_json("{\"n\": null, \"b\": true, \"i\": -7, \"r\": 2.5, \"s\": "
                  "\"\\u00e9\\n\", \"a\": [1, \"x\"], \"o\": {}}");
    ck_assert_uint_eq(json_count(root), 7);
    ck_assert_int_eq(json_kind(json_member(root, "n")), JSON_KIND_NULL);
    ck_assert(json_as_bool(json_member(root, "b")));
    ck_assert_int_eq(json_as_integer(json_member(root, "i")), -7);
    ck_assert_double_eq(json_as_real(json_member(root, "i")), -7);
    ck_assert_double_eq(json_as_real(json_member(root, "r")), 2.5);
    ck_assert_str_eq(json_as_string(json_member(root, "s")), "\xC3\xA9\n");
    const struct json *array = json_member(root, "a");
    ck_assert_uint_eq(json_count(array), 2);
    ck_assert_str_eq(json_as_string(json_element(array, 1)), "x");
    ck_assert_uint_eq(json_count(json_member(root, "o")), 0);
}
END_TEST

START_TEST(what_is_not_there_is_null)
{
    const struct json *root = read_json("{\"a\": [1], \"i\": 3}");
    ck_assert_ptr_null(json_member(root, "b"));
    ck_assert_ptr_null(json_element(root, 0));
    ck_assert_ptr_null(json_member(json_member(root, "a"), "a"));
    ck_assert_ptr_null(json_element(json_member(root, "a"), 1));
    ck_assert_uint_eq(json_count(json_member(root, "i")), 0);
}
END_TEST

START_TEST(members_keep_the_order_of_the_file)
{
    const struct json *root = read_json("{\"z\": 0, \"a\": 1, \"m\": 2, \"\": 3}");
    static const char *const keys[] = {"z", "a", "m", ""};
    for (size_t i = 0; i < 4; i++) {
        ck_assert_str_eq(json_key(root, i), keys[i]);
        ck_assert_int_eq(json_as_integer(json_value_at(root, i)), (int64_t)i);
    }
}
END_TEST

START_TEST(the_extremes_of_integers_are_read)
{
    const struct json *root = read_json("[9223372036854775807, -9223372036854775808, 1e15]");
    ck_assert_int_eq(json_as_integer(json_element(root, 0)), INT64_MAX);
    ck_assert_int_eq(json_as_integer(json_element(root, 1)), INT64_MIN);
    ck_assert_int_eq(json_kind(json_element(root, 2)), JSON_KIND_REAL);
}
END_TEST

START_TEST(a_place_is_line_column_and_path)
{
    const struct json *root = read_json("{\n"
                                        "  \"plan\": {\n"
                                        "    \"tensor\" :  3,\n"
                                        "    \"list\": [1, [20, {\"x\": 300}]]\n"
                                        "  }\n"
                                        "}\n");
    const struct json *plan = json_member(root, "plan");
    const struct json *inner = json_element(json_member(plan, "list"), 1);
    ck_assert_str_eq(json_where(root), "a.json:1:1: $");
    ck_assert_str_eq(json_where(plan), "a.json:2:11: $.plan");
    ck_assert_str_eq(json_where(json_member(plan, "tensor")), "a.json:3:17: $.plan.tensor");
    ck_assert_str_eq(json_where(inner), "a.json:4:17: $.plan.list[1]");
    ck_assert_str_eq(json_where(json_element(inner, 0)), "a.json:4:18: $.plan.list[1][0]");
    ck_assert_str_eq(json_where(json_member(json_element(inner, 1), "x")),
                     "a.json:4:28: $.plan.list[1][1].x");
}
END_TEST

/* Brackets, commas, quotes and backslashes inside strings end nothing. */
START_TEST(a_place_is_found_behind_odd_strings)
{
    const struct json *root = read_json(
        "{\"a\\\"]},{[\": \"\\\\\\\"}],\", \"b\": [\"\\\\\", \"]\", \"\\u005d\", 7]}");
    ck_assert_str_eq(json_where(json_value_at(root, 0)), "a.json:1:14: $[\"a\"]},{[\"]");
    ck_assert_str_eq(json_where(json_element(json_member(root, "b"), 3)),
                     "a.json:1:52: $.b[3]");
}
END_TEST

START_TEST(a_letter_of_several_bytes_is_one_column)
{
    const struct json *root =
        read_json("{\"\xC3\xA9\": \"\xE2\x82\xAC\xF0\x9F\x98\x80\", \"b\": 1}");
    ck_assert_str_eq(json_where(json_value_at(root, 0)), "a.json:1:7: $[\"\xC3\xA9\"]");
    ck_assert_str_eq(json_where(json_member(root, "b")), "a.json:1:18: $.b");
}
END_TEST

START_TEST(a_line_may_end_with_two_characters)
{
    const struct json *root = read_json("{\r\n  \"a\": 1,\r\n\t\"b\": 2\r\n}\r\n");
    ck_assert_str_eq(json_where(json_member(root, "a")), "a.json:2:8: $.a");
    ck_assert_str_eq(json_where(json_member(root, "b")), "a.json:3:7: $.b");
}
END_TEST

START_TEST(space_and_a_byte_order_mark_may_come_first)
{
    ck_assert_str_eq(json_where(read_json("\n\n  {}")), "a.json:3:3: $");
    ck_assert_str_eq(json_where(read_json("\xEF\xBB\xBF{}")), "a.json:1:1: $");
    ck_assert_str_eq(json_where(json_element(read_json("\xEF\xBB\xBF[1]"), 0)),
                     "a.json:1:2: $[0]");
}
END_TEST

START_TEST(a_line_of_a_list_has_its_own_number)
{
    const char *text = "{\"m\": x}";
    ck_assert_ptr_null(json_read_text(arena, "list", 41, text, strlen(text), &errors));
    ck_assert_str_eq(check_json_faults(arena, &errors),
                     "list:41:7: not JSON: found 'x', wanted a value");
    const struct json *root = json_read_text(arena, "list", 41, "{\"m\": 1}", 8, &errors);
    ck_assert_str_eq(json_where(json_member(root, "m")), "list:41:7: $.m");
    ck_assert_str_eq(json_file_name(root), "list");
}
END_TEST

START_TEST(a_caller_can_add_a_fault_at_a_place)
{
    const struct json *root = read_json("{\"expert\": 3}");
    ck_assert(!json_fail(json_member(root, "expert"), &errors, "%d does not divide %d", 3, 16));
    ck_assert_int_eq(errors.items[0].kind, ERROR_INPUT);
    ck_assert_str_eq(check_json_faults(arena, &errors),
                     "a.json:1:12: $.expert: 3 does not divide 16");
}
END_TEST

START_TEST(a_fault_past_the_twentieth_costs_no_search)
{
    const struct json *root = read_json("{\"a\": 1}");
    for (int i = 0; i < 20; i++)
        json_fail(root, &errors, "wrong");
    size_t before = arena_size_bytes(arena);
    for (int i = 0; i < 100000; i++)
        json_fail(root, &errors, "wrong");
    ck_assert_uint_eq(arena_size_bytes(arena), before);
    ck_assert_int_eq(errors.count, 100020);
}
END_TEST

START_TEST(a_text_that_breaks_off_says_what_was_wanted)
{
    check_refused("", "a.json:1:1: not JSON: found the end, wanted '{' or '['");
    check_refused("[1", "a.json:1:2: not JSON: found the end, wanted ',' or ']'");
    check_refused("{\"a\": 1", "a.json:1:7: not JSON: found the end, wanted ',' or '}'");
    check_refused("{",
                  "a.json:1:1: not JSON: found the end, wanted a key in double quotes or '}'");
    check_refused("[\"abc", "a.json:1:2: not JSON: the text \"abc has no closing quote");
    check_refused("[\"a\nb\"]",
                  "a.json:1:2: not JSON: the text \"a has no closing quote on its line");
}
END_TEST

START_TEST(a_slip_of_syntax_is_placed_where_it_begins)
{
    check_refused("{\"a\": tru}", "a.json:1:7: not JSON: found 'tru', wanted a value");
    check_refused(
        "{\"a\":1,}",
        "a.json:1:8: not JSON: found '}' after a comma, wanted a key in double quotes");
    check_refused("[1,]", "a.json:1:4: not JSON: found ']', wanted a value");
    check_refused("{'a': 1}",
                  "a.json:1:2: not JSON: found ''', wanted a key in double quotes or '}'");
    check_refused("{\"a\" 1}", "a.json:1:6: not JSON: found '1', wanted ':'");
    check_refused("{\"a\": 1\n \"b\": 2}",
                  "a.json:2:2: not JSON: found \"b\", wanted ',' or '}'");
    check_refused("[\"\xC3\xA9\", x]", "a.json:1:7: not JSON: found 'x', wanted a value");
    check_refused("{} x", "a.json:1:4: not JSON: found 'x', wanted the end");
    check_refused("7", "a.json:1:1: not JSON: found '7', wanted '{' or '['");
    check_refused("// plan\n{}",
                  "a.json:1:1: not JSON: found '/', comments are no part of JSON");
    check_refused("[NaN]", "a.json:1:2: not JSON: found 'NaN', wanted a value");
    check_refused("[\"\\x\"]", "a.json:1:2: not JSON: invalid escape in \"\\x");
    check_refused("[\"\xFF\"]", "a.json:1:2: not JSON: unable to decode byte 0xff in \"");
}
END_TEST

START_TEST(numbers_and_characters_beyond_reach_are_refused)
{
    check_refused("[1e999]",
                  "a.json:1:2: a number beyond the largest (about 1.8e308): '1e999'");
    check_refused(
        "[9223372036854775808]",
        "a.json:1:2: an integer beyond the largest (2^63 - 1): '9223372036854775808'");
    check_refused("[-9223372036854775809]",
                  "a.json:1:2: an integer below the least (-2^63): '-9223372036854775809'");
    check_refused("[\"\\u0000\"]", "a.json:1:2: the character 0 in \"\\u0000\"");
}
END_TEST

START_TEST(a_key_stands_once)
{
    check_refused("{\n \"tensor\": 1,\n \"tensor\": 2}",
                  "a.json:3:2: the key \"tensor\" for the second time, wanted once");
}
END_TEST

START_TEST(nesting_ends_at_2048)
{
    char text[2 * 2049 + 1] = "";
    memset(text, '[', 2048);
    memset(text + 2048, ']', 2048);
    const struct json *value = read_json(text);
    for (int depth = 1; depth < 2048; depth++)
        value = json_element(value, 0);
    ck_assert_uint_eq(json_count(value), 0);
    ck_assert_int_eq(strncmp(json_where(value), "a.json:1:2048: $[0][0]", 22), 0);
    memset(text, '[', 2049);
    check_refused(text, "a.json:1:2049: '[' for the 2049th level, wanted at most 2048");
}
END_TEST

START_TEST(a_file_is_read_with_its_name)
{
    char path[] = "/tmp/json_test_XXXXXX";
    int file = mkstemp(path);
    ck_assert_int_eq(write(file, "[1]", 3), 3);
    close(file);
    const struct json *root = json_read_file(arena, path, &errors);
    ck_assert_str_eq(json_file_name(root), path);
    ck_assert_str_eq(json_where(root), arena_format(arena, "%s:1:1: $", path));
    unlink(path);
    ck_assert_ptr_null(json_read_file(arena, path, &errors));
    ck_assert_int_eq(errors.items[0].kind, ERROR_IO);
    ck_assert_ptr_null(json_read_file(arena, "/dev/zero", &errors));
    ck_assert_str_eq(errors.items[1].what, "is larger than the 16777216 bytes allowed");
    ck_assert_ptr_null(json_read_file(arena, "/dev/null", &errors));
    ck_assert_str_eq(errors.items[2].where, "/dev/null:1:1");
}
END_TEST

Suite *json_suite(void);

Suite *
json_suite(void)
{
    Suite *suite = suite_create("json");
    TCase *tests = tcase_create("json");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, every_kind_is_read);
    tcase_add_test(tests, what_is_not_there_is_null);
    tcase_add_test(tests, members_keep_the_order_of_the_file);
    tcase_add_test(tests, the_extremes_of_integers_are_read);
    tcase_add_test(tests, a_place_is_line_column_and_path);
    tcase_add_test(tests, a_place_is_found_behind_odd_strings);
    tcase_add_test(tests, a_letter_of_several_bytes_is_one_column);
    tcase_add_test(tests, a_line_may_end_with_two_characters);
    tcase_add_test(tests, space_and_a_byte_order_mark_may_come_first);
    tcase_add_test(tests, a_line_of_a_list_has_its_own_number);
    tcase_add_test(tests, a_caller_can_add_a_fault_at_a_place);
    tcase_add_test(tests, a_fault_past_the_twentieth_costs_no_search);
    tcase_add_test(tests, a_text_that_breaks_off_says_what_was_wanted);
    tcase_add_test(tests, a_slip_of_syntax_is_placed_where_it_begins);
    tcase_add_test(tests, numbers_and_characters_beyond_reach_are_refused);
    tcase_add_test(tests, a_key_stands_once);
    tcase_add_test(tests, nesting_ends_at_2048);
    tcase_add_test(tests, a_file_is_read_with_its_name);
    suite_add_tcase(suite, tests);
    return suite;
}
