/* How fast the agenda is: the hold model, in which each event popped sets one more. */
#include "sim/engine/event_queue.h"

#include <stdio.h>
#include <stdlib.h>

#include "sim/base/check_arena.h"
#include "sim/base/check_clock.h"

enum { HOLD_COUNT = 5000000 };

static const int64_t STEP_MAX_PS = 1 << 20;

/* Marsaglia, Xorshift RNGs (2003), triple 13, 7, 17. */
static int64_t
random_step_ps(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return (int64_t)(*state >> 33) % STEP_MAX_PS;
}

static double
hold_events_per_s(uint32_t pending)
{
    struct arena *arena = check_arena_new();
    struct event_queue *queue = event_queue_new(arena, pending);
    uint64_t state = 88172645463325252;
    for (uint32_t item = 0; item < pending; item++) {
        event_queue_set(queue, item, random_step_ps(&state));
    }
    double begin_s = check_cpu_s();
    struct event event;
    for (int i = 0; i < HOLD_COUNT && event_queue_pop(queue, &event); i++) {
        event_queue_set(queue, event.item, event.at_ps + random_step_ps(&state));
    }
    double wall_s = check_cpu_s() - begin_s;
    arena_free(arena);
    return HOLD_COUNT / wall_s;
}

int
main(void)
{
    double at_1e3_per_s = hold_events_per_s(1000);
    double at_1e5_per_s = hold_events_per_s(100000);
    (void)printf("event_queue_hold_1e3_events_per_s %.4g\n", at_1e3_per_s);
    (void)printf("event_queue_hold_1e5_events_per_s %.4g\n", at_1e5_per_s);
    return EXIT_SUCCESS;
}
