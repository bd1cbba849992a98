/* Is every kernel of the CPU right on random operands, and is what cannot be measured refused?
 */
#include "validate/measure_cpu.h"

#include <string.h>

#include "sim/base/check_arena.h"
#include "sim/base/check_near.h"
#include "sim/base/json.h"

Suite *measure_cpu_suite(void);

static struct arena *arena;
static struct error_list errors;

static void
setup(void)
{
    arena = check_arena_new();
    memset(&errors, 0, sizeof errors);
}

static void
teardown(void)
{
    arena_free(arena);
}

/* A small cache, so that the tests stay small. */
static struct measure_cpu_options
small_options(void)
{
    return (struct measure_cpu_options){
        .effort = {.warmups = 1, .repeats_min = 3, .repeats_max = 3, .budget_s = 0},
        .cache_bytes = 1e6,
        .memory_bytes = 1e9,
        .seed = 7,
    };
}

static bool
measure_text(const char *text, const struct measure_cpu_options *options,
             struct measure_result *result)
{
    struct kernel kernel;
    const struct json *object = json_read_text(arena, "t", 1, text, strlen(text), &errors);
    return object != NULL && kernel_read(object, &kernel, arena, &errors) &&
           measure_cpu(&kernel, options, result, arena, &errors);
}

/* Sizes that are no multiple of lanes, blocks or lines; every kind in every direction. */
static const char *const kernels[] = {
    "{\"kernel\":\"gemm\",\"m\":33,\"n\":70,\"k\":129,\"batch\":3,\"layout\":\"nn\",\"dtype\":"
    "\"fp32\"}",
    "{\"kernel\":\"gemm\",\"m\":133,\"n\":170,\"k\":29,\"layout\":\"nt\",\"dtype\":\"fp32\"}",
    "{\"kernel\":\"gemm\",\"m\":133,\"n\":170,\"k\":29,\"layout\":\"tn\",\"dtype\":\"fp32\"}",
    "{\"kernel\":\"grouped_gemm\",\"rows\":[70,0,13],\"n\":99,\"k\":65,\"dtype\":\"fp32\"}",
    "{\"kernel\":\"elementwise\",\"op\":\"copy\",\"elements\":1001,\"dtype\":\"fp32\","
    "\"read_bytes\":4004,\"write_bytes\":4004,\"launches\":1}",
    "{\"kernel\":\"elementwise\",\"op\":\"add\",\"elements\":1001,\"dtype\":\"fp32\","
    "\"read_bytes\":8008,\"write_bytes\":4004,\"launches\":1}",
    "{\"kernel\":\"elementwise\",\"op\":\"gelu\",\"elements\":1001,\"dtype\":\"fp32\","
    "\"read_bytes\":4004,\"write_bytes\":4004,\"launches\":1}",
    "{\"kernel\":\"elementwise\",\"op\":\"silu_mul\",\"elements\":1001,\"dtype\":\"fp32\","
    "\"read_bytes\":8008,\"write_bytes\":4004,\"launches\":1}",
    "{\"kernel\":\"elementwise\",\"op\":\"silu_mul\",\"elements\":1001,\"dtype\":\"fp32\","
    "\"read_bytes\":12012,\"write_bytes\":8008,\"launches\":2}",
    "{\"kernel\":\"rms_norm\",\"rows\":9,\"width\":77,\"dtype\":\"fp32\"}",
    "{\"kernel\":\"rms_norm\",\"rows\":9,\"width\":77,\"dtype\":\"fp32\",\"direction\":"
    "\"backward\"}",
    "{\"kernel\":\"softmax\",\"rows\":9,\"width\":77,\"dtype\":\"fp32\"}",
    "{\"kernel\":\"softmax\",\"rows\":9,\"width\":77,\"dtype\":\"fp32\",\"direction\":"
    "\"backward\"}",
    "{\"kernel\":\"gather\",\"rows\":9,\"width\":77,\"dtype\":\"fp32\"}",
    "{\"kernel\":\"scatter_add\",\"rows\":9,\"width\":77,\"dtype\":\"fp32\"}",
    "{\"kernel\":\"transpose\",\"rows\":41,\"width\":77,\"dtype\":\"fp32\"}",
    "{\"kernel\":\"top_k\",\"rows\":41,\"experts\":77,\"k\":6,\"dtype\":\"fp32\"}",
    "{\"kernel\":\"cross_entropy\",\"rows\":9,\"vocab\":777,\"dtype\":\"fp32\","
    "\"direction\":\"forward\"}",
    "{\"kernel\":\"cross_entropy\",\"rows\":9,\"vocab\":777,\"dtype\":\"fp32\","
    "\"direction\":\"backward\"}",
    "{\"kernel\":\"adamw\",\"parameters\":1003,\"dtype\":\"fp32\"}",
    "{\"kernel\":\"copy\",\"bytes\":4004,\"from\":\"hbm\",\"to\":\"hbm\"}",
};

