/* Does what is left look like what was there? */
#include "plots/thin.h"

#include <check.h>
#include <math.h>

#include "plots/check_random.h"
#include "sim/base/check_arena.h"
#include "sim/base/check_near.h"

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
    ck_assert_uint_eq(thin_path(points, 3, 1.0, THIN_LINE), 3);
    ck_assert_uint_eq(thin_dots(points, 3, (struct canvas_box){0, 0, 1, 1}, 1.0, arena), 3);
}
END_TEST

/* A million points over 100 columns: two of each, and none higher or lower than the path was. */
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
    size_t left = thin_path(points, MANY, 1.0, THIN_LINE);
    ck_assert_uint_eq(left, 200);
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

/* Of the upper edge of an area a column keeps its highest point: the least y. */
START_TEST(an_edge_keeps_the_outer_reach_of_each_column)
{
    struct canvas_point *upper = arena_alloc(arena, MANY, sizeof *upper);
    struct canvas_point *lower = arena_alloc(arena, MANY, sizeof *lower);
    for (size_t i = 0; i < MANY; i++) /* each column has every y from 0 to 36 */
        upper[i] = lower[i] =
            (struct canvas_point){10.0 * (double)i / MANY, (double)(i * 7 % 37)};
    ck_assert_uint_eq(thin_path(upper, MANY, 1.0, THIN_UPPER), 10);
    ck_assert_uint_eq(thin_path(lower, MANY, 1.0, THIN_LOWER), 10);
    for (size_t i = 0; i < 10; i++) {
        CHECK_NEAR(upper[i].y_pt, 0.0, 1e-12);
        CHECK_NEAR(lower[i].y_pt, 36.0, 1e-12);
        ck_assert_int_eq((int)upper[i].x_pt, (int)i);
    }
}
END_TEST

/* In columns of few points the path is kept as it goes: first, lowest, highest, last. */
START_TEST(a_column_of_few_keeps_its_ends)
{
    enum { POINTS = 4096 }; /* 512 columns of 8 points: 5 3 9 1 6 6 6 7 */
    static const double heights[] = {5, 3, 9, 1, 6, 6, 6, 7}, kept[] = {5, 9, 1, 7};
    struct canvas_point *points = arena_alloc(arena, POINTS, sizeof *points);
    for (size_t i = 0; i < POINTS; i++) {
        size_t column = i / 8, place = i % 8;
        points[i] = (struct canvas_point){(double)column + 0.1 * (double)place, heights[place]};
    }
    ck_assert_uint_eq(thin_path(points, POINTS, 1.0, THIN_LINE), POINTS / 2);
    for (size_t i = 0; i < POINTS / 2; i++)
        CHECK_NEAR(points[i].y_pt, kept[i % 4], 1e-12);
}
END_TEST

/* A million discs in 10 x 5 squares, a million rings in all 10 x 10: no ring beneath a disc. */
START_TEST(no_dot_is_left_beneath_another)
{
    struct thin_dots discs = {arena_alloc(arena, MANY, sizeof(struct canvas_point)), MANY};
    struct thin_dots rings = {arena_alloc(arena, MANY, sizeof(struct canvas_point)), MANY};
    uint64_t seed = 1;
    for (size_t i = 0; i < MANY; i++) {
        discs.points[i] =
            (struct canvas_point){1e-5 * (double)check_random_below(&seed, 1000000),
                                  5e-6 * (double)check_random_below(&seed, 1000000)};
        rings.points[i] =
            (struct canvas_point){1e-5 * (double)check_random_below(&seed, 1000000),
                                  1e-5 * (double)check_random_below(&seed, 1000000)};
    }
    thin_dots_beneath(&discs, &rings, (struct canvas_box){0, 0, 10, 10}, 1.0, arena);
    ck_assert_uint_eq(discs.count, 50);
    ck_assert_uint_eq(rings.count, 50);
    for (size_t i = 0; i < rings.count; i++)
        ck_assert(rings.points[i].y_pt >= 5.0);
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
    tcase_add_test(tests, an_edge_keeps_the_outer_reach_of_each_column);
    tcase_add_test(tests, a_column_of_few_keeps_its_ends);
    tcase_add_test(tests, each_square_keeps_one_dot);
    tcase_add_test(tests, no_dot_is_left_beneath_another);
    suite_add_tcase(suite, tests);
    return suite;
}
