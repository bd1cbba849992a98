/* Is what is said to be free free, and what lies far from all marks said to be free? */
#include "plots/coverage.h"

#include <check.h>
#include <math.h>

#include "plots/check_random.h"
#include "sim/base/check_suite.h"

Suite *coverage_suite(void);

/* Cells of 1 pt: a box from 10.5 to 12.5 covers those from 10 to 13. */
START_TEST(marks_are_rounded_outwards_to_cells)
{
    struct coverage *coverage = coverage_new(arena, (struct canvas_box){0, 0, 100, 50});
    ck_assert(coverage_is_free(coverage, (struct canvas_box){0, 0, 100, 50}));
    coverage_add_box(coverage, (struct canvas_box){10.5, 10.5, 2, 2});
    ck_assert(!coverage_is_free(coverage, (struct canvas_box){10.1, 10.1, 0.2, 0.2}));
    ck_assert(!coverage_is_free(coverage, (struct canvas_box){12.8, 12.8, 5, 5}));
    ck_assert(coverage_is_free(coverage, (struct canvas_box){13.1, 10.5, 5, 5}));
    ck_assert(coverage_is_free(coverage, (struct canvas_box){10.5, 8.5, 5, 1.4}));
}
END_TEST

START_TEST(what_lies_outside_counts_for_nothing)
{
    struct coverage *coverage = coverage_new(arena, (struct canvas_box){50, 50, 100, 50});
    coverage_add_box(coverage, (struct canvas_box){0, 0, 40, 40});
    coverage_add_disc(coverage, (struct canvas_point){200, 75}, 10);
    ck_assert(coverage_is_free(coverage, (struct canvas_box){50, 50, 100, 50}));
    ck_assert(coverage_is_free(coverage, (struct canvas_box){0, 0, 10, 10}));
}
END_TEST

static double
distance(struct canvas_point a, struct canvas_point b)
{
    return hypot(a.x_pt - b.x_pt, a.y_pt - b.y_pt);
}

/* Discs and a line anywhere, asked at single points: within a mark nothing is free, farther from
 * all than a cell's diagonal and a step of the line (2 pt) all is. */
START_TEST(it_agrees_with_distances)
{
    enum { DISCS = 20, POINTS = 500 };
    uint64_t seed = (uint64_t)_i + 1;
    struct coverage *coverage = coverage_new(arena, (struct canvas_box){0, 0, 300, 200});
    struct canvas_point centres[DISCS], ends[2];
    double radii[DISCS];
    for (int i = 0; i < DISCS; i++) {
        centres[i] =
            (struct canvas_point){check_random_like(&seed, 280), check_random_like(&seed, 180)};
        radii[i] = check_random_like(&seed, 12);
        coverage_add_disc(coverage, centres[i], radii[i]);
    }
    for (int i = 0; i < 2; i++)
        ends[i] =
            (struct canvas_point){check_random_like(&seed, 280), check_random_like(&seed, 180)};
    coverage_add_path(coverage, (struct canvas_path){ends, 2});
    for (int i = 0; i < POINTS; i++) {
        struct canvas_point at = {check_random_like(&seed, 280), check_random_like(&seed, 180)};
        double off = distance(at, ends[0]) + distance(at, ends[1]) - distance(ends[0], ends[1]);
        double nearest = INFINITY;
        for (int k = 0; k < DISCS; k++)
            nearest = fmin(nearest, distance(at, centres[k]) - radii[k]);
        bool is_free = coverage_is_free(coverage, (struct canvas_box){at.x_pt, at.y_pt, 0, 0});
        if (nearest < 0.0 || off < 1e-9)
            ck_assert(!is_free);
        if (nearest > 2.0 && off > 4.0)
            ck_assert(is_free);
    }
}
END_TEST

Suite *
coverage_suite(void)
{
    TCase *tests;
    Suite *suite = check_suite_new("coverage", &tests);
    tcase_add_test(tests, marks_are_rounded_outwards_to_cells);
    tcase_add_test(tests, what_lies_outside_counts_for_nothing);
    tcase_add_loop_test(tests, it_agrees_with_distances, 0, 40);
    return suite;
}
