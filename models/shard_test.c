/* Do all ranks together run what one would, and exchange the published volumes? */
#include "models/shard.h"

#include <check.h>

#include "models/program.h"
#include "models/run.h"
#include "sim/base/check_arena.h"
#include "sim/base/check_near.h"

Suite *shard_suite(void);

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

/* On two nodes of eight, one sequence of 4,096 tokens a microbatch. */
static struct shard
shard_of(const char *model, const char *const *settings, size_t count)
{
    struct error_list errors = {0};
    const char *all[8] = {"plan.global_batch_sequences=64", "cluster.nodes=2",
                          "plan.microbatch_sequences=1"};
    for (size_t i = 0; i < count; i++)
        all[i + 3] = settings[i];
    struct run_request request = {.file = "configs/runs/zaya1-base-4k-1024.json",
                                  .model = model,
                                  .settings = all,
                                  .setting_count = count + 3};
    const struct run *run = run_read(&request, arena, &errors);
    ck_assert_msg(run != NULL, "%s: %s", errors.items[0].where, errors.items[0].what);
    return step_inputs_shard(&run->inputs);
}

struct tally {
    int64_t exchanges;
    double bytes, flop;
};

/* What a list exchanges by one kind of collective with some peers, and all it computes. */
static struct tally
tally_of(const struct shard_list *list, enum collective_kind kind, enum peers peers)
{
    struct tally tally = {0};
    for (int64_t i = 0; i < list->count; i++) {
        const struct shard_exchange *exchange = list->steps[i].exchange;
        if (!exchange) {
            tally.flop += kernel_flop(&list->steps[i].operation->kernel);
        } else if (exchange->kind == kind && exchange->peers == peers) {
            tally.exchanges++;
            tally.bytes += exchange->bytes;
        }
    }
    return tally;
}

static double
flop_of(const struct shard *shard, enum block block)
{
    struct shard_block split = shard_block(shard, block, 0, arena);
    return tally_of(&split.forward, COLLECTIVE_ALL_REDUCE, PEERS_ALL).flop +
           tally_of(&split.backward, COLLECTIVE_ALL_REDUCE, PEERS_ALL).flop;
}

static void
expect_flop(const char *model, const char *const *settings, size_t count, double ranks)
{
    struct shard whole = shard_of(model, NULL, 0), part = shard_of(model, settings, count);
    const enum block blocks[] = {BLOCK_ATTENTION, BLOCK_FEED_FORWARD, BLOCK_HEAD};
    for (int i = 0; i < 3; i++)
        CHECK_NEAR(ranks * flop_of(&part, blocks[i]), flop_of(&whole, blocks[i]), 2e-3);
}

/* Nothing is lost and nothing done twice, however the work is split. */
START_TEST(ranks_together_compute_what_one_would)
{
    const char *zaya = "configs/models/zaya1-base.json";
    const char *dense = "configs/models/llama-3.1-8b.json";
    expect_flop(zaya, (const char *[]){"plan.tensor=2"}, 1, 2);
    expect_flop(dense, (const char *[]){"plan.tensor=8"}, 1, 8);
    expect_flop(zaya, (const char *[]){"plan.context=4"}, 1, 4);
    expect_flop(zaya, (const char *[]){"plan.context=4", "plan.context_exchange=ulysses"}, 2,
                4);
    expect_flop(zaya, (const char *[]){"plan.context=4", "plan.context_exchange=all_gather"}, 2,
                4);
    expect_flop(zaya, (const char *[]){"plan.expert=8"}, 1, 1);
    expect_flop(
        zaya, (const char *[]){"plan.tensor=2", "plan.expert=4", "plan.expert_tensor=1"}, 3, 2);
    expect_flop(
        zaya, (const char *[]){"plan.tensor=2", "plan.expert=4", "plan.expert_tensor=2"}, 3, 2);
    expect_flop(zaya, (const char *[]){"plan.expert=4", "plan.expert_tensor=2"}, 2, 1);
}
END_TEST

/* Parallel folding (arXiv 2504.14960): experts may be cut over ranks whose attention is whole. Two
 * such ranks lay their 4,096 tokens for 8 experts each together, and add up their halves of the
 * results. */
