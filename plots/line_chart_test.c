/* Are curves where their numbers put them, and does everything that is said stay readable? */
#include "plots/line_chart.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plots/check_canvas.h"

Suite *line_chart_suite(void);

/* The box begins right of the widest label, three figures of 5.09 pt and a gap of 5: at 35.27 of a
 * page of 300 with margins of 15, so that all 2048 are 249.73 pt and 1536 stands at 97.70. Its
 * top is 66.30, its foot 149.00. y ends 6 % of (300 - 80) T above 300 T, at 313.2 T: 250 T lies at
 * 66.30 + 82.70 (1 - 250 / 313.2) = 82.99. */
static const char small_dump[] = "canvas 300.00 200.00\n"
                                 "text 15.00 25.30 #1A1A1A 11.0 bold 'Small'\n"
                                 "text 26.50 44.30 #1A1A1A 8.0 'predicted'\n"
                                 "line 15.00,41.35 22.50,41.35 #0072B2 1.40\n"
                                 "line 35.27,149.00 285.00,149.00 #DDDDDD 0.50\n"
                                 "line 35.27,135.80 285.00,135.80 #DDDDDD 0.50\n"
                                 "line 35.27,122.60 285.00,122.60 #DDDDDD 0.50\n"
                                 "line 35.27,109.39 285.00,109.39 #DDDDDD 0.50\n"
                                 "line 35.27,96.19 285.00,96.19 #DDDDDD 0.50\n"
                                 "line 35.27,82.99 285.00,82.99 #DDDDDD 0.50\n"
                                 "line 35.27,69.79 285.00,69.79 #DDDDDD 0.50\n"
                                 "text 15.00 60.30 #595959 8.0 'TFLOP/s'\n"
                                 "line 97.70,55.30 97.70,149.00 #DDDDDD 0.50\n"
                                 "text 99.70 60.90 #595959 7.0 '2 waves'\n"
                                 "polygon 35.27,117.31 160.13,69.79 285.00,96.19 285.00,96.19 "
                                 "160.13,69.79 35.27,127.88 #0072B2 0.18\n"
                                 "curve 35.27,122.60 160.13,69.79 285.00,96.19 #0072B2 1.40\n"
                                 "dot 35.27,122.60 2.90 #FFFFFF\n"
                                 "dot 160.13,82.99 2.90 #FFFFFF\n"
                                 "dot 35.27,122.60 2.20 #000000\n"
                                 "dot 35.27,122.60 1.40 #FFFFFF\n"
                                 "dot 160.13,82.99 2.20 #000000\n"
                                 "text 25.18 151.92 #595959 8.0 '0'\n"
                                 "text 20.09 138.72 #595959 8.0 '50'\n"
                                 "text 15.00 125.52 #595959 8.0 '100'\n"
                                 "text 15.00 112.31 #595959 8.0 '150'\n"
                                 "text 15.00 99.11 #595959 8.0 '200'\n"
                                 "text 15.00 85.91 #595959 8.0 '250'\n"
                                 "text 15.00 72.71 #595959 8.0 '300'\n"
                                 "line 35.27,149.00 285.00,149.00 #595959 0.50\n"
                                 "line 35.27,149.00 35.27,153.00 #595959 0.50\n"
                                 "line 97.70,149.00 97.70,153.00 #595959 0.50\n"
                                 "line 160.13,149.00 160.13,153.00 #595959 0.50\n"
                                 "line 222.57,149.00 222.57,153.00 #595959 0.50\n"
                                 "line 285.00,149.00 285.00,153.00 #595959 0.50\n"
                                 "text 25.09 162.00 #595959 8.0 '1024'\n"
                                 "text 87.52 162.00 #595959 8.0 '1536'\n"
                                 "text 149.96 162.00 #595959 8.0 '2048'\n"
                                 "text 212.39 162.00 #595959 8.0 '2560'\n"
                                 "text 274.82 162.00 #595959 8.0 '3072'\n"
                                 "text 157.60 174.00 #595959 8.0 'n'\n";

