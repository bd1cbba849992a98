/* Are plans that cannot be refused, with words that help? */
#include "models/plan.h"

#include <string.h>

#include <check.h>

#include "models/run.h"
#include "sim/base/check_arena.h"

Suite *plan_suite(void);

static struct arena *arena;
static struct error_list errors;

static void
set_up(void)
{
    arena = check_arena_new();
    memset(&errors, 0, sizeof errors);
}

static void
tear_down(void)
{
    arena_free(arena);
}

static const struct run *
run_with(const char *setting)
{
    struct run_request request = {.file = "configs/runs/zaya1-base-4k-1024.json",
                                  .settings = &setting,
                                  .setting_count = setting ? 1 : 0};
    return run_read(&request, arena, &errors);
}

static void
expect(const char *setting, const char *where, const char *what)
{
    memset(&errors, 0, sizeof errors);
    ck_assert_ptr_null(run_with(setting));
    ck_assert_int_eq(errors.count, 1);
    ck_assert_str_eq(errors.items[0].where, where);
    ck_assert_str_eq(errors.items[0].what, what);
}

/* 1,024 GPUs, nothing but data parallel: 4,096 sequences are two microbatches of two a rank. */
START_TEST(what_a_plan_comes_to_on_its_cluster)
{
    const struct run *run = run_with(NULL);
    ck_assert_ptr_nonnull(run);
    const struct plan *plan = run->inputs.workload.plan;
    ck_assert_int_eq(plan_data_degree(plan, run->inputs.cluster), 1024);
    ck_assert_int_eq(plan_microbatches(plan, run->inputs.cluster), 2);
    ck_assert_int_eq(plan_microbatch_tokens(plan), 8192);
    ck_assert_int_eq(plan_step_tokens(plan), 16777216);
}
END_TEST

START_TEST(a_degree_that_does_not_divide_is_named_with_one_that_does)
{
    expect("plan.expert=3", "--set plan.expert=3: $.expert",
           "3 does not divide the 16 experts of zaya1-base, the nearest that does is 2");
    expect("plan.pipeline=7", "--set plan.pipeline=7: $.pipeline",
           "7 does not divide the 40 layers of zaya1-base, the nearest that does is 8; or say "
           "stage_layers");
    expect("plan.tensor=5", "--set plan.tensor=5: $.tensor",
           "5 does not divide the 8 query heads of zaya1-base, the nearest that does is 4");
}
END_TEST

START_TEST(a_batch_that_does_not_divide_offers_the_nearest)
{
    expect(
        "plan.global_batch_sequences=5000",
        "--set plan.global_batch_sequences=5000: $.global_batch_sequences",
        "5000 is not a multiple of 2048 (microbatch 2 x data parallel 1024), the nearest that "
        "is: 4096");
    expect(
        "plan.global_batch_sequences=100",
        "--set plan.global_batch_sequences=100: $.global_batch_sequences",
        "100 is not a multiple of 2048 (microbatch 2 x data parallel 1024), the nearest that "
        "is: 2048");
}
END_TEST

START_TEST(layers_run_again_in_full_and_there_must_be_as_many)
{
    const char *const settings[] = {"plan.recompute=full", "plan.recompute_layers=41"};
    struct run_request request = {.file = "configs/runs/zaya1-base-4k-1024.json",
                                  .settings = settings,
                                  .setting_count = 2};
    ck_assert_ptr_null(run_read(&request, arena, &errors));
    ck_assert_str_eq(errors.items[0].what,
                     "41 is more than the 40 layers of a stage, wanted at most those");
    expect("plan.recompute_layers=3", "--set plan.recompute_layers=3: $.recompute_layers",
           "3: layers run again whole, wanted \"recompute\": \"full\"");
}
END_TEST

START_TEST(a_sequence_beyond_the_models_positions_is_refused)
{
    expect("plan.sequence_tokens=8192", "--set plan.sequence_tokens=8192: $.sequence_tokens",
           "8192 is more than the 4096 positions that zaya1-base was made for");
}
END_TEST

START_TEST(what_cannot_be_lowered_yet_is_infeasible)
{
    expect("plan.compute_dtype=fp8", "--set plan.compute_dtype=fp8: $.compute_dtype",
           "a step in fp8 is not supported by this version, wanted fp32, tf32, bf16 or fp16; "
           "or bf16 and an fp8_recipe");
    ck_assert_int_eq((int)errors.items[0].kind, ERROR_INFEASIBLE);
    expect("plan.global_batch_sequences=16777216",
           "--set plan.global_batch_sequences=16777216: $.global_batch_sequences",
           "16777216 sequences are 8192 microbatches a rank, at most 4096 are simulated");
    ck_assert_int_eq((int)errors.items[0].kind, ERROR_INFEASIBLE);
}
END_TEST

