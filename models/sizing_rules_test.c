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

/* 300 x 250 in tiles of 100 x 100: 3 x 3 of them, 75,000 of 90,000 elements. Experts of 100 and 50
 * rows of 200 columns: 4 tiles, 30,000 of 40,000. */
START_TEST(tiles_past_the_edge_are_partly_empty)
{
    const struct kernel_cost nine = {.tiles = 9, .tile_m = 100, .tile_n = 100};
    const struct kernel_cost four = {.tiles = 4, .tile_m = 100, .tile_n = 100};
    const int64_t rows[] = {100, 50, 0};
    const struct kernel one = {.kind = KERNEL_GEMM, .gemm = {300, 250, 64, 1, GEMM_NT}};
    const struct kernel two = {.kind = KERNEL_GROUPED_GEMM, .grouped_gemm = {rows, 3, 200, 64}};
    const struct kernel other = {.kind = KERNEL_ADAMW};
    CHECK_NEAR(sizing_tile_fraction(&one, &nine), 75.0 / 90, 1e-12);
    CHECK_NEAR(sizing_tile_fraction(&two, &four), 0.75, 1e-12);
    CHECK_NEAR(sizing_tile_fraction(&other, &four), 0, 1e-12);
    CHECK_NEAR(sizing_tile_fraction(&one, &(struct kernel_cost){.tiles = 9}), 0, 1e-12);
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

static struct sizing_rule
rule_of(const char *setting, const char *key)
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
    return *find_rule(rules, count, key);
}

static void
check_rule(const char *setting, const char *key, enum sizing_verdict verdict)
{
    ck_assert_int_eq(rule_of(setting, key).verdict, verdict);
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

/* 128 bytes are 64 elements of 16 bits, 32 of 32; the vocabulary stays in 64s. */
START_TEST(granules_are_bytes)
{
    ck_assert_str_eq(rule_of("plan.compute_dtype=bf16", "hidden").rule,
                     "the width of a tensor rank in 64s");
    ck_assert_str_eq(rule_of("plan.compute_dtype=fp32", "hidden").rule,
                     "the width of a tensor rank in 32s");
    ck_assert_str_eq(rule_of("plan.compute_dtype=fp32", "vocabulary").rule,
                     "the vocabulary in 64s");
}
END_TEST

/* Of the 16 experts' gates each is 512 x 4,096: 2 x 19 tiles of 256 x 224, of which
 * 512 x 4,096 / (38 x 256 x 224) = 96.2 % is result. */
START_TEST(tiles_and_sizes_are_of_the_products)
{
    struct sizing_rule tiles = rule_of("model.expert_ffn=2048", "tiles");
    ck_assert_int_eq(tiles.verdict, SIZING_HOLDS);
    ck_assert_ptr_nonnull(
        strstr(tiles.found, "lost most by gate_up: 96.2 % of 608 tiles of 256 x 224"));
    struct sizing_rule size = rule_of("plan.microbatch_sequences=2", "product_size");
    ck_assert_int_eq(size.verdict, SIZING_BROKEN);
    ck_assert_str_eq(size.source, "arXiv 2511.17127");
    ck_assert_str_eq(size.rule, "products have 200 GFLOP or more");
    /* 2 x 8,192 x 4,096 x 2,048 */
    ck_assert_ptr_nonnull(
        strstr(size.found, "longest of the others gate_up.weight_gradient: 137 GFLOP"));
}
END_TEST

/* A device of which it is said that any product will do. */
START_TEST(how_large_products_must_be_is_the_devices)
{
    check_rule("device.gemm.peak_product_flop=1", "product_size", SIZING_HOLDS);
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
    tcase_add_test(facts, tiles_past_the_edge_are_partly_empty);
    tcase_add_test(facts, rules_see_what_holds_and_what_does_not);
    tcase_add_test(facts, granules_are_bytes);
    tcase_add_test(facts, tiles_and_sizes_are_of_the_products);
    tcase_add_test(facts, how_large_products_must_be_is_the_devices);
    suite_add_tcase(suite, facts);
    return suite;
}