START_TEST(a_small_chart_is_drawn_to_scale)
{
    const struct line_chart_vertex curve[] = {{1024, 100e12, 80e12, 120e12},
                                              {2048, 300e12, 300e12, 300e12},
                                              {3072, 200e12, 200e12, 200e12}};
    const struct line_chart_point points[] = {{2048, 250e12, false}, {1024, 100e12, true}};
    const struct line_chart_mark marks[] = {{1536, "2 waves"}};
    const struct line_chart_series series = {.curve = curve,
                                             .vertex_count = 3,
                                             .points = points,
                                             .point_count = 2,
                                             .marks = marks,
                                             .mark_count = 1};
    const struct line_chart chart = {.title = "Small",
                                     .x = {"n", "", LINE_CHART_BINARY},
                                     .y = {NULL, "FLOP/s", LINE_CHART_LINEAR},
                                     .series = &series,
                                     .series_count = 1,
                                     .curve_name = "predicted"};
    line_chart_draw(&chart, &(struct style_page){300.0, 200.0, 1}, canvas);
    check_canvas_is(small_dump);
}
END_TEST

static struct line_chart_series
random_series(uint64_t *seed, double scale)
{
    size_t count = check_random_below(seed, 60);
    struct line_chart_vertex *curve = arena_alloc(arena, count + 1, sizeof *curve);
    struct line_chart_point *points = arena_alloc(arena, count + 1, sizeof *points);
    for (size_t i = 0; i < count; i++) {
        double y = scale * (1 + check_random_below(seed, 1000));
        curve[i] = (struct line_chart_vertex){(double)(i + 1) * 64, y, y * 0.9, y * 1.1};
        points[i] = (struct line_chart_point){curve[i].x, y * 1.05, i % 3 == 0};
    }
    return (struct line_chart_series){
        .label = check_random_below(seed, 3)
                     ? arena_format(arena, "k = %u", check_random_below(seed, 99999))
                     : NULL,
        .curve = curve,
        .vertex_count = count,
        .points = points,
        .point_count = check_random_below(seed, 2) ? count : 0};
}

/* At vertices; a few of these become holes of the curve. */
static void
add_notes(struct line_chart_series *series, uint64_t *seed)
{
    struct line_chart_vertex *curve =
        arena_copy(arena, series->curve, (series->vertex_count + 1) * sizeof *curve);
    struct line_chart_note *notes = arena_alloc(arena, series->vertex_count + 1, sizeof *notes);
    for (size_t i = 0; i < series->vertex_count && check_random_below(seed, 3);
         i += 1 + check_random_below(seed, 9))
        notes[series->note_count++] = (struct line_chart_note){
            curve[i].x, curve[i].y,
            arena_format(arena, "%u waves, not %u", check_random_below(seed, 99999),
                         check_random_below(seed, 9)),
            check_random_below(seed, 2), check_random_below(seed, 5) == 0};
    for (size_t i = 0; i < series->vertex_count; i++)
        if (check_random_below(seed, 40) == 0)
            curve[i].y = check_random_below(seed, 2) ? (double)NAN : (double)INFINITY;
    series->curve = curve;
    series->notes = notes;
}

static struct line_chart
random_chart(uint64_t *seed)
{
    static const char *const units[] = {"", "B/s", "s", "FLOP/s", "B"};
    size_t series_count = check_random_below(seed, 12),
           mark_count = check_random_below(seed, 80);
    struct line_chart_series *series = arena_alloc(arena, series_count + 1, sizeof *series);
    struct line_chart_mark *marks = arena_alloc(arena, mark_count + 1, sizeof *marks);
    double scales[] = {1e-9, 1e-3, 1, 1e6, 1e12};
    double scale = scales[check_random_below(seed, 5)];
    for (size_t i = 0; i < series_count; i++)
        series[i] = random_series(seed, scale);
    for (size_t i = 0; i < mark_count; i++)
        marks[i] = (struct line_chart_mark){
            64 + 64 * 50 * (double)i / (double)mark_count,
            arena_format(arena, "%u waves", check_random_below(seed, 200))};
    for (size_t i = 0; i < series_count; i++)
        add_notes(&series[i], seed);
    for (size_t i = 0; i < series_count; i++)
        if (series[i].vertex_count > 50) {
            series[i].marks = marks;
            series[i].mark_count = mark_count;
        }
    struct line_chart_limit *limits = arena_alloc(arena, 2, sizeof *limits);
    for (size_t i = 0; i < 2; i++)
        limits[i] =
            (struct line_chart_limit){scale * (1 + check_random_below(seed, 1500)), "limit"};
    return (struct line_chart){
        .title = "What is found here takes more than one line of a narrow page",
        .subtitle = check_random_below(seed, 2) ? "of that and this" : NULL,
        .footer = check_random_below(seed, 2) ? "from there" : NULL,
        .x = {"width", units[check_random_below(seed, 5)],
              (enum line_chart_scale)check_random_below(seed, 4)},
        .y = {check_random_below(seed, 2) ? "rate" : NULL, units[check_random_below(seed, 5)],
              (enum line_chart_scale)check_random_below(seed, 2)},
        .series = series,
        .series_count = series_count,
        .series_a_panel = check_random_below(seed, 4),
        .limits = limits,
        .limit_count = check_random_below(seed, 3),
        .curve_name = "predicted",
        .band_name = "one standard deviation",
        .point_name = "measured",
        .hollow_name = "measured, seen"};
}

