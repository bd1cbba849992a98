/* Lines of measured pairs: what is read, and what is refused with which words. */
#include "validate/overlap_list.h"

#include <string.h>

#include "sim/base/check_arena.h"
#include "sim/base/check_near.h"

static struct arena *arena;
static struct error_list errors;
static struct overlap_list list;

static void
setup(void)
{
    arena = check_arena_new();
    errors = (struct error_list){0};
    list = (struct overlap_list){0};
}

static void
teardown(void)
{
    arena_free(arena);
}

static bool
parse(const char *kernel, const char *collective, const char *rest)
{
    struct text text = text_new(arena);
    text_format(&text,
                "\n{\"kernel\": %s, \"kernel_count\": 3, \"collective\": %s, "
                "\"collective_count\": 2, \"measured_kernels_alone_s\": 0.5, "
                "\"measured_collectives_alone_s\": 0.25, \"measured_kernels_s\": 0.75, "
                "\"measured_collectives_s\": 1%s}\n",
                kernel, collective, rest);
    return overlap_list_parse(&list, "pairs.jsonl", &text, arena, &errors);
}

#define GEMM                                                                                   \
    "{\"kernel\": \"gemm\", \"m\": 8, \"n\": 4, \"k\": 2, \"layout\": \"nt\", \"dtype\": "     \
    "\"bf16\"}"
#define GATHER "{\"collective\": \"all_gather\", \"ranks\": 8, \"nodes\": 1, \"bytes\": 64}"
#define HELD   ", \"measured_part\": \"held-out\""

START_TEST(a_pair_is_read_with_its_times)
{
    ck_assert_msg(parse(GEMM, GATHER, HELD), "%s", errors.items[0].what);
    ck_assert_uint_eq(list.count, 1);
    const struct measured_overlap *row = &list.items[0];
    ck_assert_int_eq(row->pair.kernel.kind, KERNEL_GEMM);
    ck_assert_int_eq(row->pair.kernel_count, 3);
    ck_assert_int_eq(row->pair.collective.ranks, 8);
    ck_assert_int_eq(row->pair.collective_count, 2);
    CHECK_NEAR(row->pair.collectives_alone_s, 0.25, 0);
    CHECK_NEAR(row->kernels_s, 0.75, 0);
    ck_assert_int_eq(row->part, SPLIT_HELD_OUT);
    ck_assert_int_eq(row->line, 2);
}
END_TEST

/* Of some pairs only the end of the last is known. */
START_TEST(the_time_of_both_stands_alone)
{
    static const char *const times[] = {"\"measured_both_s\": 2", "\"measured_kernels_s\": 1",
                                        "\"measured_both_s\": 2, \"measured_kernels_s\": 1",
                                        "\"measured_both_s\": 2, \"measured_collectives_s\": 1",
                                        "\"note\": \"none\""};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        struct text text = text_new(arena);
        text_format(&text,
                    "{\"kernel\": %s, \"kernel_count\": 3, \"collective\": %s, "
                    "\"collective_count\": 2, \"measured_kernels_alone_s\": 0.5, %s%s}\n",
                    GEMM, GATHER, times[i], HELD);
        ck_assert_int_eq(overlap_list_parse(&list, "pairs.jsonl", &text, arena, &errors),
                         i < 2);
    }
    CHECK_NEAR(list.items[0].both_s, 2, 0);
    CHECK_NEAR(list.items[0].kernels_s, 0, 0);
    ck_assert_ptr_nonnull(strstr(errors.items[0].what, "'measured_both_s' and no other time"));
}
END_TEST

static void
check_refused(const char *kernel, const char *collective, const char *rest, const char *words)
{
    errors = (struct error_list){0};
    ck_assert(!parse(kernel, collective, rest));
    ck_assert_msg(strstr(errors.items[0].what, words) != NULL, "%s", errors.items[0].what);
    ck_assert_ptr_nonnull(strstr(errors.items[0].where, "pairs.jsonl:2:"));
}

START_TEST(lines_that_make_no_sense_are_refused)
{
    check_refused("3", GATHER, HELD, "wanted a kernel");
    check_refused(GEMM, "[]", HELD, "wanted a collective");
    check_refused(GEMM, GEMM, HELD, "unknown key");
    check_refused(GEMM, GATHER, "", "measured_part");
    check_refused(GEMM, GATHER, HELD ", \"ranks\": 3", "unknown key 'ranks'");
    check_refused(GEMM, GATHER, ", \"measured_part\": \"none\"", "'none'");
    struct text nothing = text_new(arena);
    text_format(&nothing, " \n");
    errors = (struct error_list){0};
    ck_assert(!overlap_list_parse(&list, "n", &nothing, arena, &errors));
    ck_assert_ptr_nonnull(strstr(errors.items[0].what, "no line"));
}
END_TEST

START_TEST(the_reference_is_read)
{
    ck_assert_msg(
        overlap_list_read(&list, "validate/reference/h200/overlap.jsonl", arena, &errors), "%s",
        errors.items[0].what);
    ck_assert_uint_eq(list.count, 20);
}
END_TEST

START_TEST(what_collectives_take_may_be_unknown)
{
    ck_assert_msg(
        overlap_list_read(&list, "validate/reference/mi300x/overlap.jsonl", arena, &errors),
        "%s", errors.items[0].what);
    ck_assert_uint_eq(list.count, 6);
    CHECK_NEAR(list.items[3].both_s, 0.002549, 0);
    CHECK_NEAR(list.items[2].kernels_s, 0.0191, 0);
    CHECK_NEAR(list.items[2].collectives_s, 0, 0);
    CHECK_NEAR(list.items[2].pair.collectives_alone_s, 0, 0);
}
END_TEST

Suite *overlap_list_suite(void);

Suite *
overlap_list_suite(void)
{
    Suite *suite = suite_create("overlap_list");
    TCase *tests = tcase_create("overlap_list");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, a_pair_is_read_with_its_times);
    tcase_add_test(tests, the_time_of_both_stands_alone);
    tcase_add_test(tests, lines_that_make_no_sense_are_refused);
    tcase_add_test(tests, the_reference_is_read);
    tcase_add_test(tests, what_collectives_take_may_be_unknown);
    suite_add_tcase(suite, tests);
    return suite;
}
