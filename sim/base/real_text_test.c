/* Is the quick text the one that printf and strtod would settle on, for every sort of double? */
#include "sim/base/check_often.h"
#include "sim/base/real_text.h"

#include <check.h>
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

Suite *real_text_suite(void);

static void
check_text(double value)
{
    char wanted[64], found[REAL_TEXT_MAX];
    for (int precision = 15; precision <= 17; precision++) {
        snprintf(wanted, sizeof wanted, "%.*g", precision, value);
        if (strtod(wanted, NULL) == value)
            break;
    }
    size_t length = real_text_write(value, found);
    if (strcmp(found, wanted) != 0)
        ck_abort_msg("%a is \"%s\", wanted \"%s\"", value, found, wanted);
    CHECK_OFTEN(length == strlen(wanted));
}

static uint64_t
draw_bits(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    uint64_t high = *seed >> 32;
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return high << 32 | *seed >> 32;
}

START_TEST(numbers_that_are_known)
{
    const double values[] = {0,
                             -0.0,
                             1,
                             -1,
                             0.1,
                             1.0 / 3,
                             2.0 / 3,
                             1e15,
                             1e16,
                             1e17,
                             1e22,
                             1e23,
                             1e-4,
                             1e-5,
                             123456,
                             0.0001,
                             0.00012,
                             9.5e-5,
                             1e300,
                             1e-300,
                             0.3,
                             5e-324,
                             2e-310,
                             DBL_MAX,
                             DBL_MIN,
                             -1.5e-7,
                             1e-7,
                             0.132,
                             999999999999999.0,
                             999999999999999.9,
                             9999999999999999.0,
                             99999999999999990.0,
                             123456789012345678.0,
                             0.1 + 0.2};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        check_text(values[i]);
    char text[REAL_TEXT_MAX];
    real_text_write(0.1, text);
    ck_assert_str_eq(text, "0.1");
    real_text_write(0.1 + 0.2, text);
    ck_assert_str_eq(text, "0.30000000000000004");
}
END_TEST

START_TEST(powers_of_two_and_ten_and_their_neighbours)
{
    for (int e = -1074; e < 1024; e++) {
        double value = ldexp(1, e);
        check_text(value);
        check_text(nextafter(value, INFINITY));
        check_text(nextafter(value, 0));
    }
    for (int e = -320; e <= 308; e++) {
        double value = pow(10, e);
        check_text(value);
        check_text(nextafter(value, INFINITY));
        check_text(nextafter(value, 0));
    }
}
END_TEST

START_TEST(any_bits)
{
    uint64_t seed = (uint64_t)_i + 1;
    for (int i = 0; i < 20000; i++) {
        union {
            uint64_t bits;
            double real;
        } any = {draw_bits(&seed)};
        if (isfinite(any.real))
            check_text(any.real);
    }
}
END_TEST

/* Seconds, rates, fractions; and decimals of few digits, which must come out as they went in. */
START_TEST(quantities_as_the_program_prints_them)
{
    uint64_t seed = (uint64_t)_i + 1;
    for (int i = 0; i < 20000; i++) {
        double part = (double)(draw_bits(&seed) >> 11) * 0x1p-53;
        check_text(part);
        check_text(part * 1e-5);
        check_text(part * 1e13);
        check_text(part * 1e16);
        check_text(round(part * 1e6) / 1e6);
        check_text(-round(part * 1e4) / 1e7);
    }
}
END_TEST

START_TEST(whole_numbers_are_as_printf_has_them)
{
    int64_t values[64] = {0, 1, -1, 9, 10, -10, 99, 100, INT64_MAX, INT64_MIN, INT64_MIN + 1};
    uint64_t seed = 7;
    for (int i = 11; i < 64; i++)
        values[i] = (int64_t)(draw_bits(&seed) >> (i % 64)) * (i % 2 ? 1 : -1);
    for (int i = 0; i < 64; i++) {
        char wanted[32], found[REAL_TEXT_MAX];
        snprintf(wanted, sizeof wanted, "%" PRId64, values[i]);
        ck_assert_uint_eq(real_text_write_whole(values[i], found), strlen(wanted));
        ck_assert_str_eq(found, wanted);
    }
}
END_TEST

Suite *
real_text_suite(void)
{
    Suite *suite = suite_create("real_text");
    TCase *tests = tcase_create("real_text");
    tcase_add_test(tests, numbers_that_are_known);
    tcase_add_test(tests, whole_numbers_are_as_printf_has_them);
    tcase_add_test(tests, powers_of_two_and_ten_and_their_neighbours);
    tcase_add_loop_test(tests, any_bits, 0, 8);
    tcase_add_loop_test(tests, quantities_as_the_program_prints_them, 0, 4);
    suite_add_tcase(suite, tests);
    return suite;
}
