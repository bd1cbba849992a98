/* Does every line of the table lead to a number of the shipped files, within its bounds? */
#include "validate/coefficient.h"

#include <string.h>

#include "sim/base/check_arena.h"
#include "sim/base/check_near.h"
#include "sim/base/check_often.h"

Suite *coefficient_suite(void);

static const char *const files[] = {"mi300x",    "h200",   "h100-sxm",
                                    "a100-80gb", "mi325x", "cpu-core"};

static struct arena *arena;
static struct error_list errors;
static const struct json *file;
static struct device device;

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

static void
read_device(const char *name)
{
    file = json_read_file(arena, arena_format(arena, "configs/devices/%s.json", name), &errors);
    ck_assert_msg(file != NULL, "%s", errors.items[0].what);
    const struct device *read = device_read(file, arena, &errors);
    ck_assert_msg(read != NULL, "%s", errors.items[0].what);
    device = *read;
}

START_TEST(every_path_leads_to_its_number)
{
    read_device(files[_i]);
    struct coefficient_list list = coefficient_list_of(&device, arena);
    struct coefficient_sigma_list sigmas = coefficient_sigma_list_of(&device, arena);
    ck_assert_uint_gt(list.count, 20);
    for (size_t i = 0; i < list.count; i++) {
        const struct json *value = json_member(json_at(file, list.items[i].path), "value");
        ck_assert_msg(value != NULL, "%s", list.items[i].path);
        CHECK_NEAR(*list.items[i].value, json_as_real(value), 0);
        ck_assert(list.items[i].least < list.items[i].most);
        ck_assert(!list.items[i].is_logarithmic || list.items[i].least > 0);
    }
    for (size_t i = 0; i < sigmas.count; i++) {
        const struct json *value = json_member(json_at(file, sigmas.items[i].path), "value");
        ck_assert_msg(value != NULL, "%s", sigmas.items[i].path);
        CHECK_NEAR(*sigmas.items[i].value, json_as_real(value), 0);
    }
}
END_TEST

START_TEST(shipped_devices_are_within_all_bounds)
{
    read_device(files[_i]);
    struct coefficient_list list = coefficient_list_of(&device, arena);
    ck_assert_msg(coefficient_list_check(&list, file, &errors), "%s: %s", errors.items[0].where,
                  errors.items[0].what);
}
END_TEST

/* What a fit may write, the reader of devices takes. */
START_TEST(a_device_at_each_bound_is_read)
{
    read_device(files[_i]);
    struct coefficient_list list = coefficient_list_of(&device, arena);
    for (size_t i = 0; i < list.count; i++) {
        const struct coefficient *coefficient = &list.items[i];
        const double values[] = {coefficient->least, coefficient->most, *coefficient->value};
        const char *path = arena_format(arena, "%s.value", coefficient->path);
        for (size_t j = 0; j < sizeof values / sizeof values[0]; j++) {
            const char *text = arena_format(arena, "%.17g", values[j]);
            ck_assert(json_set(file, path, text, "a test", &errors));
            ck_assert_msg(device_read(file, arena, &errors) != NULL, "%s = %s: %s", path, text,
                          errors.items[0].what);
        }
    }
}
END_TEST

START_TEST(a_coefficient_outside_its_bounds_is_named)
{
    read_device("h200");
    device.gemm.launch_s = 1e-7;
    device.attention[1].passes[DIRECTION_BACKWARD].fixed_s = 0.5;
    struct coefficient_list list = coefficient_list_of(&device, arena);
    ck_assert(!coefficient_list_check(&list, file, &errors));
    ck_assert_int_eq(errors.count, 2);
    ck_assert_ptr_nonnull(strstr(errors.items[0].where, "h200.json:"));
    ck_assert_ptr_nonnull(strstr(errors.items[0].where, "$.gemm.launch_s"));
    ck_assert_ptr_nonnull(strstr(errors.items[0].what, "1e-07, wanted at least 5e-07"));
    ck_assert_ptr_nonnull(strstr(errors.items[1].where, "$.attention[1].backward.fixed_s"));
}
END_TEST

/* A thousandth of a GPU's bounds: a launch of 0.1 us where no GPU has one under 0.5 us. */
START_TEST(a_core_is_slower_and_quicker_than_any_gpu)
{
    read_device("cpu-core");
    device.gemm.launch_s = 1e-7;
    struct coefficient_list core = coefficient_list_of(&device, arena);
    ck_assert(coefficient_list_check(&core, file, &errors));
    device.compute_units = 2;
    struct coefficient_list whole = coefficient_list_of(&device, arena);
    ck_assert(!coefficient_list_check(&whole, file, &errors));
    ck_assert_uint_eq(whole.count + 1, core.count); /* memory.unit_bytes_per_s */
}
END_TEST

