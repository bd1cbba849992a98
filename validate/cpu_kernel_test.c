/* Is the code that is timed the kernel that was asked for, and does the check see when it is
 * not? */
#include "validate/cpu_kernel.h"

#include <math.h>
#include <string.h>

#include "sim/base/check_near.h"

Suite *cpu_kernel_suite(void);

static struct cpu_kernel
found(struct kernel kernel)
{
    struct cpu_kernel cpu;
    struct error_list errors = {0};
    ck_assert_msg(cpu_kernel_find(&cpu, &kernel, &errors), "%s", errors.items[0].what);
    return cpu;
}

static struct kernel
rows_kernel(enum kernel_kind kind, int64_t rows, int64_t width)
{
    return (struct kernel){
        .kind = kind, .dtype = DTYPE_FP32, .rows_by_width = {.rows = rows, .width = width}};
}

/* The error of what stands in `after`. */
static double
error_of(const struct cpu_kernel *cpu, const union cpu_array *before,
         const union cpu_array *after)
{
    struct cpu_error error = {0};
    cpu->check(&cpu->kernel, before, after, &error);
    return cpu_error_fraction(&error);
}

/* A = 1 2 / 3 4, B = 5 6 / 7 8: A B = 19 22 / 43 50. Stored transposed, the same. */
START_TEST(product_of_two_by_two_in_three_layouts)
{
    float a[] = {1, 2, 3, 4}, a_transposed[] = {1, 3, 2, 4};
    float b[] = {5, 6, 7, 8}, b_transposed[] = {5, 7, 6, 8};
    float *const lefts[] = {a, a, a_transposed}, *const rights[] = {b, b_transposed, b};
    const enum gemm_layout layouts[] = {GEMM_NN, GEMM_NT, GEMM_TN};
    for (int i = 0; i < 3; i++) {
        float c[4] = {0};
        struct cpu_kernel cpu = found((struct kernel){
            .kind = KERNEL_GEMM,
            .dtype = DTYPE_FP32,
            .gemm = {.m = 2, .n = 2, .k = 2, .batch = 1, .layout = layouts[i]}});
        union cpu_array operands[] = {{lefts[i]}, {rights[i]}, {c}};
        cpu.run(&cpu.kernel, operands);
        CHECK_NEAR((double)c[0], 19, 0);
        CHECK_NEAR((double)c[1], 22, 0);
        CHECK_NEAR((double)c[2], 43, 0);
        CHECK_NEAR((double)c[3], 50, 0);
        CHECK_NEAR(error_of(&cpu, operands, operands), 0, 0);
        c[3] = 0; /* of 19^2 + 22^2 + 43^2 + 50^2 = 5194, 2500 is missing */
        CHECK_NEAR(error_of(&cpu, operands, operands), sqrt(2500.0 / 5194.0), 1e-12);
    }
}
END_TEST

/* One row for the first expert, none for the second, one for the third: 1 2 times 5 6 / 7 8 is
 * 19 22, and 3 4 times the unit matrix stays. */
START_TEST(each_expert_multiplies_its_own_rows)
{
    const int64_t rows[] = {1, 0, 1};
    float a[] = {1, 2, 3, 4}, b[] = {5, 6, 7, 8, 9, 9, 9, 9, 1, 0, 0, 1}, c[4] = {0};
    struct cpu_kernel cpu =
        found((struct kernel){.kind = KERNEL_GROUPED_GEMM,
                              .dtype = DTYPE_FP32,
                              .grouped_gemm = {.rows = rows, .experts = 3, .n = 2, .k = 2}});
    union cpu_array operands[] = {{a}, {b}, {c}};
    cpu.run(&cpu.kernel, operands);
    CHECK_NEAR((double)c[0], 19, 0);
    CHECK_NEAR((double)c[1], 22, 0);
    CHECK_NEAR((double)c[2], 3, 0);
    CHECK_NEAR((double)c[3], 4, 0);
    CHECK_NEAR(error_of(&cpu, operands, operands), 0, 0);
}
END_TEST

/* x = 3 4: mean square 12.5, root 3.5355; gains 1 2: y = 0.84853 2.26274 (epsilon aside). */
START_TEST(rms_norm_of_a_pythagorean_row)
{
    float x[] = {3, 4}, gain[] = {1, 2}, y[2] = {0};
    struct cpu_kernel cpu = found(rows_kernel(KERNEL_RMS_NORM, 1, 2));
    union cpu_array operands[] = {{x}, {gain}, {y}};
    cpu.run(&cpu.kernel, operands);
    CHECK_NEAR((double)y[0], 3 / sqrt(12.5), 1e-5);
    CHECK_NEAR((double)y[1], 8 / sqrt(12.5), 1e-5);
}
END_TEST

/* dy along gain * x changes nothing that scale does not undo: with gain 1 and dy = x, dx = 0.
 */
