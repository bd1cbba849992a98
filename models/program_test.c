/* Does the program of a rank hold what the plan asks for, in order? */
#include "models/program.h"

#include <string.h>

#include <check.h>

#include "models/run.h"
#include "sim/base/check_arena.h"
#include "sim/base/check_near.h"
#include "sim/base/check_often.h"

Suite *program_suite(void);

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

/* ZAYA1-base on two nodes: 16 ranks, 64 sequences, two microbatches of two each. */
static const struct program *
program_of_ranks(enum program_ranks ranks, const char *const *settings, size_t count)
{
    struct error_list errors = {0};
    const char *all[8] = {"plan.global_batch_sequences=64"};
    for (size_t i = 0; i < count; i++)
        all[i + 1] = settings[i];
    struct run_request request = {.model = "configs/models/zaya1-base.json",
                                  .cluster = "configs/clusters/mi300x-pollara-2.json",
                                  .plan = "configs/plans/zaya1-base-4k.json",
                                  .software = "configs/software/zyphra-rocm.json",
                                  .settings = all,
                                  .setting_count = count + 1};
    const struct run *run = run_read(&request, arena, &errors);
    ck_assert_msg(run != NULL, "%s: %s", errors.items[0].where, errors.items[0].what);
    const struct program *program = program_of(&run->inputs, ranks, arena, &errors);
    ck_assert_msg(program != NULL, "%s", errors.items[0].what);
    return program;
}

static const struct program *
program_with(const char *const *settings, size_t count)
{
    return program_of_ranks(RANKS_ALL, settings, count);
}

static int64_t
count_class(const struct program *program, enum step_class spent_on)
{
    int64_t count = 0;
    for (int64_t i = 0; i < program->kinds[0].count; i++)
        count += program_work(program, &program->kinds[0].items[i], 0)->spent_on == spent_on;
    return count;
}

/* 8.84e9 parameters, a layer 207.6e6 of them: five layers fill a bucket of 1.024e9, so the 40
 * layers fill eight and the embedding is a ninth. */
START_TEST(gradients_and_weights_travel_in_nine_buckets)
{
    const struct program *program = program_with(NULL, 0);
    ck_assert_int_eq(count_class(program, CLASS_GRADIENT_REDUCTION), 9);
    ck_assert_int_eq(count_class(program, CLASS_PARAMETER_GATHER), 9);
}
END_TEST

/* All buckets together carry every parameter once: 4 bytes each up, 2 down. */
START_TEST(buckets_add_up_to_the_parameters)
{
    const struct program *program = program_with(NULL, 0);
    double reduced = 0, gathered = 0;
    for (int64_t i = 0; i < program->kinds[0].count; i++) {
        const struct step_work *work = program_work(program, &program->kinds[0].items[i], 0);
        if (work->spent_on == CLASS_GRADIENT_REDUCTION)
            reduced += work->collective->bytes;
        if (work->spent_on == CLASS_PARAMETER_GATHER)
            gathered += work->collective->bytes;
    }
    CHECK_NEAR(reduced, 2 * gathered, 1e-12);
    CHECK_NEAR(gathered, 17.68e9, 0.001);
}
END_TEST

START_TEST(an_item_waits_only_for_earlier_ones)
{
    const struct program *program = program_with(NULL, 0);
    for (int64_t i = 0; i < program->kinds[0].count; i++) {
        for (int j = 0; j < STEP_WAITS_MAX; j++)
            CHECK_OFTEN(program->kinds[0].items[i].after[j] < i);
    }
}
END_TEST

