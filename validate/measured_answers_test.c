/* Is a question found again whatever was answered, and only that of the same device? */
#include "validate/measured_answers.h"

#include <check.h>

#include "sim/base/check_arena.h"
#include "sim/base/check_json.h"

Suite *measured_answers_suite(void);

static struct arena *arena;
static struct error_list errors;
static struct measured_answers answers;

static void
setup(void)
{
    arena = check_arena_new();
    errors = (struct error_list){0};
    answers = (struct measured_answers){0};
}

static void
teardown(void)
{
    arena_free(arena);
}

static bool
parse(const char *lines)
{
    struct text text = text_new(arena);
    text_format(&text, "%s", lines);
    return measured_answers_parse(&answers, "out.jsonl", &text, "a core", &errors);
}

static bool
has(const char *question)
{
    return measured_answers_have(&answers, check_json_read(arena, question), arena);
}

START_TEST(an_answered_question_is_found)
{
    ck_assert(parse("{\"kernel\": \"copy\", \"bytes\": 64, \"measured_s\": 2, "
                    "\"measured_device\": \"a core\", \"library\": \"x\"}\n\n"
                    "{\"kernel\": \"copy\", \"bytes\": 128, \"measured_s\": 2, "
                    "\"measured_device\": \"another\"}\n"
                    "{\"kernel\": \"copy\", \"bytes\": 256}"));
    ck_assert(has("{\"kernel\": \"copy\", \"bytes\": 64, \"source\": \"y\"}"));
    ck_assert(!has("{\"kernel\": \"copy\", \"bytes\": 65}"));
    ck_assert(!has("{\"kernel\": \"copy\", \"bytes\": 128}")); /* of another device */
    ck_assert(!has("{\"kernel\": \"copy\", \"bytes\": 256}")); /* of none */
}
END_TEST

START_TEST(a_line_that_was_cut_off_is_named)
{
    ck_assert(
        !parse("{\"kernel\": \"copy\", \"measured_device\": \"a core\"}\n{\"kernel\": \"co"));
    ck_assert_ptr_nonnull(strstr(check_json_faults(arena, &errors), "out.jsonl:2:"));
    ck_assert(!parse("[1]\n"));
    ck_assert_str_eq(check_json_faults(arena, &errors),
                     "out.jsonl:1:1: $: wanted an object, a measured line");
}
END_TEST

Suite *
measured_answers_suite(void)
{
    Suite *suite = suite_create("measured_answers");
    TCase *tests = tcase_create("answers");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, an_answered_question_is_found);
    tcase_add_test(tests, a_line_that_was_cut_off_is_named);
    suite_add_tcase(suite, tests);
    return suite;
}
