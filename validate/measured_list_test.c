/* Are measured rows read with their line, and is what is no measurement refused with it? */
#include "validate/measured_list.h"

#include <string.h>

#include "sim/base/check_arena.h"
#include "sim/base/check_near.h"

Suite *measured_list_suite(void);

static struct arena *arena;
static struct error_list errors;
static struct measured_list list;

static void
setup(void)
{
    arena = check_arena_new();
    memset(&errors, 0, sizeof errors);
    memset(&list, 0, sizeof list);
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
    text_append(&text, lines, strlen(lines));
    return measured_list_parse(&list, "list", &text, arena, &errors);
}

#define SOFTMAX "{\"kernel\": \"softmax\", \"rows\": 4, \"width\": 8, \"dtype\": \"fp32\""

START_TEST(kernels_and_collectives_stand_in_one_list)
{
    ck_assert(parse(SOFTMAX ", \"measured_s\": 2e-6, \"library\": \"x\", \"source\": \"y\"}\n"
                            "\n"
                            "{\"collective\": \"all_reduce\", \"ranks\": 8, \"nodes\": 1,"
                            "\"bytes\": 4096, \"dtype\": \"bf16\", \"measured_s\": 1}"));
    ck_assert_uint_eq(list.count, 2);
    ck_assert(!list.items[0].is_collective);
    CHECK_NEAR(list.items[0].measured_s, 2e-6, 0);
    ck_assert_str_eq(list.items[0].library, "x");
    ck_assert_str_eq(list.items[0].source, "y");
    ck_assert(list.items[1].is_collective);
    ck_assert_ptr_null(list.items[1].library);
    ck_assert_str_eq(list.items[1].list, "list");
    ck_assert_int_eq(list.items[1].line, 3);
}
END_TEST

START_TEST(shapes_leave_out_what_does_not_cost)
{
    ck_assert(parse(SOFTMAX
                    ", \"measured_s\": 1}\n"
                    "{\"kernel\": \"gemm\", \"m\": 1, \"n\": 2, \"k\": 3, \"layout\":"
                    "\"tn\", \"dtype\": \"bf16\", \"measured_s\": 1}\n"
                    "{\"kernel\": \"grouped_gemm\", \"rows\": [5, 0], \"n\": 2, \"k\": 3,"
                    "\"dtype\": \"bf16\", \"measured_s\": 1}\n"
                    "{\"collective\": \"broadcast\", \"ranks\": 8, \"nodes\": 1,"
                    "\"bytes\": 4096, \"dtype\": \"bf16\", \"measured_s\": 1}"));
    ck_assert_str_eq(measured_shape(&list.items[0], arena), "softmax rows=4 width=8");
    ck_assert_str_eq(measured_shape(&list.items[1], arena), "gemm m=1 n=2 k=3 batch=1");
    ck_assert_str_eq(measured_shape(&list.items[2], arena), "grouped_gemm n=2 k=3 rows=5,0");
    ck_assert_str_eq(measured_shape(&list.items[3], arena),
                     "broadcast ranks=8 nodes=1 bytes=4096");
}
END_TEST

/* 100 us, of which the host's 30 vanish behind other kernels. */
START_TEST(an_enqueued_row_holds_no_host_time)
{
    ck_assert(parse(SOFTMAX ", \"measured_s\": 1, \"measured_enqueued\": true}\n" SOFTMAX
                            ", \"measured_s\": 1, \"measured_enqueued\": false}\n" SOFTMAX
                            ", \"measured_s\": 1}\n"));
    const struct kernel_cost cost = {.seconds_s = 100e-6, .host_s = 30e-6};
    CHECK_NEAR(measured_predicted_s(&list.items[0], &cost), 70e-6, 1e-12);
    CHECK_NEAR(measured_predicted_s(&list.items[1], &cost), 100e-6, 1e-12);
    CHECK_NEAR(measured_predicted_s(&list.items[2], &cost), 100e-6, 1e-12);
}
END_TEST

START_TEST(a_row_may_say_its_part)
{
    ck_assert(parse(SOFTMAX ", \"measured_s\": 1}\n" SOFTMAX
                            ", \"measured_s\": 1, \"measured_part\": \"held-out\"}\n" SOFTMAX
                            ", \"measured_s\": 1, \"measured_part\": \"fit\"}\n"));
    ck_assert(!list.items[0].has_part);
    ck_assert(list.items[1].has_part && list.items[1].part == SPLIT_HELD_OUT);
    ck_assert(list.items[2].has_part && list.items[2].part == SPLIT_FIT);
}
END_TEST

