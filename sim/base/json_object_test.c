/* Objects read by a table: what fills the struct, and every fault with its place and words. */
#include <check.h>
#include <math.h>
#include <stddef.h>

#include "sim/base/check_arena.h"
#include "sim/base/check_json.h"

struct plan {
    int64_t tensor;
    double rate_per_s;
    bool is_fast;
    const char *name;
    int dtype;
    const struct json *extra;
    double least, most;
};

static const char *const DTYPES[] = {"bf16", "fp8", "tf32", NULL};

static const struct json_field FIELDS[] = {
    {"tensor", JSON_FIELD_INTEGER, offsetof(struct plan, tensor), 0, 1, 64, NULL},
    {"rate_per_s", JSON_FIELD_REAL, offsetof(struct plan, rate_per_s), JSON_SOURCED, 0, 0,
     NULL},
    {"is_fast", JSON_FIELD_BOOL, offsetof(struct plan, is_fast), 0, 0, 0, NULL},
    {"name", JSON_FIELD_STRING, offsetof(struct plan, name), JSON_OPTIONAL | JSON_NULLABLE, 0,
     0, NULL},
    {"dtype", JSON_FIELD_CHOICE, offsetof(struct plan, dtype), 0, 0, 0, DTYPES},
    {"extra", JSON_FIELD_VALUE, offsetof(struct plan, extra), JSON_OPTIONAL, 0, 0, NULL},
    {"least", JSON_FIELD_REAL, offsetof(struct plan, least), JSON_OPTIONAL, 0.5, INFINITY,
     NULL},
    {"most", JSON_FIELD_REAL, offsetof(struct plan, most), JSON_OPTIONAL, -INFINITY, 2.5e9,
     NULL},
};

static const char *const IGNORED[] = {"library", "measured_*", NULL};

static const struct json_object_type TYPE = {"a plan", FIELDS, sizeof FIELDS / sizeof *FIELDS,
                                             IGNORED};

/* The three required keys but for `tensor`, which the tests put in front. */
#define REST                                                                                   \
    ", \"rate_per_s\": {\"value\": 5e9, \"source\": \"datasheet\"}, \"is_fast\": true, "       \
    "\"dtype\": \"fp8\"}"

static struct arena *arena;
static struct error_list errors;
static struct plan out;

static void
setup(void)
{
    arena = check_arena_new();
    errors = (struct error_list){0};
    out = (struct plan){.tensor = -1, .name = "default", .least = 7};
}

static void
teardown(void)
{
    arena_free(arena);
}

static bool
read_plan(const char *text)
{
    return json_read_object(check_json_read(arena, text), &TYPE, &out, &errors);
}

static void
check_faults(const char *text, const char *wanted)
{
    ck_assert(!read_plan(text));
    for (int i = 0; i < error_list_kept(&errors); i++)
        ck_assert_int_eq(errors.items[i].kind, ERROR_INPUT);
    ck_assert_str_eq(check_json_faults(arena, &errors), wanted);
}

START_TEST(every_type_fills_its_member)
{
    ck_assert(read_plan("{\"name\": \"x\", \"extra\": [1], \"tensor\": 8" REST));
    ck_assert_int_eq(out.tensor, 8);
    ck_assert_double_eq(out.rate_per_s, 5e9);
    ck_assert(out.is_fast);
    ck_assert_str_eq(out.name, "x");
    ck_assert_int_eq(out.dtype, 1);
    ck_assert_uint_eq(json_count(out.extra), 1);
    ck_assert_int_eq(errors.count, 0);
}
END_TEST

START_TEST(what_is_absent_keeps_its_default)
{
    ck_assert(read_plan("{\"name\": null, \"tensor\": 8" REST));
    ck_assert_str_eq(out.name, "default");
    ck_assert_double_eq(out.least, 7);
}
END_TEST

