/* A kernel over a range: which values, which measured rows lie on it, where waves begin. */
#include "sim/cli/kernel_sweep.h"

#include <check.h>
#include <string.h>

#include "hw/plain_device.h"
#include "sim/base/check_arena.h"
#include "sim/base/check_near.h"
#include "sim/cli/options.h"

Suite *kernel_sweep_suite(void);

static struct arena *arena;
static struct device device;
static struct kernel_sweep sweep;
static struct error_list errors;

static const struct option_spec OPTIONS[] = {
    {"measured", 0, OPTION_TEXTS, "LIST", "measured kernels"}};

static const struct command COMMAND = {
    .name = "kernel", .options = OPTIONS, .option_count = 1, .word_maximum = 8};

static void
setup(void)
{
    arena = check_arena_new();
    device = plain_device();
    errors = (struct error_list){0};
}

static void
teardown(void)
{
    arena_free(arena);
}

/* The sweep of a gemm of 100 rows, 1000 deep, as the words of a command line ask for it. */
static bool
price(const char *range, const char *series)
{
    static const char *const words[] = {"gemm", "m=100", "k=1000", "layout=nt", "dtype=bf16"};
    const char *fault = NULL;
    sweep = (struct kernel_sweep){
        .device = &device,
        .options = options_parse(arena, &COMMAND, (struct arguments){words, 5}, &fault)};
    ck_assert(sweep_parse(range, &sweep.sweep, arena, &fault));
    if (*series)
        ck_assert(sweep_parse_words(series, &sweep.series, arena, &fault));
    return kernel_sweep_price(&sweep, arena, &errors);
}

static void
add_measured(const char *lines)
{
    struct measured_list list = {0};
    struct text text = text_new(arena);
    text_append(&text, lines, strlen(lines));
    ck_assert(measured_list_parse(&list, "list", &text, arena, &errors));
    ck_assert(kernel_sweep_add_measured(&sweep, &list, arena, &errors));
}

/* Tiles of 100 x 100 on four units: n = 400 is one wave, 500 two, 900 three. */
START_TEST(a_mark_stands_where_a_wave_begins)
{
    ck_assert(price("n=100:900:100", ""));
    ck_assert_int_eq(sweep.curves[0].points[3].cost.waves, 1);
    ck_assert_int_eq(sweep.curves[0].points[4].cost.waves, 2);
    const struct line_chart *chart = kernel_sweep_picture(&sweep, arena);
    ck_assert_uint_eq(chart->series_count, 1);
    ck_assert_uint_eq(chart->series[0].vertex_count, 9);
    ck_assert_uint_eq(chart->series[0].mark_count, 2);
    CHECK_NEAR(chart->series[0].marks[0].x, 450, 1e-12);
    ck_assert_str_eq(chart->series[0].marks[0].label, "2 waves");
    CHECK_NEAR(chart->series[0].marks[1].x, 850, 1e-12);
    ck_assert_int_eq((int)chart->x.scale, LINE_CHART_BINARY);
}
END_TEST

/* 2 * 100 * 200 * 1000 flop in 1e-5 s are 4e12 flop/s. The same at another depth, layout or
 * dtype, or beyond the range, is not on the curve. */
START_TEST(only_rows_that_agree_in_every_other_key_lie_on_the_curve)
{
    ck_assert(price("n=100:400:100", ""));
    add_measured(
        "{\"kernel\": \"gemm\", \"m\": 100, \"n\": 200, \"k\": 1000, \"layout\": \"nt\", "
        "\"dtype\": \"bf16\", \"measured_s\": 1e-5, \"measured_part\": \"held-out\"}\n"
        "{\"kernel\": \"gemm\", \"m\": 100, \"n\": 250, \"k\": 1000, \"layout\": \"nt\", "
        "\"dtype\": \"bf16\", \"measured_s\": 2e-5, \"measured_part\": \"fit\"}\n"
        "{\"kernel\": \"gemm\", \"m\": 100, \"n\": 200, \"k\": 999, \"layout\": \"nt\", "
        "\"dtype\": \"bf16\", \"measured_s\": 1}\n"
        "{\"kernel\": \"gemm\", \"m\": 100, \"n\": 200, \"k\": 1000, \"layout\": \"nn\", "
        "\"dtype\": \"bf16\", \"measured_s\": 1}\n"
        "{\"kernel\": \"gemm\", \"m\": 100, \"n\": 200, \"k\": 1000, \"layout\": \"nt\", "
        "\"dtype\": \"fp16\", \"measured_s\": 1}\n"
        "{\"kernel\": \"gemm\", \"m\": 100, \"n\": 500, \"k\": 1000, \"layout\": \"nt\", "
        "\"dtype\": \"bf16\", \"measured_s\": 1}\n");
    ck_assert_uint_eq(kernel_sweep_measured_count(&sweep), 2);
    const struct line_chart_series *series = kernel_sweep_picture(&sweep, arena)->series;
    CHECK_NEAR(series->points[0].x, 200, 1e-12);
    CHECK_NEAR(series->points[0].y, 4e12, 1e-12);
    ck_assert(!series->points[0].is_hollow);
    ck_assert(series->points[1].is_hollow);
    CHECK_NEAR(sweep.curves[0].points[1].measured_s, 1e-5, 1e-12);
    ck_assert(sweep.curves[0].points[2].measured_s == 0);
}
END_TEST