/* Without overlap the first gather comes behind the last kernel of the optimizer. */
START_TEST(without_overlap_weights_are_gathered_at_the_end)
{
    const char *setting = "plan.overlaps_parameter_gather=false";
    const struct program *program = program_with(&setting, 1);
    int64_t first_gather = -1, last_compute = -1;
    for (int64_t i = 0; i < program->kinds[0].count; i++) {
        const struct step_work *work = program_work(program, &program->kinds[0].items[i], 0);
        if (work->spent_on == CLASS_PARAMETER_GATHER && first_gather < 0)
            first_gather = i;
        if (program->kinds[0].items[i].lane == LANE_COMPUTE)
            last_compute = i;
    }
    ck_assert_int_gt(first_gather, last_compute);
    ck_assert_int_eq(program->kinds[0].items[first_gather].after[0], last_compute);
}
END_TEST

/* Overlapped, the first reduction waits for backward of layer 35, the fifth from the end. */
START_TEST(a_reduction_waits_for_the_layer_that_fills_its_bucket)
{
    const struct program *program = program_with(NULL, 0);
    int64_t first = 0;
    while (program_work(program, &program->kinds[0].items[first], 0)->spent_on !=
           CLASS_GRADIENT_REDUCTION)
        first++;
    const struct step_item *waited =
        &program->kinds[0].items[program->kinds[0].items[first].after[0]];
    ck_assert_int_eq(waited->layer, 35);
    ck_assert_int_eq((int)waited->phase, PHASE_BACKWARD);
    ck_assert_int_eq(waited->microbatch, 1);
}
END_TEST

/* Llama's head is a tensor of its own: its gradients are reduced first and its weights, which
 * forward wants last, are gathered last. 525e6 parameters fill a bucket of 500e6 alone. */
START_TEST(an_untied_head_is_reduced_first_and_gathered_last)
{
    struct error_list errors = {0};
    const char *settings[] = {"plan.global_batch_sequences=64",
                              "plan.bucket_parameters=500000000"};
    struct run_request request = {.file = "configs/runs/zaya1-base-4k-1024.json",
                                  .model = "configs/models/llama-3.1-8b.json",
                                  .cluster = "configs/clusters/mi300x-pollara-2.json",
                                  .settings = settings,
                                  .setting_count = 2};
    const struct run *run = run_read(&request, arena, &errors);
    ck_assert_msg(run != NULL, "%s: %s", errors.items[0].where, errors.items[0].what);
    const struct program *program = program_of(&run->inputs, RANKS_ALL, arena, &errors);
    const struct step_work *first_reduced = NULL, *last_gathered = NULL;
    for (int64_t i = 0; i < program->kinds[0].count; i++) {
        const struct step_work *work = program_work(program, &program->kinds[0].items[i], 0);
        if (work->spent_on == CLASS_GRADIENT_REDUCTION && !first_reduced)
            first_reduced = work;
        if (work->spent_on == CLASS_PARAMETER_GATHER)
            last_gathered = work;
    }
    ck_assert_ptr_nonnull(first_reduced);
    ck_assert_ptr_nonnull(last_gathered);
    CHECK_NEAR(first_reduced->collective->bytes, 4 * 128256.0 * 4096, 0.001);
    CHECK_NEAR(last_gathered->collective->bytes, 2 * 128256.0 * 4096, 0.001);
}
END_TEST

/* Of the item's earlier ones, whether it waits for that one. */
static bool
waits_for(const struct step_item *item, int64_t earlier)
{
    bool is_found = false;
    for (int i = 0; i < STEP_WAITS_MAX; i++)
        is_found = is_found || item->after[i] == earlier;
    return is_found;
}

/* A block stands in the program as its launches and then its kernels: the first kernel of the
 * blocks that need weights waits for their bucket, the last kernel for the launches. */
