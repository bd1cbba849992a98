/* Are ratios where they belong, and are small panels readable, few or many? */
#include "plots/ratio_chart.h"

#include <check.h>
#include <math.h>
#include <string.h>

#include "plots/check_canvas.h"

Suite *ratio_chart_suite(void);

static struct ratio_chart
chart_of(const struct ratio_chart_section *sections, size_t count)
{
    return (struct ratio_chart){.title = "Small",
                                .x_name = "measured time",
                                .x_unit = "s",
                                .band_fraction = 0.1,
                                .strong_name = "held out",
                                .faint_name = "seen",
                                .band_name = "within 10 %",
                                .median_name = "median",
                                .sections = sections,
                                .section_count = count};
}

static const char *
dump_of(const struct ratio_chart *chart, struct style_page page)
{
    struct text dump = text_new(arena);
    ratio_chart_draw(chart, &page, canvas);
    canvas_dump(canvas, &dump);
    return dump.bytes;
}

static void
check_has(const char *dump, const char *line)
{
    ck_assert_msg(strstr(dump, line) != NULL, "no \"%s\" in\n%s", line, dump);
}

/* A page of 300 x 300; ratios of 1 and 1.2 fit the scale of 1.25. The box goes from 37.81 to 285
 * and from 76.30 to 245. Truths of 1 and 100 have 15 % of room at each end: the scale is
 * ln(132.25) long, and 1 lies ln(1.15) / ln(132.25) = 0.0286 of 247.19 from the left, at 44.89. A
 * ratio of 1 is in the middle, at 160.65; 1.2 is ln(1.2) / (2 ln(1.25)) = 0.4085 of 168.70 above,
 * at 91.73; 0.9, the band's foot, ln(0.9) / (2 ln(1.25)) = 0.2361 below, at 200.48. */
static const char small_dump[] = "canvas 300.00 300.00\n"
                                 "text 15.00 25.30 #1A1A1A 11.0 bold 'Small'\n"
                                 "text 26.50 44.30 #1A1A1A 8.0 'held out'\n"
                                 "dot 18.75,41.35 2.00 #0072B2\n"
                                 "text 84.94 44.30 #1A1A1A 8.0 'seen'\n"
                                 "dot 77.19,41.35 2.00 #BDBDBD\n"
                                 "text 129.52 44.30 #1A1A1A 8.0 'median'\n"
                                 "line 118.02,41.35 125.52,41.35 #1A1A1A 1.10\n"
                                 "text 185.01 44.30 #1A1A1A 8.0 'within 10 %'\n"
                                 "fill 173.51 37.60 7.50 7.50 #EAEAEA\n"
                                 "text 37.81 61.80 #1A1A1A 8.0 bold 'gemm'\n"
                                 "text 37.81 71.30 #595959 7.0 'n 2'\n"
                                 "fill 37.81 124.62 247.19 75.86 #EAEAEA\n"
                                 "line 37.81,245.00 285.00,245.00 #DDDDDD 0.50\n"
                                 "line 37.81,196.68 285.00,196.68 #DDDDDD 0.50\n"
                                 "line 37.81,160.65 285.00,160.65 #DDDDDD 0.50\n"
                                 "line 37.81,124.62 285.00,124.62 #DDDDDD 0.50\n"
                                 "line 37.81,76.30 285.00,76.30 #DDDDDD 0.50\n"
                                 "line 37.81,160.65 285.00,160.65 #595959 0.75\n"
                                 "dot 44.89,160.65 1.10 #BDBDBD\n"
                                 "dot 277.93,91.73 1.50 #0072B2\n"
                                 "text 20.09 247.92 #595959 8.0 '0.8'\n"
                                 "text 15.00 199.60 #595959 8.0 '0.91'\n"
                                 "text 27.72 163.57 #595959 8.0 '1'\n"
                                 "text 20.09 127.54 #595959 8.0 '1.1'\n"
                                 "text 15.00 79.22 #595959 8.0 '1.25'\n"
                                 "line 37.81,245.00 285.00,245.00 #595959 0.50\n"
                                 "line 44.89,245.00 44.89,249.00 #595959 0.50\n"
                                 "line 161.41,245.00 161.41,249.00 #595959 0.50\n"
                                 "line 277.93,245.00 277.93,249.00 #595959 0.50\n"
                                 "text 38.98 258.00 #595959 8.0 '1 s'\n"
                                 "text 152.96 258.00 #595959 8.0 '10 s'\n"
                                 "text 266.94 258.00 #595959 8.0 '100 s'\n"
                                 "text 131.11 270.00 #595959 8.0 'measured time'\n";

