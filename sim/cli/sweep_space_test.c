/* Are a sweep's points those that its file or command line says, each once? */
#include "sim/cli/sweep_space.h"

#include <string.h>

#include <check.h>

#include "sim/base/check_arena.h"
#include "sim/cli/sweep_sample.h"

Suite *sweep_space_suite(void);

static struct arena *arena;
static struct error_list errors;
static struct sweep_space space;
static const struct run *base;

static void
setup(void)
{
    struct run_request request = {.file = "configs/runs/zaya1-base-4k-1024.json"};
    arena = check_arena_new();
    memset(&errors, 0, sizeof errors);
    memset(&space, 0, sizeof space);
    base = run_read(&request, arena, &errors);
    ck_assert_ptr_nonnull(base);
}

static void
teardown(void)
{
    arena_free(arena);
}

static void
add_axis(const char *text)
{
    const char *fault = NULL;
    ck_assert_msg(sweep_space_add_axis(&space, text, arena, &fault), "%s: %s", text, fault);
}

static void
add_link(const char *text)
{
    const char *fault = NULL;
    ck_assert_msg(sweep_space_add_link(&space, text, arena, &fault), "%s: %s", text, fault);
}

static void
check_point(size_t point, size_t field, const char *text)
{
    struct run_settings settings = {0};
    ck_assert(sweep_space_settings(&space, point, base, &settings, arena, &errors));
    ck_assert_uint_lt(field, settings.count);
    ck_assert_str_eq(settings.texts[field], text);
}

START_TEST(the_last_axis_runs_fastest)
{
    add_axis("plan.microbatch_sequences=1:4");
    add_axis("plan.recompute=none,full");
    ck_assert(sweep_space_check(&space, arena, &errors));
    ck_assert_uint_eq(sweep_space_count(&space), 6);
    check_point(0, 0, "plan.microbatch_sequences=1");
    check_point(1, 0, "plan.microbatch_sequences=1");
    check_point(1, 1, "plan.recompute=full");
    check_point(5, 0, "plan.microbatch_sequences=4");
    ck_assert(space.axes[0].is_numeric);
    ck_assert(!space.axes[1].is_numeric);
}
END_TEST

/* A link sees the axes, links before it and what else stands in the run's files. */
START_TEST(linked_fields_follow)
{
    add_axis("model.hidden_size=1024,3072");
    add_link("plan.microbatch_sequences=model.hidden_size/1024");
    add_link("plan.global_batch_sequences=plan.microbatch_sequences*1024*8");
    add_link("plan.bucket_parameters=plan.sequence_tokens/3");
    ck_assert(sweep_space_check(&space, arena, &errors));
    check_point(1, 1, "plan.microbatch_sequences=3");
    check_point(1, 2, "plan.global_batch_sequences=24576");
    check_point(0, 3, "plan.bucket_parameters=1365.3333333333333");
}
END_TEST

START_TEST(conditions_are_held_against_the_run_itself)
{
    bool holds = false;
    const char *const text = "model.hidden_size=1024";
    struct run_settings settings = {&text, 1};
    const struct run *narrow = run_again(base, &settings, arena, &errors);
    ck_assert_ptr_nonnull(narrow);
    sweep_space_add_condition(&space, "active_ratio > 0.98", arena);
    ck_assert(sweep_space_holds(&space, base, base, &holds, arena, &errors));
    ck_assert(holds);
    ck_assert(sweep_space_holds(&space, narrow, base, &holds, arena, &errors));
    ck_assert(!holds);
    sweep_space_add_condition(&space, "width > 2", arena);
    ck_assert(!sweep_space_holds(&space, base, base, &holds, arena, &errors));
}
END_TEST

START_TEST(an_empty_or_doubled_sweep_is_refused)
{
    ck_assert(!sweep_space_check(&space, arena, &errors));
    add_axis("plan.tensor=1,2");
    add_link("plan.tensor=2");
    ck_assert(!sweep_space_check(&space, arena, &errors));
    ck_assert_str_eq(errors.items[1].what, "plan.tensor is swept or linked twice");
}
END_TEST

/* Unshifted, the sequence of one axis is 1/2, 3/4, 1/4, 3/8, 7/8, ...: each quarter once among any
 * four that begin at a multiple of four; and shifting turns all of them alike. */
