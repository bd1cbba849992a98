/* Do Newton-Schulz steps do to a matrix what they do to its singular values? */
#include "validate/cpu_run.h"

#include <math.h>

#include "sim/base/check_near.h"

Suite *cpu_newton_schulz_suite(void);

enum { ROWS = 3, COLUMNS = 5, STEPS = 5 };

/* One step on a singular value (K. Jordan et al., 2024): 3.4445 s - 4.7750 s^3 + 2.0315 s^5. */
static double
stepped(double value)
{
    for (int i = 0; i < STEPS; i++)
        value = 3.4445 * value - 4.7750 * pow(value, 3) + 2.0315 * pow(value, 5);
    return value;
}

/* Of orthogonal rows of lengths 2, 1 and 2, whose norm is 3: singular values 2/3, 1/3, 2/3, the
 * directions as they are. Rows: (2, 0, 0, 0, 0), (0, 0.6, 0.8, 0, 0), (0, 0, 0, 0, -2). */
static const float WIDE[ROWS * COLUMNS] = {2, 0, 0, 0, 0, 0, 0.6F, 0.8F, 0, 0, 0, 0, 0, 0, -2};

START_TEST(singular_values_are_stepped)
{
    float out[ROWS * COLUMNS], room[ROWS * COLUMNS], gram[9], sum[9], in[ROWS * COLUMNS];
    const struct kernel wide = {.newton_schulz = {ROWS, COLUMNS, STEPS, _i == 1}};
    const struct kernel tall = {.newton_schulz = {COLUMNS, ROWS, STEPS, _i == 1}};
    const union cpu_array operands[] = {
        {.reals = in}, {.reals = out}, {.reals = gram}, {.reals = sum}, {.reals = room}};
    const double lengths[] = {2, 1, 2};
    for (int i = 0; i < ROWS * COLUMNS; i++)
        in[i] = WIDE[i];
    cpu_run_newton_schulz(&wide, operands);
    for (int i = 0; i < ROWS * COLUMNS; i++) {
        double length = lengths[i / COLUMNS], part = (double)WIDE[i] / length;
        ck_assert_double_eq_tol((double)out[i], part * stepped(length / 3), 1e-5);
    }
    for (int i = 0; i < ROWS * COLUMNS; i++)
        in[i % COLUMNS * ROWS + i / COLUMNS] = WIDE[i];
    cpu_run_newton_schulz(&tall, operands);
    for (int i = 0; i < ROWS * COLUMNS; i++) {
        double length = lengths[i / COLUMNS], part = (double)WIDE[i] / length;
        ck_assert_double_eq_tol((double)out[i % COLUMNS * ROWS + i / COLUMNS],
                                part * stepped(length / 3), 1e-5);
    }
}
END_TEST

Suite *
cpu_newton_schulz_suite(void)
{
    Suite *suite = suite_create("cpu_newton_schulz");
    TCase *tests = tcase_create("steps");
    tcase_add_loop_test(tests, singular_values_are_stepped, 0, 2); /* whole, as triangles */
    suite_add_tcase(suite, tests);
    return suite;
}
