/* Are ticks where a person would put them, and do their labels say so? */
#include "plots/axis.h"

#include <check.h>

#include "sim/base/check_near.h"
#include "sim/base/check_often.h"

Suite *axis_suite(void);

/* 724 / 0.1 s would be 8 ticks, one too many; 0.2 s gives 0, 200, 400, 600. */
START_TEST(ticks_are_the_closest_that_stay_within_seven)
{
    struct axis axis = axis_linear(0.0, 0.724, "s", 7);
    ck_assert_uint_eq(axis.tick_count, 4);
    ck_assert_str_eq(axis.unit, "ms");
    ck_assert_str_eq(axis.ticks[0].label, "0");
    ck_assert_str_eq(axis.ticks[3].label, "600");
    CHECK_NEAR(axis.ticks[3].value, 0.6, 1e-12);
}
END_TEST

/* 0 to 0.6 s in steps of 0.1 s: exactly seven, the last one on the end but for rounding. */
START_TEST(a_tick_may_stand_on_either_end)
{
    struct axis axis = axis_linear(0.0, 0.6, "s", 7);
    ck_assert_uint_eq(axis.tick_count, 7);
    ck_assert_str_eq(axis.ticks[6].label, "600");
}
END_TEST

/* 2.75 ms in at most 7: 0.5 ms gives 394.5, 395.0, ... 397.0. All carry the same decimals. */
START_TEST(a_window_far_from_zero_keeps_one_prefix_and_its_decimals)
{
    struct axis axis = axis_linear(394.38e-3, 397.13e-3, "s", 7);
    ck_assert_uint_eq(axis.tick_count, 6);
    ck_assert_str_eq(axis.unit, "ms");
    ck_assert_str_eq(axis.ticks[0].label, "394.5");
    ck_assert_str_eq(axis.ticks[1].label, "395.0");
    ck_assert_str_eq(axis.ticks[5].label, "397.0");
}
END_TEST

/* 3.5e12 B/s in at most 4: steps of 1e12: 0, 1, 2, 3 TB/s. */
START_TEST(rates_take_prefixes_above_one_and_times_below)
{
    struct axis rate = axis_linear(0.0, 3.5e12, "B/s", 4);
    ck_assert_str_eq(rate.unit, "TB/s");
    ck_assert_str_eq(rate.ticks[3].label, "3");
    struct axis hours = axis_linear(0.0, 7200.0, "s", 7);
    ck_assert_str_eq(hours.unit, "s");
    ck_assert_str_eq(hours.ticks[1].label, "2000");
}
END_TEST

START_TEST(a_unit_that_is_a_word_stands_apart)
{
    ck_assert_str_eq(axis_linear(0.0, 30e3, "token/s", 7).unit, "k token/s");
    ck_assert_str_eq(axis_linear(0.0, 30.0, "token/s", 7).unit, "token/s");
    ck_assert_str_eq(axis_log(1e3, 1e6, "token/s", 7).ticks[0].label, "1 k token/s");
}
END_TEST

START_TEST(zero_is_never_written_as_minus_zero)
{
    struct axis axis = axis_linear(-0.3, 0.3, "", 7);
    ck_assert_str_eq(axis.ticks[axis.tick_count / 2].label, "0.0");
}
END_TEST

/* 1e3 to 1e9 are seven decades; in at most four, every second: 1 kB, 100 kB, 10 MB, 1 GB. */
START_TEST(log_ticks_stand_at_powers_of_ten)
{
    struct axis all = axis_log(1e3, 1e9, "B", 7);
    ck_assert_uint_eq(all.tick_count, 7);
    struct axis axis = axis_log(1e3, 1e9, "B", 4);
    ck_assert_uint_eq(axis.tick_count, 4);
    ck_assert_str_eq(axis.ticks[0].label, "1 kB");
    ck_assert_str_eq(axis.ticks[1].label, "100 kB");
    ck_assert_str_eq(axis.ticks[3].label, "1 GB");
    CHECK_NEAR(axis_fraction(&axis, 1e6), 0.5, 1e-12);
}
END_TEST

