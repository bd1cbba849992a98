/* Are shares max-min fair? Small cases by hand, large ones by the definition. */
#include "sim/engine/sharing.h"

#include <check.h>
#include <stdbool.h>

#include "sim/base/check_arena.h"
#include "sim/base/check_often.h"
#include "sim/base/check_random.h"

enum { CASES = 300, TAKERS_MAX = 40, RESOURCES_MAX = 12, USAGES_MAX = 4 };

static const double UNBOUNDED = 1e30; /* a top rate that is never reached here */
static const double ROUNDING = 1e-11;

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

static uint32_t
add_taker_of_one(struct sharing *sharing, double top_rate_per_s, double weight,
                 uint32_t resource)
{
    uint32_t taker = sharing_add_taker(sharing, top_rate_per_s, weight);
    sharing_add_usage(sharing, resource, 1);
    return taker;
}

START_TEST(two_takers_share_equally)
{
    struct sharing *sharing = sharing_new(arena);
    uint32_t link = sharing_add_resource(sharing, 10);
    uint32_t a = add_taker_of_one(sharing, UNBOUNDED, 1, link);
    uint32_t b = add_taker_of_one(sharing, UNBOUNDED, 1, link);
    sharing_solve(sharing);
    ck_assert(sharing_rate_per_s(sharing, a) == 5);
    ck_assert(sharing_rate_per_s(sharing, b) == 5);
}
END_TEST

/* Weights 1 and 3 of 10: level 2.5. */
START_TEST(weights_divide_in_proportion)
{
    struct sharing *sharing = sharing_new(arena);
    uint32_t link = sharing_add_resource(sharing, 10);
    uint32_t a = add_taker_of_one(sharing, UNBOUNDED, 1, link);
    uint32_t b = add_taker_of_one(sharing, UNBOUNDED, 3, link);
    sharing_solve(sharing);
    ck_assert(sharing_rate_per_s(sharing, a) == 2.5);
    ck_assert(sharing_rate_per_s(sharing, b) == 7.5);
}
END_TEST

/* Links of 10 and 4; long crosses both, x only the first, y only the second. The second fills
 * at level 2 (long + y = 4); x then takes what long leaves of the first: 10 - 2 = 8. */
START_TEST(three_takers_on_two_links)
{
    struct sharing *sharing = sharing_new(arena);
    uint32_t first = sharing_add_resource(sharing, 10);
    uint32_t second = sharing_add_resource(sharing, 4);
    uint32_t across = sharing_add_taker(sharing, UNBOUNDED, 1);
    sharing_add_usage(sharing, first, 1);
    sharing_add_usage(sharing, second, 1);
    uint32_t x = add_taker_of_one(sharing, UNBOUNDED, 1, first);
    uint32_t y = add_taker_of_one(sharing, UNBOUNDED, 1, second);
    sharing_solve(sharing);
    ck_assert(sharing_rate_per_s(sharing, across) == 2);
    ck_assert(sharing_rate_per_s(sharing, x) == 8);
    ck_assert(sharing_rate_per_s(sharing, y) == 2);
}
END_TEST

/* Of 10, one cannot use more than 1; the other two share 9. */
START_TEST(what_a_slow_taker_leaves_is_shared)
{
    struct sharing *sharing = sharing_new(arena);
    uint32_t link = sharing_add_resource(sharing, 10);
    uint32_t slow = add_taker_of_one(sharing, 1, 1, link);
    uint32_t a = add_taker_of_one(sharing, UNBOUNDED, 1, link);
    uint32_t b = add_taker_of_one(sharing, UNBOUNDED, 1, link);
    sharing_solve(sharing);
    ck_assert(sharing_rate_per_s(sharing, slow) == 1);
    ck_assert(sharing_rate_per_s(sharing, a) == 4.5);
    ck_assert(sharing_rate_per_s(sharing, b) == 4.5);
}
END_TEST

/* 4 units of the resource per unit of a's rate, 1 of b's: 4 level + level = 10. */
START_TEST(amounts_scale_what_a_rate_takes)
{
    struct sharing *sharing = sharing_new(arena);
    uint32_t link = sharing_add_resource(sharing, 10);
    uint32_t a = sharing_add_taker(sharing, UNBOUNDED, 1);
    sharing_add_usage(sharing, link, 4);
    uint32_t b = add_taker_of_one(sharing, UNBOUNDED, 1, link);
    sharing_solve(sharing);
    ck_assert(sharing_rate_per_s(sharing, a) == 2);
    ck_assert(sharing_rate_per_s(sharing, b) == 2);
}
END_TEST

