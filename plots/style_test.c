/* Can everybody read it: contrast of text, and colours that colour-blind readers tell apart? */
#include "plots/style.h"

#include <check.h>
#include <math.h>

#include "sim/base/check_near.h"

Suite *style_suite(void);

/* WCAG: (1 + 0.05) / (0 + 0.05) = 21. 0x767676 is its well-known grey that just passes: 4.54. */
START_TEST(contrast_is_that_of_wcag)
{
    CHECK_NEAR(style_contrast_ratio(0x000000, 0xFFFFFF), 21.0, 1e-12);
    CHECK_NEAR(style_contrast_ratio(0xFFFFFF, 0x767676), 4.54, 1e-3);
}
END_TEST

START_TEST(text_reads_on_every_colour_and_shade)
{
    const double wanted = 4.5;
    for (int slot = 0; slot < STYLE_SLOT_COUNT; slot++)
        for (int step = -8; step <= 8; step++) {
            uint32_t rgb = style_shade(style_colour((enum style_slot)slot), step / 8.0);
            ck_assert(style_contrast_ratio(style_text_on(rgb), rgb) >= wanted);
        }
    const uint32_t grounds[] = {STYLE_PAPER, STYLE_GUIDE, STYLE_LANE};
    for (int i = 0; i < 3; i++) {
        ck_assert(style_contrast_ratio(STYLE_INK, grounds[i]) >= wanted);
        ck_assert(style_contrast_ratio(STYLE_QUIET, grounds[i]) >= wanted);
    }
}
END_TEST

/* Half way from 0x0072B2 to white: (255 + 0, 114, 178) / 2, rounded half up. */
START_TEST(shades_mix_with_white_and_black)
{
    ck_assert_uint_eq(style_shade(0x0072B2, 0.0), 0x0072B2);
    ck_assert_uint_eq(style_shade(0x0072B2, -0.5), 0x80B9D9);
    ck_assert_uint_eq(style_shade(0x0072B2, 0.5), 0x003959);
    ck_assert_uint_eq(style_shade(0x0072B2, -1.0), 0xFFFFFF);
}
END_TEST

static double
linear_channel(uint32_t rgb, int shift)
{
    double channel = (double)((rgb >> shift) & 0xFFu) / 255.0;
    return channel <= 0.04045 ? channel / 12.92 : pow((channel + 0.055) / 1.055, 2.4);
}

static double
lab_curve(double t)
{
    return t > 0.008856 ? cbrt(t) : 7.787 * fmax(t, 0.0) + 16.0 / 116.0;
}

/* CIE L*a*b* (D65) of what an eye sees whose cones mix linear RGB by the matrix. */
static void
seen_lab(uint32_t rgb, const double eye[9], double lab[3])
{
    static const double to_xyz[9] = {0.4124564, 0.3575761, 0.1804375, 0.2126729, 0.7151522,
                                     0.0721750, 0.0193339, 0.1191920, 0.9503041};
    static const double white[3] = {0.95047, 1.0, 1.08883};
    double seen[3], f[3];
    for (size_t i = 0; i < 3; i++)
        seen[i] = eye[3 * i] * linear_channel(rgb, 16) +
                  eye[3 * i + 1] * linear_channel(rgb, 8) +
                  eye[3 * i + 2] * linear_channel(rgb, 0);
    for (size_t i = 0; i < 3; i++)
        f[i] = lab_curve((to_xyz[3 * i] * seen[0] + to_xyz[3 * i + 1] * seen[1] +
                          to_xyz[3 * i + 2] * seen[2]) /
                         white[i]);
    lab[0] = 116.0 * f[1] - 16.0;
    lab[1] = 500.0 * (f[0] - f[1]);
    lab[2] = 200.0 * (f[1] - f[2]);
}

/* Machado, Oliveira and Fernandes, "A physiologically-based model for simulation of color vision
 * deficiency" (2009), severity 1. A difference of 2.3 is just seen; 14 is another colour. */
START_TEST(colours_differ_for_normal_and_colour_blind_eyes)
{
    static const double eyes[4][9] = {
        {1, 0, 0, 0, 1, 0, 0, 0, 1},
        {0.367322, 0.860646, -0.227968, 0.280085, 0.672501, 0.047413, -0.011820, 0.042940,
         0.968881}, /* deuteranopia */
        {0.152286, 1.052583, -0.204868, 0.114503, 0.786281, 0.099216, -0.003882, -0.048116,
         1.051998}, /* protanopia */
        {1.255528, -0.076749, -0.178779, -0.078411, 0.930809, 0.147602, 0.004733, 0.691367,
         0.303900}, /* tritanopia */
    };
    for (int eye = 0; eye < 4; eye++)
        for (int a = 0; a < STYLE_SLOT_COUNT; a++)
            for (int b = a + 1; b < STYLE_SLOT_COUNT; b++) {
                double one[3], two[3];
                seen_lab(style_colour((enum style_slot)a), eyes[eye], one);
                seen_lab(style_colour((enum style_slot)b), eyes[eye], two);
                double distance = sqrt(pow(one[0] - two[0], 2) + pow(one[1] - two[1], 2) +
                                       pow(one[2] - two[2], 2));
                ck_assert_msg(distance >= 14.0, "eye %d: '%s' and '%s' differ by %.1f", eye,
                              style_slot_name((enum style_slot)a),
                              style_slot_name((enum style_slot)b), distance);
            }
}
END_TEST

Suite *
style_suite(void)
{
    Suite *suite = suite_create("style");
    TCase *tests = tcase_create("style");
    tcase_add_test(tests, contrast_is_that_of_wcag);
    tcase_add_test(tests, text_reads_on_every_colour_and_shade);
    tcase_add_test(tests, shades_mix_with_white_and_black);
    tcase_add_test(tests, colours_differ_for_normal_and_colour_blind_eyes);
    suite_add_tcase(suite, tests);
    return suite;
}