START_TEST(any_range_gives_at_most_seven_ticks_within_it)
{
    for (int i = 1; i < 2000; i++) {
        double low = (i % 7) * 1e-4, high = low + 1.7e-9 * i * i * i;
        struct axis axis = axis_linear(low, high, "s", 7);
        ck_assert_uint_le(axis.tick_count, 7);
        ck_assert_uint_ge(axis.tick_count, 2);
        for (size_t t = 0; t < axis.tick_count; t++) {
            double part = axis_fraction(&axis, axis.ticks[t].value);
            CHECK_OFTEN(part > -1e-6 && part < 1.0 + 1e-6);
        }
    }
}
END_TEST

/* 1024 to 8192 in at most 7: by 1024 there would be eight, so 2048, 4096, 6144, 8192. */
START_TEST(a_binary_scale_counts_in_powers_of_two)
{
    struct axis axis = axis_binary(1024, 8192, "", 7);
    ck_assert_uint_eq(axis.tick_count, 4);
    ck_assert_str_eq(axis.ticks[0].label, "2048");
    ck_assert_str_eq(axis.ticks[3].label, "8192");
    CHECK_NEAR(axis_fraction(&axis, 2048), 1.0 / 7, 1e-12);
}
END_TEST

/* 2^10 to 2^34 in at most 7: every fourth power, 2^10, 2^14, ... 2^34. */
START_TEST(a_binary_log_scale_takes_binary_prefixes_of_bytes_alone)
{
    struct axis bytes = axis_log_binary(1024, 0x1p34, "B", 7);
    ck_assert_uint_eq(bytes.tick_count, 7);
    ck_assert_str_eq(bytes.ticks[0].label, "1 KiB");
    ck_assert_str_eq(bytes.ticks[1].label, "16 KiB");
    ck_assert_str_eq(bytes.ticks[6].label, "16 GiB");
    struct axis widths = axis_log_binary(512, 2048, "", 7);
    ck_assert_uint_eq(widths.tick_count, 3);
    ck_assert_str_eq(widths.ticks[2].label, "2048");
    CHECK_NEAR(axis_fraction(&widths, 1024), 0.5, 1e-12);
}
END_TEST

START_TEST(a_log_scale_under_a_decade_has_ticks_between)
{
    struct axis axis = axis_log(0.9e-5, 7e-5, "s", 7);
    ck_assert_uint_eq(axis.tick_count, 3);
    ck_assert_str_eq(axis.ticks[0].label, "10 µs");
    ck_assert_str_eq(axis.ticks[2].label, "50 µs");
}
END_TEST

Suite *
axis_suite(void)
{
    Suite *suite = suite_create("axis");
    TCase *tests = tcase_create("axis");
    tcase_add_test(tests, ticks_are_the_closest_that_stay_within_seven);
    tcase_add_test(tests, a_tick_may_stand_on_either_end);
    tcase_add_test(tests, a_window_far_from_zero_keeps_one_prefix_and_its_decimals);
    tcase_add_test(tests, rates_take_prefixes_above_one_and_times_below);
    tcase_add_test(tests, a_unit_that_is_a_word_stands_apart);
    tcase_add_test(tests, zero_is_never_written_as_minus_zero);
    tcase_add_test(tests, log_ticks_stand_at_powers_of_ten);
    tcase_add_test(tests, any_range_gives_at_most_seven_ticks_within_it);
    tcase_add_test(tests, a_binary_scale_counts_in_powers_of_two);
    tcase_add_test(tests, a_binary_log_scale_takes_binary_prefixes_of_bytes_alone);
    tcase_add_test(tests, a_log_scale_under_a_decade_has_ticks_between);
    suite_add_tcase(suite, tests);
    return suite;
}