START_TEST(no_text_overlaps_or_is_cut_whatever_is_drawn)
{
    uint64_t seed = (uint64_t)_i + 1;
    struct line_chart chart = random_chart(&seed);
    line_chart_draw(&chart, check_page(_i), canvas);
    check_drawing(canvas, arena);
}
END_TEST

static int
count_of(const char *text, const char *part)
{
    int count = 0;
    for (const char *at = text; (at = strstr(at, part)) != NULL; at++)
        count++;
    return count;
}

/* Three panels of two curves and of the one that is left: the second begins with the first colour
 * again, the limit is the chart's y alone. */
START_TEST(curves_of_a_panel_share_it)
{
    const struct line_chart_vertex curve[] = {{1, 10, 10, 10}, {2, 20, 20, 20}};
    const struct line_chart_axis time = {"time", "s", LINE_CHART_LINEAR};
    const struct line_chart_limit limit = {18, "18 B"};
    struct line_chart_series series[5];
    for (size_t i = 0; i < 5; i++)
        series[i] = (struct line_chart_series){
            .curve = curve, .vertex_count = 2, .y = i < 2 ? NULL : &time};
    struct text dump = text_new(arena);
    line_chart_draw(&(struct line_chart){.title = "Panels",
                                         .x = {"n", "", LINE_CHART_BINARY},
                                         .y = {"size", "B", LINE_CHART_LINEAR},
                                         .limits = &limit,
                                         .limit_count = 1,
                                         .series = series,
                                         .series_count = 5,
                                         .series_a_panel = 2},
                    &STYLE_PAGE_WEB, canvas);
    canvas_dump(canvas, &dump);
    ck_assert_int_eq(count_of(dump.bytes, "'18 B'"), 1);
    ck_assert_int_eq(count_of(dump.bytes, "'size (B)'"), 1);
    ck_assert_int_eq(count_of(dump.bytes, "'time (s)'"), 2);
    ck_assert_int_eq(count_of(dump.bytes, " #0072B2 1.40"), 3);
    ck_assert_int_eq(count_of(dump.bytes, " #D55E00 1.40"), 2);
}
END_TEST

/* Curves up to 10 and 1000 of nothing, from 0: the first has ticks to 10, the second to 1 k. Marks
 * belong to one curve and are shown where that is alone. */
START_TEST(a_panel_has_a_scale_and_marks_of_its_own)
{
    const struct line_chart_vertex low[] = {{1, 0, 0, 0}, {2, 10, 10, 10}};
    const struct line_chart_vertex high[] = {{1, 0, 0, 0}, {2, 1000, 1000, 1000}};
    const struct line_chart_mark mark = {1.5, "here"};
    const struct line_chart_series series[] = {
        {.label = "low", .curve = low, .vertex_count = 2, .marks = &mark, .mark_count = 1},
        {.label = "high", .curve = high, .vertex_count = 2}};
    struct line_chart chart = {.title = "Two",
                               .x = {"n", "", LINE_CHART_BINARY},
                               .y = {NULL, "", LINE_CHART_LINEAR},
                               .series = series,
                               .series_count = 2};
    struct text one = text_new(arena), two = text_new(arena);
    line_chart_draw(&chart, &STYLE_PAGE_WEB, canvas);
    canvas_dump(canvas, &one);
    ck_assert_int_eq(count_of(one.bytes, "'here'"), 0);
    ck_assert_int_eq(count_of(one.bytes, "'10'"), 0);
    struct canvas *other = canvas_new(arena, "DejaVu Sans");
    chart.series_a_panel = 1;
    line_chart_draw(&chart, &STYLE_PAGE_WEB, other);
    canvas_dump(other, &two);
    ck_assert_int_eq(count_of(two.bytes, "'here'"), 1);
    ck_assert_int_eq(count_of(two.bytes, "'10'"), 1);
    ck_assert_int_eq(count_of(two.bytes, "'1.0'"), 1);
    ck_assert_int_eq(count_of(two.bytes, "'n'"), 1);
    canvas_free(other);
}
END_TEST

