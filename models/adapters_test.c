/* Does a step of frozen weights and adapters do what such a step does, and no more?
 *
 * Llama-2-70B (80 layers, h = 8192, f = 28672, keys and values of 1024) with adapters of rank 16 on
 * both products of attention: of a layer 16 x 8192 and 10240 x 16, 16 x 8192 and 8192 x 16. */
#include "models/adapters.h"

#include <string.h>

#include <check.h>

#include "models/bound.h"
#include "models/memory.h"
#include "models/run.h"
#include "models/step.h"
#include "sim/base/check_arena.h"
#include "sim/base/check_near.h"

Suite *adapters_suite(void);

static const int64_t LAYER_PARAMETERS = 16 * (8192 + 10240 + 8192 + 8192); /* 557,056 */

static struct arena *arena;
static struct error_list errors;

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

enum { SETTINGS_MAX = 6 };

static const struct run *
read_with(const char *const settings[SETTINGS_MAX])
{
    size_t count = 0;
    while (count < SETTINGS_MAX && settings[count])
        count++;
    struct run_request request = {.file = "configs/runs/mi300x-llama-2-70b-lora.json",
                                  .settings = settings,
                                  .setting_count = count};
    return run_read(&request, arena, &errors);
}

static const struct run *
run_with(const char *first, const char *second)
{
    const char *settings[SETTINGS_MAX] = {"plan.recompute_layers=80", "plan.fp8_recipe=none",
                                          "plan.gathers_weights_in_fp8=false", first,
                                          first ? second : NULL};
    const struct run *run = read_with(settings);
    ck_assert_msg(run != NULL, "%s: %s", errors.items[0].where, errors.items[0].what);
    return run;
}

static void
expect(const char *adapters, const char *what)
{
    const char *settings[SETTINGS_MAX] = {arena_format(arena, "plan.adapters=%s", adapters)};
    memset(&errors, 0, sizeof errors);
    ck_assert_ptr_null(read_with(settings));
    ck_assert_str_eq(errors.items[0].what, what);
}

static int64_t
count_elements(const struct tensor_list *list)
{
    int64_t sum = 0;
    for (int64_t i = 0; i < list->count; i++)
        sum += tensor_elements(&list->items[i]);
    return sum;
}

/* A published log of this training has a bucket of 40,108,032 elements, the adapters of 72 layers:
 * github mlcommons/training_results_v5.1, Dell/results/1xXE9680x8H200-SXM-141GB/llama2_70b_lora/
 * result_0.txt, "Params for bucket 1". */
START_TEST(adapters_have_the_weights_that_a_published_log_counts)
{
    const struct run *run = run_with(NULL, NULL);
    ck_assert_int_eq(72 * LAYER_PARAMETERS, 40108032);
    ck_assert_int_eq(operators_adapter_parameters(&run->inputs.workload, arena),
                     80 * LAYER_PARAMETERS);
    struct shard shard = step_inputs_shard(&run->inputs);
    const struct shard_tensors *tensors = shard_tensors(&shard, arena);
    ck_assert_int_eq(count_elements(&tensors->dense), 80 * LAYER_PARAMETERS);
    ck_assert_int_eq(count_elements(&tensors->frozen_dense),
                     tensors_count(run->inputs.workload.arch, run->inputs.tensors).every);
}
END_TEST

/* Products of their own have adapters of their own: A three times, B in three parts. */
START_TEST(products_of_their_own_have_adapters_of_their_own)
{
    const struct run *run = run_with("software.splits_projections=true", NULL);
    ck_assert_int_eq(operators_adapter_parameters(&run->inputs.workload, arena),
                     80 * (LAYER_PARAMETERS + 2 * 16 * 8192));
}
END_TEST

/* Of two tensor ranks each has A of queries, keys and values whole and half of B; of the output
 * half of A and B whole. */
START_TEST(tensor_ranks_split_the_side_that_their_product_splits)
{
    const struct run *run = run_with("plan.tensor=2", "plan.global_batch_sequences=4");
    struct shard shard = step_inputs_shard(&run->inputs);
    const struct shard_tensors *tensors = shard_tensors(&shard, arena);
    ck_assert_int_eq(count_elements(&tensors->dense),
                     80LL * 16 * (8192 + 10240 / 2 + 8192 / 2 + 8192));
}
END_TEST

