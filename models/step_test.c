/* Is a simulated step accounted for to the picosecond, and does it move the right way? */
#include "models/step.h"

#include <string.h>

#include <check.h>

#include "sim/base/check_arena.h"
#include "sim/base/check_near.h"

Suite *step_suite(void);

static struct arena *arena;
static struct error_list errors;

static void
set_up(void)
{
    arena = check_arena_new();
    memset(&errors, 0, sizeof errors);
}

static void
tear_down(void)
{
    arena_free(arena);
}

static const struct step *
simulate(const char *setting, const char *another)
{
    const char *settings[] = {setting, another};
    struct run_request request = {.file = "configs/runs/zaya1-base-4k-1024.json",
                                  .settings = settings,
                                  .setting_count = (setting ? 1u : 0u) + (another ? 1u : 0u)};
    const struct run *run = run_read(&request, arena, &errors);
    return run ? step_simulate(run, RANKS_FOLDED, arena, &errors) : NULL;
}

START_TEST(the_breakdown_adds_up_to_the_step)
{
    const char *const settings[] = {NULL,
                                    "plan.overlaps_gradient_reduction=false",
                                    "plan.overlaps_parameter_gather=false",
                                    "plan.zero_stage=0",
                                    "plan.optimizer=adamw",
                                    "software.host_launch_s=1e-4"};
    for (size_t row = 0; row < sizeof settings / sizeof *settings; row++) {
        const struct step *step = simulate(settings[row], NULL);
        ck_assert_msg(step != NULL, "%s", errors.items[0].what);
        int64_t sum_ps = 0;
        for (int i = 0; i < STEP_CLASS_COUNT; i++) {
            ck_assert_int_ge(step->class_ps[i], 0);
            sum_ps += step->class_ps[i];
        }
        ck_assert_int_eq(sum_ps, step->step_ps);
    }
}
END_TEST

/* However the model is split. Of a stage that ends early the rest is waiting for other ranks. */
START_TEST(the_breakdown_of_split_models_adds_up_too)
{
    const char *const runs[] = {"configs/runs/h200-eager-m1-pp4-ep2.json",
                                "configs/runs/h200-eager-d1-tp2-pp2.json",
                                "configs/runs/h200-eager-m1-dp8-ep4-skew.json"};
    for (size_t row = 0; row < sizeof runs / sizeof *runs; row++) {
        struct run_request request = {.file = runs[row]};
        const struct run *run = run_read(&request, arena, &errors);
        ck_assert_msg(run != NULL, "%s", errors.items[0].what);
        const struct step *step = step_simulate(run, RANKS_FOLDED, arena, &errors);
        int64_t sum_ps = 0, parts_ps = 0;
        for (int i = 0; i < STEP_CLASS_COUNT; i++)
            sum_ps += step->class_ps[i];
        for (int i = 0; i < STEP_PART_COUNT; i++)
            parts_ps += step->part_ps[i];
        ck_assert_int_eq(sum_ps, step->step_ps);
        ck_assert_int_eq(parts_ps, step->step_ps);
        ck_assert_int_lt(step->class_ps[CLASS_PARAMETER_GATHER], step->step_ps / 20);
    }
}
END_TEST

START_TEST(groups_add_up_to_the_step_too)
{
    const struct step *step = simulate(NULL, NULL);
    int64_t sum_ps = 0;
    for (int group = 0; group < STEP_GROUP_COUNT; group++)
        sum_ps += step_group_ps(step, (enum step_group)group);
    ck_assert_int_eq(sum_ps, step->step_ps);
}
END_TEST

/* The head of 4,096 tokens a sequence, two a microbatch, two microbatches, three products each:
 * 2 x 2048 x 262272 FLOP a token. */
START_TEST(a_class_counts_what_its_kernels_compute)
{
    const struct step *step = simulate(NULL, NULL);
    CHECK_NEAR(step->class_flop[CLASS_HEAD], 3 * 2.0 * 2048 * 262272 * 4 * 4096, 1e-3);
}
END_TEST

