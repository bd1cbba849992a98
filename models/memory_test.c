/* Does memory add up, and is each class what its formula says? */
#include "models/memory.h"

#include <check.h>

#include "models/run.h"
#include "sim/base/check_arena.h"
#include "sim/base/check_near.h"

Suite *memory_suite(void);

static struct memory
memory_with(const char *setting, struct arena *arena)
{
    struct error_list errors = {0};
    struct run_request request = {.file = "configs/runs/zaya1-base-4k-1024.json",
                                  .settings = &setting,
                                  .setting_count = setting ? 1 : 0};
    const struct run *run = run_read(&request, arena, &errors);
    ck_assert_msg(run != NULL, "%s: %s", errors.items[0].where, errors.items[0].what);
    return memory_of(&run->inputs, arena);
}

/* 8.840e9 parameters: 2 bytes of weight, 4 of gradient; a share of 8.633e6 has 8 or 12 bytes a
 * parameter, and the ranks with the embedding have 12: 103.6 MB. */
START_TEST(zaya1_keeps_weights_gradients_and_one_share_of_state)
{
    struct arena *arena = check_arena_new();
    struct memory memory = memory_with(NULL, arena);
    CHECK_NEAR(memory.weights, 17.68e9, 0.001);
    CHECK_NEAR(memory.gradients, 35.36e9, 0.001);
    CHECK_NEAR(memory.optimizer, 12 * 8.633e6, 0.001);
    ck_assert_double_eq(memory.capacity, 192e9);
    arena_free(arena);
}
END_TEST

START_TEST(classes_add_up_to_the_peak)
{
    struct arena *arena = check_arena_new();
    struct memory memory = memory_with(NULL, arena);
    struct memory_class classes[MEMORY_CLASS_COUNT];
    memory_classes(&memory, classes);
    double sum = 0;
    for (int i = 0; i < MEMORY_CLASS_COUNT; i++)
        sum += classes[i].bytes;
    CHECK_NEAR(sum, memory.peak, 1e-12);
    arena_free(arena);
}
END_TEST

/* Kept activations are proportional to the microbatch. */
START_TEST(half_the_microbatch_keeps_half_the_activations)
{
    struct arena *arena = check_arena_new();
    double two = memory_with(NULL, arena).activations;
    double one = memory_with("plan.microbatch_sequences=1", arena).activations;
    CHECK_NEAR(two, 2 * one, 1e-9);
    arena_free(arena);
}
END_TEST

/* The largest matrix is fc1, 4096 x 2048: X and B X, A and A A of 2048 x 2048, 2 bytes each. */
START_TEST(newton_schulz_needs_two_of_its_matrix_and_two_squares)
{
    struct arena *arena = check_arena_new();
    struct memory memory = memory_with(NULL, arena);
    CHECK_NEAR(memory.workspace, 2 * 2 * (4096.0 * 2048 + 2048.0 * 2048), 1e-12);
    arena_free(arena);
}
END_TEST

/* Full recomputation keeps two block inputs a layer: 40 x 2 x 8192 tokens x 2048 x 2 bytes, and
 * the head, whose logits are 8192 x 262272 x 2 bytes. */
START_TEST(recomputation_keeps_block_inputs_and_one_block)
{
    struct arena *arena = check_arena_new();
    double plain = memory_with(NULL, arena).activations;
    double repeated = memory_with("plan.recompute=full", arena).activations;
    double inputs = 40.0 * 2 * 8192 * 2048 * 2, logits = 8192.0 * 262272 * 2;
    ck_assert_double_gt(repeated, inputs + logits);
    ck_assert_double_lt(repeated, plain);
    /* the final norm's input and update, the logits' input; of the one block run again what a
     * feed-forward keeps a token (operators_test.c) with its router's tail unfused */
    double head = 8192.0 * (3 * 4096), feed_forward = 8192.0 * 36424;
    CHECK_NEAR(repeated, inputs + logits + head + feed_forward, 1e-6);
    arena_free(arena);
}
END_TEST

static const struct run *
llama_with(const char *const *settings, size_t count, struct arena *arena)
{
    struct error_list errors = {0};
    const char *all[8] = {"plan.global_batch_sequences=64", "cluster.nodes=2",
                          "plan.microbatch_sequences=1", "plan.optimizer=adamw"};
    for (size_t i = 0; i < count; i++)
        all[i + 4] = settings[i];
    struct run_request request = {.file = "configs/runs/zaya1-base-4k-1024.json",
                                  .model = "configs/models/llama-3.1-8b.json",
                                  .software = "configs/software/megatron-fused.json",
                                  .settings = all,
                                  .setting_count = count + 4};
    const struct run *run = run_read(&request, arena, &errors);
    ck_assert_msg(run != NULL, "%s: %s", errors.items[0].where, errors.items[0].what);
    return run;
}

/* Kept of a token and layer, without dropout and scores (arXiv 2205.05198 equation 2 for SwiGLU,
 * grouped queries and a fused attention, in bytes of bf16): inputs and outputs of two norms 8 h,
 * queries and the output 4 a d, keys and values 4 g d, gate, up and product 6 f, statistics 4 a. */
static double
layer_bytes(void)
{
    double h = 4096, f = 14336, a = 32, g = 8, d = 128;
    return 8 * h + 4 * a * d + 4 * g * d + 6 * f + 4 * a;
}

