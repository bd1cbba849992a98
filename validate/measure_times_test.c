/* Does a measurement repeat as told, on fresh operands, and take the middle? */
#include "validate/measure_times.h"

#include "sim/base/check_arena.h"
#include "sim/base/check_near.h"

Suite *measure_times_suite(void);

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

/* Work on turn t takes t + 1 seconds of a clock that only it and its preparation move. */
struct scripted {
    double now_s;
    int64_t turns, last_turn, prepared;
};

static double
scripted_now_s(void *context)
{
    return ((struct scripted *)context)->now_s;
}

static void
scripted_run(void *context, int64_t turn)
{
    struct scripted *scripted = context;
    ck_assert_int_eq(turn, scripted->last_turn + 1);
    scripted->last_turn = turn;
    scripted->turns++;
    scripted->now_s += (double)turn + 1;
}

/* Takes long, and counts for nothing. */
static void
scripted_prepare(void *context, int64_t turn)
{
    struct scripted *scripted = context;
    ck_assert_int_eq(turn, scripted->last_turn + 1);
    scripted->prepared++;
    scripted->now_s += 100;
}

static struct measure_times
take(struct scripted *scripted, struct measure_effort effort)
{
    *scripted = (struct scripted){.last_turn = -1};
    return measure_times_take(&(struct measure_work){scripted_run, scripted_prepare, scripted},
                              &effort, &(struct measure_clock){scripted_now_s, scripted},
                              arena);
}

/* Two warm-ups (1 s, 2 s) are not counted; then 3, 4, 5, 6 s: median 4.5. */
START_TEST(warm_ups_are_not_counted)
{
    struct scripted scripted;
    struct measure_times times = take(&scripted, (struct measure_effort){2, 4, 4, 0});
    ck_assert_int_eq(times.repeats, 4);
    ck_assert_int_eq(scripted.turns, 6);
    ck_assert_int_eq(scripted.prepared, 4);
    CHECK_NEAR(times.median_s, 4.5, 0);
    CHECK_NEAR(times.min_s, 3, 0);
    CHECK_NEAR(times.max_s, 6, 0);
}
END_TEST

/* 1 + 2 + 3 s is within 6.5 s, the fourth repeat still begins, the fifth does not. */
START_TEST(repeats_end_with_the_budget)
{
    struct scripted scripted;
    ck_assert_int_eq(take(&scripted, (struct measure_effort){0, 1, 100, 6.5}).repeats, 4);
    ck_assert_int_eq(take(&scripted, (struct measure_effort){0, 3, 100, 0.5}).repeats, 3);
    ck_assert_int_eq(take(&scripted, (struct measure_effort){0, 1, 7, 1e9}).repeats, 7);
}
END_TEST

START_TEST(median_is_the_middle)
{
    double odd[] = {5, 1, 3}, even[] = {8, 2, 4, 6}, one[] = {7};
    CHECK_NEAR(measure_median(odd, 3), 3, 0);
    CHECK_NEAR(measure_median(even, 4), 5, 0);
    CHECK_NEAR(measure_median(one, 1), 7, 0);
}
END_TEST

START_TEST(system_clock_does_not_go_back)
{
    struct measure_clock clock = measure_system_clock();
    double first_s = clock.now_s(clock.context);
    ck_assert(clock.now_s(clock.context) >= first_s);
    ck_assert(first_s > 0);
}
END_TEST

Suite *
measure_times_suite(void)
{
    Suite *suite = suite_create("measure_times");
    TCase *procedure = tcase_create("procedure");
    tcase_add_checked_fixture(procedure, setup, teardown);
    tcase_add_test(procedure, warm_ups_are_not_counted);
    tcase_add_test(procedure, repeats_end_with_the_budget);
    tcase_add_test(procedure, median_is_the_middle);
    tcase_add_test(procedure, system_clock_does_not_go_back);
    suite_add_tcase(suite, procedure);
    return suite;
}
