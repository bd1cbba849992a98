/* Is the bound never above the simulation, and not far below it? */
#include "models/bound.h"

#include <string.h>

#include <check.h>

#include "models/check_plan_list.h"
#include "models/step.h"
#include "sim/base/check_arena.h"
#include "sim/base/check_often.h"

Suite *bound_suite(void);

static struct arena *arena;

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

/* Simulates the plan; its step is not below the bound. Returns bound over step, 0 where it cannot
 * be simulated. */
static double
check_plan(const struct plan_space *space, const struct plan_point *point)
{
    struct arena *own = arena_new_beside(arena);
    struct error_list errors = {0};
    struct plan plan = plan_space_plan(space, point);
    struct run run = *space->base;
    double bound_s = 0;
    run.inputs.workload.plan = &plan;
    const struct step *step = step_simulate(&run, RANKS_FOLDED, own, &errors);
    double ratio = 0;
    if (step) {
        ck_assert(bound_step_s(bound_prices_new(own), &run.inputs, &bound_s, &errors));
        ratio = bound_s / step->step_s;
        ck_assert_msg(ratio <= 1, "%s: %.9g of the step",
                      plan_space_settings(space, point, own), ratio);
    }
    arena_free(own);
    return ratio;
}

/* So many plans, evenly out of the space; the mean of bound over step. */
static double
check_run(const char *file, const char *const *settings, size_t count, size_t tried)
{
    struct run_request request = {.file = file, .settings = settings, .setting_count = count};
    struct error_list errors = {0};
    const struct run *base = run_read(&request, arena, &errors);
    ck_assert_msg(base != NULL, "%s: %s", errors.items[0].where, errors.items[0].what);
    struct plan_space space = plan_space_of(base, arena);
    struct plan_list list = check_plan_list(&space, arena);
    double sum = 0, simulated = 0;
    for (size_t i = 0; i < tried; i++) {
        double ratio = check_plan(&space, &list.points[i * list.count / tried]);
        sum += ratio;
        simulated += ratio > 0;
    }
    ck_assert(simulated > 0.2 * (double)tried);
    return sum / simulated;
}

START_TEST(no_plan_of_a_mixture_of_experts_is_below_its_bound)
{
    static const char *const settings[] = {"cluster.nodes=2", "plan.global_batch_sequences=64"};
    ck_assert(check_run("configs/runs/zaya1-base-4k-1024.json", settings, 2, CHECK_TRIES(40)) >
              0.7);
}
END_TEST

/* Exchanges beside another microbatch's kernels count for nothing. */
START_TEST(nor_is_one_whose_exchanges_are_hidden)
{
    static const char *const settings[] = {"cluster.nodes=2", "plan.global_batch_sequences=32",
                                           "plan.overlaps_expert_exchange=true"};
    ck_assert(check_run("configs/runs/zaya1-base-4k-1024.json", settings, 3, CHECK_TRIES(40)) >
              0.5);
}
END_TEST

START_TEST(nor_one_with_skewed_experts)
{
    static const char *const settings[] = {"plan.global_batch_sequences=64"};
    ck_assert(check_run("configs/runs/h200-eager-m1-dp8-ep4-skew.json", settings, 1,
                        CHECK_TRIES(40)) > 0.7);
}
END_TEST

/* Weights gathered, and gradients reduced, where nothing hides them. */
START_TEST(nor_one_that_waits_for_weights_and_gradients)
{
    static const char *const settings[] = {"cluster.nodes=2", "plan.global_batch_sequences=32",
                                           "plan.overlaps_gradient_reduction=false",
                                           "plan.overlaps_parameter_gather=false"};
    ck_assert(check_run("configs/runs/zaya1-base-4k-1024.json", settings, 4, 40) > 0.7);
}
END_TEST

/* Gradients that are reduced again and again, and more than the last pass hides. */
START_TEST(nor_one_that_reduces_in_every_microbatch)
{
    static const char *const settings[] = {"cluster.nodes=2", "plan.global_batch_sequences=64",
                                           "plan.reduces_every_microbatch=true"};
    ck_assert(check_run("configs/runs/zaya1-base-4k-1024.json", settings, 3, CHECK_TRIES(40)) >
              0.7);
}
END_TEST

/* Dense layers, many stages, more than one chunk on each. */
START_TEST(nor_one_of_a_dense_model_in_stages)
{
    static const char *const settings[] = {"plan.global_batch_sequences=16",
                                           "device.hbm_bytes=1e13"};
    ck_assert(check_run("configs/runs/gpt3-175b-64.json", settings, 2, CHECK_TRIES(10)) > 0.7);
}
END_TEST

/* Experts behind the last layer too, in the modules that predict ahead. */
START_TEST(nor_one_with_experts_outside_the_layers)
{
    static const char *const settings[] = {"plan.global_batch_sequences=1024",
                                           "device.hbm_bytes=1e13"};
    ck_assert(check_run("configs/runs/deepseek-v3-pp16.json", settings, 2, CHECK_TRIES(15)) >
              0.6);
}
END_TEST

Suite *
bound_suite(void)
{
    Suite *suite = suite_create("bound");
    TCase *facts = tcase_create("facts");
    tcase_add_checked_fixture(facts, setup, teardown);
    tcase_add_test(facts, no_plan_of_a_mixture_of_experts_is_below_its_bound);
    tcase_add_test(facts, nor_is_one_whose_exchanges_are_hidden);
    tcase_add_test(facts, nor_one_with_skewed_experts);
    tcase_add_test(facts, nor_one_that_waits_for_weights_and_gradients);
    tcase_add_test(facts, nor_one_that_reduces_in_every_microbatch);
    tcase_add_test(facts, nor_one_of_a_dense_model_in_stages);
    tcase_add_test(facts, nor_one_with_experts_outside_the_layers);
    suite_add_tcase(suite, facts);
    return suite;
}
