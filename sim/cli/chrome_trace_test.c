/* Does the trace keep to what its readers insist on? */
#include "sim/cli/chrome_trace.h"

#include <string.h>

#include <check.h>

#include "sim/base/check_arena.h"
#include "sim/base/check_near.h"
#include "sim/base/check_often.h"
#include "sim/base/json.h"
#include "sim/base/units.h"

Suite *chrome_trace_suite(void);

/* Threads as the trace numbers them. */
enum { HOST = 1, COMPUTE = 7, DATA = 21 };

static struct arena *arena;
static const struct step *step;
static struct text text;
static const struct json *events;
static size_t pieces, piece_max_bytes; /* as the trace was handed over */

static void
take(void *context, const char *bytes, size_t length)
{
    text_append(context, bytes, length);
    pieces++;
    piece_max_bytes = length > piece_max_bytes ? length : piece_max_bytes;
}

struct request {
    const char *file;
    const char *settings[2];
    enum lower_ranks ranks;
    const char *show;
};

static void
trace(const struct request *wanted)
{
    struct error_list errors = {0};
    struct shown_ranks shown;
    size_t settings = 0;
    while (settings < 2 && wanted->settings[settings])
        settings++;
    const struct run *run = run_read(&(struct run_request){.file = wanted->file,
                                                           .settings = wanted->settings,
                                                           .setting_count = settings},
                                     arena, &errors);
    step = step_simulate(run, wanted->ranks, arena, &errors);
    ck_assert(shown_ranks_read(wanted->show, step, &shown, arena));
    text = text_new(arena);
    pieces = piece_max_bytes = 0;
    chrome_trace_write(step, &shown, &(struct trace_sink){take, &text}, arena);
    const struct json *root =
        json_read_text(arena, "trace", 1, text.bytes, text.length, &errors);
    ck_assert_int_eq(errors.count, 0);
    events = json_member(root, "traceEvents");
}

static void
set_up_arena(void)
{
    arena = check_arena_new();
}

