/* Do parts make up the whole, each point in one? */
#include "sim/cli/slice.h"

#include <check.h>

Suite *slice_suite(void);

START_TEST(a_slice_is_its_number_and_how_many)
{
    struct slice slice;
    ck_assert(slice_parse("3/16", &slice));
    ck_assert_uint_eq(slice.index, 2);
    ck_assert_uint_eq(slice.count, 16);
    ck_assert(slice_parse("1/1", &slice));
    ck_assert(slice_parse("1000000/1000000", &slice));
}
END_TEST

START_TEST(what_is_no_slice_is_refused)
{
    static const char *const texts[] = {"",          "3",    "0/4",  "5/4",  "1/0",
                                        "1/4x",      "-1/4", "1//4", " 1/4", "1/ 4",
                                        "1/1000001", "/4",   "a/b"};
    struct slice slice;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        ck_assert_msg(!slice_parse(texts[i], &slice), "%s", texts[i]);
}
END_TEST

START_TEST(every_point_is_in_one_slice)
{
    for (size_t points = 0; points < 12; points++)
        for (size_t count = 1; count < 15; count++) {
            int times[12] = {0};
            for (size_t index = 0; index < count; index++) {
                struct slice slice = {index, count};
                for (size_t n = 0; n < slice_points(&slice, points); n++)
                    times[slice_point(&slice, n)]++;
            }
            for (size_t point = 0; point < points; point++)
                ck_assert_int_eq(times[point], 1);
        }
}
END_TEST

START_TEST(without_slices_there_is_every_point)
{
    struct slice whole = {0, 0};
    ck_assert_uint_eq(slice_points(&whole, 7), 7);
    ck_assert_uint_eq(slice_point(&whole, 6), 6);
}
END_TEST

Suite *
slice_suite(void)
{
    Suite *suite = suite_create("slice");
    TCase *facts = tcase_create("facts");
    tcase_add_test(facts, a_slice_is_its_number_and_how_many);
    tcase_add_test(facts, what_is_no_slice_is_refused);
    tcase_add_test(facts, every_point_is_in_one_slice);
    tcase_add_test(facts, without_slices_there_is_every_point);
    suite_add_tcase(suite, facts);
    return suite;
}
