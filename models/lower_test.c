/* Is the graph of one rank the graph of all of them, seen once? */
#include "models/lower.h"

#include <check.h>

#include "models/run.h"
#include "sim/base/check_arena.h"
#include "sim/base/check_often.h"
#include "sim/engine/engine.h"

Suite *lower_suite(void);

/* Two nodes, 16 ranks. */
static const struct program *
small_program(const char *setting, struct arena *arena)
{
    struct error_list errors = {0};
    const char *settings[] = {"plan.global_batch_sequences=64", setting};
    struct run_request request = {.file = "configs/runs/zaya1-base-4k-1024.json",
                                  .cluster = "configs/clusters/mi300x-pollara-2.json",
                                  .settings = settings,
                                  .setting_count = setting ? 2 : 1};
    const struct run *run = run_read(&request, arena, &errors);
    ck_assert_msg(run != NULL, "%s: %s", errors.items[0].where, errors.items[0].what);
    return program_of(&run->inputs, RANKS_ALL, arena, &errors);
}

/* Every joint item is one task, every other one a task a rank. */
START_TEST(all_ranks_have_a_task_each_and_share_collectives)
{
    struct arena *arena = check_arena_new();
    const struct program *program = small_program(NULL, arena);
    struct lowered folded = lower_step(program, RANKS_FOLDED, arena);
    struct lowered all = lower_step(program, RANKS_ALL, arena);
    size_t joint = 0;
    for (int64_t i = 0; i < program->kinds[0].count; i++)
        joint += program->kinds[0].items[i].is_joint;
    size_t items = (size_t)program->kinds[0].count;
    ck_assert_uint_eq(task_graph_task_count(folded.graph), items);
    ck_assert_uint_eq(task_graph_task_count(all.graph), 16 * (items - joint) + joint);
    ck_assert_uint_eq(task_graph_lane_count(all.graph), 16 * STEP_LANE_COUNT);
    arena_free(arena);
}
END_TEST

/* Every kernel takes its fractions of its rank's compute and HBM, every collective those and its
 * links and NIC; 0 is left out. */
START_TEST(tasks_take_the_fractions_that_their_work_says)
{
    struct arena *arena = check_arena_new();
    const struct program *program = small_program(NULL, arena);
    struct lowered folded = lower_step(program, RANKS_FOLDED, arena);
    for (uint32_t task = 0; task < task_graph_task_count(folded.graph); task++) {
        struct task from = task_graph_task(folded.graph, task);
        const struct step_work *work =
            program_work(program, &program->kinds[0].items[from.tag], folded.representative);
        const double wanted[] = {work->compute_fraction, work->hbm_fraction,
                                 work->link_fraction, work->nic_fraction};
        double found[4] = {0};
        if (from.demand == TASK_NONE)
            continue;
        const struct task_demand *demand = &task_graph_demands(folded.graph)[from.demand];
        for (size_t i = 0; i < demand->usage_count; i++)
            found[demand->usages[i].resource] += demand->usages[i].amount;
        for (int i = 0; i < 4; i++)
            CHECK_OFTEN(found[i] == wanted[i]);
    }
    arena_free(arena);
}
END_TEST

static void
expect_equal_ends(const char *setting)
{
    struct arena *arena = check_arena_new();
    const struct program *program = small_program(setting, arena);
    struct lowered folded = lower_step(program, RANKS_FOLDED, arena);
    struct lowered all = lower_step(program, RANKS_ALL, arena);
    ck_assert_int_eq(engine_run(folded.graph, arena)->end_ps,
                     engine_run(all.graph, arena)->end_ps);
    arena_free(arena);
}

START_TEST(folded_and_all_end_at_the_same_picosecond)
{
    expect_equal_ends(NULL);
    expect_equal_ends("plan.overlaps_gradient_reduction=false");
    expect_equal_ends("plan.overlaps_parameter_gather=false");
    expect_equal_ends("plan.zero_stage=0");
}
END_TEST

