/* Do products gain by what else a step does, and by nothing where the device has no gain? */
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
    return mixed_load_speedup(&inputs, arena);
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

Suite *
mixed_load_suite(void)
{
    Suite *suite = suite_create("mixed_load");
    TCase *tests = tcase_create("speedup");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, products_gain_in_proportion);
    tcase_add_test(tests, who_multiplies_most_gains_least);
    suite_add_tcase(suite, tests);
    return suite;
}
