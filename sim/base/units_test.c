/* Conversions and prefixes, at the values where rounding changes the prefix. */
#include "sim/base/units.h"

#include <check.h>
#include <float.h>
#include <math.h>
#include <string.h>

START_TEST(seconds_become_whole_picoseconds)
{
    ck_assert_int_eq(units_ps_from_s(0), 0);
    ck_assert_int_eq(units_ps_from_s(1), 1000000000000);
    ck_assert_int_eq(units_ps_from_s(0.1) * 10, units_ps_from_s(1)); /* in double it is less */
    ck_assert_int_eq(units_ps_from_s(1.4e-12), 1);
    ck_assert_int_eq(units_ps_from_s(1.6e-12), 2);
    ck_assert_int_eq(units_ps_from_s(DBL_MIN), 0);
    ck_assert_int_eq(units_whole_ps(0.5), 1);
    ck_assert_int_eq(units_whole_ps(1.5), 2);
    ck_assert_int_eq(units_whole_ps(0x1.fffffffffffffp-2), 0); /* adding 0.5 would give 1 */
    ck_assert_int_eq(units_whole_ps(0x1p52 + 1), 4503599627370497);
    ck_assert_int_eq(units_ps_from_s(9e6), 9000000000000000000);
    ck_assert_double_eq(units_s_from_ps(1500000000000), 1.5);
    ck_assert_double_eq(units_s_from_ps(-1), -1e-12);
}
END_TEST

START_TEST(three_digits_are_shown)
{
    ck_assert_str_eq(units_format_s(1.236e-3).text, "1.24 ms");
    ck_assert_str_eq(units_format_s(12.36e-3).text, "12.4 ms");
    ck_assert_str_eq(units_format_s(123.6e-3).text, "124 ms");
    ck_assert_str_eq(units_format_s(-1.236e-3).text, "-1.24 ms");
}
END_TEST

/* 9.994 and 99.94 stay, 9.996 and 99.96 gain a digit in front and lose one behind. */
START_TEST(rounding_up_to_a_further_digit_keeps_three)
{
    ck_assert_str_eq(units_format_s(9.994).text, "9.99 s");
    ck_assert_str_eq(units_format_s(9.996).text, "10.0 s");
    ck_assert_str_eq(units_format_s(99.94).text, "99.9 s");
    ck_assert_str_eq(units_format_s(99.96).text, "100 s");
}
END_TEST

/* 999.4 rounds to 999, 999.5 and 999.6 to 1000, which is 1.00 of the next prefix. */
START_TEST(a_thousand_is_one_of_the_next_prefix)
{
    ck_assert_str_eq(units_format_bytes(999.4e6).text, "999 MB");
    ck_assert_str_eq(units_format_bytes(999.5e6).text, "1.00 GB");
    ck_assert_str_eq(units_format_bytes(999.6e6).text, "1.00 GB");
    ck_assert_str_eq(units_format_s(999.4e-6).text, "999 us");
    ck_assert_str_eq(units_format_s(999.6e-6).text, "1.00 ms");
    ck_assert_str_eq(units_format_s(0.9994e-9).text, "999 ps");
    ck_assert_str_eq(units_format_s(0.9996e-9).text, "1.00 ns");
}
END_TEST

START_TEST(the_last_prefix_takes_all_that_is_larger)
{
    ck_assert_str_eq(units_format_s(86400).text, "86400 s");
    ck_assert_str_eq(units_format_bytes(5e24).text, "5000 ZB");
    ck_assert_str_eq(units_format_count(2.5e15).text, "2500 T");
}
END_TEST

START_TEST(prefixes_reach_to_zetta)
{
    ck_assert_str_eq(units_format_bytes(5e18).text, "5.00 EB");
    ck_assert_str_eq(units_format_bytes(8e21).text, "8.00 ZB");
    ck_assert_str_eq(units_format_bytes_per_s(8e21).text, "8.00 ZB/s");
    ck_assert_str_eq(units_format_flop(8.75e21).text, "8.75 ZFLOP");
    ck_assert_str_eq(units_format_flop_per_s(1.2e21).text, "1.20 ZFLOP/s");
}
END_TEST

