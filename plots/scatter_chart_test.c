/* Do points lie where their numbers put them, and does everything that is said stay readable? */
#include "plots/scatter_chart.h"

#include <check.h>
#include <math.h>
#include <string.h>

#include "plots/chart_csv.h"
#include "plots/check_canvas.h"

Suite *scatter_chart_suite(void);

static struct scatter_chart
small_chart(void)
{
    static const struct scatter_point points[] = {
        {.x = 10e9, .y = 0.5, .label = "quick", .slot = STYLE_FORWARD},
        {.x = 5e9, .y = 1.0, .label = "small", .slot = STYLE_FORWARD},
        {.x = 12e9, .y = 0.9, .is_faint = true}};
    static const struct canvas_point front[] = {{10e9, 0.5}, {10e9, 1.0}, {5e9, 1.0}};
    static const struct scatter_line line = {.points = front, .count = 3};
    return (struct scatter_chart){.title = "Small",
                                  .x = {"memory", "B", LINE_CHART_LINEAR},
                                  .y = {"step", "s", LINE_CHART_LINEAR},
                                  .points = points,
                                  .point_count = 3,
                                  .lines = &line,
                                  .line_count = 1,
                                  .limit = {15e9, "limit"},
                                  .strong_name = "best",
                                  .faint_name = "not"};
}

/* x holds 5 to 15 GB and 8 % of that more: 4.2 to 15.8. The plane is 250 wide from 35 on, so
 * that 10 GB lie in its middle, at 160. y holds 0.5 to 1 s and 18 of its 160 points more: 0.444 to
 * 1.056, so that 0.5 s lie 14.7 above the foot at 226.3. */
static const char small_dump[] = "canvas 300.00 277.30\n"
                                 "text 15.00 25.30 #1A1A1A 11.0 bold 'Small'\n"
                                 "text 26.50 44.30 #1A1A1A 8.0 'best'\n"
                                 "dot 18.75,41.35 2.60 #0072B2\n"
                                 "text 69.30 44.30 #1A1A1A 8.0 'not'\n"
                                 "dot 61.55,41.35 1.50 #BDBDBD\n"
                                 "line 35.00,211.61 285.00,211.61 #DDDDDD 0.50\n"
                                 "line 35.00,185.48 285.00,185.48 #DDDDDD 0.50\n"
                                 "line 35.00,159.36 285.00,159.36 #DDDDDD 0.50\n"
                                 "line 35.00,133.24 285.00,133.24 #DDDDDD 0.50\n"
                                 "line 35.00,107.12 285.00,107.12 #DDDDDD 0.50\n"
                                 "line 35.00,80.99 285.00,80.99 #DDDDDD 0.50\n"
                                 "text 17.28 214.53 #595959 8.0 '0.5'\n"
                                 "text 17.28 188.40 #595959 8.0 '0.6'\n"
                                 "text 17.28 162.28 #595959 8.0 '0.7'\n"
                                 "text 17.28 136.16 #595959 8.0 '0.8'\n"
                                 "text 17.28 110.04 #595959 8.0 '0.9'\n"
                                 "text 17.28 83.91 #595959 8.0 '1.0'\n"
                                 "line 35.00,226.30 285.00,226.30 #595959 0.50\n"
                                 "line 73.79,226.30 73.79,230.30 #595959 0.50\n"
                                 "line 116.90,226.30 116.90,230.30 #595959 0.50\n"
                                 "line 160.00,226.30 160.00,230.30 #595959 0.50\n"
                                 "line 203.10,226.30 203.10,230.30 #595959 0.50\n"
                                 "line 246.21,226.30 246.21,230.30 #595959 0.50\n"
                                 "text 71.25 239.30 #595959 8.0 '6'\n"
                                 "text 114.35 239.30 #595959 8.0 '8'\n"
                                 "text 154.91 239.30 #595959 8.0 '10'\n"
                                 "text 198.01 239.30 #595959 8.0 '12'\n"
                                 "text 241.12 239.30 #595959 8.0 '14'\n"
                                 "text 133.05 251.30 #595959 8.0 'memory (GB)'\n"
                                 "text 15.00 60.30 #595959 8.0 'step (s)'\n"
                                 "dot 203.10,107.12 1.50 #BDBDBD\n"
                                 "curve 160.00,211.61 160.00,80.99 52.24,80.99 #0072B2 1.20\n"
                                 "line 267.76,66.30 267.76,226.30 #1A1A1A 1.20\n"
                                 "dot 160.00,211.61 3.30 #FFFFFF\n"
                                 "dot 160.00,211.61 2.60 #0072B2\n"
                                 "dot 52.24,80.99 3.30 #FFFFFF\n"
                                 "dot 52.24,80.99 2.60 #0072B2\n"
                                 "text 247.86 75.12 #1A1A1A 7.0 'limit'\n"
                                 "text 167.10 213.43 #1A1A1A 7.0 'quick'\n"
                                 "text 57.66 73.89 #1A1A1A 7.0 'small'\n";