enum { KERNEL_TEXT_COUNT = sizeof kernels / sizeof kernels[0] };

START_TEST(every_kernel_agrees_with_its_reference)
{
    struct measure_cpu_options options = small_options();
    struct measure_result result;
    ck_assert_msg(measure_text(kernels[_i], &options, &result), "%s: %s", kernels[_i],
                  errors.items[0].what);
    ck_assert_int_eq(result.times.repeats, 3);
    ck_assert(result.times.min_s > 0 && result.times.min_s <= result.times.median_s &&
              result.times.median_s <= result.times.max_s);
}
END_TEST

/* 8,192 B a set (two operands of 1,024 fp32), 1.25 MB to go round: 152.6, so 153 sets, but with
 * one warm-up and three repeats no more than 4 are used, and 16 where other memory is swept. Of
 * 262,144 B a set five go round. */
START_TEST(sets_rotate_past_the_cache)
{
    struct measure_cpu_options options = small_options();
    struct measure_result result;
    const char *copy = "{\"kernel\":\"copy\",\"bytes\":4096,\"from\":\"hbm\",\"to\":\"hbm\"}";
    ck_assert(measure_text(copy, &options, &result));
    ck_assert_int_eq(result.operand_sets, 4);
    options.effort.repeats_max = 1000;
    ck_assert(measure_text(copy, &options, &result));
    ck_assert_int_eq(result.operand_sets, 16);
    copy = "{\"kernel\":\"copy\",\"bytes\":131072,\"from\":\"hbm\",\"to\":\"hbm\"}";
    ck_assert(measure_text(copy, &options, &result));
    ck_assert_int_eq(result.operand_sets, 5);
}
END_TEST

START_TEST(operands_beyond_memory_are_refused)
{
    struct measure_cpu_options options = small_options();
    struct measure_result result;
    ck_assert(!measure_text("{\"kernel\":\"gemm\",\"m\":1000000000,\"n\":1000000000,"
                            "\"k\":1000000000,\"batch\":1000000000,\"layout\":\"nn\","
                            "\"dtype\":\"fp32\"}",
                            &options, &result));
    ck_assert_ptr_nonnull(strstr(errors.items[0].what, "operands take"));
}
END_TEST

START_TEST(the_machine_has_a_cache_and_memory)
{
    struct measure_cpu_options options = measure_cpu_options_new();
    ck_assert(options.cache_bytes > 0);
    ck_assert(options.memory_bytes > 0);
    ck_assert_ptr_nonnull(strstr(measure_cpu_library(arena), "OpenBLAS"));
    ck_assert_ptr_nonnull(strstr(measure_cpu_device(1, arena), "1 thread"));
}
END_TEST

Suite *
measure_cpu_suite(void)
{
    Suite *suite = suite_create("measure_cpu");
    TCase *measuring = tcase_create("measuring");
    tcase_add_checked_fixture(measuring, setup, teardown);
    tcase_add_loop_test(measuring, every_kernel_agrees_with_its_reference, 0,
                        KERNEL_TEXT_COUNT);
    tcase_add_test(measuring, sets_rotate_past_the_cache);
    tcase_add_test(measuring, operands_beyond_memory_are_refused);
    tcase_add_test(measuring, the_machine_has_a_cache_and_memory);
    suite_add_tcase(suite, measuring);
    return suite;
}