START_TEST(a_layer_keeps_what_theory_says)
{
    struct arena *arena = check_arena_new();
    const struct run *run = llama_with(NULL, 0, arena);
    const struct run *split = llama_with((const char *[]){"plan.tensor=8"}, 1, arena);
    double whole = 0, part = 0;
    for (int i = 0; i <= CLASS_EXPERT; i++) {
        whole += memory_saved_of(&run->inputs, 0, 0, arena).bytes[i];
        part += memory_saved_of(&split->inputs, 0, 0, arena).bytes[i];
    }
    CHECK_NEAR(whole, 32 * 4096 * layer_bytes(), 0.03);
    CHECK_NEAR(8 * part, whole, 0.03); /* sequence parallelism divides all of it */
    arena_free(arena);
}
END_TEST

/* Weights, fp32 gradients, and of a share of D ranks master weights and two moments: 6 + 12 / D
 * bytes a parameter (Megatron-LM, docs, distributed optimizer). */
START_TEST(parameters_take_6_and_12_over_d_bytes)
{
    struct arena *arena = check_arena_new();
    const struct run *run = llama_with((const char *[]){"plan.tensor=2"}, 1, arena);
    struct memory memory = memory_of(&run->inputs, arena);
    double parameters = memory.weights / 2;
    CHECK_NEAR(memory.weights + memory.gradients + memory.optimizer,
               (6 + 12.0 / 8) * parameters, 1e-3);
    CHECK_NEAR(2 * parameters, 8.03e9, 0.001);
    arena_free(arena);
}
END_TEST

/* Stage s of 1F1B keeps p - s microbatches (arXiv 2104.04473); of equal layers, so many times what
 * one keeps. */
START_TEST(stages_keep_as_many_microbatches_as_are_under_way)
{
    struct arena *arena = check_arena_new();
    const struct run *run = llama_with((const char *[]){"plan.pipeline=4"}, 1, arena);
    const struct memory *stages = memory_of_stages(&run->inputs, arena);
    for (int64_t stage = 0; stage < 4; stage++) {
        double one = memory_saved_of(&run->inputs, stage, 0, arena).sum;
        ck_assert_int_eq(stages[stage].kept_passes, 4 - stage);
        CHECK_NEAR(stages[stage].activations, (double)(4 - stage) * one, 1e-9);
    }
    arena_free(arena);
}
END_TEST

/* Of the feed-forward only its input is kept, 2 h a token, in place of 2 h + 6 f. */
START_TEST(chosen_operators_keep_their_inputs)
{
    struct arena *arena = check_arena_new();
    const struct run *run = llama_with(NULL, 0, arena);
    const struct run *repeated =
        llama_with((const char *[]){"plan.recompute_operators=[\"feed_forward\"]"}, 1, arena);
    double saved = memory_saved_of(&run->inputs, 0, 0, arena).bytes[CLASS_EXPERT];
    double kept = memory_saved_of(&repeated->inputs, 0, 0, arena).bytes[CLASS_EXPERT];
    CHECK_NEAR(saved, 32.0 * 4096 * (2 * 4096 + 6 * 14336), 1e-6);
    CHECK_NEAR(kept, 32.0 * 4096 * 2 * 4096, 1e-6);
    arena_free(arena);
}
END_TEST

/* Megatron-LM's theoretical_memory_usage.py, for experts apart: of N dense parameters over t tensor
 * ranks and D data ranks, and M of experts over ep ranks and D_e = ranks / ep: N / t (6 + 12 / D) +
 * M / ep (6 + 12 / D_e). Qwen3-30B-A3B: 48 layers of 128 experts of 3 x 2048 x 768. What is not
 * split (norms, router: 48 x 128 x 2048) is counted whole. */
START_TEST(experts_take_6_and_12_over_their_own_ranks)
{
    struct arena *arena = check_arena_new();
    struct error_list errors = {0};
    const char *settings[] = {"plan.tensor=2", "plan.expert_tensor=1"};
    struct run_request request = {.file = "configs/runs/qwen3-30b-a3b-ep8.json",
                                  .settings = settings,
                                  .setting_count = 2};
    const struct run *run = run_read(&request, arena, &errors);
    ck_assert_msg(run != NULL, "%s: %s", errors.items[0].where, errors.items[0].what);
    struct memory memory = memory_of(&run->inputs, arena);
    double experts = 48.0 * 128 * 3 * 2048 * 768, router = 48.0 * 128 * 2048;
    double dense = (double)tensors_count_of(run->inputs.workload.arch).every - experts - router;
    double wanted = (dense / 2 + router) * (6 + 12.0 / 64) + experts / 8 * (6 + 12.0 / 16);
    CHECK_NEAR(memory.weights + memory.gradients + memory.optimizer, wanted, 0.001);
    arena_free(arena);
}
END_TEST

Suite *
memory_suite(void)
{
    Suite *suite = suite_create("memory");
    TCase *tests = tcase_create("zaya1");
    tcase_add_test(tests, zaya1_keeps_weights_gradients_and_one_share_of_state);
    tcase_add_test(tests, classes_add_up_to_the_peak);
    tcase_add_test(tests, half_the_microbatch_keeps_half_the_activations);
    tcase_add_test(tests, newton_schulz_needs_two_of_its_matrix_and_two_squares);
    tcase_add_test(tests, recomputation_keeps_block_inputs_and_one_block);
    tcase_add_test(tests, a_layer_keeps_what_theory_says);
    tcase_add_test(tests, parameters_take_6_and_12_over_d_bytes);
    tcase_add_test(tests, stages_keep_as_many_microbatches_as_are_under_way);
    tcase_add_test(tests, chosen_operators_keep_their_inputs);
    tcase_add_test(tests, experts_take_6_and_12_over_their_own_ranks);
    suite_add_tcase(suite, tests);
    return suite;
}