START_TEST(stages_hold_the_adapters_of_their_layers)
{
    const char *settings[SETTINGS_MAX] = {"plan.recompute_layers=20", "plan.pipeline=4",
                                          "plan.global_batch_sequences=8"};
    const struct run *run = read_with(settings);
    struct shard shard = step_inputs_shard(&run->inputs);
    const struct shard_tensors *tensors = shard_tensors(&shard, arena);
    for (int stage = 0; stage < 4; stage++)
        ck_assert_int_eq(count_elements(&tensors[stage].dense), 20 * LAYER_PARAMETERS);
}
END_TEST

/* How many of a block's backward kernels are products, and how many of them a weight's gradient. */
static void
count_products(const struct run *run, enum block block, int *products, int *gradients)
{
    struct operator_list list = operators_of(&run->inputs.workload, block, arena);
    *products = *gradients = 0;
    for (int64_t i = 0; i < list.count; i++)
        for (int j = 0; j < list.items[i].backward_count; j++) {
            const struct operation *operation = &list.items[i].backward[j];
            *products += operation->kernel.kind == KERNEL_GEMM;
            *gradients += strstr(operation->name, ".weight_gradient") != NULL;
        }
}

/* One product backward for a frozen one, two for a thin one. */
START_TEST(frozen_weights_have_no_gradient_and_thin_ones_do)
{
    const struct run *run = run_with(NULL, NULL);
    int products, gradients;
    count_products(run, BLOCK_ATTENTION, &products, &gradients);
    ck_assert_int_eq(products, 2 + 2 * 4);
    ck_assert_int_eq(gradients, 4);
    count_products(run, BLOCK_FEED_FORWARD, &products, &gradients);
    ck_assert_int_eq(products, 2);
    ck_assert_int_eq(gradients, 0);
    count_products(run, BLOCK_HEAD, &products, &gradients);
    ck_assert_int_eq(products, 1);
    ck_assert_int_eq(gradients, 0);
    count_products(run, BLOCK_EMBEDDING, &products, &gradients);
    ck_assert_int_eq(products + gradients, 0);
}
END_TEST

/* Bytes of a token that backward wants of a layer: of attention's products a mask of a byte and
 * the dropped input of each adapter, 2 x (1 + 2) h, and what lies between its thin products,
 * 2 x 2 x 16; of the feed-forward what SwiGLU has, 4 f, but neither product's input. */
START_TEST(inputs_of_frozen_products_are_not_kept)
{
    const struct run *run = run_with(NULL, NULL);
    struct shard shard = step_inputs_shard(&run->inputs);
    struct shard_block attention = shard_block(&shard, BLOCK_ATTENTION, 0, arena);
    struct shard_block feed_forward = shard_block(&shard, BLOCK_FEED_FORWARD, 0, arena);
    CHECK_NEAR(attention.saved_bytes[CLASS_ATTENTION_PROJECTION],
               8192 * (2 * 3 * 8192.0 + 2 * 2 * 16), 1e-12);
    CHECK_NEAR(feed_forward.saved_bytes[CLASS_EXPERT], 8192 * 4 * 28672.0, 1e-12);
}
END_TEST

/* In fp8 what SwiGLU reads is kept as a byte an element, 2 f, and a frozen weight is a byte: of all
 * but the embedding, the head and the norms. */
START_TEST(in_fp8_gates_and_frozen_weights_are_a_byte)
{
    const char *settings[SETTINGS_MAX] = {"plan.recompute_layers=80"};
    const struct run *run = read_with(settings);
    ck_assert_msg(run != NULL, "%s", errors.items[0].what);
    struct shard shard = step_inputs_shard(&run->inputs);
    struct shard_block feed_forward = shard_block(&shard, BLOCK_FEED_FORWARD, 0, arena);
    double kept = feed_forward.saved_bytes[CLASS_EXPERT];
    CHECK_NEAR(kept, 8192 * 2 * 28672.0, 1e-12);
    double wide = 2 * 32000 * 8192.0 + 161 * 8192.0, trained = 80.0 * (double)LAYER_PARAMETERS;
    CHECK_NEAR(memory_of(&run->inputs, arena).weights,
               68976648192.0 - wide + 2 * (wide + trained), 1e-12);
}
END_TEST

