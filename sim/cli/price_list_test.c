/* Lists answered line by line: order, faults, and what is left of a list that failed. */
#include "sim/cli/price_list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/base/check_arena.h"
#include "sim/base/check_near.h"
#include "sim/base/text.h"
#include "sim/cli/command.h"

static struct arena *arena;
static char folder[32];
static char input_path[64], output_path[64];

static void
setup(void)
{
    arena = check_arena_new();
    snprintf(folder, sizeof folder, "/tmp/price_list_XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(input_path, sizeof input_path, "%s/in.jsonl", folder);
    snprintf(output_path, sizeof output_path, "%s/out.jsonl", folder);
    ck_assert_ptr_nonnull(freopen("/dev/null", "w", stderr));
}

/* Also shows that nothing is left but the two files. */
static void
teardown(void)
{
    unlink(input_path);
    unlink(output_path);
    ck_assert_int_eq(rmdir(folder), 0);
    arena_free(arena);
}

/* Doubles "x"; 13 is a fault. */
static bool
price_double(const void *context, const struct json *question, struct arena *line_arena,
             struct json_writer *answer, struct error_list *errors)
{
    (void)context;
    (void)line_arena;
    const struct json *x = json_member(question, "x");
    if (!x || json_kind(x) != JSON_KIND_INTEGER)
        return json_fail(question, errors, "wanted x");
    json_write_integer_at(answer, "twice", 2 * json_as_integer(x));
    return json_as_integer(x) != 13 || error_add(errors, ERROR_INFEASIBLE, "", "13 it is");
}

static int
run(const char *lines, bool keeps_going)
{
    FILE *file = fopen(input_path, "w");
    ck_assert_ptr_nonnull(file);
    fputs(lines, file);
    fclose(file);
    struct price_list list = {.path = input_path,
                              .output_path = output_path,
                              .keeps_going = keeps_going,
                              .price = price_double};
    return price_list_run(&list);
}

static const char *
answers(void)
{
    struct text text = text_new(arena);
    struct error_list errors = {0};
    return text_read_file(&text, output_path, 1 << 24, &errors) ? text.bytes : NULL;
}

START_TEST(each_question_is_repeated_with_its_answer)
{
    ck_assert_int_eq(run("{\"x\": 1, \"note\": \"a\"}\n\n  \n{\"x\": 2}", false), EXIT_DONE);
    ck_assert_str_eq(answers(), "{\"x\": 1, \"note\": \"a\", \"twice\": 2}\n"
                                "{\"x\": 2, \"twice\": 4}\n");
}
END_TEST

START_TEST(a_fault_ends_the_list_and_leaves_no_file)
{
    ck_assert_int_eq(run("{\"x\": 1}\n{\"y\": 1}\n{\"x\": 2}\n", false), EXIT_BAD_INPUT);
    ck_assert_ptr_null(answers());
    ck_assert_int_eq(run("{\"x\": 13}\n", false), EXIT_INFEASIBLE);
    ck_assert_int_eq(run("[1]\n", false), EXIT_BAD_INPUT);
    ck_assert_int_eq(run("{\"x\":\n", false), EXIT_BAD_INPUT);
}
END_TEST

/* What was written of an answer before its fault is not shown. */
START_TEST(a_list_that_keeps_going_answers_every_line)
{
    ck_assert_int_eq(run("{\"x\": 13}\nnonsense\n{\"x\": 3}\n", true), EXIT_INFEASIBLE);
    const char *text = answers();
    ck_assert_ptr_nonnull(text);
    ck_assert(strncmp(text, "{\"x\": 13, \"error\": \"13 it is\"}\n{\"error\": \"", 42) == 0);
    ck_assert_ptr_nonnull(strstr(text, "\n{\"x\": 3, \"twice\": 6}\n"));
}
END_TEST

/* Two lines of 1.5 MiB: refused, and the line after them is still found. */
START_TEST(a_line_of_megabytes_is_refused)
{
    size_t length = 3 << 19;
    char *lines = arena_alloc(arena, 2 * length + 32, 1);
    memset(lines, ' ', 2 * length);
    lines[0] = lines[length] = '"';
    lines[length - 1] = lines[2 * length - 1] = '\n';
    snprintf(lines + 2 * length, 32, "{\"x\": 4}\n");
    ck_assert_int_eq(run(lines, true), EXIT_BAD_INPUT);
    const char *text = answers();
    ck_assert_ptr_nonnull(strstr(text, "a line of more than 1048576 bytes"));
    ck_assert_ptr_nonnull(strstr(text, "{\"x\": 4, \"twice\": 8}\n"));
}
END_TEST

START_TEST(files_that_are_not_there_are_named)
{
    struct price_list list = {
        .path = "/nonexistent/in", .output_path = output_path, .price = price_double};
    ck_assert_int_eq(price_list_run(&list), EXIT_IO);
    ck_assert_int_eq(run("{\"x\": 1}\n", false), EXIT_DONE);
    list = (struct price_list){
        .path = input_path, .output_path = "/nonexistent/out", .price = price_double};
    ck_assert_int_eq(price_list_run(&list), EXIT_IO);
    list.path = "/";
    ck_assert_int_eq(price_list_run(&list), EXIT_IO);
}
END_TEST

Suite *price_list_suite(void);

Suite *
price_list_suite(void)
{
    Suite *suite = suite_create("price_list");
    TCase *tests = tcase_create("price_list");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, each_question_is_repeated_with_its_answer);
    tcase_add_test(tests, a_fault_ends_the_list_and_leaves_no_file);
    tcase_add_test(tests, a_list_that_keeps_going_answers_every_line);
    tcase_add_test(tests, a_line_of_megabytes_is_refused);
    tcase_add_test(tests, files_that_are_not_there_are_named);
    suite_add_tcase(suite, tests);
    return suite;
}
