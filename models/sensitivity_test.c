/* Do scaled numbers move a step the way they must? */
#include "models/sensitivity.h"

#include <check.h>
#include <string.h>

#include "models/altered.h"
#include "sim/base/check_arena.h"
#include "sim/base/check_near.h"

Suite *sensitivity_suite(void);

static struct arena *arena;
static const struct step *step;
static struct sensitivity items[SENSITIVITY_COUNT];

static void
set_up(void)
{
    struct error_list errors = {0};
    struct run_request request = {.file = "configs/runs/zaya1-base-4k-1024.json"};
    arena = check_arena_new();
    const struct run *run = run_read(&request, arena, &errors);
    ck_assert_ptr_nonnull(run);
    step = step_simulate(run, RANKS_FOLDED, arena, &errors);
    ck_assert_ptr_nonnull(step);
    ck_assert(sensitivity_all(step, items, arena, &errors));
}

static void
tear_down(void)
{
    arena_free(arena);
}

static const struct sensitivity *
find(const char *key)
{
    for (int i = 0; i < SENSITIVITY_COUNT; i++)
        if (strcmp(items[i].key, key) == 0)
            return &items[i];
    ck_abort_msg("no %s", key);
    return NULL;
}

START_TEST(the_matrix_rate_moves_a_step_of_products_most)
{
    ck_assert_str_eq(items[0].key, "matrix_rate");
    for (int i = 1; i < SENSITIVITY_COUNT; i++)
        ck_assert_int_ge(items[i - 1].worse_ps - items[i - 1].better_ps,
                         items[i].worse_ps - items[i].better_ps);
}
END_TEST

/* A tenth of a rate moves the step by a tenth at most, up and down. */
START_TEST(no_number_moves_more_than_its_share)
{
    for (int i = 0; i < SENSITIVITY_COUNT; i++) {
        ck_assert_int_le(items[i].better_ps, step->step_ps);
        ck_assert_int_ge(items[i].worse_ps, step->step_ps);
        ck_assert(1.1 * (double)items[i].better_ps > 0.999 * (double)step->step_ps);
        ck_assert(0.9 * (double)items[i].worse_ps < 1.001 * (double)step->step_ps);
    }
}
END_TEST

/* What the run says of its NICs, nine tenths of it: no other way to the same step. */
START_TEST(a_scaled_run_is_one_that_was_written_so)
{
    struct error_list errors = {0};
    struct altered *altered = altered_new(step->run, arena);
    double was = step->run->inputs.cluster->fabric.nic_bytes_per_s;
    altered_scale_nics(altered, 0.9);
    CHECK_NEAR(altered->run.inputs.cluster->fabric.nic_bytes_per_s, 0.9 * was, 1e-12);
    CHECK_NEAR(step->run->inputs.cluster->fabric.nic_bytes_per_s, was, 1e-12);
    const struct step *other = step_simulate(&altered->run, RANKS_FOLDED, arena, &errors);
    ck_assert_int_eq(other->step_ps, find("nic_bandwidth")->worse_ps);
}
END_TEST

Suite *
sensitivity_suite(void)
{
    Suite *suite = suite_create("sensitivity");
    TCase *tests = tcase_create("sensitivity");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, the_matrix_rate_moves_a_step_of_products_most);
    tcase_add_test(tests, no_number_moves_more_than_its_share);
    tcase_add_test(tests, a_scaled_run_is_one_that_was_written_so);
    suite_add_tcase(suite, tests);
    return suite;
}
