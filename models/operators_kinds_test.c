/* Are the kernels right of what only some models have: latent attention, windows, shared experts,
 * dense first layers, multi-token prediction, biases; and of unequal loads? */
#include <string.h>

#include <check.h>

#include "models/operators.h"
#include "sim/base/check_arena.h"
#include "sim/base/check_near.h"

Suite *operators_kinds_suite(void);

static struct arena *arena;

static const struct plan PLAN = {.sequence_tokens = 4096,
                                 .microbatch_sequences = 1,
                                 .compute_dtype = DTYPE_BF16,
                                 .gradient_dtype = DTYPE_FP32};

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

static const struct arch *
read_model(const char *name)
{
    struct error_list errors = {0};
    const char *path = arena_format(arena, "configs/models/%s.json", name);
    const struct arch *arch = arch_read(json_read_file(arena, path, &errors), arena, &errors);
    ck_assert_msg(arch != NULL, "%s: %s", errors.items[0].where, errors.items[0].what);
    return arch;
}

static const struct software *
read_stack(const char *name)
{
    struct error_list errors = {0};
    const char *path = arena_format(arena, "configs/software/%s.json", name);
    const struct software *software =
        software_read(json_read_file(arena, path, &errors), arena, &errors);
    ck_assert_msg(software != NULL, "%s: %s", errors.items[0].where, errors.items[0].what);
    return software;
}

static struct workload
workload_of(const char *model, const char *stack)
{
    return (struct workload){read_model(model), &PLAN, read_stack(stack)};
}

/* The index-th operation of that name, forward or backward; NULL when there are fewer. */
static const struct operation *
find(const struct operator_list *list, const char *name, int index)
{
    for (int64_t i = 0; i < list->count; i++) {
        const struct model_operator *item = &list->items[i];
        for (int j = 0; j < item->forward_count; j++)
            if (strcmp(item->forward[j].name, name) == 0 && index-- == 0)
                return &item->forward[j];
        for (int j = 0; j < item->backward_count; j++)
            if (strcmp(item->backward[j].name, name) == 0 && index-- == 0)
                return &item->backward[j];
    }
    return NULL;
}

static struct operator_list
block_of(const struct workload *workload, enum block block)
{
    return operators_of(workload, block, arena);
}

static void
check_gemm(const struct operator_list *list, const char *name, int64_t n, int64_t k)
{
    const struct operation *found = find(list, name, 0);
    ck_assert_msg(found != NULL, "no %s", name);
    ck_assert_int_eq(found->kernel.gemm.m, 4096);
    ck_assert_int_eq(found->kernel.gemm.n, n);
    ck_assert_int_eq(found->kernel.gemm.k, k);
}

/* DeepSeek-V3: ranks 1536 and 512 + 64; 128 heads of 128 + 64 and values of 128. */
START_TEST(latent_attention_goes_down_and_up_again)
{
    struct workload workload = workload_of("deepseek-v3", "megatron-fused");
    struct operator_list list = block_of(&workload, BLOCK_ATTENTION);
    check_gemm(&list, "mla_query_down", 1536, 7168);
    check_gemm(&list, "mla_query_up", 128 * 192, 1536);
    check_gemm(&list, "mla_key_value_down", 512 + 64, 7168);
    check_gemm(&list, "mla_key_value_up", 128 * (128 + 128), 512);
    check_gemm(&list, "attention_output", 7168, 128 * 128);
    ck_assert_int_eq(find(&list, "mla_query_norm", 0)->kernel.rows_by_width.width, 1536);
    ck_assert_int_eq(find(&list, "mla_key_value_norm", 0)->kernel.rows_by_width.width, 512);
}
END_TEST

