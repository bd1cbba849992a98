/* Does the agenda give back what was set, earliest first and in the order of setting on ties?
 */
#include "sim/engine/event_queue.h"

#include <check.h>

#include "sim/base/check_arena.h"
#include "sim/base/check_often.h"
#include "sim/base/check_random.h"

enum { ITEMS = 300, CALLS = 20000, CALLS_ON_FEW = 2000 };

static struct arena *arena;

static void
begin(void)
{
    arena = check_arena_new();
}

static void
end(void)
{
    arena_free(arena);
}

static void
check_pops(struct event_queue *queue, int64_t at_ps, uint32_t item)
{
    struct event event;
    CHECK_OFTEN(event_queue_next_ps(queue) == at_ps);
    CHECK_OFTEN(event_queue_pop(queue, &event));
    CHECK_OFTEN(event.at_ps == at_ps);
    CHECK_OFTEN(event.item == item);
}

static void
check_is_empty(struct event_queue *queue)
{
    struct event event;
    ck_assert_int_eq(event_queue_next_ps(queue), INT64_MAX);
    ck_assert(!event_queue_pop(queue, &event));
}

START_TEST(the_earliest_comes_first)
{
    struct event_queue *queue = event_queue_new(arena, 3);
    event_queue_set(queue, 0, 30);
    event_queue_set(queue, 1, 10);
    event_queue_set(queue, 2, 20);
    check_pops(queue, 10, 1);
    check_pops(queue, 20, 2);
    check_pops(queue, 30, 0);
    check_is_empty(queue);
}
END_TEST

START_TEST(ties_are_settled_by_the_order_of_setting)
{
    struct event_queue *queue = event_queue_new(arena, 8);
    for (uint32_t i = 0; i < 8; i++) {
        event_queue_set(queue, (5 * i + 3) % 8, 7);
    }
    for (uint32_t i = 0; i < 8; i++) {
        check_pops(queue, 7, (5 * i + 3) % 8);
    }
}
END_TEST

START_TEST(moving_an_item_to_its_own_time_puts_it_behind_its_equals)
{
    struct event_queue *queue = event_queue_new(arena, 2);
    event_queue_set(queue, 0, 5);
    event_queue_set(queue, 1, 5);
    event_queue_set(queue, 0, 5);
    check_pops(queue, 5, 1);
    check_pops(queue, 5, 0);
}
END_TEST

START_TEST(an_item_moves_both_ways_and_stays_single)
{
    struct event_queue *queue = event_queue_new(arena, 3);
    event_queue_set(queue, 0, 10);
    event_queue_set(queue, 1, 20);
    event_queue_set(queue, 2, 30);
    event_queue_set(queue, 0, 25);
    event_queue_set(queue, 2, 5);
    check_pops(queue, 5, 2);
    check_pops(queue, 20, 1);
    check_pops(queue, 25, 0);
    check_is_empty(queue);
}
END_TEST

/* What was popped stands in the tree until the next call: another item must not lose to it. */
START_TEST(an_item_moves_right_after_a_pop)
{
    struct event_queue *queue = event_queue_new(arena, 4);
    for (uint32_t i = 0; i < 4; i++) {
        event_queue_set(queue, i, 10 * (int64_t)i);
    }
    check_pops(queue, 0, 0);
    event_queue_set(queue, 3, 5);
    event_queue_set(queue, 0, 15);
    check_pops(queue, 5, 3);
    check_pops(queue, 10, 1);
    check_pops(queue, 15, 0);
    check_pops(queue, 20, 2);
    check_is_empty(queue);
}
END_TEST

START_TEST(a_queue_of_no_items_is_empty)
{
    check_is_empty(event_queue_new(arena, 0));
}
END_TEST

/* The independent answer: an unsorted list, searched from end to end. */
struct naive_queue {
    int64_t at_ps[ITEMS];
    uint64_t order[ITEMS]; /* 0: not on the agenda */
    uint64_t set_count;
};