/* 1e-5 and 3e-5 s: 2e-5 s. */
START_TEST(a_value_measured_twice_stands_in_the_table_as_its_mean)
{
    ck_assert(price("n=100:400:100", ""));
    add_measured("{\"kernel\": \"gemm\", \"m\": 100, \"n\": 200, \"k\": 1000, \"layout\": "
                 "\"nt\", \"dtype\": \"bf16\", \"measured_s\": 1e-5}\n"
                 "{\"kernel\": \"gemm\", \"m\": 100, \"n\": 200, \"k\": 1000, \"layout\": "
                 "\"nt\", \"dtype\": \"bf16\", \"measured_s\": 3e-5}\n");
    CHECK_NEAR(sweep.curves[0].points[1].measured_s, 2e-5, 1e-12);
    ck_assert_uint_eq(kernel_sweep_measured_count(&sweep), 2);
}
END_TEST

START_TEST(a_series_makes_a_curve_a_value)
{
    ck_assert(price("n=100:1600", "m=100,300"));
    ck_assert_uint_eq(sweep.curve_count, 2);
    ck_assert_str_eq(sweep.fixed, "gemm k=1000 layout=nt dtype=bf16");
    ck_assert_int_eq(sweep.curves[1].kernel.gemm.m, 300);
    CHECK_NEAR(sweep.curves[1].points[0].cost.flop, 3 * sweep.curves[0].points[0].cost.flop,
               1e-12);
    const struct line_chart *chart = kernel_sweep_picture(&sweep, arena);
    ck_assert_str_eq(chart->series[1].label, "m = 300");
    ck_assert_int_eq((int)chart->x.scale, LINE_CHART_LOG_BINARY);
}
END_TEST

START_TEST(a_value_that_cannot_be_is_named_by_its_option)
{
    ck_assert(!price("q=100:400:100", ""));
    ck_assert_ptr_nonnull(strstr(errors.items[0].where, "--sweep q=100"));
    errors = (struct error_list){0};
    ck_assert(!price("n=100:400:100", "layout=nt,tt"));
    ck_assert_ptr_nonnull(strstr(errors.items[0].where, "--series layout=tt"));
}
END_TEST

START_TEST(a_table_has_a_line_a_value)
{
    struct text csv = text_new(arena), lines = text_new(arena);
    ck_assert(price("n=100:400:100", "m=100,300"));
    kernel_sweep_write_csv(&sweep, &csv);
    kernel_sweep_write_lines(&sweep, &lines);
    size_t csv_lines = 0, json_lines = 0;
    for (const char *c = csv.bytes; *c; c++)
        csv_lines += *c == '\n';
    for (const char *c = lines.bytes; *c; c++)
        json_lines += *c == '\n';
    ck_assert_uint_eq(csv_lines, 9);
    ck_assert_uint_eq(json_lines, 8);
    ck_assert(strncmp(csv.bytes, "m,n,predicted_s,", 16) == 0);
}
END_TEST

Suite *
kernel_sweep_suite(void)
{
    Suite *suite = suite_create("kernel_sweep");
    TCase *tests = tcase_create("kernel_sweep");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, a_mark_stands_where_a_wave_begins);
    tcase_add_test(tests, only_rows_that_agree_in_every_other_key_lie_on_the_curve);
    tcase_add_test(tests, a_value_measured_twice_stands_in_the_table_as_its_mean);
    tcase_add_test(tests, a_series_makes_a_curve_a_value);
    tcase_add_test(tests, a_value_that_cannot_be_is_named_by_its_option);
    tcase_add_test(tests, a_table_has_a_line_a_value);
    suite_add_tcase(suite, tests);
    return suite;
}
