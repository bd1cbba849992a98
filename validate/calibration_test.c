/* Does a fit find the device behind measurements, and see nothing that it must not see? */
#include "validate/calibration.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "hw/kernel_cost.h"
#include "sim/base/check_arena.h"
#include "sim/base/check_near.h"

Suite *calibration_suite(void);

static struct arena *arena;
static struct error_list errors;
static struct device truth, begun;
static struct calibration_question question;
static struct measured_list list;

static void
setup(void)
{
    arena = check_arena_new();
    memset(&errors, 0, sizeof errors);
    list = (struct measured_list){0};
    question = (struct calibration_question){.list = &list, .seed = SPLIT_SEED_DEFAULT};
    for (int i = 0; i < KERNEL_KIND_COUNT; i++)
        question.is_wanted[i] = true;
    question.file = json_read_file(arena, "configs/devices/h200.json", &errors);
    question.device = device_read(question.file, arena, &errors);
    ck_assert_ptr_nonnull(question.device);
    begun = *question.device; /* away from both bounds */
    begun.streams[KERNEL_RMS_NORM][0].fixed_s = 1e-6;
    begun.streams[KERNEL_RMS_NORM][0].bandwidth_fraction = 0.9;
    question.device = &begun;
    truth = begun;
}

static void
teardown(void)
{
    arena_free(arena);
}

/* A row measured on the true device, off by a factor. */
static void
measure(const char *kernel, double factor)
{
    struct text text = text_new(arena);
    text_format(&text, "%.*s, \"measured_s\": 1}", (int)strlen(kernel) - 1, kernel);
    ck_assert_msg(measured_list_parse(&list, "list", &text, arena, &errors), "%s",
                  errors.items[0].what);
    struct measured *row = &list.items[list.count - 1];
    struct kernel_cost cost;
    ck_assert(kernel_cost(&truth, &row->kernel, &cost, &errors));
    row->measured_s = cost.seconds_s * factor;
}

/* Noise that is neither chance nor smooth: the golden ratio's multiples, uniform in -1 .. 1, whose
 * standard deviation is 1 / sqrt 3. */
static double
noise_factor(double part)
{
    double turn = (double)(list.count + 1) * 0.6180339887498949;
    return exp(part * sqrt(3) * (2 * (turn - floor(turn)) - 1));
}

static void
measure_streams(double noise)
{
    for (int rows = 512; rows <= 65536; rows *= 2)
        for (int width = 1024; width <= 6144; width += 1024)
            measure(arena_format(arena,
                                 "{\"kernel\": \"rms_norm\", \"rows\": %d, \"width\": %d, "
                                 "\"dtype\": \"bf16\", \"direction\": \"forward\"}",
                                 rows, width),
                    noise_factor(noise));
}

static void
measure_gemms(double noise)
{
    for (int m = 64; m <= 8192; m *= 2)
        for (int k = 512; k <= 8192; k *= 4)
            for (int n = 384; n <= 8192; n += 2600)
                measure(arena_format(arena,
                                     "{\"kernel\": \"gemm\", \"m\": %d, \"n\": %d, \"k\": %d, "
                                     "\"layout\": \"nn\", \"dtype\": \"bf16\"}",
                                     m, n, k),
                        noise_factor(noise));
}

static const struct calibration *
calibrated(void)
{
    const struct calibration *calibration = calibrate(&question, arena, &errors);
    ck_assert_msg(calibration != NULL, "%s: %s", errors.items[0].where, errors.items[0].what);
    return calibration;
}

static const struct fit_coefficient *
coefficient_at(const struct calibration *calibration, const char *path)
{
    for (size_t i = 0; i < calibration->group_count; i++)
        for (size_t j = 0; j < calibration->groups[i].count; j++)
            if (strcmp(calibration->groups[i].coefficients[j].coefficient.path, path) == 0)
                return &calibration->groups[i].coefficients[j];
    ck_abort_msg("%s", path);
    return NULL;
}

/* How many coefficients and deviations of the two fits differ, to the last bit. */
static size_t
differences(const struct calibration *a, const struct calibration *b)
{
    size_t count = 0;
    for (size_t i = 0; i < a->group_count; i++)
        for (size_t j = 0; j < a->groups[i].count; j++)
            count += *a->groups[i].coefficients[j].coefficient.value !=
                     *b->groups[i].coefficients[j].coefficient.value;
    for (size_t i = 0; i < a->sigma_count; i++)
        count += *a->sigmas[i].sigma.value != *b->sigmas[i].sigma.value;
    return count;
}

/* Of a norm only launch and bandwidth are in question. */
static void
keep_rows(void)
{
    static const char *const kept[] = {"streams.rms_norm.row_s", "streams.rms_norm.element_s",
                                       "memory.warm_bytes_per_s",
                                       "streams.rms_norm.overlap_exponent"};
    question.kept = kept;
    question.kept_count = sizeof kept / sizeof kept[0];
}

