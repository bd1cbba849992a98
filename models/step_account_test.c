/* Is every picosecond of every rank counted once, and for what the rank spends it on? */
#include "models/step_account.h"

#include <check.h>

#include "sim/base/check_arena.h"
#include "sim/base/check_often.h"

Suite *step_account_suite(void);

static struct arena *arena;

static void
set_up(void)
{
    arena = check_arena_new();
}

static void
tear_down(void)
{
    arena_free(arena);
}

static const struct step *
simulate(const char *file, const char *setting)
{
    struct error_list errors = {0};
    struct run_request request = {
        .file = file, .settings = &setting, .setting_count = setting ? 1 : 0};
    const struct run *run = run_read(&request, arena, &errors);
    const struct step *step = run ? step_simulate(run, RANKS_FOLDED, arena, &errors) : NULL;
    ck_assert_msg(step != NULL, "%s", errors.items[0].what);
    return step;
}

/* One behind the other from 0 to the end, of each rank that was simulated. */
static void
check_cover(const struct step *step)
{
    for (uint32_t slot = 0; slot < step->lowered.simulated_ranks; slot++) {
        size_t count = 0;
        const struct step_stretch *list = step_account_list(step, slot, arena, &count);
        int64_t now_ps = 0;
        for (size_t i = 0; i < count; i++) {
            CHECK_OFTEN(list[i].start_ps == now_ps);
            CHECK_OFTEN(list[i].end_ps > now_ps);
            CHECK_OFTEN(i == 0 || list[i].spent_on != list[i - 1].spent_on);
            now_ps = list[i].end_ps;
        }
        ck_assert_int_eq(now_ps, step->step_ps);
    }
}

START_TEST(stretches_cover_the_step_and_never_overlap)
{
    check_cover(simulate("configs/runs/zaya1-base-4k-1024.json", NULL));
    check_cover(simulate("configs/runs/deepseek-v3-pp16.json", NULL));
    check_cover(simulate("configs/runs/h200-eager-m1-dp8-ep4-skew.json", NULL));
    check_cover(simulate("configs/runs/h200-eager-m1-pp4-ep2.json", "plan.schedule=\"zb_v\""));
}
END_TEST

START_TEST(stretches_of_the_representative_add_up_to_the_breakdown)
{
    const struct step *step = simulate("configs/runs/h200-eager-m1-pp4-ep2.json", NULL);
    int64_t sums_ps[STEP_CLASS_COUNT] = {0};
    size_t count = 0;
    const struct step_stretch *list = step_account_list(
        step, lowered_slot(&step->lowered, step->lowered.representative), arena, &count);
    for (size_t i = 0; i < count; i++)
        sums_ps[list[i].spent_on] += list[i].end_ps - list[i].start_ps;
    for (int i = 0; i < STEP_CLASS_COUNT; i++)
        ck_assert_int_eq(sums_ps[i], step->class_ps[i]);
    ck_assert_int_gt(step->class_ps[CLASS_BUBBLE], 0);
}
END_TEST

static int64_t
bubble_before_ps(const struct step *step, uint32_t slot, int64_t end_ps)
{
    size_t count = 0;
    const struct step_stretch *list = step_account_list(step, slot, arena, &count);
    int64_t sum_ps = 0;
    for (size_t i = 0; i < count && list[i].end_ps <= end_ps; i++)
        if (list[i].spent_on == CLASS_BUBBLE)
            sum_ps += list[i].end_ps - list[i].start_ps;
    return sum_ps;
}

/* The last stage waits until its first microbatch has passed the stages before it: about 15 times
 * 100 ms here. */
START_TEST(the_last_stage_begins_with_a_bubble)
{
    const struct step *step = simulate("configs/runs/deepseek-v3-pp16.json", NULL);
    const int64_t two_s_in_ps = 2000000000000;
    uint32_t last = (uint32_t)step->lowered.simulated_ranks - 1;
    ck_assert_int_gt(bubble_before_ps(step, last, two_s_in_ps), two_s_in_ps / 2);
    ck_assert_int_lt(bubble_before_ps(step, 0, two_s_in_ps), two_s_in_ps / 10);
}
END_TEST

Suite *
step_account_suite(void)
{
    Suite *suite = suite_create("step_account");
    TCase *tests = tcase_create("account");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, stretches_cover_the_step_and_never_overlap);
    tcase_add_test(tests, stretches_of_the_representative_add_up_to_the_breakdown);
    tcase_add_test(tests, the_last_stage_begins_with_a_bubble);
    suite_add_tcase(suite, tests);
    return suite;
}
