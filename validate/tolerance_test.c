/* Are limits read as people write them, and does one on nothing fail? */
#include "validate/tolerance.h"

#include <string.h>

#include "sim/base/check_arena.h"
#include "sim/base/check_near.h"

Suite *tolerance_suite(void);

static struct arena *arena;
static struct error_list errors;
static struct tolerance_list list;
static struct tolerance_verdicts verdicts;

static void
setup(void)
{
    arena = check_arena_new();
    memset(&errors, 0, sizeof errors);
    memset(&list, 0, sizeof list);
    memset(&verdicts, 0, sizeof verdicts);
}

static void
teardown(void)
{
    arena_free(arena);
}

/* bf16 products 5 % off in all and 10 % off when large, fp8 ones 20 % off; all held out but the
 * last, which is 50 % off in the fit. */
static struct error_table
table_of_four(void)
{
    static const struct error_sample samples[] = {
        {{"gemm", "bf16", "all", 0, false}, SPLIT_HELD_OUT, 1, 1.05, 0, "a"},
        {{"gemm", "bf16", "over 100 us", 1, false}, SPLIT_HELD_OUT, 1, 1.1, 0, "b"},
        {{"gemm", "fp8", "all", 4, false}, SPLIT_HELD_OUT, 1, 1.2, 0, "c"},
        {{"softmax", "fp32", "all", 9, false}, SPLIT_FIT, 1, 1.5, 0, "d"},
    };
    return error_table_new(samples, 4, arena);
}

static bool
check(const char *text)
{
    ck_assert(tolerance_parse(&list, text, arena, &errors));
    struct error_table table = table_of_four();
    return tolerance_check(&list, &table, &verdicts, arena, &errors);
}

START_TEST(a_kind_means_each_of_its_dtypes)
{
    ck_assert(check("gemm=8%"));
    ck_assert_uint_eq(verdicts.count, 2);
    ck_assert(verdicts.items[0].holds);
    ck_assert(!verdicts.items[1].holds);
    ck_assert(!verdicts.all_hold);
}
END_TEST

START_TEST(a_size_class_is_held_by_itself)
{
    ck_assert(check("gemm/bf16/over 100 us=0.11"));
    ck_assert_uint_eq(verdicts.count, 1);
    CHECK_NEAR(verdicts.items[0].row->mape_fraction, 0.1, 1e-12);
    ck_assert(verdicts.all_hold);
}
END_TEST

START_TEST(a_limit_on_no_held_out_row_is_a_fault)
{
    ck_assert(!check("softmax=8%"));
    ck_assert_int_eq(errors.count, 1);
    ck_assert_str_eq(errors.items[0].where, "--tolerance softmax=8%");
}
END_TEST

START_TEST(a_prediction_that_is_no_number_breaks_its_limit)
{
    struct error_sample sample = {
        {"gemm", "bf16", "all", 0, false}, SPLIT_HELD_OUT, 1, (double)NAN, 0, "a"};
    struct error_table table = error_table_new(&sample, 1, arena);
    ck_assert(tolerance_parse(&list, "gemm=100", arena, &errors));
    ck_assert(tolerance_check(&list, &table, &verdicts, arena, &errors));
    ck_assert(!verdicts.all_hold);
}
END_TEST

START_TEST(misspelt_limits_are_refused)
{
    const char *const texts[] = {"gemm",     "gemm=", "gemm=x",   "gemm=-1%",
                                 "gemm=8%%", "=8%",   "gemm=nan", "gemm=inf"};
    const int count = sizeof texts / sizeof texts[0];
    for (int i = 0; i < count; i++)
        ck_assert_msg(!tolerance_parse(&list, texts[i], arena, &errors), "%s", texts[i]);
    ck_assert_int_eq(errors.count, count);
    ck_assert_uint_eq(list.count, 0);
}
END_TEST

static bool
read_text(const char *text)
{
    const struct json *object = json_read_text(arena, "t", 1, text, strlen(text), &errors);
    return tolerance_read(&list, object, arena, &errors);
}

START_TEST(a_file_holds_fractions)
{
    ck_assert(read_text("{\"gemm/bf16/over 100 us\": 0.04, \"attention\": 0.06}"));
    ck_assert_uint_eq(list.count, 2);
    ck_assert_str_eq(list.items[0].dtype, "bf16");
    ck_assert_str_eq(list.items[0].size, "over 100 us");
    CHECK_NEAR(list.items[1].mape_fraction_max, 0.06, 0);
    ck_assert_str_eq(list.items[1].size, "all");
}
END_TEST

START_TEST(a_file_with_other_than_fractions_is_refused)
{
    ck_assert(!read_text("{\"gemm\": \"8%\"}"));
    ck_assert(!read_text("{\"gemm\": -0.1}"));
    ck_assert(!read_text("[0.08]"));
    ck_assert_int_eq(errors.count, 3);
}
END_TEST

Suite *
tolerance_suite(void)
{
    Suite *suite = suite_create("tolerance");
    TCase *limits = tcase_create("limits");
    tcase_add_checked_fixture(limits, setup, teardown);
    tcase_add_test(limits, a_kind_means_each_of_its_dtypes);
    tcase_add_test(limits, a_size_class_is_held_by_itself);
    tcase_add_test(limits, a_limit_on_no_held_out_row_is_a_fault);
    tcase_add_test(limits, a_prediction_that_is_no_number_breaks_its_limit);
    tcase_add_test(limits, misspelt_limits_are_refused);
    tcase_add_test(limits, a_file_holds_fractions);
    tcase_add_test(limits, a_file_with_other_than_fractions_is_refused);
    suite_add_tcase(suite, limits);
    return suite;
}
