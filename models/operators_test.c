/* Do the kernels of a block add up to the model's FLOP, and keep what backward needs? */
#include "models/operators.h"

#include <string.h>

#include <check.h>

#include "models/arch_flop.h"
#include "sim/base/check_arena.h"
#include "sim/base/check_near.h"

Suite *operators_suite(void);

/* ZAYA1-base's widths, two layers, 64 tokens. */
static const struct arch ARCH = {.name = "zaya-two-layers",
                                 .layers = 2,
                                 .hidden = 2048,
                                 .vocab = 262272,
                                 .is_embedding_tied = true,
                                 .attention = ATTENTION_CCA,
                                 .query_heads = 8,
                                 .kv_heads = 2,
                                 .head_dim = 128,
                                 .rotary_fraction = 0.5,
                                 .sequence_taps = 2,
                                 .channel_taps = 2,
                                 .experts = 16,
                                 .experts_per_token = 1,
                                 .expert_ffn = 2048,
                                 .router = ROUTER_MLP,
                                 .router_hidden = 256,
                                 .has_router_average = true,
                                 .has_skip_route = true,
                                 .has_residual_scaling = true};
static const struct plan PLAN = {.sequence_tokens = 64,
                                 .microbatch_sequences = 1,
                                 .compute_dtype = DTYPE_BF16,
                                 .gradient_dtype = DTYPE_FP32};
static const struct software FUSED = {.fuses_residual_norm = true,
                                      .fuses_swiglu = true,
                                      .fuses_attention_mixing = true,
                                      .fuses_rope = true,
                                      .fuses_router_tail = true,
                                      .fuses_permutation = true,
                                      .fuses_gradient_joins = true,
                                      .fuses_cross_entropy = true,
                                      .fuses_gradient_accumulation = true};
static const struct software EAGER = {.host_launch_s = 0};

static bool
is_product(const struct kernel *kernel)
{
    return kernel->kind == KERNEL_GEMM || kernel->kind == KERNEL_GROUPED_GEMM ||
           kernel->kind == KERNEL_CONVOLUTION || kernel->kind == KERNEL_ATTENTION;
}

static double
forward_flop(const struct workload *workload, enum block block, struct arena *arena)
{
    struct operator_list list = operators_of(workload, block, arena);
    double flop = 0;
    for (int64_t i = 0; i < list.count; i++)
        for (int j = 0; j < list.items[i].forward_count; j++)
            if (is_product(&list.items[i].forward[j].kernel))
                flop += kernel_flop(&list.items[i].forward[j].kernel);
    return flop;
}

static const char *const MODELS[] = {
    "zaya1-base",       "zaya1-8b",        "llama-3.1-8b", "llama-3.1-405b",  "mixtral-8x7b",
    "mixtral-8x22b",    "qwen3-30b-a3b",   "olmoe-1b-7b",  "gpt-oss-20b",     "gpt-oss-120b",
    "deepseek-v2-lite", "qwen3-235b-a22b", "deepseek-v3",  "kimi-k2-instruct"};

static const struct arch *
read_model(const char *name, struct arena *arena)
{
    struct error_list errors = {0};
    const char *path = arena_format(arena, "configs/models/%s.json", name);
    const struct arch *arch = arch_read(json_read_file(arena, path, &errors), arena, &errors);
    ck_assert_msg(arch != NULL, "%s: %s", errors.items[0].where, errors.items[0].what);
    return arch;
}

/* The oracle is models/arch_flop, which counts from the architecture alone; eager code moves more
 * bytes but forms no other products. */
START_TEST(forward_products_add_up_to_the_models_flop)
{
    struct arena *arena = check_arena_new();
    struct plan plan = PLAN;
    plan.sequence_tokens = 2048;
    const struct arch *arch = read_model(MODELS[_i], arena);
    const struct workload workloads[] = {{arch, &plan, &FUSED}, {arch, &plan, &EAGER}};
    for (int i = 0; i < 2; i++) {
        double of_block[BLOCK_COUNT];
        for (int block = 0; block < BLOCK_COUNT; block++)
            of_block[block] = forward_flop(&workloads[i], (enum block)block, arena);
        double whole = of_block[BLOCK_HEAD];
        for (int64_t layer = 0; layer < arch->layers; layer++)
            whole += of_block[operators_attention_block(arch, layer)] +
                     of_block[operators_feed_forward_block(arch, layer)];
        CHECK_NEAR(whole, 2048 * arch_flop(arch, 2048).forward, 0.0005);
    }
    arena_free(arena);
}
END_TEST

