/* Is what was drawn what is recorded, and are the files whole and the same every time? */
#include "plots/canvas.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "plots/check_canvas.h"
#include "sim/base/check_near.h"

Suite *canvas_suite(void);

/* A font that the build depends on, so that widths are the same on every machine. */
static const char test_fonts[] = "DejaVu Sans";

static void
set_up(void)
{
    check_canvas_set_up();
    canvas_set_size(canvas, 120.0, 60.0);
}

static void
draw_a_little(struct canvas *on)
{
    const struct canvas_font font = {9.0, true, 0x1A1A1A, CANVAS_CENTRE};
    canvas_set_title(on, "a little");
    canvas_fill(on, (struct canvas_box){10, 10, 40, 20}, 0x0072B2);
    canvas_fill(on, (struct canvas_box){50, 10, 10, 20}, 0x0072B2);
    canvas_clip(on, (struct canvas_box){0, 0, 100, 60});
    canvas_hatch(on, (struct canvas_box){70, 10, 40, 20}, 0x666666);
    canvas_unclip(on);
    canvas_outline(on, (struct canvas_box){10, 10, 40, 20}, 0.75, 0x000000);
    canvas_line(on, (struct canvas_point){0, 40}, (struct canvas_point){120, 40}, 0.5,
                0xDDDDDD);
    canvas_quad(on, (struct canvas_point[4]){{0, 0}, {5, 0}, {8, 6}, {0, 6}}, 0xEAEAEA);
    const struct canvas_point way[] = {{20, 30}, {40, 55}, {60, 30}};
    canvas_curve(on, (struct canvas_path){way, 3}, 1.5, 0x009E73);
    canvas_curve(on, (struct canvas_path){way, 1}, 1.5, 0x009E73); /* no line */
    canvas_polygon(on, (struct canvas_path){way, 3}, 0xD55E00, 0.25);
    canvas_dot(on, way[1], 2.0, 0x000000);
    canvas_text(on, (struct canvas_point){60, 50}, &font, "1.5 µs");
}

/* The text: advances of DejaVu Sans Bold in 1/2048 em, 1425 778 1425 713 1507 1219 for "1.5 µs",
 * are 31.06 pt at 9 pt; half of that left of 60. */
START_TEST(the_list_reads_as_it_was_drawn)
{
    struct text dump = text_new(arena);
    draw_a_little(canvas);
    canvas_dump(canvas, &dump);
    ck_assert_str_eq(dump.bytes, "canvas 120.00 60.00\n"
                                 "fill 10.00 10.00 40.00 20.00 #0072B2\n"
                                 "fill 50.00 10.00 10.00 20.00 #0072B2\n"
                                 "clip 0.00 0.00 100.00 60.00\n"
                                 "hatch 70.00 10.00 40.00 20.00 #666666\n"
                                 "unclip\n"
                                 "outline 10.00 10.00 40.00 20.00 #000000 0.75\n"
                                 "line 0.00,40.00 120.00,40.00 #DDDDDD 0.50\n"
                                 "quad 0.00,0.00 5.00,0.00 8.00,6.00 0.00,6.00 #EAEAEA\n"
                                 "curve 20.00,30.00 40.00,55.00 60.00,30.00 #009E73 1.50\n"
                                 "polygon 20.00,30.00 40.00,55.00 60.00,30.00 #D55E00 0.25\n"
                                 "dot 40.00,55.00 2.00 #000000\n"
                                 "text 44.47 50.00 #1A1A1A 9.0 bold '1.5 µs'\n");
    /* 40 * 20 + 10 * 20 */
    CHECK_NEAR(canvas_filled_area_pt2(canvas, 0x0072B2), 1000.0, 1e-12);
}
END_TEST

/* The magic of each format: PNG's eight bytes, "%PDF-1.5", an XML prologue. */
START_TEST(each_format_begins_as_it_must_and_repeats_byte_for_byte)
{
    static const char *const paths[3] = {"a.svg", "b/c.pdf", "d.png"};
    static const char *const magics[3] = {"<?xml version=\"1.0\"", "%PDF-1.5",
                                          "\x89PNG\r\n\x1a\n"};
    struct error_list errors = {0};
    struct canvas *again = canvas_new(arena, test_fonts);
    canvas_set_size(again, 120.0, 60.0);
    draw_a_little(canvas);
    draw_a_little(again);
    for (int i = 0; i < 3; i++) {
        struct text first = text_new(arena), second = text_new(arena);
        ck_assert(canvas_write(canvas, paths[i], &first, &errors));
        ck_assert(canvas_write(again, paths[i], &second, &errors));
        ck_assert_mem_eq(first.bytes, magics[i], strlen(magics[i]));
        ck_assert_uint_eq(first.length, second.length);
        ck_assert_mem_eq(first.bytes, second.bytes, first.length);
    }
    ck_assert_int_eq(errors.count, 0);
    canvas_free(again);
}
END_TEST

/* Width and height are the big-endian words at 16 and 20: 120 and 60 pt of 8/3 dots. */
START_TEST(a_png_has_two_dots_a_css_pixel)
{
    struct error_list errors = {0};
    struct text png = text_new(arena);
    ck_assert(canvas_write(canvas, "x.png", &png, &errors));
    ck_assert_mem_eq(png.bytes + 16, "\0\0\x01\x40\0\0\0\xA0", 8);
}
END_TEST

