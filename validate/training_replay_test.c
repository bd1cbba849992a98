/* Do processes wait for each other in a replay as they do in a step, and no longer? */
#include "validate/training_replay.h"

#include "sim/base/check_arena.h"
#include "sim/base/check_near.h"

Suite *training_replay_suite(void);

enum { BOTH = 3 };

/* One computes 3, meets, computes 1; the other 5, meets, computes 4. The meeting took the one that
 * came last 0.5: 5.5, then 6.5 and 9.5; the optimizer, 1 for both, begins then: 7.5 and 10.5. */
START_TEST(an_exchange_waits_for_the_last)
{
    struct arena *arena = check_arena_new();
    const struct training_piece first[] = {{3, 0, TRAINING_PASSES},
                                           {2.7, BOTH, TRAINING_PASSES},
                                           {1, 0, TRAINING_PASSES},
                                           {1, 0, TRAINING_OPTIMIZER}};
    const struct training_piece second[] = {{5, 0, TRAINING_PASSES},
                                            {0.5, BOTH, TRAINING_PASSES},
                                            {4, 0, TRAINING_PASSES},
                                            {1, 0, TRAINING_OPTIMIZER}};
    const struct training_pieces both[] = {{first, 4}, {second, 4}};
    double phases_s[TRAINING_PHASE_COUNT];
    CHECK_NEAR(training_replay(both, 2, phases_s, arena), 10.5, 1e-12);
    CHECK_NEAR(phases_s[TRAINING_PASSES], 9.5, 1e-12);
    CHECK_NEAR(phases_s[TRAINING_OPTIMIZER], 1.0, 1e-12);
    arena_free(arena);
}
END_TEST

/* Three stages of which each hands on: 2, then 2 + 0.1 + 3, then that + 0.1 + 4 = 9.2. */
START_TEST(a_chain_adds_up)
{
    struct arena *arena = check_arena_new();
    const struct training_piece first[] = {{2, 0, 0}, {0.1, 3, 0}};
    const struct training_piece second[] = {{2.1, 3, 0}, {3, 0, 0}, {0.1, 6, 0}};
    const struct training_piece third[] = {{5.2, 6, 0}, {4, 0, 0}};
    const struct training_pieces chain[] = {{first, 2}, {second, 3}, {third, 2}};
    double phases_s[TRAINING_PHASE_COUNT];
    CHECK_NEAR(training_replay(chain, 3, phases_s, arena), 9.2, 1e-12);
    arena_free(arena);
}
END_TEST

/* Alone: the sum. */
START_TEST(one_process_adds_up)
{
    struct arena *arena = check_arena_new();
    const struct training_piece pieces[] = {{2, 0, 0}, {3, 0, 0}, {1, 0, TRAINING_OPTIMIZER}};
    const struct training_pieces alone[] = {{pieces, 3}};
    double phases_s[TRAINING_PHASE_COUNT];
    CHECK_NEAR(training_replay(alone, 1, phases_s, arena), 6.0, 1e-12);
    CHECK_NEAR(phases_s[TRAINING_PASSES], 5.0, 1e-12);
    arena_free(arena);
}
END_TEST

Suite *
training_replay_suite(void)
{
    Suite *suite = suite_create("training_replay");
    TCase *tests = tcase_create("replay");
    tcase_add_test(tests, an_exchange_waits_for_the_last);
    tcase_add_test(tests, a_chain_adds_up);
    tcase_add_test(tests, one_process_adds_up);
    suite_add_tcase(suite, tests);
    return suite;
}