/* gpt-oss looks back 128 tokens in every second layer. */
START_TEST(weights_are_one_an_expert)
{
    const char *const settings[] = {
        "plan.routing={\"kind\": \"histogram\", \"weights\": [1, 2]}"};
    struct run_request request = {.file = "configs/runs/zaya1-base-4k-1024.json",
                                  .settings = settings,
                                  .setting_count = 1};
    ck_assert_ptr_null(run_read(&request, arena, &errors));
    ck_assert_str_eq(errors.items[0].what,
                     "has 2 weights, wanted one for each of the 16 experts");
}
END_TEST

START_TEST(gradients_narrower_than_the_weights_are_refused)
{
    expect("plan.gradient_dtype=fp8", "--set plan.gradient_dtype=fp8: $.gradient_dtype",
           "is fp8, wanted fp32 or the compute dtype bf16");
}
END_TEST

/* What the message offers works. */
static void
expect_works(const char *const *settings, size_t count)
{
    memset(&errors, 0, sizeof errors);
    struct run_request request = {.file = "configs/runs/zaya1-base-4k-1024.json",
                                  .settings = settings,
                                  .setting_count = count};
    const struct run *run = run_read(&request, arena, &errors);
    ck_assert_msg(run != NULL, "%s", errors.items[0].what);
}

START_TEST(schedules_say_how_many_microbatches_they_need)
{
    const char *few[] = {"plan.schedule=dualpipe", "plan.pipeline=4",
                         "plan.global_batch_sequences=2048"};
    struct run_request request = {
        .file = "configs/runs/zaya1-base-4k-1024.json", .settings = few, .setting_count = 3};
    ck_assert_ptr_null(run_read(&request, arena, &errors));
    ck_assert_str_eq(errors.items[0].what,
                     "DualPipe needs an even number of at least 8 microbatches, found 4, the "
                     "nearest is 8");
    ck_assert_int_eq((int)errors.items[0].kind, ERROR_INFEASIBLE);
    expect_works((const char *[]){"plan.schedule=dualpipe", "plan.pipeline=4",
                                  "plan.global_batch_sequences=4096"},
                 3);
}
END_TEST

/* Of 40 layers 8 stages have five each; with embedding and head counted 42 are 6 a stage of 7. */
START_TEST(stages_may_be_listed_or_count_the_ends)
{
    expect_works((const char *[]){"plan.pipeline=8"}, 1);
    expect_works((const char *[]){"plan.pipeline=4", "plan.stage_layers=[11, 10, 10, 9]"}, 2);
    const char *settings[] = {"plan.pipeline=4", "plan.stage_layers=[11, 10, 10, 10]"};
    struct run_request request = {.file = "configs/runs/zaya1-base-4k-1024.json",
                                  .settings = settings,
                                  .setting_count = 2};
    ck_assert_ptr_null(run_read(&request, arena, &errors));
    ck_assert_str_eq(errors.items[0].what, "adds up to 41 layers, zaya1-base has 40");
}
END_TEST

START_TEST(a_batch_may_be_given_in_tokens)
{
    expect("plan.global_batch_tokens=16777216", "configs/plans/zaya1-base-4k.json:1:1: $",
           "wanted either \"global_batch_sequences\" or \"global_batch_tokens\"");
}
END_TEST

START_TEST(too_few_tokens_for_the_context_ranks_are_named)
{
    expect("plan.context=4096", "configs/plans/zaya1-base-4k.json:4:22: $.sequence_tokens",
           "4096 tokens are not 8192 equal pieces (context 4096 x 2 x tensor 1), the nearest "
           "that are: 8192");
}
END_TEST

/* Three faults of three kinds, told at once. */
START_TEST(faults_are_told_together)
{
    const char *settings[] = {"plan.expert=3", "plan.pipeline=7", "plan.gradient_dtype=fp8"};
    struct run_request request = {.file = "configs/runs/zaya1-base-4k-1024.json",
                                  .settings = settings,
                                  .setting_count = 3};
    ck_assert_ptr_null(run_read(&request, arena, &errors));
    ck_assert_int_eq(errors.count, 3);
}
END_TEST

Suite *
plan_suite(void)
{
    Suite *suite = suite_create("plan");
    TCase *tests = tcase_create("zaya1");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, what_a_plan_comes_to_on_its_cluster);
    tcase_add_test(tests, a_degree_that_does_not_divide_is_named_with_one_that_does);
    tcase_add_test(tests, a_batch_that_does_not_divide_offers_the_nearest);
    tcase_add_test(tests, layers_run_again_in_full_and_there_must_be_as_many);
    tcase_add_test(tests, a_sequence_beyond_the_models_positions_is_refused);
    tcase_add_test(tests, what_cannot_be_lowered_yet_is_infeasible);
    tcase_add_test(tests, weights_are_one_an_expert);
    tcase_add_test(tests, gradients_narrower_than_the_weights_are_refused);
    tcase_add_test(tests, schedules_say_how_many_microbatches_they_need);
    tcase_add_test(tests, stages_may_be_listed_or_count_the_ends);
    tcase_add_test(tests, a_batch_may_be_given_in_tokens);
    tcase_add_test(tests, too_few_tokens_for_the_context_ranks_are_named);
    tcase_add_test(tests, faults_are_told_together);
    suite_add_tcase(suite, tests);
    return suite;
}
