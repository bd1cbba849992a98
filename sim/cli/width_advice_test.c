/* Is what is called a better width better, the nearest, and simulated as a run would be? */
#include "sim/cli/width_advice.h"

#include <string.h>

#include <check.h>

#include "sim/base/check_arena.h"
#include "sim/base/check_near.h"

Suite *width_advice_suite(void);

static struct arena *arena;
static struct explanation explanation;

static void
setup(void)
{
    struct run_request request = {.file = "configs/runs/zaya1-widths-1024.json"};
    struct error_list errors = {0};
    arena = check_arena_new();
    const struct run *run = run_read(&request, arena, &errors);
    ck_assert_ptr_nonnull(run);
    const struct step *step = step_simulate(run, RANKS_FOLDED, arena, &errors);
    ck_assert_ptr_nonnull(step);
    explanation = explain_step(step, arena);
}

static void
teardown(void)
{
    arena_free(arena);
}

static struct width_advice
advise(const struct width_request *request)
{
    struct width_advice advice;
    struct error_list errors = {0};
    bool is_done = width_advise(request, &explanation, &advice, arena, &errors);
    ck_assert_msg(is_done, "%s %s", errors.items[0].where, errors.items[0].what);
    return advice;
}

/* Points between the width and the better one next to it are no better. */
static void
check_nearest(const struct width_advice *advice)
{
    double least = advice->now->flop_per_s * (1 + WIDTH_BETTER_FRACTION);
    const struct width_point *low = advice->down ? advice->down + 1 : advice->points;
    const struct width_point *high = advice->up ? advice->up : advice->points + advice->count;
    for (const struct width_point *point = low; point < high; point++)
        ck_assert(point->reason || point->flop_per_s < least);
    ck_assert(!advice->down || advice->down->flop_per_s >= least);
    ck_assert(!advice->up || advice->up->flop_per_s >= least);
}

/* 1,536 to 2,560 in steps of 64; 40 layers of 16 experts of 3 x 2,048 channels each: 3,932,160
 * parameters a channel. */
START_TEST(widths_near_a_field_are_simulated)
{
    struct width_request request = {.what = "model.expert_ffn", .within_fraction = 0.25};
    struct width_advice advice = advise(&request);
    ck_assert(advice.is_field);
    ck_assert_uint_eq(advice.count, 17);
    ck_assert_int_eq(advice.points[0].width, 1536);
    ck_assert_int_eq(advice.points[16].width, 2560);
    ck_assert_int_eq(advice.now->width, 2048);
    CHECK_NEAR(advice.now->seconds_s, explanation.step->step_s, 1e-12);
    CHECK_NEAR(advice.points[16].parameters - advice.now->parameters, 512 * 3932160.0, 1e-12);
    check_nearest(&advice);
    ck_assert_int_ge(advice.product_count, 6);
    ck_assert_int_eq(advice.rule_count, SIZING_RULES_MAX);
}
END_TEST

/* A width that is no multiple of the step stands where it belongs. */
START_TEST(a_width_between_two_steps_is_tried_itself)
{
    struct width_request request = {
        .what = "model.expert_ffn", .every = 500, .within_fraction = 0.3};
    struct width_advice advice = advise(&request);
    static const int64_t expected[] = {1500, 2000, 2048, 2500};
    ck_assert_uint_eq(advice.count, 4);
    for (size_t i = 0; i < 4; i++)
        ck_assert_int_eq(advice.points[i].width, expected[i]);
    ck_assert_ptr_eq(advice.now, &advice.points[2]);
    check_nearest(&advice);
}
END_TEST

START_TEST(the_columns_of_a_product_are_priced)
{
    struct width_request request = {.what = "logits", .within_fraction = 0.001};
    struct width_advice advice = advise(&request);
    ck_assert(!advice.is_field);
    ck_assert_int_eq(advice.product_count, 1);
    ck_assert_int_eq(advice.now->width, 262272);
    CHECK_NEAR(advice.now->parameters, 262272.0 * 2048, 1e-12);
    check_nearest(&advice);
}
END_TEST

START_TEST(what_is_no_width_is_refused)
{
    static const char *const wanted[] = {"model.attention", "plan.recompute", "nothing",
                                         "attention", "model.hiden"};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        struct width_request request = {.what = wanted[i], .within_fraction = 0.1};
        struct width_advice advice;
        struct error_list errors = {0};
        ck_assert(!width_advise(&request, &explanation, &advice, arena, &errors));
        ck_assert_int_gt(errors.count, 0);
    }
    struct width_request request = {.what = "model.vocab", .every = 1, .within_fraction = 0.25};
    struct width_advice advice;
    struct error_list errors = {0};
    ck_assert(!width_advise(&request, &explanation, &advice, arena, &errors));
    ck_assert_ptr_nonnull(strstr(errors.items[0].what, "--every"));
}
END_TEST

Suite *
width_advice_suite(void)
{
    Suite *suite = suite_create("width_advice");
    TCase *facts = tcase_create("facts");
    tcase_add_checked_fixture(facts, setup, teardown);
    tcase_add_test(facts, widths_near_a_field_are_simulated);
    tcase_add_test(facts, a_width_between_two_steps_is_tried_itself);
    tcase_add_test(facts, the_columns_of_a_product_are_priced);
    tcase_add_test(facts, what_is_no_width_is_refused);
    suite_add_tcase(suite, facts);
    return suite;
}
