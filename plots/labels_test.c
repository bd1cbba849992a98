/* Is every label where it can be read, and beside what it is of? */
#include "plots/labels.h"

#include <check.h>
#include <string.h>

#include "plots/check_random.h"
#include "plots/check_texts.h"
#include "plots/style.h"
#include "sim/base/check_arena.h"

Suite *labels_suite(void);

static struct arena *arena;
static struct canvas *canvas;

static const struct canvas_font font = {STYLE_TINY_PT, false, STYLE_INK, CANVAS_LEFT};

static void
set_up(void)
{
    arena = check_arena_new();
    canvas = canvas_new(arena, "DejaVu Sans");
    canvas_set_size(canvas, 400.0, 300.0);
}

static void
tear_down(void)
{
    canvas_free(canvas);
    arena_free(arena);
}

static struct canvas_box
text_box(size_t index)
{
    struct canvas_box box;
    double size_pt = 0.0;
    ck_assert(canvas_text_box(canvas, index, &box, &size_pt));
    return box;
}

/* Right of its mark of 2 pt and the gap of 3. */
START_TEST(a_label_alone_stands_right_of_its_point)
{
    struct label label = {.at = {100, 100}, .radius_pt = 2.0, .text = "alone", .font = font};
    const struct label_field field = {.box = {0, 0, 400, 300}};
    ck_assert_uint_eq(labels_draw(&field, &label, 1, canvas), 1);
    struct canvas_box box = text_box(0);
    ck_assert(box.x_pt >= 105.0 && box.x_pt < 108.0);
    ck_assert(box.y_pt < 100.0 && box.y_pt + box.height_pt > 100.0);
}
END_TEST

/* Between two curves 6 pt apart no letters of 7 pt have room: the label stands beyond one. */
START_TEST(a_label_shut_in_by_curves_gets_out)
{
    struct label label = {.at = {100, 100}, .radius_pt = 2.0, .text = "shut in", .font = font};
    const struct canvas_point above[] = {{0, 97}, {400, 97}}, below[] = {{0, 103}, {400, 103}};
    const struct canvas_path paths[] = {{above, 2}, {below, 2}};
    const struct label_field field = {.box = {0, 0, 400, 300}, .paths = paths, .path_count = 2};
    ck_assert_uint_eq(labels_draw(&field, &label, 1, canvas), 1);
    struct canvas_box box = text_box(0);
    ck_assert(box.y_pt + box.height_pt < 97.0 || box.y_pt > 103.0);
}
END_TEST

/* What stands right of the point drives the label to another side of it. */
START_TEST(a_label_keeps_off_what_is_taken)
{
    struct label label = {.at = {100, 100}, .radius_pt = 2.0, .text = "moved", .font = font};
    const struct canvas_box taken = {102, 60, 200, 80};
    const struct label_field field = {
        .box = {0, 0, 400, 300}, .taken = &taken, .taken_count = 1};
    ck_assert_uint_eq(labels_draw(&field, &label, 1, canvas), 1);
    struct canvas_box box = text_box(0);
    ck_assert(!check_boxes_overlap(&box, &taken));
}
END_TEST

/* A dot where the label would stand is left free: the label goes above. */
START_TEST(a_label_covers_no_dot)
{
    struct label label = {.at = {100, 100}, .radius_pt = 2.0, .text = "above", .font = font};
    const struct label_disc disc = {{112, 100}, 2.0, true};
    const struct label_field field = {.box = {0, 0, 400, 300}, .discs = &disc, .disc_count = 1};
    ck_assert_uint_eq(labels_draw(&field, &label, 1, canvas), 1);
    struct canvas_box box = text_box(0);
    ck_assert(box.y_pt + box.height_pt < 100.0);
}
END_TEST

START_TEST(a_field_too_small_has_no_label)
{
    struct label label = {
        .at = {5, 5}, .radius_pt = 2.0, .text = "far too wide for that", .font = font};
    const struct label_field field = {.box = {0, 0, 20, 20}};
    ck_assert_uint_eq(labels_draw(&field, &label, 1, canvas), 0);
}
END_TEST