static void
expect_equal_ends_of(const char *const *settings, size_t count)
{
    struct arena *arena = check_arena_new();
    struct error_list errors = {0};
    const char *all[8] = {"plan.global_batch_sequences=64", "cluster.nodes=2"};
    for (size_t i = 0; i < count; i++)
        all[i + 2] = settings[i];
    struct run_request request = {.file = "configs/runs/zaya1-base-4k-1024.json",
                                  .settings = all,
                                  .setting_count = count + 2};
    const struct run *run = run_read(&request, arena, &errors);
    ck_assert_msg(run != NULL, "%s: %s", errors.items[0].where, errors.items[0].what);
    const struct program *program = program_of(&run->inputs, RANKS_ALL, arena, &errors);
    struct lowered folded = lower_step(program, RANKS_FOLDED, arena);
    struct lowered all_ranks = lower_step(program, RANKS_ALL, arena);
    ck_assert_int_eq(folded.simulated_ranks, program->kind_count);
    ck_assert_int_eq(all_ranks.simulated_ranks, 16);
    ck_assert_int_eq(engine_run(folded.graph, arena)->end_ps,
                     engine_run(all_ranks.graph, arena)->end_ps);
    arena_free(arena);
}

/* However the model is split over the ranks; unequal loads make a kind of each expert rank. */
START_TEST(split_models_end_at_the_same_picosecond_too)
{
    expect_equal_ends_of((const char *[]){"plan.tensor=4"}, 1);
    expect_equal_ends_of((const char *[]){"plan.expert=8"}, 1);
    expect_equal_ends_of((const char *[]){"plan.context=4"}, 1);
    expect_equal_ends_of((const char *[]){"plan.zero_stage=3"}, 1);
    expect_equal_ends_of((const char *[]){"plan.pipeline=4", "plan.tensor=2"}, 2);
    expect_equal_ends_of((const char *[]){"plan.pipeline=2", "plan.schedule=zb_v"}, 2);
    expect_equal_ends_of((const char *[]){"plan.pipeline=4", "plan.schedule=dualpipe"}, 2);
    expect_equal_ends_of(
        (const char *[]){"plan.tensor=4", "plan.expert=8", "plan.expert_tensor=1"}, 3);
    expect_equal_ends_of(
        (const char *[]){"plan.pipeline=2", "plan.expert=4", "plan.zero_stage=0",
                         "plan.routing={\"kind\": \"power_law\", \"exponent\": 1}"},
        4);
}
END_TEST

/* The representative rank's tasks run at the same times in both. */
START_TEST(the_slowest_rank_does_the_same_folded_and_among_all)
{
    struct arena *arena = check_arena_new();
    const struct program *program = small_program(NULL, arena);
    struct lowered lowered[] = {lower_step(program, RANKS_FOLDED, arena),
                                lower_step(program, RANKS_ALL, arena)};
    const struct trace *traces[2];
    const uint32_t *tasks[2];
    size_t counts[2];
    for (int i = 0; i < 2; i++) {
        traces[i] = engine_run(lowered[i].graph, arena);
        tasks[i] =
            trace_lane_tasks(traces[i], lowered_lane(&lowered[i], LANE_COMPUTE), &counts[i]);
    }
    ck_assert_uint_eq(counts[0], counts[1]);
    for (size_t i = 0; i < counts[0]; i++) {
        CHECK_OFTEN(traces[0]->entries[tasks[0][i]].start_ps ==
                    traces[1]->entries[tasks[1][i]].start_ps);
        CHECK_OFTEN(traces[0]->entries[tasks[0][i]].end_ps ==
                    traces[1]->entries[tasks[1][i]].end_ps);
    }
    arena_free(arena);
}
END_TEST

Suite *
lower_suite(void)
{
    Suite *suite = suite_create("lower");
    TCase *tests = tcase_create("two nodes");
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, all_ranks_have_a_task_each_and_share_collectives);
    tcase_add_test(tests, tasks_take_the_fractions_that_their_work_says);
    tcase_add_test(tests, folded_and_all_end_at_the_same_picosecond);
    tcase_add_test(tests, split_models_end_at_the_same_picosecond_too);
    tcase_add_test(tests, the_slowest_rank_does_the_same_folded_and_among_all);
    suite_add_tcase(suite, tests);
    return suite;
}
