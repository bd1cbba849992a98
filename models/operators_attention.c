/* The attention block: grouped-query attention, ZAYA1's compressed convolutional attention, and
 * DeepSeek's multi-head latent attention.
 *
 * CCA (arXiv 2510.04476; order of operations as in Zyphra's modeling code):
 *
 *      x ──▶ query, key ──▶ convolution along the sequence ──▶ convolution within each head
 *      │         └──────────── mean of query and key ──────────────────▶ + ──▶ L2 norm ──▶ RoPE
 *      └──▶ value of this token and of the one before, side by side                         │
 *                                                  attention over the latent heads ◀────────┘
 *                                                  └──▶ output, back to the full width */
#include "models/operators_layer.h"

#include <assert.h>

/* Bytes a token of that many elements. */
static double
bytes_of(const struct operator_builder *builder, int64_t elements)
{
    return builder->element_bytes * (double)elements;
}

/* A kernel of the vocabulary has one head width. Where values are narrower than queries, either
 * the stack pads them to the queries' (FlashAttention-2), or its kernel takes both, and costs
 * what one of their mean width does: the products are q_len kv_len (width of queries + width of
 * values). */
static int64_t
core_head_dim(const struct workload *workload)
{
    const struct arch *arch = workload->arch;
    if (workload->software->pads_value_heads)
        return arch->head_dim;
    return (arch->head_dim + arch_value_head_dim(arch)) / 2;
}

/* A product for each head, (s, depth) x (depth, n); backward two as large. */
static void
build_head_product(struct operator_builder *builder, const char *const names[3],
                   const struct attention *attention, struct gemm sizes)
{
    const struct gemm all[3] = {sizes,
                                {sizes.m, sizes.k, sizes.n, sizes.batch, GEMM_NN},
                                {sizes.k, sizes.n, sizes.m, sizes.batch, GEMM_TN}};
    assert(sizes.batch == attention->batch * attention->q_heads);
    build_operator(builder);
    build_forward_kernel(builder, names[0],
                         (struct kernel){.kind = KERNEL_GEMM, .gemm = all[0]});
    for (int i = 1; i < 3; i++)
        build_backward_kernel(builder, names[i],
                              (struct kernel){.kind = KERNEL_GEMM, .gemm = all[i]});
}

/* Without a fused kernel: scores, their softmax, its dropout, and the mean of values. Kept are
 * queries, keys and values, and of each query and key a probability, and dropped out a byte of
 * mask and the result (arXiv 2205.05198 section 4.1); all of those come from queries and keys. */
static void
build_core_apart(struct operator_builder *builder, const struct attention *attention)
{
    static const char *const scores[] = {"attention_scores", "attention_scores.query_gradient",
                                         "attention_scores.key_gradient"};
    static const char *const values[] = {"attention_values", "attention_values.score_gradient",
                                         "attention_values.value_gradient"};
    int64_t s = attention->q_len, d = attention->head_dim;
    int64_t heads = attention->batch * attention->q_heads;
    double pairs = (double)(attention->q_heads * s), one = builder->element_bytes * pairs;
    double head_bytes = builder->element_bytes * (double)d;
    struct kernel softmax = {.kind = KERNEL_SOFTMAX, .rows_by_width = {heads * s, s}};
    build_head_product(builder, scores, attention, (struct gemm){s, s, d, heads, GEMM_NT});
    build_saved(builder, head_bytes * (double)(attention->q_heads + attention->kv_heads));
    build_kernel(builder, "attention_softmax", softmax, true);
    build_saved(builder, one);
    build_remade(builder, one);
    if (builder->workload->plan->has_dropout) {
        build_pass(builder, &(struct pass){"attention_dropout", one, one + pairs, one + pairs,
                                           one, one + pairs});
        build_remade(builder, one + pairs);
    }
    build_head_product(builder, values, attention, (struct gemm){s, d, s, heads, GEMM_NN});
    build_saved(builder, head_bytes * (double)(attention->q_heads + attention->kv_heads));
}

