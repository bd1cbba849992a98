/* Is a product in bf16 asked for as it lies, and held to what its operands really are? */
#include "validate/cpu_bf16.h"

#include <cblas.h>
#include <check.h>
#include <stdlib.h>

#include "validate/cpu_check.h"

Suite *cpu_bf16_suite(void);

/* What cblas_sbgemm has to do, entry by entry. */
static void
plain_product(int order, int transpose_a, int transpose_b, int m, int n, int k, float alpha,
              const uint16_t *a, int a_stride, const uint16_t *b, int b_stride, float beta,
              float *c, int c_stride)
{
    ck_assert_int_eq(order, CblasRowMajor);
    ck_assert(alpha == 1 && beta == 0);
    for (int row = 0; row < m; row++)
        for (int column = 0; column < n; column++) {
            float sum = 0;
            for (int i = 0; i < k; i++)
                sum += cpu_bf16_widen(a[transpose_a == CblasTrans ? i * a_stride + row
                                                                  : row * a_stride + i]) *
                       cpu_bf16_widen(b[transpose_b == CblasTrans ? column * b_stride + i
                                                                  : i * b_stride + column]);
            c[row * c_stride + column] = sum;
        }
}

/* Of random operands, by one function; the error as measure has it. */
static double
error_of(cpu_bf16_product *multiply, const struct kernel *kernel)
{
    const struct gemm *gemm = &kernel->gemm;
    size_t counts[] = {(size_t)(gemm->batch * gemm->m * gemm->k),
                       (size_t)(gemm->batch * gemm->k * gemm->n),
                       (size_t)(gemm->batch * gemm->m * gemm->n)};
    union cpu_array operands[3];
    struct cpu_error error = {0};
    operands[2].reals = calloc(counts[2], sizeof(float));
    for (int i = 0; i < 2; i++) {
        operands[i].halves = calloc(counts[i], sizeof(uint16_t));
        for (size_t at = 0; at < counts[i]; at++)
            operands[i].halves[at] =
                cpu_bf16_round((float)((at * 7919 + 31 * (size_t)i) % 1009) / 512 - 1);
    }
    cpu_bf16_multiply(multiply, gemm, operands);
    cpu_check_gemm(kernel, operands, operands, &error);
    for (int i = 0; i < 2; i++)
        free(operands[i].halves);
    free(operands[2].reals);
    return cpu_error_fraction(&error);
}

static struct kernel
kernel_of(int layout)
{
    return (struct kernel){.kind = KERNEL_GEMM,
                           .dtype = DTYPE_BF16,
                           .gemm = {5, 7, 11, 2, (enum gemm_layout)layout}};
}

/* 2^-8 above 1 lies between 1 and 1 + 2^-7, whose last bit is odd; 3 x 2^-8 between that and the
 * even 1 + 2^-6; 2^-9 is nearer to 1. */
START_TEST(halves_are_the_nearest_of_two_the_even_one)
{
    ck_assert_uint_eq(cpu_bf16_round(1), 0x3f80);
    ck_assert_uint_eq(cpu_bf16_round(1.00390625F), 0x3f80);
    ck_assert_uint_eq(cpu_bf16_round(1.01171875F), 0x3f82);
    ck_assert_uint_eq(cpu_bf16_round(1.001953125F), 0x3f80);
    ck_assert_uint_eq(cpu_bf16_round(1.0040F), 0x3f81);
    ck_assert_uint_eq(cpu_bf16_round(-2.5F), 0xc020);
    ck_assert(cpu_bf16_widen(0x3f81) == 1.0078125F && cpu_bf16_widen(0xc020) == -2.5F);
}
END_TEST

START_TEST(products_of_each_layout_are_asked_for_as_they_lie)
{
    struct kernel kernel = kernel_of(_i);
    ck_assert_double_lt(error_of(plain_product, &kernel), 1e-6);
}
END_TEST

static void
half_product(int order, int transpose_a, int transpose_b, int m, int n, int k, float alpha,
             const uint16_t *a, int a_stride, const uint16_t *b, int b_stride, float beta,
             float *c, int c_stride)
{
    plain_product(order, transpose_a, transpose_b, m, n, k / 2, alpha, a, a_stride, b, b_stride,
                  beta, c, c_stride);
}

START_TEST(half_a_product_is_found_out)
{
    struct kernel kernel = kernel_of(_i);
    ck_assert_double_gt(error_of(half_product, &kernel), 0.1);
}
END_TEST

/* Where OpenBLAS has it, without the instruction as well: its plain code. */
START_TEST(the_librarys_own_product_is_right)
{
    struct kernel kernel = kernel_of(_i);
    if (cpu_bf16_library() != NULL)
        ck_assert_double_lt(error_of(cpu_bf16_library(), &kernel), 1e-5);
}
END_TEST

/* Either it runs, or one line says what is missing. */
START_TEST(a_kernel_is_found_or_the_reason)
{
    struct kernel kernel = kernel_of(GEMM_NN);
    struct cpu_kernel cpu;
    struct error_list errors = {0};
    bool is_there = cpu_bf16_is_there(&errors);
    ck_assert_int_eq(errors.count, is_there ? 0 : 1);
    errors = (struct error_list){0};
    ck_assert(cpu_kernel_find(&cpu, &kernel, &errors) == is_there);
    if (is_there) { /* two of each four bytes: 2 x 5 x 11, 2 x 11 x 7; C whole, 2 x 5 x 7 */
        ck_assert(cpu.operands[0].count == 55 && cpu.operands[1].count == 77);
        ck_assert(cpu.operands[2].count == 70 && cpu.operands[2].fill == CPU_FILL_ZERO);
    }
    kernel.kind = KERNEL_SOFTMAX;
    errors = (struct error_list){0};
    ck_assert(!cpu_kernel_find(&cpu, &kernel, &errors));
    ck_assert_str_eq(errors.items[0].what, "the CPU's softmax runs fp32, not bf16");
}
END_TEST

Suite *
cpu_bf16_suite(void)
{
    Suite *suite = suite_create("cpu_bf16");
    TCase *tcase = tcase_create("products");
    tcase_add_test(tcase, halves_are_the_nearest_of_two_the_even_one);
    tcase_add_loop_test(tcase, products_of_each_layout_are_asked_for_as_they_lie, 0, 3);
    tcase_add_loop_test(tcase, half_a_product_is_found_out, 0, 3);
    tcase_add_loop_test(tcase, the_librarys_own_product_is_right, 0, 3);
    tcase_add_test(tcase, a_kernel_is_found_or_the_reason);
    suite_add_tcase(suite, tcase);
    return suite;
}