START_TEST(samples_fill_an_axis_evenly_and_repeat)
{
    const double *samples = sweep_samples(64, 3, 7, arena);
    const double *again = sweep_samples(64, 3, 7, arena),
                 *other = sweep_samples(64, 3, 8, arena);
    for (size_t axis = 0; axis < 3; axis++) {
        int counts[8] = {0};
        for (size_t i = 0; i < 64; i++)
            counts[(int)(samples[3 * i + axis] * 8)]++;
        for (int i = 0; i < 8; i++) { /* 64 points of which 63 and one more fill 64 places */
            ck_assert_int_ge(counts[i], 6);
            ck_assert_int_le(counts[i], 10);
        }
    }
    for (size_t i = 0; i < (size_t)64 * 3; i++) {
        ck_assert(samples[i] >= again[i] && samples[i] <= again[i]);
        ck_assert(samples[i] < other[i] || samples[i] > other[i]);
    }
}
END_TEST

START_TEST(samples_are_points_of_the_space)
{
    add_axis("plan.microbatch_sequences=1,2,4");
    space.samples = 10;
    ck_assert(sweep_space_check(&space, arena, &errors));
    ck_assert_uint_eq(sweep_space_count(&space), 10);
    for (size_t point = 0; point < 10; point++) {
        size_t place = 99;
        sweep_space_place(&space, point, &place);
        ck_assert_uint_lt(place, 3);
    }
}
END_TEST

static bool
read_text(const char *text)
{
    struct run_settings settings = {0};
    const char *run_file = NULL;
    const struct json *object =
        json_read_text(arena, "configs/runs/sweep.json", 1, text, strlen(text), &errors);
    ck_assert_ptr_nonnull(object);
    if (!sweep_space_read(&space, object, &settings, &run_file, arena, &errors))
        return false;
    ck_assert_str_eq(run_file, "configs/runs/zaya1-base-4k-1024.json");
    ck_assert_uint_eq(settings.count, 1);
    ck_assert_str_eq(settings.texts[0], "plan.recompute=full");
    return true;
}

START_TEST(a_file_says_the_same)
{
    ck_assert(read_text("{\"run\": \"zaya1-base-4k-1024.json\", "
                        "\"set\": {\"plan.recompute\": \"full\"}, "
                        "\"over\": {\"plan.tensor\": [1, 2], \"plan.zero_stage\": \"1:3:1\"}, "
                        "\"link\": {\"plan.expert\": \"plan.tensor\"}, "
                        "\"where\": [\"active_ratio < 2\"], \"samples\": 5, \"seed\": 3}"));
    ck_assert_uint_eq(space.axis_count, 2);
    ck_assert_uint_eq(space.axes[1].count, 3);
    ck_assert_str_eq(space.links[0].formula, "plan.tensor");
    ck_assert_uint_eq(space.condition_count, 1);
    ck_assert_int_eq(space.samples, 5);
}
END_TEST

START_TEST(a_file_that_is_none_says_where)
{
    static const char *const texts[] = {
        "{\"run\": \"r.json\", \"over\": {}}",
        "{\"run\": \"r.json\", \"over\": {\"plan.tensor\": []}}",
        "{\"run\": \"r.json\", \"over\": {\"plan.tensor\": \"4:2:1\"}}",
        "{\"run\": \"r.json\", \"over\": {\"plan.tensor\": [1]}, \"link\": 3}",
        "{\"run\": \"r.json\", \"over\": {\"plan.tensor\": [1]}, \"where\": [3]}",
        "{\"run\": \"r.json\", \"over\": {\"plan.tensor\": [1]}, \"set\": []}",
        "{\"run\": \"r.json\", \"over\": {\"plan.tensor\": [1]}, \"smaples\": 3}",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        memset(&errors, 0, sizeof errors);
        ck_assert_msg(!read_text(texts[i]), "%s", texts[i]);
        ck_assert_int_ge(errors.count, 1);
        ck_assert_msg(strstr(errors.items[0].where, "configs/runs/sweep.json:1:") != NULL, "%s",
                      errors.items[0].where);
    }
}
END_TEST

Suite *
sweep_space_suite(void)
{
    Suite *suite = suite_create("sweep_space");
    TCase *facts = tcase_create("facts");
    tcase_add_checked_fixture(facts, setup, teardown);
    tcase_add_test(facts, the_last_axis_runs_fastest);
    tcase_add_test(facts, linked_fields_follow);
    tcase_add_test(facts, conditions_are_held_against_the_run_itself);
    tcase_add_test(facts, an_empty_or_doubled_sweep_is_refused);
    tcase_add_test(facts, samples_fill_an_axis_evenly_and_repeat);
    tcase_add_test(facts, samples_are_points_of_the_space);
    tcase_add_test(facts, a_file_says_the_same);
    tcase_add_test(facts, a_file_that_is_none_says_where);
    suite_add_tcase(suite, facts);
    return suite;
}
