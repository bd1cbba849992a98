/* Do the terms of a comparison add up, and does the picture show what the steps are? */
#include "sim/cli/compare.h"

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
    comparison.items[comparison.count++] = (struct compared){name, step};
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

/* Bars of one scale: the area of what computes goes with its time. */
START_TEST(bars_are_as_long_as_what_they_stand_for)
{
    struct canvas *canvas = canvas_new(arena, STYLE_FONTS);
    double seconds_s = 0, longest_s = 0;
    comparison_draw(&comparison, &STYLE_PAGE_WEB, canvas);
    for (size_t i = 0; i < comparison.count; i++) {
        const struct step *step = comparison.items[i].step;
        seconds_s += 1e-12 * (double)step_group_ps(step, GROUP_COMPUTE);
        longest_s = step->step_s > longest_s ? step->step_s : longest_s;
    }
    const double bar_pt = 26, swatch_pt2 = 8 * 8;
    double width_pt = STYLE_PAGE_WEB.width_pt - 2 * 18 - 70;
    double wanted_pt2 = swatch_pt2 + bar_pt * width_pt * seconds_s / longest_s;
    double found_pt2 = canvas_filled_area_pt2(canvas, style_colour(STYLE_FORWARD));
    ck_assert_msg(found_pt2 > 0.999 * wanted_pt2 && found_pt2 < 1.001 * wanted_pt2,
                  "%g, not %g", found_pt2, wanted_pt2);
    canvas_free(canvas);
}
END_TEST

Suite *
compare_suite(void)
{
    Suite *suite = suite_create("compare");
    TCase *facts = tcase_create("facts");
    tcase_add_checked_fixture(facts, setup, teardown);
    tcase_add_test(facts, differences_add_up_to_the_picosecond);
    tcase_add_test(facts, bars_are_as_long_as_what_they_stand_for);
    suite_add_tcase(suite, facts);
    return suite;
}