/* Without dropout no mask, and one input for all that read it: attention keeps its own output. */
START_TEST(without_dropout_an_adapter_reads_what_is_there)
{
    const struct run *run = run_with("plan.adapters.dropout_fraction=0", NULL);
    struct shard shard = step_inputs_shard(&run->inputs);
    struct shard_block attention = shard_block(&shard, BLOCK_ATTENTION, 0, arena);
    CHECK_NEAR(attention.saved_bytes[CLASS_ATTENTION_PROJECTION],
               8192 * (2 * 8192.0 + 2 * 2 * 16), 1e-12);
}
END_TEST

/* 68,976,648,192 weights of 2 bytes and the adapters' 44,564,480; of the latter alone a gradient of
 * 4 bytes and 12 of master weight and moments. */
START_TEST(memory_holds_frozen_weights_once_and_states_of_adapters)
{
    struct memory memory = memory_of(&run_with(NULL, NULL)->inputs, arena);
    double trained = 80.0 * (double)LAYER_PARAMETERS;
    CHECK_NEAR(memory.weights, 2 * (68976648192.0 + trained), 1e-12);
    CHECK_NEAR(memory.gradients, 4 * trained, 1e-12);
    CHECK_NEAR(memory.optimizer, 12 * trained, 1e-12);
}
END_TEST

/* A rank's eighth of everything and two layers whole: gate, up and down 3 h f, queries and the
 * output 2 h h, keys and values 2 h 1024, two norms; of the adapters as much. */
START_TEST(sharded_frozen_weights_are_gathered_a_layer_at_a_time)
{
    struct memory memory = memory_of(
        &run_with("plan.zero_stage=3", "plan.overlaps_parameter_gather=true")->inputs, arena);
    double layer = 3 * 8192.0 * 28672 + 2 * 8192.0 * 8192 + 2 * 8192.0 * 1024 + 2 * 8192;
    double trained = (double)LAYER_PARAMETERS;
    CHECK_NEAR(memory.weights,
               2 * (68976648192.0 / 8 + 2 * layer + 80 * trained / 8 + 2 * trained), 1e-12);
    CHECK_NEAR(memory.gradients, 4 * (80 * trained / 8 + trained), 1e-12);
}
END_TEST

/* Bytes of all collectives of a kind that a step's program has. */
static double
collective_bytes(const struct run *run, enum collective_kind kind)
{
    const struct program *program = program_of(&run->inputs, RANKS_ALL, arena, &errors);
    ck_assert_msg(program != NULL, "%s", errors.items[0].what);
    const struct rank_program *rank = &program->kinds[0];
    double bytes = 0;
    for (int64_t i = 0; i < rank->count; i++) {
        const struct step_work *work = rank->items[i].work;
        if (work && work->collective && work->collective->kind == kind)
            bytes += work->collective->bytes;
    }
    return bytes;
}

/* ZeRO-0: gradients of the adapters in fp32, and nothing else. ZeRO-3: weights of every unit once
 * forward, and backward but for the head, which is there still. */
START_TEST(only_adapters_are_reduced_and_all_weights_gathered)
{
    double trained = 80.0 * (double)LAYER_PARAMETERS, head = 8192.0 * 32000 + 8192;
    const struct run *whole = run_with("plan.clips_gradients=false", NULL);
    CHECK_NEAR(collective_bytes(whole, COLLECTIVE_ALL_REDUCE), 4 * trained, 1e-12);
    ck_assert_double_eq(collective_bytes(whole, COLLECTIVE_ALL_GATHER), 0);
    const struct run *sharded = run_with("plan.zero_stage=3", "plan.clips_gradients=false");
    CHECK_NEAR(collective_bytes(sharded, COLLECTIVE_REDUCE_SCATTER), 4 * trained, 1e-12);
    CHECK_NEAR(collective_bytes(sharded, COLLECTIVE_ALL_GATHER),
               2 * (2 * (68976648192.0 + trained) - head), 1e-12);
}
END_TEST

/* A token of 8,192: products of 68,713,185,280 weights (norms and embedding have none) twice,
 * attention's core 80 x 4 x 8192 x 8192 / 2 three times, and 44,564,480 weights three times. */