static void
set_up(void)
{
    set_up_arena();
    trace(&(struct request){
        "configs/runs/zaya1-base-4k-1024.json", {NULL}, RANKS_FOLDED, "stages"});
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
        span_s[0] = json_as_real(json_member(event, "ts")) * S_PER_US;
        span_s[1] = span_s[0] + json_as_real(json_member(event, "dur")) * S_PER_US;
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
        CHECK_OFTEN(is_nccl == is_slice_of(event, DATA));
        const struct json *arguments = json_member(event, "args");
        const struct json *stream = json_member(arguments, "stream");
        CHECK_OFTEN(!stream || json_as_integer(stream) > 0);
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

/* ---- Several ranks */

static const char *
text_at(const struct json *event, const char *key)
{
    const struct json *value = json_member(event, key);
    return value ? json_as_string(value) : "";
}

static double
real_at(const struct json *event, const char *key)
{
    return json_as_real(json_member(event, key));
}

/* Chrome's and Perfetto's rule: an arrow belongs to the slice of its thread around its time. Of
 * "f" only with "bp": "e", else to the next. */
static bool
is_on_a_slice(const struct json *arrow)
{
    for (size_t i = 0; i < json_count(events); i++) {
        const struct json *event = json_element(events, i);
        if (strcmp(text_at(event, "ph"), "X") != 0 ||
            json_as_integer(json_member(event, "pid")) !=
                json_as_integer(json_member(arrow, "pid")) ||
            json_as_integer(json_member(event, "tid")) !=
                json_as_integer(json_member(arrow, "tid")))
            continue;
        double from_s = real_at(event, "ts") * S_PER_US;
        double at_s = real_at(arrow, "ts") * S_PER_US;
        if (from_s <= at_s && at_s < from_s + real_at(event, "dur") * S_PER_US)
            return true;
    }
    return false;
}

/* The other end of an arrow: same category, name and id. NULL if there is not exactly one. */
static const struct json *
find_end(const struct json *start)
{
    const struct json *found = NULL;
    for (size_t i = 0; i < json_count(events); i++) {
        const struct json *event = json_element(events, i);
        if (strcmp(text_at(event, "ph"), "f") != 0 ||
            json_as_integer(json_member(event, "id")) !=
                json_as_integer(json_member(start, "id")))
            continue;
        ck_assert_ptr_null(found);
        ck_assert_str_eq(text_at(event, "cat"), text_at(start, "cat"));
        ck_assert_str_eq(text_at(event, "name"), text_at(start, "name"));
        ck_assert_str_eq(text_at(event, "bp"), "e");
        found = event;
    }
    return found;
}

/* Every arrow has both ends, on slices of two ranks, and does not point back in time; how many
 * there are. */
static size_t
check_arrows(void)
{
    size_t starts = 0, ends = 0;
    for (size_t i = 0; i < json_count(events); i++) {
        const struct json *event = json_element(events, i);
        ends += strcmp(text_at(event, "ph"), "f") == 0;
        if (strcmp(text_at(event, "ph"), "s") != 0)
            continue;
        const struct json *end = find_end(event);
        ck_assert_ptr_nonnull(end);
        ck_assert(is_on_a_slice(event) && is_on_a_slice(end));
        ck_assert_int_ne(json_as_integer(json_member(event, "pid")),
                         json_as_integer(json_member(end, "pid")));
        ck_assert_double_le(real_at(event, "ts"), real_at(end, "ts"));
        starts++;
    }
    ck_assert_uint_eq(starts, ends);
    return starts;
}

/* Of each of 4 stages one rank: 3 boundaries pass 8 microbatches forward and back. */
START_TEST(pipeline_messages_have_arrows)
{
    trace(&(struct request){
        "configs/runs/h200-eager-m1-pp4-ep2.json", {NULL}, RANKS_FOLDED, "stages"});
    ck_assert_uint_eq(check_arrows(), 3 * 8 * 2);
    trace(&(struct request){"configs/runs/h200-eager-m1-pp4-ep2.json",
                            {NULL},
                            RANKS_ALL,
                            "2,4"}); /* stages 2 and 0: they do not meet */
    ck_assert_uint_eq(check_arrows(), 0);
    trace(&(struct request){
        "configs/runs/h200-eager-m1-pp4-ep2.json", {NULL}, RANKS_ALL, "slowest"});
    ck_assert_uint_eq(check_arrows(), 0);
}
END_TEST

/* Two ranks of a group hand keys and values to each other, 8 layers forward and back; so do two
 * of the others that are shown. */
START_TEST(exchanges_within_a_group_have_arrows)
{
    trace(&(struct request){"configs/runs/h200-eager-m1-dp8-ep8.json",
                            {"plan.context=2", "plan.global_batch_sequences=8"},
                            RANKS_ALL,
                            "0-3,5"});
    ck_assert_uint_eq(check_arrows(), (8 + 8) * 4);
}
END_TEST

/* HTA and TraceLens take all kernels of a file for one rank's. */
START_TEST(only_the_own_rank_has_kernels)
{
    size_t kernels = 0, others = 0;
    trace(&(struct request){
        "configs/runs/h200-eager-m1-pp4-ep2.json", {NULL}, RANKS_FOLDED, "stages"});
    for (size_t i = 0; i < json_count(events); i++) {
        const struct json *event = json_element(events, i);
        bool is_kernel = strcmp(text_at(event, "cat"), "kernel") == 0;
        bool is_own =
            json_as_integer(json_member(event, "pid")) == step->lowered.representative;
        const struct json *arguments = json_member(event, "args");
        CHECK_OFTEN(is_kernel == (arguments && json_member(arguments, "stream") != NULL));
        CHECK_OFTEN(is_own || (!is_kernel && !strstr(text_at(event, "name"), "nccl")));
        kernels += is_kernel;
        others += !is_own;
    }
    ck_assert_uint_gt(kernels, 100);
    ck_assert_uint_gt(others, 100);
}
END_TEST

static const struct json *
first_collective(const char *group_description)
{
    for (size_t i = 0; i < json_count(events); i++) {
        const struct json *arguments = json_member(json_element(events, i), "args");
        if (arguments &&
            strcmp(text_at(arguments, "Process Group Description"), group_description) == 0)
            return arguments;
    }
    return NULL;
}

/* TraceLens reads each of these without asking, and has sizes for these dtypes only. */
START_TEST(collectives_say_all_that_trace_lens_reads)
{
    static const char *const keys[] = {
        "External id",     "Process Group Name", "Process Group Ranks",
        "Collective name", "Group size",         "dtype",
        "In msg nelems",   "Out msg nelems",     "stream",
        "In split size",   "Out split size"};
    static const char *const dtypes = "Float Int Long BFloat16 Bool Byte Double Half Short";
    size_t collectives = 0;
    trace(&(struct request){"configs/runs/deepseek-v3-pp16.json",
                            {"plan.global_batch_sequences=128"},
                            RANKS_FOLDED,
                            "slowest"});
    for (size_t i = 0; i < json_count(events); i++) {
        const struct json *event = json_element(events, i);
        const struct json *arguments = json_member(event, "args");
        if (!strstr(text_at(event, "name"), "nccl"))
            continue;
        for (size_t key = 0; key < sizeof keys / sizeof *keys; key++)
            ck_assert_msg(json_member(arguments, keys[key]) != NULL, "no %s", keys[key]);
        ck_assert_ptr_nonnull(strstr(dtypes, text_at(arguments, "dtype")));
        collectives++;
    }
    ck_assert_uint_gt(collectives, 50);
}
END_TEST

/* TraceLens takes what files of several ranks say of a group's name for one group, and stops where
 * they differ in its ranks: experts lie on ranks 0 and 4, and on 1 and 5. */
START_TEST(each_group_has_a_name_of_its_own)
{
    static const char *const shown[] = {"0", "4", "1"};
    const char *names[3], *ranks[3];
    for (int i = 0; i < 3; i++) {
        trace(&(struct request){
            "configs/runs/h200-eager-m1-pp4-ep2.json", {NULL}, RANKS_ALL, shown[i]});
        const struct json *arguments = first_collective("EXPERT_MODEL_PARALLEL_GROUP");
        names[i] = text_at(arguments, "Process Group Name");
        ranks[i] = text_at(arguments, "Process Group Ranks");
    }
    ck_assert_str_eq(names[0], names[1]);
    ck_assert_str_eq(ranks[0], ranks[1]);
    ck_assert_str_ne(names[0], names[2]);
    ck_assert_str_ne(ranks[0], ranks[2]);
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
    tcase_add_test(tests, exposed_communication_is_that_of_the_breakdown);
    tcase_add_test(tests, a_trace_is_handed_over_in_pieces);
    suite_add_tcase(suite, tests);
    TCase *ranks = tcase_create("ranks");
    tcase_add_checked_fixture(ranks, set_up_arena, tear_down);
    tcase_set_timeout(ranks, 60);
    tcase_add_test(ranks, pipeline_messages_have_arrows);
    tcase_add_test(ranks, exchanges_within_a_group_have_arrows);
    tcase_add_test(ranks, only_the_own_rank_has_kernels);
    tcase_add_test(ranks, collectives_say_all_that_trace_lens_reads);
    tcase_add_test(ranks, each_group_has_a_name_of_its_own);
    suite_add_tcase(suite, ranks);
    return suite;
}
