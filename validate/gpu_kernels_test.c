/* Do the kernels that measure times on a GPU calculate what was asked for, at every width? The GPU
 * is check_gpu.h's: its kernels are the GPU's own source, compiled for the host. */
#include <check.h>
#include <math.h>
#include <string.h>

#include "sim/base/check_arena.h"
#include "sim/base/hash.h"
#include "validate/check_gpu.h"
#include "validate/gpu_stream.h"

Suite *gpu_kernels_suite(void);

enum { OPERANDS_MAX = CPU_OPERANDS_MAX + 2 };

/* Operands as a test holds them: what was there before, what is there now. */
struct arrays {
    union cpu_array before[OPERANDS_MAX], after[OPERANDS_MAX];
    size_t counts[OPERANDS_MAX];
    int count;
};

static struct arena *arena;

static void
add_array(struct arrays *arrays, double count)
{
    const size_t line_reals = 64; /* operands begin on lines of 256 bytes */
    size_t all = ((size_t)count / line_reals + 2) * line_reals;
    int i = arrays->count++;
    arrays->counts[i] = (size_t)count;
    arrays->before[i].reals = arena_alloc(arena, all, sizeof(float));
    float *after = arena_alloc(arena, all, sizeof(float));
    size_t past = (size_t)((uintptr_t)after / sizeof(float) % line_reals);
    arrays->after[i].reals = after + (line_reals - past) % line_reals;
}

/* Evenly from -1 to 1, or from 0, or indices. */
static void
fill(struct arrays *arrays, int i, const struct cpu_operand *operand)
{
    for (size_t at = 0; at < arrays->counts[i]; at++) {
        double part = (double)(hash_mixed((uint64_t)at * 31 + (uint64_t)i) >> 40) / (1 << 24);
        if (operand->fill == CPU_FILL_PERMUTATION)
            arrays->before[i].indices[at] = (int32_t)(arrays->counts[i] - 1 - at);
        else if (operand->fill == CPU_FILL_INDEX)
            arrays->before[i].indices[at] = (int32_t)(part * (double)operand->index_end);
        else
            arrays->before[i].reals[at] =
                (float)(operand->fill == CPU_FILL_POSITIVE ? part : 2 * part - 1);
    }
    memcpy(arrays->after[i].reals, arrays->before[i].reals, arrays->counts[i] * sizeof(float));
}

static void
run(struct gpu *gpu, const struct gpu_stream_launch *launch, const struct arrays *arrays)
{
    void *pointers[GPU_LAUNCH_OPERANDS_MAX], *function;
    int64_t sizes[GPU_LAUNCH_SIZES_MAX];
    void *arguments[GPU_LAUNCH_OPERANDS_MAX + GPU_LAUNCH_SIZES_MAX];
    struct error_list errors = {0};
    int count = 0;
    for (int i = 0; i < launch->operand_count; i++) {
        pointers[i] = arrays->after[launch->operands[i]].reals;
        arguments[count++] = &pointers[i];
    }
    for (int i = 0; i < launch->size_count; i++) {
        sizes[i] = launch->sizes[i];
        arguments[count++] = &sizes[i];
    }
    ck_assert_int_eq(check_gpu_function(&function, NULL, launch->name), 0);
    ck_assert(gpu_launch(gpu, function, launch->shape, arguments, &errors));
}

/* The kernel's error against a plain calculation in fp64. */
static void
check_kernel(const struct kernel *kernel)
{
    struct gpu gpu = check_gpu_open(GPU_CUDA);
    struct cpu_kernel cpu;
    struct gpu_stream_plan plan;
    struct error_list errors = {0};
    struct arrays arrays = {.count = 0};
    struct cpu_error error = {0};
    ck_assert(cpu_kernel_find(&cpu, kernel, &errors));
    ck_assert(gpu_stream_plan(kernel, cpu.operand_count, &plan));
    for (int i = 0; i < cpu.operand_count; i++) {
        add_array(&arrays, cpu.operands[i].count);
        fill(&arrays, i, &cpu.operands[i]);
    }
    for (int i = 0; i < plan.scratch_count; i++)
        add_array(&arrays, plan.scratch_counts[i]);
    for (int i = 0; i < plan.launch_count; i++)
        run(&gpu, &plan.launches[i], &arrays);
    cpu.check(&cpu.kernel, arrays.before, arrays.after, &error);
    ck_assert_msg(cpu_error_fraction(&error) < 1e-5, "%s of %lld x %lld: %g",
                  kernel_kind_name(kernel->kind), (long long)kernel->rows_by_width.rows,
                  (long long)kernel->rows_by_width.width, cpu_error_fraction(&error));
    check_gpu_close(&gpu);
}

