/* Is a timeline true and readable at any input: to scale, nothing overlapping, nothing cut? */
#include "plots/timeline.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plots/check_canvas.h"
#include "sim/base/check_near.h"

Suite *timeline_suite(void);

static const int64_t ms_in_ps = 1000000000;

static const char small_dump[] = "canvas 480.00 159.20\n"
                                 "text 15.00 29.20 #1A1A1A 14.0 bold 'Small'\n"
                                 "text 26.50 48.20 #1A1A1A 8.0 'forward compute'\n"
                                 "fill 15.00 41.50 7.50 7.50 #0072B2\n"
                                 "text 120.51 48.20 #1A1A1A 8.0 'backward compute'\n"
                                 "fill 109.01 41.50 7.50 7.50 #003F63\n"
                                 "text 222.53 48.20 #1A1A1A 8.0 'data-parallel communication'\n"
                                 "fill 211.03 41.50 7.50 7.50 #E69F00\n"
                                 "text 363.11 48.20 #1A1A1A 8.0 'critical path'\n"
                                 "fill 351.61 41.50 7.50 7.50 #FFFFFF\n"
                                 "outline 351.61 41.50 7.50 7.50 #1A1A1A 0.75\n"
                                 "fill 67.12 76.50 397.88 19.12 #F4F4F4\n"
                                 "fill 67.12 100.50 397.88 19.12 #F4F4F4\n"
                                 "line 67.12,74.20 67.12,122.20 #DDDDDD 0.50\n"
                                 "line 146.70,74.20 146.70,122.20 #DDDDDD 0.50\n"
                                 "line 226.28,74.20 226.28,122.20 #DDDDDD 0.50\n"
                                 "line 305.85,74.20 305.85,122.20 #DDDDDD 0.50\n"
                                 "line 385.43,74.20 385.43,122.20 #DDDDDD 0.50\n"
                                 "line 465.00,74.20 465.00,122.20 #DDDDDD 0.50\n"
                                 "fill 67.12 76.50 159.00 19.12 #0072B2\n"
                                 "fill 226.12 76.50 159.38 19.12 #003F63\n"
                                 "fill 385.50 100.50 79.50 19.12 #F3CF80\n"
                                 "outline 225.53 75.00 160.65 22.12 #1A1A1A 0.75\n"
                                 "outline 384.68 99.00 81.07 22.12 #1A1A1A 0.75\n"
                                 "text 287.60 88.98 #FFFFFF 8.0 'attention'\n"
                                 "text 15.00 85.06 #1A1A1A 9.0 'compute'\n"
                                 "text 15.00 94.56 #595959 7.0 'busy 80 %'\n"
                                 "text 15.00 113.35 #1A1A1A 9.0 'network'\n"
                                 "line 465.00,122.20 465.00,126.20 #1A1A1A 0.50\n"
                                 "text 429.38 136.20 #1A1A1A 8.0 bold '10.0 ms'\n"
                                 "line 67.12,122.20 465.00,122.20 #595959 0.50\n"
                                 "line 67.12,122.20 67.12,126.20 #595959 0.50\n"
                                 "text 64.58 136.20 #595959 8.0 '0'\n"
                                 "line 146.70,122.20 146.70,126.20 #595959 0.50\n"
                                 "text 144.16 136.20 #595959 8.0 '2'\n"
                                 "line 226.28,122.20 226.28,126.20 #595959 0.50\n"
                                 "text 223.73 136.20 #595959 8.0 '4'\n"
                                 "line 305.85,122.20 305.85,126.20 #595959 0.50\n"
                                 "text 303.31 136.20 #595959 8.0 '6'\n"
                                 "line 385.43,122.20 385.43,126.20 #595959 0.50\n"
                                 "text 382.88 136.20 #595959 8.0 '8'\n"
                                 "line 465.00,122.20 465.00,126.20 #595959 0.50\n"
                                 "text 15.00 136.20 #595959 8.0 'time (ms)'\n"
                                 "line 67.88,68.20 225.53,68.20 #595959 0.75\n"
                                 "line 67.88,68.20 67.88,71.20 #595959 0.75\n"
                                 "line 225.53,68.20 225.53,71.20 #595959 0.75\n"
                                 "line 227.03,68.20 384.68,68.20 #595959 0.75\n"
                                 "line 227.03,68.20 227.03,71.20 #595959 0.75\n"
                                 "line 384.68,68.20 384.68,71.20 #595959 0.75\n"
                                 "text 131.36 64.20 #1A1A1A 8.0 'forward'\n"
                                 "text 286.51 64.20 #1A1A1A 8.0 'backward'\n";

