/* Does the trace keep to what its readers insist on? */
#include "sim/cli/chrome_trace.h"

#include <string.h>

#include <check.h>

#include "sim/base/check_arena.h"
#include "sim/base/check_near.h"
#include "sim/base/json.h"
#include "sim/base/units.h"

Suite *chrome_trace_suite(void);

/* Threads as the trace numbers them. */
enum { HOST = 1, COMPUTE = 7, DATA = 21 };

static struct arena *arena;
static const struct step *step;
static struct text text;
static const struct json *events;

static void
set_up(void)
{
    struct error_list errors = {0};
    arena = check_arena_new();
    struct run_request request = {.file = "configs/runs/zaya1-base-4k-1024.json"};
    const struct run *run = run_read(&request, arena, &errors);
    step = step_simulate(run, RANKS_FOLDED, arena, &errors);
    text = text_new(arena);
    chrome_trace_write(step, &text);
    const struct json *root =
        json_read_text(arena, "trace", 1, text.bytes, text.length, &errors);
    ck_assert_int_eq(errors.count, 0);
    events = json_member(root, "traceEvents");
}

static void
tear_down(void)
{
    arena_free(arena);
}

static bool
is_slice_of(const struct json *event, int64_t thread)
{
    const struct json *category = json_member(event, "cat");
    return strcmp(json_as_string(json_member(event, "ph")), "X") == 0 &&
           json_as_integer(json_member(event, "tid")) == thread &&
           strcmp(json_as_string(category), "user_annotation") != 0;
}

static const double S_PER_US = 1e-6; /* the format counts in microseconds */

/* Perfetto counts slices of one thread that overlap without nesting as errors. */
static double
check_thread(int64_t thread)
{
    double end_s = 0, busy_s = 0;
    for (size_t i = 0; i < json_count(events); i++) {
        const struct json *event = json_element(events, i);
        if (!is_slice_of(event, thread))
            continue;
        double start_s = json_as_real(json_member(event, "ts")) * S_PER_US;
        double duration_s = json_as_real(json_member(event, "dur")) * S_PER_US;
        ck_assert_double_ge(start_s, end_s - 1e-12);
        end_s = start_s + duration_s;
        busy_s += duration_s;
    }
    ck_assert_double_le(end_s, step->step_s + 1e-9);
    return busy_s;
}

START_TEST(slices_of_a_thread_never_overlap)
{
    ck_assert_double_gt(check_thread(HOST), 0);
    ck_assert_double_gt(check_thread(COMPUTE), 0);
    ck_assert_double_gt(check_thread(DATA), 0);
}
END_TEST

/* What the trace shows busy is what the breakdown counts; both ends of some 7,500 kernels are
 * rounded to nanoseconds. */
START_TEST(busy_time_is_that_of_the_breakdown)
{
    int64_t kernels_ps = step_group_ps(step, GROUP_COMPUTE) +
                         step_group_ps(step, GROUP_OPTIMIZER) +
                         step_group_ps(step, GROUP_OVERLAP);
    CHECK_NEAR(check_thread(COMPUTE), units_s_from_ps(kernels_ps), 1e-5);
    CHECK_NEAR(check_thread(DATA), units_s_from_ps(step->communication_ps), 1e-5);
}
END_TEST

START_TEST(accounts_are_the_breakdown_to_the_picosecond)
{
    int64_t sums_ps[STEP_CLASS_COUNT] = {0};
    for (size_t i = 0; i < json_count(events); i++) {
        const struct json *event = json_element(events, i);
        const struct json *duration = json_member(json_member(event, "args"), "duration_ps");
        for (int j = 0; duration && j < STEP_CLASS_COUNT; j++)
            if (strcmp(json_as_string(json_member(event, "name")),
                       step_class_key((enum step_class)j)) == 0)
                sums_ps[j] += json_as_integer(duration);
    }
    for (int j = 0; j < STEP_CLASS_COUNT; j++)
        ck_assert_int_eq(sums_ps[j], step->class_ps[j]);
}
END_TEST

/* HTA and TraceLens know collectives by their name, and GPU work by a stream above 0. */
START_TEST(collectives_and_only_they_are_named_nccl)
{
    int64_t collectives = 0;
    for (size_t i = 0; i < json_count(events); i++) {
        const struct json *event = json_element(events, i);
        bool is_nccl = strncmp(json_as_string(json_member(event, "name")), "nccl", 4) == 0;
        ck_assert(is_nccl == is_slice_of(event, DATA));
        const struct json *arguments = json_member(event, "args");
        const struct json *stream = json_member(arguments, "stream");
        ck_assert(!stream || json_as_integer(stream) > 0);
        ck_assert(!is_nccl || json_member(arguments, "Collective name"));
        collectives += is_nccl;
    }
    ck_assert_int_eq(collectives, 9 + 9 + 2); /* buckets gathered, reduced; norm, exchange */
}
END_TEST

/* HTA finds the rank by a regular expression that wants a space. */
START_TEST(the_rank_stands_behind_a_space)
{
    const char *wanted = arena_format(arena, "\"rank\": %lld, \"world_size\": 1024",
                                      (long long)step->lowered.representative);
    ck_assert_ptr_nonnull(strstr(text.bytes, wanted));
}
END_TEST

Suite *
chrome_trace_suite(void)
{
    Suite *suite = suite_create("chrome_trace");
    TCase *tests = tcase_create("zaya1");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, slices_of_a_thread_never_overlap);
    tcase_add_test(tests, busy_time_is_that_of_the_breakdown);
    tcase_add_test(tests, accounts_are_the_breakdown_to_the_picosecond);
    tcase_add_test(tests, collectives_and_only_they_are_named_nccl);
    tcase_add_test(tests, the_rank_stands_behind_a_space);
    suite_add_tcase(suite, tests);
    return suite;
}