START_TEST(experts_are_cut_over_ranks_with_tokens_of_their_own)
{
    const char *settings[] = {"plan.expert=4", "plan.expert_tensor=2"};
    struct shard shard = shard_of("configs/models/qwen3-30b-a3b.json", settings, 2);
    struct shard_block block = shard_block(&shard, BLOCK_FEED_FORWARD, 0, arena);
    const struct shard_list *list = &block.forward;
    struct tally gathers = tally_of(list, COLLECTIVE_ALL_GATHER, PEERS_EXPERT_TENSOR);
    struct tally scatters = tally_of(list, COLLECTIVE_REDUCE_SCATTER, PEERS_EXPERT_TENSOR);
    ck_assert_int_eq(gathers.exchanges, 1);
    ck_assert_int_eq(scatters.exchanges, 1);
    CHECK_NEAR(gathers.bytes, 2 * 4096.0 * 8 * 2048 * 2, 1e-12);
    CHECK_NEAR(scatters.bytes, gathers.bytes, 1e-12);
}
END_TEST

/* A block of 4,096 tokens of Llama's 4,096 channels in bf16: an all-gather into it and a
 * reduce-scatter out of it; backward the mirror image, and the input once more for its weights'
 * gradients (arXiv 2205.05198, 4.2.2). */
START_TEST(sequence_parallel_blocks_gather_and_scatter)
{
    const char *setting = "plan.tensor=4";
    struct shard shard = shard_of("configs/models/llama-3.1-8b.json", &setting, 1);
    const enum block blocks[] = {BLOCK_ATTENTION, BLOCK_FEED_FORWARD};
    for (int i = 0; i < 2; i++) {
        struct shard_block block = shard_block(&shard, blocks[i], 0, arena);
        const struct shard_list *lists[] = {&block.forward, &block.backward};
        for (int direction = 0; direction < 2; direction++) {
            struct tally gathers =
                tally_of(lists[direction], COLLECTIVE_ALL_GATHER, PEERS_TENSOR);
            struct tally scatters =
                tally_of(lists[direction], COLLECTIVE_REDUCE_SCATTER, PEERS_TENSOR);
            ck_assert_int_eq(gathers.exchanges, direction == 0 ? 1 : 2);
            ck_assert_int_eq(scatters.exchanges, 1);
            CHECK_NEAR(scatters.bytes, 2.0 * 4096 * 4096, 1e-12);
        }
    }
}
END_TEST

/* Without it an all-reduce behind the block, and backward one in front (arXiv 1909.08053). */
START_TEST(tensor_parallel_blocks_reduce_once_each_way)
{
    const char *settings[] = {"plan.tensor=4", "plan.is_sequence_parallel=false"};
    struct shard shard = shard_of("configs/models/llama-3.1-8b.json", settings, 2);
    struct shard_block block = shard_block(&shard, BLOCK_ATTENTION, 0, arena);
    const struct shard_list *lists[] = {&block.forward, &block.backward};
    for (int direction = 0; direction < 2; direction++) {
        struct tally sums = tally_of(lists[direction], COLLECTIVE_ALL_REDUCE, PEERS_TENSOR);
        ck_assert_int_eq(sums.exchanges, 1);
        CHECK_NEAR(sums.bytes, 2.0 * 4096 * 4096, 1e-12);
    }
}
END_TEST

/* Dispatch and combine of 4,096 tokens to 8 experts each of Qwen3-30B-A3B, 2,048 channels. */
START_TEST(experts_are_reached_by_two_all_to_alls_each_way)
{
    const char *setting = "plan.expert=8";
    struct shard shard = shard_of("configs/models/qwen3-30b-a3b.json", &setting, 1);
    struct shard_block block = shard_block(&shard, BLOCK_FEED_FORWARD, 0, arena);
    const struct shard_list *lists[] = {&block.forward, &block.backward};
    for (int direction = 0; direction < 2; direction++) {
        struct tally sent = tally_of(lists[direction], COLLECTIVE_ALL_TO_ALL, PEERS_EXPERT);
        ck_assert_int_eq(sent.exchanges, 2);
        CHECK_NEAR(sent.bytes, 2 * 4096.0 * 8 * 2048 * 2, 1e-12);
    }
}
END_TEST