START_TEST(a_whole_real_is_an_integer_and_an_integer_is_a_real)
{
    ck_assert(read_plan("{\"least\": 3, \"tensor\": 1.6e1" REST));
    ck_assert_int_eq(out.tensor, 16);
    ck_assert_double_eq(out.least, 3);
}
END_TEST

START_TEST(ignored_keys_and_notes_are_passed_over)
{
    ck_assert(read_plan("{\"library\": 1, \"measured_s\": 2, \"note\": [], \"source\": null, "
                        "\"$schema\": \"x\", \"tensor\": 8" REST));
}
END_TEST

START_TEST(an_unknown_key_names_the_nearest_at_the_key)
{
    check_faults("{\"tensr\": 1, \"tensor\": 8" REST,
                 "a.json:1:2: $.tensr: unknown key 'tensr' of a plan, did you mean 'tensor'?");
    check_faults("{\"frobnicate\": 1, \"tensor\": 8" REST,
                 "a.json:1:2: $.frobnicate: unknown key 'frobnicate' of a plan");
    check_faults("{\"measured\": 1, \"tensor\": 8" REST,
                 "a.json:1:2: $.measured: unknown key 'measured' of a plan");
}
END_TEST

START_TEST(a_missing_key_says_what_it_would_hold)
{
    check_faults("{}", "a.json:1:1: $: lacks the key 'tensor' (an integer)\n"
                       "a.json:1:1: $: lacks the key 'rate_per_s' (a number)\n"
                       "a.json:1:1: $: lacks the key 'is_fast' (true or false)\n"
                       "a.json:1:1: $: lacks the key 'dtype' (one of: bf16, fp8, tf32)");
}
END_TEST

START_TEST(a_wrong_type_says_what_was_found)
{
    static const char *const found[][2] = {
        {"null", "null"},
        {"true", "true"},
        {"1.5", "1.5"},
        {"[1]", "a list"},
        {"\"8\"", "the string '8'"},
        {"-0.25", "-0.25"},
    };
    for (size_t i = 0; i < sizeof found / sizeof *found; i++)
        check_faults(arena_format(arena, "{\"tensor\": %s%s", found[i][0], REST),
                     arena_format(arena, "a.json:1:12: $.tensor: is %s, wanted an integer",
                                  found[i][1]));
    check_faults("{\"least\": \"x\", \"tensor\": 8" REST,
                 "a.json:1:11: $.least: is the string 'x', wanted a number");
    check_faults("{\"name\": 12345678901234, \"tensor\": 8" REST,
                 "a.json:1:10: $.name: is 12345678901234, wanted a string");
    check_faults("{\"name\": {}, \"tensor\": 8" REST,
                 "a.json:1:10: $.name: is an object, wanted a string");
    check_faults("{\"name\": \"\", \"tensor\": 8" REST,
                 "a.json:1:10: $.name: is an empty string, wanted some text");
}
END_TEST

START_TEST(booleans_and_choices_are_not_guessed)
{
    check_faults("{\"tensor\": 8, \"rate_per_s\": {\"value\": 1, \"source\": \"s\"},\n"
                 "\"is_fast\": 1, \"dtype\": \"bf61\"}",
                 "a.json:2:12: $.is_fast: is 1, wanted true or false\n"
                 "a.json:2:24: $.dtype: is the string 'bf61', did you mean 'bf16'?");
    check_faults(
        "{\"tensor\": 8, \"rate_per_s\": {\"value\": 1, \"source\": \"s\"},\n"
        "\"is_fast\": true, \"dtype\": \"double\"}",
        "a.json:2:27: $.dtype: is the string 'double', wanted one of: bf16, fp8, tf32");
    check_faults("{\"tensor\": 8, \"rate_per_s\": {\"value\": 1, \"source\": \"s\"},\n"
                 "\"is_fast\": true, \"dtype\": 16}",
                 "a.json:2:27: $.dtype: is 16, wanted one of: bf16, fp8, tf32");
}
END_TEST

