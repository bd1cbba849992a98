/* Lines of a collective list: what is read, and what is refused with which words. */
#include "hw/collective.h"

#include <string.h>

#include "sim/base/check_arena.h"
#include "sim/base/check_near.h"

static struct arena *arena;
static struct error_list errors;
static struct collective collective;

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

static bool
read_line(const char *text)
{
    const struct json *object =
        json_read_text(arena, "l.jsonl", 3, text, strlen(text), &errors);
    return object && collective_read(object, &collective, arena, &errors);
}

static void
check_refused(const char *text, const char *word)
{
    errors = (struct error_list){0};
    ck_assert_msg(!read_line(text), "%s was taken", text);
    ck_assert_int_ge(errors.count, 1);
    ck_assert_int_eq(errors.items[0].kind, ERROR_INPUT);
    ck_assert_msg(strstr(errors.items[0].what, word) || strstr(errors.items[0].where, word),
                  "%s: %s", errors.items[0].where, errors.items[0].what);
}

START_TEST(a_measured_line_is_a_question)
{
    ck_assert(read_line("{\"collective\": \"all_gather\", \"ranks\": 16, \"nodes\": 2, "
                        "\"bytes\": 1048576, \"dtype\": \"fp32\", \"measured_s\": 1e-3, "
                        "\"library\": \"rccl\", \"source\": \"s\", \"note\": \"n\", "
                        "\"count\": 2}"));
    ck_assert_int_eq(collective.kind, COLLECTIVE_ALL_GATHER);
    ck_assert_int_eq(collective.dtype, DTYPE_FP32);
    ck_assert_int_eq(collective.ranks, 16);
    ck_assert_int_eq(collective.nodes, 2);
    CHECK_NEAR(collective.bytes, 1048576, 0);
}
END_TEST

START_TEST(a_send_may_name_its_ends)
{
    ck_assert(
        read_line("{\"collective\": \"send_recv\", \"bytes\": 8, \"from\": 1, \"to\": 9}"));
    ck_assert_int_eq(collective.from, 1);
    ck_assert_int_eq(collective.to, 9);
    ck_assert(read_line("{\"collective\": \"send_recv\", \"bytes\": 8, \"nodes\": 2}"));
    ck_assert_int_eq(collective.ranks, 2);
    ck_assert_int_eq(collective.nodes, 2);
}
END_TEST

START_TEST(lines_that_make_no_sense_are_refused)
{
    check_refused("{\"collective\": \"all_reduce\", \"ranks\": 8, \"nodes\": 3, \"bytes\": 1}",
                  "3 does not divide 8 ranks");
    check_refused("{\"collective\": \"all_reduce\", \"ranks\": 1, \"nodes\": 2, \"bytes\": 1}",
                  "2 does not divide 1 ranks");
    check_refused("{\"collective\": \"all_reduce\", \"ranks\": 8, \"nodes\": 1, \"bytes\": 0}",
                  "$.bytes");
    check_refused("{\"collective\": \"all_reduce\", \"ranks\": 8, \"nodes\": 1}", "bytes");
    check_refused("{\"collective\": \"all_reduce\", \"ranks\": 8, \"nodes\": 1, \"bytes\": 1, "
                  "\"byte\": 1}",
                  "'byte'");
    check_refused("{\"collective\": \"all_redcue\", \"ranks\": 8, \"nodes\": 1, \"bytes\": 1}",
                  "all_reduce");
    check_refused("{\"collective\": \"all_reduce\", \"from\": 0, \"to\": 1, \"ranks\": 8, "
                  "\"nodes\": 1, \"bytes\": 1}",
                  "'from'");
    check_refused("{\"collective\": \"send_recv\", \"bytes\": 1, \"from\": 4}", "'to'");
    check_refused("{\"collective\": \"send_recv\", \"bytes\": 1, \"from\": 4, \"to\": 4}",
                  "itself");
    check_refused("{\"collective\": \"send_recv\", \"bytes\": 1, \"ranks\": 3}", "$.ranks");
    check_refused("{\"ranks\": 8}", "collective");
}
END_TEST

START_TEST(ranks_may_be_listed_in_any_order)
{
    ck_assert(read_line("{\"collective\": \"all_reduce\", \"ranks\": [16, 0, 8], "
                        "\"bytes\": 4}"));
    ck_assert_int_eq(collective.group.size, 3);
    ck_assert_int_eq(collective.group.list[0], 0);
    ck_assert_int_eq(collective.group.list[2], 16);
    check_refused("{\"collective\": \"all_reduce\", \"ranks\": [4, 5, 4], \"bytes\": 1}",
                  "rank 4 is twice");
    check_refused("{\"collective\": \"all_reduce\", \"ranks\": [4, -5], \"bytes\": 1}",
                  "wanted a rank");
    check_refused("{\"collective\": \"all_reduce\", \"ranks\": [], \"bytes\": 1}",
                  "wanted a number of ranks");
    check_refused("{\"collective\": \"all_reduce\", \"ranks\": [1], \"nodes\": 1, "
                  "\"bytes\": 1}",
                  "'nodes'");
}
END_TEST

START_TEST(a_matrix_says_what_each_sends)
{
    ck_assert(read_line("{\"collective\": \"all_to_all_v\", \"ranks\": [0, 8], "
                        "\"bytes_matrix\": [[0, 5], [7.5, 1]]}"));
    ck_assert_int_eq(collective.kind, COLLECTIVE_ALL_TO_ALL_V);
    ck_assert_int_eq(collective.ranks, 2);
    CHECK_NEAR(collective.bytes, 8.5, 0);
    CHECK_NEAR(collective.bytes_matrix[2], 7.5, 0);
    check_refused("{\"collective\": \"all_to_all_v\", \"bytes_matrix\": [[0]]}",
                  "nothing is sent");
    check_refused("{\"collective\": \"all_to_all_v\", \"bytes_matrix\": [[1, 2], [3]]}",
                  "wanted a row of 2 numbers");
    check_refused("{\"collective\": \"all_to_all_v\", \"bytes_matrix\": [[1, -2], [3, 1]]}",
                  "wanted a number of bytes");
    check_refused("{\"collective\": \"all_to_all_v\", \"bytes_matrix\": 3}", "a list of rows");
    check_refused("{\"collective\": \"all_to_all_v\", \"ranks\": 3, "
                  "\"bytes_matrix\": [[1, 2], [3, 4]]}",
                  "3 ranks, but a matrix of 2");
    check_refused("{\"collective\": \"all_to_all_v\", \"nodes\": 3, "
                  "\"bytes_matrix\": [[1, 2], [3, 4]]}",
                  "do not divide");
}
END_TEST

START_TEST(a_fault_names_its_line)
{
    check_refused("{\"collective\": \"all_reduce\", \"ranks\": 8, \"nodes\": 1, \"bytes\": -1}",
                  "l.jsonl:3:");
}
END_TEST

Suite *collective_suite(void);

Suite *
collective_suite(void)
{
    Suite *suite = suite_create("collective");
    TCase *tests = tcase_create("collective");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, a_measured_line_is_a_question);
    tcase_add_test(tests, a_send_may_name_its_ends);
    tcase_add_test(tests, lines_that_make_no_sense_are_refused);
    tcase_add_test(tests, ranks_may_be_listed_in_any_order);
    tcase_add_test(tests, a_matrix_says_what_each_sends);
    tcase_add_test(tests, a_fault_names_its_line);
    suite_add_tcase(suite, tests);
    return suite;
}
