/* Do pieces of work take turns, does a spell leave no trace, and do they rest when they may? */
#include "validate/measure_rounds.h"

#include "sim/base/check_arena.h"
#include "sim/base/check_near.h"

Suite *measure_rounds_suite(void);

enum { PIECES = 5, ROUNDS_MOST = 20 };

/* A machine with two clocks that only its work moves. */
struct machine {
    double wall_s, core_s;
    int64_t rounds, sweeps, runs;
    int64_t spell_begin, spell_end;   /* rounds in which all takes twice as long */
    int64_t stolen_begin, stolen_end; /* rounds in which the core is shared */
    int64_t last_run;                 /* after which somebody wants an end; 0: nobody does */
    double growth;                    /* of a time from round to round */
};

struct work {
    struct machine *machine;
    int number;
    int64_t runs, last_turn;
};

static struct arena *arena;
static struct machine machine;
static struct work works[PIECES];
static struct measure_piece pieces[PIECES];

/* Of the first run of each. */
static const double durations_s[PIECES] = {1, 2, 3, 4, 40};

static void
run(void *context, int64_t turn)
{
    struct work *work = context;
    double duration_s = durations_s[work->number] * (1 + machine.growth * (double)turn);
    ck_assert_int_eq(turn, work->last_turn + 1);
    work->last_turn = turn;
    work->runs++;
    machine.runs++;
    if (turn >= machine.spell_begin && turn < machine.spell_end)
        duration_s *= 2;
    machine.core_s += duration_s;
    machine.wall_s += duration_s;
    if (turn >= machine.stolen_begin && turn < machine.stolen_end) {
        machine.core_s -= 0.75 * duration_s; /* more than was stolen of it */
        machine.wall_s += durations_s[work->number];
    }
}

static double
real_now_s(void *context)
{
    return *(double *)context;
}

static void
sweep(void *context)
{
    ((struct machine *)context)->sweeps++;
}

static bool
is_over(void *context)
{
    const struct machine *watched = context;
    return watched->last_run > 0 && watched->runs >= watched->last_run;
}

static void
setup(void)
{
    arena = check_arena_new();
    machine = (struct machine){0};
    for (int i = 0; i < PIECES; i++) {
        works[i] = (struct work){&machine, i, 0, -1};
        pieces[i] = (struct measure_piece){.work = {.run = run, .context = &works[i]},
                                           .operand_bytes = 100};
    }
}

static void
teardown(void)
{
    arena_free(arena);
}

static struct measure_rounds
rounds_of(double budget_s)
{
    return (struct measure_rounds){
        .effort = {1, 4, ROUNDS_MOST, budget_s},
        .wall = {real_now_s, &machine.wall_s},
        .core = {real_now_s, &machine.core_s},
        .cold_bytes = 450,
        .sweep = sweep,
        .is_over = is_over,
        .context = &machine,
    };
}

static void
take(double budget_s)
{
    struct measure_rounds rounds = rounds_of(budget_s);
    measure_rounds_take(pieces, PIECES, &rounds, arena);
}

/* Equal times agree after the four that are wanted at least; the round to warm up is not among
 * them. All five operands (500 bytes) go through more than is cold (450). */
START_TEST(equal_times_are_enough_at_once)
{
    take(1e6);
    for (int i = 0; i < PIECES; i++) {
        ck_assert_int_eq(works[i].runs, 5);
        ck_assert_int_eq(pieces[i].times.repeats, 4);
        CHECK_NEAR(pieces[i].times.min_s, durations_s[i], 1e-12);
        CHECK_NEAR(pieces[i].times.median_s, durations_s[i], 1e-12);
    }
    ck_assert_int_eq(machine.sweeps, 0);
}
END_TEST

/* Rounds 1 and 2 take twice as long: of two slow and two quick ones no four agree; after rounds 5
 * and 6 four quick ones do. The median of 2, 2, 1, 1, 1, 1 is 1. */