START_TEST(both_ends_of_a_range_belong_to_it)
{
    ck_assert(read_plan("{\"least\": 0.5, \"most\": 2500000000, \"tensor\": 1" REST));
    ck_assert(read_plan("{\"tensor\": 64" REST));
    check_faults("{\"tensor\": 0" REST, "a.json:1:12: $.tensor: is 0, wanted 1 to 64");
    check_faults("{\"tensor\": 65" REST, "a.json:1:12: $.tensor: is 65, wanted 1 to 64");
    check_faults("{\"least\": 0.25, \"tensor\": 8" REST,
                 "a.json:1:11: $.least: is 0.25, wanted at least 0.5");
    check_faults("{\"most\": 3e9, \"tensor\": 8" REST,
                 "a.json:1:10: $.most: is 3000000000, wanted at most 2500000000");
    check_faults("{\"tensor\": 1e300" REST,
                 "a.json:1:12: $.tensor: is 1e+300, wanted an integer");
}
END_TEST

static const char *
with_rate(const char *rate)
{
    return arena_format(arena,
                        "{\"tensor\": 8, \"is_fast\": true, \"dtype\": \"fp8\",\n"
                        "\"rate_per_s\": %s}",
                        rate);
}

START_TEST(a_number_that_needs_a_source_shows_how_it_is_written)
{
    check_faults(with_rate("5300"),
                 "a.json:2:15: $.rate_per_s: is 5300 without its source, wanted "
                 "{\"value\": 5300, \"source\": \"...\"}");
    check_faults(with_rate("{\"value\": 5300}"),
                 "a.json:2:15: $.rate_per_s: lacks the key 'source' (text that says where the "
                 "number is from)");
    check_faults(with_rate("{\"value\": 5300, \"source\": \"\"}"),
                 "a.json:2:15: $.rate_per_s: lacks the key 'source' (text that says where the "
                 "number is from)");
    check_faults(with_rate("{\"source\": \"s\"}"),
                 "a.json:2:15: $.rate_per_s: lacks the key 'value' (the number itself)");
    check_faults(with_rate("{\"value\": \"x\", \"source\": \"s\"}"),
                 "a.json:2:25: $.rate_per_s.value: is the string 'x', wanted a number");
    check_faults(with_rate("{\"value\": {\"value\": 1}, \"source\": \"s\"}"),
                 "a.json:2:25: $.rate_per_s.value: is an object, wanted a number");
    check_faults(
        with_rate("{\"value\": 1, \"source\": \"s\", \"unit\": \"B\"}"),
        "a.json:2:43: $.rate_per_s.unit: unknown key 'unit' of a number, wanted value, "
        "source, note");
}
END_TEST

START_TEST(any_number_may_come_with_its_source)
{
    ck_assert(read_plan("{\"tensor\": {\"value\": 8, \"note\": \"as in the paper\"}" REST));
    ck_assert_int_eq(out.tensor, 8);
    ck_assert(read_plan(with_rate("{\"value\": 1, \"source\": \"s\"}")));
    ck_assert_double_eq(out.rate_per_s, 1);
}
END_TEST

START_TEST(a_number_set_on_the_command_line_needs_no_source)
{
    const struct json *root =
        check_json_read(arena, with_rate("{\"value\": 1, \"source\": \"s\"}"));
    ck_assert(json_set(root, "rate_per_s", "2e9", "--set rate_per_s=2e9", &errors));
    ck_assert(json_read_object(root, &TYPE, &out, &errors));
    ck_assert_double_eq(out.rate_per_s, 2e9);
    ck_assert(json_set(root, "tensor", "65", "--set tensor=65", &errors));
    ck_assert(!json_read_object(root, &TYPE, &out, &errors));
    ck_assert_str_eq(check_json_faults(arena, &errors),
                     "--set tensor=65: $.tensor: is 65, wanted 1 to 64");
}
END_TEST