START_TEST(exact_measurements_give_the_stream_back)
{
    truth.streams[KERNEL_RMS_NORM][0].fixed_s = 5e-6;
    truth.streams[KERNEL_RMS_NORM][0].bandwidth_fraction = 0.61;
    measure_streams(0);
    const struct device *device = &calibrated()->device;
    CHECK_NEAR(device->streams[KERNEL_RMS_NORM][0].fixed_s, 5e-6, 1e-3);
    CHECK_NEAR(device->streams[KERNEL_RMS_NORM][0].bandwidth_fraction, 0.61, 1e-3);
    ck_assert(device->is_fitted);
}
END_TEST

/* 48 shapes, half of them fitted: 5 % of noise leave the mean 5 / sqrt 24 = 1 % in doubt, and the
 * two coefficients some times that; their doubt adds to the residuals. */
START_TEST(noise_of_five_percent_leaves_the_stream_within_a_tenth)
{
    keep_rows();
    truth.streams[KERNEL_RMS_NORM][0].fixed_s = 5e-6;
    truth.streams[KERNEL_RMS_NORM][0].bandwidth_fraction = 0.61;
    measure_streams(0.05);
    const struct device *device = &calibrated()->device;
    CHECK_NEAR(device->streams[KERNEL_RMS_NORM][0].fixed_s, 5e-6, 0.1);
    CHECK_NEAR(device->streams[KERNEL_RMS_NORM][0].bandwidth_fraction, 0.61, 0.1);
    CHECK_NEAR(device->streams[KERNEL_RMS_NORM][0].relative_sigma, 0.05, 0.4);
}
END_TEST

START_TEST(exact_measurements_give_the_products_back)
{
    truth.gemm.launch_s = 2.5e-6;
    truth.gemm.sustained_flop_per_s[DTYPE_BF16] = 6.1e14;
    measure_gemms(0);
    const struct calibration *calibration = calibrated();
    CHECK_NEAR(calibration->device.gemm.launch_s, 2.5e-6, 5e-3);
    CHECK_NEAR(calibration->device.gemm.sustained_flop_per_s[DTYPE_BF16], 6.1e14, 2e-3);
    for (size_t i = 0; i < calibration->after.count; i++)
        ck_assert_msg(calibration->after.rows[i].mape_fraction < 2e-3, "%g",
                      calibration->after.rows[i].mape_fraction);
    CHECK_NEAR(calibration->device.gemm.relative_sigma_long, 0.04, 1e-9); /* the least */
}
END_TEST

START_TEST(noise_leaves_products_held_out_within_it)
{
    truth.gemm.launch_s = 2.5e-6;
    truth.gemm.sustained_flop_per_s[DTYPE_BF16] = 6.1e14;
    measure_gemms(0.05);
    const struct calibration *calibration = calibrated();
    CHECK_NEAR(calibration->device.gemm.launch_s, 2.5e-6, 0.15);
    CHECK_NEAR(calibration->device.gemm.sustained_flop_per_s[DTYPE_BF16], 6.1e14, 0.05);
    /* The mean of a uniform magnitude of that deviation is 0.05 sqrt 3 / 2 = 0.043. */
    for (size_t i = 0; i < calibration->after.count; i++)
        if (calibration->after.rows[i].count > 20)
            CHECK_NEAR(calibration->after.rows[i].mape_fraction, 0.043, 0.3);
}
END_TEST

START_TEST(held_out_times_change_no_coefficient)
{
    measure_streams(0.05);
    const struct calibration *before = calibrated();
    size_t changed = 0;
    for (size_t i = 0; i < list.count; i++)
        if (split_part(measured_shape(&list.items[i], arena), question.seed) ==
            SPLIT_HELD_OUT) {
            list.items[i].measured_s *= 3;
            changed++;
        }
    const struct calibration *calibration = calibrated();
    ck_assert_uint_gt(changed, 10);
    ck_assert_uint_eq(differences(before, calibration), 0);
    for (size_t i = 0; i < calibration->after.count; i++) /* the table does see them */
        if (calibration->after.rows[i].part == SPLIT_HELD_OUT)
            ck_assert(calibration->after.rows[i].mape_fraction > 0.5);
}
END_TEST

START_TEST(the_same_question_has_the_same_answer)
{
    measure_streams(0.05);
    measure_gemms(0.05);
    ck_assert_uint_eq(differences(calibrated(), calibrated()), 0);
}
END_TEST