START_TEST(values_narrower_than_queries_are_padded_or_priced_at_the_mean)
{
    struct workload taking = workload_of("deepseek-v3", "megatron-fused");
    struct workload padding = workload_of("deepseek-v3", "pytorch-eager");
    struct operator_list mean = block_of(&taking, BLOCK_ATTENTION);
    struct operator_list padded = block_of(&padding, BLOCK_ATTENTION);
    ck_assert_int_eq(find(&mean, "attention", 0)->kernel.attention.head_dim, (192 + 128) / 2);
    ck_assert_int_eq(find(&padded, "attention", 0)->kernel.attention.head_dim, 192);
    const struct operation *pad = find(&padded, "pad_values", 0);
    ck_assert_double_eq(pad->kernel.elementwise.write_bytes, 2.0 * 4096 * 128 * 192);
    ck_assert_ptr_null(find(&mean, "pad_values", 0));
}
END_TEST

START_TEST(every_second_layer_of_gpt_oss_has_a_window)
{
    struct workload workload = workload_of("gpt-oss-20b", "megatron-fused");
    ck_assert_int_eq(operators_attention_block(workload.arch, 0), BLOCK_WINDOW_ATTENTION);
    ck_assert_int_eq(operators_attention_block(workload.arch, 1), BLOCK_ATTENTION);
    struct operator_list slides = block_of(&workload, BLOCK_WINDOW_ATTENTION);
    struct operator_list full = block_of(&workload, BLOCK_ATTENTION);
    ck_assert_int_eq(find(&slides, "attention", 0)->kernel.attention.window, 128);
    ck_assert_int_eq(find(&full, "attention", 0)->kernel.attention.window, 0);
    struct workload llama = workload_of("llama-3.1-8b", "megatron-fused");
    ck_assert_int_eq(block_of(&llama, BLOCK_WINDOW_ATTENTION).count, 0);
}
END_TEST

/* 64 query and 2 x 8 key-value heads of 64: 5120 wide; its bias is added by the product, and its
 * gradient reads 2 bytes of each of 4096 x 5120. */
START_TEST(the_gradient_of_a_bias_is_a_sum_over_the_tokens)
{
    struct workload workload = workload_of("gpt-oss-20b", "megatron-fused");
    struct operator_list list = block_of(&workload, BLOCK_ATTENTION);
    const struct operation *bias = find(&list, "query_key_value.bias_gradient", 0);
    ck_assert_double_eq(bias->kernel.elementwise.read_bytes, 2.0 * 4096 * 5120);
    ck_assert_double_eq(bias->kernel.elementwise.write_bytes, 2.0 * 5120);
    list = block_of(&workload, BLOCK_FEED_FORWARD);
    ck_assert_ptr_nonnull(find(&list, "router.bias_gradient", 0));
    bias = find(&list, "gate_up.bias_gradient", 0); /* 4 copies a token, a bias an expert */
    ck_assert_double_eq(bias->kernel.elementwise.read_bytes, 2.0 * 4 * 4096 * 5760);
    ck_assert_double_eq(bias->kernel.elementwise.write_bytes, 2.0 * 32 * 5760);
}
END_TEST

START_TEST(first_layers_of_deepseek_are_dense_the_others_share_an_expert)
{
    struct workload workload = workload_of("deepseek-v3", "megatron-fused");
    ck_assert_int_eq(operators_feed_forward_block(workload.arch, 2), BLOCK_DENSE_FEED_FORWARD);
    ck_assert_int_eq(operators_feed_forward_block(workload.arch, 3), BLOCK_FEED_FORWARD);
    struct operator_list dense = block_of(&workload, BLOCK_DENSE_FEED_FORWARD);
    check_gemm(&dense, "gate_up", 2 * 18432, 7168);
    ck_assert_ptr_null(find(&dense, "router", 0));
    struct operator_list mixture = block_of(&workload, BLOCK_FEED_FORWARD);
    check_gemm(&mixture, "shared_gate_up", 2 * 2048, 7168);
    check_gemm(&mixture, "shared_down", 7168, 2048);
    ck_assert_int_eq(find(&mixture, "gate_up", 0)->kernel.grouped_gemm.experts, 256);
    struct workload mixtral = workload_of("mixtral-8x7b", "megatron-fused");
    ck_assert_int_eq(block_of(&mixtral, BLOCK_DENSE_FEED_FORWARD).count, 0);
}
END_TEST

