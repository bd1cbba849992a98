/* Does the list hold every kind of the vocabulary, and nothing that the CPU cannot run? */
#include "validate/host_list.h"

#include <string.h>

#include <check.h>

#include "hw/collective.h"
#include "sim/base/check_arena.h"
#include "sim/base/check_json.h"
#include "validate/cpu_kernel.h"

Suite *host_list_suite(void);

static struct arena *arena;
static struct error_list errors;

static void
setup(void)
{
    arena = check_arena_new();
    errors = (struct error_list){0};
}

static void
teardown(void)
{
    arena_free(arena);
}

START_TEST(every_line_is_a_kernel_that_the_cpu_runs)
{
    struct text list = text_new(arena);
    int count = host_list_write(&list), lines = 0;
    bool is_seen[KERNEL_KIND_COUNT] = {0};
    for (char *line = strtok(list.bytes, "\n"); line; line = strtok(NULL, "\n"), lines++) {
        struct kernel kernel;
        struct cpu_kernel cpu;
        ck_assert_msg(kernel_read(check_json_read(arena, line), &kernel, arena, &errors) &&
                          cpu_kernel_find(&cpu, &kernel, &errors),
                      "%s: %s", line, errors.items[0].what);
        is_seen[kernel.kind] = true;
    }
    ck_assert_int_eq(lines, count);
    for (int i = 0; i < KERNEL_KIND_COUNT; i++)
        ck_assert_msg(is_seen[i], "%s", kernel_kind_name((enum kernel_kind)i));
}
END_TEST

/* As the GPUs' back ends see them, with a price on a fitted GPU. */
START_TEST(every_line_for_a_gpu_is_a_kernel)
{
    struct text list = text_new(arena);
    int count = host_list_write_gpu(&list), lines = 0;
    for (char *line = strtok(list.bytes, "\n"); line; line = strtok(NULL, "\n"), lines++) {
        struct kernel kernel;
        ck_assert_msg(kernel_read(check_json_read(arena, line), &kernel, arena, &errors),
                      "%s: %s", line, errors.items[0].what);
        ck_assert(kernel.kind != KERNEL_ATTENTION && kernel.kind != KERNEL_CONVOLUTION);
        ck_assert(kernel.kind == KERNEL_COPY || kernel.dtype == DTYPE_BF16 ||
                  kernel.dtype == DTYPE_FP32);
    }
    ck_assert_int_eq(lines, count);
}
END_TEST

START_TEST(every_collective_divides_between_its_ranks)
{
    struct host_collectives wanted = {4, 1e6, "bf16"};
    struct text list = text_new(arena);
    int count = host_list_write_collectives(&wanted, &list), lines = 0;
    for (char *line = strtok(list.bytes, "\n"); line; line = strtok(NULL, "\n"), lines++) {
        struct collective collective;
        ck_assert(collective_read(check_json_read(arena, line), &collective, arena, &errors));
        ck_assert_int_eq(collective.ranks, 4);
        ck_assert_int_eq((int64_t)collective.bytes % 16, 0);
        ck_assert(collective.bytes >= 256 && collective.bytes <= 1e6);
    }
    ck_assert_int_eq(lines, count);
}
END_TEST

START_TEST(least_times_become_the_times)
{
    struct text measured = text_new(arena), out = text_new(arena);
    text_format(&measured, "{\"kernel\": \"copy\", \"measured_s\": 3, \"measured_min_s\": 2}\n"
                           "{\"measured_min_s\": 5, \"measured_s\": 7}\n");
    ck_assert(host_list_quietest(&measured, &out, &errors));
    ck_assert_str_eq(out.bytes,
                     "{\"kernel\": \"copy\", \"measured_median_s\": 3, \"measured_min_s\": 2, "
                     "\"measured_s\": 2}\n"
                     "{\"measured_min_s\": 5, \"measured_median_s\": 7, \"measured_s\": 5}\n");
}
END_TEST

START_TEST(a_line_without_a_least_time_is_named)
{
    struct text measured = text_new(arena), out = text_new(arena);
    text_format(&measured, "{\"measured_s\": 3, \"measured_min_s\": 2}\n{\"measured_s\": 3}\n");
    ck_assert(!host_list_quietest(&measured, &out, &errors));
    ck_assert_str_eq(check_json_faults(arena, &errors),
                     "measure:2:1: $: measured_min_s is missing");
}
END_TEST

Suite *
host_list_suite(void)
{
    Suite *suite = suite_create("host_list");
    TCase *tests = tcase_create("list");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, every_line_is_a_kernel_that_the_cpu_runs);
    tcase_add_test(tests, every_line_for_a_gpu_is_a_kernel);
    tcase_add_test(tests, every_collective_divides_between_its_ranks);
    tcase_add_test(tests, least_times_become_the_times);
    tcase_add_test(tests, a_line_without_a_least_time_is_named);
    suite_add_tcase(suite, tests);
    return suite;
}
