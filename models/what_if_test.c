/* Does a changed step come out as one that was asked for with that change? */
#include "models/what_if.h"

#include <string.h>

#include <check.h>

#include "sim/base/check_arena.h"

Suite *what_if_suite(void);

static const char ZAYA[] = "configs/runs/zaya1-base-4k-1024.json";

static struct arena *arena;
static struct error_list errors;
static struct what_if what_ifs[WHAT_IFS_MAX];
static int count;

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

static const struct step *
simulate(const char *file, const char *const settings[2])
{
    struct run_request request = {.file = file,
                                  .settings = settings,
                                  .setting_count =
                                      (settings[0] ? 1u : 0u) + (settings[1] ? 1u : 0u)};
    const struct run *run = run_read(&request, arena, &errors);
    ck_assert_msg(run != NULL, "%s", errors.items[0].what);
    const struct step *step = step_simulate(run, RANKS_FOLDED, arena, &errors);
    ck_assert_msg(step != NULL, "%s", errors.items[0].what);
    return step;
}

static const struct step *
simulate_and_ask(const char *file, const char *first, const char *second)
{
    const struct step *step = simulate(file, (const char *const[]){first, second});
    count = what_if_all(step, what_ifs, arena);
    return step;
}

static const struct what_if *
find(const char *key)
{
    for (int i = 0; i < count; i++)
        if (strcmp(what_ifs[i].key, key) == 0)
            return &what_ifs[i];
    return NULL;
}

/* The same by way of the settings that a user can give. */
START_TEST(a_change_is_what_the_same_setting_gives)
{
    const struct {
        const char *key, *setting;
    } rows[] = {
        {"host_launch_free", "software.host_launch_s=0"},
        {"microbatch_doubled", "plan.microbatch_sequences=4"},
        {"microbatch_halved", "plan.microbatch_sequences=1"},
        {"overlaps_parameter_gather", "plan.overlaps_parameter_gather=true"},
    };
    const struct step *step =
        simulate_and_ask(ZAYA, "plan.overlaps_parameter_gather=false", NULL);
    for (size_t row = 0; row < sizeof rows / sizeof *rows; row++) {
        const struct what_if *what_if = find(rows[row].key);
        const struct step *changed =
            simulate(ZAYA, (const char *const[]){"plan.overlaps_parameter_gather=false",
                                                 rows[row].setting});
        ck_assert_msg(what_if != NULL && !what_if->reason, "%s", rows[row].key);
        ck_assert_int_eq(what_if->step_ps, changed->step_ps);
        ck_assert_int_eq(what_if->gain_ps, step->step_ps - changed->step_ps);
    }
}
END_TEST

/* One node has no network between nodes. */
START_TEST(a_change_of_what_is_not_used_gains_nothing)
{
    simulate_and_ask("configs/runs/h200-eager-m1-dp8-ep8.json", NULL, NULL);
    const struct what_if *nics = find("nic_bandwidth_doubled");
    ck_assert(nics != NULL && !nics->reason);
    ck_assert_int_eq(nics->gain_ps, 0);
    ck_assert_int_gt(find("hbm_bandwidth_doubled")->gain_ps, 0);
}
END_TEST

/* A rate that is doubled takes at most half of the step away; what is free can only help. */
START_TEST(twice_a_rate_gains_less_than_half_the_step)
{
    const struct step *step = simulate_and_ask(ZAYA, NULL, NULL);
    const char *const keys[] = {"nic_bandwidth_doubled",     "link_bandwidth_doubled",
                                "network_bandwidth_doubled", "hbm_bandwidth_doubled",
                                "matrix_rate_doubled",       "collective_interference_free",
                                "collective_latency_free",   "kernel_start_free"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const struct what_if *what_if = find(keys[i]);
        ck_assert_msg(what_if != NULL && what_if->gain_ps > 0, "%s", keys[i]);
        ck_assert_int_lt(what_if->gain_ps, step->step_ps / 2);
    }
    ck_assert_int_gt(find("network_bandwidth_doubled")->gain_ps,
                     find("nic_bandwidth_doubled")->gain_ps);
}
END_TEST

/* A step that waits for its host all the time takes no time without one but what lies behind it:
 * with 10 ms a launch the device's part is under a tenth. */
START_TEST(a_step_of_launches_alone_goes_with_them)
{
    const struct step *step = simulate_and_ask(ZAYA, "software.host_launch_s=1e-2", NULL);
    ck_assert_ptr_eq(find("host_launch_free"), &what_ifs[0]);
    ck_assert_int_gt(what_ifs[0].gain_ps, step->step_ps / 10 * 9);
}
END_TEST

START_TEST(unequal_experts_gain_by_balance_and_equal_ones_are_not_asked)
{
    simulate_and_ask("configs/runs/h200-eager-m1-dp8-ep4-skew.json", NULL, NULL);
    ck_assert_int_gt(find("experts_balanced")->gain_ps, 0);
    simulate_and_ask(ZAYA, NULL, NULL);
    ck_assert_ptr_null(find("experts_balanced"));
    ck_assert_ptr_null(find("overlaps_gradient_reduction")); /* it is on */
}
END_TEST

START_TEST(what_cannot_be_comes_last_with_its_reason)
{
    simulate_and_ask(ZAYA, "plan.microbatch_sequences=1", "device.hbm_bytes=75e9");
    for (int i = 1; i < count; i++) {
        ck_assert(what_ifs[i].reason || !what_ifs[i - 1].reason);
        if (!what_ifs[i].reason)
            ck_assert_int_le(what_ifs[i].gain_ps, what_ifs[i - 1].gain_ps);
    }
    ck_assert_str_eq(find("microbatch_halved")->reason, "1 sequence cannot be halved");
    ck_assert_ptr_nonnull(strstr(find("microbatch_doubled")->reason, "does not fit"));
}
END_TEST

Suite *
what_if_suite(void)
{
    Suite *suite = suite_create("what_if");
    TCase *changes = tcase_create("one change");
    tcase_add_checked_fixture(changes, set_up, tear_down);
    tcase_add_test(changes, a_change_is_what_the_same_setting_gives);
    tcase_add_test(changes, a_change_of_what_is_not_used_gains_nothing);
    tcase_add_test(changes, twice_a_rate_gains_less_than_half_the_step);
    tcase_add_test(changes, a_step_of_launches_alone_goes_with_them);
    tcase_add_test(changes, unequal_experts_gain_by_balance_and_equal_ones_are_not_asked);
    tcase_add_test(changes, what_cannot_be_comes_last_with_its_reason);
    suite_add_tcase(suite, changes);
    return suite;
}
