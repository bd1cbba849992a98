/* Does a drawing survive as SVG within a page: shapes in place, words as words? */
#include "plots/inline_svg.h"

#include <string.h>

#include <check.h>

#include "plots/style.h"
#include "sim/base/check_arena.h"

Suite *inline_svg_suite(void);

static struct arena *arena;
static struct canvas *canvas;

static void
set_up(void)
{
    arena = check_arena_new();
    canvas = canvas_new(arena, STYLE_FONTS);
    canvas_set_size(canvas, 90, 30);
}

static void
tear_down(void)
{
    canvas_free(canvas);
    arena_free(arena);
}

static const char *
written(void)
{
    struct text out = text_new(arena);
    inline_svg_write(canvas, "p", &out);
    return out.bytes;
}

START_TEST(boxes_of_one_colour_are_one_path)
{
    canvas_fill(canvas, (struct canvas_box){1, 2, 3, 4}, 0xFF0000);
    canvas_fill(canvas, (struct canvas_box){5.5, 2, 0.375, 4}, 0xFF0000);
    canvas_fill(canvas, (struct canvas_box){0, 0, 1, 1}, 0x00FF00);
    const char *svg = written();
    ck_assert_ptr_nonnull(strstr(svg, "viewBox=\"0 0 90 30\" width=\"120\" height=\"40\""));
    ck_assert_ptr_nonnull(
        strstr(svg, "<path fill=\"#FF0000\" d=\"M1 2h3v4h-3zM5.5 2h0.38v4h-0.38z\"/>"
                    "<path fill=\"#00FF00\" d=\"M0 0h1v1h-1z\"/></svg>"));
}
END_TEST

START_TEST(words_stay_words)
{
    canvas_set_title(canvas, "a <script>");
    canvas_text(canvas, (struct canvas_point){10, 20},
                &(struct canvas_font){8, true, STYLE_INK, CANVAS_LEFT}, "</svg>&");
    const char *svg = written();
    ck_assert_ptr_nonnull(strstr(svg, "<title>a &lt;script&gt;</title>"));
    ck_assert_ptr_nonnull(strstr(svg, "<text x=\"10\" y=\"20\" font-size=\"8\" "));
    ck_assert_ptr_nonnull(strstr(svg, "fill=\"#1A1A1A\">&lt;/svg&gt;&amp;</text>"));
}
END_TEST

START_TEST(identities_begin_with_the_prefix)
{
    canvas_hatch(canvas, (struct canvas_box){0, 0, 9, 9}, 0x101010);
    canvas_clip(canvas, (struct canvas_box){0, 0, 5, 5});
    canvas_line(canvas, (struct canvas_point){0, 0}, (struct canvas_point){9, 9}, 0.5, 0);
    canvas_unclip(canvas);
    const char *svg = written();
    ck_assert_ptr_nonnull(strstr(svg, "<pattern id=\"ph0\""));
    ck_assert_ptr_nonnull(strstr(svg, "fill=\"url(#ph0)\" d=\"M0 0h9v9h-9z\""));
    ck_assert_ptr_nonnull(strstr(svg, "<g clip-path=\"url(#pc0)\"><path d=\"M0 0L9 9\""));
    ck_assert_ptr_nonnull(strstr(svg, "</g></svg>"));
}
END_TEST

START_TEST(what_is_filled_in_part_says_so)
{
    const struct canvas_point corners[] = {{0, 0}, {4, 0}, {4, -4}};
    canvas_polygon(canvas, (struct canvas_path){corners, 3}, 0x0072B2, 0.15);
    canvas_dot(canvas, (struct canvas_point){2, 3}, 1.5, 0);
    canvas_outline(canvas, (struct canvas_box){0, 0, 10, 10}, 1, 0);
    const char *svg = written();
    ck_assert_ptr_nonnull(
        strstr(svg, "<path d=\"M0 0L4 0 4 -4z\" fill=\"#0072B2\" fill-opacity=\"0.15\"/>"));
    ck_assert_ptr_nonnull(strstr(svg, "<circle cx=\"2\" cy=\"3\" r=\"1.5\""));
    ck_assert_ptr_nonnull(strstr(svg, "d=\"M0.5 0.5h9v9h-9z\""));
}
END_TEST

Suite *
inline_svg_suite(void)
{
    Suite *suite = suite_create("inline_svg");
    TCase *tests = tcase_create("shapes");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, boxes_of_one_colour_are_one_path);
    tcase_add_test(tests, words_stay_words);
    tcase_add_test(tests, identities_begin_with_the_prefix);
    tcase_add_test(tests, what_is_filled_in_part_says_so);
    suite_add_tcase(suite, tests);
    return suite;
}
