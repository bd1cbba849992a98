/* Is every label where it can be read, and beside what it is of? */
#include "plots/labels.h"

#include <check.h>

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
    const struct label label = {{100, 100}, 2.0, "alone", font};
    const struct label_field field = {.box = {0, 0, 400, 300}};
    ck_assert_uint_eq(labels_draw(&field, &label, 1, canvas), 1);
    struct canvas_box box = text_box(0);
    ck_assert(box.x_pt >= 105.0 && box.x_pt < 108.0);
    ck_assert(box.y_pt < 100.0 && box.y_pt + box.height_pt > 100.0);
}
END_TEST

/* What stands right of the point drives the label to another side of it. */
START_TEST(a_label_keeps_off_what_is_taken)
{
    const struct label label = {{100, 100}, 2.0, "moved", font};
    const struct canvas_box taken = {102, 60, 200, 80};
    const struct label_field field = {
        .box = {0, 0, 400, 300}, .taken = &taken, .taken_count = 1};
    ck_assert_uint_eq(labels_draw(&field, &label, 1, canvas), 1);
    struct canvas_box box = text_box(0);
    ck_assert(!check_boxes_overlap(&box, &taken));
}
END_TEST

/* A dot where the label would stand is left free: the label goes above. */
START_TEST(a_label_does_not_cover_dots_that_it_need_not)
{
    const struct label label = {{100, 100}, 2.0, "above", font};
    const struct canvas_point dot = {112, 100};
    const struct label_field field = {.box = {0, 0, 400, 300}, .dots = &dot, .dot_count = 1};
    ck_assert_uint_eq(labels_draw(&field, &label, 1, canvas), 1);
    struct canvas_box box = text_box(0);
    ck_assert(box.y_pt + box.height_pt < 100.0);
}
END_TEST

START_TEST(a_field_too_small_has_no_label)
{
    const struct label label = {{5, 5}, 2.0, "far too wide for that", font};
    const struct label_field field = {.box = {0, 0, 20, 20}};
    ck_assert_uint_eq(labels_draw(&field, &label, 1, canvas), 0);
}
END_TEST

START_TEST(labels_never_overlap)
{
    enum { COUNT = 60 };
    uint64_t seed = (uint64_t)_i + 1;
    struct label labels[COUNT];
    struct canvas_point dots[COUNT];
    for (int i = 0; i < COUNT; i++) {
        dots[i] = (struct canvas_point){(double)check_random_below(&seed, 400),
                                        (double)check_random_below(&seed, 300)};
        labels[i] = (struct label){dots[i], 2.0, check_random_name(&seed, arena), font};
        labels[i].font.size_pt = 7.0 + (double)check_random_below(&seed, 3);
    }
    const struct label_field field = {
        .box = {0, 0, 400, 300}, .dots = dots, .dot_count = COUNT};
    ck_assert_uint_gt(labels_draw(&field, labels, COUNT, canvas), 3);
    check_texts(canvas);
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
    tcase_add_test(tests, a_label_does_not_cover_dots_that_it_need_not);
    tcase_add_test(tests, a_field_too_small_has_no_label);
    tcase_add_loop_test(tests, labels_never_overlap, 0, 40);
    suite_add_tcase(suite, tests);
    return suite;
}
