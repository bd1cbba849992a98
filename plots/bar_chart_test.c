/* Are bars as long as their numbers, and does everything that is said stay readable? */
#include "plots/bar_chart.h"

#include <check.h>
#include <string.h>

#include "plots/chart_csv.h"
#include "plots/check_canvas.h"

Suite *bar_chart_suite(void);

static const struct bar_chart_kind kinds[] = {{"computing", STYLE_FORWARD, 0.0},
                                              {"waiting", STYLE_BUBBLE, 0.0}};

static struct bar_chart
small_chart(void)
{
    static const struct bar_chart_piece quick[] = {{0.3, "300 ms"}, {0.1, NULL}};
    static const struct bar_chart_piece large[] = {{0.2, NULL}, {0.0, NULL}};
    static const struct bar_chart_row rows[] = {
        {.name = "a",
         .pieces = quick,
         .low = 0.35,
         .high = 0.5,
         .text = "400 ms",
         .short_text = "400 ms",
         .side = 50e9,
         .side_limit = 100e9,
         .side_text = "50 GB"},
        {.name = "b",
         .pieces = large,
         .text = "200 ms",
         .short_text = "200 ms",
         .side = 200e9,
         .side_limit = 100e9,
         .side_text = "200 GB",
         .reason = "too large"},
        {.name = "c", .side_limit = 100e9, .reason = "no such plan"}};
    return (struct bar_chart){.title = "Small",
                              .main = {"step", "s"},
                              .side = {"memory", "B"},
                              .limit_name = "limit",
                              .kinds = kinds,
                              .kind_count = 2,
                              .rows = rows,
                              .row_count = 3};
}

/* Bars begin right of the widest name and a gap of 10: at 30.08. The other quantity takes 28 % of
 * the content, 131.6 of 470, a gap of 20 before it, and the widest text 34.77: 268.55 are left for
 * the 500 ms that the interval reaches to, so that 300 ms are 161.13 wide. */
