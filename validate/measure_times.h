/* The procedure of a measurement: warm up, repeat on rotating operands, take the median. */
#ifndef VALIDATE_MEASURE_TIMES_H
#define VALIDATE_MEASURE_TIMES_H

#include <stdint.h>

#include "sim/base/arena.h"

/* What is measured: run does the work once, on operand set `turn` modulo its number of sets. What
 * prepare does before it takes no part in the time; NULL: nothing. */
struct measure_work {
    void (*run)(void *context, int64_t turn);
    void (*prepare)(void *context, int64_t turn);
    void *context;
};

/* Where time comes from; a test brings its own. */
struct measure_clock {
    double (*now_s)(void *context);
    void *context;
};

/* Repeats at least repeats_min times, then until repeats_max or until budget_s has passed. */
struct measure_effort {
    int64_t warmups, repeats_min, repeats_max;
    double budget_s;
};

struct measure_times {
    double median_s, min_s, max_s;
    int64_t repeats;
};

/* The monotonic clock of the system. */
struct measure_clock measure_system_clock(void);
/* The time that this thread has had a core: stands still while others have it. */
struct measure_clock measure_core_clock(void);
/* Leaves the core to others for about a millisecond. */
void measure_rest(void);

/* Warm-ups take turns 0, 1, ...; timed repeats go on from there. */
struct measure_times measure_times_take(const struct measure_work *work,
                                        const struct measure_effort *effort,
                                        const struct measure_clock *clock, struct arena *arena);

/* The middle of the values, of an even number the mean of the two in the middle; sorts them. */
double measure_median(double *values, int64_t count);

#endif