/* Of 8 from 128 experts on 16 ranks, 16 (1 - C(120, 8) / C(128, 8)) = 6.5965 ranks and 2 (1 - C(64,
 * 8) / C(128, 8)) = 1.9938 nodes: so many copies, so many of them cross. */
START_TEST(a_token_goes_once_to_a_rank_and_once_to_a_node)
{
    const char *settings[] = {"plan.expert=16", "software.sends_once_per_node=true"};
    struct shard shard = shard_of("configs/models/qwen3-30b-a3b.json", settings, 2);
    struct shard_block block = shard_block(&shard, BLOCK_FEED_FORWARD, 0, arena);
    struct tally sent = tally_of(&block.forward, COLLECTIVE_ALL_TO_ALL, PEERS_EXPERT);
    CHECK_NEAR(sent.bytes, 2 * 4096 * 6.596512811001903 * 2048 * 2, 1e-12);
    for (int64_t i = 0; i < block.forward.count; i++) {
        const struct shard_exchange *exchange = block.forward.steps[i].exchange;
        if (exchange && exchange->kind == COLLECTIVE_ALL_TO_ALL)
            CHECK_NEAR(exchange->crossing_fraction, 1.9938082714464158 / 6.596512811001903,
                       1e-12);
    }
}
END_TEST

/* Ring attention: c - 1 times the keys and values of one rank's tokens forward, twice that backward
 * (their gradients go round too): Llama has 8 heads of 128 (arXiv 2310.01889). */
START_TEST(a_ring_passes_keys_and_values_c_minus_1_times)
{
    const char *setting = "plan.context=4";
    struct shard shard = shard_of("configs/models/llama-3.1-8b.json", &setting, 1);
    struct shard_block block = shard_block(&shard, BLOCK_ATTENTION, 0, arena);
    double once = 2.0 * 1024 * 8 * 128 * 2;
    struct tally forward = tally_of(&block.forward, COLLECTIVE_SEND_RECV, PEERS_CONTEXT);
    struct tally backward = tally_of(&block.backward, COLLECTIVE_SEND_RECV, PEERS_CONTEXT);
    ck_assert_int_eq(forward.exchanges, 3);
    CHECK_NEAR(forward.bytes, 3 * once, 1e-12);
    CHECK_NEAR(backward.bytes, 2 * 3 * once, 1e-12);
}
END_TEST

/* Without sequence parallelism tensor ranks hold the same tokens: each of two routes them all to
 * whole experts, so both together compute twice what one would, and neither hears of the other. */
START_TEST(tensor_ranks_with_the_same_tokens_route_them_twice)
{
    const char *settings[] = {"plan.tensor=2", "plan.is_sequence_parallel=false",
                              "plan.expert=4"};
    const char *zaya = "configs/models/zaya1-base.json";
    struct shard part = shard_of(zaya, settings, 3), whole = shard_of(zaya, NULL, 0);
    struct shard_block block = shard_block(&part, BLOCK_FEED_FORWARD, 0, arena);
    CHECK_NEAR(flop_of(&part, BLOCK_FEED_FORWARD), flop_of(&whole, BLOCK_FEED_FORWARD), 1e-3);
    struct tally sent = tally_of(&block.forward, COLLECTIVE_ALL_TO_ALL, PEERS_EXPERT);
    struct tally within = tally_of(&block.forward, COLLECTIVE_ALL_GATHER, PEERS_EXPERT_TENSOR);
    CHECK_NEAR(sent.bytes, 2 * 4096.0 * 2048 * 2, 1e-12);
    ck_assert_int_eq(within.exchanges, 0);
}
END_TEST

/* Loads fall off as 1/i: of 16 experts on 4 ranks the first rank has most, and all tokens go
 * somewhere. */
