/* Is the attention that is timed the one asked for, its backward pass the slope of its forward? */
#include "validate/cpu_kernel.h"

#include <math.h>
#include <string.h>

#include <check.h>

#include "sim/base/check_near.h"

Suite *cpu_attention_suite(void);

enum { REALS_MAX = 40000 };

/* Operands of a kernel, those that go in random from -1 to 1. */
struct bench {
    struct cpu_kernel cpu;
    float reals[CPU_OPERANDS_MAX][REALS_MAX];
    union cpu_array operands[CPU_OPERANDS_MAX];
};

static void
bench_fill(struct bench *bench, struct attention shape, enum direction direction)
{
    struct kernel kernel = {.kind = KERNEL_ATTENTION,
                            .dtype = DTYPE_FP32,
                            .direction = direction,
                            .attention = shape};
    struct error_list errors = {0};
    uint32_t state = 1;
    ck_assert(cpu_kernel_find(&bench->cpu, &kernel, &errors));
    for (int i = 0; i < bench->cpu.operand_count; i++) {
        int64_t count = (int64_t)bench->cpu.operands[i].count;
        ck_assert_int_le(count, REALS_MAX);
        bench->operands[i].reals = bench->reals[i];
        for (int64_t j = 0; j < count; j++) {
            state = state * 1664525U + 1013904223U; /* Numerical Recipes, 7.1 */
            bench->reals[i][j] = (float)(state >> 8) * 0x1p-23F - 1;
        }
    }
}

static double
error_of(const struct bench *bench)
{
    struct cpu_error error = {0};
    bench->cpu.check(&bench->cpu.kernel, bench->operands, bench->operands, &error);
    return cpu_error_fraction(&error);
}

/* Keys 0 and ln(3), of one number each: weights 1/4 and 3/4; values 4 and 8: 1 + 6 = 7. The first
 * of two queries sees the first key alone: 4. */
START_TEST(weights_are_a_softmax_of_what_is_seen)
{
    float q[] = {1, 1}, k[] = {0, logf(3)}, v[] = {4, 8}, o[2] = {0}, scores[128] = {0};
    struct kernel kernel = {.kind = KERNEL_ATTENTION,
                            .dtype = DTYPE_FP32,
                            .attention = {.batch = 1,
                                          .q_len = 2,
                                          .kv_len = 2,
                                          .q_heads = 1,
                                          .kv_heads = 1,
                                          .head_dim = 1,
                                          .is_causal = true}};
    struct cpu_kernel cpu;
    struct error_list errors = {0};
    union cpu_array operands[] = {{q}, {k}, {v}, {o}, {scores}};
    ck_assert(cpu_kernel_find(&cpu, &kernel, &errors));
    cpu.run(&cpu.kernel, operands);
    CHECK_NEAR((double)o[0], 4, 1e-6);
    CHECK_NEAR((double)o[1], 7, 1e-6);
}
END_TEST

/* Shapes with every turn of the code: several blocks, shared heads, a window, more keys than
 * queries. */
static const struct attention shapes[] = {
    {.batch = 2, .q_len = 70, .kv_len = 70, .q_heads = 2, .kv_heads = 1, .head_dim = 8},
    {.batch = 1,
     .q_len = 150,
     .kv_len = 150,
     .q_heads = 4,
     .kv_heads = 2,
     .head_dim = 16,
     .is_causal = true},
    {.batch = 1,
     .q_len = 130,
     .kv_len = 200,
     .q_heads = 2,
     .kv_heads = 2,
     .head_dim = 16,
     .is_causal = true,
     .window = 40},
};

START_TEST(results_agree_with_the_definition)
{
    static struct bench bench;
    bench_fill(&bench, shapes[_i / 2], _i % 2 ? DIRECTION_BACKWARD : DIRECTION_FORWARD);
    bench.cpu.run(&bench.cpu.kernel, bench.operands);
    ck_assert_msg(error_of(&bench) < 5e-6, "%g", error_of(&bench));
    bench.operands[_i % 2 ? 6 : 3].reals[17] += 1; /* dv or o */
    ck_assert_msg(error_of(&bench) > 1e-4, "%g", error_of(&bench));
}
END_TEST

/* sum(do o), which has the slopes that backward gives. */
static double
loss_of(struct bench *forward, const float *out_slope)
{
    double loss = 0;
    forward->cpu.run(&forward->cpu.kernel, forward->operands);
    for (int64_t i = 0; i < (int64_t)forward->cpu.operands[3].count; i++)
        loss += (double)out_slope[i] * (double)forward->reals[3][i];
    return loss;
}

/* Central differences of step 1/64 in fp32: about 1e-3 of the largest slope. */
START_TEST(backward_is_the_slope_of_forward)
{
    static struct bench forward, backward;
    const float step = 0x1p-6F;
    bench_fill(&forward, shapes[2], DIRECTION_FORWARD);
    bench_fill(&backward, shapes[2], DIRECTION_BACKWARD);
    for (int i = 0; i < 3; i++)
        memcpy(backward.reals[i], forward.reals[i], sizeof forward.reals[i]);
    backward.cpu.run(&backward.cpu.kernel, backward.operands);
    for (int i = 0; i < 3; i++) {
        int64_t count = (int64_t)forward.cpu.operands[i].count;
        for (int64_t at = 5; at < count; at += count / 7) {
            float kept = forward.reals[i][at];
            forward.reals[i][at] = kept + step;
            double above = loss_of(&forward, backward.reals[3]);
            forward.reals[i][at] = kept - step;
            double below = loss_of(&forward, backward.reals[3]);
            forward.reals[i][at] = kept;
            double slope = (above - below) / (2 * (double)step);
            double given = (double)backward.reals[4 + i][at];
            ck_assert_msg(fabs(slope - given) < 2e-3, "%d[%d]: %g, by differences %g", i,
                          (int)at, given, slope);
        }
    }
}
END_TEST

START_TEST(a_causal_query_without_a_key_is_refused)
{
    struct kernel kernel = {
        .kind = KERNEL_ATTENTION, .dtype = DTYPE_FP32, .attention = shapes[1]};
    struct cpu_kernel cpu;
    struct error_list errors = {0};
    kernel.attention.kv_len = 149;
    ck_assert(!cpu_kernel_find(&cpu, &kernel, &errors));
    ck_assert_str_eq(errors.items[0].what,
                     "the CPU wants a key for every query, at least the first");
}
END_TEST

Suite *
cpu_attention_suite(void)
{
    Suite *suite = suite_create("cpu_attention");
    TCase *tests = tcase_create("attention");
    tcase_add_test(tests, weights_are_a_softmax_of_what_is_seen);
    tcase_add_loop_test(tests, results_agree_with_the_definition, 0,
                        2 * sizeof shapes / sizeof shapes[0]);
    tcase_add_test(tests, backward_is_the_slope_of_forward);
    tcase_add_test(tests, a_causal_query_without_a_key_is_refused);
    suite_add_tcase(suite, tests);
    return suite;
}