START_TEST(a_token_is_counted_as_often_as_its_products_run)
{
    const struct run *run = run_with(NULL, NULL);
    const struct step *step = step_simulate(run, RANKS_FOLDED, arena, &errors);
    ck_assert_msg(step != NULL, "%s", errors.items[0].what);
    double products = 68713185280.0, core = 80 * 4 * 8192.0 * 8192 / 2;
    double trained = 80.0 * (double)LAYER_PARAMETERS;
    ck_assert_int_eq(step->adapter_parameters, 80 * LAYER_PARAMETERS);
    CHECK_NEAR(step->flop.train, 2 * 2 * products + 3 * core + 3 * 2 * trained, 1e-9);
}
END_TEST

START_TEST(the_bound_stays_below_a_step_with_adapters)
{
    const char *const settings[] = {NULL, "plan.zero_stage=1", "plan.zero_stage=3",
                                    "plan.overlaps_gradient_reduction=true"};
    for (size_t row = 0; row < sizeof settings / sizeof *settings; row++) {
        const struct run *run = run_with(settings[row], NULL);
        const struct step *step = step_simulate(run, RANKS_FOLDED, arena, &errors);
        double bound_s = 0;
        ck_assert(bound_step_s(bound_prices_new(arena), &run->inputs, &bound_s, &errors));
        ck_assert_double_le(bound_s, step->step_s);
        ck_assert_double_gt(bound_s, 0.88 * step->step_s);
    }
}
END_TEST

START_TEST(adapters_that_cannot_be_are_refused)
{
    expect("{\"rank\": 0, \"alpha\": 32, \"modules\": [\"down\"]}", "is 0, wanted 1 to 65536");
    expect("{\"rank\": 16, \"alpha\": 32, \"modules\": []}",
           "wanted a list of modules, such as [\"query_key_value\", \"attention_output\"]");
    expect("{\"rank\": 16, \"alpha\": 32, \"modules\": [\"qkv\"]}",
           "wanted query_key_value, attention_output, gate_up or down");
    expect("{\"rank\": 9000, \"alpha\": 32, \"modules\": [\"down\"]}",
           "9000 is more than the 8192 channels of llama-2-70b");
    const char *settings[] = {
        "plan.adapters={\"rank\": 16, \"alpha\": 32, \"modules\": [\"down\"]}"};
    struct run_request request = {.file = "configs/runs/qwen3-30b-a3b-ep8.json",
                                  .settings = settings,
                                  .setting_count = 1};
    memset(&errors, 0, sizeof errors);
    ck_assert_ptr_null(run_read(&request, arena, &errors));
    ck_assert_str_eq(errors.items[0].what,
                     "qwen3-30b-a3b has routed experts in every layer, whose adapters are not "
                     "modelled, wanted query_key_value or attention_output");
}
END_TEST

Suite *
adapters_suite(void)
{
    Suite *suite = suite_create("adapters");
    TCase *tests = tcase_create("llama-2-70b");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, adapters_have_the_weights_that_a_published_log_counts);
    tcase_add_test(tests, products_of_their_own_have_adapters_of_their_own);
    tcase_add_test(tests, tensor_ranks_split_the_side_that_their_product_splits);
    tcase_add_test(tests, stages_hold_the_adapters_of_their_layers);
    tcase_add_test(tests, frozen_weights_have_no_gradient_and_thin_ones_do);
    tcase_add_test(tests, inputs_of_frozen_products_are_not_kept);
    tcase_add_test(tests, in_fp8_gates_and_frozen_weights_are_a_byte);
    tcase_add_test(tests, without_dropout_an_adapter_reads_what_is_there);
    tcase_add_test(tests, memory_holds_frozen_weights_once_and_states_of_adapters);
    tcase_add_test(tests, sharded_frozen_weights_are_gathered_a_layer_at_a_time);
    tcase_add_test(tests, only_adapters_are_reduced_and_all_weights_gathered);
    tcase_add_test(tests, a_token_is_counted_as_often_as_its_products_run);
    tcase_add_test(tests, the_bound_stays_below_a_step_with_adapters);
    tcase_add_test(tests, adapters_that_cannot_be_are_refused);
    suite_add_tcase(suite, tests);
    return suite;
}