/* The only free ground is 60 wide, the text about 200: its middle goes, and an SVG says it all. */
START_TEST(a_label_too_long_for_its_place_keeps_both_ends)
{
    static const char text[] =
        "a plan of many words that differs from the next in its last: 815 ms";
    struct label label = {.at = {5, 20}, .radius_pt = 2.0, .text = text, .font = font};
    const struct label_field field = {.box = {0, 0, 90, 40}};
    struct text svg = text_new(arena);
    struct error_list errors = {0};
    ck_assert_uint_eq(labels_draw(&field, &label, 1, canvas), 1);
    const struct display_text *drawn = &canvas_display_list(canvas)->items[0].shape.text;
    ck_assert_ptr_nonnull(strstr(drawn->text, "…"));
    ck_assert_int_eq(strncmp(drawn->text, "a plan", 6), 0);
    ck_assert_ptr_nonnull(strstr(drawn->text, "815 ms"));
    ck_assert_str_eq(drawn->whole, text);
    ck_assert(canvas_write(canvas, "x.svg", &svg, &errors));
    ck_assert_ptr_nonnull(strstr(svg.bytes, text));
}
END_TEST

/* Of nine: the ends, the middle, the quarters, the eighths. */
START_TEST(first_choices_are_even)
{
    static const char *const names[] = {"0", "1", "2", "3", "4", "5", "6", "7", "8"};
    static const int wanted[] = {0, 8, 4, 2, 6, 1, 3, 5, 7};
    struct label labels[9] = {{.text = NULL}};
    for (int i = 0; i < 9; i++)
        labels[i].text = names[i];
    labels_order_evenly(arena, labels, 9);
    for (int i = 0; i < 9; i++)
        ck_assert_str_eq(labels[i].text, names[wanted[i]]);
    for (size_t count = 0; count < 40; count++) { /* none is lost */
        struct label row[40] = {{.text = NULL}};
        double sum = 0;
        for (size_t i = 0; i < count; i++)
            row[i].radius_pt = (double)(1 << (i % 30)) + (i < 30 ? 0 : 0.5);
        for (size_t i = 0; i < count; i++)
            sum += row[i].radius_pt;
        labels_order_evenly(arena, row, count);
        for (size_t i = 0; i < count; i++)
            sum -= row[i].radius_pt;
        ck_assert(sum == 0);
    }
}
END_TEST

/* Dots, discs and a curve anywhere: no label lies on another or on one of these. */
START_TEST(labels_never_overlap)
{
    enum { COUNT = 60, BENDS = 5 };
    uint64_t seed = (uint64_t)_i + 1;
    struct label labels[COUNT];
    struct label_disc discs[COUNT];
    struct canvas_point bends[BENDS];
    for (int i = 0; i < COUNT; i++) {
        discs[i] = (struct label_disc){
            {(double)check_random_below(&seed, 400), (double)check_random_below(&seed, 300)},
            i % 8 == 0 ? (double)check_random_below(&seed, 16) : 2.0,
            i % 3 == 0};
        canvas_dot(canvas, discs[i].centre, discs[i].radius_pt, STYLE_INK);
        labels[i] = (struct label){.at = discs[i].centre,
                                   .radius_pt = discs[i].radius_pt,
                                   .text = check_random_name(&seed, arena),
                                   .font = font};
        labels[i].font.size_pt = 7.0 + (double)check_random_below(&seed, 3);
    }
    for (int i = 0; i < BENDS; i++)
        bends[i] = (struct canvas_point){(double)check_random_below(&seed, 400),
                                         (double)check_random_below(&seed, 300)};
    const struct canvas_path path = {bends, BENDS};
    canvas_curve(canvas, path, 1.0, STYLE_INK);
    const struct label_field field = {.box = {0, 0, 400, 300},
                                      .discs = discs,
                                      .disc_count = COUNT,
                                      .paths = &path,
                                      .path_count = 1};
    ck_assert_uint_gt(labels_draw(&field, labels, COUNT, canvas), 3);
    check_texts(canvas);
    check_marks(canvas);
}
END_TEST

Suite *
labels_suite(void)
{
    Suite *suite = suite_create("labels");
    TCase *tests = tcase_create("labels");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, a_label_alone_stands_right_of_its_point);
    tcase_add_test(tests, a_label_keeps_off_what_is_taken);
    tcase_add_test(tests, a_label_shut_in_by_curves_gets_out);
    tcase_add_test(tests, a_label_covers_no_dot);
    tcase_add_test(tests, a_field_too_small_has_no_label);
    tcase_add_test(tests, a_label_too_long_for_its_place_keeps_both_ends);
    tcase_add_test(tests, first_choices_are_even);
    tcase_add_loop_test(tests, labels_never_overlap, 0, CHECK_TRIES(40));
    suite_add_tcase(suite, tests);
    return suite;
}
