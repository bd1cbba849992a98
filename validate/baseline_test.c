/* Is an error that grew since the baseline seen, and one that only moved by rounding not? */
#include "validate/baseline.h"

#include <string.h>

#include <check.h>

#include "sim/base/check_arena.h"
#include "sim/base/check_json.h"

Suite *baseline_suite(void);

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

/* A row as it is saved. */
static void
add_row(struct text *saved, const char *kind, const char *part, double mape_fraction)
{
    text_format(saved,
                "{\"kind\": \"%s\", \"dtype\": \"bf16\", \"size\": \"all\", \"part\": "
                "\"%s\", \"mape_fraction\": %g, \"rows_count\": 3}",
                kind, part, mape_fraction);
}

static const char *
saved_text(void)
{
    struct text saved = text_new(arena);
    text_format(&saved, "{\"tables\": [{\"title\": \"GPU\", \"rows\": [");
    add_row(&saved, "gemm", "held-out", 0.05);
    text_format(&saved, ", ");
    add_row(&saved, "gemm", "fit", 0.01);
    text_format(&saved, ", ");
    add_row(&saved, "copy", "held-out", 0.1);
    text_format(&saved, "]}, {\"title\": \"other\", \"rows\": [");
    add_row(&saved, "gemm", "held-out", 0.01);
    text_format(&saved, "]}]}");
    return saved.bytes;
}

static struct baseline
saved(void)
{
    struct baseline baseline = {0};
    ck_assert(baseline_read(&baseline, check_json_read(arena, saved_text()), arena, &errors));
    return baseline;
}

static struct baseline_growths
compare(const char *title, double gemm, double allowed)
{
    struct baseline baseline = saved();
    struct error_row rows[] = {
        {.group = {.kind = "gemm", .dtype = "bf16", .size = "all"},
         .part = SPLIT_HELD_OUT,
         .mape_fraction = gemm},
        {.group = {.kind = "gemm", .dtype = "bf16", .size = "all"},
         .part = SPLIT_FIT,
         .mape_fraction = 0.5},
        {.group = {.kind = "copy", .dtype = "bf16", .size = "all"},
         .part = SPLIT_HELD_OUT,
         .mape_fraction = 0.02},
    };
    struct error_row *kept = arena_copy(arena, rows, sizeof rows);
    struct error_table table = {.rows = kept, .count = 3, .capacity = 3};
    struct baseline *own = arena_copy(arena, &baseline, sizeof baseline);
    struct baseline_growths growths = {0};
    baseline_compare(own, title, &table, allowed, &growths, arena);
    return growths;
}

START_TEST(only_held_out_rows_are_kept)
{
    ck_assert_uint_eq(saved().count, 3);
}
END_TEST

/* 5 % before: 5.4 % is within half a point more, 5.6 % is not; the fit's 50 % does not count. */
START_TEST(growth_past_the_allowance_is_seen)
{
    ck_assert_uint_eq(compare("GPU", 0.054, 0.005).count, 0);
    ck_assert_uint_eq(compare("GPU", 0.054, 0.005).compared_count, 2);
    struct baseline_growths growths = compare("GPU", 0.056, 0.005);
    struct text text = text_new(arena);
    ck_assert_uint_eq(growths.count, 1);
    baseline_print(&growths, "b.json", &text);
    ck_assert_str_eq(text.bytes,
                     "grown: GPU: gemm bf16 all: held-out MAPE 5.00 % in b.json, 5.60 % now\n"
                     "1 of 2 errors have not grown against b.json\n");
}
END_TEST

START_TEST(a_row_that_is_gone_has_grown)
{
    struct baseline baseline = saved();
    struct baseline_growths growths = {0};
    struct error_table empty = {0};
    struct text text = text_new(arena);
    baseline_compare(&baseline, "other", &empty, 1, &growths, arena);
    baseline_print(&growths, "b.json", &text);
    ck_assert_str_eq(text.bytes,
                     "grown: other: gemm bf16 all: held-out MAPE 1.00 % in b.json, no such row "
                     "now\n0 of 1 errors have not grown against b.json\n");
    ck_assert_uint_eq(compare("third", 0.9, 0).compared_count, 0);
}
END_TEST

START_TEST(what_is_no_saved_answer_is_refused)
{
    static const struct {
        const char *text, *fault;
    } cases[] = {
        {"{}", "$: no 'tables' as"},
        {"{\"tables\": []}", "no held-out row to compare with"},
        {"{\"tables\": [{\"title\": 3, \"rows\": []}]}", "$.tables[0].title: no 'title' as"},
        {"{\"tables\": [{\"title\": \"a\", \"rows\": [{}]}]}", "no 'part' as"},
        {"{\"tables\": [{\"title\": \"a\", \"rows\": [{\"part\": \"held-out\", \"kind\": "
         "\"a\", "
         "\"dtype\": \"\", \"size\": \"all\"}]}]}",
         "no 'mape_fraction' as"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct baseline baseline = {0};
        struct error_list faults = {0};
        ck_assert(
            !baseline_read(&baseline, check_json_read(arena, cases[i].text), arena, &faults));
        const char *said = check_json_faults(arena, &faults);
        ck_assert_msg(strstr(said, cases[i].fault) != NULL, "%s", said);
    }
}
END_TEST

Suite *
baseline_suite(void)
{
    Suite *suite = suite_create("baseline");
    TCase *tests = tcase_create("baseline");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, only_held_out_rows_are_kept);
    tcase_add_test(tests, growth_past_the_allowance_is_seen);
    tcase_add_test(tests, a_row_that_is_gone_has_grown);
    tcase_add_test(tests, what_is_no_saved_answer_is_refused);
    suite_add_tcase(suite, tests);
    return suite;
}