START_TEST(a_taker_of_nothing_runs_at_its_top_rate)
{
    struct sharing *sharing = sharing_new(arena);
    uint32_t taker = sharing_add_taker(sharing, 7, 2);
    sharing_solve(sharing);
    ck_assert(sharing_rate_per_s(sharing, taker) == 7);
}
END_TEST

/* 0.1 + 0.2 is above 0.3 in doubles by one part in 2^53: no reason to slow anyone. */
START_TEST(rounding_is_no_shortage)
{
    struct sharing *sharing = sharing_new(arena);
    uint32_t link = sharing_add_resource(sharing, 0.3);
    uint32_t a = add_taker_of_one(sharing, 0.1, 1, link);
    uint32_t b = add_taker_of_one(sharing, 0.2, 1, link);
    sharing_solve(sharing);
    ck_assert(sharing_rate_per_s(sharing, a) == 0.1);
    ck_assert(sharing_rate_per_s(sharing, b) == 0.2);
}
END_TEST

START_TEST(a_cleared_question_has_no_memory)
{
    struct sharing *sharing = sharing_new(arena);
    for (int round = 0; round < 3; round++) {
        sharing_clear(sharing, 0);
        uint32_t link = sharing_add_resource(sharing, 10);
        uint32_t a = add_taker_of_one(sharing, UNBOUNDED, 1, link);
        (void)add_taker_of_one(sharing, UNBOUNDED, 1, link);
        sharing_solve(sharing);
        ck_assert(sharing_rate_per_s(sharing, a) == 5);
    }
}
END_TEST

/* Alone on 10 a taker of weight 2 reaches level 5; it was known to reach 4. */
START_TEST(a_level_known_to_be_reached_changes_nothing)
{
    struct sharing *sharing = sharing_new(arena);
    sharing_clear(sharing, 4);
    uint32_t link = sharing_add_resource(sharing, 10);
    uint32_t a = add_taker_of_one(sharing, UNBOUNDED, 2, link);
    sharing_solve(sharing);
    ck_assert(sharing_rate_per_s(sharing, a) == 10);
}
END_TEST

/* A random question, kept here to be checked against. */
struct question {
    size_t taker_count, resource_count;
    double capacity[RESOURCES_MAX];
    double top_rate[TAKERS_MAX], weight[TAKERS_MAX], rate[TAKERS_MAX];
    double amount[TAKERS_MAX][RESOURCES_MAX]; /* 0: not used */
};

/* Small numbers, so that many levels coincide. */
static struct question
random_question(uint64_t *state)
{
    struct question q = {.taker_count = 1 + check_random_below(state, TAKERS_MAX),
                         .resource_count = 1 + check_random_below(state, RESOURCES_MAX)};
    for (size_t r = 0; r < q.resource_count; r++) {
        q.capacity[r] = 1 + check_random_below(state, 20);
    }
    for (size_t t = 0; t < q.taker_count; t++) {
        q.top_rate[t] = 0.25 * (1 + check_random_below(state, 40));
        q.weight[t] = 1 + check_random_below(state, 3);
        for (int u = 0; u < USAGES_MAX; u++) {
            q.amount[t][check_random_below(state, (uint32_t)q.resource_count)] =
                0.5 * (1 + check_random_below(state, 4));
        }
    }
    return q;
}

static void
add_usages(struct sharing *sharing, const struct question *q, size_t taker)
{
    for (uint32_t r = 0; r < q->resource_count; r++) {
        if (q->amount[taker][r] > 0) {
            sharing_add_usage(sharing, r, q->amount[taker][r]);
        }
    }
}

static void
solve(struct sharing *sharing, struct question *q)
{
    sharing_clear(sharing, 0);
    for (size_t r = 0; r < q->resource_count; r++) {
        (void)sharing_add_resource(sharing, q->capacity[r]);
    }
    for (size_t t = 0; t < q->taker_count; t++) {
        (void)sharing_add_taker(sharing, q->top_rate[t], q->weight[t]);
        add_usages(sharing, q, t);
    }
    sharing_solve(sharing);
    for (uint32_t t = 0; t < q->taker_count; t++) {
        q->rate[t] = sharing_rate_per_s(sharing, t);
    }
}

static double
resource_use(const struct question *q, size_t resource)
{
    double sum = 0;
    for (size_t t = 0; t < q->taker_count; t++) {
        sum += q->amount[t][resource] * q->rate[t];
    }
    return sum;
}

/* Full, and nobody on it goes faster for his weight than this taker. */
static bool
is_bottleneck(const struct question *q, size_t resource, size_t taker)
{
    double level = q->rate[taker] / q->weight[taker];
    bool is_full = resource_use(q, resource) >= q->capacity[resource] * (1 - ROUNDING);
    for (size_t t = 0; is_full && t < q->taker_count; t++) {
        bool is_faster = q->rate[t] / q->weight[t] > level * (1 + ROUNDING);
        is_full = q->amount[t][resource] == 0 || !is_faster;
    }
    return is_full && q->amount[taker][resource] > 0;
}

