/* Does the line say the rate of what was worked for, and when that ends? */
#include "sim/cli/progress.h"

#include <check.h>

Suite *progress_suite(void);

/* Begun at second 10, of 1,000 points. */
static struct progress
begun(void)
{
    return (struct progress){
        .command = "sweep", .noun = "points", .total = 1000, .begun_s = 10};
}

/* 200 points in 20 s are 10 a second; 800 are left: 80 s. */
START_TEST(the_rate_says_how_long_is_left)
{
    struct progress progress = begun();
    ck_assert_str_eq(progress_line_of(&progress, 200, 0, 30).text,
                     "stepcast sweep: 200 of 1000 points, 10/s, 1:20 left");
}
END_TEST

/* 100 of the 200 took no time: 5 a second, 160 s. */
START_TEST(what_is_known_from_before_says_nothing_of_the_rate)
{
    struct progress progress = begun();
    ck_assert_str_eq(progress_line_of(&progress, 200, 100, 30).text,
                     "stepcast sweep: 200 of 1000 points, 100 known, 5/s, 2:40 left");
}
END_TEST

/* 1 point in 10 s leaves 9,990 s. */
START_TEST(hours_are_said_where_there_are_any)
{
    struct progress progress = begun();
    ck_assert_str_eq(progress_line_of(&progress, 1, 0, 20).text,
                     "stepcast sweep: 1 of 1000 points, 0.10/s, 2:46:30 left");
}
END_TEST

START_TEST(before_there_is_a_rate_only_points_are_said)
{
    struct progress progress = begun();
    ck_assert_str_eq(progress_line_of(&progress, 3, 0, 10.1).text,
                     "stepcast sweep: 3 of 1000 points");
    progress.total = 0;
    ck_assert_str_eq(progress_line_of(&progress, 30, 0, 20).text,
                     "stepcast sweep: 30 points, 3/s");
}
END_TEST

Suite *
progress_suite(void)
{
    Suite *suite = suite_create("progress");
    TCase *facts = tcase_create("facts");
    tcase_add_test(facts, the_rate_says_how_long_is_left);
    tcase_add_test(facts, what_is_known_from_before_says_nothing_of_the_rate);
    tcase_add_test(facts, hours_are_said_where_there_are_any);
    tcase_add_test(facts, before_there_is_a_rate_only_points_are_said);
    suite_add_tcase(suite, facts);
    return suite;
}
