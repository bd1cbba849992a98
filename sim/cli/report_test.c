/* Is a report one whole page that names from outside cannot break? A browser looks at it too:
 * .ci/report. */
#include "sim/cli/report.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

#include "sim/base/check_often.h"
#include "sim/base/check_suite.h"

Suite *report_suite(void);

static const char *
page_of(const char *file, const char *setting)
{
    struct error_list errors = {0};
    struct run_request request = {
        .file = file, .settings = &setting, .setting_count = setting ? 1 : 0};
    const struct run *run = run_read(&request, arena, &errors);
    ck_assert_msg(run != NULL, "%s", errors.items[0].what);
    const struct step *step = step_simulate(run, RANKS_FOLDED, arena, &errors);
    ck_assert_msg(step != NULL, "%s", errors.items[0].what);
    struct text out = text_new(arena);
    report_write(step, &out, arena);
    ck_assert_uint_eq(strlen(out.bytes), out.length);
    return out.bytes;
}

enum { DEPTH_MAX = 64, NAME_MAX_LENGTH = 24 };

struct open_tags {
    char names[DEPTH_MAX][NAME_MAX_LENGTH];
    int depth;
};

/* HTML's elements that hold nothing. */
static bool
is_void(const char *name)
{
    static const char *const names[] = {"meta", "link", "br", "!DOCTYPE"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

/* The tag that begins at '<': pushed, or popped from under the name that it must have. */
static const char *
take_tag(struct open_tags *open, const char *at)
{
    bool is_end = at[1] == '/';
    const char *name = at + 1 + is_end, *end = strchr(at, '>');
    size_t length =
        strspn(name, "!abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789");
    CHECK_OFTEN(end && length > 0 && length < NAME_MAX_LENGTH);
    CHECK_OFTEN(!memchr(at + 1, '<', (size_t)(end - at - 1)));
    if (is_end) {
        ck_assert_int_gt(open->depth, 0);
        ck_assert_msg(strncmp(open->names[open->depth - 1], name, length) == 0,
                      "</%.*s> closes <%s>", (int)length, name, open->names[open->depth - 1]);
        open->depth--;
        return end + 1;
    }
    CHECK_OFTEN(open->depth < DEPTH_MAX);
    (void)snprintf(open->names[open->depth], NAME_MAX_LENGTH, "%.*s", (int)length, name);
    open->depth += !is_void(open->names[open->depth]) && end[-1] != '/';
    return end + 1;
}

/* Every tag is closed by its own, in order; nothing else looks like one. */
static void
check_tags(const char *page)
{
    struct open_tags open = {.depth = 0};
    for (const char *at = page; *at;) {
        if (*at == '<')
            at = take_tag(&open, at);
        else
            CHECK_OFTEN(*at++ != '>' ||
                        (open.depth > 0 && strcmp(open.names[open.depth - 1], "style") == 0));
    }
    ck_assert_int_eq(open.depth, 0);
}

/* Styles have '>' in selectors; what is asked of elsewhere begins so. */
static void
check_alone(const char *page)
{
    static const char *const reach[] = {"<script", "<img",    "<iframe",     "<object",
                                        "src=",    "@import", "javascript:", "onload",
                                        "url(h",   "href=\"h"};
    for (size_t i = 0; i < sizeof reach / sizeof *reach; i++)
        ck_assert_msg(!strstr(page, reach[i]), "holds %s", reach[i]);
}

START_TEST(a_page_is_whole_and_needs_nothing_else)
{
    const char *page = page_of("configs/runs/zaya1-base-4k-1024.json", NULL);
    check_tags(page);
    check_alone(page);
}
END_TEST

START_TEST(pages_of_pipelines_are_too)
{
    const char *page = page_of("configs/runs/h200-eager-m1-pp4-ep2.json", NULL);
    check_tags(page);
    check_alone(page);
    ck_assert_ptr_nonnull(strstr(page, ">stage 3</text>"));
}
END_TEST

START_TEST(names_from_outside_stay_words)
{
    const char *page = page_of("configs/runs/h200-eager-m1-dp8-ep8.json",
                               "plan.name=\"</title><script>alert('&')</script>\"");
    check_tags(page);
    check_alone(page);
    ck_assert_ptr_nonnull(
        strstr(page, "&lt;/title&gt;&lt;script&gt;alert(&#39;&amp;&#39;)&lt;/script&gt;"));
}
END_TEST

/* What each section is for. */
START_TEST(a_page_says_what_a_reader_asks)
{
    static const char *const wanted[] = {
        "id=\"timeline\"",
        "id=\"breakdown\"",
        "id=\"memory\"",
        "id=\"causes\"",
        "id=\"what-ifs\"",
        "id=\"roofline\"",
        "id=\"tornado\"",
        "id=\"operators\"",
        "id=\"trust\"",
        "id=\"inputs\"",
        "hw/gemm_cost.c",               /* a formula */
        "configs/devices/mi300x.json:", /* the line that a number stands in */
        "arXiv",                        /* a source */
        "twice the bandwidth of NICs"};
    const char *page = page_of("configs/runs/zaya1-base-4k-1024.json", NULL);
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        ck_assert_msg(strstr(page, wanted[i]) != NULL, "%s is missing", wanted[i]);
}
END_TEST

START_TEST(the_same_step_is_the_same_page)
{
    const char *first = page_of("configs/runs/h200-eager-m1-pp4-ep2.json", NULL);
    ck_assert_str_eq(first, page_of("configs/runs/h200-eager-m1-pp4-ep2.json", NULL));
}
END_TEST

Suite *
report_suite(void)
{
    TCase *tests;
    Suite *suite = check_suite_new("report", &tests);
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, a_page_is_whole_and_needs_nothing_else);
    tcase_add_test(tests, pages_of_pipelines_are_too);
    tcase_add_test(tests, names_from_outside_stay_words);
    tcase_add_test(tests, a_page_says_what_a_reader_asks);
    tcase_add_test(tests, the_same_step_is_the_same_page);
    return suite;
}