static int
naive_next(const struct naive_queue *queue)
{
    int best = -1;
    for (int i = 0; i < ITEMS; i++) {
        if (queue->order[i] == 0) {
            continue;
        }
        bool is_better =
            best < 0 || queue->at_ps[i] < queue->at_ps[best] ||
            (queue->at_ps[i] == queue->at_ps[best] && queue->order[i] < queue->order[best]);
        best = is_better ? i : best;
    }
    return best;
}

/* Exact where all others are due later than some time, else only no later than that. */
static void
check_others(const struct event_queue *queue, const struct naive_queue *naive, int64_t at_ps)
{
    int next = naive_next(naive);
    int64_t first_ps = next < 0 ? INT64_MAX : naive->at_ps[next];
    int64_t others_ps = event_queue_others_ps(queue, at_ps);
    CHECK_OFTEN(first_ps > at_ps ? others_ps == first_ps
                                 : others_ps >= first_ps && others_ps <= at_ps);
}

/* Sets prevail in the first half of each 1000 calls, pops in the second; most times tie. */
static void
check_against_plain_list(uint32_t item_count, int calls, uint64_t state)
{
    struct event_queue *queue = event_queue_new(arena, item_count);
    struct naive_queue naive = {.set_count = 0};
    int64_t now_ps = 0;
    for (int call = 0; call < calls; call++) {
        int next = naive_next(&naive);
        bool is_pop = check_random_below(&state, 10) < (call % 1000 < 500 ? 3 : 7);
        if (is_pop && next >= 0) {
            now_ps = naive.at_ps[next];
            check_pops(queue, now_ps, (uint32_t)next);
            naive.order[next] = 0;
            check_others(queue, &naive, now_ps + check_random_below(&state, 20));
        } else {
            uint32_t item = check_random_below(&state, item_count);
            naive.at_ps[item] = now_ps + check_random_below(&state, 20);
            naive.order[item] = ++naive.set_count;
            event_queue_set(queue, item, naive.at_ps[item]);
            CHECK_OFTEN(event_queue_at_ps(queue, item) == naive.at_ps[item]);
        }
    }
}

START_TEST(any_mix_of_calls_agrees_with_a_plain_list)
{
    check_against_plain_list(ITEMS, CALLS, 1);
}
END_TEST

/* Trees of every shape: full ones, half empty ones and one of a single match. */
START_TEST(any_number_of_items_is_ordered)
{
    for (uint32_t item_count = 1; item_count <= 17; item_count++)
        check_against_plain_list(item_count, CALLS_ON_FEW, item_count);
}
END_TEST

/* As a lane does: what was popped is set again at once, at the same instant or later. */
START_TEST(an_item_set_again_at_its_own_instant_comes_last)
{
    struct event_queue *queue = event_queue_new(arena, 5);
    for (uint32_t i = 0; i < 5; i++)
        event_queue_set(queue, i, 10);
    check_pops(queue, 10, 0);
    event_queue_set(queue, 0, 10);
    for (uint32_t i = 1; i < 5; i++)
        check_pops(queue, 10, i);
    check_pops(queue, 10, 0);
    check_is_empty(queue);
}
END_TEST

Suite *event_queue_suite(void);

Suite *
event_queue_suite(void)
{
    Suite *suite = suite_create("event_queue");
    TCase *facts = tcase_create("facts");
    tcase_add_checked_fixture(facts, begin, end);
    tcase_add_test(facts, the_earliest_comes_first);
    tcase_add_test(facts, ties_are_settled_by_the_order_of_setting);
    tcase_add_test(facts, moving_an_item_to_its_own_time_puts_it_behind_its_equals);
    tcase_add_test(facts, an_item_moves_both_ways_and_stays_single);
    tcase_add_test(facts, an_item_moves_right_after_a_pop);
    tcase_add_test(facts, an_item_set_again_at_its_own_instant_comes_last);
    tcase_add_test(facts, a_queue_of_no_items_is_empty);
    tcase_add_test(facts, any_mix_of_calls_agrees_with_a_plain_list);
    tcase_add_test(facts, any_number_of_items_is_ordered);
    suite_add_tcase(suite, facts);
    return suite;
}
