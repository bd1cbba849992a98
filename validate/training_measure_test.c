/* Does a run become the step that it asks for, and is what cannot be trained refused by name? */
#include "validate/training_measure.h"

#include <math.h>
#include <string.h>

#include "sim/base/check_arena.h"
#include "sim/base/check_near.h"
#include "sim/base/json.h"

Suite *training_measure_suite(void);

static const char RUN[] = "configs/runs/host-moe.json";

START_TEST(shape_is_the_runs)
{
    const char *const settings[] = {"plan.microbatch_sequences=2"};
    struct arena *arena = check_arena_new();
    struct error_list errors = {0};
    struct training_shape shape;
    const struct training_question question = {RUN, settings, 1};
    ck_assert(training_question_read(&question, &shape, arena, &errors));
    ck_assert_int_eq(shape.layers, 4);
    ck_assert_int_eq(shape.hidden, 256);
    ck_assert_int_eq(shape.experts, 8);
    ck_assert_int_eq(shape.microbatch_sequences, 2);
    ck_assert_int_eq(training_shape_ranks(&shape), 1);
    ck_assert_int_eq(training_shape_part(&shape, 0).microbatches, 2);
    arena_free(arena);
}
END_TEST

static const struct {
    const char *setting, *told;
} REFUSED[] = {
    {"model.rotary_fraction=0.5", "rotary_fraction 0"},
    {"model.is_embedding_tied=true", "is_embedding_tied false"},
    {"model.shared_ffn=64", "none of them shared"},
    {"plan.zero_stage=1", "zero_stage 0"},
    {"plan.gradient_dtype=bf16", "fp32"},
    {"plan.recompute=full", "recompute none"},
    {"plan.clips_gradients=true", "clips_gradients false"},
    {"plan.reduces_every_microbatch=true", "reduces_every_microbatch false"},
};
enum { REFUSED_COUNT = sizeof REFUSED / sizeof *REFUSED };

START_TEST(what_is_not_trained_is_refused)
{
    const char *const settings[] = {REFUSED[_i].setting};
    struct arena *arena = check_arena_new();
    struct error_list errors = {0};
    struct training_shape shape;
    const struct training_question question = {RUN, settings, 1};
    ck_assert(!training_question_read(&question, &shape, arena, &errors));
    ck_assert_msg(strstr(errors.items[0].what, REFUSED[_i].told) != NULL, "%s",
                  errors.items[0].what);
    arena_free(arena);
}
END_TEST

/* A layer of 32 channels: the answer's parts add up, and its times are those of its kernels. */
START_TEST(answer_adds_up)
{
    static const char *const settings[] = {"model.layers=1",
                                           "model.hidden=32",
                                           "model.vocab=64",
                                           "model.expert_ffn=32",
                                           "model.head_dim=8",
                                           "plan.sequence_tokens=16",
                                           "plan.microbatch_sequences=2"};
    enum { SETTINGS = sizeof settings / sizeof *settings };
    struct arena *arena = check_arena_new();
    struct error_list errors = {0};
    struct text out = text_new(arena);
    const struct process_group world = {.rank = 0, .size = 1};
    const struct training_question question = {RUN, settings, SETTINGS};
    struct training_effort effort = training_effort_new();
    effort.steps_min = effort.steps_max = 3;
    ck_assert(training_measure(&question, &effort, &world, NULL, &out, &errors));
    const struct json *row = json_read_text(arena, "row", 1, out.bytes, out.length, &errors);
    ck_assert_ptr_nonnull(row);
    const struct json *kernels = json_member(row, "measured_kernels");
    double quiet_s = json_as_real(json_member(row, "measured_quiet_s")), sum_s = 0;
    for (size_t i = 0; i < json_count(kernels); i++)
        sum_s += json_as_real(json_member(json_value_at(kernels, i), "seconds_s"));
    CHECK_NEAR(sum_s, quiet_s, 1e-9);
    ck_assert_double_le(quiet_s, json_as_real(json_member(row, "measured_s")));
    ck_assert_uint_eq(json_count(json_member(row, "measured_losses")), 5);
    ck_assert_double_lt(json_as_real(json_member(row, "measured_error_fraction")), 1e-5);
    arena_free(arena);
}
END_TEST

START_TEST(ranks_must_be_there)
{
    struct arena *arena = check_arena_new();
    struct error_list errors = {0};
    struct text out = text_new(arena);
    const struct process_group two = {.rank = 0, .size = 2};
    const struct training_question question = {RUN, NULL, 0};
    const struct training_effort effort = training_effort_new();
    ck_assert(!training_measure(&question, &effort, &two, NULL, &out, &errors));
    ck_assert_ptr_nonnull(strstr(errors.items[0].what, "of 1 ranks, but there are 2"));
    arena_free(arena);
}
END_TEST

Suite *
training_measure_suite(void)
{
    Suite *suite = suite_create("training_measure");
    TCase *tests = tcase_create("runs");
    tcase_add_test(tests, shape_is_the_runs);
    tcase_add_loop_test(tests, what_is_not_trained_is_refused, 0, REFUSED_COUNT);
    tcase_add_test(tests, answer_adds_up);
    tcase_add_test(tests, ranks_must_be_there);
    suite_add_tcase(suite, tests);
    return suite;
}
