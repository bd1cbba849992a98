/* Does the split depend on shape and seed alone, and can others repeat it? */
#include "validate/split.h"

#include <stdio.h>

#include <check.h>

Suite *split_suite(void);

/* Worked by a separate program (Python integers modulo 2^64) that gives the published
 * FNV-1a("a") = af63dc4c8601ec8c and SplitMix64(0)'s first output e220a8397b1dcdaf. */
START_TEST(parts_are_those_of_another_program)
{
    const int wanted[12] = {0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 1, 0};
    for (uint64_t seed = 0; seed < 12; seed++)
        ck_assert_int_eq((int)split_part("gemm m=512 n=4096 k=1024 batch=1", seed),
                         wanted[seed]);
}
END_TEST

/* 1,000 fair coins: mean 500, standard deviation 15.8; five of them either way. */
START_TEST(about_half_is_held_out)
{
    int held_out = 0;
    for (int m = 1; m <= 1000; m++) {
        char shape[64];
        (void)snprintf(shape, sizeof shape, "gemm m=%d n=4096 k=1024 batch=1", m);
        held_out += split_part(shape, SPLIT_SEED_DEFAULT) == SPLIT_HELD_OUT;
    }
    ck_assert_int_gt(held_out, 420);
    ck_assert_int_lt(held_out, 580);
}
END_TEST

START_TEST(parts_have_names)
{
    ck_assert_str_eq(split_part_name(SPLIT_FIT), "fit");
    ck_assert_str_eq(split_part_name(SPLIT_HELD_OUT), "held-out");
}
END_TEST

Suite *
split_suite(void)
{
    Suite *suite = suite_create("split");
    TCase *parts = tcase_create("parts");
    tcase_add_test(parts, parts_are_those_of_another_program);
    tcase_add_test(parts, about_half_is_held_out);
    tcase_add_test(parts, parts_have_names);
    suite_add_tcase(suite, parts);
    return suite;
}