START_TEST(a_spell_is_waited_for)
{
    machine.spell_begin = 1;
    machine.spell_end = 3;
    take(1e6);
    for (int i = 0; i < PIECES; i++) {
        ck_assert_int_eq(pieces[i].times.repeats, 6);
        CHECK_NEAR(pieces[i].times.min_s, durations_s[i], 1e-12);
        CHECK_NEAR(pieces[i].times.median_s, durations_s[i], 1e-12);
        CHECK_NEAR(pieces[i].times.max_s, 2 * durations_s[i], 1e-12);
    }
}
END_TEST

/* In rounds 1 to 3 a quarter of the time is told, as clocks do that take off what was stolen
 * before: none of these counts, nor do they help to agree. */
START_TEST(runs_that_shared_their_core_do_not_count)
{
    machine.stolen_begin = 1;
    machine.stolen_end = 4;
    take(1e6);
    for (int i = 0; i < PIECES; i++) {
        ck_assert_int_eq(pieces[i].times.repeats, 4);
        ck_assert_int_eq(pieces[i].disturbed, 3);
        CHECK_NEAR(pieces[i].times.min_s, durations_s[i], 1e-12);
    }
}
END_TEST

/* Where there is no other run. */
START_TEST(disturbed_runs_are_better_than_none)
{
    machine.stolen_end = ROUNDS_MOST + 1;
    take(1e6);
    ck_assert_int_eq(pieces[2].times.repeats, ROUNDS_MOST);
    ck_assert_int_eq(pieces[2].disturbed, 0);
    CHECK_NEAR(pieces[2].times.min_s, 0.25 * 3, 1e-12);
}
END_TEST

/* Each round is a twentieth of the first longer, so that no four agree. Five budgets of 8 s are
 * spent by the first rounds of 50 s and more, but four runs are wanted. */
START_TEST(the_budget_ends_it)
{
    machine.growth = 0.05;
    take(8);
    for (int i = 0; i < PIECES; i++)
        ck_assert_int_eq(pieces[i].times.repeats, 4);
}
END_TEST

/* Of twice 100 s, runs of 42, 44, 46, 48 and 50 s are the last piece's five. By then all have had
 * 337.5 s of 500; the rounds of the rest, 13, 13.5, ... 18 s, make that 508 s with the eleventh,
 * and go through 400 bytes, fewer than are cold. */
START_TEST(long_ones_rest_and_short_ones_are_kept_cold)
{
    machine.growth = 0.05;
    take(100);
    ck_assert_int_eq(pieces[4].times.repeats, 5);
    ck_assert_int_eq(pieces[0].times.repeats, 16);
    ck_assert_int_eq(machine.sweeps, 11);
    CHECK_NEAR(pieces[0].times.min_s, 1.05, 1e-12);
}
END_TEST

/* Seven runs: a round to warm up, and two pieces once. */
START_TEST(an_end_keeps_what_there_is)
{
    machine.last_run = PIECES + 2;
    take(1e6);
    int64_t repeats = 0;
    for (int i = 0; i < PIECES; i++)
        repeats += pieces[i].times.repeats;
    ck_assert_int_eq(machine.runs, PIECES + 2);
    ck_assert_int_eq(repeats, 2);
}
END_TEST

START_TEST(one_piece_alone_goes_round)
{
    struct measure_rounds rounds = rounds_of(1e6);
    measure_rounds_take(pieces, 1, &rounds, arena);
    ck_assert_int_eq(pieces[0].times.repeats, 4);
    ck_assert_int_eq(machine.sweeps, 5);
}
END_TEST

Suite *
measure_rounds_suite(void)
{
    Suite *suite = suite_create("measure_rounds");
    TCase *rounds = tcase_create("rounds");
    tcase_add_checked_fixture(rounds, setup, teardown);
    tcase_add_test(rounds, equal_times_are_enough_at_once);
    tcase_add_test(rounds, a_spell_is_waited_for);
    tcase_add_test(rounds, runs_that_shared_their_core_do_not_count);
    tcase_add_test(rounds, disturbed_runs_are_better_than_none);
    tcase_add_test(rounds, the_budget_ends_it);
    tcase_add_test(rounds, long_ones_rest_and_short_ones_are_kept_cold);
    tcase_add_test(rounds, an_end_keeps_what_there_is);
    tcase_add_test(rounds, one_piece_alone_goes_round);
    suite_add_tcase(suite, rounds);
    return suite;
}
