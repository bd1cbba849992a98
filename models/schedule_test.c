/* Does a stage run its microbatches in the order of 1F1B? */
#include "models/schedule.h"

#include <check.h>

#include "sim/base/check_arena.h"

Suite *schedule_suite(void);

START_TEST(one_stage_runs_each_microbatch_through)
{
    struct arena *arena = check_arena_new();
    struct schedule schedule = schedule_1f1b(1, 0, 3, arena);
    ck_assert_int_eq(schedule.count, 6);
    for (int64_t i = 0; i < 6; i++) {
        ck_assert_int_eq(schedule.steps[i].microbatch, i / 2);
        ck_assert_int_eq((int)schedule.steps[i].direction,
                         i % 2 == 0 ? DIRECTION_FORWARD : DIRECTION_BACKWARD);
    }
    arena_free(arena);
}
END_TEST

/* Stage r of p holds the activations of at most p - r microbatches (arXiv 2104.04473, 2.2.1). */
START_TEST(stage_r_of_p_keeps_p_minus_r_microbatches)
{
    struct arena *arena = check_arena_new();
    for (int64_t stage = 0; stage < 4; stage++) {
        struct schedule schedule = schedule_1f1b(4, stage, 8, arena);
        int64_t kept = 0, most = 0;
        for (int64_t i = 0; i < schedule.count; i++) {
            kept += schedule.steps[i].direction == DIRECTION_FORWARD ? 1 : -1;
            most = kept > most ? kept : most;
        }
        ck_assert_int_eq(kept, 0);
        ck_assert_int_eq(most, 4 - stage);
    }
    arena_free(arena);
}
END_TEST

/* Two microbatches on the first of four stages: both forwards, then both backwards. */
START_TEST(fewer_microbatches_than_stages_all_warm_up)
{
    struct arena *arena = check_arena_new();
    struct schedule schedule = schedule_1f1b(4, 0, 2, arena);
    const enum direction wanted[] = {DIRECTION_FORWARD, DIRECTION_FORWARD, DIRECTION_BACKWARD,
                                     DIRECTION_BACKWARD};
    ck_assert_int_eq(schedule.count, 4);
    for (int i = 0; i < 4; i++) {
        ck_assert_int_eq((int)schedule.steps[i].direction, (int)wanted[i]);
        ck_assert_int_eq(schedule.steps[i].microbatch, i % 2);
    }
    arena_free(arena);
}
END_TEST

Suite *
schedule_suite(void)
{
    Suite *suite = suite_create("schedule");
    TCase *tests = tcase_create("1f1b");
    tcase_add_test(tests, one_stage_runs_each_microbatch_through);
    tcase_add_test(tests, stage_r_of_p_keeps_p_minus_r_microbatches);
    tcase_add_test(tests, fewer_microbatches_than_stages_all_warm_up);
    suite_add_tcase(suite, tests);
    return suite;
}