/* Each of these lines is wrong in one way, after one that is right. */
static const char *const wrong_lines[] = {
    SOFTMAX "}",
    SOFTMAX ", \"measured_s\": 0}",
    SOFTMAX ", \"measured_s\": -1}",
    SOFTMAX ", \"measured_s\": \"1\"}",
    SOFTMAX ", \"measured_s\": 1, \"measured_part\": \"both\"}",
    SOFTMAX ", \"measured_s\": 1, \"measured_part\": 1}",
    SOFTMAX ", \"measured_s\": 1, \"measured_enqueued\": 1}",
    SOFTMAX ", \"measured_s\": 1",
    SOFTMAX ", \"measured_s\": 1, \"rosw\": 4}",
    "{\"kernel\": \"soft\", \"measured_s\": 1}",
    "{\"collective\": \"all_reduce\", \"measured_s\": 1}",
    "{\"measured_s\": 1}",
    "[1]",
    "1",
};

enum { WRONG_COUNT = sizeof wrong_lines / sizeof wrong_lines[0] };

START_TEST(a_wrong_line_is_named)
{
    const char *right = SOFTMAX ", \"measured_s\": 1}\n";
    ck_assert(!parse(arena_format(arena, "%s%s\n%s", right, wrong_lines[_i], right)));
    ck_assert_uint_eq(list.count, 2);
    ck_assert_int_ge(errors.count, 1);
    ck_assert_msg(strncmp(errors.items[0].where, "list:2", 6) == 0, "%s",
                  errors.items[0].where);
}
END_TEST

START_TEST(an_empty_list_is_a_fault)
{
    ck_assert(!parse(""));
    ck_assert(!parse("\n  \n"));
    ck_assert_int_eq(errors.count, 2);
    ck_assert(!measured_list_read(&list, "no/such/list.jsonl", arena, &errors));
    ck_assert_int_eq((int)errors.items[2].kind, ERROR_IO);
}
END_TEST

/* Of three products two tell a machine whose clock the file knows. */
START_TEST(rows_of_known_clocks_may_be_kept_without_them)
{
    const char *const product = "{\"kernel\": \"gemm\", \"m\": %d, \"n\": 1, \"k\": 1, "
                                "\"layout\": \"nt\", \"dtype\": \"bf16\", "
                                "\"source\": \"%s\", \"measured_s\": 1}\n";
    struct device device = {
        .gemm = {.machines = {{"x_tuned", 1.1}, {"y_tuned", 0.9}}, .machine_count = 2}};
    struct text lines = text_new(arena);
    text_format(&lines, product, 1, "a y_tuned.csv");
    text_format(&lines, product, 2, "z_tuned.csv");
    text_format(&lines, product, 3, "x_tuned");
    text_format(&lines, SOFTMAX ", \"source\": \"x_tuned\", \"measured_s\": 1}\n");
    ck_assert(measured_list_parse(&list, "list", &lines, arena, &errors));
    ck_assert_str_eq(list.items[1].kernel.source, "z_tuned.csv");
    measured_list_forget_clocks(&list, &device);
    ck_assert_uint_eq(list.count, 2);
    for (size_t i = 0; i < 2; i++) {
        ck_assert_int_eq(list.items[i].kernel.gemm.m, i == 0 ? 1 : 3);
        ck_assert_ptr_null(list.items[i].kernel.source);
    }
}
END_TEST

Suite *
measured_list_suite(void)
{
    Suite *suite = suite_create("measured_list");
    TCase *reading = tcase_create("reading");
    tcase_add_checked_fixture(reading, setup, teardown);
    tcase_add_test(reading, kernels_and_collectives_stand_in_one_list);
    tcase_add_test(reading, shapes_leave_out_what_does_not_cost);
    tcase_add_test(reading, an_enqueued_row_holds_no_host_time);
    tcase_add_test(reading, a_row_may_say_its_part);
    tcase_add_loop_test(reading, a_wrong_line_is_named, 0, WRONG_COUNT);
    tcase_add_test(reading, an_empty_list_is_a_fault);
    tcase_add_test(reading, rows_of_known_clocks_may_be_kept_without_them);
    suite_add_tcase(suite, reading);
    return suite;
}
