/* Does the chain that decides a step's end add up, and is each cause what the step was given? */
#include "models/explain.h"

#include <string.h>

#include <check.h>

#include "sim/base/check_arena.h"
#include "sim/base/units.h"

Suite *explain_suite(void);

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

static struct explanation
explain(const char *file, const char *setting)
{
    struct run_request request = {
        .file = file, .settings = &setting, .setting_count = setting ? 1 : 0};
    const struct run *run = run_read(&request, arena, &errors);
    ck_assert_msg(run != NULL, "%s", errors.items[0].what);
    const struct step *step = step_simulate(run, RANKS_FOLDED, arena, &errors);
    ck_assert_msg(step != NULL, "%s", errors.items[0].what);
    return explain_step(step, arena);
}

/* Whatever decides: one rank alone, a pipeline, unequal experts, kernels merged into blocks. */
START_TEST(causes_classes_and_operators_each_add_up_to_the_step)
{
    const struct {
        const char *file, *setting;
    } rows[] = {
        {"configs/runs/zaya1-base-4k-1024.json", NULL},
        {"configs/runs/zaya1-base-4k-1024.json", "software.host_launch_s=1e-4"},
        {"configs/runs/zaya1-base-4k-1024.json", "plan.overlaps_parameter_gather=false"},
        {"configs/runs/h200-eager-m1-pp4-ep2.json", NULL},
        {"configs/runs/h200-eager-m1-dp8-ep4-skew.json", NULL},
        {"configs/runs/deepseek-v3-pp16.json", NULL},
    };
    for (size_t row = 0; row < sizeof rows / sizeof *rows; row++) {
        struct explanation explanation = explain(rows[row].file, rows[row].setting);
        int64_t causes_ps = 0, classes_ps = 0, operators_ps = 0;
        for (int i = 0; i < CAUSE_COUNT; i++) {
            ck_assert_int_ge(explanation.cause_ps[i], 0);
            causes_ps += explanation.cause_ps[i];
        }
        for (int i = 0; i < STEP_CLASS_COUNT; i++)
            classes_ps += explanation.class_ps[i];
        for (int64_t i = 0; i < explanation.operator_count; i++)
            operators_ps += explanation.operators[i].ps;
        ck_assert_int_eq(causes_ps, explanation.step->step_ps);
        ck_assert_int_eq(classes_ps, explanation.step->step_ps);
        ck_assert_int_eq(operators_ps, explanation.step->step_ps);
    }
}
END_TEST

/* 0.1 ms a launch: the host is what the step waits for, and its part of the chain is the count of
 * launches times that. */
START_TEST(a_slow_host_is_most_of_the_chain)
{
    struct explanation explanation =
        explain("configs/runs/zaya1-base-4k-1024.json", "software.host_launch_s=1e-4");
    ck_assert_int_gt(explanation.cause_ps[CAUSE_HOST], explanation.step->step_ps / 2);
    ck_assert_int_eq(explanation.cause_ps[CAUSE_HOST] % 100000000, 0);
    ck_assert_int_eq(explanation.cause_ps[CAUSE_HOST], explanation.class_ps[CLASS_HOST]);
}
END_TEST

START_TEST(operators_come_longest_first_and_once_each)
{
    struct explanation explanation = explain("configs/runs/zaya1-base-4k-1024.json", NULL);
    ck_assert_int_gt(explanation.operator_count, 50);
    for (int64_t i = 1; i < explanation.operator_count; i++) {
        const struct explain_operator *a = &explanation.operators[i - 1], *b = a + 1;
        ck_assert_int_ge(a->ps, b->ps);
        ck_assert(a->work != b->work);
    }
    const struct explain_operator *attention = explanation.operators;
    while (strcmp(attention->work->name, "attention.backward") != 0)
        attention++;
    ck_assert_int_gt(attention->count, 40); /* of 40 layers in 2 microbatches: the chain also */
    ck_assert_int_lt(attention->count, 80); /* follows the reductions beside the last of them */
}
END_TEST

/* Of one device nothing is sent: no cause of the network. */
START_TEST(a_rank_alone_waits_for_no_network)
{
    const char *settings[] = {"cluster.nodes=1", "cluster.gpus_per_node=1",
                              "plan.global_batch_sequences=4", "plan.optimizer=adamw",
                              "device.hbm_bytes=1e13"};
    struct run_request request = {.file = "configs/runs/zaya1-base-4k-1024.json",
                                  .settings = settings,
                                  .setting_count = sizeof settings / sizeof *settings};
    const struct run *run = run_read(&request, arena, &errors);
    ck_assert_msg(run != NULL, "%s", errors.items[0].what);
    const struct step *step = step_simulate(run, RANKS_FOLDED, arena, &errors);
    ck_assert_msg(step != NULL, "%s", errors.items[0].what);
    struct explanation explanation = explain_step(step, arena);
    for (int i = CAUSE_LINKS; i <= CAUSE_SHARING; i++)
        ck_assert_int_eq(explanation.cause_ps[i], 0);
    ck_assert_int_gt(explanation.cause_ps[CAUSE_HBM], 0);
}
END_TEST

Suite *
explain_suite(void)
{
    Suite *suite = suite_create("explain");
    TCase *chain = tcase_create("the chain that decides the end");
    tcase_add_checked_fixture(chain, set_up, tear_down);
    tcase_add_test(chain, causes_classes_and_operators_each_add_up_to_the_step);
    tcase_add_test(chain, a_slow_host_is_most_of_the_chain);
    tcase_add_test(chain, operators_come_longest_first_and_once_each);
    tcase_add_test(chain, a_rank_alone_waits_for_no_network);
    suite_add_tcase(suite, chain);
    return suite;
}
