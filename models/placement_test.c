/* Do ranks stand where Megatron-LM's order puts them, and with whom? */
#include "models/placement.h"

#include <check.h>

#include "models/program.h"
#include "models/run.h"
#include "sim/base/check_arena.h"

Suite *placement_suite(void);

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

/* ZAYA1 on two nodes of eight, 64 sequences. */
static struct placement
placement_with(const char *const *settings, size_t count)
{
    struct error_list errors = {0};
    const char *all[8] = {"plan.global_batch_sequences=64", "cluster.nodes=2"};
    for (size_t i = 0; i < count; i++)
        all[i + 2] = settings[i];
    struct run_request request = {.file = "configs/runs/zaya1-base-4k-1024.json",
                                  .settings = all,
                                  .setting_count = count + 2};
    const struct run *run = run_read(&request, arena, &errors);
    ck_assert_msg(run != NULL, "%s: %s", errors.items[0].where, errors.items[0].what);
    return placement_of(run->inputs.workload.plan, run->inputs.cluster);
}

static void
expect_group(const struct placement *placement, enum peers peers, int64_t rank,
             const int64_t *wanted, int64_t count)
{
    struct rank_group group = placement_group(placement, peers, rank);
    ck_assert_int_eq(rank_group_count(&group), count);
    ck_assert_int_eq(placement_group_ranks(placement, peers), count);
    for (int64_t i = 0; i < count; i++) {
        ck_assert_int_eq(rank_group_at(&group, i), wanted[i]);
        ck_assert_int_eq(placement_first(placement, peers, wanted[i]), wanted[0]);
    }
}

/* tp-cp-ep-dp-pp, tensor 2, pipeline 4, data 2: the tensor rank changes fastest, the stage last.
 * Megatron-LM's own example (parallel_state.py, initialize_model_parallel): groups [g0, g1], ...;
 * [g0, g2], [g1, g3], ...; [g0, g4, g8, g12], .... */
START_TEST(groups_are_those_of_megatrons_example)
{
    const char *settings[] = {"plan.tensor=2", "plan.pipeline=4"};
    struct placement placement = placement_with(settings, 2);
    expect_group(&placement, PEERS_TENSOR, 7, (const int64_t[]){6, 7}, 2);
    expect_group(&placement, PEERS_DATA, 5, (const int64_t[]){5, 7}, 2);
    expect_group(&placement, PEERS_ENDS, 9, (const int64_t[]){1, 13}, 2);
    ck_assert_int_eq(placement_at(&placement, 6).pipeline, 1);
}
END_TEST

/* Folded: attention over 4 tensor ranks, the experts over 8 ranks of one tensor rank each. Both
 * number the 16 ranks alike. */
START_TEST(experts_are_laid_out_apart_from_attention)
{
    const char *settings[] = {"plan.tensor=4", "plan.expert=8", "plan.expert_tensor=1"};
    struct placement placement = placement_with(settings, 3);
    expect_group(&placement, PEERS_TENSOR, 5, (const int64_t[]){4, 5, 6, 7}, 4);
    expect_group(&placement, PEERS_EXPERT, 5, (const int64_t[]){0, 1, 2, 3, 4, 5, 6, 7}, 8);
    expect_group(&placement, PEERS_EXPERT_DATA, 5, (const int64_t[]){5, 13}, 2);
    expect_group(&placement, PEERS_EXPERT_TENSOR, 5, (const int64_t[]){5}, 1);
    expect_group(&placement, PEERS_DATA, 5, (const int64_t[]){1, 5, 9, 13}, 4);
}
END_TEST

/* The stages in front of the data ranks: rows of two stages' distance. */
START_TEST(the_order_is_the_plans)
{
    const char *settings[] = {"plan.tensor=2", "plan.pipeline=2",
                              "plan.rank_order=tp-cp-pp-ep-dp"};
    struct placement placement = placement_with(settings, 3);
    ck_assert_int_eq(placement_at(&placement, 2).pipeline, 1);
    expect_group(&placement, PEERS_DATA, 3, (const int64_t[]){3, 7, 11, 15}, 4);
}
END_TEST

/* Context ranks hold the same weights: with the data ranks behind the stages, two rows. */
START_TEST(data_and_context_ranks_are_one_group)
{
    const char *settings[] = {"plan.context=2", "plan.expert=2", "plan.pipeline=2",
                              "plan.rank_order=tp-cp-ep-pp-dp"};
    struct placement placement = placement_with(settings, 4);
    expect_group(&placement, PEERS_DATA, 3, (const int64_t[]){2, 3, 6, 7, 10, 11, 14, 15}, 8);
}
END_TEST

/* Shards of four of the eight data ranks of two tensor ranks each. */
START_TEST(hybrid_shards_are_neighbours_and_replicas_are_apart)
{
    const char *settings[] = {"plan.tensor=2", "plan.shard_ranks=4"};
    struct placement placement = placement_with(settings, 2);
    expect_group(&placement, PEERS_SHARD, 3, (const int64_t[]){1, 3, 5, 7}, 4);
    expect_group(&placement, PEERS_REPLICAS, 3, (const int64_t[]){3, 11}, 2);
    expect_group(&placement, PEERS_DATA, 3, (const int64_t[]){1, 3, 5, 7, 9, 11, 13, 15}, 8);
}
END_TEST

START_TEST(a_place_and_its_rank_are_one)
{
    const char *settings[] = {"plan.tensor=2", "plan.context=2", "plan.pipeline=2"};
    struct placement placement = placement_with(settings, 3);
    for (int64_t rank = 0; rank < 16; rank++) {
        struct rank_place place = placement_at(&placement, rank);
        ck_assert_int_eq(placement_rank(&placement, &place), rank);
    }
}
END_TEST

Suite *
placement_suite(void)
{
    Suite *suite = suite_create("placement");
    TCase *tests = tcase_create("16 ranks");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, groups_are_those_of_megatrons_example);
    tcase_add_test(tests, experts_are_laid_out_apart_from_attention);
    tcase_add_test(tests, the_order_is_the_plans);
    tcase_add_test(tests, data_and_context_ranks_are_one_group);
    tcase_add_test(tests, hybrid_shards_are_neighbours_and_replicas_are_apart);
    tcase_add_test(tests, a_place_and_its_rank_are_one);
    suite_add_tcase(suite, tests);
    return suite;
}