/* Six digits are the longest whole number shown; 24 characters hold the largest double. */
START_TEST(what_no_prefix_fits_has_an_exponent)
{
    ck_assert_str_eq(units_format_s(999999.4).text, "999999 s");
    ck_assert_str_eq(units_format_s(999999.6).text, "1e+06 s");
    ck_assert_str_eq(units_format_bytes(-1.236e30).text, "-1.24e+09 ZB");
    ck_assert_str_eq(units_format_count(8e21).text, "8e+09 T");
    ck_assert_str_eq(units_format_flop_per_s(-DBL_MAX).text, "-1.8e+287 ZFLOP/s");
}
END_TEST

START_TEST(the_first_prefix_takes_all_that_is_smaller)
{
    ck_assert_str_eq(units_format_s(0.25e-12).text, "0.25 ps");
    ck_assert_str_eq(units_format_bytes(0.5).text, "0.50 B");
    ck_assert_str_eq(units_format_s(0).text, "0 s");
}
END_TEST

START_TEST(whole_numbers_without_prefix_have_no_decimals)
{
    ck_assert_str_eq(units_format_count(8).text, "8");
    ck_assert_str_eq(units_format_count(0).text, "0");
    ck_assert_str_eq(units_format_bytes(64).text, "64 B");
    ck_assert_str_eq(units_format_count(1.5).text, "1.50");
    ck_assert_str_eq(units_format_count(8e3).text, "8.00 k");
}
END_TEST

START_TEST(each_quantity_has_its_unit)
{
    ck_assert_str_eq(units_format_bytes(17.7e9).text, "17.7 GB");
    ck_assert_str_eq(units_format_bytes_per_s(312e9).text, "312 GB/s");
    ck_assert_str_eq(units_format_flop(429e9).text, "429 GFLOP");
    ck_assert_str_eq(units_format_flop_per_s(724.2e12).text, "724 TFLOP/s");
    ck_assert_str_eq(units_format_count(8.3e9).text, "8.30 B");
    ck_assert_str_eq(units_format_fraction(0.3724).text, "37.2 %");
    ck_assert_str_eq(units_format_fraction(1).text, "100.0 %");
}
END_TEST

START_TEST(what_is_no_number_is_shown_all_the_same)
{
    ck_assert_str_eq(units_format_s(INFINITY).text, "inf s");
    ck_assert_ptr_nonnull(strstr(units_format_s(NAN).text, "nan"));
    ck_assert_uint_lt(strlen(units_format_count(DBL_MAX).text), UNITS_TEXT_MAX);
}
END_TEST

Suite *units_suite(void);

Suite *
units_suite(void)
{
    Suite *suite = suite_create("units");
    TCase *tests = tcase_create("units");
    tcase_add_test(tests, seconds_become_whole_picoseconds);
    tcase_add_test(tests, three_digits_are_shown);
    tcase_add_test(tests, rounding_up_to_a_further_digit_keeps_three);
    tcase_add_test(tests, a_thousand_is_one_of_the_next_prefix);
    tcase_add_test(tests, the_last_prefix_takes_all_that_is_larger);
    tcase_add_test(tests, prefixes_reach_to_zetta);
    tcase_add_test(tests, what_no_prefix_fits_has_an_exponent);
    tcase_add_test(tests, the_first_prefix_takes_all_that_is_smaller);
    tcase_add_test(tests, whole_numbers_without_prefix_have_no_decimals);
    tcase_add_test(tests, each_quantity_has_its_unit);
    tcase_add_test(tests, what_is_no_number_is_shown_all_the_same);
    suite_add_tcase(suite, tests);
    return suite;
}
