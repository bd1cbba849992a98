/* Do passes lie where the schedule has them, and does memory rise and fall with them? */
#include "models/step_passes.h"

#include <check.h>
#include <math.h>

#include "sim/base/check_arena.h"
#include "sim/base/check_near.h"
#include "sim/base/check_often.h"

Suite *step_passes_suite(void);

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

static const struct step *
simulate(const char *file, const char *setting)
{
    struct error_list errors = {0};
    struct run_request request = {
        .file = file, .settings = &setting, .setting_count = setting ? 1 : 0};
    const struct run *run = run_read(&request, arena, &errors);
    const struct step *step = run ? step_simulate(run, RANKS_FOLDED, arena, &errors) : NULL;
    ck_assert_msg(step != NULL, "%s", errors.items[0].what);
    return step;
}

/* 8 microbatches forward and backward on each of 4 stages; a stage runs one pass at a time. */
START_TEST(passes_of_a_stage_follow_each_other)
{
    const struct step *step = simulate("configs/runs/h200-eager-m1-pp4-ep2.json", NULL);
    for (uint32_t slot = 0; slot < step->lowered.simulated_ranks; slot++) {
        size_t count = 0;
        const struct step_pass *passes = step_passes(step, slot, arena, &count);
        ck_assert_uint_eq(count, 16);
        for (size_t i = 0; i < count; i++) {
            ck_assert_int_lt(passes[i].start_ps, passes[i].end_ps);
            ck_assert(i == 0 || passes[i].start_ps >= passes[i - 1].end_ps);
        }
    }
}
END_TEST

/* A microbatch goes forward through the stages one after the other. */
START_TEST(a_microbatch_reaches_the_next_stage_later)
{
    const struct step *step = simulate("configs/runs/h200-eager-m1-pp4-ep2.json", NULL);
    int64_t before_ps = 0;
    for (int64_t stage = 0; stage < 4; stage++) {
        size_t count = 0;
        uint32_t slot = (uint32_t)(stage * step->lowered.program->expert_places);
        ck_assert_int_eq(step_slot_stage(step, slot), stage);
        const struct step_pass *passes = step_passes(step, slot, arena, &count);
        ck_assert_int_ge(passes[0].start_ps, before_ps);
        before_ps = passes[0].end_ps;
    }
}
END_TEST

static double
highest(const struct step_memory *memory)
{
    double most = 0;
    for (size_t i = 0; i < memory->count; i++) {
        CHECK_OFTEN(memory->moments[i].activations_bytes >= 0);
        CHECK_OFTEN(i == 0 || memory->moments[i].at_ps >= memory->moments[i - 1].at_ps);
        most = fmax(most, memory->moments[i].activations_bytes);
    }
    return most;
}

/* It is the peak that `stepcast memory` says, but for what a forward has not kept yet when a
 * backward beside its last exchange begins to let go. Nothing is left at the end. */
static void
check_peak(const struct step *step)
{
    for (uint32_t slot = 0; slot < step->lowered.simulated_ranks; slot++) {
        struct step_memory memory = step_memory(step, slot, arena);
        double most = memory.kept_bytes + highest(&memory);
        ck_assert_double_le(most, memory.memory.peak * (1 + 1e-9));
        CHECK_NEAR(most, memory.memory.peak, 1e-4);
        double left = memory.moments[memory.count - 1].activations_bytes;
        ck_assert_double_lt(left, 1e-6 * memory.memory.peak);
        ck_assert_int_eq(memory.moments[memory.count - 1].at_ps, step->step_ps);
    }
}

START_TEST(memory_rises_to_the_peak_and_falls_to_nothing)
{
    check_peak(simulate("configs/runs/zaya1-base-4k-1024.json", NULL));
    check_peak(simulate("configs/runs/zaya1-base-4k-1024.json", "plan.recompute=\"full\""));
    check_peak(simulate("configs/runs/deepseek-v3-pp16.json", NULL));
    check_peak(simulate("configs/runs/h200-eager-m1-pp4-ep2.json", "plan.schedule=\"zb_h1\""));
    check_peak(simulate("configs/runs/mixtral-8x7b-tp2-pp4-ep4.json", NULL));
}
END_TEST

Suite *
step_passes_suite(void)
{
    Suite *suite = suite_create("step_passes");
    TCase *tests = tcase_create("passes");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, passes_of_a_stage_follow_each_other);
    tcase_add_test(tests, a_microbatch_reaches_the_next_stage_later);
    tcase_add_test(tests, memory_rises_to_the_peak_and_falls_to_nothing);
    suite_add_tcase(suite, tests);
    return suite;
}
