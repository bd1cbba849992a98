/* Is the arithmetic of hw/gemm_math.h that of math.h? Is a norm's plane under it? */
#include "hw/gemm_math.h"

#include "sim/base/check_near.h"
#include "sim/base/check_often.h"

Suite *gemm_math_suite(void);

static const double wholes[] = {0, 1, 2, 3, 1e6, 0x1p31, 0x1p51, 0x1p52, 0x1p53, 1e300};
enum { WHOLES = sizeof wholes / sizeof wholes[0] };

/* At whole numbers, at halves and one double to either side of both. */
START_TEST(rounding_is_that_of_floor_and_ceil)
{
    for (int i = 0; i < WHOLES; i++) {
        const double around[] = {wholes[i], wholes[i] + 0.5};
        for (int j = 0; j < 2; j++) {
            double below = nextafter(around[j], 0), above = nextafter(around[j], INFINITY);
            CHECK_NEAR(whole(around[j]), ceil(around[j]), 0);
            CHECK_NEAR(whole(below), ceil(below), 0);
            CHECK_NEAR(whole(above), ceil(above), 0);
            CHECK_NEAR(whole_down(around[j]), floor(around[j]), 0);
            CHECK_NEAR(whole_down(below), floor(below), 0);
            CHECK_NEAR(whole_down(above), floor(above), 0);
        }
    }
}
END_TEST

START_TEST(powers_of_two_are_rounded_down_to)
{
    CHECK_NEAR(power_of_two_down(1), 1, 0);
    CHECK_NEAR(power_of_two_down(1.999), 1, 0);
    CHECK_NEAR(power_of_two_down(2), 2, 0);
    CHECK_NEAR(power_of_two_down(7.5), 4, 0);
    CHECK_NEAR(power_of_two_down(8), 8, 0);
    CHECK_NEAR(power_of_two_down(1e300), exp2(floor(log2(1e300))), 0);
}
END_TEST

START_TEST(multiples_are_those_that_fmod_leaves_nothing_of)
{
    const double divisors[] = {1, 3, 7, 100, 128, 512, 999983};
    for (int value = 0; value < 2000000; value += 127)
        for (int i = 0; i < 7; i++)
            CHECK_OFTEN(is_multiple(value, divisors[i]) == (fmod(value, divisors[i]) == 0));
    ck_assert(!is_multiple(128, 0));
}
END_TEST

START_TEST(a_norm_of_two_is_a_hypotenuse)
{
    struct norm norm = norm_new(2), sum = norm_new(1), hard = norm_new(1000);
    CHECK_NEAR(norm_s(&norm, 3, 4), 5, 1e-15);
    CHECK_NEAR(norm_s(&sum, 3, 4), 7, 1e-15);
    CHECK_NEAR(norm_s(&hard, 3, 4), 4, 0);
    CHECK_NEAR(norm_s(&norm, 1e-9, 1), 1, 0); /* its square is nothing beside one */
}
END_TEST

/* Of the hypotenuse of 3 and 4 the slopes are 3/5 and 4/5. Each plane touches its norm and is
 * nowhere above it. */
START_TEST(slopes_are_of_a_plane_under_the_norm)
{
    const double exponents[] = {1, 1.5, 2, 6, 50};
    struct norm norm = norm_new(2);
    struct norm_slopes slopes = norm_slopes_of(&norm, 3, 4, 5);
    CHECK_NEAR(slopes.a, 0.6, 1e-15);
    CHECK_NEAR(slopes.b, 0.8, 1e-15);
    for (int i = 0; i < 5 * 30 * 30; i++) {
        int a = i / 5 % 30 - 15, x = i / 150 - 15; /* powers of two */
        norm = norm_new(exponents[i % 5]);
        double a_s = ldexp(1, a), b_s = 1, x_s = ldexp(1, x);
        double touched_s = norm_s(&norm, a_s, b_s);
        slopes = norm_slopes_of(&norm, a_s, b_s, touched_s);
        CHECK_OFTEN(fabs(slopes.a * a_s + slopes.b * b_s - touched_s) <= 1e-14 * touched_s);
        CHECK_OFTEN(slopes.a * x_s + slopes.b <= norm_s(&norm, x_s, 1) * (1 + 1e-14));
    }
}
END_TEST

Suite *
gemm_math_suite(void)
{
    Suite *suite = suite_create("gemm_math");
    TCase *tests = tcase_create("arithmetic");
    tcase_add_test(tests, rounding_is_that_of_floor_and_ceil);
    tcase_add_test(tests, powers_of_two_are_rounded_down_to);
    tcase_add_test(tests, multiples_are_those_that_fmod_leaves_nothing_of);
    tcase_add_test(tests, a_norm_of_two_is_a_hypotenuse);
    tcase_add_test(tests, slopes_are_of_a_plane_under_the_norm);
    suite_add_tcase(suite, tests);
    return suite;
}
