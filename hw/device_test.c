/* Are the shipped devices whole, and is a device file that is not refused by its key? */
#include "hw/device.h"

#include <string.h>

#include "sim/base/check_arena.h"
#include "sim/base/check_near.h"
#include "sim/base/text.h"

Suite *device_suite(void);

static const char *const files[] = {"mi300x",    "h200",   "h100-sxm",
                                    "a100-80gb", "mi325x", "cpu-core"};

static const struct json *
read_object(struct arena *arena, const char *name)
{
    struct error_list errors = {0};
    const char *path = arena_format(arena, "configs/devices/%s.json", name);
    const struct json *object = json_read_file(arena, path, &errors);
    ck_assert_msg(object != NULL, "%s", errors.items[0].what);
    return object;
}

START_TEST(every_shipped_device_is_read)
{
    struct arena *arena = check_arena_new();
    struct error_list errors = {0};
    const struct device *device = device_read(read_object(arena, files[_i]), arena, &errors);
    ck_assert_msg(device != NULL, "%s: %s", errors.items[0].where, errors.items[0].what);
    ck_assert_str_eq(device->name, files[_i]);
    ck_assert_int_eq(device->is_fitted, _i < 2);
    ck_assert(device->gemm.tiles.count > 0 && device->attention_count > 0);
    for (int i = KERNEL_ELEMENTWISE; i < KERNEL_KIND_COUNT; i++)
        ck_assert(i == KERNEL_NEWTON_SCHULZ || device->streams[i][0].bandwidth_fraction > 0);
    arena_free(arena);
}
END_TEST

/* AMD's data sheet: 304 units, 192 GB, 1,307.4 TFLOP/s of dense bf16. */
START_TEST(mi300x_is_as_its_data_sheet)
{
    struct arena *arena = check_arena_new();
    struct error_list errors = {0};
    const struct device *device = device_read(read_object(arena, "mi300x"), arena, &errors);
    ck_assert_ptr_nonnull(device);
    ck_assert_int_eq(device->compute_units, 304);
    CHECK_NEAR(device->hbm_bytes, 192e9, 1e-15);
    CHECK_NEAR(device->peak_flop_per_s[DTYPE_BF16], 1307.4e12, 1e-15);
    CHECK_NEAR(device->memory.last_level_bytes, 0x1p28, 1e-15);
    arena_free(arena);
}
END_TEST

/* The first device with one value changed is refused, and the fault names its key. */
static void
check_refused(const char *path, const char *value, const char *where, const char *what)
{
    struct arena *arena = check_arena_new();
    struct error_list errors = {0};
    const struct json *object = read_object(arena, "mi300x");
    ck_assert(json_set(object, path, value, "a test", &errors));
    ck_assert_msg(device_read(object, arena, &errors) == NULL, "%s = %s was accepted", path,
                  value);
    ck_assert_msg(strstr(errors.items[0].where, where) && strstr(errors.items[0].what, what),
                  "%s: %s", errors.items[0].where, errors.items[0].what);
    arena_free(arena);
}

START_TEST(numbers_out_of_range_are_refused)
{
    check_refused("compute_units", "0", "$.compute_units", "0");
    check_refused("memory.hbm_read_bytes_per_s", "-1", "$.memory.hbm_read_bytes_per_s", "-1");
    check_refused("gemm.overlap_exponent", "0.5", "$.gemm.overlap_exponent", "0.5");
    check_refused("gemm.launch_s", "\"soon\"", "$.gemm.launch_s", "number");
    check_refused("streams.gather.bandwidth_fraction", "1.5", "bandwidth_fraction", "1.5");
    check_refused("gemm.sustained_flop_per_s.bf16", "0", "bf16", "0");
}
END_TEST

/* HBM3 of 5.3 TB/s in GB/s, 1,307.4 TFLOP/s in TFLOP/s and the last number below a megabyte a
 * second; one megabyte a second is slow, but a rate. */
START_TEST(rates_in_people_units_are_refused)
{
    check_refused("memory.hbm_read_bytes_per_s", "5300", "hbm_read_bytes_per_s", "5300");
    check_refused("peak_flop_per_s.bf16", "1307.4", "$.peak_flop_per_s.bf16", "1307.4");
    check_refused("host_bytes_per_s", "999999", "$.host_bytes_per_s", "999999");
    struct arena *arena = check_arena_new();
    struct error_list errors = {0};
    const struct json *object = read_object(arena, "mi300x");
    ck_assert(json_set(object, "host_bytes_per_s", "1e6", "a test", &errors));
    ck_assert_ptr_nonnull(device_read(object, arena, &errors));
    arena_free(arena);
}
END_TEST

