/* Does a row of dots show every colour for as long as it ran? */
#include "plots/columns.h"

#include <check.h>
#include <math.h>

#include "sim/base/check_suite.h"

Suite *columns_suite(void);

/* Columns of 10 ps. The edge at 18 rounds to 20, that at 31 to 30, the gap stays. */
START_TEST(wide_spans_keep_their_edges_to_the_nearest_column)
{
    const struct columns_window window = {0, 60, 6};
    const struct columns_span spans[] = {{0, 18, 1}, {18, 31, 2}, {40, 60, 1}};
    size_t count = 0;
    const struct columns_run *runs = columns_merge(arena, &window, spans, 3, &count);
    ck_assert_uint_eq(count, 3);
    ck_assert(runs[0].first == 0 && runs[0].last == 2 && runs[0].ink == 1);
    ck_assert(runs[1].first == 2 && runs[1].last == 3 && runs[1].ink == 2);
    ck_assert(runs[2].first == 4 && runs[2].last == 6 && runs[2].ink == 1);
}
END_TEST

/* Ten of 3 ps in ink 1 and 1 ps in ink 2, two in each column of 8 ps: of 5 columns ink 1 is owed
 * 3.75 and ink 2 1.25. The plain majority would never show ink 2. */
START_TEST(a_thin_colour_is_shown_for_its_share)
{
    const struct columns_window window = {0, 40, 5};
    struct columns_span spans[20];
    for (int64_t i = 0; i < 10; i++) {
        spans[2 * i] = (struct columns_span){4 * i, 4 * i + 3, 1};
        spans[2 * i + 1] = (struct columns_span){4 * i + 3, 4 * i + 4, 2};
    }
    size_t count = 0, columns[3] = {0};
    const struct columns_run *runs = columns_merge(arena, &window, spans, 20, &count);
    for (size_t i = 0; i < count; i++)
        columns[runs[i].ink] += runs[i].last - runs[i].first;
    ck_assert_uint_eq(columns[1], 4);
    ck_assert_uint_eq(columns[2], 1);
}
END_TEST

/* The later of two that overlap is cut; one before or beyond the window does not show. */
START_TEST(overlaps_and_strangers_are_cut)
{
    const struct columns_window window = {100, 140, 4};
    const struct columns_span spans[] = {
        {0, 90, 3}, {95, 120, 1}, {110, 130, 2}, {150, 160, 3}};
    size_t count = 0;
    const struct columns_run *runs = columns_merge(arena, &window, spans, 4, &count);
    ck_assert_uint_eq(count, 2);
    ck_assert(runs[0].first == 0 && runs[0].last == 2 && runs[0].ink == 1);
    ck_assert(runs[1].first == 2 && runs[1].last == 3 && runs[1].ink == 2);
}
END_TEST

/* Random rows, from spans far thinner than a column to far wider. */
START_TEST(every_ink_keeps_its_area_within_two_columns)
{
    enum { SPANS = 4000, INKS = 6 };
    struct columns_span *spans = arena_alloc(arena, SPANS, sizeof *spans);
    unsigned long long seed = 20261120;
    int64_t at_ps = 0;
    double total_ps[INKS] = {0};
    for (int i = 0; i < SPANS; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        unsigned draw = (unsigned)(seed >> 33);
        int64_t start = at_ps + (draw % 3 == 0 ? (int64_t)(draw >> 4) % 60 : 0);
        int64_t length = (draw % 50 == 1 ? 3000 : 20) + (int64_t)(draw >> 8) % 100;
        unsigned ink = 1 + (draw >> 16) % (INKS - 1);
        spans[i] = (struct columns_span){start, start + length, ink};
        total_ps[ink] += (double)length;
        at_ps = start + length;
    }
    const struct columns_window window = {0, at_ps, 700};
    size_t count = 0, columns[INKS] = {0};
    const struct columns_run *runs = columns_merge(arena, &window, spans, SPANS, &count);
    for (size_t i = 0; i < count; i++)
        columns[runs[i].ink] += runs[i].last - runs[i].first;
    for (int ink = 1; ink < INKS; ink++) {
        double wanted = total_ps[ink] * 700.0 / (double)at_ps;
        ck_assert_msg(fabs((double)columns[ink] - wanted) <= 2.0, "ink %d: %zu of %.2f", ink,
                      columns[ink], wanted);
    }
}
END_TEST

Suite *
columns_suite(void)
{
    TCase *tests;
    Suite *suite = check_suite_new("columns", &tests);
    tcase_add_test(tests, wide_spans_keep_their_edges_to_the_nearest_column);
    tcase_add_test(tests, a_thin_colour_is_shown_for_its_share);
    tcase_add_test(tests, overlaps_and_strangers_are_cut);
    tcase_add_test(tests, every_ink_keeps_its_area_within_two_columns);
    return suite;
}