static const char small_dump[] = "canvas 500.00 230.20\n"
                                 "text 15.00 29.20 #1A1A1A 14.0 bold 'Small'\n"
                                 "text 26.50 48.20 #1A1A1A 8.0 'computing'\n"
                                 "fill 15.00 41.50 7.50 7.50 #0072B2\n"
                                 "text 94.74 48.20 #1A1A1A 8.0 'waiting'\n"
                                 "fill 83.24 41.50 7.50 7.50 #EDEDED\n"
                                 "hatch 83.24 41.50 7.50 7.50 #BDBDBD\n"
                                 "text 149.42 48.20 #1A1A1A 8.0 'cannot be run'\n"
                                 "outline 137.92 41.50 7.50 7.50 #595959 0.80\n"
                                 "line 30.08,82.20 30.08,183.20 #DDDDDD 0.50\n"
                                 "line 83.79,82.20 83.79,183.20 #DDDDDD 0.50\n"
                                 "line 137.50,82.20 137.50,183.20 #DDDDDD 0.50\n"
                                 "line 191.21,82.20 191.21,183.20 #DDDDDD 0.50\n"
                                 "line 244.92,82.20 244.92,183.20 #DDDDDD 0.50\n"
                                 "line 298.63,82.20 298.63,183.20 #DDDDDD 0.50\n"
                                 "line 30.08,183.20 298.63,183.20 #595959 0.50\n"
                                 "line 30.08,183.20 30.08,187.20 #595959 0.50\n"
                                 "line 83.79,183.20 83.79,187.20 #595959 0.50\n"
                                 "line 137.50,183.20 137.50,187.20 #595959 0.50\n"
                                 "line 191.21,183.20 191.21,187.20 #595959 0.50\n"
                                 "line 244.92,183.20 244.92,187.20 #595959 0.50\n"
                                 "line 298.63,183.20 298.63,187.20 #595959 0.50\n"
                                 "text 27.53 196.20 #595959 8.0 '0'\n"
                                 "text 76.15 196.20 #595959 8.0 '100'\n"
                                 "text 129.86 196.20 #595959 8.0 '200'\n"
                                 "text 183.57 196.20 #595959 8.0 '300'\n"
                                 "text 237.28 196.20 #595959 8.0 '400'\n"
                                 "text 290.99 196.20 #595959 8.0 '500'\n"
                                 "text 145.33 208.20 #595959 8.0 'step (ms)'\n"
                                 "line 353.40,82.20 353.40,183.20 #DDDDDD 0.50\n"
                                 "line 401.95,82.20 401.95,183.20 #DDDDDD 0.50\n"
                                 "line 450.50,82.20 450.50,183.20 #DDDDDD 0.50\n"
                                 "line 353.40,183.20 450.50,183.20 #595959 0.50\n"
                                 "line 353.40,183.20 353.40,187.20 #595959 0.50\n"
                                 "line 401.95,183.20 401.95,187.20 #595959 0.50\n"
                                 "line 450.50,183.20 450.50,187.20 #595959 0.50\n"
                                 "text 350.86 196.20 #595959 8.0 '0'\n"
                                 "text 394.32 196.20 #595959 8.0 '100'\n"
                                 "text 442.87 196.20 #595959 8.0 '200'\n"
                                 "text 375.00 208.20 #595959 8.0 'memory (GB)'\n"
                                 "line 401.95,82.20 401.95,183.20 #1A1A1A 1.20\n"
                                 "text 394.25 78.20 #595959 7.0 'limit'\n"
                                 "text 15.00 100.12 #1A1A1A 8.0 'a'\n"
                                 "fill 30.08 88.20 161.13 18.00 #0072B2\n"
                                 "text 97.62 99.75 #FFFFFF 7.0 '300 ms'\n"
                                 "fill 191.21 88.20 53.71 18.00 #EDEDED\n"
                                 "hatch 191.21 88.20 53.71 18.00 #BDBDBD\n"
                                 "line 218.06,97.20 298.63,97.20 #1A1A1A 1.00\n"
                                 "line 218.06,93.20 218.06,101.20 #1A1A1A 1.00\n"
                                 "line 298.63,93.20 298.63,101.20 #1A1A1A 1.00\n"
                                 "text 303.63 100.12 #1A1A1A 8.0 '400 ms'\n"
                                 "fill 353.40 88.20 24.27 18.00 #BDBDBD\n"
                                 "text 406.95 100.12 #1A1A1A 8.0 '50 GB'\n"
                                 "text 15.00 130.12 #1A1A1A 8.0 'b'\n"
                                 "outline 30.08 118.20 107.42 18.00 #595959 0.80\n"
                                 "text 142.50 130.12 #1A1A1A 8.0 '200 ms'\n"
                                 "outline 353.40 118.20 97.10 18.00 #595959 0.80\n"
                                 "text 455.50 130.12 #1A1A1A 8.0 '200 GB'\n"
                                 "text 33.08 146.20 #595959 7.0 'too large'\n"
                                 "text 15.00 171.12 #1A1A1A 8.0 'c'\n"
                                 "text 33.08 170.70 #595959 7.0 'no such plan'\n";

START_TEST(a_small_chart_is_drawn_to_scale)
{
    struct bar_chart chart = small_chart();
    bar_chart_draw(&chart, &(struct style_page){500, 200, 1}, canvas);
    check_canvas_is(small_dump);
}
END_TEST

/* What cannot be run and has no numbers has no hollow bar either that the legend could name. */
START_TEST(the_legend_names_hollow_bars_that_there_are)
{
    struct bar_chart chart = small_chart();
    struct text dump = text_new(arena);
    chart.rows += 2;
    chart.row_count = 1;
    bar_chart_draw(&chart, &(struct style_page){500, 200, 1}, canvas);
    canvas_dump(canvas, &dump);
    ck_assert_ptr_nonnull(strstr(dump.bytes, "no such plan"));
    ck_assert_ptr_null(strstr(dump.bytes, "cannot be run"));
}
END_TEST