/* Where the stack repeats key and value heads, attention sees as many of them as of queries. */
static void
build_core(struct operator_builder *builder, int64_t window_tokens)
{
    const struct workload *workload = builder->workload;
    const struct arch *arch = workload->arch;
    bool is_repeated = workload->software->repeats_key_value_heads;
    int64_t kv_heads = is_repeated ? arch->query_heads : arch->kv_heads;
    int64_t length = workload->plan->sequence_tokens;
    struct attention attention = {.batch = workload->plan->microbatch_sequences,
                                  .q_len = length,
                                  .kv_len = length,
                                  .q_heads = arch->query_heads,
                                  .kv_heads = kv_heads,
                                  .head_dim = core_head_dim(workload),
                                  .is_causal = true,
                                  .window = window_tokens < length ? window_tokens : 0,
                                  .implementation =
                                      workload->software->attention_implementation};
    builder->spent_on = CLASS_ATTENTION_CORE;
    if (workload->software->keeps_attention_scores) {
        build_core_apart(builder, &attention);
        return;
    }
    build_kernel(builder, "attention",
                 (struct kernel){.kind = KERNEL_ATTENTION, .attention = attention}, true);
    int64_t heads = arch->query_heads + kv_heads; /* queries and keys; outputs and values */
    int64_t value =
        workload->software->pads_value_heads ? arch->head_dim : arch_value_head_dim(arch);
    double row_statistics = dtype_bytes(DTYPE_FP32) * (double)arch->query_heads;
    build_saved(builder, bytes_of(builder, heads * (arch->head_dim + value)) + row_statistics);
}

/* Keys and values copied to every query head that uses them; backward adds the copies up. */
static void
build_repetition(struct operator_builder *builder)
{
    const struct arch *arch = builder->workload->arch;
    bool has_copies = arch->kv_heads < arch->query_heads;
    double few = has_copies ? bytes_of(builder, 2 * arch_kv_width(arch)) : 0;
    double many = has_copies ? bytes_of(builder, 2 * arch_query_width(arch)) : 0;
    if (builder->workload->software->repeats_key_value_heads)
        build_pass(builder, &(struct pass){"repeat_key_value", few, many, many, few, 0});
}

/* The elements of a token that turn: x cos + turn(x) sin, where turn() swaps a head's halves and
 * negates one. Apart, that is a kernel for each; backward is the same, the other way round. */
static void
build_rope_of(struct operator_builder *builder, double elements)
{
    double all = build_bytes(builder, elements);
    if (!(all > 0))
        return;
    const struct stream steps[] = {{"rope.negate", "neg", all / 2, all / 2},
                                   {"rope.swap", "cat", all, all},
                                   {"rope.cosine", "mul", all, all},
                                   {"rope.sine", "mul", all, all},
                                   {"rope.add", "add", 2 * all, all}};
    enum { STEPS = sizeof steps / sizeof *steps };
    for (int i = 0; i < STEPS; i++) {
        build_forward_stream(builder, &steps[i]);
        build_backward_stream(builder, &steps[STEPS - 1 - i]);
    }
}

/* What a compiler makes no code for, complex numbers, is a kernel between two of its own. */
static void
build_complex_rope(struct operator_builder *builder, double elements)
{
    double narrow = builder->element_bytes * elements;
    double wide = dtype_bytes(DTYPE_FP32) * elements;
    build_pass(builder, &(struct pass){"rope_widen", narrow, wide, wide, narrow, 0});
    build_pass(builder, &(struct pass){"rope", wide, wide, wide, wide, 0});
    build_pass(builder, &(struct pass){"rope_narrow", wide, narrow, narrow, wide, 0});
}

/* Of queries and of keys, in one kernel or each in many. */
static void
build_rope(struct operator_builder *builder, double query_elements, double key_elements)
{
    double turned = builder->element_bytes * (query_elements + key_elements);
    if (builder->workload->software->turns_complex) {
        build_complex_rope(builder, query_elements + key_elements);
        return;
    }
    if (builder->workload->software->fuses_rope) {
        build_pass(builder, &(struct pass){"rope", turned, turned, turned, turned, 0});
        return;
    }
    build_operator(builder);
    build_rope_of(builder, query_elements);
    build_operator(builder);
    build_rope_of(builder, key_elements);
}

/* q-k mean, L2 norm with temperature, RoPE. Apart: the mean is made, then added; gradients of
 * queries and keys come back through the convolutions and through the mean, and are added. */