START_TEST(only_an_object_is_one)
{
    check_faults("[1, 2]", "a.json:1:1: $: is a list, wanted an object: a plan");
}
END_TEST

START_TEST(all_faults_are_found_and_the_rest_is_filled)
{
    check_faults("{\"tensor\": 8, \"is_fast\": \"yes\", \"dtype\": \"fp8\", \"nmae\": 1}",
                 "a.json:1:49: $.nmae: unknown key 'nmae' of a plan, did you mean 'name'?\n"
                 "a.json:1:1: $: lacks the key 'rate_per_s' (a number)\n"
                 "a.json:1:26: $.is_fast: is the string 'yes', wanted true or false");
    ck_assert_int_eq(out.tensor, 8);
    ck_assert_int_eq(out.dtype, 1);
}
END_TEST

/* A run given for a plan, say. */
START_TEST(an_object_of_another_kind_is_one_fault)
{
    check_faults("{\"name\": \"x\", \"model\": 1, \"cluster\": 2, \"plan\": 3}",
                 "a.json:1:1: $: holds no key of a plan, such as 'most'");
}
END_TEST

/* Keys that another section names may be none: waits of a device without rates, say. */
START_TEST(a_type_without_keys_knows_none)
{
    static const struct json_object_type none = {.noun = "the operations"};
    ck_assert(json_read_object(check_json_read(arena, "{}"), &none, NULL, &errors));
    const struct json *two = check_json_read(arena, "{\"gelu\": 1, \"silu\": 2}");
    ck_assert(!json_read_object(two, &none, NULL, &errors));
    ck_assert_str_eq(check_json_faults(arena, &errors),
                     "a.json:1:2: $.gelu: unknown key 'gelu' of the operations\n"
                     "a.json:1:13: $.silu: unknown key 'silu' of the operations");
}
END_TEST

/* 24 unknown keys and 3 missing ones. */
START_TEST(faults_past_the_twentieth_are_counted)
{
    struct text text = text_new(arena);
    for (int i = 0; i < 24; i++)
        text_format(&text, "%s\"unknown_%02d\": 0", i ? ", " : "{", i);
    text_format(&text, ", \"tensor\": 8}");
    ck_assert(!read_plan(text.bytes));
    ck_assert_int_eq(errors.count, 27);
    ck_assert_int_eq(error_list_kept(&errors), 20);
    ck_assert_str_eq(errors.items[19].what, "unknown key 'unknown_19' of a plan");
}
END_TEST

Suite *json_object_suite(void);

Suite *
json_object_suite(void)
{
    Suite *suite = suite_create("json_object");
    TCase *tests = tcase_create("json_object");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, every_type_fills_its_member);
    tcase_add_test(tests, what_is_absent_keeps_its_default);
    tcase_add_test(tests, a_whole_real_is_an_integer_and_an_integer_is_a_real);
    tcase_add_test(tests, ignored_keys_and_notes_are_passed_over);
    tcase_add_test(tests, an_unknown_key_names_the_nearest_at_the_key);
    tcase_add_test(tests, a_missing_key_says_what_it_would_hold);
    tcase_add_test(tests, a_wrong_type_says_what_was_found);
    tcase_add_test(tests, booleans_and_choices_are_not_guessed);
    tcase_add_test(tests, both_ends_of_a_range_belong_to_it);
    tcase_add_test(tests, a_number_that_needs_a_source_shows_how_it_is_written);
    tcase_add_test(tests, any_number_may_come_with_its_source);
    tcase_add_test(tests, a_number_set_on_the_command_line_needs_no_source);
    tcase_add_test(tests, only_an_object_is_one);
    tcase_add_test(tests, all_faults_are_found_and_the_rest_is_filled);
    tcase_add_test(tests, an_object_of_another_kind_is_one_fault);
    tcase_add_test(tests, a_type_without_keys_knows_none);
    tcase_add_test(tests, faults_past_the_twentieth_are_counted);
    suite_add_tcase(suite, tests);
    return suite;
}