START_TEST(sections_of_another_kind_are_refused)
{
    check_refused("memory", "7", "$.memory", "memory");
    check_refused("gemm.tiles.value", "[]", "tiles", "list of 1 to");
    check_refused("gemm.tiles.value", "[[128, 128]]", "tiles", "tile");
    check_refused("gemm.tiles.value", "[[128, 128, 0]]", "tiles", "side");
    check_refused("gemm.tiles.value", "[[128, 128, 64, 0]]", "tiles", "side");
    check_refused("gemm.tiles.value", "[[128, 128, 64, 1, 1]]", "tiles", "tile");
    check_refused("attention", "{}", "$.attention", "implementations");
    check_refused("attention.0.otherwise", "\"aiter_a16\"", "$.attention[0].otherwise",
                  "runs everything itself");
    check_refused("attention.0.head_dim_minimum", "0", "head_dim_minimum", "0");
    check_refused("gemm.result_scaled_fp8.value", "\"bf16\"", "$.gemm.result_scaled_fp8.value",
                  "dtype of a byte");
    check_refused("gemm.result_scaled_sustained_flop_per_s", "1090", "result_scaled_sustained",
                  "1090");
    check_refused("gemm.result_scaled_fp8", "\"int8\"", "$.gemm.result_scaled_fp8", "object");
    check_refused("element_rates_per_s", "[]", "$.element_rates_per_s", "object");
    check_refused("gemm.machine_clock_fraction", "[]", "machine_clock_fraction", "machines");
    check_refused("gemm.machine_clock_fraction", "{\"\": {\"value\": 1, \"source\": \"x\"}}",
                  "machine_clock_fraction", "part of a source");
    check_refused("gemm.machine_clock_fraction", "{\"x\": {\"value\": 3, \"source\": \"y\"}}",
                  "machine_clock_fraction", "3");
    check_refused("gemm.hidden_fill_fraction.fp8", "1.5", "hidden_fill_fraction", "1.5");
    check_refused("memory.hbm_raed_bytes_per_s", "1e12", "hbm_raed", "hbm_read");
}
END_TEST

START_TEST(numbers_that_contradict_each_other_are_refused)
{
    check_refused("gemm.boost_flop_per_s.bf16", "2e15", "$.gemm", "bf16");
    check_refused("gemm.boost_flop_per_s.bf16", "1e18", "$.gemm", "bf16");
    check_refused("memory.last_level_bytes_per_s", "0", "$.memory", "last_level_bytes_per_s");
}
END_TEST

START_TEST(a_number_without_its_source_is_refused)
{
    struct arena *arena = check_arena_new();
    struct error_list errors = {0};
    struct text text = text_new(arena);
    ck_assert(text_read_file(&text, "configs/devices/mi300x.json", 1 << 20, &errors));
    char *source = strstr(strstr(text.bytes, "\"compute_units\""), "\"source\"");
    source[1] = 'S'; /* "Source": another key */
    const struct json *object =
        json_read_text(arena, "mi300x.json", 1, text.bytes, text.length, &errors);
    ck_assert_ptr_nonnull(object);
    ck_assert_ptr_null(device_read(object, arena, &errors));
    ck_assert_int_eq(errors.count, 2); /* a key unknown, one missing */
    ck_assert_ptr_nonnull(strstr(errors.items[1].where, "$.compute_units"));
    ck_assert_ptr_nonnull(strstr(errors.items[1].what, "source"));
    arena_free(arena);
}
END_TEST

Suite *
device_suite(void)
{
    Suite *suite = suite_create("device");
    TCase *tests = tcase_create("files");
    tcase_add_loop_test(tests, every_shipped_device_is_read, 0, sizeof files / sizeof files[0]);
    tcase_add_test(tests, mi300x_is_as_its_data_sheet);
    tcase_add_test(tests, numbers_out_of_range_are_refused);
    tcase_add_test(tests, rates_in_people_units_are_refused);
    tcase_add_test(tests, sections_of_another_kind_are_refused);
    tcase_add_test(tests, numbers_that_contradict_each_other_are_refused);
    tcase_add_test(tests, a_number_without_its_source_is_refused);
    suite_add_tcase(suite, tests);
    return suite;
}
