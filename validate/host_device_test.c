/* Is the file of a host's core the one it began with, told of the machine? */
#include "validate/host_device.h"

#include <string.h>

#include <check.h>

#include "hw/device.h"
#include "sim/base/check_arena.h"
#include "sim/base/check_json.h"
#include "sim/base/check_near.h"
#include "validate/coefficient.h"

Suite *host_device_suite(void);

static const struct host_topology eight_cores = {.processor = "A \"quick\" one",
                                                 .cores = 8,
                                                 .core_cache_bytes = 1e6,
                                                 .last_cache_bytes = 32e6,
                                                 .memory_bytes = 64e9};

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

static const struct json *
begin(const char *name)
{
    const struct json *file = json_read_file(arena, name, &errors);
    ck_assert_msg(file != NULL, "%s", errors.items[0].what);
    return file;
}

static struct device
device_on(const struct host_topology *topology)
{
    struct text text = text_new(arena);
    ck_assert(
        host_device_write(begin("configs/devices/cpu-core.json"), topology, &text, &errors));
    const struct device *device =
        device_read(check_json_read(arena, text.bytes), arena, &errors);
    ck_assert_msg(device != NULL, "%s", errors.items[0].what);
    return *device;
}

/* 64e9 bytes of memory over 8 cores: 8e9 each. */
START_TEST(a_core_has_its_part_of_the_machine)
{
    struct device device = device_on(&eight_cores);
    ck_assert_str_eq(device.name, "host-core");
    ck_assert_str_eq(device.description, "A \"quick\" one, one of 8 cores");
    CHECK_NEAR(device.hbm_bytes, 8e9, 0);
    CHECK_NEAR(device.memory.l2_bytes, 32e6, 0);
    CHECK_NEAR(host_device_cold_bytes(&eight_cores), 32e6, 0);
}
END_TEST

START_TEST(what_the_system_hides_stays_as_assumed)
{
    const struct host_topology hidden = {
        .processor = "unknown", .cores = 2, .memory_bytes = 4e9};
    struct device device = device_on(&hidden);
    CHECK_NEAR(device.memory.l2_bytes, 33554432, 0);
    CHECK_NEAR(host_device_cold_bytes(&hidden), 64e6, 0);
}
END_TEST

START_TEST(coefficients_that_stay_are_the_devices)
{
    struct device device = device_on(&eight_cores);
    struct coefficient_list list = coefficient_list_of(&device, arena);
    for (size_t i = 0; i < host_device_kept_count; i++) {
        size_t found = 0;
        for (size_t j = 0; j < list.count; j++)
            found += strcmp(list.items[j].path, host_device_kept[i]) == 0;
        ck_assert_msg(found == 1, "%s", host_device_kept[i]);
    }
}
END_TEST

START_TEST(a_gpu_is_no_core)
{
    struct text text = text_new(arena);
    ck_assert(
        !host_device_write(begin("configs/devices/h200.json"), &eight_cores, &text, &errors));
    ck_assert_ptr_nonnull(strstr(errors.items[0].what, "a device of one compute unit"));
}
END_TEST

START_TEST(a_gpu_keeps_its_file_but_for_its_name_groups_and_streams)
{
    struct text text = text_new(arena), again = text_new(arena);
    const struct json *plain = begin("configs/devices/h200-own-kernels.json");
    ck_assert(host_device_write_gpu(begin("configs/devices/mi300x.json"), plain, "Some \"GPU\"",
                                    &text, &errors));
    const struct device *device =
        device_read(check_json_read(arena, text.bytes), arena, &errors);
    ck_assert_str_eq(device->name, "host-gpu");
    ck_assert_str_eq(device->description, "Some \"GPU\"");
    CHECK_NEAR(device->hbm_bytes, 192e9, 0);
    ck_assert(device->gemm.is_grouped_one_by_one && device->has_plain_streams);
    const struct device *own = device_read(plain, arena, &errors);
    CHECK_NEAR(device->streams[KERNEL_GATHER][0].row_s, own->streams[KERNEL_GATHER][0].row_s,
               0);
    /* What was written is itself a file to begin with. */
    ck_assert(host_device_write_gpu(check_json_read(arena, text.bytes), plain, "Some \"GPU\"",
                                    &again, &errors));
    ck_assert_str_eq(again.bytes, text.bytes);
    ck_assert(!host_device_write_gpu(check_json_read(arena, "{}"), plain, "a", &text, &errors));
}
END_TEST

Suite *
host_device_suite(void)
{
    Suite *suite = suite_create("host_device");
    TCase *tests = tcase_create("device");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, a_core_has_its_part_of_the_machine);
    tcase_add_test(tests, what_the_system_hides_stays_as_assumed);
    tcase_add_test(tests, coefficients_that_stay_are_the_devices);
    tcase_add_test(tests, a_gpu_is_no_core);
    tcase_add_test(tests, a_gpu_keeps_its_file_but_for_its_name_groups_and_streams);
    suite_add_tcase(suite, tests);
    return suite;
}
