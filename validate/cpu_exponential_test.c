/* Is the exponential that the timed kernels use the exponential? */
#include "validate/cpu_exponential.h"

#include "sim/base/check_near.h"

Suite *cpu_exponential_suite(void);

START_TEST(agrees_with_the_c_library)
{
    for (int i = -8600; i <= 8600; i++) {
        float x = (float)i * 0.01F;
        CHECK_NEAR((double)cpu_exponential(x), exp((double)x), 2e-7);
    }
    ck_assert(cpu_exponential(0) == 1);
}
END_TEST

START_TEST(ends_are_finite)
{
    ck_assert(cpu_exponential(-1e30F) > 0);
    CHECK_NEAR((double)cpu_exponential(-1e30F), exp(-87), 2e-7);
    CHECK_NEAR((double)cpu_exponential(1e30F), exp(87), 2e-7);
}
END_TEST

START_TEST(sigmoid_agrees_with_its_definition)
{
    for (int i = -5000; i <= 5000; i++) {
        float x = (float)i * 0.01F;
        CHECK_NEAR((double)cpu_sigmoid(x), 1 / (1 + exp(-(double)x)), 4e-7);
    }
    ck_assert(cpu_sigmoid(1000) == 1);
    ck_assert(cpu_sigmoid(-1000) > 0 && cpu_sigmoid(-1000) < 1e-25F);
}
END_TEST

Suite *
cpu_exponential_suite(void)
{
    Suite *suite = suite_create("cpu_exponential");
    TCase *values = tcase_create("values");
    tcase_add_test(values, agrees_with_the_c_library);
    tcase_add_test(values, ends_are_finite);
    tcase_add_test(values, sigmoid_agrees_with_its_definition);
    suite_add_tcase(suite, values);
    return suite;
}