/* The whole list of a small one. Rows run from 15 + 52 = 67 (next column: 67.125) to 465 of a
 * page of 480: 397.875 pt for 10 ms, so that 4 ms
 * end at column 424.4 of 1061: the backward pass begins 159 pt on, at 226.125. */
START_TEST(a_small_timeline_is_drawn_to_scale)
{
    const struct timeline_row rows[] = {{.label = "compute", .sub_label = "busy 80 %"},
                                        {.label = "network"}};
    const struct timeline_span spans[] = {
        {4 * ms_in_ps, 8 * ms_in_ps, 0, STYLE_BACKWARD, 0.0, "attention", true},
        {0, 4 * ms_in_ps, 0, STYLE_FORWARD, 0.0, NULL, false},
        {8 * ms_in_ps, 10 * ms_in_ps, 1, STYLE_DATA_PARALLEL, -0.5, NULL, true}};
    const struct timeline_phase phases[] = {{0, 4 * ms_in_ps, "forward"},
                                            {4 * ms_in_ps, 8 * ms_in_ps, "backward"}};
    const struct timeline timeline = {.title = "Small",
                                      .end_ps = 10 * ms_in_ps,
                                      .rows = rows,
                                      .row_count = 2,
                                      .spans = spans,
                                      .span_count = 3,
                                      .phases = phases,
                                      .phase_count = 2};
    timeline_draw(&timeline, &(struct style_page){480.0, 100.0, 1}, canvas);
    check_canvas_is(small_dump);
}
END_TEST

static const char *
random_words(uint64_t *seed)
{
    static const char *const words[] = {"forward",
                                        "a",
                                        "reduce-scatter of gradients",
                                        "DP",
                                        "optimizer step",
                                        "µ·π",
                                        "all-gather",
                                        "expert all-to-all, combine",
                                        "",
                                        "layer 20 flash attention"};
    unsigned first = check_random_below(seed, 10), second = check_random_below(seed, 10);
    return arena_format(arena, "%s %s", words[first], words[second]);
}

/* Of values among which are some that are none. */
static const struct timeline_curve *
random_curve(uint64_t *seed, int64_t end_ps)
{
    size_t count = check_random_below(seed, 400), layer_count = check_random_below(seed, 4);
    struct timeline_curve *curve = arena_alloc(arena, 1, sizeof *curve);
    struct timeline_layer *layers = arena_alloc(arena, layer_count + 1, sizeof *layers);
    int64_t *at_ps = arena_alloc(arena, count + 1, sizeof *at_ps);
    for (size_t i = 0; i < count; i++)
        at_ps[i] = end_ps / 400 * (int64_t)i;
    for (size_t layer = 0; layer < layer_count; layer++) {
        double *values = arena_alloc(arena, count + 1, sizeof *values);
        for (size_t i = 0; i < count; i++)
            values[i] =
                check_random_below(seed, 50) ? 1e9 * check_random_below(seed, 90) : (double)NAN;
        layers[layer] = (struct timeline_layer){random_words(seed), STYLE_FORWARD,
                                                -0.25 * (double)layer, values};
    }
    *curve = (struct timeline_curve){.label = random_words(seed),
                                     .sub_label = random_words(seed),
                                     .at_ps = at_ps,
                                     .count = count,
                                     .layers = layers,
                                     .layer_count = layer_count,
                                     .limit = 1e9 * check_random_below(seed, 200),
                                     .limit_label = random_words(seed)};
    return check_random_below(seed, 2) ? curve : NULL;
}

