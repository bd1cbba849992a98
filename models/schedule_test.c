/* Does a stage run its passes in the order of its schedule, and is the bubble what is published? */
#include "models/schedule.h"

#include <check.h>

#include "sim/base/check_arena.h"

Suite *schedule_suite(void);

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

START_TEST(one_stage_runs_each_microbatch_through)
{
    struct schedule_shape shape = {SCHEDULE_1F1B, 1, 1, 3, false};
    struct schedule schedule = schedule_of(&shape, 0, arena);
    ck_assert_int_eq(schedule.count, 6);
    for (int64_t i = 0; i < 6; i++) {
        ck_assert_int_eq(schedule.steps[i].microbatch, i / 2);
        ck_assert_int_eq((int)schedule.steps[i].pass,
                         i % 2 == 0 ? PASS_FORWARD : PASS_BACKWARD);
    }
}
END_TEST

/* Stage r of p holds the activations of at most p - r microbatches (arXiv 2104.04473, 2.2.1);
 * ZB-H1 no more than its first stage does, p (arXiv 2401.10241, 3). */
START_TEST(stage_r_of_p_keeps_p_minus_r_microbatches)
{
    for (int64_t stage = 0; stage < 4; stage++) {
        struct schedule_shape shape = {SCHEDULE_1F1B, 4, 1, 8, false};
        struct schedule schedule = schedule_of(&shape, stage, arena);
        ck_assert_int_eq(schedule_kept(&schedule), 4 - stage);
        shape.kind = SCHEDULE_ZB_H1;
        schedule = schedule_of(&shape, stage, arena);
        ck_assert_int_eq(schedule_kept(&schedule), 4 - stage);
    }
}
END_TEST

/* Interleaved: p (1 + (p-1) / (p v)) microbatches of 1 / v of a stage's layers on the first stage,
 * p v + p - 1 chunks (arXiv 2205.05198, 4.2.3; one more while a forward runs). */
START_TEST(interleaving_keeps_more)
{
    struct schedule_shape shape = {SCHEDULE_INTERLEAVED, 4, 2, 16, false};
    struct schedule schedule = schedule_of(&shape, 0, arena);
    ck_assert_int_eq(schedule_kept(&schedule), 4 * 2 + 4 - 1);
}
END_TEST

/* ZB-V keeps 2 p chunks of half a stage, what 1F1B keeps on its first stage, on every stage;
 * DualPipe p + 1 of a whole stage (DualPipe's README). */
START_TEST(schedules_of_two_chunks_keep_what_they_say)
{
    struct schedule_shape v = {SCHEDULE_ZB_V, 4, 2, 8, false},
                          dual = {SCHEDULE_DUALPIPE, 8, 2, 20, false};
    const struct schedule *of_v = schedule_all(&v, arena),
                          *of_dual = schedule_all(&dual, arena);
    for (int64_t stage = 0; stage < 4; stage++)
        ck_assert_int_eq(schedule_kept(&of_v[stage]), 8);
    for (int64_t stage = 0; stage < 8; stage++)
        ck_assert_int_eq(schedule_kept(&of_dual[stage]), 9);
}
END_TEST

/* Two microbatches on the first of four stages: both forwards, then both backwards. */
START_TEST(fewer_microbatches_than_stages_all_warm_up)
{
    struct schedule_shape shape = {SCHEDULE_1F1B, 4, 1, 2, false};
    struct schedule schedule = schedule_of(&shape, 0, arena);
    const enum pass_kind wanted[] = {PASS_FORWARD, PASS_FORWARD, PASS_BACKWARD, PASS_BACKWARD};
    ck_assert_int_eq(schedule.count, 4);
    for (int i = 0; i < 4; i++) {
        ck_assert_int_eq((int)schedule.steps[i].pass, (int)wanted[i]);
        ck_assert_int_eq(schedule.steps[i].microbatch, i % 2);
    }
}
END_TEST

/* A naive clock: passes take whole ticks, a pass starts when its stage is free and the piece before
 * it (backward: behind it) is done. */
struct tick_times {
    int64_t forward, input, weight;
};

enum { PIECES_MAX = 32, MICROBATCHES_MAX = 64 };

