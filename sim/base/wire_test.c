/* Are the bytes those that the encoding's specification shows? */
#include "sim/base/wire.h"

#include <string.h>

#include <check.h>

Suite *wire_suite(void);

static uint8_t room[64];
static struct wire wire;

static void
set_up(void)
{
    wire = (struct wire){.bytes = room, .room = sizeof room};
}

static void
check_bytes(const char *wanted, size_t length)
{
    ck_assert_uint_eq(wire.length, length);
    ck_assert_mem_eq(room, wanted, length);
}

/* "A Simple Message": field 1 with 150 is 08 96 01. */
START_TEST(integers_take_seven_bits_a_byte)
{
    wire_put_integer(&wire, 1, 150);
    check_bytes("\x08\x96\x01", 3);
}
END_TEST

START_TEST(the_largest_integer_takes_ten_bytes)
{
    wire_put_integer(&wire, 1, UINT64_MAX);
    check_bytes("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11);
}
END_TEST

/* Field 47 is 47 x 8 + 1 = 377 = 0x179: f9 02. */
START_TEST(fixed_numbers_are_little_endian_behind_a_long_tag)
{
    wire_put_fixed64(&wire, 47, 0x0102030405060708u);
    check_bytes("\xf9\x02\x08\x07\x06\x05\x04\x03\x02\x01", 10);
}
END_TEST

/* "Length-Delimited Records": field 2 with "testing" is 12 07 74 65 73 74 69 6e 67. */
START_TEST(texts_stand_behind_their_length)
{
    wire_put_text(&wire, 2, "testing");
    check_bytes("\x12\x07testing", 9);
}
END_TEST

/* "Submessages": field 3 with the message above is 1a 03 08 96 01. */
START_TEST(messages_stand_behind_their_length)
{
    uint8_t inner_room[16];
    struct wire inner = {.bytes = inner_room, .room = sizeof inner_room};
    wire_put_integer(&inner, 1, 150);
    wire_put_message(&wire, 3, &inner);
    check_bytes("\x1a\x03\x08\x96\x01", 5);
}
END_TEST

/* 1.0 is 0x3FF0000000000000. */
START_TEST(doubles_are_their_bits)
{
    wire_put_double(&wire, 1, 1.0);
    check_bytes("\x09\x00\x00\x00\x00\x00\x00\xf0\x3f", 9);
}
END_TEST

Suite *
wire_suite(void)
{
    Suite *suite = suite_create("wire");
    TCase *tests = tcase_create("fields");
    tcase_add_checked_fixture(tests, set_up, NULL);
    tcase_add_test(tests, integers_take_seven_bits_a_byte);
    tcase_add_test(tests, the_largest_integer_takes_ten_bytes);
    tcase_add_test(tests, fixed_numbers_are_little_endian_behind_a_long_tag);
    tcase_add_test(tests, texts_stand_behind_their_length);
    tcase_add_test(tests, messages_stand_behind_their_length);
    tcase_add_test(tests, doubles_are_their_bits);
    suite_add_tcase(suite, tests);
    return suite;
}
