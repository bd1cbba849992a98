/* Does the descent find known minima, at bounds and in curved valleys, every time alike? */
#include "validate/minimize.h"

#include <math.h>

#include "sim/base/check_arena.h"
#include "sim/base/check_near.h"

Suite *minimize_suite(void);

static struct minimum
minimized(struct minimize_problem problem, double *best)
{
    struct arena *arena = check_arena_new();
    struct minimum minimum;
    problem.start_count = 8;
    problem.polish_count = 2;
    problem.polish_evaluations_max = 600;
    ck_assert(minimize(&problem, best, &minimum, arena));
    arena_free(arena);
    return minimum;
}

/* Rosenbrock's valley: 0 at (1, 1). */
static void
valley(void *context, const double *at, double *residuals)
{
    (void)context;
    residuals[0] = 1 - at[0];
    residuals[1] = 10 * (at[1] - at[0] * at[0]);
}

START_TEST(a_curved_valley_is_followed_to_its_end)
{
    const struct minimize_variable variables[] = {{-1.2, -2, 2, false}, {1, -1, 3, false}};
    double best[2];
    struct minimum minimum = minimized(
        (struct minimize_problem){
            .variables = variables, .count = 2, .residuals = valley, .residual_count = 2},
        best);
    CHECK_NEAR(best[0], 1, 1e-3);
    CHECK_NEAR(best[1], 1, 1e-3);
    ck_assert(minimum.value < 1e-6 && minimum.evaluations > 10);
}
END_TEST

/* (log a - log 3e12)^2 + (b - 7e-7)^2 / (1e-6)^2. */
static void
two_scales(void *context, const double *at, double *residuals)
{
    (void)context;
    residuals[0] = log(at[0] / 3e12);
    residuals[1] = (at[1] - 7e-7) / 1e-6;
}

START_TEST(scales_far_apart_do_not_matter)
{
    const struct minimize_variable variables[] = {{1e10, 1e9, 1e14, true},
                                                  {4e-5, 0, 5e-5, false}};
    double best[2];
    minimized(
        (struct minimize_problem){
            .variables = variables, .count = 2, .residuals = two_scales, .residual_count = 2},
        best);
    CHECK_NEAR(best[0], 3e12, 1e-3);
    CHECK_NEAR(best[1], 7e-7, 1e-3);
}
END_TEST

START_TEST(a_bound_is_reached_and_not_passed)
{
    const struct minimize_variable variables[] = {{5e11, 1e11, 1e12, true},
                                                  {4e-5, 1e-6, 5e-5, false}};
    double best[2];
    minimized(
        (struct minimize_problem){
            .variables = variables, .count = 2, .residuals = two_scales, .residual_count = 2},
        best);
    CHECK_NEAR(best[0], 1e12, 1e-6);
    CHECK_NEAR(best[1], 1e-6, 1e-4);
    ck_assert(best[0] <= 1e12 && best[1] >= 1e-6);
}
END_TEST

/* Two hollows: the start lies in the shallow one at 2, the deep one is at 8. */
static void
hollows(void *context, const double *at, double *residuals)
{
    (void)context;
    double shallow = fabs(at[0] - 2) + 1, deep = 2 * fabs(at[0] - 8);
    residuals[0] = fmin(shallow, deep);
}

START_TEST(other_starts_find_the_deeper_hollow)
{
    const struct minimize_variable variable = {2.1, 0, 10, false};
    double best;
    struct minimum minimum = minimized(
        (struct minimize_problem){
            .variables = &variable, .count = 1, .residuals = hollows, .residual_count = 1},
        &best);
    CHECK_NEAR(best, 8, 1e-3);
    ck_assert(minimum.value < 1e-2);
}
END_TEST

static void
nowhere(void *context, const double *at, double *residuals)
{
    (void)context;
    residuals[0] = at[0] > 0.5 && at[0] < 0.500001 ? 1 : NAN;
}

START_TEST(a_function_that_is_no_number_keeps_the_start)
{
    const struct minimize_variable variable = {0.5000005, 0, 1, false};
    double best;
    struct minimum minimum = minimized(
        (struct minimize_problem){
            .variables = &variable, .count = 1, .residuals = nowhere, .residual_count = 1},
        &best);
    CHECK_NEAR(best, 0.5000005, 1e-9);
    CHECK_NEAR(minimum.value, 1, 0);
}
END_TEST

START_TEST(the_same_problem_has_the_same_answer_to_the_last_bit)
{
    const struct minimize_variable variables[] = {{-1.2, -2, 2, false}, {1, -1, 3, false}};
    struct minimize_problem problem = {
        .variables = variables, .count = 2, .residuals = valley, .residual_count = 2};
    double once[2], again[2];
    minimized(problem, once);
    minimized(problem, again);
    CHECK_NEAR(again[0], once[0], 0);
    CHECK_NEAR(again[1], once[1], 0);
}
END_TEST

Suite *
minimize_suite(void)
{
    Suite *suite = suite_create("minimize");
    TCase *tests = tcase_create("descents");
    tcase_add_test(tests, a_curved_valley_is_followed_to_its_end);
    tcase_add_test(tests, scales_far_apart_do_not_matter);
    tcase_add_test(tests, a_bound_is_reached_and_not_passed);
    tcase_add_test(tests, other_starts_find_the_deeper_hollow);
    tcase_add_test(tests, a_function_that_is_no_number_keeps_the_start);
    tcase_add_test(tests, the_same_problem_has_the_same_answer_to_the_last_bit);
    suite_add_tcase(suite, tests);
    return suite;
}