/* Another layer, a join of two widths, and the head again, in the head's block. */
START_TEST(prediction_runs_a_layer_and_the_head_again)
{
    struct workload workload = workload_of("deepseek-v3", "megatron-fused");
    struct operator_list list = block_of(&workload, BLOCK_HEAD);
    check_gemm(&list, "prediction_join", 7168, 2 * 7168);
    ck_assert_ptr_nonnull(find(&list, "mla_query_up", 0));
    ck_assert_ptr_nonnull(find(&list, "logits", 1));
    struct workload kimi = workload_of("kimi-k2-instruct", "megatron-fused");
    list = block_of(&kimi, BLOCK_HEAD);
    ck_assert_ptr_null(find(&list, "prediction_join", 0));
    ck_assert_ptr_null(find(&list, "logits", 1));
}
END_TEST

START_TEST(loads_reach_the_rows_of_the_experts)
{
    struct plan plan = PLAN;
    struct routing routing = {.kind = ROUTING_POWER_LAW, .exponent = 1, .capacity_factor = 1};
    struct workload workload = workload_of("mixtral-8x7b", "megatron-fused");
    struct routed_tokens routed = {4096, 2, 8};
    struct expert_loads loads = routing_loads(&routing, &routed, arena);
    plan.routing = &routing;
    workload.plan = &plan;
    struct operator_list list = block_of(&workload, BLOCK_FEED_FORWARD);
    const struct kernel *up = &find(&list, "gate_up", 0)->kernel;
    for (int i = 0; i < 8; i++)
        ck_assert_int_eq(up->grouped_gemm.rows[i], loads.rows[i]);
    ck_assert_int_eq(up->grouped_gemm.rows[0], 1024); /* all that it has room for */
    const struct kernel *permute = &find(&list, "permute", 0)->kernel;
    ck_assert_int_lt(loads.copies, 2 * 4096);
    CHECK_NEAR(permute->elementwise.write_bytes, 2.0 * 4096 * (double)loads.copies, 1e-12);
}
END_TEST

static double
saved_per_token(const struct workload *workload, enum block block)
{
    struct operator_list list = block_of(workload, block);
    double bytes = 0;
    for (int64_t i = 0; i < list.count; i++)
        bytes += list.items[i].saved_bytes;
    return bytes / 4096;
}

/* Bytes a token and layer in bf16 with flash attention, without dropout: 8 h + 4 a d + 4 g d +
 * 6 f + 4 a for the row sums (arXiv 2205.05198 without what flash attention and SwiGLU change). */
START_TEST(a_dense_layer_keeps_what_theory_says)
{
    struct workload workload = workload_of("llama-3.1-70b", "megatron-fused");
    double kept = saved_per_token(&workload, BLOCK_ATTENTION) +
                  saved_per_token(&workload, BLOCK_FEED_FORWARD);
    double h = 8192, f = 28672, a = 64, g = 8, d = 128;
    CHECK_NEAR(kept, 8 * h + 4 * a * d + 4 * g * d + 6 * f + 4 * a, 1e-12);
}
END_TEST

/* Norm and router each 2 h, the scores in fp32, a 4-byte place a copy; of each of the k copies the
 * permuted input 2 h, gate and up 4 f, their product 2 f. */
START_TEST(a_mixture_keeps_what_theory_says)
{
    struct workload workload = workload_of("mixtral-8x7b", "megatron-fused");
    double h = 4096, f = 14336, k = 2, e = 8;
    CHECK_NEAR(saved_per_token(&workload, BLOCK_FEED_FORWARD),
               4 * h + 4 * e + 4 * k + k * (2 * h + 6 * f), 1e-12);
}
END_TEST

