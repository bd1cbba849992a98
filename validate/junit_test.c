/* Is the XML what CI systems read, whatever stands in titles and shapes? */
#include "validate/junit.h"

#include <check.h>
#include <string.h>

#include "sim/base/check_arena.h"

Suite *junit_suite(void);

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

/* bf16 products 10 % too slow in one held-out row of one fit row that is right; a copy without
 * limit, 50 % too quick. */
static const struct error_sample samples[] = {
    {{"gemm", "bf16", "all", 0, false}, SPLIT_HELD_OUT, 2, 2.2, 0.1, "gemm m=1"},
    {{"gemm", "bf16", "all", 0, false}, SPLIT_FIT, 1, 1, 0, "gemm m=2"},
    {{"copy", "", "all", 9, false}, SPLIT_FIT, 4, 2, 0, "copy"},
};

static const char *
write(const char *title, const char *const *limits, size_t limit_count)
{
    struct tolerance_list list = {0};
    struct tolerance_verdicts verdicts = {0};
    struct error_table table = error_table_new(samples, 3, arena);
    struct text out = text_new(arena);
    for (size_t i = 0; i < limit_count; i++)
        ck_assert(tolerance_parse(&list, limits[i], arena, &errors));
    ck_assert(tolerance_check(&list, &table, &verdicts, arena, &errors));
    junit_write(&(struct junit_suite){title, &table, &verdicts}, 1, &out);
    return out.bytes;
}

START_TEST(a_limit_past_which_a_group_is_fails_its_case)
{
    const char *const limits[] = {"gemm=8%", "gemm/bf16=5%", "gemm=20%"};
    ck_assert_str_eq(
        write("a <b>", limits, 3),
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        "<testsuites name=\"stepcast validate\" tests=\"2\" failures=\"1\" errors=\"0\" "
        "time=\"0\">\n"
        "  <testsuite name=\"a &lt;b&gt;\" tests=\"2\" failures=\"1\" errors=\"0\" "
        "skipped=\"0\" time=\"0\">\n"
        "    <testcase classname=\"validate.a &lt;b&gt;\" name=\"gemm bf16 all\" time=\"0\">\n"
        "      <failure type=\"tolerance\" message=\"held-out MAPE is 10.00 %, wanted at most "
        "5.00 %\">worst of 1 rows: gemm m=1\n"
        "measured_s=2 predicted_s=2.2\n"
        "limit: --tolerance gemm/bf16=5%</failure>\n"
        "      <system-out>held-out: n 1, MAPE 10.00 %, bias +10.00 %, p90 10.00 %, worst "
        "+10.00 %, within 2 sd 100 %\n"
        "fit: n 1, MAPE 0.00 %, bias +0.00 %, p90 0.00 %, worst +0.00 %, within 2 sd 100 %\n"
        "</system-out>\n"
        "    </testcase>\n"
        "    <testcase classname=\"validate.a &lt;b&gt;\" name=\"copy all\" time=\"0\">\n"
        "      <system-out>fit: n 1, MAPE 50.00 %, bias -50.00 %, p90 50.00 %, worst -50.00 %, "
        "within 2 sd 0 %\n"
        "</system-out>\n"
        "    </testcase>\n"
        "  </testsuite>\n"
        "</testsuites>\n");
}
END_TEST

static void
check_title(const char *title, const char *escaped)
{
    const char *wanted = arena_format(arena, "<testsuite name=\"%s\"", escaped);
    ck_assert_msg(strstr(write(title, NULL, 0), wanted) != NULL, "%s", escaped);
}

/* XML 1.0, section 2.2: of the control characters only tab and the line ends, nothing that is no
 * UTF-8, no surrogates (ED A0 80), no U+FFFE (EF BF BE), nothing overlong (C0 80, E0 80 80). */
START_TEST(what_xml_may_not_hold_is_escaped_or_a_question_mark)
{
    check_title("\"a\" & 'b'", "&quot;a&quot; &amp; 'b'");
    check_title("tab\tline\n", "tab&#9;line&#10;");
    check_title("bell\a\r\x1f\x7f", "bell???\x7f");
    check_title("größer µ 漢 \xF0\x9F\x98\x80", "größer µ 漢 \xF0\x9F\x98\x80");
    check_title("\xFF\xC0\x80\xE0\x80\x80|", "??????|");
    check_title("\xED\xA0\x80|\xEF\xBF\xBE|\xF5\x80\x80\x80", "???|???|????");
    check_title("cut \xE6\xBC", "cut ??");
}
END_TEST

START_TEST(a_class_is_not_cut_at_the_dots_of_a_path)
{
    ck_assert_ptr_nonnull(strstr(write("configs/h200.json", NULL, 0),
                                 "classname=\"validate.configs/h200_json\""));
}
END_TEST

START_TEST(no_tables_are_no_suites)
{
    struct text out = text_new(arena);
    junit_write(NULL, 0, &out);
    ck_assert_ptr_nonnull(strstr(out.bytes, "tests=\"0\" failures=\"0\""));
}
END_TEST

Suite *
junit_suite(void)
{
    Suite *suite = suite_create("junit");
    TCase *tests = tcase_create("junit");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, a_limit_past_which_a_group_is_fails_its_case);
    tcase_add_test(tests, what_xml_may_not_hold_is_escaped_or_a_question_mark);
    tcase_add_test(tests, a_class_is_not_cut_at_the_dots_of_a_path);
    tcase_add_test(tests, no_tables_are_no_suites);
    suite_add_tcase(suite, tests);
    return suite;
}