START_TEST(its_data_say_what_it_shows)
{
    struct bar_chart chart = small_chart();
    struct text csv = text_new(arena);
    bar_chart_csv(&chart, &csv);
    ck_assert_str_eq(csv.bytes,
                     "row,computing (s),waiting (s),step (s),low (s),high (s),memory "
                     "(B),limit (B),reason\n"
                     "a,0.3,0.1,0.4,0.35,0.5,50000000000,100000000000,\n"
                     "b,0.2,0,0.2,,,200000000000,100000000000,too large\n"
                     "c,,,,,,,100000000000,no such plan\n");
}
END_TEST

static struct bar_chart_row
random_row(uint64_t *seed, size_t kind_count)
{
    struct bar_chart_piece *pieces = arena_alloc(arena, kind_count + 1, sizeof *pieces);
    bool likes = check_random_below(seed, 2);
    for (size_t i = 0; i < kind_count; i++)
        pieces[i] = (struct bar_chart_piece){likes ? check_random_like(seed, 0.1)
                                                   : check_random_value(seed),
                                             check_random_name_or_none(seed, arena)};
    return (struct bar_chart_row){
        .name = check_random_name(seed, arena),
        .pieces = check_random_below(seed, 5) ? pieces : NULL,
        .low = check_random_value(seed),
        .high = likes ? check_random_like(seed, 0.1) : check_random_value(seed),
        .text = check_random_name_or_none(seed, arena),
        .short_text = check_random_name_or_none(seed, arena),
        .side = likes ? check_random_like(seed, 2e11) : check_random_value(seed),
        .side_limit = check_random_below(seed, 2) ? 192e9 : check_random_value(seed),
        .side_text = check_random_name_or_none(seed, arena),
        .reason = check_random_below(seed, 3) ? NULL : check_random_name(seed, arena)};
}

START_TEST(no_text_overlaps_or_leaves_the_page_whatever_is_drawn)
{
    uint64_t seed = (uint64_t)_i + 1;
    size_t kind_count = check_random_below(&seed, 6), row_count = check_random_below(&seed, 20);
    struct bar_chart_kind *random_kinds =
        arena_alloc(arena, kind_count + 1, sizeof *random_kinds);
    struct bar_chart_row *rows = arena_alloc(arena, row_count + 1, sizeof *rows);
    for (size_t i = 0; i < kind_count; i++)
        random_kinds[i] = (struct bar_chart_kind){check_random_name(&seed, arena),
                                                  check_random_slot(&seed), 0.0};
    for (size_t i = 0; i < row_count; i++)
        rows[i] = random_row(&seed, kind_count);
    struct bar_chart chart = {.title = check_random_name(&seed, arena),
                              .subtitle = check_random_name_or_none(&seed, arena),
                              .footer = check_random_name_or_none(&seed, arena),
                              .main = {check_random_name(&seed, arena), "s"},
                              .side = {check_random_name_or_none(&seed, arena), "B"},
                              .limit_name = check_random_name_or_none(&seed, arena),
                              .kinds = random_kinds,
                              .kind_count = kind_count,
                              .rows = rows,
                              .row_count = row_count};
    bar_chart_draw(&chart, check_page(_i), canvas);
    check_drawing(canvas, arena);
}
END_TEST

Suite *
bar_chart_suite(void)
{
    TCase *tests;
    Suite *suite = check_canvas_suite("bar_chart", &tests);
    tcase_add_test(tests, a_small_chart_is_drawn_to_scale);
    tcase_add_test(tests, the_legend_names_hollow_bars_that_there_are);
    tcase_add_test(tests, its_data_say_what_it_shows);
    tcase_add_loop_test(tests, no_text_overlaps_or_leaves_the_page_whatever_is_drawn, 0,
                        CHECK_TRIES(100));
    return suite;
}
