/* Does what is left look like what was there? */
#include "plots/thin.h"

#include <check.h>
#include <math.h>

#include "plots/check_random.h"
#include "sim/base/check_near.h"
#include "sim/base/check_suite.h"

Suite *thin_suite(void);

enum { MANY = 1000000 };

/* Of a path, at a pitch of 1. */
static struct canvas_path
thinned(const struct canvas_point *points, size_t count, enum thin_side side)
{
    struct thin_path path = thin_path_new(side, count, 1.0, arena);
    for (size_t i = 0; i < count; i++)
        thin_path_add(&path, points[i]);
    return thin_path_end(&path);
}

START_TEST(few_points_stay_as_they_are)
{
    struct canvas_point points[] = {{0, 1}, {0, 1}, {0, 2}};
    struct canvas_path path = thinned(points, 3, THIN_LINE);
    ck_assert_uint_eq(path.count, 3);
    ck_assert_mem_eq(path.points, points, sizeof points);
    ck_assert_uint_eq(thinned(points, 0, THIN_LINE).count, 0);
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
    struct canvas_path left = thinned(points, MANY, THIN_LINE);
    ck_assert_uint_eq(left.count, 200);
    for (size_t i = 0; i < left.count; i++) {
        size_t column = (size_t)left.points[i].x_pt;
        kept_low[column] = fmin(kept_low[column], left.points[i].y_pt);
        kept_high[column] = fmax(kept_high[column], left.points[i].y_pt);
        ck_assert(i == 0 || left.points[i].x_pt > left.points[i - 1].x_pt);
    }
    for (int i = 0; i < 100; i++)
        ck_assert(kept_low[i] <= low[i] && kept_high[i] >= high[i]);
}
END_TEST

/* Of the upper edge of an area a column keeps its highest point: the least y. */
START_TEST(an_edge_keeps_the_outer_reach_of_each_column)
{
    struct canvas_point *points = arena_alloc(arena, MANY, sizeof *points);
    for (size_t i = 0; i < MANY; i++) /* each column has every y from 0 to 36 */
        points[i] = (struct canvas_point){10.0 * (double)i / MANY, (double)(i * 7 % 37)};
    struct canvas_path upper = thinned(points, MANY, THIN_UPPER);
    struct canvas_path lower = thinned(points, MANY, THIN_LOWER);
    ck_assert_uint_eq(upper.count, 10);
    ck_assert_uint_eq(lower.count, 10);
    for (size_t i = 0; i < 10; i++) {
        CHECK_NEAR(upper.points[i].y_pt, 0.0, 1e-12);
        CHECK_NEAR(lower.points[i].y_pt, 36.0, 1e-12);
        ck_assert_int_eq((int)upper.points[i].x_pt, (int)i);
    }
}
END_TEST

/* The edges of a level area keep a point of each column, too. */
START_TEST(a_level_edge_is_kept)
{
    struct canvas_point *points = arena_alloc(arena, MANY, sizeof *points);
    for (size_t i = 0; i < MANY; i++)
        points[i] = (struct canvas_point){10.0 * (double)i / MANY, 5.0};
    ck_assert_uint_eq(thinned(points, MANY, THIN_UPPER).count, 10);
    ck_assert_uint_eq(thinned(points, MANY, THIN_LOWER).count, 10);
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
    struct canvas_path left = thinned(points, POINTS, THIN_LINE);
    ck_assert_uint_eq(left.count, POINTS / 2);
    for (size_t i = 0; i < left.count; i++)
        CHECK_NEAR(left.points[i].y_pt, kept[i % 4], 1e-12);
}
END_TEST

/* A million discs in 10 x 5 squares, a million rings in all 10 x 10: no ring beneath a disc. */
START_TEST(no_dot_is_left_beneath_another)
{
    struct thin_dots discs = {arena_alloc(arena, MANY, sizeof(struct canvas_point)), MANY,
                              MANY};
    struct thin_dots rings = {arena_alloc(arena, MANY, sizeof(struct canvas_point)), MANY,
                              MANY};
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
    TCase *tests;
    Suite *suite = check_suite_new("thin", &tests);
    tcase_add_test(tests, few_points_stay_as_they_are);
    tcase_add_test(tests, a_path_keeps_the_reach_of_each_column);
    tcase_add_test(tests, an_edge_keeps_the_outer_reach_of_each_column);
    tcase_add_test(tests, a_level_edge_is_kept);
    tcase_add_test(tests, a_column_of_few_keeps_its_ends);
    tcase_add_test(tests, each_square_keeps_one_dot);
    tcase_add_test(tests, no_dot_is_left_beneath_another);
    return suite;
}
