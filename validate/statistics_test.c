/* Are mean and quantile those worked by hand? */
#include "validate/statistics.h"

#include "sim/base/check_near.h"

Suite *statistics_suite(void);

/* Sorted 0 2 5 10 20: mean 37/5; at index 0.9 * 4 = 3.6: 10 + 0.6 * (20 - 10); the middle is 5. */
START_TEST(five_values)
{
    double values[] = {10, 20, 5, 0, 2};
    CHECK_NEAR(statistics_mean(values, 5), 7.4, 1e-15);
    CHECK_NEAR(statistics_quantile(values, 5, 0.9), 16, 1e-15);
    CHECK_NEAR(statistics_quantile(values, 5, 0.5), 5, 0);
    CHECK_NEAR(statistics_quantile(values, 5, 1), 20, 0);
}
END_TEST

START_TEST(one_value_is_every_quantile)
{
    double value = 3;
    CHECK_NEAR(statistics_mean(&value, 1), 3, 0);
    CHECK_NEAR(statistics_quantile(&value, 1, 0), 3, 0);
    CHECK_NEAR(statistics_quantile(&value, 1, 0.9), 3, 0);
}
END_TEST

Suite *
statistics_suite(void)
{
    Suite *suite = suite_create("statistics");
    TCase *numbers = tcase_create("numbers");
    tcase_add_test(numbers, five_values);
    tcase_add_test(numbers, one_value_is_every_quantile);
    suite_add_tcase(suite, numbers);
    return suite;
}