/* One strip and less, odd ends, a whole block, past what threads hold. */
static const int64_t widths[] = {1, 7, 64, 129, 512, 1000, 4096, 4100, 6401};

START_TEST(rows_of_every_width)
{
    const enum kernel_kind kinds[] = {KERNEL_RMS_NORM, KERNEL_SOFTMAX, KERNEL_GATHER,
                                      KERNEL_SCATTER_ADD, KERNEL_TRANSPOSE};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        for (int direction = 0; direction < (i < 2 ? 2 : 1); direction++) {
            const struct kernel kernel = {.kind = kinds[i],
                                          .dtype = DTYPE_FP32,
                                          .direction = (enum direction)direction,
                                          .rows_by_width = {5, widths[_i]}};
            check_kernel(&kernel);
        }
}
END_TEST

START_TEST(losses_of_every_width)
{
    for (int direction = 0; direction < 2; direction++) {
        const struct kernel kernel = {.kind = KERNEL_CROSS_ENTROPY,
                                      .dtype = DTYPE_FP32,
                                      .direction = (enum direction)direction,
                                      .cross_entropy = {3, widths[_i] + 1}};
        check_kernel(&kernel);
    }
}
END_TEST

/* Many rows to a column: its parts and their sum. */
START_TEST(gains_of_many_rows)
{
    const struct kernel kernel = {.kind = KERNEL_RMS_NORM,
                                  .dtype = DTYPE_FP32,
                                  .direction = DIRECTION_BACKWARD,
                                  .rows_by_width = {1030, 37}};
    check_kernel(&kernel);
}
END_TEST

START_TEST(adamw_of_an_odd_number)
{
    const struct kernel kernel = {
        .kind = KERNEL_ADAMW, .dtype = DTYPE_FP32, .adamw = {.parameters = 1027 + _i}};
    check_kernel(&kernel);
}
END_TEST

/* Heads to 256, of which several queries share one of keys and values; a mask, a window, none. */
START_TEST(attention_of_every_width)
{
    static const int64_t heads[] = {16, 80, 128, 192, 200, 256};
    for (int mask = 0; mask < 3; mask++) {
        const struct kernel kernel = {.kind = KERNEL_ATTENTION,
                                      .dtype = DTYPE_FP32,
                                      .attention = {.batch = 2,
                                                    .q_len = 11,
                                                    .kv_len = 37,
                                                    .q_heads = 2,
                                                    .kv_heads = 1,
                                                    .head_dim = heads[_i],
                                                    .is_causal = mask > 0,
                                                    .window = mask == 2 ? 9 : 0,
                                                    .implementation = "own"}};
        check_kernel(&kernel);
    }
}
END_TEST

static void
setup(void)
{
    arena = check_arena_new();
}

static void
teardown(void)
{
    arena_free(arena);
}

Suite *
gpu_kernels_suite(void)
{
    Suite *suite = suite_create("gpu_kernels");
    TCase *tests = tcase_create("kernels");
    int count = (int)(sizeof widths / sizeof widths[0]);
    tcase_set_timeout(tests, 60);
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_loop_test(tests, rows_of_every_width, 0, count);
    tcase_add_loop_test(tests, losses_of_every_width, 0, count);
    tcase_add_test(tests, gains_of_many_rows);
    tcase_add_loop_test(tests, adamw_of_an_odd_number, 0, 4);
    tcase_add_loop_test(tests, attention_of_every_width, 0, 6);
    suite_add_tcase(suite, tests);
    return suite;
}
