/* Warm-up, repeats and their median. */
#include "validate/measure_times.h"

#include <assert.h>
#include <stdlib.h>
#include <time.h>

static double
seconds_of(clockid_t clock)
{
    struct timespec now = {0};
    (void)clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static double
monotonic_now_s(void *context)
{
    (void)context;
    return seconds_of(CLOCK_MONOTONIC);
}

static double
core_now_s(void *context)
{
    (void)context;
    return seconds_of(CLOCK_THREAD_CPUTIME_ID);
}

struct measure_clock
measure_system_clock(void)
{
    return (struct measure_clock){.now_s = monotonic_now_s};
}

struct measure_clock
measure_core_clock(void)
{
    return (struct measure_clock){.now_s = core_now_s};
}

void
measure_rest(void)
{
    const struct timespec millisecond = {.tv_nsec = 1000000};
    (void)nanosleep(&millisecond, NULL);
}

static int
compare_doubles(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

double
measure_median(double *values, int64_t count)
{
    assert(count > 0 && "the median of nothing");
    qsort(values, (size_t)count, sizeof *values, compare_doubles);
    return (values[(count - 1) / 2] + values[count / 2]) / 2;
}

static double
timed_turn_s(const struct measure_work *work, int64_t turn, const struct measure_clock *clock)
{
    if (work->prepare)
        work->prepare(work->context, turn);
    double start_s = clock->now_s(clock->context);
    work->run(work->context, turn);
    return clock->now_s(clock->context) - start_s;
}

struct measure_times
measure_times_take(const struct measure_work *work, const struct measure_effort *effort,
                   const struct measure_clock *clock, struct arena *arena)
{
    assert(effort->repeats_min > 0 && effort->repeats_max >= effort->repeats_min);
    double *times_s = arena_alloc(arena, (size_t)effort->repeats_max, sizeof *times_s);
    for (int64_t turn = 0; turn < effort->warmups; turn++)
        work->run(work->context, turn);
    double spent_s = 0;
    int64_t repeats = 0;
    while (repeats < effort->repeats_min ||
           (repeats < effort->repeats_max && spent_s < effort->budget_s)) {
        times_s[repeats] = timed_turn_s(work, effort->warmups + repeats, clock);
        spent_s += times_s[repeats++];
    }
    double median_s = measure_median(times_s, repeats);
    return (struct measure_times){median_s, times_s[0], times_s[repeats - 1], repeats};
}
