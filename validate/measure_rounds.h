/* Measures many pieces of work in rounds: one run of each a round.
 *
 * What disturbs a machine lasts: neighbours take a core's other thread, its caches or its memory
 * for tenths of a second to seconds. Repeats of one piece, one after the other, all fall into the
 * same spell; those of rounds lie seconds apart, so that the least is of a quiet moment. */
#ifndef VALIDATE_MEASURE_ROUNDS_H
#define VALIDATE_MEASURE_ROUNDS_H

#include <stdbool.h>
#include <stddef.h>

#include "validate/measure_times.h"

struct measure_piece {
    struct measure_work work;
    double operand_bytes; /* that a run goes through */

    /* What came of it, of the time on the core. */
    struct measure_times
        times;         /* repeats: 0 when it was stopped before the first round ended */
    int64_t disturbed; /* runs that are not in these times, as others had the core */
};

struct measure_rounds {
    struct measure_effort effort; /* of one piece; its warm-ups are rounds */
    struct measure_clock wall, core;
    double cold_bytes; /* through which operands must go before they come again */
    /* Other memory is gone through before a round of fewer; NULL: nothing. */
    void (*sweep)(void *context);
    bool (*is_over)(void *context); /* asked before each run; NULL: never */
    void *context;
};

/* Rounds go on until effort.repeats_max, or until as many budget_s as there are pieces have passed.
 * From repeats_min runs on a piece rests when its four least agree within 2 %, or when it had twice
 * its own budget_s. A run that the wall's clock took longer for than the core's had to share its
 * core, or a hypervisor took it away; where there is no other run, these are its times. */
void measure_rounds_take(struct measure_piece *pieces, size_t count,
                         const struct measure_rounds *rounds, struct arena *arena);

#endif