START_TEST(a_small_chart_is_drawn_to_scale)
{
    struct scatter_chart chart = small_chart();
    scatter_chart_draw(&chart, &(struct style_page){300, 200, 1}, canvas);
    check_canvas_is(small_dump);
}
END_TEST

START_TEST(its_data_say_what_it_shows)
{
    struct scatter_chart chart = small_chart();
    struct text csv = text_new(arena);
    scatter_chart_csv(&chart, &csv);
    ck_assert_str_eq(csv.bytes, "kind,label,memory (B),step (s),area_part\n"
                                "best,quick,10000000000,0.5,0\n"
                                "best,small,5000000000,1,0\n"
                                "not,,12000000000,0.9,0\n"
                                "line,,10000000000,0.5,\n"
                                "line,,10000000000,1,\n"
                                "line,,5000000000,1,\n"
                                "limit,limit,15000000000,,\n");
}
END_TEST

static struct scatter_point
random_point(uint64_t *seed, bool is_wild)
{
    return (struct scatter_point){
        .x = is_wild ? check_random_value(seed) : check_random_like(seed, 1e9),
        .y = is_wild ? check_random_value(seed) : check_random_like(seed, 0.1),
        .label = check_random_name_or_none(seed, arena),
        .area_part = check_random_below(seed, 2) ? 0.0 : check_random_like(seed, 1.0),
        .is_faint = check_random_below(seed, 3) == 0,
        .slot = check_random_slot(seed)};
}

START_TEST(no_text_overlaps_or_leaves_the_page_whatever_is_drawn)
{
    uint64_t seed = (uint64_t)_i + 1;
    size_t count = check_random_below(&seed, 40), line_count = check_random_below(&seed, 4);
    bool is_wild = check_random_below(&seed, 2);
    struct scatter_point *points = arena_alloc(arena, count + 1, sizeof *points);
    struct scatter_line *lines = arena_alloc(arena, line_count + 1, sizeof *lines);
    for (size_t i = 0; i < count; i++)
        points[i] = random_point(&seed, is_wild);
    for (size_t i = 0; i < line_count; i++) {
        struct canvas_point *ends = arena_alloc(arena, 2, sizeof *ends);
        for (int k = 0; k < 2; k++)
            ends[k] =
                (struct canvas_point){check_random_value(&seed), check_random_value(&seed)};
        lines[i] = (struct scatter_line){.points = ends,
                                         .count = 2,
                                         .label = check_random_name_or_none(&seed, arena),
                                         .is_dashed = is_wild,
                                         .is_quiet = check_random_below(&seed, 2)};
    }
    struct scatter_chart chart = {
        .title = check_random_name(&seed, arena),
        .subtitle = check_random_name_or_none(&seed, arena),
        .footer = check_random_name_or_none(&seed, arena),
        .x = {check_random_name(&seed, arena), "B", (enum line_chart_scale)(_i / 4 % 2)},
        .y = {check_random_name(&seed, arena), "s", (enum line_chart_scale)(_i / 8 % 2)},
        .points = points,
        .point_count = count,
        .lines = lines,
        .line_count = line_count,
        .limit = {check_random_value(&seed), check_random_name_or_none(&seed, arena)},
        .strong_name = check_random_name_or_none(&seed, arena),
        .faint_name = check_random_name_or_none(&seed, arena),
        .area_name = check_random_name_or_none(&seed, arena)};
    scatter_chart_draw(&chart, check_page(_i), canvas);
    check_drawing(canvas, arena);
}
END_TEST

Suite *
scatter_chart_suite(void)
{
    TCase *tests;
    Suite *suite = check_canvas_suite("scatter_chart", &tests);
    tcase_add_test(tests, a_small_chart_is_drawn_to_scale);
    tcase_add_test(tests, its_data_say_what_it_shows);
    tcase_add_loop_test(tests, no_text_overlaps_or_leaves_the_page_whatever_is_drawn, 0,
                        CHECK_TRIES(100));
    return suite;
}
