/* Do plans come out by their bounds, whether they fit the memory or not? */
#include "sim/cli/bound_order.h"

#include <math.h>

#include <check.h>

#include "sim/base/check_arena.h"
#include "sim/base/check_often.h"

Suite *bound_order_suite(void);

enum { PLANS = 1000 };

static struct arena *arena;
static struct error_list errors;

static void
setup(void)
{
    arena = check_arena_new();
    errors = (struct error_list){0};
}

static void
teardown(void)
{
    arena_free(arena);
}

/* Bounds 0 to 99 s, each of ten plans; places 0 to 999 in a mixed order (7 and 1,000 share no
 * divisor). */
static struct bound_order *
fill(size_t held)
{
    struct bound_order *order = bound_order_new(held, arena);
    for (uint64_t i = 0; i < PLANS; i++) {
        uint64_t place = 7 * i % PLANS;
        struct bounded_plan plan = {(double)(place % 100), place};
        ck_assert(bound_order_add(order, &plan, &errors));
    }
    ck_assert(bound_order_sort(order, &errors));
    return order;
}

static void
check_order(size_t held)
{
    struct bound_order *order = fill(held);
    struct bounded_plan plan;
    for (uint64_t i = 0; i < PLANS; i++) {
        ck_assert(bound_order_next(order, &plan, &errors));
        ck_assert_uint_eq(plan.place, i / 10 + i % 10 * 100);
    }
    ck_assert(!bound_order_next(order, &plan, &errors));
    ck_assert_int_eq(errors.count, 0);
    bound_order_free(order);
}

/* One run, two, a hundred, and one of each plan. */
START_TEST(plans_come_by_bound_then_place)
{
    check_order(0);
    check_order(PLANS);
    check_order(PLANS - 1);
    check_order(10);
    check_order(1);
}
END_TEST

/* Ten plans have each whole second: below 12.5 s are 13 of them. */
START_TEST(what_is_below_is_counted_before_and_after)
{
    static const size_t held[] = {0, 64};
    for (int i = 0; i < 2; i++) {
        struct bound_order *order = fill(held[i]);
        struct bounded_plan plan;
        ck_assert_uint_eq(bound_order_below(order, 0), 0);
        ck_assert_uint_eq(bound_order_below(order, 12.5), 130);
        ck_assert(bound_order_next(order, &plan, &errors));
        ck_assert_uint_eq(bound_order_below(order, 12.5), 130);
        ck_assert_uint_eq(bound_order_below(order, (double)INFINITY), PLANS);
        bound_order_free(order);
    }
}
END_TEST

START_TEST(nothing_has_an_order)
{
    struct bound_order *order = bound_order_new(0, arena);
    struct bounded_plan plan;
    ck_assert(bound_order_sort(order, &errors));
    ck_assert(!bound_order_next(order, &plan, &errors));
    ck_assert_uint_eq(bound_order_below(order, 1), 0);
    bound_order_free(order);
}
END_TEST

/* Hundreds of thousands of plans take what ten thousand take: 16 bytes of each that is held, twice
 * while it grows, and a few of each run. */
START_TEST(memory_does_not_grow_with_plans)
{
    enum { HELD = 4096, MANY = CHECK_TRIES(1000 * 1000) };
    struct bound_order *order = bound_order_new(HELD, arena);
    size_t begun_bytes = 0;
    for (uint64_t i = 0; i < MANY; i++) {
        struct bounded_plan plan = {(double)(i * 7919 % MANY), i};
        CHECK_OFTEN(bound_order_add(order, &plan, &errors));
        if (i == 2 * HELD)
            begun_bytes = arena_size_bytes(arena);
    }
    ck_assert(bound_order_sort(order, &errors));
    struct bounded_plan plan, before = {-1, 0};
    for (int i = 0; i < MANY; i++, before = plan) {
        CHECK_OFTEN(bound_order_next(order, &plan, &errors));
        CHECK_OFTEN(plan.bound_s > before.bound_s);
    }
    ck_assert_uint_le(arena_size_bytes(arena), begun_bytes + 100 * 1000);
    bound_order_free(order);
}
END_TEST

Suite *
bound_order_suite(void)
{
    Suite *suite = suite_create("bound_order");
    TCase *facts = tcase_create("facts");
    tcase_add_checked_fixture(facts, setup, teardown);
    tcase_add_test(facts, plans_come_by_bound_then_place);
    tcase_add_test(facts, what_is_below_is_counted_before_and_after);
    tcase_add_test(facts, nothing_has_an_order);
    tcase_add_test(facts, memory_does_not_grow_with_plans);
    suite_add_tcase(suite, facts);
    return suite;
}
