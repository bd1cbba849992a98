/* Is the fitted file the device that was fitted, and otherwise the file that it began with? */
#include "validate/calibration_file.h"

#include <string.h>

#include "sim/base/check_arena.h"
#include "sim/base/check_near.h"

Suite *calibration_file_suite(void);

static struct arena *arena;
static struct error_list errors;
static struct measured_list list;
static struct calibration_question question;

static void
setup(void)
{
    arena = check_arena_new();
    memset(&errors, 0, sizeof errors);
    list = (struct measured_list){0};
    question = (struct calibration_question){.list = &list, .seed = 7};
    question.is_wanted[KERNEL_GATHER] = true;
}

static void
teardown(void)
{
    arena_free(arena);
}

static void
take_device(const struct json *file)
{
    question.file = file;
    question.device = device_read(file, arena, &errors);
    ck_assert_msg(question.device != NULL, "%s: %s", errors.items[0].where,
                  errors.items[0].what);
}

/* Bytes at 1 TB/s after 9 us: read and written once each. */
static void
measure_gathers(void)
{
    struct text text = text_new(arena);
    for (int rows = 64; rows <= 262144; rows *= 2)
        text_format(&text,
                    "{\"kernel\": \"gather\", \"rows\": %d, \"width\": 4096, "
                    "\"dtype\": \"bf16\", \"measured_s\": %.9g}\n",
                    rows, 9e-6 + 2 * rows * 4096.0 * 2 / 1e12);
    ck_assert(measured_list_parse(&list, "g.jsonl", &text, arena, &errors));
}

static const char *
fitted_file(const struct calibration **calibration)
{
    static const struct calibration_list lists[] = {{"g \"1\".jsonl", 13, 0xabc}};
    const struct calibration_record record = {"2026-11-21", lists, 1};
    struct text out = text_new(arena);
    *calibration = calibrate(&question, arena, &errors);
    ck_assert_msg(*calibration != NULL, "%s", errors.items[0].what);
    calibration_file_write(*calibration, &record, &out);
    return out.bytes;
}

static const struct json *
parsed(const char *text)
{
    const struct json *file =
        json_read_text(arena, "fitted.json", 1, text, strlen(text), &errors);
    ck_assert_msg(file != NULL, "%s", errors.items[0].what);
    return file;
}

START_TEST(the_file_reads_as_the_fitted_device)
{
    const struct calibration *calibration;
    take_device(json_read_file(arena, "configs/devices/h100-sxm.json", &errors));
    measure_gathers();
    ck_assert(!question.device->is_fitted);
    const struct device *device =
        device_read(parsed(fitted_file(&calibration)), arena, &errors);
    ck_assert_msg(device != NULL, "%s: %s", errors.items[0].where, errors.items[0].what);
    const struct device_stream *read = &device->streams[KERNEL_GATHER][0];
    const struct device_stream *fitted = &calibration->device.streams[KERNEL_GATHER][0];
    CHECK_NEAR(read->fixed_s, fitted->fixed_s, 0);
    CHECK_NEAR(read->bandwidth_fraction, fitted->bandwidth_fraction, 0);
    CHECK_NEAR(read->relative_sigma, fitted->relative_sigma, 0);
    ck_assert(device->is_fitted);
    ck_assert(read->fixed_s != question.device->streams[KERNEL_GATHER][0].fixed_s);
    CHECK_NEAR(device->gemm.launch_s, question.device->gemm.launch_s, 0);
}
END_TEST

START_TEST(sources_say_what_was_fitted_and_the_record_by_what)
{
    const struct calibration *calibration;
    take_device(json_read_file(arena, "configs/devices/h100-sxm.json", &errors));
    measure_gathers();
    const struct json *file = parsed(fitted_file(&calibration));
    const char *source = json_as_string(json_at(file, "streams.gather.fixed_s.source"));
    ck_assert_msg(strstr(source, "gather rows") && strstr(source, "g \"1\".jsonl") &&
                      strstr(source, "seed 7"),
                  "%s", source);
    ck_assert_str_eq(json_as_string(json_at(file, "gemm.launch_s.source")),
                     json_as_string(json_at(question.file, "gemm.launch_s.source")));
    ck_assert_str_eq(json_as_string(json_at(file, "calibration.lists.0.fnv1a_64")),
                     "0000000000000abc");
    ck_assert_int_eq(json_as_integer(json_at(file, "calibration.split_seed")), 7);
}
END_TEST

START_TEST(a_second_fit_replaces_the_record_of_the_first)
{
    const struct calibration *calibration;
    take_device(json_read_file(arena, "configs/devices/h100-sxm.json", &errors));
    measure_gathers();
    const char *once = fitted_file(&calibration);
    take_device(parsed(once));
    const char *twice = fitted_file(&calibration);
    const char *record = strstr(twice, "\"calibration\"");
    ck_assert_ptr_nonnull(record);
    ck_assert_ptr_null(strstr(record + 1, "\"calibration\""));
    ck_assert_ptr_nonnull(device_read(parsed(twice), arena, &errors));
    /* Up to the record, whose residuals before the fit differ, nothing is left to change. */
    ck_assert_int_eq(strncmp(once, twice, (size_t)(record - twice)), 0);
}
END_TEST

Suite *
calibration_file_suite(void)
{
    Suite *suite = suite_create("calibration_file");
    TCase *tests = tcase_create("files");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, the_file_reads_as_the_fitted_device);
    tcase_add_test(tests, sources_say_what_was_fitted_and_the_record_by_what);
    tcase_add_test(tests, a_second_fit_replaces_the_record_of_the_first);
    suite_add_tcase(suite, tests);
    return suite;
}