static int64_t
duration_of(struct tick_times times, enum pass_kind pass)
{
    const int64_t durations[] = {[PASS_FORWARD] = times.forward,
                                 [PASS_BACKWARD] = times.input + times.weight,
                                 [PASS_INPUT_GRADIENT] = times.input,
                                 [PASS_WEIGHT_GRADIENT] = times.weight};
    return durations[pass];
}

/* When the pass's input is there; -1: not yet known. Ends are those of piece [chunk][stage]. */
static int64_t
ready_at(const struct schedule_shape *shape, struct schedule_step step, int64_t stage,
         int64_t (*ends)[2][PIECES_MAX][MICROBATCHES_MAX])
{
    struct schedule_place from = {stage, step.chunk}, other;
    bool is_forward = step.pass == PASS_FORWARD;
    if (step.pass == PASS_WEIGHT_GRADIENT)
        return 0;
    bool is_inner = is_forward ? schedule_previous(shape, from, &other)
                               : schedule_next(shape, from, &other);
    int64_t at =
        is_inner ? ends[is_forward ? 0 : 1][other.chunk][other.stage][step.microbatch] : 0;
    int64_t own = is_forward ? 0 : ends[0][step.chunk][stage][step.microbatch];
    return at < 0 || own < 0 ? -1 : at > own ? at : own;
}

static int64_t
makespan(const struct schedule_shape *shape, struct tick_times times)
{
    static int64_t ends[2][2][PIECES_MAX][MICROBATCHES_MAX];
    int64_t free_at[PIECES_MAX] = {0}, next[PIECES_MAX] = {0}, left = 0, last = 0;
    const struct schedule *all = schedule_all(shape, arena);
    for (int64_t *end = &ends[0][0][0][0]; end < &ends[0][0][0][0] + sizeof ends / sizeof *end;
         end++)
        *end = -1;
    for (int64_t stage = 0; stage < shape->stages; stage++)
        left += all[stage].count;
    while (left > 0) {
        int64_t left_before = left;
        for (int64_t stage = 0; stage < shape->stages; stage++) {
            if (next[stage] == all[stage].count)
                continue;
            struct schedule_step step = all[stage].steps[next[stage]];
            int64_t ready = ready_at(shape, step, stage, ends);
            if (ready < 0)
                continue;
            int64_t start = ready > free_at[stage] ? ready : free_at[stage];
            free_at[stage] = start + duration_of(times, step.pass);
            if (step.pass != PASS_WEIGHT_GRADIENT)
                ends[step.pass != PASS_FORWARD][step.chunk][stage][step.microbatch] =
                    free_at[stage];
            last = free_at[stage] > last ? free_at[stage] : last;
            next[stage]++;
            left--;
        }
        ck_assert_msg(left < left_before, "a deadlock");
    }
    return last;
}

/* Of F = 2, B = 4 (input 2, weight 2): (m + p - 1) (F + B), idle (p - 1) (F + B). */
START_TEST(the_bubble_of_1f1b_is_p_minus_1_over_m)
{
    struct schedule_shape shape = {SCHEDULE_1F1B, 4, 1, 8, false};
    struct tick_times times = {2, 2, 2};
    ck_assert_int_eq(makespan(&shape, times), (8 + 4 - 1) * 6);
    shape = (struct schedule_shape){SCHEDULE_1F1B, 8, 1, 32, false};
    ck_assert_int_eq(makespan(&shape, times), (32 + 8 - 1) * 6);
}
END_TEST

/* Chunks take 1 / v of a stage: m v + p - 1 of them (arXiv 2104.04473, 2.2.2). */
START_TEST(the_interleaved_bubble_is_p_minus_1_over_v_m)
{
    struct schedule_shape shape = {SCHEDULE_INTERLEAVED, 4, 2, 8, false};
    struct tick_times times = {2, 2, 2};
    ck_assert_int_eq(makespan(&shape, times), (8 * 2 + 4 - 1) * 6);
}
END_TEST

/* (p - 1) (F + B - W) beside the work, B the input's gradient (arXiv 2401.10241, table 2). */
START_TEST(zb_h1_leaves_a_third_of_the_bubble)
{
    struct schedule_shape shape = {SCHEDULE_ZB_H1, 4, 1, 8, false};
    struct tick_times times = {2, 2, 2};
    ck_assert_int_eq(makespan(&shape, times), 8 * 6 + 3 * 2);
    shape = (struct schedule_shape){SCHEDULE_ZB_H1, 8, 1, 24, false};
    ck_assert_int_eq(makespan(&shape, times), 24 * 6 + 7 * 2);
}
END_TEST