START_TEST(a_fit_time_that_changes_changes_the_fit)
{
    measure_streams(0.05);
    struct device before = calibrated()->device;
    for (size_t i = 0; i < list.count; i++)
        if (split_part(measured_shape(&list.items[i], arena), question.seed) == SPLIT_FIT)
            list.items[i].measured_s *= 1.1;
    struct device after = calibrated()->device;
    ck_assert(after.streams[KERNEL_RMS_NORM][0].bandwidth_fraction <
              before.streams[KERNEL_RMS_NORM][0].bandwidth_fraction);
}
END_TEST

START_TEST(another_seed_fits_other_shapes)
{
    measure_streams(0.05);
    const struct calibration *before = calibrated();
    question.seed = 2;
    ck_assert_uint_ge(differences(before, calibrated()), 2);
}
END_TEST

START_TEST(one_bad_row_does_not_steer)
{
    truth.streams[KERNEL_RMS_NORM][0].fixed_s = 5e-6;
    measure_streams(0);
    for (size_t i = 0; i < list.count; i++)
        if (split_part(measured_shape(&list.items[i], arena), question.seed) == SPLIT_FIT) {
            list.items[i].measured_s *= 10;
            break;
        }
    CHECK_NEAR(calibrated()->device.streams[KERNEL_RMS_NORM][0].fixed_s, 5e-6, 0.05);
}
END_TEST

/* Launches of a tenth of what one takes at least. */
START_TEST(a_fit_stops_at_the_bound_that_it_presses)
{
    keep_rows();
    truth.streams[KERNEL_RMS_NORM][0].fixed_s = 5e-8;
    measure_streams(0);
    const struct calibration *calibration = calibrated();
    const struct fit_coefficient *launch =
        coefficient_at(calibration, "streams.rms_norm.fixed_s");
    CHECK_NEAR(*launch->coefficient.value, 5e-7, 0);
    ck_assert(fit_is_at(*launch->coefficient.value, launch->coefficient.least));
}
END_TEST

START_TEST(what_rows_do_not_tell_stays)
{
    measure_streams(0);
    const struct calibration *calibration = calibrated();
    for (size_t i = 0; i < calibration->group_count; i++) {
        const struct calibrated_group *group = &calibration->groups[i];
        for (size_t j = 0; j < group->count && group->group.kind != KERNEL_RMS_NORM; j++) {
            ck_assert_int_eq((int)group->coefficients[j].fate, FIT_NO_ROWS);
            CHECK_NEAR(*group->coefficients[j].coefficient.value, group->coefficients[j].before,
                       0);
        }
    }
}
END_TEST

START_TEST(kinds_and_coefficients_that_were_not_asked_for_stay)
{
    static const char *const kept[] = {"streams.rms_norm.fixed_s"};
    truth.streams[KERNEL_RMS_NORM][0].fixed_s = 5e-6;
    measure_streams(0);
    measure_gemms(0.05);
    question.is_wanted[KERNEL_GEMM] = false;
    question.kept = kept;
    question.kept_count = 1;
    const struct calibration *calibration = calibrated();
    ck_assert_int_eq((int)coefficient_at(calibration, kept[0])->fate, FIT_NOT_ASKED);
    ck_assert_int_eq((int)coefficient_at(calibration, "gemm.tile_s")->fate, FIT_NOT_ASKED);
    ck_assert_int_eq(
        (int)coefficient_at(calibration, "streams.rms_norm.bandwidth_fraction")->fate,
        FIT_DONE);
    CHECK_NEAR(calibration->device.streams[KERNEL_RMS_NORM][0].fixed_s,
               question.device->streams[KERNEL_RMS_NORM][0].fixed_s, 0);
}
END_TEST

static void
check_refused(const char *where, const char *what)
{
    ck_assert_ptr_null(calibrate(&question, arena, &errors));
    ck_assert_int_ge(errors.count, 1);
    ck_assert_msg(strstr(errors.items[0].where, where) && strstr(errors.items[0].what, what),
                  "%s: %s", errors.items[0].where, errors.items[0].what);
}

START_TEST(three_shapes_are_too_few_for_two_coefficients)
{
    for (int rows = 512; rows <= 2048; rows *= 2)
        measure(arena_format(arena,
                             "{\"kernel\": \"softmax\", \"rows\": %d, \"width\": 4096, "
                             "\"dtype\": \"fp32\", \"direction\": \"forward\", "
                             "\"measured_part\": \"fit\"}",
                             rows),
                1.2);
    const struct calibration *calibration = calibrated();
    ck_assert_int_eq(
        (int)coefficient_at(calibration, "streams.softmax.bandwidth_fraction")->fate, FIT_DONE);
    ck_assert_int_eq((int)coefficient_at(calibration, "streams.softmax.fixed_s")->fate,
                     FIT_TOO_FEW_SHAPES);
}
END_TEST