START_TEST(kernels_wait_for_their_weights_and_their_launches)
{
    const struct program *program = program_with(NULL, 0);
    int64_t launches = -1, blocks = 0, gathers = 0;
    for (int64_t i = 0; i < program->kinds[0].count; i++) {
        const struct step_item *item = &program->kinds[0].items[i];
        bool is_last = i + 1 == program->kinds[0].count ||
                       program->kinds[0].items[i + 1].lane != LANE_COMPUTE;
        if (item->lane == LANE_HOST && item->work)
            launches = i;
        if (launches < 0 || item->lane != LANE_COMPUTE || item->phase == PHASE_OPTIMIZER)
            continue;
        for (int j = 0; j < STEP_WAITS_MAX && i == launches + 1 && item->after[j] >= 0; j++)
            gathers +=
                program_work(program, &program->kinds[0].items[item->after[j]], 0)->spent_on ==
                CLASS_PARAMETER_GATHER;
        blocks += is_last && waits_for(item, launches);
    }
    ck_assert_int_eq(blocks, 2 * 2 * (2 + 2 * 40)); /* microbatches, directions, blocks */
    ck_assert_int_eq(gathers, 2 * (2 + 40));        /* embedding, head, each layer once */
}
END_TEST

/* The oracle counts kernels in the program: one launch each, but none of what is folded into a
 * product. 2.8 us a launch. */
START_TEST(the_host_launches_every_kernel_once)
{
    const struct program *program = program_with(NULL, 0);
    double host_s = 0;
    int64_t launches = 0;
    for (int64_t i = 0; i < program->kinds[0].count; i++) {
        const struct step_item *item = &program->kinds[0].items[i];
        if (item->phase == PHASE_OPTIMIZER || !item->work)
            continue;
        if (item->lane == LANE_HOST)
            host_s += item->work->delay_s;
        const struct kernel *kernel = item->work->kernel;
        if (!kernel || item->microbatch < 0 || strcmp(item->work->name, "zero_gradients") == 0)
            continue;
        launches += kernel->kind == KERNEL_ELEMENTWISE ? kernel->elementwise.launches : 1;
    }
    ck_assert_int_gt(launches, 5000);
    CHECK_NEAR(host_s, 2.8e-6 * (double)launches, 1e-9);
}
END_TEST

/* Of a multi-tensor pass, 65,536 x 320 elements each and at least one. */
static int64_t
launches_of(int64_t elements)
{
    return elements > 0 ? (elements + 20971519) / 20971520 : 1;
}

/* A Newton-Schulz is 3 products a step and 2 passes, five steps: 17 launches a matrix;
 * momentum, AdamW and update, which follow the clipping too, are a multi-tensor pass each. */
START_TEST(a_ranks_own_work_follows_from_its_share)
{
    const struct program *program = program_with(NULL, 0);
    struct error_list errors = {0};
    struct run_request request = {.file = "configs/runs/zaya1-base-4k-1024.json",
                                  .cluster = "configs/clusters/mi300x-pollara-2.json",
                                  .settings =
                                      (const char *[]){"plan.global_batch_sequences=64"},
                                  .setting_count = 1};
    const struct run *run = run_read(&request, arena, &errors);
    const struct optimizer_share *shares =
        optimizer_shares(run->inputs.tensors, run->inputs.workload.plan, 16, arena);
    for (int rank = 0; rank < 16; rank++) {
        int64_t matrices = 0;
        for (int i = 0; i < shares[rank].matrix_sizes; i++)
            matrices += shares[rank].matrices[i].count;
        CHECK_NEAR(program->shares[rank].works[SHARE_LAUNCHES]->delay_s,
                   2.8e-6 *
                       (double)(2 * launches_of(shares[rank].muon_parameters) +
                                launches_of(shares[rank].adamw_parameters) + 17 * matrices),
                   1e-9);
        const struct kernel *momentum = program->shares[rank].works[SHARE_MOMENTUM]->kernel;
        double elements = (double)shares[rank].muon_parameters;
        CHECK_NEAR(momentum->elementwise.read_bytes, 8 * elements, 1e-12);  /* two of fp32 */
        CHECK_NEAR(momentum->elementwise.write_bytes, 6 * elements, 1e-12); /* fp32 and bf16 */
    }
}
END_TEST