START_TEST(unequal_loads_reach_products_and_all_to_alls)
{
    const char *settings[] = {"plan.expert=4",
                              "plan.routing={\"kind\": \"power_law\", \"exponent\": 1}"};
    struct shard shard = shard_of("configs/models/zaya1-base.json", settings, 2);
    struct shard even = shard_of("configs/models/zaya1-base.json", settings, 1);
    double sum = 0, first = 0, last = 0;
    for (int64_t place = 0; place < 4; place++) {
        struct shard_block block = shard_block(&shard, BLOCK_FEED_FORWARD, place, arena);
        struct tally tally = tally_of(&block.forward, COLLECTIVE_ALL_TO_ALL, PEERS_EXPERT);
        first = place == 0 ? tally.flop : first;
        last = tally.flop;
        sum += tally.flop;
    }
    struct shard_block alike = shard_block(&even, BLOCK_FEED_FORWARD, 0, arena);
    struct tally tally = tally_of(&alike.forward, COLLECTIVE_ALL_TO_ALL, PEERS_EXPERT);
    ck_assert_double_gt(first, 2 * last);
    CHECK_NEAR(sum, 4 * tally.flop, 1e-3);
}
END_TEST

/* The stages' weights are the model's, but for the copy of a tied embedding on the last stage:
 * ZAYA1's has 262,272 x 2,048 elements. */
START_TEST(stages_hold_the_model_once)
{
    const char *setting = "plan.pipeline=4";
    struct shard shard = shard_of("configs/models/zaya1-base.json", &setting, 1);
    const struct shard_tensors *stages = shard_tensors(&shard, arena);
    double held = 0;
    for (int stage = 0; stage < 4; stage++)
        for (int64_t i = 0; i < stages[stage].dense.count; i++)
            held += (double)tensor_elements(&stages[stage].dense.items[i]);
    struct parameter_counts all = tensors_count_of(shard.workload.arch);
    CHECK_NEAR(held, (double)all.every + 262272.0 * 2048, 1e-12);
}
END_TEST

/* Mixtral-8x7B on two tensor ranks: of each of 8 layers two norms of 4,096 and a router of
 * 8 x 4,096, on the last stage the final norm; embedding and head too where they are not cut. */
START_TEST(what_is_not_cut_is_on_every_tensor_rank)
{
    const char *const settings[] = {"plan.pipeline=4", "plan.tensor=2",
                                    "plan.is_vocabulary_parallel=false"};
    const int64_t stage_elements = 8 * (2 * 4096 + 8 * 4096), embedding = 32000 * 4096;
    for (size_t count = 2; count <= 3; count++) {
        struct shard shard = shard_of("configs/models/mixtral-8x7b.json", settings, count);
        const struct shard_tensors *stages = shard_tensors(&shard, arena);
        int64_t end = count == 3 ? embedding : 0;
        ck_assert_int_eq(stages[0].shared_elements, stage_elements + end);
        ck_assert_int_eq(stages[1].shared_elements, stage_elements);
        ck_assert_int_eq(stages[3].shared_elements, stage_elements + 4096 + end);
    }
}
END_TEST

Suite *
shard_suite(void)
{
    Suite *suite = suite_create("shard");
    TCase *tests = tcase_create("split");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, ranks_together_compute_what_one_would);
    tcase_add_test(tests, experts_are_cut_over_ranks_with_tokens_of_their_own);
    tcase_add_test(tests, sequence_parallel_blocks_gather_and_scatter);
    tcase_add_test(tests, tensor_parallel_blocks_reduce_once_each_way);
    tcase_add_test(tests, experts_are_reached_by_two_all_to_alls_each_way);
    tcase_add_test(tests, a_token_goes_once_to_a_rank_and_once_to_a_node);
    tcase_add_test(tests, a_ring_passes_keys_and_values_c_minus_1_times);
    tcase_add_test(tests, tensor_ranks_with_the_same_tokens_route_them_twice);
    tcase_add_test(tests, unequal_loads_reach_products_and_all_to_alls);
    tcase_add_test(tests, stages_hold_the_model_once);
    tcase_add_test(tests, what_is_not_cut_is_on_every_tensor_rank);
    suite_add_tcase(suite, tests);
    return suite;
}