static void
build_cca_mixing(struct operator_builder *builder)
{
    const struct arch *arch = builder->workload->arch;
    double both = bytes_of(builder, arch_query_width(arch) + arch_kv_width(arch));
    if (builder->workload->software->fuses_attention_mixing) {
        build_pass(builder, &(struct pass){"qk_mean_norm_rope", 2 * both, both, 2 * both,
                                           2 * both, both});
        return;
    }
    build_pass(builder, &(struct pass){"qk_mean", both, both, both, both, 0});
    build_pass(builder, &(struct pass){"qk_mean_add", 2 * both, both, 2 * both, both, 0});
    build_pass(builder, &(struct pass){"qk_norm", both, both, 2 * both, both, both});
    build_rope(builder, arch->rotary_fraction * (double)arch_query_width(arch),
               arch->rotary_fraction * (double)arch_kv_width(arch));
}

static void
build_convolution(struct operator_builder *builder, const char *name, int64_t taps,
                  int64_t groups)
{
    const struct arch *arch = builder->workload->arch;
    int64_t channels = arch_query_width(arch) + arch_kv_width(arch);
    build_kernel(builder, name,
                 (struct kernel){.kind = KERNEL_CONVOLUTION,
                                 .convolution = {builder->tokens, channels, taps, groups}},
                 true);
    build_saved(builder, bytes_of(builder, channels));
}

/* The four down-projections read the same input, which the first keeps. Queries and keys are
 * joined and padded in front before the convolutions: a copy each. */
static void
build_cca(struct operator_builder *builder)
{
    const struct arch *arch = builder->workload->arch;
    int64_t q = arch_query_width(arch), k = arch_kv_width(arch), now = k / 2;
    double both = bytes_of(builder, q + k), value = bytes_of(builder, k);
    bool has_bias = arch->has_attention_bias;
    builder->spent_on = CLASS_ATTENTION_PROJECTION;
    build_linear(builder, &(struct linear){"cca_query", q, arch->hidden, KEPT_HERE, has_bias});
    build_gradient_sum(builder, 4, bytes_of(builder, arch->hidden));
    build_linear(builder,
                 &(struct linear){"cca_key", k, arch->hidden, KEPT_BY_PRODUCT, has_bias});
    build_linear(builder, &(struct linear){"cca_value_now", now, arch->hidden, KEPT_BY_PRODUCT,
                                           has_bias});
    build_linear(builder, &(struct linear){"cca_value_before", k - now, arch->hidden,
                                           KEPT_BY_PRODUCT, has_bias});
    builder->spent_on = CLASS_ATTENTION_MIXING;
    build_pass(builder, &(struct pass){"qk_concatenate", both, both, both, both, 0});
    build_pass(builder, &(struct pass){"qk_pad", both, both, both, both, 0});
    build_convolution(builder, "convolution_sequence", arch->sequence_taps, q + k);
    build_convolution(builder, "convolution_head", arch->channel_taps,
                      arch->query_heads + arch->kv_heads);
    build_cca_mixing(builder);
    build_pass(builder, &(struct pass){"value_shift", value, value, value, value, 0});
    build_repetition(builder);
}

/* One product, whose gradient is put together from three; or three, whose input's gradient is the
 * sum of theirs. */
static void
build_gqa_projections(struct operator_builder *builder)
{
    const struct arch *arch = builder->workload->arch;
    int64_t q = arch_query_width(arch), k = arch_kv_width(arch), hidden = arch->hidden;
    bool has_bias = arch->has_attention_bias;
    builder->spent_on = CLASS_ATTENTION_PROJECTION;
    if (builder->workload->software->splits_projections) {
        build_linear(builder, &(struct linear){"query", q, hidden, KEPT_HERE, has_bias});
        build_gradient_sum(builder, 3, bytes_of(builder, hidden));
        build_linear(builder, &(struct linear){"key", k, hidden, KEPT_BY_PRODUCT, has_bias});
        build_linear(builder, &(struct linear){"value", k, hidden, KEPT_BY_PRODUCT, has_bias});
        return;
    }
    build_linear(builder,
                 &(struct linear){"query_key_value", q + 2 * k, hidden, KEPT_HERE, has_bias});
    builder->spent_on = CLASS_ATTENTION_MIXING;
    build_operator(builder);
    build_gradient_join(builder, bytes_of(builder, q + 2 * k));
}

static void
build_gqa(struct operator_builder *builder)
{
    const struct arch *arch = builder->workload->arch;
    int64_t q = arch_query_width(arch), k = arch_kv_width(arch);
    double both = bytes_of(builder, q + k);
    build_gqa_projections(builder);
    builder->spent_on = CLASS_ATTENTION_MIXING;
    if (arch->has_query_key_norm)
        build_pass(builder, &(struct pass){"qk_norm", both, both, 2 * both, both, both});
    build_rope(builder, arch->rotary_fraction * (double)q, arch->rotary_fraction * (double)k);
    build_repetition(builder);
}