static struct timeline
random_timeline(uint64_t *seed)
{
    size_t row_count = 1 + check_random_below(seed, check_random_below(seed, 3) == 0 ? 90 : 6);
    size_t span_count = check_random_below(seed, 600),
           piece_count = check_random_below(seed, 14);
    size_t phase_count = check_random_below(seed, 9);
    struct timeline_row *rows = arena_alloc(arena, row_count, sizeof *rows);
    struct timeline_span *spans = arena_alloc(arena, span_count + 1, sizeof *spans);
    struct timeline_piece *pieces = arena_alloc(arena, piece_count + 1, sizeof *pieces);
    struct timeline_phase *phases = arena_alloc(arena, phase_count + 1, sizeof *phases);
    int64_t end_ps =
        1 + (int64_t)check_random_below(seed, 1000000) * (1 + check_random_below(seed, 100000));
    for (size_t i = 0; i < row_count; i++)
        rows[i] = (struct timeline_row){
            .label = random_words(seed),
            .sub_label = check_random_below(seed, 2) ? random_words(seed) : NULL,
            .place = (enum timeline_place)check_random_below(seed, TIMELINE_ZOOM + 1),
            .weight = 0.25 * check_random_below(seed, 8),
            .is_attached = i > 0 && check_random_below(seed, 3) == 0};
    for (size_t i = 0; i < span_count; i++) {
        int64_t start = end_ps / 1000 * check_random_below(seed, 1000);
        spans[i] =
            (struct timeline_span){start,
                                   start + end_ps / 1000 * check_random_below(seed, 80),
                                   check_random_below(seed, (unsigned)row_count),
                                   (enum style_slot)check_random_below(seed, STYLE_SLOT_COUNT),
                                   check_random_below(seed, 17) / 8.0 - 1.0,
                                   random_words(seed),
                                   check_random_below(seed, 4) == 0};
    }
    for (size_t i = 0; i < piece_count; i++)
        pieces[i] = (struct timeline_piece){
            random_words(seed),
            1e-5 * check_random_below(seed, 1000) * check_random_below(seed, 1000),
            (enum style_slot)check_random_below(seed, STYLE_SLOT_COUNT), 0.0};
    for (size_t i = 0; i < phase_count; i++)
        phases[i] = (struct timeline_phase){end_ps / 10 * (int64_t)i,
                                            end_ps / 10 * (int64_t)i +
                                                end_ps / (10 + check_random_below(seed, 100)),
                                            random_words(seed)};
    return (struct timeline){
        .title = random_words(seed),
        .subtitle = random_words(seed),
        .footer = random_words(seed),
        .end_ps = end_ps,
        .rows = rows,
        .row_count = row_count,
        .spans = spans,
        .span_count = span_count,
        .phases = phases,
        .phase_count = phase_count,
        .curve = random_curve(seed, end_ps),
        .pieces = pieces,
        .piece_count = piece_count,
        .pieces_title = "Where the time goes",
        .zoom_start_ps = end_ps / 3,
        .zoom_end_ps = end_ps / 3 + end_ps / (2 + check_random_below(seed, 500)),
        .zoom_title = random_words(seed),
        .legend_note = check_random_below(seed, 2) ? random_words(seed) : NULL};
}

START_TEST(no_text_overlaps_or_is_cut_whatever_is_drawn)
{
    uint64_t seed = (uint64_t)_i + 1;
    struct timeline timeline = random_timeline(&seed);
    timeline_draw(&timeline, check_page(_i), canvas);
    check_texts(canvas);
    check_marks(canvas);
}
END_TEST

/* 20,000 kernels of 36 us a pair, 3 of 4 parts forward and 1 of 4 backward, in 780 pt: far under
 * a dot each. Row height times width times share, within one column of 0.375 pt. */
START_TEST(merged_spans_keep_the_area_of_each_colour)
{
    const size_t pair_count = 10000;
    const struct timeline_row row = {.label = "compute"};
    struct timeline_span *spans = arena_alloc(arena, 2 * pair_count, sizeof *spans);
    for (size_t i = 0; i < pair_count; i++) {
        int64_t start = (int64_t)i * 36 * 1000000;
        spans[2 * i] =
            (struct timeline_span){start, start + 27000000, 0, STYLE_FORWARD, 0.0, NULL, false};
        spans[2 * i + 1] = (struct timeline_span){
            start + 27000000, start + 36000000, 0, STYLE_DATA_PARALLEL, 0.0, NULL, false};
    }
    const struct timeline timeline = {.title = "",
                                      .end_ps = (int64_t)pair_count * 36 * 1000000,
                                      .rows = &row,
                                      .row_count = 1,
                                      .spans = spans,
                                      .span_count = 2 * pair_count};
    timeline_draw(&timeline, &STYLE_PAGE_WEB, canvas);
    double forward = canvas_filled_area_pt2(canvas, style_colour(STYLE_FORWARD));
    double other = canvas_filled_area_pt2(canvas, style_colour(STYLE_DATA_PARALLEL));
    forward -= 7.5 * 7.5; /* the legend's swatches */
    other -= 7.5 * 7.5;
    CHECK_NEAR(forward / (forward + other), 0.75, 0.375 / 780.0 / 0.75 * 2.0);
    CHECK_NEAR(forward + other, canvas_filled_area_pt2(canvas, STYLE_LANE), 1e-3);
}
END_TEST