START_TEST(rms_norm_backward_ignores_scale)
{
    float x[] = {3, 4}, gain[] = {1, 1}, y_gradient[] = {3, 4}, x_gradient[2] = {0},
          gain_gradient[2] = {0};
    struct kernel kernel = rows_kernel(KERNEL_RMS_NORM, 1, 2);
    kernel.direction = DIRECTION_BACKWARD;
    struct cpu_kernel cpu = found(kernel);
    union cpu_array operands[] = {{x}, {gain}, {y_gradient}, {x_gradient}, {gain_gradient}};
    cpu.run(&cpu.kernel, operands);
    ck_assert(fabsf(x_gradient[0]) < 1e-5F && fabsf(x_gradient[1]) < 1e-5F);
    CHECK_NEAR((double)gain_gradient[0], 9 / sqrt(12.5), 1e-5);
    CHECK_NEAR((double)gain_gradient[1], 16 / sqrt(12.5), 1e-5);
}
END_TEST

/* exp(log 1, log 3) = 1 3: probabilities 1/4 and 3/4; loss of the second log(4/3). */
START_TEST(softmax_and_cross_entropy_of_a_quarter)
{
    float x[] = {0, 1.0986123F}, y[2] = {0}, loss[1] = {0}, gradient[2] = {0};
    int32_t target[] = {1};
    struct cpu_kernel softmax = found(rows_kernel(KERNEL_SOFTMAX, 1, 2));
    softmax.run(&softmax.kernel, (union cpu_array[]){{x}, {y}});
    CHECK_NEAR((double)y[0], 0.25, 1e-6);
    CHECK_NEAR((double)y[1], 0.75, 1e-6);

    struct kernel kernel = {.kind = KERNEL_CROSS_ENTROPY,
                            .dtype = DTYPE_FP32,
                            .cross_entropy = {.rows = 1, .vocab = 2}};
    union cpu_array operands[] = {{x}, {.indices = target}, {loss}};
    struct cpu_kernel forward = found(kernel);
    forward.run(&kernel, operands);
    CHECK_NEAR((double)loss[0], log(4.0 / 3.0), 1e-6);
    kernel.direction = DIRECTION_BACKWARD;
    struct cpu_kernel backward = found(kernel);
    operands[2].reals = gradient;
    backward.run(&kernel, operands);
    CHECK_NEAR((double)gradient[0], 0.25, 1e-6);
    CHECK_NEAR((double)gradient[1], -0.25, 1e-6);
}
END_TEST

/* y = 1/4 3/4, dy = 1 0: shared 1/4; dx = 1/4 (1 - 1/4), 3/4 (0 - 1/4). */
START_TEST(softmax_backward_of_a_quarter)
{
    float y[] = {0.25F, 0.75F}, y_gradient[] = {1, 0}, x_gradient[2] = {0};
    struct kernel kernel = rows_kernel(KERNEL_SOFTMAX, 1, 2);
    kernel.direction = DIRECTION_BACKWARD;
    struct cpu_kernel cpu = found(kernel);
    cpu.run(&kernel, (union cpu_array[]){{y}, {y_gradient}, {x_gradient}});
    CHECK_NEAR((double)x_gradient[0], 0.1875, 0);
    CHECK_NEAR((double)x_gradient[1], -0.1875, 0);
}
END_TEST

START_TEST(gather_undoes_scatter_of_the_same_rows)
{
    float x[] = {1, 2, 3, 4, 5, 6}, scattered[6] = {0}, gathered[6] = {0};
    int32_t index[] = {2, 0, 1};
    struct cpu_kernel scatter = found(rows_kernel(KERNEL_SCATTER_ADD, 3, 2));
    struct cpu_kernel gather = found(rows_kernel(KERNEL_GATHER, 3, 2));
    scatter.run(&scatter.kernel, (union cpu_array[]){{x}, {.indices = index}, {scattered}});
    CHECK_NEAR((double)scattered[4], 1, 0);
    CHECK_NEAR((double)scattered[0], 3, 0);
    gather.run(&gather.kernel,
               (union cpu_array[]){{scattered}, {.indices = index}, {gathered}});
    for (int i = 0; i < 6; i++)
        ck_assert(gathered[i] == x[i]);
}
END_TEST

/* Larger than a block each way, and no multiple of it. */
START_TEST(transpose_turns_rows_into_columns)
{
    enum { ROWS = 19, WIDTH = 35 };
    static float x[ROWS * WIDTH], y[WIDTH * ROWS];
    for (int i = 0; i < ROWS * WIDTH; i++)
        x[i] = (float)i;
    struct cpu_kernel cpu = found(rows_kernel(KERNEL_TRANSPOSE, ROWS, WIDTH));
    cpu.run(&cpu.kernel, (union cpu_array[]){{x}, {y}});
    for (int row = 0; row < ROWS; row++)
        for (int column = 0; column < WIDTH; column++)
            ck_assert(y[column * ROWS + row] == (float)(row * WIDTH + column));
}
END_TEST

