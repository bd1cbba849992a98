/* Does a screened search find what simulating every plan finds, with any number of threads? */
#include "sim/cli/search.h"

#include <string.h>

#include <check.h>

#include "models/step.h"
#include "sim/base/check_arena.h"
#include "sim/base/check_near.h"
#include "sim/cli/search_answers.h"
#include "sim/cli/search_report.h"

Suite *search_suite(void);

static struct arena *arena;
static const struct run *base;

static void
setup(void)
{
    static const char *const settings[] = {"cluster.nodes=2", "plan.global_batch_sequences=32"};
    struct run_request request = {.file = "configs/runs/zaya1-base-4k-1024.json",
                                  .settings = settings,
                                  .setting_count = 2};
    struct error_list errors = {0};
    arena = check_arena_new();
    base = run_read(&request, arena, &errors);
    ck_assert_ptr_nonnull(base);
}

static void
teardown(void)
{
    arena_free(arena);
}

/* 16 GPUs, few degrees: some hundred plans. */
static struct search
small_search(int threads)
{
    static const char *const degrees[] = {"1", "2"}, *const zero[] = {"1", "3"};
    static const char *const recomputed[] = {"none", "full"};
    struct search search = {
        .space = plan_space_of(base, arena), .arena = arena, .threads = threads, .top = 5};
    for (int field = PLAN_FIELD_TENSOR; field <= PLAN_FIELD_EXPERT; field++)
        ck_assert(plan_space_set(&search.space, (enum plan_field)field, degrees,
                                 field == PLAN_FIELD_CONTEXT ? 1 : 2, arena));
    ck_assert(plan_space_set(&search.space, PLAN_FIELD_ZERO_STAGE, zero, 2, arena));
    ck_assert(plan_space_set(&search.space, PLAN_FIELD_RECOMPUTE, recomputed, 2, arena));
    ck_assert(plan_space_set(&search.space, PLAN_FIELD_VIRTUAL_STAGES, degrees, 2, arena));
    ck_assert(plan_space_set(&search.space, PLAN_FIELD_MICROBATCH, degrees, 2, arena));
    return search;
}

START_TEST(the_screen_loses_none_of_the_best)
{
    struct search screened = small_search(1), all = small_search(1);
    all.is_exhaustive = true;
    search_run(&screened);
    search_run(&all);
    ck_assert_uint_gt(all.simulated_count, 2 * screened.simulated_count);
    ck_assert_uint_eq(all.unseen_count, 0);
    ck_assert_uint_eq(screened.best_count, 5);
    for (size_t i = 0; i < 5; i++) {
        double found_s = screened.best[i]->row.values[SWEEP_STEP_S];
        double best_s = all.best[i]->row.values[SWEEP_STEP_S];
        ck_assert(found_s >= best_s && found_s <= best_s);
    }
    ck_assert_int_eq(
        memcmp(&screened.best[0]->point, &all.best[0]->point, sizeof screened.best[0]->point),
        0);
}
END_TEST

/* The front of a screened search is that of all plans. */
START_TEST(the_screen_loses_nothing_of_the_front)
{
    struct search screened = small_search(2), all = small_search(2);
    all.is_exhaustive = true;
    screened.has_front = true;
    search_run(&screened);
    search_run(&all);
    ck_assert_uint_eq(screened.front_count, all.front_count);
    for (size_t i = 0; i < all.front_count; i++) {
        ck_assert(screened.front[i]->memory_bytes <= all.front[i]->memory_bytes);
        ck_assert(screened.front[i]->row.values[SWEEP_STEP_S] <=
                  all.front[i]->row.values[SWEEP_STEP_S]);
        if (i > 0)
            ck_assert(all.front[i]->memory_bytes < all.front[i - 1]->memory_bytes);
    }
}
END_TEST

/* Least memory first, of equal ones the shorter step: as all plans say that were simulated. */
START_TEST(the_least_memory_is_found_too)
{
    struct search screened = small_search(1), all = small_search(1);
    screened.objective = all.objective = OBJECTIVE_MEMORY;
    all.is_exhaustive = all.has_dots = true;
    search_run(&screened);
    search_run(&all);
    ck_assert_uint_eq(screened.best_count, 5);
    ck_assert_uint_lt(screened.simulated_count, all.simulated_count);
    for (size_t i = 0; i < 5; i++) {
        const struct search_plan *one = screened.best[i], *other = all.best[i];
        ck_assert_int_eq(memcmp(&one->point, &other->point, sizeof one->point), 0);
        ck_assert(i == 0 || one->memory_bytes >= screened.best[i - 1]->memory_bytes);
    }
    ck_assert_uint_eq(all.dot_count, all.simulated_count);
    for (size_t i = 0; i < all.dot_count; i++)
        ck_assert(all.dots[i].memory_bytes >= screened.best[0]->memory_bytes);
}
END_TEST

