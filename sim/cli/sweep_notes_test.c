/* Does a sweep's curve say what is best on it, and why it falls? */
#include "sim/cli/sweep_notes.h"

#include <check.h>
#include <string.h>

#include "sim/base/check_arena.h"
#include "sim/base/check_near.h"
#include "sim/cli/sweep_fall.h"

Suite *sweep_notes_suite(void);

static struct arena *arena;
static const struct run *base;
static struct sweep_space space;
static struct sweep_row rows[3];

static void
setup(void)
{
    struct error_list errors = {0};
    struct run_request request = {.file = "configs/runs/zaya1-base-4k-1024.json"};
    const char *fault = NULL;
    arena = check_arena_new();
    base = run_read(&request, arena, &errors);
    ck_assert_ptr_nonnull(base);
    space = (struct sweep_space){0};
    ck_assert(sweep_space_add_axis(&space, "plan.microbatch_sequences=4,2,1", arena, &fault));
    ck_assert(sweep_space_check(&space, arena, &errors));
    memset(rows, 0, sizeof rows);
    for (size_t i = 0; i < 3; i++) {
        ck_assert(sweep_space_settings(&space, i, base, &rows[i].settings, arena, &errors));
        sweep_point_run(&space, base, &rows[i], arena);
        ck_assert_int_eq(rows[i].status, SWEEP_DONE);
    }
}

static void
teardown(void)
{
    arena_free(arena);
}

static struct sweep_picture
picture_of(enum sweep_quantity quantity)
{
    return (struct sweep_picture){&space, base, rows, 3, quantity};
}

START_TEST(a_curve_goes_by_ascending_values_of_what_runs)
{
    struct sweep_picture picture = picture_of(SWEEP_MFU);
    struct sweep_curve curve = sweep_curve_of(&picture, 0, 1, arena);
    ck_assert_uint_eq(curve.count, 3);
    ck_assert_ptr_eq(curve.rows[0], &rows[2]);
    rows[1].status = SWEEP_INFEASIBLE;
    curve = sweep_curve_of(&picture, 0, 1, arena);
    ck_assert_uint_eq(curve.count, 2);
    CHECK_NEAR(curve.x[1], 4, 1e-12);
}
END_TEST

/* The plan's own microbatch has two sequences, four are better. */
START_TEST(the_best_and_the_run_itself_are_named)
{
    struct sweep_picture picture = picture_of(SWEEP_MFU);
    struct sweep_curve curve = sweep_curve_of(&picture, 0, 1, arena);
    struct sweep_notes notes = sweep_notes_of(&picture, &curve, arena);
    ck_assert_uint_eq(notes.count, 2);
    ck_assert_str_eq(notes.notes[0].text, "4: best");
    ck_assert_str_eq(notes.notes[1].text, "2: as it is");
    CHECK_NEAR(notes.notes[0].y, 100 * rows[0].values[SWEEP_MFU], 1e-12);
    ck_assert_ptr_null(notes.worst);
}
END_TEST

/* Were four sequences the narrowest of the sweep, it would fall twice on the way: the second time
 * at the run itself, of which that is said in the same note. */
START_TEST(falls_are_told_deepest_first)
{
    struct sweep_picture picture = picture_of(SWEEP_MFU);
    double x[] = {1, 2, 4};
    const struct sweep_row *turned[] = {&rows[0], &rows[1], &rows[2]};
    struct sweep_curve curve = {turned, x, 3};
    struct sweep_notes notes = sweep_notes_of(&picture, &curve, arena);
    double fall = 1 - rows[2].values[SWEEP_MFU] / rows[1].values[SWEEP_MFU];
    ck_assert_uint_eq(notes.count, 3);
    ck_assert_int_eq(strncmp(notes.notes[1].text, "2: as it is, -", 14), 0);
    ck_assert_ptr_eq(notes.worst, &rows[2]);
    CHECK_NEAR(notes.worst_fraction, fall, 1e-12);
    ck_assert_ptr_nonnull(notes.worst_reason);
    ck_assert_ptr_nonnull(strstr(notes.notes[2].text, notes.worst_reason));
}
END_TEST

START_TEST(the_same_step_has_no_reason_to_fall)
{
    ck_assert_ptr_null(sweep_fall_reason(base, &rows[0], &rows[0], arena));
    ck_assert_ptr_nonnull(sweep_fall_reason(base, &rows[0], &rows[2], arena));
}
END_TEST

Suite *
sweep_notes_suite(void)
{
    Suite *suite = suite_create("sweep_notes");
    TCase *facts = tcase_create("facts");
    tcase_add_checked_fixture(facts, setup, teardown);
    tcase_add_test(facts, a_curve_goes_by_ascending_values_of_what_runs);
    tcase_add_test(facts, the_best_and_the_run_itself_are_named);
    tcase_add_test(facts, falls_are_told_deepest_first);
    tcase_add_test(facts, the_same_step_has_no_reason_to_fall);
    suite_add_tcase(suite, facts);
    return suite;
}
