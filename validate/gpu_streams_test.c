/* Is every other stream used, again and again, and given back? */
#include "validate/gpu_streams.h"

#include <check.h>

#include "sim/base/check_arena.h"
#include "validate/check_gpu.h"

Suite *gpu_streams_suite(void);

/* A test's stream is the number of memsets on it. */
static int
sets_on(const struct gpu *gpu, int stream)
{
    return *(const int *)gpu->others.streams[stream];
}

START_TEST(each_of_the_streams_is_used_as_often_as_asked)
{
    struct error_list errors = {0};
    struct gpu gpu = check_gpu_open(GPU_CUDA);
    ck_assert(gpu_streams_open(&gpu, 5, &errors));
    ck_assert_int_eq(gpu.others.count, 5);
    ck_assert(gpu_streams_run(&gpu, &errors));
    for (int i = 0; i < 5; i++)
        ck_assert_int_eq(sets_on(&gpu, i), 2);
    ck_assert_int_eq(check_gpu_live, 5 + 1);
    gpu_streams_close(&gpu);
    ck_assert_int_eq(check_gpu_live, 0);
    check_gpu_close(&gpu);
}
END_TEST

START_TEST(without_streams_nothing_is_used)
{
    struct error_list errors = {0};
    struct gpu gpu = check_gpu_open(GPU_CUDA);
    ck_assert(gpu_streams_open(&gpu, 0, &errors) && gpu_streams_run(&gpu, &errors));
    ck_assert_int_eq(check_gpu_live, 0);
    gpu_streams_close(&gpu);
    check_gpu_close(&gpu);
}
END_TEST

START_TEST(what_fails_is_told_and_the_rest_given_back)
{
    struct error_list errors = {0}, later = {0};
    struct gpu gpu = check_gpu_open(GPU_CUDA);
    check_gpu_faults.memory = 0;
    ck_assert(!gpu_streams_open(&gpu, 3, &errors));
    ck_assert_str_eq(errors.items[0].what, "streams: out of device memory");
    check_gpu_faults.stream = 2;
    ck_assert(!gpu_streams_open(&gpu, 3, &later));
    ck_assert_str_eq(later.items[0].what, "streams: an illegal memory access (700)");
    gpu_streams_close(&gpu);
    ck_assert_int_eq(check_gpu_live, 0);
    check_gpu_close(&gpu);
}
END_TEST

Suite *
gpu_streams_suite(void)
{
    Suite *suite = suite_create("gpu_streams");
    TCase *tcase = tcase_create("others");
    tcase_add_test(tcase, each_of_the_streams_is_used_as_often_as_asked);
    tcase_add_test(tcase, without_streams_nothing_is_used);
    tcase_add_test(tcase, what_fails_is_told_and_the_rest_given_back);
    suite_add_tcase(suite, tcase);
    return suite;
}