/* 120 x 60 pt, one and a half times: 180 x 90 pt are 480 x 240 dots. */
START_TEST(an_enlarged_picture_has_more_dots_for_the_same_list)
{
    struct error_list errors = {0};
    struct text png = text_new(arena), svg = text_new(arena), before = text_new(arena),
                after = text_new(arena);
    draw_a_little(canvas);
    canvas_dump(canvas, &before);
    canvas_enlarge(canvas, 1.5);
    canvas_dump(canvas, &after);
    ck_assert_str_eq(before.bytes, after.bytes);
    ck_assert(canvas_write(canvas, "x.png", &png, &errors));
    ck_assert_mem_eq(png.bytes + 16, "\0\0\x01\xE0\0\0\0\xF0", 8);
    ck_assert(canvas_write(canvas, "x.svg", &svg, &errors));
    ck_assert_ptr_nonnull(strstr(svg.bytes, "width=\"180pt\" height=\"90pt\""));
}
END_TEST

START_TEST(an_svg_says_its_title)
{
    struct error_list errors = {0};
    struct text svg = text_new(arena);
    canvas_set_title(canvas, "a < b & c");
    canvas_fill(canvas, (struct canvas_box){0, 0, 1, 1}, 0);
    ck_assert(canvas_write(canvas, "x.svg", &svg, &errors));
    ck_assert(strstr(svg.bytes, ">\n<title>a &lt; b &amp; c</title>\n<") != NULL);
    ck_assert_uint_eq(strlen(svg.bytes), svg.length);
    ck_assert_str_eq(svg.bytes + svg.length - 7, "</svg>\n");
}
END_TEST

START_TEST(another_ending_is_refused)
{
    static const char *const paths[] = {"step.gif", "", "svg", "a.SVG", "x.png.txt"};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        struct error_list errors = {0};
        struct text out = text_new(arena);
        ck_assert(!canvas_write(canvas, paths[i], &out, &errors));
        ck_assert_int_eq(errors.count, 1);
        ck_assert_int_eq(errors.items[0].kind, ERROR_INPUT);
        ck_assert_str_eq(errors.items[0].where, paths[i]);
        ck_assert_uint_eq(out.length, 0);
    }
}
END_TEST

/* cairo's image surfaces end at 32767 dots a side. */
START_TEST(too_large_a_picture_is_an_error)
{
    struct error_list errors = {0};
    struct text out = text_new(arena);
    canvas_set_size(canvas, 120.0, 20000.0);
    ck_assert(!canvas_write(canvas, "tall.png", &out, &errors));
    ck_assert_int_eq(errors.items[0].kind, ERROR_IO);
    ck_assert_uint_eq(out.length, 0);
}
END_TEST

START_TEST(text_that_is_not_text_is_made_so)
{
    const struct canvas_font font = {.size_pt = 8.0};
    struct text dump = text_new(arena);
    canvas_text(canvas, (struct canvas_point){0, 10}, &font, "a\xff\nb\x01 \xe2\x82");
    canvas_text(canvas, (struct canvas_point){0, 20}, &font, "");
    canvas_dump(canvas, &dump);
    ck_assert_str_eq(dump.bytes, "canvas 120.00 60.00\n"
                                 "text 0.00 10.00 #000000 8.0 'a? b  ?"
                                 "?'\n");
}
END_TEST

START_TEST(text_is_cut_to_its_room)
{
    const struct canvas_font font = {.size_pt = 8.0};
    const char *label = "größer als der Platz";
    double whole = canvas_text_width_pt(canvas, &font, label);
    ck_assert_str_eq(canvas_text_cut(canvas, &font, label, whole), label);
    ck_assert_str_eq(canvas_text_cut(canvas, &font, label, 0.0), "");
    for (int step = 0; step < 50; step++) {
        double room = whole * step / 50.0;
        const char *cut = canvas_text_cut(canvas, &font, label, room);
        ck_assert(canvas_text_width_pt(canvas, &font, cut) <= room);
        ck_assert(strchr(cut, '?') == NULL); /* no letter is cut in two */
    }
}
END_TEST

Suite *
canvas_suite(void)
{
    Suite *suite = suite_create("canvas");
    TCase *tests = tcase_create("canvas");
    tcase_add_checked_fixture(tests, set_up, check_canvas_tear_down);
    tcase_add_test(tests, the_list_reads_as_it_was_drawn);
    tcase_add_test(tests, each_format_begins_as_it_must_and_repeats_byte_for_byte);
    tcase_add_test(tests, a_png_has_two_dots_a_css_pixel);
    tcase_add_test(tests, an_enlarged_picture_has_more_dots_for_the_same_list);
    tcase_add_test(tests, an_svg_says_its_title);
    tcase_add_test(tests, another_ending_is_refused);
    tcase_add_test(tests, too_large_a_picture_is_an_error);
    tcase_add_test(tests, text_that_is_not_text_is_made_so);
    tcase_add_test(tests, text_is_cut_to_its_room);
    suite_add_tcase(suite, tests);
    return suite;
}
