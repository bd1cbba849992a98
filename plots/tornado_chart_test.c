/* Do bars go the way and as far as their numbers, and is everything that is said readable? */
#include "plots/tornado_chart.h"

#include <check.h>
#include <string.h>

#include "plots/chart_csv.h"
#include "plots/check_canvas.h"

Suite *tornado_chart_suite(void);

static struct tornado_chart
small_chart(void)
{
    static const struct tornado_row rows[] = {{"rate", -0.02, 0.03, "-20 ms", "+30 ms"},
                                              {"launch", 0.0, 0.0, "0 s", "0 s"}};
    return (struct tornado_chart){.title = "Small",
                                  .x_name = "difference",
                                  .x_unit = "s",
                                  .better = "better",
                                  .worse = "worse",
                                  .rows = rows,
                                  .row_count = 2};
}

/* The bars' column begins right of the wider name (launch) and 12, and of the widest text
 * (-20 ms) and 4, and ends as much before the margin: 364.31 for 50 ms, 145.72 for 20. */
static const char small_dump[] = "canvas 500.00 155.20\n"
                                 "text 15.00 29.20 #1A1A1A 14.0 bold 'Small'\n"
                                 "text 26.50 48.20 #1A1A1A 8.0 'better'\n"
                                 "fill 15.00 41.50 7.50 7.50 #0072B2\n"
                                 "text 76.48 48.20 #1A1A1A 8.0 'worse'\n"
                                 "fill 64.98 41.50 7.50 7.50 #666666\n"
                                 "line 85.30,56.20 85.30,108.20 #DDDDDD 0.50\n"
                                 "line 158.17,56.20 158.17,108.20 #DDDDDD 0.50\n"
                                 "line 231.03,56.20 231.03,108.20 #DDDDDD 0.50\n"
                                 "line 303.89,56.20 303.89,108.20 #DDDDDD 0.50\n"
                                 "line 376.75,56.20 376.75,108.20 #DDDDDD 0.50\n"
                                 "line 449.61,56.20 449.61,108.20 #DDDDDD 0.50\n"
                                 "line 85.30,108.20 449.61,108.20 #595959 0.50\n"
                                 "line 85.30,108.20 85.30,112.20 #595959 0.50\n"
                                 "line 158.17,108.20 158.17,112.20 #595959 0.50\n"
                                 "line 231.03,108.20 231.03,112.20 #595959 0.50\n"
                                 "line 303.89,108.20 303.89,112.20 #595959 0.50\n"
                                 "line 376.75,108.20 376.75,112.20 #595959 0.50\n"
                                 "line 449.61,108.20 449.61,112.20 #595959 0.50\n"
                                 "text 78.77 121.20 #595959 8.0 '-20'\n"
                                 "text 151.63 121.20 #595959 8.0 '-10'\n"
                                 "text 228.48 121.20 #595959 8.0 '0'\n"
                                 "text 298.80 121.20 #595959 8.0 '10'\n"
                                 "text 371.66 121.20 #595959 8.0 '20'\n"
                                 "text 444.52 121.20 #595959 8.0 '30'\n"
                                 "text 237.01 133.20 #595959 8.0 'difference (ms)'\n"
                                 "text 15.00 72.12 #1A1A1A 8.0 'rate'\n"
                                 "fill 231.03 61.20 218.59 16.00 #666666\n"
                                 "fill 85.30 61.20 145.72 16.00 #0072B2\n"
                                 "text 53.73 72.12 #1A1A1A 8.0 '-20 ms'\n"
                                 "text 453.61 72.12 #1A1A1A 8.0 '+30 ms'\n"
                                 "text 15.00 98.12 #1A1A1A 8.0 'launch'\n"
                                 "text 215.23 98.12 #1A1A1A 8.0 '0 s'\n"
                                 "text 235.03 98.12 #1A1A1A 8.0 '0 s'\n"
                                 "line 231.03,56.20 231.03,82.20 #1A1A1A 1.00\n"
                                 "line 231.03,82.20 231.03,108.20 #1A1A1A 1.00\n";

START_TEST(a_small_chart_is_drawn_to_scale)
{
    struct tornado_chart chart = small_chart();
    tornado_chart_draw(&chart, &(struct style_page){500, 200, 1}, canvas);
    check_canvas_is(small_dump);
}
END_TEST

START_TEST(its_data_say_what_it_shows)
{
    struct tornado_chart chart = small_chart();
    struct text csv = text_new(arena);
    tornado_chart_csv(&chart, &csv);
    ck_assert_str_eq(csv.bytes, "row,better (s),worse (s)\nrate,-0.02,0.03\nlaunch,0,0\n");
}
END_TEST

static double
random_difference(uint64_t *seed, bool is_wild)
{
    double size = is_wild ? check_random_value(seed) : check_random_like(seed, 1e-3);
    return check_random_below(seed, 2) ? -size : size;
}

START_TEST(no_text_overlaps_or_leaves_the_page_whatever_is_drawn)
{
    uint64_t seed = (uint64_t)_i + 1;
    size_t count = check_random_below(&seed, 20);
    bool is_wild = check_random_below(&seed, 2);
    struct tornado_row *rows = arena_alloc(arena, count + 1, sizeof *rows);
    for (size_t i = 0; i < count; i++)
        rows[i] = (struct tornado_row){
            check_random_name(&seed, arena), random_difference(&seed, is_wild),
            random_difference(&seed, is_wild), check_random_name_or_none(&seed, arena),
            check_random_name_or_none(&seed, arena)};
    struct tornado_chart chart = {.title = check_random_name(&seed, arena),
                                  .subtitle = check_random_name_or_none(&seed, arena),
                                  .footer = check_random_name_or_none(&seed, arena),
                                  .x_name = check_random_name(&seed, arena),
                                  .x_unit = "s",
                                  .better = check_random_name(&seed, arena),
                                  .worse = check_random_name(&seed, arena),
                                  .rows = rows,
                                  .row_count = count};
    tornado_chart_draw(&chart, check_page(_i), canvas);
    check_drawing(canvas, arena);
}
END_TEST

Suite *
tornado_chart_suite(void)
{
    TCase *tests;
    Suite *suite = check_canvas_suite("tornado_chart", &tests);
    tcase_add_test(tests, a_small_chart_is_drawn_to_scale);
    tcase_add_test(tests, its_data_say_what_it_shows);
    tcase_add_loop_test(tests, no_text_overlaps_or_leaves_the_page_whatever_is_drawn, 0,
                        CHECK_TRIES(80));
    return suite;
}
