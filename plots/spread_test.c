/* Do labels stay apart, in order, in range, and as near as can be? */
#include "plots/spread.h"

#include <check.h>

#include "sim/base/check_near.h"
#include "sim/base/check_suite.h"

Suite *spread_suite(void);

START_TEST(labels_with_room_stand_where_they_want)
{
    struct spread_label labels[] = {{.wanted = 10.0, .width = 8.0},
                                    {.wanted = 50.0, .width = 8.0}};
    ck_assert(spread_labels(arena, labels, 2, (double[2]){0.0, 100.0}, 2.0));
    CHECK_NEAR(labels[0].centre, 10.0, 1e-12);
    CHECK_NEAR(labels[1].centre, 50.0, 1e-12);
}
END_TEST

/* Both want 50; widths 10 and a gap of 2 put the middles 12 apart: 44 and 56. */
START_TEST(two_that_want_one_place_give_way_alike)
{
    struct spread_label labels[] = {{.wanted = 50.0, .width = 10.0},
                                    {.wanted = 50.0, .width = 10.0}};
    ck_assert(spread_labels(arena, labels, 2, (double[2]){0.0, 100.0}, 2.0));
    CHECK_NEAR(labels[0].centre, 44.0, 1e-12);
    CHECK_NEAR(labels[1].centre, 56.0, 1e-12);
}
END_TEST

/* At the right end: the last is pushed to 95 (its half width from 100), the first 12 before. */
START_TEST(none_leaves_the_range)
{
    struct spread_label labels[] = {{.wanted = 97.0, .width = 10.0},
                                    {.wanted = 99.0, .width = 10.0}};
    ck_assert(spread_labels(arena, labels, 2, (double[2]){0.0, 100.0}, 2.0));
    CHECK_NEAR(labels[0].centre, 83.0, 1e-12);
    CHECK_NEAR(labels[1].centre, 95.0, 1e-12);
}
END_TEST

/* 3 * 10 + 2 * 2 = 34: fits in 34, not in 33. */
START_TEST(what_does_not_fit_is_refused)
{
    struct spread_label labels[3] = {{.width = 10.0}, {.width = 10.0}, {.width = 10.0}};
    ck_assert(spread_labels(arena, labels, 3, (double[2]){0.0, 34.0}, 2.0));
    ck_assert(!spread_labels(arena, labels, 3, (double[2]){0.0, 33.0}, 2.0));
    ck_assert(spread_labels(arena, labels, 0, (double[2]){0.0, 1.0}, 2.0));
}
END_TEST

Suite *
spread_suite(void)
{
    TCase *tests;
    Suite *suite = check_suite_new("spread", &tests);
    tcase_add_test(tests, labels_with_room_stand_where_they_want);
    tcase_add_test(tests, two_that_want_one_place_give_way_alike);
    tcase_add_test(tests, none_leaves_the_range);
    tcase_add_test(tests, what_does_not_fit_is_refused);
    return suite;
}