/* Half of the chart's width from the column: the label stands at the curve's end, and no line
 * leads across the chart. */
START_TEST(a_curve_that_ends_early_is_named_there)
{
    static const struct line_chart_vertex whole[] = {{0, 1, 1, 1}, {8, 1, 1, 1}},
                                          half[] = {{0, 2, 2, 2}, {4, 2, 2, 2}};
    const struct line_chart_series series[] = {
        {.label = "whole", .curve = whole, .vertex_count = 2},
        {.label = "half", .curve = half, .vertex_count = 2}};
    struct text dump = text_new(arena);
    line_chart_draw(&(struct line_chart){.title = "two",
                                         .x = {"n", "", LINE_CHART_LINEAR},
                                         .y = {"rate", "", LINE_CHART_LINEAR},
                                         .series = series,
                                         .series_count = 2},
                    &STYLE_PAGE_WEB, canvas);
    canvas_dump(canvas, &dump);
    const struct canvas_point *end = NULL;
    const struct display_list *list = canvas_display_list(canvas);
    for (size_t i = 0; i < list->count; i++) {
        const struct display_item *item = &list->items[i];
        if (item->kind == DISPLAY_CURVE && item->rgb == line_chart_colour(1))
            end = &item->shape.path.points[1];
        if (item->kind != DISPLAY_TEXT || strcmp(item->shape.text.text, "half") != 0)
            continue;
        ck_assert_ptr_nonnull(end);
        ck_assert(item->shape.text.left_pt > end->x_pt);
        ck_assert(item->shape.text.left_pt < end->x_pt + 8.0);
    }
    for (int i = 0; i < 2; i++)
        ck_assert_ptr_null(
            strstr(dump.bytes, arena_format(arena, "#%06X 0.50\n",
                                            (unsigned)line_chart_colour((size_t)i))));
}
END_TEST

/* 200 curves that end at heights in their order: the column of 480 pt at the most holds some; the
 * highest and the lowest are named, those between evenly, and the last line counts the rest. */
START_TEST(of_too_many_labels_an_even_choice_stays)
{
    enum { MANY = 200 };
    struct line_chart_series series[MANY];
    struct line_chart_vertex curves[MANY][2];
    size_t named = 0, missing = 0, last = 0, widest = 0, narrowest = MANY;
    for (int i = 0; i < MANY; i++) {
        double y = MANY - i;
        curves[i][0] = (struct line_chart_vertex){0, y, y, y};
        curves[i][1] = (struct line_chart_vertex){8, y, y, y};
        series[i] = (struct line_chart_series){
            .label = arena_format(arena, "%d", i), .curve = curves[i], .vertex_count = 2};
    }
    line_chart_draw(&(struct line_chart){.title = "Many",
                                         .x = {"n", "", LINE_CHART_LINEAR},
                                         .y = {"rate", "", LINE_CHART_LINEAR},
                                         .series = series,
                                         .series_count = MANY},
                    &STYLE_PAGE_WEB, canvas);
    const struct display_list *list = canvas_display_list(canvas);
    for (size_t i = 0; i < list->count; i++) {
        const struct display_text *text = &list->items[i].shape.text;
        if (list->items[i].kind != DISPLAY_TEXT)
            continue;
        if (text->text[0] == '+')
            missing = strtoul(text->text + 1, NULL, 10);
        if (!text->font.is_bold || text->font.size_pt != STYLE_SMALL_PT || text->text[0] == '+')
            continue;
        size_t index = strtoul(text->text, NULL, 10), step = index - last;
        ck_assert_uint_eq(named == 0, index == 0);
        if (named > 0) {
            widest = step > widest ? step : widest;
            narrowest = step < narrowest ? step : narrowest;
        }
        last = index;
        named++;
    }
    ck_assert_uint_gt(named, 20);
    ck_assert_uint_eq(last, MANY - 1);
    ck_assert_uint_eq(named + missing, MANY);
    ck_assert_uint_le(widest, narrowest + 1);
    check_texts(canvas);
}
END_TEST