/* 36,000 tokens a second and GPU are 129.6 M an hour: at 2.5 an hour a million costs 0.01929. */
START_TEST(a_price_is_of_a_million_tokens)
{
    struct sweep_row row = {.values = {[SWEEP_TOKENS_PER_S_PER_GPU] = 36000}};
    struct search_plan plan = {.row = row};
    struct search search = {.objective = OBJECTIVE_COST, .price_per_gpu_hour = 2.5};
    CHECK_NEAR(search_cost_per_million_tokens(&search, &plan), 2.5 / 129.6, 1e-12);
    CHECK_NEAR(search_score(&search, &plan), 2.5 / 129.6, 1e-12);
    search.objective = OBJECTIVE_TOKENS;
    CHECK_NEAR(search_score(&search, &plan), -36000, 1e-12);
}
END_TEST

/* What a plan recomputes, and every other field, is as if its settings had been given by hand: from
 * a base that recomputes attention too. */
START_TEST(a_plan_is_the_run_that_its_settings_make)
{
    static const char *const selective[] = {"plan.recompute=selective"};
    struct error_list errors = {0};
    base = run_again(base, &(struct run_settings){selective, 1}, arena, &errors);
    ck_assert_ptr_nonnull(base);
    struct search search = small_search(1);
    static const char *const recomputed[] = {"none", "selective", "full",
                                             "every_other_product"};
    ck_assert(plan_space_set(&search.space, PLAN_FIELD_RECOMPUTE, recomputed, 4, arena));
    search.top = 12;
    search_run(&search);
    ck_assert_uint_eq(search.best_count, 12);
    for (size_t i = 0; i < search.best_count; i++) {
        const char *said = plan_space_settings(&search.space, &search.best[i]->point, arena);
        struct run_settings settings = search_settings(&search, &search.best[i]->point, arena);
        const struct run *run = run_again(base, &settings, arena, &errors);
        ck_assert_msg(run != NULL, "%s: %s", said, errors.items[0].what);
        const struct step *step = step_simulate(run, RANKS_FOLDED, arena, &errors);
        double found_s = search.best[i]->row.values[SWEEP_STEP_S];
        ck_assert_ptr_nonnull(step);
        ck_assert_msg(step->step_s >= found_s && step->step_s <= found_s, "%s: %g, %g", said,
                      found_s, step->step_s);
    }
}
END_TEST

static struct text
report_of(int threads)
{
    struct text text = text_new(arena);
    struct search search = small_search(threads);
    search_run(&search);
    search_report_json(&search, &text);
    return text;
}

START_TEST(threads_do_not_change_a_byte)
{
    struct text one = report_of(1), two = report_of(2), eight = report_of(8);
    ck_assert_str_eq(one.bytes, two.bytes);
    ck_assert_str_eq(one.bytes, eight.bytes);
}
END_TEST

/* What lies on disk comes back: 25 bounds in memory, the same answer. */
START_TEST(memory_does_not_change_a_byte)
{
    struct text all = report_of(1), few = text_new(arena);
    struct search search = small_search(1);
    search.held_plans = 25;
    search_run(&search);
    search_report_json(&search, &few);
    ck_assert_uint_gt(search.plan_count, 100);
    ck_assert_str_eq(all.bytes, few.bytes);
}
END_TEST

/* Of all that are simulated only the best and the front are kept. */
START_TEST(what_no_list_holds_makes_room)
{
    struct search search = small_search(1);
    search.is_exhaustive = true;
    search_run(&search);
    size_t kept = search.idle_count;
    for (size_t i = 0; i < search.best_count; i++)
        kept += search.best[i]->holders == 1;
    for (size_t i = 0; i < search.front_count; i++)
        kept += search.front[i]->holders >= 1;
    ck_assert_uint_gt(search.simulated_count, 100);
    ck_assert_uint_lt(kept, 40);
}
END_TEST

static bool
stop_at_once(void)
{
    return true;
}

START_TEST(a_stopped_search_says_so)
{
    struct search search = small_search(2);
    search.is_stopped = stop_at_once;
    search_run(&search);
    ck_assert(search.was_stopped);
    ck_assert_uint_eq(search.simulated_count, 0);
    ck_assert_uint_eq(search.unseen_count, search.counts.legal_count);
}
END_TEST

Suite *
search_suite(void)
{
    Suite *suite = suite_create("search");
    TCase *facts = tcase_create("facts");
    tcase_add_checked_fixture(facts, setup, teardown);
    TCase *many = tcase_create("many plans simulated");
    tcase_add_checked_fixture(many, setup, teardown);
    tcase_set_tags(many, "many_runs");
    suite_add_tcase(suite, many);
    tcase_add_test(many, the_screen_loses_none_of_the_best);
    tcase_add_test(facts, the_screen_loses_nothing_of_the_front);
    tcase_add_test(facts, the_least_memory_is_found_too);
    tcase_add_test(facts, a_price_is_of_a_million_tokens);
    tcase_add_test(facts, a_plan_is_the_run_that_its_settings_make);
    tcase_add_test(facts, threads_do_not_change_a_byte);
    tcase_add_test(facts, memory_does_not_change_a_byte);
    tcase_add_test(facts, what_no_list_holds_makes_room);
    tcase_add_test(facts, a_stopped_search_says_so);
    suite_add_tcase(suite, facts);
    return suite;
}
