/* Does the trace keep to what its readers insist on? */
#include <string.h>

#include "sim/base/check_near.h"
#include "sim/base/check_often.h"
#include "sim/base/units.h"
#include "sim/cli/check_chrome_trace.h"

Suite *chrome_trace_suite(void);

static void
set_up(void)
{
    set_up_arena();
    trace(&(struct request){
        "configs/runs/zaya1-base-4k-1024.json", {NULL}, RANKS_FOLDED, "stages"});
}

/* But for the one that spans the step. */
static bool
is_slice_of(const struct json *event, int64_t thread)
{
    return strcmp(text_at(event, "ph"), "X") == 0 && integer_at(event, "tid") == thread &&
           strcmp(text_at(event, "name"), "ProfilerStep#1") != 0;
}

/* Perfetto counts slices of one thread that overlap without nesting as errors. */
static double
check_thread(int64_t thread)
{
    double end_s = 0, busy_s = 0;
    for (size_t i = 0; i < json_count(events); i++) {
        const struct json *event = json_element(events, i);
        if (!is_slice_of(event, thread))
            continue;
        double start_s = real_at(event, "ts") * S_PER_US;
        double duration_s = real_at(event, "dur") * S_PER_US;
        CHECK_OFTEN(start_s >= end_s - 1e-12);
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

/* The next slice of a thread from *at on, from and to; both endless behind the last. */
static void
next_slice(int64_t thread, size_t *at, double span_s[2])
{
    span_s[0] = span_s[1] = 1e30;
    while (*at < json_count(events)) {
        const struct json *event = json_element(events, (*at)++);
        if (!is_slice_of(event, thread))
            continue;
        span_s[0] = real_at(event, "ts") * S_PER_US;
        span_s[1] = span_s[0] + real_at(event, "dur") * S_PER_US;
        return;
    }
}

/* Seconds of one thread that another does not cover; both ascend and never overlap themselves. */
static double
uncovered_s(int64_t thread, int64_t cover)
{
    size_t at = 0, cover_at = 0;
    double span_s[2], cover_s[2] = {0, 0}, sum_s = 0;
    next_slice(thread, &at, span_s);
    while (span_s[0] < 1e30) {
        if (cover_s[1] <= span_s[0])
            next_slice(cover, &cover_at, cover_s);
        else if (cover_s[0] > span_s[0]) {
            double open_s = cover_s[0] < span_s[1] ? cover_s[0] : span_s[1];
            sum_s += open_s - span_s[0];
            span_s[0] = open_s;
        } else
            span_s[0] = cover_s[1];
        if (span_s[0] >= span_s[1])
            next_slice(thread, &at, span_s);
    }
    return sum_s;
}

/* What HTA and TraceLens both call exposed: communication with no kernel beside it. They find it
 * from the slices alone; rounded ends of some 20 collectives. */
START_TEST(exposed_communication_is_that_of_the_breakdown)
{
    CHECK_NEAR(uncovered_s(DATA, COMPUTE), units_s_from_ps(step_group_ps(step, GROUP_NETWORK)),
               1e-6);
}
END_TEST

START_TEST(accounts_are_the_breakdown_to_the_picosecond)
{
    int64_t sums_ps[STEP_CLASS_COUNT] = {0};
    for (size_t i = 0; i < json_count(events); i++) {
        const struct json *event = json_element(events, i);
        const struct json *duration = json_member(json_member(event, "args"), "duration_ps");
        for (int j = 0; duration && j < STEP_CLASS_COUNT; j++)
            if (strcmp(text_at(event, "name"), step_class_key((enum step_class)j)) == 0)
                sums_ps[j] += json_as_integer(duration);
    }
    for (int j = 0; j < STEP_CLASS_COUNT; j++)
        ck_assert_int_eq(sums_ps[j], step->class_ps[j]);
}
END_TEST

/* HTA takes what is named so for communication or for memory. */
static bool
is_no_computation(const char *name)
{
    return strncmp(name, "hip", 3) == 0 || strncmp(name, "hccl", 4) == 0 ||
           strstr(name, "Memcpy") || strstr(name, "Memset") || strstr(name, "dma") ||
           strstr(name, "Sync");
}

/* HTA and TraceLens know collectives by their name, and GPU work by a stream above 0. */
START_TEST(collectives_and_only_they_are_named_nccl)
{
    int64_t collectives = 0;
    for (size_t i = 0; i < json_count(events); i++) {
        const struct json *event = json_element(events, i);
        bool is_nccl = strncmp(text_at(event, "name"), "nccl", 4) == 0;
        CHECK_OFTEN(is_nccl == is_slice_of(event, DATA));
        const struct json *arguments = json_member(event, "args");
        const struct json *stream = json_member(arguments, "stream");
        CHECK_OFTEN(!stream || json_as_integer(stream) > 0);
        CHECK_OFTEN(!stream || !is_no_computation(text_at(event, "name")));
        CHECK_OFTEN(!is_nccl || json_member(arguments, "Collective name"));
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

/* Of two or more HTA keeps only kernels that a launch of the host is known of. */
START_TEST(one_step_is_marked)
{
    size_t steps = 0;
    for (size_t i = 0; i < json_count(events); i++) {
        const struct json *event = json_element(events, i);
        if (strncmp(text_at(event, "name"), "ProfilerStep", 12) != 0)
            continue;
        steps++;
        CHECK_NEAR(real_at(event, "ts"), 0, 0);
        CHECK_NEAR(real_at(event, "dur") * S_PER_US, step->step_s, 1e-8);
    }
    ck_assert_uint_eq(steps, 1);
}
END_TEST

/* Memory does not follow the length of the trace: it is handed over in pieces. */
START_TEST(a_trace_is_handed_over_in_pieces)
{
    ck_assert_uint_gt(pieces, 10);
    ck_assert_uint_lt(piece_max_bytes, 1 << 17);
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
    tcase_add_test(tests, one_step_is_marked);
    tcase_add_test(tests, exposed_communication_is_that_of_the_breakdown);
    tcase_add_test(tests, a_trace_is_handed_over_in_pieces);
    suite_add_tcase(suite, tests);
    return suite;
}
