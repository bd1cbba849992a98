/* Do the terms of a comparison add up, and does the picture show what the steps are? */
#include "sim/cli/compare.h"

#include <math.h>
#include <string.h>

#include <check.h>

#include "sim/base/check_arena.h"

Suite *compare_suite(void);

static struct arena *arena;
static struct comparison comparison;

static void
add(const char *name, const char *setting)
{
    struct error_list errors = {0};
    struct run_request request = {.file = "configs/runs/zaya1-base-4k-1024.json",
                                  .settings = &setting,
                                  .setting_count = 1};
    const struct run *run = run_read(&request, arena, &errors);
    ck_assert_ptr_nonnull(run);
    const struct step *step = step_simulate(run, RANKS_FOLDED, arena, &errors);
    ck_assert_ptr_nonnull(step);
    comparison.items[comparison.count++] =
        (struct compared){.name = name, .step = step, .capacity_bytes = step->memory.capacity};
}

static void
setup(void)
{
    arena = check_arena_new();
    comparison = (struct comparison){.count = 0};
    add("two", "plan.microbatch_sequences=2");
    add("four", "plan.microbatch_sequences=4");
    add("stages", "plan.pipeline=2");
}

static void
teardown(void)
{
    arena_free(arena);
}

START_TEST(differences_add_up_to_the_picosecond)
{
    for (size_t i = 0; i < comparison.count; i++) {
        int64_t sum_ps = 0;
        for (int class = 0; class < STEP_CLASS_COUNT; class ++)
            sum_ps += comparison_difference_ps(&comparison, i, (enum step_class) class);
        ck_assert_int_eq(sum_ps,
                         comparison.items[i].step->step_ps - comparison.items[0].step->step_ps);
        ck_assert_int_eq(sum_ps == 0, i == 0);
    }
}
END_TEST

/* Each bar's pieces are the step, to the picosecond; the shortest stands first. */
START_TEST(bars_are_as_long_as_what_they_stand_for)
{
    const struct bar_chart *chart = comparison_chart(&comparison, arena);
    double before_s = 0;
    ck_assert_uint_eq(chart->row_count, comparison.count);
    for (size_t i = 0; i < chart->row_count; i++) {
        double sum_s = bar_chart_sum(chart, &chart->rows[i]);
        bool is_found = false;
        for (size_t k = 0; k < comparison.count; k++)
            is_found = is_found || fabs(comparison.items[k].step->step_s - sum_s) < 1e-12;
        ck_assert(is_found && sum_s >= before_s);
        before_s = sum_s;
    }
}
END_TEST

/* A plan that does not fit follows those that do, longer or shorter. */
START_TEST(what_cannot_be_run_stands_last)
{
    comparison.items[1].reason = "does not fit";
    const struct bar_chart *chart = comparison_chart(&comparison, arena);
    ck_assert_str_eq(chart->rows[2].name, comparison.items[1].name);
    ck_assert_str_eq(chart->rows[2].reason, "does not fit");
    ck_assert_ptr_null(chart->rows[1].reason);
}
END_TEST

Suite *
compare_suite(void)
{
    Suite *suite = suite_create("compare");
    TCase *facts = tcase_create("facts");
    tcase_add_checked_fixture(facts, setup, teardown);
    tcase_add_test(facts, differences_add_up_to_the_picosecond);
    tcase_add_test(facts, what_cannot_be_run_stands_last);
    tcase_add_test(facts, bars_are_as_long_as_what_they_stand_for);
    suite_add_tcase(suite, facts);
    return suite;
}