/* Eager, of queries and of keys each: negate, swap, two products, a sum; as many backward. */
START_TEST(rope_apart_is_five_kernels_each_way)
{
    struct workload eager = workload_of("llama-3.1-8b", "pytorch-eager");
    struct workload fused = workload_of("llama-3.1-8b", "megatron-fused");
    struct operator_list list = block_of(&eager, BLOCK_ATTENTION);
    const char *const names[] = {"rope.negate", "rope.swap", "rope.cosine", "rope.sine",
                                 "rope.add"};
    for (int i = 0; i < 5; i++) {
        ck_assert_ptr_nonnull(find(&list, names[i], 3));
        ck_assert_ptr_null(find(&list, names[i], 4));
    }
    list = block_of(&fused, BLOCK_ATTENTION);
    const struct elementwise *rope = &find(&list, "rope", 0)->kernel.elementwise;
    ck_assert_double_eq(rope->read_bytes, 2.0 * 4096 * (32 + 8) * 128);
    ck_assert_ptr_null(find(&list, "rope.add", 0));
}
END_TEST

/* Of 40 heads of 128 a token: 2 bytes to 4, 4 to 4, 4 to 2, and back again. */
START_TEST(rope_of_complex_numbers_is_three_passes)
{
    struct workload compiled = workload_of("llama-3.1-8b", "torch-compile");
    struct operator_list list = block_of(&compiled, BLOCK_ATTENTION);
    const double elements = 4096.0 * (32 + 8) * 128;
    const struct elementwise *widen = &find(&list, "rope_widen", 0)->kernel.elementwise;
    const struct elementwise *rope = &find(&list, "rope", 0)->kernel.elementwise;
    const struct elementwise *narrow = &find(&list, "rope_narrow", 0)->kernel.elementwise;
    ck_assert_double_eq(widen->read_bytes, 2 * elements);
    ck_assert_double_eq(widen->write_bytes, 4 * elements);
    ck_assert_double_eq(rope->read_bytes + rope->write_bytes, 8 * elements);
    ck_assert_double_eq(narrow->read_bytes, 4 * elements);
    ck_assert_double_eq(narrow->write_bytes, 2 * elements);
    const struct elementwise *back =
        &find(&list, "rope_narrow.backward", 0)->kernel.elementwise;
    ck_assert_double_eq(back->write_bytes, 4 * elements);
}
END_TEST

/* However sizes are split, the operators stay in their places. */
START_TEST(the_shape_of_a_block_does_not_depend_on_sizes)
{
    struct workload whole = workload_of("qwen3-30b-a3b", "pytorch-eager"), part = whole;
    struct routing given = {.kind = ROUTING_UNIFORM, .is_given = true};
    struct plan plan = PLAN;
    struct arch arch = *whole.arch;
    arch.experts = 2;
    arch.kv_heads = arch.query_heads = 1;
    arch.vocab = 100;
    plan.sequence_tokens = 16;
    plan.routing = &given;
    part.arch = &arch;
    part.plan = &plan;
    for (int block = 0; block < BLOCK_COUNT; block++)
        ck_assert_int_eq(block_of(&whole, (enum block)block).count,
                         block_of(&part, (enum block)block).count);
}
END_TEST

Suite *
operators_kinds_suite(void)
{
    Suite *suite = suite_create("operators_kinds");
    TCase *tests = tcase_create("kinds");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, latent_attention_goes_down_and_up_again);
    tcase_add_test(tests, values_narrower_than_queries_are_padded_or_priced_at_the_mean);
    tcase_add_test(tests, every_second_layer_of_gpt_oss_has_a_window);
    tcase_add_test(tests, the_gradient_of_a_bias_is_a_sum_over_the_tokens);
    tcase_add_test(tests, first_layers_of_deepseek_are_dense_the_others_share_an_expert);
    tcase_add_test(tests, prediction_runs_a_layer_and_the_head_again);
    tcase_add_test(tests, loads_reach_the_rows_of_the_experts);
    tcase_add_test(tests, a_dense_layer_keeps_what_theory_says);
    tcase_add_test(tests, a_mixture_keeps_what_theory_says);
    tcase_add_test(tests, rope_apart_is_five_kernels_each_way);
    tcase_add_test(tests, rope_of_complex_numbers_is_three_passes);
    tcase_add_test(tests, the_shape_of_a_block_does_not_depend_on_sizes);
    suite_add_tcase(suite, tests);
    return suite;
}
