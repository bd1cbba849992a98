/* Do the sizing rules see what holds and what does not, and say a wave in its numbers? */
#include "models/sizing_rules.h"

#include <string.h>

#include <check.h>

#include "sim/base/check_arena.h"
#include "sim/base/check_near.h"

Suite *sizing_rules_suite(void);

static struct arena *arena;

static void
setup(void)
{
    arena = check_arena_new();
}

static void
teardown(void)
{
    arena_free(arena);
}

static void
check_waves(int64_t tiles, int64_t waves, const char *expected, double fraction)
{
    const struct device device = {.compute_units = 304};
    const struct kernel_cost cost = {.tiles = tiles, .waves = waves};
    ck_assert_str_eq(sizing_waves(&cost, &device, arena), expected);
    CHECK_NEAR(sizing_wave_fraction(&cost, &device), fraction, 1e-12);
}

/* 305 tiles on 304 units: two waves hold 608 tiles, the second has one of its 304. */
START_TEST(a_wave_is_said_in_numbers)
{
    check_waves(305, 2, "305 tiles on 304 compute units: 2 waves, the last for 0.3 % of them",
                305.0 / 608);
    check_waves(608, 2, "608 tiles on 304 compute units: 2 waves, the last for 100.0 % of them",
                1);
    check_waves(76, 1, "76 tiles on 304 compute units: one wave, on 25.0 % of them", 0.25);
}
END_TEST

/* Two workgroups on a unit at once: 512 tiles need one round, and how full it is the two numbers do
 * not say. */
START_TEST(rounds_of_several_tiles_a_unit_are_no_waves)
{
    check_waves(512, 1, "512 tiles on 304 compute units, in 1 rounds", 0);
}
END_TEST

static const struct sizing_rule *
find_rule(const struct sizing_rule *rules, int count, const char *key)
{
    for (int i = 0; i < count; i++)
        if (strcmp(rules[i].key, key) == 0)
            return &rules[i];
    ck_abort_msg("no rule %s", key);
    return NULL;
}

static void
check_rule(const char *setting, const char *key, enum sizing_verdict verdict)
{
    struct sizing_rule rules[SIZING_RULES_MAX];
    struct error_list errors = {0};
    struct run_request request = {.file = "configs/runs/zaya1-widths-1024.json",
                                  .settings = &setting,
                                  .setting_count = 1};
    const struct run *run = run_read(&request, arena, &errors);
    ck_assert_msg(run != NULL, "%s", errors.items[0].what);
    const struct step *step = step_simulate(run, RANKS_FOLDED, arena, &errors);
    ck_assert_ptr_nonnull(step);
    struct explanation explanation = explain_step(step, arena);
    int count = sizing_rules(&explanation, rules, arena);
    ck_assert_int_eq(count, SIZING_RULES_MAX);
    ck_assert_int_eq(find_rule(rules, count, key)->verdict, verdict);
}

/* 262,272 = 4,098 x 64; 84.7 GB of 192 GB leave room for more than two sequences. */
START_TEST(rules_see_what_holds_and_what_does_not)
{
    check_rule("model.vocab=262272", "vocabulary", SIZING_HOLDS);
    check_rule("model.vocab=262273", "vocabulary", SIZING_BROKEN);
    check_rule("plan.microbatch_sequences=2", "microbatch", SIZING_BROKEN);
    check_rule("plan.microbatch_sequences=4", "microbatch", SIZING_HOLDS);
    check_rule("model.expert_ffn=2048", "feed_forward", SIZING_HOLDS);
    check_rule("model.expert_ffn=2050", "feed_forward", SIZING_BROKEN);
    check_rule("plan.tensor=1", "tensor", SIZING_HOLDS);
    check_rule("plan.tensor=2", "tensor", SIZING_BROKEN);
    check_rule("plan.tensor=2", "heads", SIZING_HOLDS);
    check_rule("model.expert_ffn=2048", "gated_width", SIZING_SILENT);
}
END_TEST

Suite *
sizing_rules_suite(void)
{
    Suite *suite = suite_create("sizing_rules");
    TCase *facts = tcase_create("facts");
    tcase_add_checked_fixture(facts, setup, teardown);
    tcase_add_test(facts, a_wave_is_said_in_numbers);
    tcase_add_test(facts, rounds_of_several_tiles_a_unit_are_no_waves);
    tcase_add_test(facts, rules_see_what_holds_and_what_does_not);
    suite_add_tcase(suite, facts);
    return suite;
}