/* A limit of 100 in 44 pt with head room of 1.28 lies 34.375 pt up; a layer of 50, 17.2 pt high,
 * has room for its name of 9 pt, one of 2, 0.7 pt high, has not. */
START_TEST(a_layer_too_thin_for_its_name_gets_a_swatch)
{
    static const int64_t at_ps[] = {0, 1000000000};
    static const double thick[] = {50, 50}, thin[] = {2, 2};
    const struct timeline_layer layers[] = {{"thick", STYLE_OTHER, 0.0, thick},
                                            {"thin", STYLE_OPTIMIZER, 0.0, thin}};
    const struct timeline_curve curve = {.label = "memory",
                                         .at_ps = at_ps,
                                         .count = 2,
                                         .layers = layers,
                                         .layer_count = 2,
                                         .limit = 100};
    const struct timeline_row row = {.label = "compute"};
    const struct timeline timeline = {
        .title = "", .end_ps = 1000000000, .rows = &row, .row_count = 1, .curve = &curve};
    timeline_draw(&timeline, &STYLE_PAGE_WEB, canvas);
    CHECK_NEAR(canvas_filled_area_pt2(canvas, style_colour(STYLE_OPTIMIZER)), 5.5 * 5.5, 1e-9);
    CHECK_NEAR(canvas_filled_area_pt2(canvas, style_colour(STYLE_OTHER)), 0.0, 1e-9);
    struct text dump = text_new(arena);
    canvas_dump(canvas, &dump);
    ck_assert_ptr_nonnull(strstr(dump.bytes, "'thick'"));
    ck_assert_ptr_nonnull(strstr(dump.bytes, "'thin'"));
}
END_TEST

/* From the first point, at the bottom, to the highest one. */
static double
polygon_height_pt(const char *dump, const char *rgb)
{
    char line_end[16];
    (void)snprintf(line_end, sizeof line_end, " %s", rgb);
    for (const char *at = strstr(dump, "\npolygon "); at; at = strstr(at + 1, "\npolygon ")) {
        const char *end = strchr(at + 1, '\n');
        const char *colour = strstr(at, line_end);
        double bottom = NAN, top = NAN;
        if (!colour || colour > end)
            continue;
        for (const char *comma = strchr(at, ','); comma && comma < colour;
             comma = strchr(comma + 1, ',')) {
            double y = strtod(comma + 1, NULL);
            bottom = isnan(bottom) ? y : bottom;
            top = isnan(top) ? y : fmin(top, y);
        }
        return bottom - top;
    }
    return NAN;
}

/* 10 GB kept and a ramp to 30 GB at half of the time, of a limit of 50 GB that stands at
 * 44 / 1.28 = 34.375 pt: the stack reaches 30 / 50 of that, the kept layer 10 / 50. */
START_TEST(a_curve_is_to_the_scale_of_its_limit)
{
    const int64_t at_ps[] = {0, 5 * ms_in_ps, 10 * ms_in_ps};
    const double kept[] = {10e9, 10e9, 10e9}, ramp[] = {0, 20e9, 0};
    const struct timeline_layer layers[] = {{"kept", STYLE_OTHER, 0.0, kept},
                                            {"activations", STYLE_OPTIMIZER, 0.0, ramp}};
    const struct timeline_curve curve = {.label = "memory",
                                         .at_ps = at_ps,
                                         .count = 3,
                                         .layers = layers,
                                         .layer_count = 2,
                                         .limit = 50e9,
                                         .limit_label = "50 GB"};
    const struct timeline_row row = {.label = "compute"};
    const struct timeline timeline = {
        .title = "", .end_ps = 10 * ms_in_ps, .rows = &row, .row_count = 1, .curve = &curve};
    timeline_draw(&timeline, &(struct style_page){480.0, 100.0, 1}, canvas);
    struct text dump = text_new(arena);
    canvas_dump(canvas, &dump);
    ck_assert_ptr_nonnull(strstr(dump.bytes, "'50 GB'"));
    CHECK_NEAR(polygon_height_pt(dump.bytes, "#009E73"), 0.6 * 34.375, 0.01);
    CHECK_NEAR(polygon_height_pt(dump.bytes, "#666666"), 0.2 * 34.375, 0.01);
}
END_TEST

