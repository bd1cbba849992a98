/* The engine's agenda: a tournament of all items, won by the one that is due first.
 *
 *              1               node n: who won the match between nodes 2 n and 2 n + 1,
 *          2       3           beneath the nodes the items, two a match;
 *        4   5   6   7         here node 5 is between items 2 and 3
 *       0 1 2 3 4 5 6 7
 *
 * An item that was due first and is due later now plays on its way up against the winners beside
 * it, all of them known before the first match ends: nothing waits for memory, nor for a guess who
 * wins, as in a heap. Items are ordered by time, then by `order`, which counts the calls of
 * event_queue_set: no two on the agenda are equal. What was popped is left standing, since it is
 * mostly set again (one task ends, the next of its lane starts): so it plays once, not twice. */
#include "sim/engine/event_queue.h"

#include <assert.h>
#include <stddef.h>

static const uint32_t NO_ITEM = UINT32_MAX;
static const int64_t NEVER_PS = INT64_MAX; /* what is not on the agenda */

struct due {
    int64_t at_ps;
    uint64_t order; /* calls of event_queue_set before */
};

struct event_queue {
    struct due *dues;  /* by item */
    uint32_t *winners; /* by node, counted from 1 */
    size_t item_count;
    size_t row_count; /* items, made even, and not 0, by some that are never due */
    uint64_t set_count;
    int64_t now_ps;
    uint32_t popped; /* still stands where it was popped; or NO_ITEM */
};

struct event_queue *
event_queue_new(struct arena *arena, size_t item_count)
{
    assert(item_count <= INT32_MAX);
    struct event_queue *queue = arena_alloc(arena, 1, sizeof *queue);
    size_t row_count = item_count > 0 ? item_count + item_count % 2 : 2;
    queue->dues = arena_alloc(arena, row_count, sizeof *queue->dues);
    queue->winners = arena_alloc(arena, row_count, sizeof *queue->winners);
    queue->item_count = item_count;
    queue->row_count = row_count;
    queue->popped = NO_ITEM;
    for (size_t item = 0; item < row_count; item++)
        queue->dues[item].at_ps = NEVER_PS;
    for (size_t node = row_count; --node > 0;) {
        bool is_match_of_items = 2 * node >= row_count;
        queue->winners[node] =
            is_match_of_items ? (uint32_t)(2 * node - row_count) : queue->winners[2 * node];
    }
    return queue;
}

/* By time, which is whole: of two at the same time the one set earlier leads by less than one. A
 * single number to test, since a branch for ties would be mispredicted half of the time. */
static bool
is_before(const struct due *a, const struct due *b)
{
    return a->at_ps - b->at_ps - (a->order < b->order) < 0;
}

/* The winner goes on, its number and its time. */
static void
play(const struct event_queue *queue, uint32_t rival, uint32_t *winner, struct due *due)
{
    const struct due *other = &queue->dues[rival];
    bool rival_wins = is_before(other, due);
    *winner = rival_wins ? rival : *winner;
    due->at_ps = rival_wins ? other->at_ps : due->at_ps;
    due->order = rival_wins ? other->order : due->order;
}

/* An item is due later than before: it plays those matches again that it had won. */
static void
postpone(struct event_queue *queue, uint32_t item)
{
    struct due due = queue->dues[item];
    uint32_t winner = item;
    uint32_t rival = item ^ 1;
    size_t node = (queue->row_count + item) / 2;
    while (queue->winners[node] == item) {
        play(queue, rival, &winner, &due);
        queue->winners[node] = winner;
        if (node == 1)
            break;
        rival = queue->winners[node ^ 1];
        node /= 2;
    }
}

/* An item is due sooner than before: it wins as far as it can. */
static void
advance(struct event_queue *queue, uint32_t item)
{
    const struct due due = queue->dues[item];
    for (size_t node = (queue->row_count + item) / 2; node > 0; node /= 2) {
        uint32_t winner = queue->winners[node];
        if (winner != item && !is_before(&due, &queue->dues[winner]))
            break;
        queue->winners[node] = item;
    }
}

static void
take_off_popped(struct event_queue *queue)
{
    if (queue->popped == NO_ITEM)
        return;
    queue->dues[queue->popped].at_ps = NEVER_PS;
    postpone(queue, queue->popped);
    queue->popped = NO_ITEM;
}

void
event_queue_set(struct event_queue *queue, uint32_t item, int64_t at_ps)
{
    assert(item < queue->item_count);
    assert(at_ps >= queue->now_ps && "the past cannot be written");
    if (queue->popped == item)
        queue->popped = NO_ITEM;
    else
        take_off_popped(queue);
    bool is_sooner = at_ps < queue->dues[item].at_ps;
    queue->dues[item] = (struct due){at_ps, queue->set_count++};
    if (is_sooner)
        advance(queue, item);
    else
        postpone(queue, item);
}

int64_t
event_queue_at_ps(const struct event_queue *queue, uint32_t item)
{
    assert(item < queue->item_count && queue->dues[item].at_ps != NEVER_PS);
    return queue->dues[item].at_ps;
}

int64_t
event_queue_next_ps(struct event_queue *queue)
{
    take_off_popped(queue);
    return queue->dues[queue->winners[1]].at_ps;
}

int64_t
event_queue_others_ps(const struct event_queue *queue, int64_t at_ps)
{
    uint32_t item = queue->popped;
    assert(item != NO_ITEM && queue->winners[1] == item && "it has won all of its matches");
    int64_t first_ps = queue->dues[item ^ 1].at_ps;
    for (size_t node = (queue->row_count + item) / 2; node > 1 && first_ps > at_ps; node /= 2) {
        int64_t rival_ps = queue->dues[queue->winners[node ^ 1]].at_ps;
        first_ps = rival_ps < first_ps ? rival_ps : first_ps;
    }
    return first_ps;
}

bool
event_queue_pop(struct event_queue *queue, struct event *out)
{
    take_off_popped(queue);
    uint32_t item = queue->winners[1];
    int64_t at_ps = queue->dues[item].at_ps;
    if (at_ps == NEVER_PS)
        return false;
    *out = (struct event){at_ps, item};
    queue->now_ps = at_ps;
    queue->popped = item;
    return true;
}