static bool
has_reason(const struct question *q, size_t taker)
{
    bool has = q->rate[taker] == q->top_rate[taker];
    for (size_t r = 0; r < q->resource_count; r++) {
        has = has || is_bottleneck(q, r, taker);
    }
    return has;
}

/* An allocation is max-min fair if and only if it is possible and every taker is at its top
 * rate or has a bottleneck (Bertsekas and Gallager, section 6.5.2, proposition). */
START_TEST(everyone_is_at_the_top_or_has_a_bottleneck)
{
    struct sharing *sharing = sharing_new(arena);
    uint64_t state = 7;
    for (int i = 0; i < CASES; i++) {
        struct question q = random_question(&state);
        solve(sharing, &q);
        for (size_t r = 0; r < q.resource_count; r++) {
            ck_assert(resource_use(&q, r) <= q.capacity[r] * (1 + ROUNDING));
        }
        for (size_t t = 0; t < q.taker_count; t++) {
            ck_assert(q.rate[t] > 0 && q.rate[t] <= q.top_rate[t]);
            ck_assert_msg(has_reason(&q, t), "case %d: taker %zu is held back", i, t);
        }
    }
}
END_TEST

static struct question
at_double_speed(struct question q)
{
    for (size_t r = 0; r < q.resource_count; r++) {
        q.capacity[r] *= 2;
    }
    for (size_t t = 0; t < q.taker_count; t++) {
        q.top_rate[t] *= 2;
    }
    return q;
}

START_TEST(doubling_everything_doubles_the_rates)
{
    struct sharing *sharing = sharing_new(arena);
    uint64_t state = 8;
    for (int i = 0; i < CASES; i++) {
        struct question single = random_question(&state), twice = at_double_speed(single);
        solve(sharing, &single);
        solve(sharing, &twice);
        for (size_t t = 0; t < single.taker_count; t++) {
            ck_assert(twice.rate[t] == 2 * single.rate[t]);
        }
    }
}
END_TEST

/* Of four takers and resources at most, and of few numbers: many come again, or differ in one. */
static struct question
small_question(uint64_t *state)
{
    struct question q = {.taker_count = 1 + check_random_below(state, 4),
                         .resource_count = 1 + check_random_below(state, 3)};
    for (size_t r = 0; r < q.resource_count; r++)
        q.capacity[r] = 1 + check_random_below(state, 2);
    for (size_t t = 0; t < q.taker_count; t++) {
        q.top_rate[t] = 1 + check_random_below(state, 2);
        q.weight[t] = 1 + check_random_below(state, 2);
        for (size_t r = 0; r < q.resource_count; r++)
            q.amount[t][r] = check_random_below(state, 3);
    }
    return q;
}

/* Against one that has never been asked anything. */
START_TEST(what_was_asked_before_is_answered_as_if_it_were_new)
{
    struct sharing *sharing = sharing_new(arena);
    uint64_t state = 9;
    for (int i = 0; i < 10 * CASES; i++) {
        struct arena *own = arena_new_beside(arena);
        struct question again = small_question(&state), anew = again;
        solve(sharing, &again);
        solve(sharing_new(own), &anew);
        for (size_t t = 0; t < again.taker_count; t++)
            CHECK_OFTEN(again.rate[t] == anew.rate[t]);
        arena_free(own);
    }
}
END_TEST

Suite *sharing_suite(void);

Suite *
sharing_suite(void)
{
    Suite *suite = suite_create("sharing");
    TCase *facts = tcase_create("facts");
    tcase_add_checked_fixture(facts, begin, end);
    tcase_add_test(facts, two_takers_share_equally);
    tcase_add_test(facts, weights_divide_in_proportion);
    tcase_add_test(facts, three_takers_on_two_links);
    tcase_add_test(facts, what_a_slow_taker_leaves_is_shared);
    tcase_add_test(facts, amounts_scale_what_a_rate_takes);
    tcase_add_test(facts, a_taker_of_nothing_runs_at_its_top_rate);
    tcase_add_test(facts, rounding_is_no_shortage);
    tcase_add_test(facts, a_cleared_question_has_no_memory);
    tcase_add_test(facts, a_level_known_to_be_reached_changes_nothing);
    tcase_add_test(facts, everyone_is_at_the_top_or_has_a_bottleneck);
    tcase_add_test(facts, doubling_everything_doubles_the_rates);
    tcase_add_test(facts, what_was_asked_before_is_answered_as_if_it_were_new);
    suite_add_tcase(suite, facts);
    return suite;
}