/* Notes beside a curve that fills the plane: what has no room is counted at the page's foot. */
START_TEST(a_note_without_room_is_counted)
{
    enum { MANY = 400 };
    struct line_chart_vertex curve[MANY];
    struct line_chart_note notes[MANY];
    for (int i = 0; i < MANY; i++) {
        double y = i % 2 == 0 ? 0.0 : 1.0;
        curve[i] = (struct line_chart_vertex){i, y, y, y};
        notes[i] = (struct line_chart_note){i, y, "said of it", false, false};
    }
    const struct line_chart_series series = {
        .curve = curve, .vertex_count = MANY, .notes = notes, .note_count = MANY};
    struct text dump = text_new(arena);
    line_chart_draw(&(struct line_chart){.title = "Full",
                                         .footer = "from there",
                                         .x = {"n", "", LINE_CHART_LINEAR},
                                         .y = {"rate", "", LINE_CHART_LINEAR},
                                         .series = &series,
                                         .series_count = 1},
                    &STYLE_PAGE_SINGLE, canvas);
    canvas_dump(canvas, &dump);
    int said = count_of(dump.bytes, "'said of it'") + count_of(dump.bytes, "…");
    ck_assert_ptr_nonnull(
        strstr(dump.bytes, arena_format(arena, "'%d labels have no room'", MANY - said)));
    check_drawing(canvas, arena);
}
END_TEST

START_TEST(the_first_colours_differ)
{
    for (size_t a = 0; a < 14; a++)
        for (size_t b = 0; b < a; b++)
            ck_assert_uint_ne(line_chart_colour(a), line_chart_colour(b));
}
END_TEST

START_TEST(one_point_alone_has_a_scale)
{
    const struct line_chart_vertex vertex = {1, 0, 0, 0};
    const struct line_chart_series series = {.label = "x", .curve = &vertex, .vertex_count = 1};
    struct error_list errors = {0};
    struct text png = text_new(arena);
    line_chart_draw(&(struct line_chart){.title = "One",
                                         .x = {"n", "", LINE_CHART_BINARY},
                                         .y = {NULL, "s", LINE_CHART_LINEAR},
                                         .series = &series,
                                         .series_count = 1},
                    &STYLE_PAGE_SINGLE, canvas);
    check_drawing(canvas, arena);
    ck_assert(canvas_write(canvas, "x.png", &png, &errors));
}
END_TEST

/* Where a value is not finite the curve ends and begins again: two parts of two points. */
START_TEST(a_curve_has_a_gap_where_nothing_is_known)
{
    const double none = (double)NAN;
    const struct line_chart_vertex curve[] = {
        {1, 1, 1, 1}, {2, 2, 2, 2}, {3, none, none, none}, {4, 2, 2, 2}, {5, 1, 1, 1}};
    const struct line_chart_series series = {.curve = curve, .vertex_count = 5};
    struct text dump = text_new(arena);
    line_chart_draw(&(struct line_chart){.title = "Gap",
                                         .x = {"n", "", LINE_CHART_BINARY},
                                         .y = {NULL, "s", LINE_CHART_LINEAR},
                                         .series = &series,
                                         .series_count = 1},
                    &STYLE_PAGE_WEB, canvas);
    canvas_dump(canvas, &dump);
    ck_assert_int_eq(count_of(dump.bytes, "\ncurve "), 2);
    ck_assert_ptr_null(strstr(dump.bytes, "nan"));
}
END_TEST