/* Its first kernel forward; NULL where it has none. */
static const struct kernel *
first_kernel(const struct model_operator *item)
{
    return item->forward_count > 0 ? &item->forward[0].kernel : NULL;
}

/* Data and weight gradient each cost what the product did. */
START_TEST(backward_of_a_product_is_two_products)
{
    struct arena *arena = check_arena_new();
    struct workload workload = {&ARCH, &PLAN, &FUSED};
    struct operator_list list = operators_of(&workload, BLOCK_FEED_FORWARD, arena);
    int seen = 0;
    for (int64_t i = 0; i < list.count; i++) {
        const struct model_operator *item = &list.items[i];
        const struct kernel *first = first_kernel(item);
        if (!first || (first->kind != KERNEL_GEMM && first->kind != KERNEL_GROUPED_GEMM))
            continue;
        CHECK_NEAR(kernel_flop(&item->backward[0].kernel), kernel_flop(first), 1e-12);
        CHECK_NEAR(kernel_flop(&item->backward[1].kernel), kernel_flop(first), 1e-12);
        seen++;
    }
    ck_assert_int_eq(seen, 6); /* four of the router, gate_up, down */
    arena_free(arena);
}
END_TEST

static double
moved_bytes(const struct workload *workload, enum block block, struct arena *arena)
{
    struct operator_list list = operators_of(workload, block, arena);
    double bytes = 0;
    for (int64_t i = 0; i < list.count; i++)
        for (int j = 0; j < list.items[i].forward_count; j++) {
            const struct kernel *kernel = &list.items[i].forward[j].kernel;
            if (kernel->kind == KERNEL_ELEMENTWISE)
                bytes += kernel->elementwise.read_bytes + kernel->elementwise.write_bytes;
        }
    return bytes;
}

START_TEST(fusion_moves_fewer_bytes)
{
    struct arena *arena = check_arena_new();
    struct workload fused = {&ARCH, &PLAN, &FUSED}, eager = {&ARCH, &PLAN, &EAGER};
    const enum block blocks[] = {BLOCK_ATTENTION, BLOCK_FEED_FORWARD, BLOCK_HEAD};
    for (int i = 0; i < 3; i++)
        ck_assert_double_lt(moved_bytes(&fused, blocks[i], arena),
                            moved_bytes(&eager, blocks[i], arena));
    arena_free(arena);
}
END_TEST

/* Fused, a token's gate reads 2 x 2048 and writes 2048 elements of 2 bytes: 12,288 bytes; 64. */
START_TEST(swiglu_reads_gate_and_up_and_writes_their_product)
{
    struct arena *arena = check_arena_new();
    struct workload workload = {&ARCH, &PLAN, &FUSED};
    struct operator_list list = operators_of(&workload, BLOCK_FEED_FORWARD, arena);
    const struct kernel *swiglu = NULL;
    for (int64_t i = 0; i < list.count; i++)
        if (list.items[i].forward_count > 0 &&
            strcmp(list.items[i].forward[0].name, "swiglu") == 0)
            swiglu = &list.items[i].forward[0].kernel;
    ck_assert_ptr_nonnull(swiglu);
    ck_assert_double_eq(swiglu->elementwise.read_bytes, 64 * 8192.0);
    ck_assert_double_eq(swiglu->elementwise.write_bytes, 64 * 4096.0);
    arena_free(arena);
}
END_TEST

/* In place: per parameter 4 bytes read, and 4 written instead of the 2 that the product wrote. */
START_TEST(accumulation_in_place_moves_six_bytes_a_parameter)
{
    struct arena *arena = check_arena_new();
    struct workload workload = {&ARCH, &PLAN, &FUSED};
    struct operator_list list = operators_of(&workload, BLOCK_HEAD, arena);
    const struct model_operator *logits = &list.items[1];
    const struct kernel *accumulate = &logits->backward[2].kernel;
    ck_assert_str_eq(logits->backward[2].name, "logits.accumulate");
    double parameters = 262272.0 * 2048;
    ck_assert_double_eq(accumulate->elementwise.read_bytes, 4 * parameters);
    ck_assert_double_eq(accumulate->elementwise.write_bytes, 2 * parameters);
    arena_free(arena);
}
END_TEST

