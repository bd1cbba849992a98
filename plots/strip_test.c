/* Do the parts that are printed add up to the total that is printed, and stand apart? */
#include "plots/strip.h"

#include <check.h>
#include <math.h>
#include <string.h>

#include "sim/base/check_near.h"
#include "sim/base/check_suite.h"

Suite *strip_suite(void);

/* 1.4 + 1.4 + 1.2 = 4: each down to 1 leaves one; the first of the two that lost 0.4 gets it. */
START_TEST(rounded_parts_add_up_to_the_rounded_sum)
{
    double parts[3] = {1.4, 1.4, 1.2};
    strip_round(arena, parts, 3, 1.0);
    CHECK_NEAR(parts[0], 2.0, 1e-12);
    CHECK_NEAR(parts[1], 1.0, 1e-12);
    CHECK_NEAR(parts[2], 1.0, 1e-12);
}
END_TEST

static const char *
drawn(const struct timeline *timeline, double width_pt)
{
    struct canvas *canvas = canvas_new(arena, "DejaVu Sans");
    struct text dump = text_new(arena);
    strip_draw(strip_new(timeline, width_pt, canvas), (struct canvas_point){10.0, 0.0}, canvas);
    canvas_dump(canvas, &dump);
    canvas_free(canvas);
    return dump.bytes;
}

/* Of 1.0004 s, 0.75 and 0.25 get 750.3 and 250.1: with four digits 750, 250 and 1000 ms. */
START_TEST(pieces_are_drawn_to_scale_in_one_unit)
{
    const struct timeline_piece pieces[] = {{"a", 0.7503, STYLE_FORWARD, 0.0},
                                            {"b", 0.2501, STYLE_BACKWARD, 0.0}};
    const struct timeline timeline = {
        .pieces = pieces, .piece_count = 2, .pieces_title = "Time"};
    const char *dump = drawn(&timeline, 400.0);
    ck_assert(strstr(dump, "'Time: 1000 ms'") != NULL);
    ck_assert(strstr(dump, "'750 ms · 75.0 %'") != NULL);
    ck_assert(strstr(dump, "'250 ms · 25.0 %'") != NULL);
    ck_assert(strstr(dump, "fill 10.00 14.00 300.00 30.00 #0072B2") != NULL);
    ck_assert(strstr(dump, "fill 310.00 14.00 100.00 30.00 #003F63") != NULL);
}
END_TEST

/* A third each: 33.3 % three times would be 99.9 %, 333 ms three times 999 ms. */
START_TEST(printed_times_and_percentages_add_up)
{
    const struct timeline_piece pieces[] = {{"a", 1.0 / 3.0, STYLE_FORWARD, 0.0},
                                            {"b", 1.0 / 3.0, STYLE_BACKWARD, 0.0},
                                            {"c", 1.0 / 3.0, STYLE_OPTIMIZER, 0.0}};
    const struct timeline timeline = {.pieces = pieces, .piece_count = 3};
    const char *dump = drawn(&timeline, 600.0);
    ck_assert(strstr(dump, "'1000 ms'") != NULL);
    const char *first = strstr(dump, "'334 ms · 33.4 %'");
    const char *second = strstr(dump, "'333 ms · 33.3 %'");
    ck_assert(first != NULL && second != NULL);
    ck_assert(strstr(second + 1, "'333 ms · 33.3 %'") != NULL);
}
END_TEST

/* 45 of 1000 ms on 800 pt are 36 pt: less than "45 ms · 4.5 %" or "gradient norm" take in 7 pt,
 * more than "gradient". */
START_TEST(a_narrow_part_has_its_name_in_two_lines_and_its_time)
{
    const struct timeline_piece pieces[] = {{"most", 0.955, STYLE_FORWARD, 0.0},
                                            {"gradient norm", 0.045, STYLE_OPTIMIZER, 0.0}};
    const struct timeline timeline = {.pieces = pieces, .piece_count = 2};
    const char *dump = drawn(&timeline, 800.0);
    ck_assert(strstr(dump, "7.0 'gradient'\n") != NULL);
    ck_assert(strstr(dump, "7.0 'norm'\n") != NULL);
    ck_assert(strstr(dump, "7.0 '45 ms'\n") != NULL);
}
END_TEST

START_TEST(what_is_no_length_of_time_is_left_out)
{
    const struct timeline_piece pieces[] = {{"nan", (double)NAN, STYLE_FORWARD, 0.0},
                                            {"minus", -1.0, STYLE_FORWARD, 0.0},
                                            {"endless", (double)INFINITY, STYLE_FORWARD, 0.0},
                                            {"zero", 0.0, STYLE_FORWARD, 0.0},
                                            {"real", 2e-3, STYLE_BACKWARD, 0.0}};
    const struct timeline none = {.pieces = pieces, .piece_count = 4};
    const struct timeline one = {.pieces = pieces, .piece_count = 5};
    ck_assert_str_eq(drawn(&none, 400.0), "canvas 0.00 0.00\n");
    ck_assert(strstr(drawn(&one, 400.0), "'2000 µs · 100.0 %'") != NULL);
}
END_TEST

/* Thin parts near each other: their names stand below the bar, each with three lines to it. */
START_TEST(thin_parts_are_named_below_with_a_line)
{
    const struct timeline_piece pieces[] = {{"most", 0.9, STYLE_FORWARD, 0.0},
                                            {"thin", 0.02, STYLE_OPTIMIZER, 0.0},
                                            {"rest", 0.5, STYLE_HOST, 0.0}};
    const struct timeline timeline = {.pieces = pieces, .piece_count = 3};
    const char *dump = drawn(&timeline, 400.0);
    ck_assert(strstr(dump, "'thin'") != NULL);
    size_t lines = 0;
    for (const char *at = dump; (at = strstr(at, "\nline ")) != NULL; at++)
        lines++;
    ck_assert_uint_eq(lines, 2 + 3); /* between the parts, and to the name */
}
END_TEST

Suite *
strip_suite(void)
{
    TCase *tests;
    Suite *suite = check_suite_new("strip", &tests);
    tcase_add_test(tests, rounded_parts_add_up_to_the_rounded_sum);
    tcase_add_test(tests, pieces_are_drawn_to_scale_in_one_unit);
    tcase_add_test(tests, printed_times_and_percentages_add_up);
    tcase_add_test(tests, a_narrow_part_has_its_name_in_two_lines_and_its_time);
    tcase_add_test(tests, what_is_no_length_of_time_is_left_out);
    tcase_add_test(tests, thin_parts_are_named_below_with_a_line);
    return suite;
}