START_TEST(no_rate_passes_the_peak_of_its_own_type)
{
    read_device("mi300x");
    struct coefficient_list list = coefficient_list_of(&device, arena);
    size_t rates = 0;
    for (size_t i = 0; i < list.count; i++) {
        if (strcmp(list.items[i].path, "gemm.boost_flop_per_s.bf16") == 0)
            CHECK_NEAR(list.items[i].most, 1.3074e15, 1e-15);
        rates += strstr(list.items[i].path, "flop_per_s") != NULL;
    }
    ck_assert_uint_eq(rates, 14); /* sustained and boost of seven types */
}
END_TEST

START_TEST(a_unit_that_the_device_lacks_has_no_coefficient)
{
    read_device("h200");
    size_t before = coefficient_list_of(&device, arena).count;
    device.gemm.boost_flop_per_s[DTYPE_FP8] = 0;
    device.gemm.sustained_flop_per_s[DTYPE_FP8] = 0;
    ck_assert_uint_eq(coefficient_list_of(&device, arena).count, before - 2);
}
END_TEST

START_TEST(groups_stand_together_and_memory_first)
{
    read_device("h200");
    struct coefficient_list list = coefficient_list_of(&device, arena);
    ck_assert_int_eq((int)list.items[0].group.kind, KERNEL_ELEMENTWISE);
    for (size_t i = 2; i < list.count; i++)
        for (size_t j = 0; j + 1 < i;
             j++) /* who is of the group of one before is of the last */
            CHECK_OFTEN(coefficient_group_is(&list.items[i].group, &list.items[i - 1].group) ||
                        !coefficient_group_is(&list.items[i].group, &list.items[j].group));
}
END_TEST

START_TEST(kernels_find_their_groups)
{
    read_device("h200");
    struct kernel kernel = {.kind = KERNEL_ATTENTION,
                            .direction = DIRECTION_BACKWARD,
                            .attention = {.implementation = "flash2"}};
    struct coefficient_group group = coefficient_group_of(&device, &kernel);
    ck_assert_str_eq(coefficient_group_name(&group, &device, arena),
                     "attention flash2 backward");
    kernel.kind = KERNEL_GROUPED_GEMM;
    group = coefficient_group_of(&device, &kernel);
    ck_assert_int_eq((int)group.kind, KERNEL_GROUPED_GEMM);
    kernel.kind = KERNEL_SOFTMAX;
    group = coefficient_group_of(&device, &kernel);
    ck_assert_str_eq(coefficient_group_name(&group, &device, arena), "softmax_backward");
    kernel.direction = DIRECTION_FORWARD;
    group = coefficient_group_of(&device, &kernel);
    ck_assert_str_eq(coefficient_group_name(&group, &device, arena), "softmax");
}
END_TEST

/* As hw/gemm_cost.c asks for them: 10 us are short, 10.1 us medium. */
START_TEST(deviations_cover_what_is_priced_with_them)
{
    read_device("h200");
    struct coefficient_sigma_list list = coefficient_sigma_list_of(&device, arena);
    const struct coefficient_group gemm = {.kind = KERNEL_GEMM};
    const double seconds_s[] = {10e-6, 10.1e-6, 100e-6, 100.1e-6};
    static const char *const paths[] = {
        "gemm.relative_sigma_short", "gemm.relative_sigma_medium", "gemm.relative_sigma_medium",
        "gemm.relative_sigma_long"};
    for (size_t i = 0; i < 4; i++) {
        size_t covering = 0;
        for (size_t j = 0; j < list.count; j++) {
            if (!coefficient_sigma_covers(&list.items[j], &gemm, seconds_s[i]))
                continue;
            ck_assert_str_eq(list.items[j].path, paths[i]);
            covering++;
        }
        ck_assert_uint_eq(covering, 1);
    }
}
END_TEST

Suite *
coefficient_suite(void)
{
    Suite *suite = suite_create("coefficient");
    TCase *tests = tcase_create("table");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_loop_test(tests, every_path_leads_to_its_number, 0,
                        sizeof files / sizeof files[0]);
    tcase_add_loop_test(tests, shipped_devices_are_within_all_bounds, 0,
                        sizeof files / sizeof files[0]);
    tcase_add_loop_test(tests, a_device_at_each_bound_is_read, 0,
                        sizeof files / sizeof files[0]);
    tcase_add_test(tests, a_coefficient_outside_its_bounds_is_named);
    tcase_add_test(tests, a_core_is_slower_and_quicker_than_any_gpu);
    tcase_add_test(tests, no_rate_passes_the_peak_of_its_own_type);
    tcase_add_test(tests, a_unit_that_the_device_lacks_has_no_coefficient);
    tcase_add_test(tests, groups_stand_together_and_memory_first);
    tcase_add_test(tests, kernels_find_their_groups);
    tcase_add_test(tests, deviations_cover_what_is_priced_with_them);
    suite_add_tcase(suite, tests);
    return suite;
}
