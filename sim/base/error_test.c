/* What a list of faults keeps, counts and cuts. */
#include "sim/base/error.h"

#include <check.h>
#include <string.h>

START_TEST(a_fault_is_kept_as_it_was_said)
{
    struct error_list errors = {0};
    ck_assert(
        !error_add(&errors, ERROR_INFEASIBLE, "a.json:1:2: $.x", "is %d, wanted %s", 3, "4"));
    ck_assert_int_eq(errors.count, 1);
    ck_assert_int_eq(error_list_kept(&errors), 1);
    ck_assert_int_eq(errors.items[0].kind, ERROR_INFEASIBLE);
    ck_assert_str_eq(errors.items[0].where, "a.json:1:2: $.x");
    ck_assert_str_eq(errors.items[0].what, "is 3, wanted 4");
}
END_TEST

START_TEST(the_twenty_first_fault_is_only_counted)
{
    struct error_list errors = {0};
    for (int i = 1; i <= 25; i++)
        error_add(&errors, ERROR_INPUT, "", "fault %d", i);
    ck_assert_int_eq(errors.count, 25);
    ck_assert_int_eq(error_list_kept(&errors), 20);
    ck_assert_str_eq(errors.items[0].what, "fault 1");
    ck_assert_str_eq(errors.items[19].what, "fault 20");
}
END_TEST

START_TEST(too_long_a_text_is_cut)
{
    struct error_list errors = {0};
    char letters[300];
    memset(letters, 'x', sizeof letters);
    letters[sizeof letters - 1] = '\0';
    error_add(&errors, ERROR_INPUT, letters, "%s", letters);
    ck_assert_uint_eq(strlen(errors.items[0].where), 255);
    ck_assert_uint_eq(strlen(errors.items[0].what), 255);
}
END_TEST

/* 255 bytes are kept: 127 letters of two bytes and half of one more, which is dropped. */
START_TEST(a_cut_leaves_no_half_letter)
{
    struct error_list errors = {0};
    char letters[301] = "";
    for (int i = 0; i < 300; i++)
        letters[i] = i % 2 ? '\xA9' : '\xC3';
    error_add(&errors, ERROR_INPUT, "", "%s", letters);
    ck_assert_uint_eq(strlen(errors.items[0].what), 254);
    error_add(&errors, ERROR_INPUT, "", "x%s", letters); /* 1 + 127 * 2 bytes: all whole */
    ck_assert_uint_eq(strlen(errors.items[1].what), 255);
}
END_TEST

START_TEST(a_message_is_one_line_without_control_characters)
{
    struct error_list errors = {0};
    error_add(&errors, ERROR_INPUT, "a\nb", "key '%s'", "\x1B[2J\r\n\x7F\xC3\xA9");
    ck_assert_str_eq(errors.items[0].where, "a?b");
    ck_assert_str_eq(errors.items[0].what, "key '?[2J???\xC3\xA9'");
}
END_TEST

Suite *error_suite(void);

Suite *
error_suite(void)
{
    Suite *suite = suite_create("error");
    TCase *tests = tcase_create("error");
    tcase_add_test(tests, a_fault_is_kept_as_it_was_said);
    tcase_add_test(tests, the_twenty_first_fault_is_only_counted);
    tcase_add_test(tests, too_long_a_text_is_cut);
    tcase_add_test(tests, a_cut_leaves_no_half_letter);
    tcase_add_test(tests, a_message_is_one_line_without_control_characters);
    suite_add_tcase(suite, tests);
    return suite;
}
