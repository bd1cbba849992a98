/* The engine's agenda: what happens next, and which comes first when times tie. */
#ifndef SIM_ENGINE_EVENT_QUEUE_H
#define SIM_ENGINE_EVENT_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/arena.h"

/* Items are numbers; each is on the agenda once or not at all. */
struct event {
    int64_t at_ps;
    uint32_t item;
};

/* Lives in the arena it was made in and is never freed by itself. */
struct event_queue;

/* For items 0 to item_count - 1, at most INT32_MAX of them: 20 bytes each. */
struct event_queue *event_queue_new(struct arena *arena, size_t item_count);

/* Puts an item on the agenda, or moves it if it is there: in both cases behind all that was set
 * for the same time before. The past cannot be written: at_ps is never before the last event
 * popped. */
void event_queue_set(struct event_queue *queue, uint32_t item, int64_t at_ps);

/* When an item is due that is on the agenda. */
int64_t event_queue_at_ps(const struct event_queue *queue, uint32_t item);

/* When the next event is due; INT64_MAX when none is left. */
int64_t event_queue_next_ps(struct event_queue *queue);

/* When the first of the items is due but for the one that was popped last, which is not set yet;
 * if that is not after at_ps, maybe some other's time, not after at_ps either. */
int64_t event_queue_others_ps(const struct event_queue *queue, int64_t at_ps);
/* Takes the earliest event, of equals the first set; false when none is left. */
bool event_queue_pop(struct event_queue *queue, struct event *out);

#endif
