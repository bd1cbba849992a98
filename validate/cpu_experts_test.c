/* Do tokens find the rows of their experts, and do gradients find the way back? */
#include "validate/cpu_experts.h"

#include <math.h>

#include "sim/base/check_near.h"

Suite *cpu_experts_suite(void);

/* Three tokens, two copies each, experts 2 0 | 1 2 | 0 2: by expert and then by token, expert 0
 * has copies 1 and 4, expert 1 copy 2, expert 2 copies 0, 3 and 5. */
static const int32_t EXPERTS[] = {2, 0, 1, 2, 0, 2};

START_TEST(copies_are_sorted_by_expert)
{
    const int32_t wanted[] = {3, 0, 2, 4, 1, 5};
    int64_t counts[3];
    int32_t place[6];
    cpu_sort_routes(EXPERTS, 6, 3, counts, place);
    ck_assert_int_eq(counts[0], 2);
    ck_assert_int_eq(counts[1], 1);
    ck_assert_int_eq(counts[2], 3);
    for (int i = 0; i < 6; i++)
        ck_assert_int_eq(place[i], wanted[i]);
}
END_TEST

START_TEST(rows_of_weight_one_half_come_back_as_they_went)
{
    const float x[] = {1, 2, 3, 4, 5, 6}, halves[] = {.5F, .5F, .5F, .5F, .5F, .5F};
    int64_t counts[3];
    int32_t place[6];
    float rows[12], back[6];
    cpu_sort_routes(EXPERTS, 6, 3, counts, place);
    const struct cpu_routes routes = {3, 2, 2, place};
    cpu_permute(&routes, x, rows);
    CHECK_NEAR((double)rows[2 * 3], 1.0, 0); /* the first copy of the first token */
    CHECK_NEAR((double)rows[2 * 2 + 1], 4.0, 0);
    cpu_combine(&routes, halves, rows, back);
    for (int i = 0; i < 6; i++)
        CHECK_NEAR((double)back[i], (double)x[i], 0);
    cpu_permute_backward(&routes, rows, back);
    for (int i = 0; i < 6; i++)
        CHECK_NEAR((double)back[i], 2 * (double)x[i], 0);
}
END_TEST

/* One token of two copies, 17 wide: rows of 1 and of 2, dy of 3: dweights are 51 and 102, drows
 * three times the weights. */
START_TEST(weights_get_the_product_of_row_and_gradient)
{
    enum { WIDTH = 17 };
    const int32_t place[] = {1, 0};
    const float weights[] = {0.25F, 0.5F};
    float rows[2 * WIDTH], slope[WIDTH], rows_slope[2 * WIDTH], weights_slope[2];
    for (int i = 0; i < WIDTH; i++) {
        rows[WIDTH + i] = 1;
        rows[i] = 2;
        slope[i] = 3;
    }
    const struct cpu_routes routes = {1, 2, WIDTH, place};
    const struct cpu_combine_backward operands = {weights, rows, slope, rows_slope,
                                                  weights_slope};
    cpu_combine_backward(&routes, &operands);
    CHECK_NEAR((double)weights_slope[0], 51.0, 1e-6);
    CHECK_NEAR((double)weights_slope[1], 102.0, 1e-6);
    for (int i = 0; i < WIDTH; i++) {
        CHECK_NEAR((double)rows_slope[WIDTH + i], 0.75, 1e-6);
        CHECK_NEAR((double)rows_slope[i], 1.5, 1e-6);
    }
}
END_TEST

static double
swiglu(double gate, double up)
{
    return gate / (1 + exp(-gate)) * up;
}

/* Against the definition, and its differences. */
START_TEST(swiglu_and_its_gradient)
{
    const float gate_up[] = {-2, 0.5F, 3, 0.25F, -1.5F, 2}, ones[] = {1, 1, 1};
    float y[3], slope[6];
    cpu_swiglu(1, 3, gate_up, y);
    cpu_swiglu_backward(1, 3, gate_up, ones, slope);
    for (int i = 0; i < 3; i++) {
        const double gate = (double)gate_up[i], up = (double)gate_up[3 + i], h = 1e-5;
        CHECK_NEAR((double)y[i], swiglu(gate, up), 1e-6);
        CHECK_NEAR((double)slope[i], (swiglu(gate + h, up) - swiglu(gate - h, up)) / (2 * h),
                   1e-5);
        CHECK_NEAR((double)slope[3 + i], swiglu(gate, 1), 1e-6);
    }
}
END_TEST

Suite *
cpu_experts_suite(void)
{
    Suite *suite = suite_create("cpu_experts");
    TCase *tests = tcase_create("experts");
    tcase_add_test(tests, copies_are_sorted_by_expert);
    tcase_add_test(tests, rows_of_weight_one_half_come_back_as_they_went);
    tcase_add_test(tests, weights_get_the_product_of_row_and_gradient);
    tcase_add_test(tests, swiglu_and_its_gradient);
    suite_add_tcase(suite, tests);
    return suite;
}
