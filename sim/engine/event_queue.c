/* The engine's agenda: a heap of four children a node that knows where each item stands in it.
 *
 *      0 ── 1 2 3 4 ── 5..8  9..12  13..16  17..20        child k of node i: 4 i + 1 + k
 *
 * An entry is 16 bytes, so four siblings fill a cache line. Entries are ordered by time, then
 * by `order`, whose upper bits count the calls of event_queue_set: no two entries are equal.
 * After a pop the root is left open, since a set mostly follows (one task ends, the next of its
 * lane starts): that set then costs one descent instead of a descent and a climb. */
#include "sim/engine/event_queue.h"

#include <assert.h>
#include <stddef.h>

enum { ARITY = 4, ITEM_BITS = 24 };

static const size_t LINE_BYTES = 64;
static const uint32_t ABSENT = UINT32_MAX;

struct entry {
    int64_t at_ps;
    uint64_t order; /* calls of event_queue_set before << ITEM_BITS | item */
};

struct event_queue {
    struct entry *heap;
    uint32_t *places; /* by item: its index in the heap, or ABSENT */
    size_t item_count;
    size_t count; /* entries of the heap, an open root included */
    uint64_t set_count;
    int64_t now_ps;
    bool is_root_open; /* heap[0] was popped and not yet replaced */
};

static uint32_t
entry_item(const struct entry *entry)
{
    return (uint32_t)(entry->order & (EVENT_QUEUE_ITEMS_MAX - 1));
}

/* No short cuts: a branch that depends on the times would be mispredicted half of the time. */
static bool
entry_is_before(const struct entry *a, const struct entry *b)
{
    return (a->at_ps < b->at_ps) | ((a->at_ps == b->at_ps) & (a->order < b->order));
}

struct event_queue *
event_queue_new(struct arena *arena, size_t item_count)
{
    assert(item_count <= EVENT_QUEUE_ITEMS_MAX);
    struct event_queue *queue = arena_alloc(arena, 1, sizeof *queue);
    char *block = arena_alloc(arena, item_count + 2 * LINE_BYTES / sizeof(struct entry),
                              sizeof(struct entry));
    /* heap[1], the first of the first four siblings, begins a line. */
    size_t past_line = (uintptr_t)block % LINE_BYTES;
    queue->heap = (struct entry *)(void *)(block + 2 * LINE_BYTES - past_line) - 1;
    queue->places = arena_alloc(arena, item_count, sizeof *queue->places);
    queue->item_count = item_count;
    for (size_t i = 0; i < item_count; i++) {
        queue->places[i] = ABSENT;
    }
    return queue;
}

static void
place(struct event_queue *queue, size_t at, struct entry entry)
{
    queue->heap[at] = entry;
    queue->places[entry_item(&entry)] = (uint32_t)at;
}

static void
climb(struct event_queue *queue, size_t at, struct entry entry)
{
    while (at > 0) {
        size_t parent = (at - 1) / ARITY;
        if (!entry_is_before(&entry, &queue->heap[parent])) {
            break;
        }
        place(queue, at, queue->heap[parent]);
        at = parent;
    }
    place(queue, at, entry);
}

static size_t
earliest_of_four(const struct entry *heap, size_t first)
{
    size_t left = first + entry_is_before(&heap[first + 1], &heap[first]);
    size_t right = first + 2 + entry_is_before(&heap[first + 3], &heap[first + 2]);
    return entry_is_before(&heap[right], &heap[left]) ? right : left;
}

/* The earliest child of a node whose first child is `first`, which exists. */
static size_t
earliest_child(const struct event_queue *queue, size_t first)
{
    if (first + ARITY <= queue->count) {
        return earliest_of_four(queue->heap, first);
    }
    size_t best = first;
    for (size_t child = first + 1; child < queue->count; child++) {
        if (entry_is_before(&queue->heap[child], &queue->heap[best])) {
            best = child;
        }
    }
    return best;
}

static void
descend(struct event_queue *queue, size_t at, struct entry entry)
{
    for (size_t first = ARITY * at + 1; first < queue->count; first = ARITY * at + 1) {
        size_t child = earliest_child(queue, first);
        if (!entry_is_before(&queue->heap[child], &entry)) {
            break;
        }
        place(queue, at, queue->heap[child]);
        at = child;
    }
    place(queue, at, entry);
}

static void
close_root(struct event_queue *queue)
{
    if (!queue->is_root_open) {
        return;
    }
    queue->is_root_open = false;
    queue->count--;
    if (queue->count > 0) {
        descend(queue, 0, queue->heap[queue->count]);
    }
}

static void
move(struct event_queue *queue, size_t at, struct entry entry)
{
    if (entry_is_before(&entry, &queue->heap[at])) {
        climb(queue, at, entry);
    } else {
        descend(queue, at, entry);
    }
}

void
event_queue_set(struct event_queue *queue, uint32_t item, int64_t at_ps)
{
    assert(item < queue->item_count);
    assert(at_ps >= queue->now_ps && "the past cannot be written");
    struct entry entry = {at_ps, queue->set_count++ << ITEM_BITS | item};
    if (queue->places[item] != ABSENT) {
        close_root(queue);
        move(queue, queue->places[item], entry);
    } else if (queue->is_root_open) {
        queue->is_root_open = false;
        descend(queue, 0, entry);
    } else {
        climb(queue, queue->count++, entry);
    }
}

int64_t
event_queue_at_ps(const struct event_queue *queue, uint32_t item)
{
    assert(item < queue->item_count && queue->places[item] != ABSENT);
    return queue->heap[queue->places[item]].at_ps;
}

int64_t
event_queue_next_ps(struct event_queue *queue)
{
    close_root(queue);
    return queue->count > 0 ? queue->heap[0].at_ps : INT64_MAX;
}

bool
event_queue_pop(struct event_queue *queue, struct event *out)
{
    close_root(queue);
    if (queue->count == 0) {
        return false;
    }
    *out = (struct event){queue->heap[0].at_ps, entry_item(&queue->heap[0])};
    queue->places[out->item] = ABSENT;
    queue->now_ps = out->at_ps;
    queue->is_root_open = true;
    return true;
}