static void
expect_the_same_slowest_rank(const char *const *settings, size_t count)
{
    const struct program *folded = program_of_ranks(RANKS_FOLDED, settings, count);
    const struct program *all = program_of_ranks(RANKS_ALL, settings, count);
    struct step_item exchange = {.stage = SHARE_EXCHANGE};
    for (int64_t i = 0; i < all->kind_count; i++) {
        int64_t rank = all->kinds[i].slowest_rank;
        ck_assert_int_eq(folded->kinds[i].slowest_rank, rank);
        const struct step_work *one = program_work(folded, &exchange, rank);
        const struct step_work *other = program_work(all, &exchange, rank);
        CHECK_NEAR(one->delay_s, other->delay_s, 0);
        CHECK_NEAR(one->work_s, other->work_s, 0);
    }
}

/* However few exchanges a folded program prices. */
START_TEST(folded_programs_know_the_slowest_rank)
{
    expect_the_same_slowest_rank(NULL, 0);
    expect_the_same_slowest_rank((const char *[]){"plan.expert=4"}, 1);
    expect_the_same_slowest_rank((const char *[]){"plan.context=2"}, 1);
    expect_the_same_slowest_rank((const char *[]){"plan.pipeline=2", "plan.tensor=2"}, 2);
    expect_the_same_slowest_rank((const char *[]){"plan.shard_ranks=4"}, 1);
    expect_the_same_slowest_rank((const char *[]){"plan.optimizer=adamw"}, 1);
    expect_the_same_slowest_rank((const char *[]){"plan.muon_distribution=all_gather"}, 1);
    expect_the_same_slowest_rank((const char *[]){"plan.muon_distribution=layer_sharded"}, 1);
    expect_the_same_slowest_rank(
        (const char *[]){"plan.expert=4",
                         "plan.routing={\"kind\": \"power_law\", \"exponent\": 1}"},
        2);
}
END_TEST

/* What is sent to the neighbours is what the momentum pass has written. */
START_TEST(momentum_comes_before_the_exchange)
{
    const struct program *program = program_with(NULL, 0);
    int64_t momentum = -1, exchange = -1, newton_schulz = -1;
    for (int64_t i = 0; i < program->kinds[0].count; i++) {
        const struct step_item *item = &program->kinds[0].items[i];
        if (item->work)
            continue;
        momentum = item->stage == SHARE_MOMENTUM ? i : momentum;
        exchange = item->stage == SHARE_EXCHANGE ? i : exchange;
        newton_schulz = item->stage == SHARE_NEWTON_SCHULZ ? i : newton_schulz;
    }
    ck_assert_int_eq(program->kinds[0].items[exchange].after[0], momentum);
    ck_assert_int_eq(program->kinds[0].items[newton_schulz].after[0], exchange);
}
END_TEST

START_TEST(replicated_optimizer_reduces_everywhere_and_gathers_nothing)
{
    const char *setting = "plan.zero_stage=0";
    const struct program *program = program_with(&setting, 1);
    ck_assert_int_eq(count_class(program, CLASS_PARAMETER_GATHER), 0);
    for (int64_t i = 0; i < program->kinds[0].count; i++) {
        const struct step_work *work = program_work(program, &program->kinds[0].items[i], 0);
        if (work->spent_on == CLASS_GRADIENT_REDUCTION)
            ck_assert_int_eq((int)work->collective->kind, COLLECTIVE_ALL_REDUCE);
    }
    ck_assert_int_eq(program->kinds[0].slowest_rank, 0);
}
END_TEST

/* Recomputation runs every layer's forward kernels once more a microbatch, nothing else. */
START_TEST(full_recomputation_repeats_the_layers_forward)
{
    const char *setting = "plan.recompute=full";
    const struct program *plain = program_with(NULL, 0);
    const struct program *repeated = program_with(&setting, 1);
    int64_t forward = 0;
    for (int64_t i = 0; i < plain->kinds[0].count; i++)
        forward += plain->kinds[0].items[i].lane == LANE_COMPUTE &&
                   plain->kinds[0].items[i].phase == PHASE_FORWARD &&
                   plain->kinds[0].items[i].layer >= 0;
    ck_assert_int_eq(repeated->kinds[0].count - plain->kinds[0].count, forward);
}
END_TEST

