/* Which ranks does a word or a list of numbers name? */
#include "sim/cli/shown_ranks.h"

#include <check.h>

#include "sim/base/check_arena.h"

Suite *shown_ranks_suite(void);

static struct arena *arena;

/* Four stages of two ranks: stage s has ranks s and s + 4. */
static const struct step *
simulate(enum program_ranks ranks)
{
    struct error_list errors = {0};
    struct run_request request = {.file = "configs/runs/h200-eager-m1-pp4-ep2.json"};
    const struct step *step =
        step_simulate(run_read(&request, arena, &errors), ranks, arena, &errors);
    ck_assert_int_eq(errors.count, 0);
    return step;
}

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

static void
check_list(const struct shown_ranks *shown, const int64_t *ranks, size_t count, size_t own)
{
    ck_assert_uint_eq(shown->count, count);
    ck_assert_uint_eq(shown->own, own);
    for (size_t i = 0; i < count; i++)
        ck_assert_int_eq(shown->ranks[i], ranks[i]);
}

START_TEST(numbers_are_taken_in_their_order)
{
    const struct step *step = simulate(RANKS_FOLDED);
    struct shown_ranks shown;
    ck_assert(shown_ranks_read("5", step, &shown, arena));
    check_list(&shown, (const int64_t[]){5}, 1, 0);
    ck_assert(shown_ranks_read("7,0-2", step, &shown, arena));
    check_list(&shown, (const int64_t[]){7, 0, 1, 2}, 4, 0);
}
END_TEST

START_TEST(what_is_no_list_is_refused)
{
    static const char *const bad[] = {
        "",      ",",     "1,",    "1,,2",  "-1",
        "8",     "3-1",   "0-8",   "2-",    "a",
        "1 2",   "1,1",   "0-3,2", "1-2-3", "99999999999999999999",
        "all,1", "Stages"};
    const struct step *step = simulate(RANKS_FOLDED);
    struct shown_ranks shown;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ck_assert_msg(!shown_ranks_read(bad[i], step, &shown, arena), "'%s'", bad[i]);
}
END_TEST

/* The peers of the slowest rank, in the order of the stages. */
START_TEST(stages_are_the_peers_of_the_slowest)
{
    const struct step *step = simulate(RANKS_ALL);
    int64_t slowest = step->lowered.representative, first = slowest / 4 * 4;
    struct shown_ranks shown;
    ck_assert(shown_ranks_read("stages", step, &shown, arena));
    check_list(&shown, (const int64_t[]){first, first + 1, first + 2, first + 3}, 4,
               (size_t)(slowest - first));
    ck_assert(shown_ranks_read("slowest", step, &shown, arena));
    check_list(&shown, &slowest, 1, 0);
}
END_TEST

START_TEST(all_are_those_that_were_simulated)
{
    const struct step *step = simulate(RANKS_ALL);
    struct shown_ranks shown;
    ck_assert(shown_ranks_read("all", step, &shown, arena));
    check_list(&shown, (const int64_t[]){0, 1, 2, 3, 4, 5, 6, 7}, 8,
               (size_t)step->lowered.representative);
    const struct step *folded = simulate(RANKS_FOLDED);
    ck_assert(shown_ranks_read("all", folded, &shown, arena));
    ck_assert_uint_eq(shown.count, (size_t)folded->lowered.simulated_ranks);
    ck_assert_int_eq(shown.ranks[shown.own], folded->lowered.representative);
}
END_TEST

/* Equal ranks are simulated once: the name says as whom a rank is shown. */
START_TEST(names_say_who_stands_in)
{
    const struct step *all = simulate(RANKS_ALL), *folded = simulate(RANKS_FOLDED);
    ck_assert_str_eq(shown_ranks_name(all, 6, arena), "rank 6, node 0, GPU 6, stage 2");
    int64_t other = (shown_ranks_simulated(folded, 2) + 4) % 8;
    ck_assert_int_eq(shown_ranks_simulated(folded, other), shown_ranks_simulated(folded, 2));
    ck_assert_str_eq(shown_ranks_name(folded, other, arena),
                     arena_format(arena, "rank %lld, node 0, GPU %lld, stage 2, as rank %lld",
                                  (long long)other, (long long)other,
                                  (long long)shown_ranks_simulated(folded, 2)));
}
END_TEST

Suite *
shown_ranks_suite(void)
{
    Suite *suite = suite_create("shown_ranks");
    TCase *tests = tcase_create("lists");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, numbers_are_taken_in_their_order);
    tcase_add_test(tests, what_is_no_list_is_refused);
    tcase_add_test(tests, stages_are_the_peers_of_the_slowest);
    tcase_add_test(tests, all_are_those_that_were_simulated);
    tcase_add_test(tests, names_say_who_stands_in);
    suite_add_tcase(suite, tests);
    return suite;
}
