/* Does the front of a sweep hold what none beats, and nothing else? */
#include "sim/cli/sweep_front.h"

#include <math.h>
#include <string.h>

#include <check.h>

#include "sim/base/check_arena.h"

Suite *sweep_front_suite(void);

enum { ROWS = 6 };

static struct arena *arena;
static struct sweep_space space;
static struct sweep_row *rows;
static const char *fault;

static void
setup(void)
{
    arena = check_arena_new();
    space = (struct sweep_space){.axes = NULL};
    rows = arena_alloc(arena, ROWS, sizeof *rows);
    fault = "";
}

static void
teardown(void)
{
    arena_free(arena);
}

static void
set_row(size_t i, double step_s, double tokens_per_s)
{
    rows[i].status = SWEEP_DONE;
    rows[i].values[SWEEP_STEP_S] = step_s;
    rows[i].values[SWEEP_TOKENS_PER_S] = tokens_per_s;
}

/* "*..": a star for each row on the front. */
static void
check_front(size_t count, const char *expected)
{
    for (size_t i = 0; i < ROWS; i++)
        rows[i].is_on_front = false;
    sweep_front_mark(&space, rows, count, arena);
    for (size_t i = 0; i < count; i++)
        ck_assert_msg(rows[i].is_on_front == (expected[i] == '*'), "row %zu", i);
}

/* Steps are to be short and tokens many: of (1 s, 10), (2 s, 20), (2 s, 15), (3 s, 20) the third is
 * beaten by the second, and so is the fourth; equal ones both stay. */
START_TEST(a_point_is_beaten_by_one_that_is_nowhere_worse_and_somewhere_better)
{
    ck_assert(sweep_front_read(&space, "step_s,tokens_per_s", arena, &fault));
    set_row(0, 3, 20);
    set_row(1, 2, 15);
    set_row(2, 1, 10);
    set_row(3, 2, 20);
    set_row(4, 1, 10);
    check_front(5, "..***");
}
END_TEST

/* 1 % more tokens are not worth a step that is twice as long, if 2 % count as equal; without slack
 * both are on the front. */
START_TEST(slack_takes_off_what_is_hardly_better)
{
    ck_assert(sweep_front_read(&space, "step_s,tokens_per_s", arena, &fault));
    set_row(0, 2, 101);
    set_row(1, 1, 100);
    check_front(2, "**");
    space.slack_fraction = 0.02;
    check_front(2, ".*");
}
END_TEST

/* Each is 1 % worse than the one before in one column and better in none: no circle of such
 * takes all of them off. */
START_TEST(slack_never_takes_off_all)
{
    ck_assert(sweep_front_read(&space, "step_s,tokens_per_s,memory_bytes", arena, &fault));
    for (size_t i = 0; i < 3; i++) {
        set_row(i, i == 0 ? 1.01 : 1, i == 1 ? 1 : 1.01);
        rows[i].values[SWEEP_MEMORY_BYTES] = i == 2 ? 1.01 : 1;
    }
    space.slack_fraction = 0.05;
    check_front(3, "***");
}
END_TEST

START_TEST(a_row_without_a_value_is_on_no_front)
{
    space.has_inference = true;
    ck_assert(sweep_front_read(&space, "step_s,decode_s", arena, &fault));
    set_row(0, 1, 10);
    set_row(1, 2, 10);
    set_row(2, 1, 10);
    rows[0].values[SWEEP_DECODE_S] = (double)NAN;
    rows[1].values[SWEEP_DECODE_S] = 1;
    rows[2].status = SWEEP_INFEASIBLE;
    check_front(3, ".*.");
    set_row(0, 1, 10);
    set_row(1, 0, 10); /* a bubble may be 0 s: better than any other */
    rows[0].values[SWEEP_DECODE_S] = 1;
    check_front(2, ".*");
}
END_TEST

static void
check_fault(const char *text, const char *part)
{
    ck_assert(!sweep_front_read(&space, text, arena, &fault));
    ck_assert_msg(strstr(fault, part) != NULL, "%s: %s", text, fault);
}

START_TEST(a_front_needs_two_columns_that_are_there)
{
    check_fault("step_s", "two columns");
    check_fault("step_s,", "'' is no column");
    check_fault("step_s,step_s", "'step_s' stands there twice");
    check_fault("step_s,tokns_per_s", "did you mean 'tokens_per_s'?");
    check_fault("step_s,decode_s", "'decode_s' is a column of --inference");
    space.has_inference = true;
    ck_assert(sweep_front_read(&space, "step_s,decode_s", arena, &fault));
}
END_TEST

START_TEST(columns_have_keys_of_their_own)
{
    for (int i = 0; i < SWEEP_QUANTITY_COUNT; i++) {
        enum sweep_quantity found = SWEEP_QUANTITY_COUNT;
        ck_assert(sweep_quantity_find(sweep_quantity_key((enum sweep_quantity)i), &found));
        ck_assert_int_eq(found, i);
    }
}
END_TEST

Suite *
sweep_front_suite(void)
{
    Suite *suite = suite_create("sweep_front");
    TCase *facts = tcase_create("facts");
    tcase_add_checked_fixture(facts, setup, teardown);
    tcase_add_test(facts, a_point_is_beaten_by_one_that_is_nowhere_worse_and_somewhere_better);
    tcase_add_test(facts, slack_takes_off_what_is_hardly_better);
    tcase_add_test(facts, slack_never_takes_off_all);
    tcase_add_test(facts, a_row_without_a_value_is_on_no_front);
    tcase_add_test(facts, a_front_needs_two_columns_that_are_there);
    tcase_add_test(facts, columns_have_keys_of_their_own);
    suite_add_tcase(suite, facts);
    return suite;
}