struct volume {
    double reduced, gathered; /* bytes, as collectives count them */
};

static struct volume
volume_with(const char *const *settings, size_t count)
{
    const struct program *program = program_with(settings, count);
    struct volume volume = {0};
    for (int64_t i = 0; i < program->kinds[0].count; i++) {
        const struct step_work *work = program_work(program, &program->kinds[0].items[i], 0);
        if (work->spent_on == CLASS_GRADIENT_REDUCTION)
            volume.reduced += work->collective->bytes;
        if (work->spent_on == CLASS_PARAMETER_GATHER)
            volume.gathered += work->collective->bytes;
    }
    return volume;
}

/* Of P parameters, two microbatches (arXiv 1910.02054 section 7, 2304.11277): ZeRO-1 reduces once
 * and gathers once, or reduces twice where it is told so; ZeRO-2 reduces after each microbatch,
 * ZeRO-3 gathers before each pass too. */
START_TEST(zero_stages_move_what_is_published)
{
    double parameters = 8.840e9;
    struct volume one = volume_with((const char *[]){"plan.zero_stage=1"}, 1);
    struct volume each = volume_with(
        (const char *[]){"plan.zero_stage=1", "plan.reduces_every_microbatch=true"}, 2);
    struct volume two = volume_with((const char *[]){"plan.zero_stage=2"}, 1);
    struct volume three = volume_with((const char *[]){"plan.zero_stage=3"}, 1);
    CHECK_NEAR(one.reduced, 4 * parameters, 0.001);
    CHECK_NEAR(one.gathered, 2 * parameters, 0.001);
    CHECK_NEAR(each.reduced, 2 * 4 * parameters, 0.001);
    CHECK_NEAR(each.gathered, 2 * parameters, 0.001);
    CHECK_NEAR(two.reduced, 2 * 4 * parameters, 0.001);
    CHECK_NEAR(two.gathered, 2 * parameters, 0.001);
    CHECK_NEAR(three.reduced, 2 * 4 * parameters, 0.001);
    /* four passes; what is still there when a pass turns round is not gathered again */
    ck_assert_double_le(three.gathered, 4 * 2 * parameters * 1.001);
    ck_assert_double_gt(three.gathered, 0.9 * 4 * 2 * parameters);
}
END_TEST

/* Shards of a node of eight, two of them: reduced into shards, and a shard's eighth between the
 * two. */
START_TEST(hybrid_sharding_adds_up_shards_between_replicas)
{
    const char *settings[] = {"plan.shard_ranks=8"};
    struct volume hybrid = volume_with(settings, 1);
    CHECK_NEAR(hybrid.reduced, 4 * 8.840e9 * (1 + 1.0 / 8), 0.001);
    CHECK_NEAR(hybrid.gathered, 2 * 8.840e9, 0.001);
}
END_TEST

/* Gradients that tensor ranks of the first stage add up, in bytes. */
static double
added_up_with(const char *const *settings, size_t count)
{
    struct error_list errors = {0};
    struct run_request request = {.file = "configs/runs/mixtral-8x7b-tp2-pp4-ep4.json",
                                  .settings = settings,
                                  .setting_count = count};
    const struct run *run = run_read(&request, arena, &errors);
    ck_assert_msg(run != NULL, "%s: %s", errors.items[0].where, errors.items[0].what);
    const struct program *program = program_of(&run->inputs, RANKS_ALL, arena, &errors);
    double bytes = 0;
    for (int64_t i = 0; i < program->kinds[0].count; i++) {
        const struct step_item *item = &program->kinds[0].items[i];
        const struct step_work *work = program_work(program, item, 0);
        if (item->is_joint && item->peers == PEERS_TENSOR &&
            work->spent_on == CLASS_GRADIENT_REDUCTION)
            bytes += work->collective->bytes;
    }
    return bytes;
}