/* Nine shapes of 4 Mi elements: each takes the same time, launch and elements are one number. */
START_TEST(rows_of_one_size_do_not_tell_launch_from_elements)
{
    for (int width = 64; width <= 16384; width *= 2)
        measure(arena_format(arena,
                             "{\"kernel\": \"transpose\", \"rows\": %d, \"width\": %d, "
                             "\"dtype\": \"bf16\", \"measured_part\": \"fit\"}",
                             (1 << 22) / width, width),
                1.2);
    const struct calibration *calibration = calibrated();
    ck_assert_int_eq((int)coefficient_at(calibration, "streams.transpose.fixed_s")->fate,
                     FIT_DONE);
    ck_assert_int_eq((int)coefficient_at(calibration, "streams.transpose.elements_per_s")->fate,
                     FIT_NOT_TOLD_APART);
    CHECK_NEAR(calibration->device.streams[KERNEL_TRANSPOSE][0].elements_per_s,
               question.device->streams[KERNEL_TRANSPOSE][0].elements_per_s, 0);
}
END_TEST

/* 512 x 1024 and more of bf16, read and written, take from 0.5 us of bytes beside 3 us of launch:
 * with 2 % of noise both are told, with 60 % the launch's part is in doubt. */
START_TEST(noise_leaves_less_to_be_told)
{
    measure_streams(0.02);
    ck_assert_int_eq((int)coefficient_at(calibrated(), "streams.rms_norm.fixed_s")->fate,
                     FIT_DONE);
    list.count = 0;
    measure_streams(0.6);
    ck_assert_int_eq((int)coefficient_at(calibrated(), "streams.rms_norm.fixed_s")->fate,
                     FIT_NOT_TOLD_APART);
}
END_TEST

START_TEST(a_list_with_nothing_to_fit_is_a_fault)
{
    measure("{\"kernel\": \"softmax\", \"rows\": 4096, \"width\": 4096, \"dtype\": \"fp32\", "
            "\"direction\": \"forward\", \"measured_part\": \"held-out\"}",
            1);
    check_refused("", "no measured row of a kind to fit");
}
END_TEST

START_TEST(a_row_of_another_device_is_a_fault)
{
    measure_streams(0);
    measure("{\"kernel\": \"gemm\", \"m\": 64, \"n\": 64, \"k\": 64, \"layout\": \"nn\", "
            "\"dtype\": \"fp8\"}",
            1);
    truth.gemm.sustained_flop_per_s[DTYPE_FP8] = 0;
    truth.gemm.boost_flop_per_s[DTYPE_FP8] = 0;
    question.device = &truth;
    check_refused("list:1", "no matrix rate for fp8");
}
END_TEST

START_TEST(a_device_outside_the_bounds_is_a_fault)
{
    measure_streams(0);
    truth.gemm.launch_s = 1e-9;
    question.device = &truth;
    check_refused("$.gemm.launch_s", "wanted at least 5e-07");
}
END_TEST

START_TEST(a_coefficient_to_keep_that_is_not_there_is_a_fault)
{
    static const char *const kept[] = {"gemm.tile_ss"};
    measure_streams(0);
    question.kept = kept;
    question.kept_count = 1;
    check_refused("", "did you mean gemm.tile_s");
}
END_TEST

Suite *
calibration_suite(void)
{
    Suite *suite = suite_create("calibration");
    TCase *tests = tcase_create("fits");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, exact_measurements_give_the_stream_back);
    tcase_add_test(tests, noise_of_five_percent_leaves_the_stream_within_a_tenth);
    tcase_add_test(tests, exact_measurements_give_the_products_back);
    tcase_add_test(tests, noise_leaves_products_held_out_within_it);
    tcase_add_test(tests, held_out_times_change_no_coefficient);
    tcase_add_test(tests, the_same_question_has_the_same_answer);
    tcase_add_test(tests, a_fit_time_that_changes_changes_the_fit);
    tcase_add_test(tests, another_seed_fits_other_shapes);
    tcase_add_test(tests, one_bad_row_does_not_steer);
    tcase_add_test(tests, a_fit_stops_at_the_bound_that_it_presses);
    tcase_add_test(tests, what_rows_do_not_tell_stays);
    tcase_add_test(tests, kinds_and_coefficients_that_were_not_asked_for_stay);
    tcase_add_test(tests, three_shapes_are_too_few_for_two_coefficients);
    tcase_add_test(tests, rows_of_one_size_do_not_tell_launch_from_elements);
    tcase_add_test(tests, noise_leaves_less_to_be_told);
    tcase_add_test(tests, a_list_with_nothing_to_fit_is_a_fault);
    tcase_add_test(tests, a_row_of_another_device_is_a_fault);
    tcase_add_test(tests, a_device_outside_the_bounds_is_a_fault);
    tcase_add_test(tests, a_coefficient_to_keep_that_is_not_there_is_a_fault);
    suite_add_tcase(suite, tests);
    return suite;
}