/* Queries: down to their rank, norm, up; or at once. The first product keeps the block's input. */
static void
build_mla_query(struct operator_builder *builder)
{
    const struct arch *arch = builder->workload->arch;
    int64_t width = arch_query_width(arch), rank = arch->query_rank;
    if (rank == 0) {
        build_linear(builder,
                     &(struct linear){"mla_query", width, arch->hidden, KEPT_HERE, false});
        build_gradient_sum(builder, 2, bytes_of(builder, arch->hidden));
        return;
    }
    build_linear(builder, &(struct linear){"mla_query_down", rank, arch->hidden, KEPT_HERE,
                                           arch->has_attention_bias});
    build_gradient_sum(builder, 2, bytes_of(builder, arch->hidden));
    build_norm(builder, "mla_query_norm", rank);
    build_linear(builder, &(struct linear){"mla_query_up", width, rank, KEPT_HERE, false});
}

/* RoPE turns a part of each query head and the one shared key, which is then put beside every
 * head's own key. In one kernel: queries in place, keys read and written whole. Apart, queries are
 * put together as well, and values padded where the stack pads them. Backward moves the same. */
static void
build_mla_mixing(struct operator_builder *builder)
{
    const struct arch *arch = builder->workload->arch;
    const struct software *software = builder->workload->software;
    double queries = bytes_of(builder, arch_query_width(arch)); /* keys are as wide */
    double turning = bytes_of(builder, arch->query_heads * arch->rotary_head_dim);
    double shared = bytes_of(builder, arch->rotary_head_dim), own = queries - turning;
    double values = bytes_of(builder, arch_output_width(arch));
    if (software->fuses_attention_mixing) {
        double read = turning + shared + own, write = turning + queries;
        build_pass(builder, &(struct pass){"mla_rope", read, write, write, read, 0});
    } else {
        build_rope(builder, (double)(arch->query_heads * arch->rotary_head_dim),
                   (double)arch->rotary_head_dim);
        build_pass(builder,
                   &(struct pass){"mla_join_query", queries, queries, queries, queries, 0});
        build_pass(builder, &(struct pass){"mla_join_key", own + shared, queries, queries,
                                           own + shared, 0});
    }
    if (software->pads_value_heads && values < queries)
        build_pass(builder, &(struct pass){"pad_values", values, queries, queries, values, 0});
}

/* Keys and values come from one compressed form, which is normed, and one key that turns. */
static void
build_mla(struct operator_builder *builder)
{
    const struct arch *arch = builder->workload->arch;
    int64_t rank = arch->kv_rank, turning = arch->rotary_head_dim;
    int64_t own_keys = arch->query_heads * (arch->head_dim - turning);
    builder->spent_on = CLASS_ATTENTION_PROJECTION;
    build_mla_query(builder);
    build_linear(builder, &(struct linear){"mla_key_value_down", rank + turning, arch->hidden,
                                           KEPT_BY_PRODUCT, arch->has_attention_bias});
    build_norm(builder, "mla_key_value_norm", rank);
    build_linear(builder,
                 &(struct linear){"mla_key_value_up", own_keys + arch_output_width(arch), rank,
                                  KEPT_HERE, false});
    builder->spent_on = CLASS_ATTENTION_MIXING;
    build_mla_mixing(builder);
}

/* The output projection's input is what attention has kept. */
void
build_attention(struct operator_builder *builder, int64_t window_tokens)
{
    const struct arch *arch = builder->workload->arch;
    build_residual_norm(builder, "attention_norm");
    switch (arch->attention) {
    case ATTENTION_GQA:
        build_gqa(builder);
        break;
    case ATTENTION_CCA:
        build_cca(builder);
        break;
    case ATTENTION_MLA:
        build_mla(builder);
        break;
    }
    build_core(builder, window_tokens);
    builder->spent_on = CLASS_ATTENTION_PROJECTION;
    build_linear(builder,
                 &(struct linear){"attention_output", arch->hidden, arch_output_width(arch),
                                  KEPT_BY_ANOTHER, arch->has_attention_bias});
    build_dropout(builder);
}