START_TEST(ratios_are_drawn_to_a_log_scale)
{
    const struct ratio_chart_point points[] = {{1, 1.0, true, NULL}, {100, 1.2, false, NULL}};
    const struct ratio_chart_panel panel = {"gemm", "n 2", points, 2};
    const struct ratio_chart_section section = {NULL, &panel, 1};
    const struct ratio_chart chart = chart_of(&section, 1);
    ck_assert_str_eq(dump_of(&chart, (struct style_page){300.0, 300.0, 1}), small_dump);
}
END_TEST

/* Of the two points one has a label: a dark rim, and the label right of it. The dot lies at x =
 * 161.41 (10 of 1 to 100) and y = 91.73; a label begins 1.5 (its dot) + 0.8 (the rim) + 3 (the gap)
 * + 1.5 (the air) from there, at 168.21. */
START_TEST(a_labelled_point_has_a_rim)
{
    const struct ratio_chart_point points[] = {
        {1, 1.0, true, NULL}, {10, 1.2, false, "far off"}, {100, 1.0, false, NULL}};
    const struct ratio_chart_panel panel = {"gemm", "n 3", points, 3};
    const struct ratio_chart_section section = {NULL, &panel, 1};
    const struct ratio_chart chart = chart_of(&section, 1);
    const char *dump = dump_of(&chart, (struct style_page){300.0, 300.0, 1});
    check_has(dump, "dot 161.41,91.73 2.30 #1A1A1A\ndot 161.41,91.73 1.50 #0072B2\n");
    check_has(dump, "text 168.21 ");
    check_has(dump, " 7.0 'far off'\n");
}
END_TEST

/* Two of 200 lie at 30: the scale of 1.25 holds 99 of a hundred and stays; the two are triangles
 * at its upper edge, pointing up. */
START_TEST(a_few_far_off_do_not_shrink_the_others)
{
    struct ratio_chart_point points[200];
    for (int i = 0; i < 200; i++)
        points[i] = (struct ratio_chart_point){1 + i, i < 2 ? 30.0 : 1.05, false, NULL};
    const struct ratio_chart_panel panel = {"gemm", NULL, points, 200};
    const struct ratio_chart_section section = {NULL, &panel, 1};
    const struct ratio_chart chart = chart_of(&section, 1);
    const char *dump = dump_of(&chart, STYLE_PAGE_WEB);
    check_has(dump, "'1.25'");
    int triangles = 0;
    for (const char *at = dump; (at = strstr(at, "polygon")) != NULL; at++)
        triangles++;
    ck_assert_int_eq(triangles, 2);
}
END_TEST

/* Ten of 100 at 1 / 4: the scale of 5 is the first that holds them. */
START_TEST(a_scale_holds_all_but_a_few)
{
    struct ratio_chart_point points[100];
    for (int i = 0; i < 100; i++)
        points[i] = (struct ratio_chart_point){1 + i, i < 10 ? 0.25 : 1.0, false, NULL};
    const struct ratio_chart_panel panel = {"gemm", NULL, points, 100};
    const struct ratio_chart_section section = {NULL, &panel, 1};
    const struct ratio_chart chart = chart_of(&section, 1);
    const char *dump = dump_of(&chart, STYLE_PAGE_WEB);
    check_has(dump, "'5'");
    check_has(dump, "'0.2'");
}
END_TEST

