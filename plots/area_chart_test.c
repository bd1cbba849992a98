/* Do layers lie where their numbers put them, and is everything that is said readable? */
#include "plots/area_chart.h"

#include <check.h>
#include <string.h>

#include "plots/chart_csv.h"
#include "plots/check_canvas.h"

Suite *area_chart_suite(void);

static const struct area_chart_kind kinds[] = {{"kept", STYLE_OTHER, 0.0},
                                               {"made", STYLE_FORWARD, -0.5}};

static struct area_chart
small_chart(void)
{
    static const double x[] = {0, 1, 2}, kept[] = {2e9, 2e9, 2e9}, made[] = {0, 4e9, 0};
    static const struct area_chart_layer layers[] = {{kept, "kept 2 GB"}, {made, "made 4 GB"}};
    static const struct area_chart_panel panel = {NULL, x, 3, layers};
    return (struct area_chart){.title = "Small",
                               .x_name = "time",
                               .x_unit = "s",
                               .y_name = "memory",
                               .y_unit = "B",
                               .limit = 9.4e9,
                               .limit_name = "limit",
                               .kinds = kinds,
                               .kind_count = 2,
                               .panels = &panel,
                               .panel_count = 1};
}

/* y ends 6 % above the limit, at 9.964 GB, x at 2 s: both layers together reach 6 GB in the middle,
 * 57.69 pt above the foot of a plane of 95.8. A swatch is 0.7 of its letters' 8 pt wide, and 3 pt
 * before them: 436.31 - 427.71. */
static const char small_dump[] = "canvas 500.00 200.00\n"
                                 "text 15.00 29.20 #1A1A1A 14.0 bold 'Small'\n"
                                 "line 35.00,149.00 421.71,149.00 #DDDDDD 0.50\n"
                                 "line 35.00,129.77 421.71,129.77 #DDDDDD 0.50\n"
                                 "line 35.00,110.54 421.71,110.54 #DDDDDD 0.50\n"
                                 "line 35.00,91.31 421.71,91.31 #DDDDDD 0.50\n"
                                 "line 35.00,72.08 421.71,72.08 #DDDDDD 0.50\n"
                                 "polygon 35.00,149.00 228.36,149.00 421.71,149.00 "
                                 "421.71,129.77 228.36,129.77 35.00,129.77 #666666 1.00\n"
                                 "polygon 35.00,129.77 228.36,129.77 421.71,129.77 "
                                 "421.71,129.77 228.36,91.31 35.00,129.77 #80B9D9 1.00\n"
                                 "line 35.00,58.62 421.71,58.62 #1A1A1A 1.20\n"
                                 "text 427.71 61.54 #1A1A1A 8.0 bold 'limit'\n"
                                 "fill 427.71 107.74 5.60 5.60 #80B9D9\n"
                                 "text 436.31 113.46 #003F62 8.0 bold 'made 4 GB'\n"
                                 "fill 427.71 136.59 5.60 5.60 #666666\n"
                                 "text 436.31 142.31 #383838 8.0 bold 'kept 2 GB'\n"
                                 "text 24.91 151.92 #595959 8.0 '0'\n"
                                 "text 24.91 132.69 #595959 8.0 '2'\n"
                                 "text 24.91 113.46 #595959 8.0 '4'\n"
                                 "text 24.91 94.23 #595959 8.0 '6'\n"
                                 "text 24.91 75.00 #595959 8.0 '8'\n"
                                 "text 15.00 47.20 #595959 8.0 'memory (GB)'\n"
                                 "line 35.00,149.00 421.71,149.00 #595959 0.50\n"
                                 "line 35.00,149.00 35.00,153.00 #595959 0.50\n"
                                 "line 131.68,149.00 131.68,153.00 #595959 0.50\n"
                                 "line 228.36,149.00 228.36,153.00 #595959 0.50\n"
                                 "line 325.03,149.00 325.03,153.00 #595959 0.50\n"
                                 "line 421.71,149.00 421.71,153.00 #595959 0.50\n"
                                 "text 28.64 162.00 #595959 8.0 '0.0'\n"
                                 "text 125.32 162.00 #595959 8.0 '0.5'\n"
                                 "text 221.99 162.00 #595959 8.0 '1.0'\n"
                                 "text 318.67 162.00 #595959 8.0 '1.5'\n"
                                 "text 415.35 162.00 #595959 8.0 '2.0'\n"
                                 "text 212.84 174.00 #595959 8.0 'time (s)'\n";