START_TEST(rates_follow_from_step_time)
{
    const struct step *step = simulate(NULL, NULL);
    CHECK_NEAR(step->tokens_per_s * step->step_s, 16777216, 1e-12);
    CHECK_NEAR(step->tokens_per_s_per_gpu * 1024, step->tokens_per_s, 1e-12);
    CHECK_NEAR(step->mfu * 1307.4e12, step->model_flop_per_s_per_gpu, 1e-3);
    ck_assert_double_lt(step->low_s, step->step_s);
    ck_assert_double_gt(step->high_s, step->step_s);
}
END_TEST

START_TEST(hiding_communication_never_costs_time)
{
    double hidden_s = simulate(NULL, NULL)->step_s;
    ck_assert_double_lt(hidden_s,
                        simulate("plan.overlaps_gradient_reduction=false", NULL)->step_s);
    ck_assert_double_lt(hidden_s,
                        simulate("plan.overlaps_parameter_gather=false", NULL)->step_s);
}
END_TEST

/* Exposed alone, each bucket's reduction is what it costs: the data lane's time is the sum. */
START_TEST(without_overlap_the_reduction_is_all_exposed)
{
    const struct step *step = simulate("plan.overlaps_gradient_reduction=false",
                                       "plan.overlaps_parameter_gather=false");
    int64_t exposed_ps = 0;
    for (int i = CLASS_GRADIENT_REDUCTION; i <= CLASS_GRADIENT_NORM; i++)
        exposed_ps += step->class_ps[i];
    ck_assert_int_eq(exposed_ps, step->communication_ps);
}
END_TEST

START_TEST(a_slow_host_shows_as_waiting_for_the_host)
{
    const struct step *step = simulate("software.host_launch_s=1e-4", NULL);
    ck_assert_int_gt(step->class_ps[CLASS_HOST], step->step_ps / 5);
    ck_assert_int_lt(simulate("software.host_launch_s=0", NULL)->class_ps[CLASS_HOST], 1);
}
END_TEST

/* All but nothing of such a step is host launches, so its error is that of a launch: the 90 %
 * interval is 1.645 x 0.5 of the step on each side. */
START_TEST(the_interval_follows_what_decides_the_step)
{
    const struct step *step = simulate("software.host_launch_s=1", NULL);
    CHECK_NEAR(step->high_s - step->step_s, 1.645 * 0.5 * step->step_s, 0.01);
}
END_TEST

/* Without collectives beside them kernels take what they take alone. */
START_TEST(kernels_are_slowed_only_where_collectives_run)
{
    const struct step *hidden = simulate(NULL, NULL);
    const struct step *exposed = simulate("plan.overlaps_gradient_reduction=false",
                                          "plan.overlaps_parameter_gather=false");
    ck_assert_int_gt(hidden->class_ps[CLASS_OVERLAP], 0);
    ck_assert_int_eq(exposed->class_ps[CLASS_OVERLAP], 0);
    ck_assert_int_eq(hidden->class_ps[CLASS_EXPERT], exposed->class_ps[CLASS_EXPERT]);
}
END_TEST

START_TEST(what_does_not_fit_is_infeasible)
{
    ck_assert_ptr_null(simulate("plan.microbatch_sequences=4", "device.hbm_bytes=64e9"));
    ck_assert_int_eq(errors.count, 1);
    ck_assert_int_eq((int)errors.items[0].kind, ERROR_INFEASIBLE);
    ck_assert_ptr_nonnull(strstr(errors.items[0].what, "does not fit: needs"));
}
END_TEST

Suite *
step_suite(void)
{
    Suite *suite = suite_create("step");
    TCase *tests = tcase_create("zaya1");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, the_breakdown_adds_up_to_the_step);
    tcase_add_test(tests, the_breakdown_of_split_models_adds_up_too);
    tcase_add_test(tests, groups_add_up_to_the_step_too);
    tcase_add_test(tests, a_class_counts_what_its_kernels_compute);
    tcase_add_test(tests, rates_follow_from_step_time);
    tcase_add_test(tests, hiding_communication_never_costs_time);
    tcase_add_test(tests, without_overlap_the_reduction_is_all_exposed);
    tcase_add_test(tests, a_slow_host_shows_as_waiting_for_the_host);
    tcase_add_test(tests, the_interval_follows_what_decides_the_step);
    tcase_add_test(tests, kernels_are_slowed_only_where_collectives_run);
    tcase_add_test(tests, what_does_not_fit_is_infeasible);
    suite_add_tcase(suite, tests);
    return suite;
}
