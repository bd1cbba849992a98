/* Do products gain by what else a step does, and by nothing where the device has no gain? Do
 * others lose what goes with the clock? */
#include "models/mixed_load.h"

#include <check.h>

#include "models/run.h"
#include "sim/base/check_arena.h"
#include "sim/base/check_near.h"

Suite *mixed_load_suite(void);

static struct arena *arena;

static void
set_up(void)
{
    arena = check_arena_new();
}

static void
tear_down(void)
{
    arena_free(arena);
}

/* A run of an eager model on a device with that gain. */
static struct step_inputs
inputs_with(const char *file, double gain)
{
    struct error_list errors = {0};
    struct run_request request = {.file = file};
    const struct run *run = run_read(&request, arena, &errors);
    ck_assert_msg(run != NULL, "%s: %s", errors.items[0].where, errors.items[0].what);
    struct step_inputs inputs = run->inputs;
    struct cluster *cluster = arena_copy(arena, inputs.cluster, sizeof *cluster);
    struct device *device = arena_copy(arena, cluster->device, sizeof *device);
    device->gemm.mixed_load_gain = gain;
    cluster->device = device;
    inputs.cluster = cluster;
    return inputs;
}

static double
speedup(const char *file, double gain)
{
    struct step_inputs inputs = inputs_with(file, gain);
    return mixed_load_of(&inputs, arena).product_speedup;
}

static const char *const MIXTURE = "configs/runs/h200-eager-m1-dp8-ep8.json";
static const char *const DENSE = "configs/runs/h200-eager-d1-dp8.json";

/* 1 + gain (1 - products / all): a gain twice as large leaves twice as much above 1. */
START_TEST(products_gain_in_proportion)
{
    double one = speedup(MIXTURE, 0.2) - 1, two = speedup(MIXTURE, 0.4) - 1;
    ck_assert_double_gt(one, 0);
    ck_assert_double_lt(one, 0.2);
    CHECK_NEAR(two, 2 * one, 1e-12);
    ck_assert_double_eq(speedup(MIXTURE, 0), 1);
}
END_TEST

/* A dense model twice as wide spends more of its time on products, so they gain less. */
START_TEST(who_multiplies_most_gains_least)
{
    ck_assert_double_lt(speedup(DENSE, 0.3), speedup(MIXTURE, 0.3));
}
END_TEST

/* The loop issues 1.5 times what power allows, as a sum (q = 1): 2.5. Where power allows far more
 * than the loop issues, nothing. */
START_TEST(power_leaves_clock_over)
{
    struct device device = {.gemm = {.power_exponent = 1}};
    device.gemm.boost_flop_per_s[DTYPE_BF16] = 3e14;
    device.gemm.sustained_flop_per_s[DTYPE_BF16] = 2e14;
    CHECK_NEAR(mixed_load_boost(&device, DTYPE_BF16), 2.5, 1e-12);
    ck_assert_double_eq(mixed_load_boost(&device, DTYPE_FP32), 1);
    device.gemm.power_exponent = 2; /* sqrt(1 + 1.5^2) */
    CHECK_NEAR(mixed_load_boost(&device, DTYPE_BF16), 1.8027756377319946, 1e-12);
    device.gemm.sustained_flop_per_s[DTYPE_BF16] = 3e18;
    CHECK_NEAR(mixed_load_boost(&device, DTYPE_BF16), 1, 1e-7);
}
END_TEST

/* At 1.25 times the step's clock, AdamW that goes with the clock takes 1.25 times as long, one that
 * does by half 1.125 times, one that waits for memory no longer than alone. */
START_TEST(what_goes_with_the_clock_loses_it)
{
    struct device device = {.name = "slow"};
    struct kernel adamw = {.kind = KERNEL_ADAMW};
    struct mixed_load load = {1.6, 1.25};
    double *clock_fraction = &device.streams[KERNEL_ADAMW][DIRECTION_FORWARD].clock_fraction;
    *clock_fraction = 1;
    CHECK_NEAR(mixed_load_kernel_speedup(&device, &adamw, &load), 1 / 1.25, 1e-12);
    *clock_fraction = 0.5;
    CHECK_NEAR(mixed_load_kernel_speedup(&device, &adamw, &load), 1 / 1.125, 1e-12);
    *clock_fraction = 0;
    ck_assert_double_eq(mixed_load_kernel_speedup(&device, &adamw, &load), 1);
}
END_TEST

/* The boost clock is twice that of products alone: they gain that at most. */
START_TEST(no_product_exceeds_the_boost_clock)
{
    struct device device = {.gemm = {.power_exponent = 1}};
    struct kernel product = {.kind = KERNEL_GEMM, .dtype = DTYPE_BF16};
    device.gemm.boost_flop_per_s[DTYPE_BF16] = 2e14;
    device.gemm.sustained_flop_per_s[DTYPE_BF16] = 2e14;
    struct mixed_load load = {1.6, 1.25}, idle = {2.4, 1};
    ck_assert_double_eq(mixed_load_kernel_speedup(&device, &product, &load), 1.6);
    CHECK_NEAR(mixed_load_kernel_speedup(&device, &product, &idle), 2, 1e-12);
}
END_TEST

/* A step's clock is below the boost clock by what its products do not gain; one whose device was
 * not looked at is taken as it is. */
START_TEST(the_slowdown_is_what_products_do_not_gain)
{
    struct step_inputs dense = inputs_with(DENSE, 0.3), unknown = inputs_with(DENSE, 0);
    struct mixed_load load = mixed_load_of(&dense, arena);
    double boost = mixed_load_boost(dense.cluster->device, DTYPE_BF16);
    CHECK_NEAR(load.product_speedup * load.clock_slowdown, boost, 1e-12);
    ck_assert_double_gt(load.clock_slowdown, 1);
    ck_assert_double_eq(mixed_load_of(&unknown, arena).clock_slowdown, 1);
    struct step_inputs idle = inputs_with(MIXTURE, 2);
    ck_assert_double_eq(mixed_load_of(&idle, arena).clock_slowdown, 1);
}
END_TEST

Suite *
mixed_load_suite(void)
{
    Suite *suite = suite_create("mixed_load");
    TCase *tests = tcase_create("speedup");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, products_gain_in_proportion);
    tcase_add_test(tests, who_multiplies_most_gains_least);
    tcase_add_test(tests, power_leaves_clock_over);
    tcase_add_test(tests, what_goes_with_the_clock_loses_it);
    tcase_add_test(tests, no_product_exceeds_the_boost_clock);
    tcase_add_test(tests, the_slowdown_is_what_products_do_not_gain);
    suite_add_tcase(suite, tests);
    return suite;
}