START_TEST(a_small_chart_is_drawn_to_scale)
{
    struct area_chart chart = small_chart();
    area_chart_draw(&chart, &(struct style_page){500, 200, 1}, canvas);
    check_canvas_is(small_dump);
}
END_TEST

START_TEST(its_data_say_what_it_shows)
{
    struct area_chart chart = small_chart();
    struct text csv = text_new(arena);
    area_chart_csv(&chart, &csv);
    ck_assert_str_eq(csv.bytes, "panel,time (s),kept (B),made (B),limit (B)\n"
                                ",0,2000000000,0,9400000000\n"
                                ",1,2000000000,4000000000,9400000000\n"
                                ",2,2000000000,0,9400000000\n");
}
END_TEST

static struct area_chart_panel
random_panel(uint64_t *seed, size_t kind_count, bool is_wild)
{
    size_t count = check_random_below(seed, 30);
    double *x = arena_alloc(arena, count + 1, sizeof *x), at = 0.0;
    struct area_chart_layer *layers = arena_alloc(arena, kind_count + 1, sizeof *layers);
    for (size_t i = 0; i < count; i++)
        x[i] = at += (double)check_random_below(seed, 3);
    for (size_t k = 0; k < kind_count; k++) {
        double *heights = arena_alloc(arena, count + 1, sizeof *heights);
        for (size_t i = 0; i < count; i++)
            heights[i] = is_wild ? check_random_value(seed) : check_random_like(seed, 1e9);
        layers[k] = (struct area_chart_layer){heights, check_random_name_or_none(seed, arena)};
    }
    return (struct area_chart_panel){check_random_name_or_none(seed, arena), x, count, layers};
}

START_TEST(no_text_overlaps_or_leaves_the_page_whatever_is_drawn)
{
    uint64_t seed = (uint64_t)_i + 1;
    size_t kind_count = check_random_below(&seed, 7),
           panel_count = check_random_below(&seed, 5);
    bool is_wild = check_random_below(&seed, 2);
    struct area_chart_kind *some = arena_alloc(arena, kind_count + 1, sizeof *some);
    struct area_chart_panel *panels = arena_alloc(arena, panel_count + 1, sizeof *panels);
    for (size_t i = 0; i < kind_count; i++)
        some[i] = (struct area_chart_kind){check_random_name(&seed, arena),
                                           check_random_slot(&seed), 0.0};
    for (size_t i = 0; i < panel_count; i++)
        panels[i] = random_panel(&seed, kind_count, is_wild);
    struct area_chart chart = {.title = check_random_name(&seed, arena),
                               .subtitle = check_random_name_or_none(&seed, arena),
                               .footer = check_random_name_or_none(&seed, arena),
                               .x_name = check_random_name(&seed, arena),
                               .x_unit = "s",
                               .y_name = check_random_name(&seed, arena),
                               .y_unit = "B",
                               .limit = check_random_value(&seed),
                               .limit_name = check_random_name_or_none(&seed, arena),
                               .kinds = some,
                               .kind_count = kind_count,
                               .panels = panels,
                               .panel_count = panel_count};
    area_chart_draw(&chart, check_page(_i), canvas);
    check_drawing(canvas, arena);
}
END_TEST

Suite *
area_chart_suite(void)
{
    TCase *tests;
    Suite *suite = check_canvas_suite("area_chart", &tests);
    tcase_add_test(tests, a_small_chart_is_drawn_to_scale);
    tcase_add_test(tests, its_data_say_what_it_shows);
    tcase_add_loop_test(tests, no_text_overlaps_or_leaves_the_page_whatever_is_drawn, 0,
                        CHECK_TRIES(80));
    return suite;
}