static struct ratio_chart_panel
random_panel(uint64_t *seed)
{
    size_t count = check_random_below(seed, 5) == 0 ? 0 : check_random_below(seed, 700);
    struct ratio_chart_point *points = arena_alloc(arena, count + 1, sizeof *points);
    for (size_t i = 0; i < count; i++)
        points[i] = (struct ratio_chart_point){
            1e-6 * pow(10.0, check_random_below(seed, 5000) / 1000.0),
            exp(check_random_below(seed, 2000) / 1000.0 - 1.0),
            check_random_below(seed, 2) == 0,
            i % 100 < 3 ? check_random_name_or_none(seed, arena) : NULL};
    return (struct ratio_chart_panel){
        arena_format(arena, "attention_backward bf%u", check_random_below(seed, 100)),
        check_random_below(seed, 4) ? "held out: MAPE 12.3 %, bias +10.0 %, n 1234" : NULL,
        points, count};
}

START_TEST(no_text_overlaps_or_is_cut_whatever_is_drawn)
{
    uint64_t seed = (uint64_t)_i + 1;
    size_t count = check_random_below(&seed, 4);
    struct ratio_chart_section *sections = arena_alloc(arena, count + 1, sizeof *sections);
    for (size_t s = 0; s < count; s++) {
        size_t panel_count = check_random_below(&seed, 17);
        struct ratio_chart_panel *panels = arena_alloc(arena, panel_count + 1, sizeof *panels);
        for (size_t i = 0; i < panel_count; i++)
            panels[i] = random_panel(&seed);
        sections[s] = (struct ratio_chart_section){
            check_random_below(&seed, 2) ? "H200 kernels" : NULL, panels, panel_count};
    }
    struct ratio_chart chart = chart_of(sections, count);
    chart.note = check_random_name_or_none(&seed, arena);
    chart.footer = check_random_below(&seed, 2) ? "from there" : NULL;
    ratio_chart_draw(&chart, check_page(_i), canvas);
    check_texts(canvas);
    check_marks(canvas);
}
END_TEST

START_TEST(thousands_of_points_make_a_small_file)
{
    enum { COUNT = 3400 };
    struct ratio_chart_point *points = arena_alloc(arena, COUNT, sizeof *points);
    uint64_t seed = 5;
    for (size_t i = 0; i < COUNT; i++)
        points[i] = (struct ratio_chart_point){1e-6 * (1 + check_random_below(&seed, 10000)),
                                               0.8 + check_random_below(&seed, 400) / 1000.0,
                                               i % 2 == 0, NULL};
    const struct ratio_chart_panel panel = {"gemm", "n 3400", points, COUNT};
    const struct ratio_chart_section section = {NULL, &panel, 1};
    const struct ratio_chart chart = chart_of(&section, 1);
    struct error_list errors = {0};
    struct text svg = text_new(arena);
    ratio_chart_draw(&chart, &STYLE_PAGE_WEB, canvas);
    ck_assert(canvas_write(canvas, "many.svg", &svg, &errors));
    ck_assert_uint_le(svg.length, 300000);
}
END_TEST

Suite *
ratio_chart_suite(void)
{
    TCase *tests;
    Suite *suite = check_canvas_suite("ratio_chart", &tests);
    tcase_add_test(tests, ratios_are_drawn_to_a_log_scale);
    tcase_add_test(tests, a_labelled_point_has_a_rim);
    tcase_add_test(tests, a_few_far_off_do_not_shrink_the_others);
    tcase_add_test(tests, a_scale_holds_all_but_a_few);
    tcase_add_loop_test(tests, no_text_overlaps_or_is_cut_whatever_is_drawn, 0,
                        CHECK_TRIES(60));
    tcase_add_test(tests, thousands_of_points_make_a_small_file);
    return suite;
}
