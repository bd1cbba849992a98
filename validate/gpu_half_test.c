/* Are reals of 16 bits read as the standards write them? */
#include "validate/gpu_half.h"

#include <check.h>
#include <math.h>

Suite *gpu_half_suite(void);

START_TEST(bf16_is_the_upper_half_of_fp32)
{
    const uint16_t halves[] = {0x3f80, 0xc040, 0x0000, 0x3fc0};
    float reals[4];
    gpu_half_widen(DTYPE_BF16, halves, reals, 4);
    ck_assert(reals[0] == 1 && reals[1] == -3 && reals[2] == 0 && reals[3] == 1.5F);
}
END_TEST

/* 0x3c00: exponent 15 - 15 = 0; 0x7bff: 2047 / 1024 x 2^15 = 65,504; 0x0001: 2^-24 */
START_TEST(fp16_has_its_normal_subnormal_and_largest_values)
{
    const uint16_t halves[] = {0x3c00, 0x7bff, 0x0001, 0xc500, 0xfc00, 0x7e00};
    float reals[6];
    gpu_half_widen(DTYPE_FP16, halves, reals, 6);
    ck_assert(reals[0] == 1 && reals[1] == 65504 && reals[2] == 0x1p-24F && reals[3] == -5);
    ck_assert(reals[4] == -INFINITY && reals[5] != reals[5]);
}
END_TEST

START_TEST(fp32_stays_as_it_is)
{
    const float from[] = {1.25F, -7};
    float to[2];
    gpu_half_widen(DTYPE_FP32, from, to, 2);
    ck_assert(to[0] == 1.25F && to[1] == -7);
}
END_TEST

START_TEST(whole_numbers_come_back_as_they_were_written)
{
    const enum dtype dtypes[] = {DTYPE_FP32, DTYPE_BF16, DTYPE_FP16};
    for (int i = 0; i < 3; i++)
        for (int value = -256; value <= 256; value++) {
            float real = 0, back = 0;
            gpu_half_write(dtypes[i], value, &real);
            gpu_half_widen(dtypes[i], &real, &back, 1);
            ck_assert_msg(back == (float)value, "%s %d", dtype_name(dtypes[i]), value);
        }
}
END_TEST

Suite *
gpu_half_suite(void)
{
    Suite *suite = suite_create("gpu_half");
    TCase *tcase = tcase_create("widening");
    tcase_add_test(tcase, bf16_is_the_upper_half_of_fp32);
    tcase_add_test(tcase, fp16_has_its_normal_subnormal_and_largest_values);
    tcase_add_test(tcase, fp32_stays_as_it_is);
    tcase_add_test(tcase, whole_numbers_come_back_as_they_were_written);
    suite_add_tcase(suite, tcase);
    return suite;
}
