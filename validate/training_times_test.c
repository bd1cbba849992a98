/* Do the least times of each piece of work add up, whatever disturbed one of them? */
#include "validate/training_times.h"

#include "sim/base/check_arena.h"
#include "sim/base/check_near.h"

Suite *training_times_suite(void);

/* Each look at the core's clock is the next of a list; the system's stands still. */
struct looks {
    const double *times_s;
    int next;
};

static double
stand(void *context)
{
    (void)context;
    return 5;
}

static double
look(void *context)
{
    struct looks *looks = context;
    return looks->times_s[looks->next++];
}

/* Two steps of "a" "b" "a"; after each item the clock is looked at twice. First 1, 2 and 8 s, then
 * 3, 1 and 4 s: least 1, 1 and 4. */
START_TEST(least_times_of_each_item_add_up)
{
    const double times_s[] = {0, 1, 1, 3, 3, 11, 11, 20, 23, 23, 24, 24, 28, 28};
    struct looks looks = {times_s, 0};
    struct arena *arena = check_arena_new();
    struct training_times times = training_times_new(NULL, arena);
    int64_t runs;
    times.clock = (struct measure_clock){stand, NULL};
    times.core_clock = (struct measure_clock){look, &looks};
    for (int step = 0; step < 2; step++) {
        training_times_begin_step(&times);
        training_times_begin(&times);
        training_times_end(&times, "a");
        training_times_end(&times, "b");
        times.phase = TRAINING_OPTIMIZER;
        training_times_end(&times, "a");
    }
    CHECK_NEAR(training_times_name_s(&times, "b", &runs), 1.0, 1e-12);
    ck_assert_int_eq(times.items[1].phase, TRAINING_PASSES);
    ck_assert_int_eq(times.items[2].phase, TRAINING_OPTIMIZER);
    CHECK_NEAR(training_times_name_s(&times, "a", &runs), 5.0, 1e-12);
    CHECK_NEAR(training_times_last_s(&times), 8.0, 1e-12);
    ck_assert_int_eq(runs, 2);
    ck_assert_int_eq(times.steps, 2);
    ck_assert(!training_times_is_repeated(&times, 1));
    ck_assert(training_times_is_repeated(&times, 2));
    arena_free(arena);
}
END_TEST

Suite *
training_times_suite(void)
{
    Suite *suite = suite_create("training_times");
    TCase *tests = tcase_create("times");
    tcase_add_test(tests, least_times_of_each_item_add_up);
    suite_add_tcase(suite, tests);
    return suite;
}
