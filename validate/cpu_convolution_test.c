/* Is the convolution that is timed causal, grouped, and its backward pass its transpose? */
#include "validate/cpu_kernel.h"

#include <math.h>

#include <check.h>

#include "sim/base/check_near.h"

Suite *cpu_convolution_suite(void);

enum { REALS_MAX = 2048 };

static struct cpu_kernel
found(struct convolution shape, enum direction direction)
{
    struct kernel kernel = {.kind = KERNEL_CONVOLUTION,
                            .dtype = DTYPE_FP32,
                            .direction = direction,
                            .convolution = shape};
    struct cpu_kernel cpu;
    struct error_list errors = {0};
    ck_assert_msg(cpu_kernel_find(&cpu, &kernel, &errors), "%s", errors.items[0].what);
    return cpu;
}

static double
error_of(const struct cpu_kernel *cpu, const union cpu_array *operands)
{
    struct cpu_error error = {0};
    cpu->check(&cpu->kernel, operands, operands, &error);
    return cpu_error_fraction(&error);
}

/* Weights 1 for the token itself, 10 for the one before: 1, 2 + 10, 3 + 20. */
START_TEST(a_token_sees_itself_and_those_before)
{
    float x[] = {1, 2, 3}, w[] = {1, 10}, y[3] = {0};
    struct cpu_kernel cpu =
        found((struct convolution){.tokens = 3, .channels = 1, .taps = 2, .groups = 1},
              DIRECTION_FORWARD);
    union cpu_array operands[] = {{x}, {w}, {y}};
    cpu.run(&cpu.kernel, operands);
    CHECK_NEAR((double)y[0], 1, 0);
    CHECK_NEAR((double)y[1], 12, 0);
    CHECK_NEAR((double)y[2], 23, 0);
}
END_TEST

/* One token of two channels in one group: 3 4 times 1 2 / 5 6 is 23 30. */
START_TEST(channels_of_a_group_mix)
{
    float x[] = {3, 4}, w[] = {1, 2, 5, 6}, y[2] = {0};
    struct cpu_kernel cpu =
        found((struct convolution){.tokens = 1, .channels = 2, .taps = 1, .groups = 1},
              DIRECTION_FORWARD);
    union cpu_array operands[] = {{x}, {w}, {y}};
    cpu.run(&cpu.kernel, operands);
    CHECK_NEAR((double)y[0], 23, 0);
    CHECK_NEAR((double)y[1], 30, 0);
}
END_TEST

/* More taps than tokens among them. */
static const struct convolution shapes[] = {
    {.tokens = 20, .channels = 12, .taps = 4, .groups = 12},
    {.tokens = 20, .channels = 12, .taps = 3, .groups = 3},
    {.tokens = 3, .channels = 8, .taps = 5, .groups = 2},
};

static void
fill(float reals[CPU_OPERANDS_MAX][REALS_MAX], union cpu_array *operands)
{
    uint32_t state = 1;
    for (int i = 0; i < CPU_OPERANDS_MAX; i++) {
        operands[i].reals = reals[i];
        for (int j = 0; j < REALS_MAX; j++) {
            state = state * 1664525U + 1013904223U; /* Numerical Recipes, 7.1 */
            reals[i][j] = (float)(state >> 8) * 0x1p-23F - 1;
        }
    }
}

START_TEST(results_agree_with_the_definition)
{
    static float reals[CPU_OPERANDS_MAX][REALS_MAX];
    union cpu_array operands[CPU_OPERANDS_MAX];
    bool is_backward = _i % 2;
    struct cpu_kernel cpu =
        found(shapes[_i / 2], is_backward ? DIRECTION_BACKWARD : DIRECTION_FORWARD);
    fill(reals, operands);
    cpu.run(&cpu.kernel, operands);
    ck_assert_msg(error_of(&cpu, operands) < 1e-6, "%g", error_of(&cpu, operands));
    operands[is_backward ? 4 : 2].reals[5] += 1;
    ck_assert(error_of(&cpu, operands) > 1e-2);
}
END_TEST

/* The map is linear in x and in w: dy . y(x, w) = dx . x = dw . w, whatever x, w and dy. */
START_TEST(backward_is_the_transpose_of_forward)
{
    static float reals[CPU_OPERANDS_MAX][REALS_MAX], y[REALS_MAX];
    union cpu_array operands[CPU_OPERANDS_MAX];
    struct cpu_kernel forward = found(shapes[_i], DIRECTION_FORWARD);
    struct cpu_kernel backward = found(shapes[_i], DIRECTION_BACKWARD);
    double by_y = 0, by_x = 0, by_w = 0;
    fill(reals, operands);
    union cpu_array forward_operands[] = {operands[0], operands[1], {y}};
    forward.run(&forward.kernel, forward_operands);
    backward.run(&backward.kernel, operands);
    for (int i = 0; i < (int)forward.operands[0].count; i++) {
        by_y += (double)reals[2][i] * (double)y[i];
        by_x += (double)reals[3][i] * (double)reals[0][i];
    }
    for (int i = 0; i < (int)forward.operands[1].count; i++)
        by_w += (double)reals[4][i] * (double)reals[1][i];
    ck_assert(fabs(by_x - by_y) < 1e-4 && fabs(by_w - by_y) < 1e-4);
    ck_assert(fabs(by_y) > 1e-2);
}
END_TEST

Suite *
cpu_convolution_suite(void)
{
    Suite *suite = suite_create("cpu_convolution");
    TCase *tests = tcase_create("convolution");
    tcase_add_test(tests, a_token_sees_itself_and_those_before);
    tcase_add_test(tests, channels_of_a_group_mix);
    tcase_add_loop_test(tests, results_agree_with_the_definition, 0,
                        2 * sizeof shapes / sizeof shapes[0]);
    tcase_add_loop_test(tests, backward_is_the_transpose_of_forward, 0,
                        sizeof shapes / sizeof shapes[0]);
    suite_add_tcase(suite, tests);
    return suite;
}