/* More than a PNG has dots: the list stays short, the picture small. */
START_TEST(a_million_points_make_a_picture_of_common_size)
{
    enum { MANY = 1000000 };
    struct line_chart_vertex *curve = arena_alloc(arena, MANY, sizeof *curve);
    struct line_chart_point *points = arena_alloc(arena, MANY, sizeof *points);
    struct error_list errors = {0};
    struct text svg = text_new(arena);
    uint64_t seed = 1;
    for (size_t i = 0; i < MANY; i++) {
        double y = 1.0 + check_random_below(&seed, 1000);
        curve[i] = (struct line_chart_vertex){(double)i, y, y * 0.9, y * 1.1};
        points[i] = (struct line_chart_point){(double)i, 500.0 + 0.1 * y, false};
    }
    const struct line_chart_series series = {
        .curve = curve, .vertex_count = MANY, .points = points, .point_count = MANY};
    line_chart_draw(&(struct line_chart){.title = "Many",
                                         .x = {"n", "", LINE_CHART_LINEAR},
                                         .y = {NULL, "s", LINE_CHART_LINEAR},
                                         .series = &series,
                                         .series_count = 1},
                    &STYLE_PAGE_SINGLE, canvas);
    ck_assert(canvas_write(canvas, "x.svg", &svg, &errors));
    ck_assert_uint_lt(svg.length, 8000000);
}
END_TEST

/* The dump of a curve to 400, whose name is long, under limits. */
static const char *
draw_limits(const struct line_chart_limit *limits, size_t count, struct style_page page)
{
    const struct line_chart_vertex curve[] = {{1, 1, 1, 1}, {1024, 400, 400, 400}};
    const struct line_chart_series series = {
        .label = "experts_per_token=8", .short_label = "=8", .curve = curve, .vertex_count = 2};
    struct text dump = text_new(arena);
    line_chart_draw(&(struct line_chart){.title = "Limits",
                                         .x = {"n", "", LINE_CHART_LOG_BINARY},
                                         .y = {NULL, "B", LINE_CHART_LINEAR},
                                         .limits = limits,
                                         .limit_count = count,
                                         .series = &series,
                                         .series_count = 1},
                    &page, canvas);
    canvas_dump(canvas, &dump);
    check_drawing(canvas, arena);
    return dump.bytes;
}

/* The limit lies in the plane though no value comes near it. */
START_TEST(a_limit_is_always_in_sight)
{
    const struct line_chart_limit limit = {1920, "1920 B"};
    const char *dump = draw_limits(&limit, 1, STYLE_PAGE_WEB);
    ck_assert_int_eq(count_of(dump, "'1920 B'"), 1);
    ck_assert_int_eq(count_of(dump, "#1A1A1A 1.20"), 1);
    ck_assert_int_eq(count_of(dump, "'experts_per_token=8'"), 1);
}
END_TEST

/* Of two limits on the narrowest page one is named above, the other below. */
START_TEST(what_is_close_or_narrow_is_named)
{
    const struct line_chart_limit limits[] = {{470, "links 470 B"}, {500, "NICs 500 B"}};
    const char *dump = draw_limits(limits, 2, STYLE_PAGE_SINGLE);
    ck_assert_int_eq(count_of(dump, "'links 470 B'"), 1);
    ck_assert_int_eq(count_of(dump, "'NICs 500 B'"), 1);
    ck_assert_int_eq(count_of(dump, "'=8'"), 1);
}
END_TEST

Suite *
line_chart_suite(void)
{
    TCase *tests;
    Suite *suite = check_canvas_suite("line_chart", &tests);
    tcase_add_test(tests, a_small_chart_is_drawn_to_scale);
    tcase_add_loop_test(tests, no_text_overlaps_or_is_cut_whatever_is_drawn, 0,
                        CHECK_TRIES(80));
    tcase_add_test(tests, a_panel_has_a_scale_and_marks_of_its_own);
    tcase_add_test(tests, curves_of_a_panel_share_it);
    tcase_add_test(tests, what_is_close_or_narrow_is_named);
    tcase_add_test(tests, a_curve_that_ends_early_is_named_there);
    tcase_add_test(tests, of_too_many_labels_an_even_choice_stays);
    tcase_add_test(tests, a_note_without_room_is_counted);
    tcase_add_test(tests, the_first_colours_differ);
    tcase_add_test(tests, one_point_alone_has_a_scale);
    tcase_add_test(tests, a_curve_has_a_gap_where_nothing_is_known);
    tcase_add_test(tests, a_million_points_make_a_picture_of_common_size);
    tcase_add_test(tests, a_limit_is_always_in_sight);
    return suite;
}
