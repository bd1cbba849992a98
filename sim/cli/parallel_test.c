/* Is every index done once, by however many threads? */
#include "sim/cli/parallel.h"

#include <check.h>

Suite *parallel_suite(void);

enum { INDICES = 1000 };

static void
count_up(void *context, size_t index, int thread)
{
    int *counts = context;
    counts[index]++;
    ck_assert_int_ge(thread, 0);
    ck_assert_int_lt(thread, PARALLEL_THREADS_MAX);
}

static void
check_once(int threads)
{
    int counts[INDICES + 1] = {0};
    struct parallel_work work = {count_up, counts, INDICES};
    parallel_run(&work, threads);
    for (int i = 0; i < INDICES; i++)
        ck_assert_int_eq(counts[i], 1);
    ck_assert_int_eq(counts[INDICES], 0);
}

START_TEST(every_index_is_done_once)
{
    check_once(1);
    check_once(2);
    check_once(8);
    check_once(PARALLEL_THREADS_MAX + 5);
}
END_TEST

START_TEST(without_indices_nothing_is_done)
{
    struct parallel_work work = {count_up, NULL, 0};
    parallel_run(&work, 4);
    ck_assert_int_ge(parallel_cores(), 1);
}
END_TEST

Suite *
parallel_suite(void)
{
    Suite *suite = suite_create("parallel");
    TCase *facts = tcase_create("facts");
    tcase_add_test(facts, every_index_is_done_once);
    tcase_add_test(facts, without_indices_nothing_is_done);
    suite_add_tcase(suite, facts);
    return suite;
}
