/* Does the trace of several ranks keep to what its readers insist on? */
#include <string.h>

#include "sim/base/check_near.h"
#include "sim/base/check_often.h"
#include "sim/cli/check_chrome_trace.h"

Suite *chrome_trace_ranks_suite(void);

/* Chrome's and Perfetto's rule: an arrow belongs to the slice of its thread around its time. Of
 * "f" only with "bp": "e", else to the next. */
static bool
is_on_a_slice(const struct json *arrow)
{
    for (size_t i = 0; i < json_count(events); i++) {
        const struct json *event = json_element(events, i);
        if (strcmp(text_at(event, "ph"), "X") != 0 ||
            integer_at(event, "pid") != integer_at(arrow, "pid") ||
            integer_at(event, "tid") != integer_at(arrow, "tid"))
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
            integer_at(event, "id") != integer_at(start, "id"))
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
        ck_assert_int_ne(integer_at(event, "pid"), integer_at(end, "pid"));
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

/* HTA and TraceLens take all kernels of a file for one rank's. Beside operators of the host
 * TraceLens wants to know what launched each kernel. */
START_TEST(only_the_own_rank_has_kernels)
{
    size_t kernels = 0, others = 0;
    trace(&(struct request){
        "configs/runs/h200-eager-m1-pp4-ep2.json", {NULL}, RANKS_FOLDED, "stages"});
    for (size_t i = 0; i < json_count(events); i++) {
        const struct json *event = json_element(events, i);
        bool is_kernel = strcmp(text_at(event, "cat"), "kernel") == 0;
        bool is_own = integer_at(event, "pid") == step->lowered.representative;
        const struct json *arguments = json_member(event, "args");
        CHECK_OFTEN(is_kernel == (arguments && json_member(arguments, "stream") != NULL));
        CHECK_OFTEN(strcmp(text_at(event, "cat"), "cpu_op") != 0);
        CHECK_OFTEN(is_own || (!is_kernel && !strstr(text_at(event, "name"), "nccl")));
        kernels += is_kernel;
        others += !is_own;
    }
    ck_assert_uint_gt(kernels, 100);
    ck_assert_uint_gt(others, 100);
}
END_TEST

/* "thread_name" and the like for a process, and of it one thread or (-1) all. */
static bool
has_metadata(const char *name, int64_t process, int64_t thread)
{
    for (size_t i = 0; i < json_count(events); i++) {
        const struct json *event = json_element(events, i);
        if (strcmp(text_at(event, "ph"), "M") == 0 &&
            strcmp(text_at(event, "name"), name) == 0 && integer_at(event, "pid") == process &&
            (thread < 0 || integer_at(event, "tid") == thread))
            return true;
    }
    return false;
}

/* Perfetto reads no other metadata than these four, and shows a thread without a name by number. */
START_TEST(all_tracks_are_named_as_perfetto_reads_it)
{
    static const char *const read[] = {"process_name", "process_sort_index", "thread_name",
                                       "thread_sort_index"};
    int64_t process = -1, thread = -1;
    trace(&(struct request){
        "configs/runs/h200-eager-m1-pp4-ep2.json", {NULL}, RANKS_FOLDED, "stages"});
    for (size_t i = 0; i < json_count(events); i++) {
        const struct json *event = json_element(events, i);
        bool is_read = false;
        for (size_t j = 0; j < sizeof read / sizeof *read; j++)
            is_read |= strcmp(text_at(event, "name"), read[j]) == 0;
        CHECK_OFTEN(is_read == (strcmp(text_at(event, "ph"), "M") == 0));
        int64_t its_process = integer_at(event, "pid");
        int64_t its_thread = integer_at(event, "tid");
        if (strcmp(text_at(event, "ph"), "X") != 0 ||
            (its_process == process && its_thread == thread))
            continue;
        process = its_process;
        thread = its_thread;
        CHECK_OFTEN(has_metadata("process_name", process, -1));
        CHECK_OFTEN(has_metadata("thread_name", process, thread));
    }
    ck_assert_int_ge(thread, 0);
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

Suite *
chrome_trace_ranks_suite(void)
{
    Suite *suite = suite_create("chrome_trace_ranks");
    TCase *ranks = tcase_create("ranks");
    tcase_add_checked_fixture(ranks, set_up_arena, tear_down);
    tcase_set_timeout(ranks, 60);
    tcase_add_test(ranks, pipeline_messages_have_arrows);
    tcase_add_test(ranks, exchanges_within_a_group_have_arrows);
    tcase_add_test(ranks, only_the_own_rank_has_kernels);
    tcase_add_test(ranks, all_tracks_are_named_as_perfetto_reads_it);
    tcase_add_test(ranks, collectives_say_all_that_trace_lens_reads);
    tcase_add_test(ranks, each_group_has_a_name_of_its_own);
    suite_add_tcase(suite, ranks);
    return suite;
}
