/* Do kernels made of products give what is worked by hand, and does their check see when not? */
#include "validate/cpu_kernel.h"

#include <string.h>

#include "sim/base/check_arena.h"
#include "sim/base/check_near.h"
#include "validate/measure_cpu.h"

Suite *cpu_composed_suite(void);

enum { REALS_MAX = 512 };

static struct cpu_kernel
found(struct kernel kernel)
{
    struct cpu_kernel cpu;
    struct error_list errors = {0};
    ck_assert_msg(cpu_kernel_find(&cpu, &kernel, &errors), "%s", errors.items[0].what);
    return cpu;
}

static struct kernel
newton_schulz(int64_t m, int64_t n, int64_t steps, bool is_symmetric)
{
    return (struct kernel){.kind = KERNEL_NEWTON_SCHULZ,
                           .dtype = DTYPE_FP32,
                           .newton_schulz = {m, n, steps, is_symmetric}};
}

static double
error_of(const struct cpu_kernel *cpu, const union cpu_array *before,
         const union cpu_array *after)
{
    struct cpu_error error = {0};
    cpu->check(&cpu->kernel, before, after, &error);
    return cpu_error_fraction(&error);
}

struct room {
    _Alignas(64) float reals[CPU_OPERANDS_MAX][REALS_MAX];
    union cpu_array operands[CPU_OPERANDS_MAX];
};

static union cpu_array *
operands_in(struct room *room)
{
    memset(room->reals, 0, sizeof room->reals);
    for (int i = 0; i < CPU_OPERANDS_MAX; i++)
        room->operands[i].reals = room->reals[i];
    return room->operands;
}

/* X = 3 0 0 / 0 4 0, of norm 5: 0.6 and 0.8 on the diagonal; a step makes of each d
 * 3.4445 d - 4.775 d^3 + 2.0315 d^5: 1.193269 and 0.976481. The other way round as well, and by
 * triangles. */
START_TEST(a_diagonal_goes_by_the_polynomial)
{
    static struct room room;
    for (int i = 0; i < 4; i++) {
        bool is_wide = i < 2;
        struct cpu_kernel cpu =
            found(newton_schulz(is_wide ? 2 : 3, is_wide ? 3 : 2, 1, i % 2 == 0));
        union cpu_array *operands = operands_in(&room);
        int second = is_wide ? 4 : 3;
        operands[0].reals[0] = 3;
        operands[0].reals[second] = 4;
        cpu.run(&cpu.kernel, operands);
        CHECK_NEAR((double)operands[1].reals[0], 1.193269, 1e-5);
        CHECK_NEAR((double)operands[1].reals[second], 0.976481, 1e-5);
        CHECK_NEAR((double)operands[1].reals[1], 0, 0);
        ck_assert_double_lt(error_of(&cpu, operands, operands), 1e-6);
        operands[1].reals[0] = 0;
        ck_assert_double_gt(error_of(&cpu, operands, operands), 0.5);
    }
}
END_TEST

/* x = 2; gate 2 x 1, up 2 x 3 = 6: silu(2) = 1.761594, made 10.569565, down by 0.5, weight 0.25:
 * 1.321196. The expert not chosen has weights that would show. */
START_TEST(a_token_goes_through_its_expert)
{
    static struct room room;
    struct cpu_kernel cpu = found((struct kernel){
        .kind = KERNEL_FUSED_MOE, .dtype = DTYPE_FP32, .fused_moe = {1, 1, 1, 2, 1}});
    union cpu_array *operands = operands_in(&room);
    const float gate_up[] = {100, 100, 1, 3}, down[] = {100, 0.5F};
    operands[0].reals[0] = 2;
    operands[1].indices[0] = 1;
    operands[2].reals[0] = 0.25F;
    memcpy(operands[3].reals, gate_up, sizeof gate_up);
    memcpy(operands[4].reals, down, sizeof down);
    cpu.run(&cpu.kernel, operands);
    CHECK_NEAR((double)operands[5].reals[0], 1.321196, 1e-6);
    ck_assert_double_lt(error_of(&cpu, operands, operands), 1e-6);
    operands[5].reals[0] = 1;
    ck_assert_double_gt(error_of(&cpu, operands, operands), 0.1);
}
END_TEST

/* Random operands of odd sizes, through the whole measurement. */
START_TEST(both_pass_their_check)
{
    const struct kernel kernels[] = {
        newton_schulz(33, 50, 5, true),
        newton_schulz(50, 33, 5, false),
        {.kind = KERNEL_FUSED_MOE, .dtype = DTYPE_FP32, .fused_moe = {37, 24, 20, 4, 2}}};
    struct measure_cpu_options options = {
        .effort = {.warmups = 1, .repeats_min = 1, .repeats_max = 2, .budget_s = 0.01},
        .cache_bytes = 1e5,
        .memory_bytes = 1e8,
        .seed = 3};
    for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; i++) {
        struct arena *arena = check_arena_new();
        struct error_list errors = {0};
        struct measure_result result;
        ck_assert_msg(measure_cpu(&kernels[i], &options, &result, arena, &errors), "%s",
                      errors.items[0].what);
        ck_assert(result.error_fraction > 0 && result.times.min_s > 0);
        arena_free(arena);
    }
}
END_TEST

Suite *
cpu_composed_suite(void)
{
    Suite *suite = suite_create("cpu_composed");
    TCase *tests = tcase_create("kernels");
    tcase_add_test(tests, a_diagonal_goes_by_the_polynomial);
    tcase_add_test(tests, a_token_goes_through_its_expert);
    tcase_add_test(tests, both_pass_their_check);
    suite_add_tcase(suite, tests);
    return suite;
}
