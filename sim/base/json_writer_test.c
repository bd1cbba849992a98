/* JSON that is written reads back as the same values. */
#include "sim/base/json_writer.h"

#include <check.h>
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "sim/base/check_arena.h"
#include "sim/base/check_json.h"
#include "sim/base/check_often.h"

static struct arena *arena;
static struct text text;

static void
setup(void)
{
    arena = check_arena_new();
    text = text_new(arena);
}

static void
teardown(void)
{
    arena_free(arena);
}

static void
write_example(bool is_indented)
{
    struct json_writer writer = json_writer_new(&text, is_indented);
    json_write_begin_object(&writer);
    json_write_string_at(&writer, "name", "x");
    json_write_key(&writer, "list");
    json_write_begin_array(&writer);
    json_write_integer(&writer, 1);
    json_write_begin_array(&writer);
    json_write_end_array(&writer);
    json_write_begin_object(&writer);
    json_write_end_object(&writer);
    json_write_string(&writer, "[");
    json_write_bool(&writer, false);
    json_write_end_array(&writer);
    json_write_bool_at(&writer, "is_fast", true);
    json_write_real_at(&writer, "step_s", 0.25);
    json_write_string_at(&writer, "nothing", NULL);
    json_write_end_object(&writer);
}

START_TEST(one_line_has_commas_and_spaces)
{
    write_example(false);
    ck_assert_str_eq(text.bytes, "{\"name\": \"x\", \"list\": [1, [], {}, \"[\", false], "
                                 "\"is_fast\": true, \"step_s\": 0.25, \"nothing\": null}");
}
END_TEST

START_TEST(an_indented_text_has_two_spaces_a_level)
{
    write_example(true);
    ck_assert_str_eq(text.bytes, "{\n"
                                 "  \"name\": \"x\",\n"
                                 "  \"list\": [\n"
                                 "    1,\n"
                                 "    [],\n"
                                 "    {},\n"
                                 "    \"[\",\n"
                                 "    false\n"
                                 "  ],\n"
                                 "  \"is_fast\": true,\n"
                                 "  \"step_s\": 0.25,\n"
                                 "  \"nothing\": null\n"
                                 "}");
}
END_TEST

START_TEST(values_follow_what_the_text_already_holds)
{
    text_append(&text, "data = [", 8);
    struct json_writer writer = json_writer_new(&text, false);
    json_write_begin_array(&writer);
    json_write_integer(&writer, INT64_MIN);
    json_write_integer(&writer, INT64_MAX);
    json_write_end_array(&writer);
    ck_assert_str_eq(text.bytes, "data = [[-9223372036854775808, 9223372036854775807]");
}
END_TEST

START_TEST(a_string_reads_back_whatever_it_holds)
{
    const char *odd = "\"\\/\b\f\n\r\t\x01\x1F\x7F \xC3\xA9\xF0\x9F\x98\x80</script>";
    struct json_writer writer = json_writer_new(&text, false);
    json_write_begin_object(&writer);
    json_write_string_at(&writer, odd, odd);
    json_write_end_object(&writer);
    const struct json *root = check_json_read(arena, text.bytes);
    ck_assert_str_eq(json_key(root, 0), odd);
    ck_assert_str_eq(json_as_string(json_value_at(root, 0)), odd);
}
END_TEST

static double
round_trip(double value)
{
    text.length = 0;
    struct json_writer writer = json_writer_new(&text, false);
    json_write_begin_array(&writer);
    json_write_real(&writer, value);
    json_write_end_array(&writer);
    return json_as_real(json_element(check_json_read(arena, text.bytes), 0));
}

/* A linear congruential generator over bit patterns (Knuth's MMIX constants). */
START_TEST(every_double_reads_back_the_same)
{
    static const double values[] = {
        0.1,  1.0 / 3, DBL_MAX, DBL_MIN, DBL_TRUE_MIN,        0x1p53 + 2,
        1e22, 5e-324,  -2.5,    1e15,    123456789012345678.0};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        ck_assert_double_eq(round_trip(values[i]), values[i]);
    uint64_t bits = 1;
    for (int i = 0; i < 20000; i++) {
        bits = bits * 6364136223846793005U + 1442695040888963407U;
        double value = 0;
        memcpy(&value, &bits, sizeof value);
        if (isfinite(value))
            CHECK_OFTEN(round_trip(value) == value);
    }
}
END_TEST

START_TEST(a_double_is_written_as_short_as_it_can)
{
    static const struct {
        double value;
        const char *written;
    } cases[] = {
        {0.1, "[0.1]"}, {0.3, "[0.3]"}, {1e9, "[1000000000.0]"}, {-1.5e-9, "[-1.5e-09]"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        round_trip(cases[i].value);
        ck_assert_str_eq(text.bytes, cases[i].written);
    }
}
END_TEST

START_TEST(what_is_no_number_is_null)
{
    struct json_writer writer = json_writer_new(&text, false);
    json_write_begin_array(&writer);
    json_write_real(&writer, NAN);
    json_write_real(&writer, INFINITY);
    json_write_real(&writer, -INFINITY);
    json_write_end_array(&writer);
    ck_assert_str_eq(text.bytes, "[null, null, null]");
}
END_TEST

START_TEST(a_value_that_was_read_is_written_as_it_was)
{
    const char *original =
        "{\"z\": [1, -2.5, null, true, {\"b\": \"\\\"\", \"a\": {}}], \"\": []}";
    struct json_writer writer = json_writer_new(&text, false);
    json_write_value(&writer, check_json_read(arena, original));
    ck_assert_str_eq(text.bytes, original);
}
END_TEST

START_TEST(deep_nesting_is_written_too)
{
    char original[2 * 2048 + 1] = "";
    memset(original, '[', 2048);
    memset(original + 2048, ']', 2048);
    struct json_writer writer = json_writer_new(&text, false);
    json_write_value(&writer, check_json_read(arena, original));
    ck_assert_str_eq(text.bytes, original);
}
END_TEST

Suite *json_writer_suite(void);

Suite *
json_writer_suite(void)
{
    Suite *suite = suite_create("json_writer");
    TCase *tests = tcase_create("json_writer");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, one_line_has_commas_and_spaces);
    tcase_add_test(tests, an_indented_text_has_two_spaces_a_level);
    tcase_add_test(tests, values_follow_what_the_text_already_holds);
    tcase_add_test(tests, a_string_reads_back_whatever_it_holds);
    tcase_add_test(tests, every_double_reads_back_the_same);
    tcase_add_test(tests, a_double_is_written_as_short_as_it_can);
    tcase_add_test(tests, what_is_no_number_is_null);
    tcase_add_test(tests, a_value_that_was_read_is_written_as_it_was);
    tcase_add_test(tests, deep_nesting_is_written_too);
    suite_add_tcase(suite, tests);
    return suite;
}
