/* Does a reader of PNG get back the dots that were written? */
#include "plots/png.h"

#include <check.h>
#include <png.h>

#include "sim/base/check_suite.h"

Suite *png_suite(void);

/* Lines of three dots, a fourth beside them and what is above the colours left out. */
START_TEST(dots_come_back)
{
    const uint32_t dots[] = {0x00FF8001u, 0xFF000000u, 0x7FFFFFFFu, 0x00123456u,
                             0x000072B2u, 0x00D55E00u, 0x00010203u, 0x00123456u};
    static const unsigned char wanted[] = {0xFF, 0x80, 0x01, 0x00, 0x00, 0x00,
                                           0xFF, 0xFF, 0xFF, 0x00, 0x72, 0xB2,
                                           0xD5, 0x5E, 0x00, 0x01, 0x02, 0x03};
    struct text out = text_new(arena);
    text_append(&out, "kept", 4);
    ck_assert(png_append(&(struct png_dots){dots, 3, 2, 4}, &out));
    ck_assert_mem_eq(out.bytes, "kept\x89PNG", 8);

    png_image image = {.version = PNG_IMAGE_VERSION};
    unsigned char found[sizeof wanted];
    ck_assert(png_image_begin_read_from_memory(&image, out.bytes + 4, out.length - 4) != 0);
    ck_assert_uint_eq(image.width, 3);
    ck_assert_uint_eq(image.height, 2);
    image.format = PNG_FORMAT_RGB;
    ck_assert(png_image_finish_read(&image, NULL, found, 0, NULL) != 0);
    ck_assert_mem_eq(found, wanted, sizeof wanted);
}
END_TEST

START_TEST(no_dots_are_refused)
{
    const uint32_t dot = 0;
    struct text out = text_new(arena);
    ck_assert(!png_append(&(struct png_dots){&dot, 0, 0, 0}, &out));
    ck_assert_uint_eq(out.length, 0);
}
END_TEST

Suite *
png_suite(void)
{
    TCase *tests;
    Suite *suite = check_suite_new("png", &tests);
    tcase_add_test(tests, dots_come_back);
    tcase_add_test(tests, no_dots_are_refused);
    return suite;
}