/* F = B = W: p - 1 passes of half a stage beside the 6 m (arXiv 2401.10241, section 6; Primus,
 * primus_pipeline.md: rate (p-1) / (p-1+6m)). */
START_TEST(zb_v_fills_the_bubble)
{
    struct schedule_shape shape = {SCHEDULE_ZB_V, 4, 2, 8, false};
    struct tick_times times = {1, 1, 1};
    ck_assert_int_eq(makespan(&shape, times), 6 * 8 + 4 - 1);
    shape = (struct schedule_shape){SCHEDULE_ZB_V, 8, 2, 32, false};
    ck_assert_int_eq(makespan(&shape, times), 6 * 32 + 8 - 1);
}
END_TEST

/* (p / 2 - 1) (FB + B - 3 W) beside m / 2 passes each way of both halves, FB a pair run one behind
 * the other here (DualPipe's README). */
START_TEST(the_bubble_of_dualpipe_is_published)
{
    struct schedule_shape shape = {SCHEDULE_DUALPIPE, 8, 2, 20, false};
    struct tick_times times = {2, 2, 2};
    int64_t f = 2, b = 4, w = 2;
    ck_assert_int_le(makespan(&shape, times), 20 * (f + b) + (8 / 2 - 1) * (f + b + b - 3 * w));
}
END_TEST

/* Every schedule runs each pass of each microbatch and chunk exactly once. */
START_TEST(every_pass_runs_once)
{
    const struct schedule_shape shapes[] = {{SCHEDULE_1F1B, 4, 1, 8, false},
                                            {SCHEDULE_INTERLEAVED, 4, 3, 8, false},
                                            {SCHEDULE_ZB_H1, 4, 1, 8, false},
                                            {SCHEDULE_ZB_V, 4, 2, 8, false},
                                            {SCHEDULE_DUALPIPE, 4, 2, 8, false}};
    for (size_t row = 0; row < sizeof shapes / sizeof *shapes; row++) {
        const struct schedule *all = schedule_all(&shapes[row], arena);
        for (int64_t stage = 0; stage < 4; stage++) {
            int seen[3][3][8] = {{{0}}};
            for (int64_t i = 0; i < all[stage].count; i++) {
                struct schedule_step step = all[stage].steps[i];
                enum pass_kind pass = step.pass;
                seen[0][step.chunk][step.microbatch] += pass == PASS_FORWARD;
                seen[1][step.chunk][step.microbatch] +=
                    pass == PASS_BACKWARD || pass == PASS_INPUT_GRADIENT;
                seen[2][step.chunk][step.microbatch] +=
                    pass == PASS_BACKWARD || pass == PASS_WEIGHT_GRADIENT;
            }
            bool is_dual = shapes[row].kind == SCHEDULE_DUALPIPE;
            for (int what = 0; what < 3; what++)
                for (int64_t chunk = 0; chunk < shapes[row].chunks; chunk++)
                    for (int64_t i = 0; i < 8; i++)
                        ck_assert_int_eq(seen[what][chunk][i],
                                         !is_dual || i / 4 == chunk ? 1 : 0);
        }
    }
}
END_TEST

Suite *
schedule_suite(void)
{
    Suite *suite = suite_create("schedule");
    TCase *tests = tcase_create("orders");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, one_stage_runs_each_microbatch_through);
    tcase_add_test(tests, stage_r_of_p_keeps_p_minus_r_microbatches);
    tcase_add_test(tests, interleaving_keeps_more);
    tcase_add_test(tests, schedules_of_two_chunks_keep_what_they_say);
    tcase_add_test(tests, fewer_microbatches_than_stages_all_warm_up);
    tcase_add_test(tests, the_bubble_of_1f1b_is_p_minus_1_over_m);
    tcase_add_test(tests, the_interleaved_bubble_is_p_minus_1_over_v_m);
    tcase_add_test(tests, zb_h1_leaves_a_third_of_the_bubble);
    tcase_add_test(tests, zb_v_fills_the_bubble);
    tcase_add_test(tests, the_bubble_of_dualpipe_is_published);
    tcase_add_test(tests, every_pass_runs_once);
    suite_add_tcase(suite, tests);
    return suite;
}