START_TEST(thousands_of_spans_make_a_small_file)
{
    enum { ROWS = 3 };
    const size_t span_count = 100000;
    const struct timeline_row rows[ROWS] = {{.label = "a"}, {.label = "b"}, {.label = "c"}};
    struct timeline_span *spans = arena_alloc(arena, span_count, sizeof *spans);
    uint64_t seed = 7;
    int64_t at_ps = 0;
    for (size_t i = 0; i < span_count; i++) {
        int64_t end_ps = at_ps + 1000 + check_random_below(&seed, 1000000);
        spans[i] = (struct timeline_span){at_ps,
                                          end_ps,
                                          check_random_below(&seed, ROWS),
                                          (enum style_slot)check_random_below(&seed, 8),
                                          0.0,
                                          "kernel",
                                          check_random_below(&seed, 2) == 0};
        at_ps = end_ps;
    }
    const struct timeline timeline = {.title = "Many",
                                      .end_ps = at_ps,
                                      .rows = rows,
                                      .row_count = ROWS,
                                      .spans = spans,
                                      .span_count = span_count};
    struct error_list errors = {0};
    struct text svg = text_new(arena);
    timeline_draw(&timeline, &STYLE_PAGE_WEB, canvas);
    ck_assert(canvas_write(canvas, "many.svg", &svg, &errors));
    ck_assert_uint_le(svg.length, 1000000);
}
END_TEST

START_TEST(the_same_timeline_is_the_same_bytes_in_any_order_of_spans)
{
    uint64_t seed = 3;
    struct timeline timeline = random_timeline(&seed);
    struct timeline_span *turned = arena_alloc(arena, timeline.span_count + 1, sizeof *turned);
    /* Distinct starts, so that their order is settled by the spans and not by their place. */
    for (size_t i = 0; i < timeline.span_count; i++) {
        turned[i] = timeline.spans[timeline.span_count - 1 - i];
        turned[i].start_ps = (int64_t)(timeline.span_count - i) * 1000;
        turned[i].end_ps = turned[i].start_ps + 700;
    }
    struct timeline_span *straight =
        arena_alloc(arena, timeline.span_count + 1, sizeof *straight);
    for (size_t i = 0; i < timeline.span_count; i++)
        straight[i] = turned[timeline.span_count - 1 - i];
    struct text first = text_new(arena), second = text_new(arena);
    struct canvas *again = canvas_new(arena, "DejaVu Sans");
    timeline.spans = turned;
    timeline_draw(&timeline, &STYLE_PAGE_WEB, canvas);
    timeline.spans = straight;
    timeline_draw(&timeline, &STYLE_PAGE_WEB, again);
    canvas_dump(canvas, &first);
    canvas_dump(again, &second);
    ck_assert_str_eq(first.bytes, second.bytes);
    canvas_free(again);
}
END_TEST

START_TEST(nothing_at_all_is_still_a_picture)
{
    struct error_list errors = {0};
    struct text png = text_new(arena);
    timeline_draw(&(struct timeline){.title = "Nothing ran"}, &STYLE_PAGE_SINGLE, canvas);
    check_texts(canvas);
    check_marks(canvas);
    ck_assert(canvas_write(canvas, "x.png", &png, &errors));
}
END_TEST

START_TEST(a_path_that_cannot_be_written_is_an_error)
{
    struct error_list errors = {0};
    struct text svg = text_new(arena);
    const char *path = "/nonexistent/folder/step.svg";
    timeline_draw(&(struct timeline){.title = "Nothing ran"}, &STYLE_PAGE_WEB, canvas);
    ck_assert(canvas_write(canvas, path, &svg, &errors));
    ck_assert(!text_write_file(&svg, path, &errors));
    ck_assert_int_eq(errors.items[0].kind, ERROR_IO);
}
END_TEST

Suite *
timeline_suite(void)
{
    TCase *tests;
    Suite *suite = check_canvas_suite("timeline", &tests);
    tcase_add_test(tests, a_small_timeline_is_drawn_to_scale);
    tcase_add_loop_test(tests, no_text_overlaps_or_is_cut_whatever_is_drawn, 0,
                        CHECK_TRIES(100));
    tcase_add_test(tests, merged_spans_keep_the_area_of_each_colour);
    tcase_add_test(tests, a_curve_is_to_the_scale_of_its_limit);
    tcase_add_test(tests, a_layer_too_thin_for_its_name_gets_a_swatch);
    tcase_add_test(tests, thousands_of_spans_make_a_small_file);
    tcase_add_test(tests, the_same_timeline_is_the_same_bytes_in_any_order_of_spans);
    tcase_add_test(tests, nothing_at_all_is_still_a_picture);
    tcase_add_test(tests, a_path_that_cannot_be_written_is_an_error);
    return suite;
}