START_TEST(top_k_are_the_largest_in_order)
{
    float scores[] = {3, 9, 1, 7, 5}, values[3] = {0};
    int32_t experts[3] = {0};
    struct cpu_kernel cpu = found((struct kernel){
        .kind = KERNEL_TOP_K, .dtype = DTYPE_FP32, .top_k = {.rows = 1, .experts = 5, .k = 3}});
    union cpu_array operands[] = {{scores}, {values}, {.indices = experts}};
    cpu.run(&cpu.kernel, operands);
    ck_assert_int_eq(experts[0], 1);
    ck_assert_int_eq(experts[1], 3);
    ck_assert_int_eq(experts[2], 4);
    CHECK_NEAR((double)values[2], 5, 0);
    CHECK_NEAR(error_of(&cpu, operands, operands), 0, 0);
    experts[2] = 0; /* not among the largest three */
    values[2] = 3;
    ck_assert(isnan(error_of(&cpu, operands, operands)));
}
END_TEST

/* First step: the bias corrections cancel the betas, so that the update is
 * rate (gradient / |gradient| + decay parameter) = 1e-3 (1 + 0.1 * 2) when moments were 0. */
START_TEST(adamw_first_step_is_the_sign_of_the_gradient)
{
    float gradient[] = {0.5F}, parameter[] = {2}, first[] = {0}, second[] = {0};
    struct cpu_kernel cpu = found(
        (struct kernel){.kind = KERNEL_ADAMW, .dtype = DTYPE_FP32, .adamw = {.parameters = 1}});
    cpu.run(&cpu.kernel, (union cpu_array[]){{gradient}, {parameter}, {first}, {second}});
    CHECK_NEAR((double)parameter[0], 2 - 1.2e-3, 1e-6);
    CHECK_NEAR((double)first[0], 0.05, 1e-6);
    CHECK_NEAR((double)second[0], 0.0125, 1e-6);
}
END_TEST

/* 1,000 elements of four bytes are 62.5 lines of 64 bytes: 63. */
START_TEST(sets_are_whole_cache_lines)
{
    struct cpu_kernel cpu = found((struct kernel){
        .kind = KERNEL_ADAMW, .dtype = DTYPE_FP32, .adamw = {.parameters = 1000}});
    CHECK_NEAR(cpu_kernel_bytes(&cpu), 4 * 63 * 64, 0);
}
END_TEST

static struct kernel
elementwise_kernel(const char *op, double read_bytes, double write_bytes)
{
    return (struct kernel){.kind = KERNEL_ELEMENTWISE,
                           .dtype = DTYPE_FP32,
                           .elementwise = {.op = op,
                                           .elements = 100,
                                           .read_bytes = read_bytes,
                                           .write_bytes = write_bytes,
                                           .launches = 1}};
}

static const int64_t no_rows[] = {0, 0};

static void
check_refused(struct kernel kernel, const char *why)
{
    struct cpu_kernel cpu;
    struct error_list errors = {0};
    ck_assert(!cpu_kernel_find(&cpu, &kernel, &errors));
    ck_assert_int_eq(errors.count, 1);
    ck_assert_msg(strstr(errors.items[0].what, why) != NULL, "%s", errors.items[0].what);
}

START_TEST(what_the_cpu_cannot_run_is_said)
{
    struct kernel bf16 = rows_kernel(KERNEL_SOFTMAX, 1, 2);
    bf16.dtype = DTYPE_BF16;
    check_refused(bf16, "fp32, not bf16");
    check_refused((struct kernel){.kind = KERNEL_GROUPED_GEMM,
                                  .dtype = DTYPE_FP32,
                                  .grouped_gemm = {no_rows, 2, 8, 8}},
                  "no expert has a row");
    check_refused((struct kernel){.kind = KERNEL_COPY,
                                  .copy = {.bytes = 64, .from = COPY_HOST, .to = COPY_HBM}},
                  "hbm to hbm");
    check_refused(elementwise_kernel("cosine", 400, 400), "\"cosine\"");
    check_refused(elementwise_kernel("add", 400, 400), "of these bytes"); /* add reads 800 */
    found(elementwise_kernel("add", 800, 400));
}
END_TEST

Suite *
cpu_kernel_suite(void)
{
    Suite *suite = suite_create("cpu_kernel");
    TCase *results = tcase_create("results");
    tcase_add_test(results, product_of_two_by_two_in_three_layouts);
    tcase_add_test(results, each_expert_multiplies_its_own_rows);
    tcase_add_test(results, rms_norm_of_a_pythagorean_row);
    tcase_add_test(results, rms_norm_backward_ignores_scale);
    tcase_add_test(results, softmax_and_cross_entropy_of_a_quarter);
    tcase_add_test(results, softmax_backward_of_a_quarter);
    tcase_add_test(results, gather_undoes_scatter_of_the_same_rows);
    tcase_add_test(results, transpose_turns_rows_into_columns);
    tcase_add_test(results, top_k_are_the_largest_in_order);
    tcase_add_test(results, adamw_first_step_is_the_sign_of_the_gradient);
    tcase_add_test(results, sets_are_whole_cache_lines);
    tcase_add_test(results, what_the_cpu_cannot_run_is_said);
    suite_add_tcase(suite, results);
    return suite;
}
