/* Are the error statistics those of the textbook? */
#include "validate/error_table.h"

#include <string.h>

#include "sim/base/check_arena.h"
#include "sim/base/check_near.h"

Suite *error_table_suite(void);

static struct arena *arena;

static void
setup(void)
{
    arena = check_arena_new();
}

static void
teardown(void)
{
    arena_free(arena);
}

static struct error_sample
sample(double measured_s, double predicted_s, const char *shape)
{
    return (struct error_sample){.group = {"gemm", "bf16", "all", 0, false},
                                 .part = SPLIT_HELD_OUT,
                                 .measured_s = measured_s,
                                 .predicted_s = predicted_s,
                                 .relative_sigma = 0.05,
                                 .shape = shape};
}

/* Errors +10, -20, +5, 0, -2 %: MAPE (10+20+5+0+2)/5 = 7.4, bias (10-20+5+0-2)/5 = -1.4;
 * magnitudes sorted 0 2 5 10 20, p90 at index 0.9*4 = 3.6: 10 + 0.6*(20-10) = 16.
 * The +10 is made +9.99, clear of the edge: within twice 5 % are all but the -20. */
START_TEST(five_rows_worked_by_hand)
{
    const struct error_sample samples[] = {
        sample(1, 1.0999, "a"), sample(2, 1.6, "b"), sample(4, 4.2, "c"),
        sample(8, 8, "d"),      sample(5, 4.9, "e"),
    };
    struct error_table table = error_table_new(samples, 5, arena);
    ck_assert_uint_eq(table.count, 1);
    const struct error_row *row = &table.rows[0];
    ck_assert_uint_eq(row->count, 5);
    CHECK_NEAR(row->mape_fraction, 0.07398, 1e-12);
    CHECK_NEAR(row->bias_fraction, -0.01402, 1e-12);
    CHECK_NEAR(row->p90_fraction, 0.0999 + 0.6 * (0.2 - 0.0999), 1e-12);
    CHECK_NEAR(row->worst_fraction, -0.2, 1e-12);
    CHECK_NEAR(row->within_two_sigma_fraction, 0.8, 1e-12);
    ck_assert_str_eq(row->worst.shape, "b");
}
END_TEST

START_TEST(fit_and_held_out_never_mix)
{
    struct error_sample samples[] = {sample(1, 1.5, "a"), sample(1, 1.1, "b"),
                                     sample(1, 1.3, "c")};
    samples[1].part = SPLIT_FIT;
    struct error_table table = error_table_new(samples, 3, arena);
    ck_assert_uint_eq(table.count, 2);
    ck_assert_int_eq((int)table.rows[0].part, SPLIT_HELD_OUT);
    CHECK_NEAR(table.rows[0].mape_fraction, 0.4, 1e-12);
    ck_assert_int_eq((int)table.rows[1].part, SPLIT_FIT);
    CHECK_NEAR(table.rows[1].mape_fraction, 0.1, 1e-12);
}
END_TEST

START_TEST(groups_stand_by_their_order)
{
    struct error_sample samples[] = {sample(1, 1, "a"), sample(1, 1, "b"), sample(1, 2, "c")};
    samples[0].group.order = 2;
    samples[1].group = (struct error_group){"gemm", "bf16", "over 100 us", 3, false};
    samples[2].group = (struct error_group){"attention", "bf16", "all", 1, false};
    struct error_table table = error_table_new(samples, 3, arena);
    ck_assert_uint_eq(table.count, 3);
    ck_assert_str_eq(table.rows[0].group.kind, "attention");
    ck_assert_str_eq(table.rows[1].group.size, "all");
    ck_assert_str_eq(table.rows[2].group.size, "over 100 us");
}
END_TEST

START_TEST(groups_stand_in_order_of_appearance)
{
    struct error_sample samples[] = {sample(1, 1, "a"), sample(1, 1, "b"), sample(1, 2, "c")};
    samples[1].group.dtype = "fp8";
    struct error_table table = error_table_new(samples, 3, arena);
    ck_assert_uint_eq(table.count, 2);
    ck_assert_str_eq(table.rows[0].group.dtype, "bf16");
    ck_assert_uint_eq(table.rows[0].count, 2);
    ck_assert_str_eq(table.rows[1].group.dtype, "fp8");
}
END_TEST

START_TEST(nothing_gives_an_empty_table)
{
    ck_assert_uint_eq(error_table_new(NULL, 0, arena).count, 0);
}
END_TEST

START_TEST(printed_row_is_in_percent)
{
    const struct error_sample one = sample(2, 1.6, "gemm m=1");
    struct error_table table = error_table_new(&one, 1, arena);
    struct text out = text_new(arena);
    error_table_print(&table, "a title", &out);
    ck_assert_ptr_nonnull(strstr(out.bytes, "a title\n"));
    ck_assert_ptr_nonnull(strstr(out.bytes,
                                 "held-out     1    20.0   -20.0    20.0   -20.0     0"
                                 "  gemm m=1\n"));
}
END_TEST

/* The fit row and the size class stay out. */
START_TEST(summary_has_held_out_rows_over_all_sizes)
{
    struct error_sample samples[] = {sample(2, 1.6, "a"), sample(1, 1, "b"), sample(1, 1, "c")};
    samples[1].part = SPLIT_FIT;
    samples[2].group.size = "under 10 us";
    struct error_table table = error_table_new(samples, 3, arena);
    struct text out = text_new(arena);
    error_table_print_summary(&table, "a title", &out);
    ck_assert_ptr_nonnull(strstr(out.bytes, "    1    20.0   -20.0    20.0     0\n"));
    ck_assert_ptr_null(strstr(strchr(strchr(out.bytes, '\n') + 1, '\n') + 1, "\n"));
}
END_TEST

Suite *
error_table_suite(void)
{
    Suite *suite = suite_create("error_table");
    TCase *statistics = tcase_create("statistics");
    tcase_add_checked_fixture(statistics, setup, teardown);
    tcase_add_test(statistics, five_rows_worked_by_hand);
    tcase_add_test(statistics, fit_and_held_out_never_mix);
    tcase_add_test(statistics, groups_stand_by_their_order);
    tcase_add_test(statistics, groups_stand_in_order_of_appearance);
    tcase_add_test(statistics, nothing_gives_an_empty_table);
    tcase_add_test(statistics, printed_row_is_in_percent);
    tcase_add_test(statistics, summary_has_held_out_rows_over_all_sizes);
    suite_add_tcase(suite, statistics);
    return suite;
}