static double
saved_bytes(const struct workload *workload, enum block block, struct arena *arena)
{
    struct operator_list list = operators_of(workload, block, arena);
    double bytes = 0;
    for (int64_t i = 0; i < list.count; i++)
        bytes += list.items[i].saved_bytes;
    return bytes;
}

/* Bytes a token, bf16. Attention: residual and update 2 x 4096, the projections' input once 4096,
 * both convolutions' and the mixing's input 3 x 2560, q, k, v and o 5120, row statistics 32.
 * Feed-forward: residual and update 8192, router's input 4096, seven arrays of its width 3584,
 * scores 17 x 4, positions 4, permuted 4096, gate and up 8192, their product 4096, outputs 4096. */
START_TEST(what_a_layer_keeps_for_backward_is_counted_once)
{
    struct arena *arena = check_arena_new();
    struct workload workload = {&ARCH, &PLAN, &FUSED};
    CHECK_NEAR(saved_bytes(&workload, BLOCK_ATTENTION, arena),
               64 * (8192 + 4096 + 3 * 2560 + 5120 + 32), 1e-12);
    CHECK_NEAR(saved_bytes(&workload, BLOCK_FEED_FORWARD, arena),
               64 * (8192 + 4096 + 3584 + 68 + 4 + 4096 + 8192 + 4096 + 4096), 1e-12);
    arena_free(arena);
}
END_TEST

/* Top-1: permute reads and writes 4096 bytes a token each way; combine's backward also reads the
 * rows for the weights' gradients. */
START_TEST(dispatch_moves_each_row_once)
{
    struct arena *arena = check_arena_new();
    struct workload workload = {&ARCH, &PLAN, &FUSED};
    struct operator_list list = operators_of(&workload, BLOCK_FEED_FORWARD, arena);
    const struct model_operator *combine = &list.items[list.count - 1];
    ck_assert_str_eq(combine->forward[0].name, "combine");
    const struct elementwise *forward = &combine->forward[0].kernel.elementwise;
    const struct elementwise *backward = &combine->backward[0].kernel.elementwise;
    ck_assert_double_eq(forward->read_bytes + forward->write_bytes, 64 * 2 * 4096.0);
    ck_assert_double_eq(backward->read_bytes, 64 * 2 * 4096.0);
    ck_assert_double_eq(backward->write_bytes, 64 * 4096.0);
    arena_free(arena);
}
END_TEST

START_TEST(tokens_reach_experts_as_evenly_as_whole_tokens_allow)
{
    struct arena *arena = check_arena_new();
    struct plan plan = PLAN;
    plan.sequence_tokens = 50; /* 16 experts: two get 4 tokens, the others 3 */
    struct workload workload = {&ARCH, &plan, &FUSED};
    struct operator_list list = operators_of(&workload, BLOCK_FEED_FORWARD, arena);
    int seen = 0;
    for (int64_t i = 0; i < list.count; i++) {
        const struct kernel *kernel = first_kernel(&list.items[i]);
        if (!kernel || kernel->kind != KERNEL_GROUPED_GEMM)
            continue;
        for (int64_t expert = 0; expert < 16; expert++)
            ck_assert_int_eq(kernel->grouped_gemm.rows[expert], expert < 2 ? 4 : 3);
        seen++;
    }
    ck_assert_int_eq(seen, 2);
    arena_free(arena);
}
END_TEST

Suite *
operators_suite(void)
{
    Suite *suite = suite_create("operators");
    TCase *tests = tcase_create("blocks");
    tcase_add_loop_test(tests, forward_products_add_up_to_the_models_flop, 0,
                        sizeof MODELS / sizeof *MODELS);
    tcase_add_test(tests, backward_of_a_product_is_two_products);
    tcase_add_test(tests, fusion_moves_fewer_bytes);
    tcase_add_test(tests, swiglu_reads_gate_and_up_and_writes_their_product);
    tcase_add_test(tests, accumulation_in_place_moves_six_bytes_a_parameter);
    tcase_add_test(tests, what_a_layer_keeps_for_backward_is_counted_once);
    tcase_add_test(tests, dispatch_moves_each_row_once);
    tcase_add_test(tests, tokens_reach_experts_as_evenly_as_whole_tokens_allow);
    suite_add_tcase(suite, tests);
    return suite;
}
