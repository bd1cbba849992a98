/* Does what is left look like what was there? */
#include "plots/thin.h"

#include <check.h>
#include <math.h>

#include "plots/check_random.h"
#include "sim/base/check_arena.h"

Suite *thin_suite(void);

enum { MANY = 1000000 };

static struct arena *arena;

static void
set_up(void)
{
    arena = check_arena_new();
}

static void
tear_down(void)
{
    arena_free(arena);
}

START_TEST(few_points_stay_as_they_are)
{
    struct canvas_point points[] = {{0, 1}, {0, 1}, {0, 2}};
    ck_assert_uint_eq(thin_path(points, 3, 1.0), 3);
    ck_assert_uint_eq(thin_dots(points, 3, (struct canvas_box){0, 0, 1, 1}, 1.0, arena), 3);
}
END_TEST

/* A million points over 100 columns: four of each, and none higher or lower than the path was. */
START_TEST(a_path_keeps_the_reach_of_each_column)
{
    struct canvas_point *points = arena_alloc(arena, MANY, sizeof *points);
    double low[100], high[100], kept_low[100], kept_high[100];
    uint64_t seed = 1;
    for (int i = 0; i < 100; i++) {
        low[i] = kept_low[i] = INFINITY;
        high[i] = kept_high[i] = -INFINITY;
    }
    for (size_t i = 0; i < MANY; i++) {
        points[i] = (struct canvas_point){100.0 * (double)i / MANY,
                                          (double)check_random_below(&seed, 1000000)};
        size_t column = (size_t)points[i].x_pt;
        low[column] = fmin(low[column], points[i].y_pt);
        high[column] = fmax(high[column], points[i].y_pt);
    }
    size_t left = thin_path(points, MANY, 1.0);
    ck_assert_uint_le(left, 400);
    for (size_t i = 0; i < left; i++) {
        size_t column = (size_t)points[i].x_pt;
        kept_low[column] = fmin(kept_low[column], points[i].y_pt);
        kept_high[column] = fmax(kept_high[column], points[i].y_pt);
        ck_assert(i == 0 || points[i].x_pt > points[i - 1].x_pt);
    }
    for (int i = 0; i < 100; i++)
        ck_assert(kept_low[i] <= low[i] && kept_high[i] >= high[i]);
}
END_TEST

/* A million points in 10 x 10 squares: one is left of each. */
START_TEST(each_square_keeps_one_dot)
{
    struct canvas_point *points = arena_alloc(arena, MANY, sizeof *points);
    bool is_seen[100] = {false};
    uint64_t seed = 1;
    for (size_t i = 0; i < MANY; i++)
        points[i] =
            (struct canvas_point){5.0 + 1e-5 * (double)check_random_below(&seed, 1000000),
                                  1e-5 * (double)check_random_below(&seed, 1000000)};
    points[0].x_pt = -3.0; /* outside */
    size_t left = thin_dots(points, MANY, (struct canvas_box){5, 0, 10, 10}, 1.0, arena);
    ck_assert_uint_eq(left, 100);
    for (size_t i = 0; i < left; i++) {
        size_t square = 10 * (size_t)points[i].y_pt + (size_t)(points[i].x_pt - 5.0);
        ck_assert(!is_seen[square]);
        is_seen[square] = true;
    }
}
END_TEST

Suite *
thin_suite(void)
{
    Suite *suite = suite_create("thin");
    TCase *tests = tcase_create("thin");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, few_points_stay_as_they_are);
    tcase_add_test(tests, a_path_keeps_the_reach_of_each_column);
    tcase_add_test(tests, each_square_keeps_one_dot);
    suite_add_tcase(suite, tests);
    return suite;
}
