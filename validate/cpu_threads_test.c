/* Are the results of a kernel the same on any number of threads? */
#include "validate/cpu_threads.h"

#include <check.h>

Suite *cpu_threads_suite(void);

enum { ROWS = 7, WIDTH = 20, REALS = 4 * ROWS * WIDTH };

static const struct kernel kernels[] = {
    {.kind = KERNEL_SOFTMAX, .dtype = DTYPE_FP32, .rows_by_width = {ROWS, WIDTH}},
    {.kind = KERNEL_SOFTMAX,
     .dtype = DTYPE_FP32,
     .direction = DIRECTION_BACKWARD,
     .rows_by_width = {ROWS, WIDTH}},
    {.kind = KERNEL_RMS_NORM, .dtype = DTYPE_FP32, .rows_by_width = {ROWS, WIDTH}},
    {.kind = KERNEL_RMS_NORM,
     .dtype = DTYPE_FP32,
     .direction = DIRECTION_BACKWARD,
     .rows_by_width = {ROWS, WIDTH}},
    {.kind = KERNEL_GATHER, .dtype = DTYPE_FP32, .rows_by_width = {ROWS, WIDTH}},
    {.kind = KERNEL_SCATTER_ADD, .dtype = DTYPE_FP32, .rows_by_width = {ROWS, WIDTH}},
    {.kind = KERNEL_TRANSPOSE, .dtype = DTYPE_FP32, .rows_by_width = {ROWS, WIDTH}},
    {.kind = KERNEL_TOP_K, .dtype = DTYPE_FP32, .top_k = {ROWS, WIDTH, 3}},
    {.kind = KERNEL_CROSS_ENTROPY, .dtype = DTYPE_FP32, .cross_entropy = {ROWS, WIDTH}},
    {.kind = KERNEL_CROSS_ENTROPY,
     .dtype = DTYPE_FP32,
     .direction = DIRECTION_BACKWARD,
     .cross_entropy = {ROWS, WIDTH}},
    {.kind = KERNEL_ADAMW, .dtype = DTYPE_FP32, .adamw = {ROWS * WIDTH + 3}},
    {.kind = KERNEL_COPY, .copy = {.bytes = 4 * (ROWS * WIDTH + 3)}},
    {.kind = KERNEL_ELEMENTWISE,
     .dtype = DTYPE_FP32,
     .elementwise = {"gelu", ROWS *WIDTH + 3, 4 * (ROWS * WIDTH + 3), 4 * (ROWS * WIDTH + 3),
                     1}},
    {.kind = KERNEL_ELEMENTWISE,
     .dtype = DTYPE_FP32,
     .elementwise = {"silu_mul", ROWS *WIDTH, 12 * ROWS *WIDTH, 8 * ROWS *WIDTH, 2}},
};
enum { KERNELS = sizeof kernels / sizeof kernels[0] };

/* Any values; an index names each row once. */
static void
fill(const struct cpu_kernel *cpu, float reals[][REALS], union cpu_array *operands)
{
    for (int i = 0; i < cpu->operand_count; i++) {
        operands[i].reals = reals[i];
        for (int j = 0; j < REALS; j++) {
            if (cpu->operands[i].fill == CPU_FILL_PERMUTATION ||
                cpu->operands[i].fill == CPU_FILL_INDEX)
                operands[i].indices[j] = (j * 3 + 1) % ROWS;
            else
                reals[i][j] = (float)((j * 7 + i * 3) % 11 + 1) / 12;
        }
    }
}

START_TEST(threads_change_nothing)
{
    static float alone[CPU_OPERANDS_MAX][REALS], shared[CPU_OPERANDS_MAX][REALS];
    union cpu_array operands[CPU_OPERANDS_MAX];
    struct cpu_kernel cpu;
    struct error_list errors = {0};
    ck_assert_msg(cpu_kernel_find(&cpu, &kernels[_i], &errors), "%s", errors.items[0].what);
    fill(&cpu, alone, operands);
    cpu.run(&cpu.kernel, operands);
    for (int threads = 1; threads <= 9; threads += 2) {
        fill(&cpu, shared, operands);
        cpu_threads_run(&cpu, threads, operands);
        for (int i = 0; i < cpu.operand_count; i++)
            for (int j = 0; j < REALS; j++)
                if (alone[i][j] != shared[i][j])
                    ck_abort_msg("%d threads, operand %d", threads, i);
    }
}
END_TEST

Suite *
cpu_threads_suite(void)
{
    Suite *suite = suite_create("cpu_threads");
    TCase *tests = tcase_create("kernels");
    tcase_add_loop_test(tests, threads_change_nothing, 0, KERNELS);
    suite_add_tcase(suite, tests);
    return suite;
}