/* Of 8 layers two norms of 4,096 and a router of 8 x 4,096, in fp32; of 16 data ranks' shards a
 * sixteenth. Ranks that see all tokens have the same gradients. */
START_TEST(tensor_ranks_add_up_what_each_has_whole)
{
    const double bytes = 4.0 * 8 * (2 * 4096 + 8 * 4096);
    const char *const sharded[] = {"plan.zero_stage=2"};
    const char *const whole[] = {"plan.is_sequence_parallel=false", "plan.expert_tensor=2"};
    const char *const alone[] = {"plan.tensor=1"};
    CHECK_NEAR(added_up_with(NULL, 0), bytes, 0);
    CHECK_NEAR(added_up_with(sharded, 1), bytes / 16, 0);
    CHECK_NEAR(added_up_with(whole, 2), 0, 0);
    CHECK_NEAR(added_up_with(alone, 1), 0, 0);
}
END_TEST

/* Blocks instead of kernels: fewer items, the same work. */
START_TEST(merged_kernels_are_the_same_work)
{
    struct error_list errors = {0};
    const char *settings[] = {"plan.global_batch_sequences=64", "plan.tensor=2",
                              "plan.expert=4", "plan.pipeline=2"};
    struct run_request request = {.file = "configs/runs/zaya1-base-4k-1024.json",
                                  .cluster = "configs/clusters/mi300x-pollara-2.json",
                                  .settings = settings,
                                  .setting_count = 4};
    const struct run *run = run_read(&request, arena, &errors);
    ck_assert_msg(run != NULL, "%s: %s", errors.items[0].where, errors.items[0].what);
    struct step_inputs inputs = run->inputs;
    double sums_s[2] = {0};
    int64_t items[2] = {0};
    for (int i = 0; i < 2; i++) {
        inputs.detail = i == 0 ? DETAIL_KERNELS : DETAIL_BLOCKS;
        const struct program *program = program_of(&inputs, RANKS_ALL, arena, &errors);
        items[i] = program->kinds[1].count;
        for (int64_t j = 0; j < items[i]; j++) {
            const struct step_work *work =
                program_work(program, &program->kinds[1].items[j], program->kinds[1].rank);
            sums_s[i] += work->delay_s + work->work_s;
        }
    }
    ck_assert_int_lt(3 * items[1], items[0]);
    CHECK_NEAR(sums_s[1], sums_s[0], 1e-9);
}
END_TEST

Suite *
program_suite(void)
{
    Suite *suite = suite_create("program");
    TCase *tests = tcase_create("zaya1");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, gradients_and_weights_travel_in_nine_buckets);
    tcase_add_test(tests, buckets_add_up_to_the_parameters);
    tcase_add_test(tests, an_item_waits_only_for_earlier_ones);
    tcase_add_test(tests, without_overlap_weights_are_gathered_at_the_end);
    tcase_add_test(tests, a_reduction_waits_for_the_layer_that_fills_its_bucket);
    tcase_add_test(tests, an_untied_head_is_reduced_first_and_gathered_last);
    tcase_add_test(tests, kernels_wait_for_their_weights_and_their_launches);
    tcase_add_test(tests, the_host_launches_every_kernel_once);
    tcase_add_test(tests, a_ranks_own_work_follows_from_its_share);
    tcase_add_test(tests, folded_programs_know_the_slowest_rank);
    tcase_add_test(tests, momentum_comes_before_the_exchange);
    tcase_add_test(tests, replicated_optimizer_reduces_everywhere_and_gathers_nothing);
    tcase_add_test(tests, full_recomputation_repeats_the_layers_forward);
    tcase_add_test(tests, zero_stages_move_what_is_published);
    tcase_add_test(tests, hybrid_sharding_adds_up_shards_between_replicas);
    tcase_add_test(tests, tensor_ranks_add_up_what_each_has_whole);
    tcase_add_test(tests, merged_kernels_are_the_same_work);
    suite_add_tcase(suite, tests);
    return suite;
}
