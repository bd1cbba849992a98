/* The attention block: grouped-query attention, and ZAYA1's compressed convolutional attention.
 *
 * CCA (arXiv 2510.04476; order of operations as in Zyphra's modeling code):
 *
 *   x ─▶ query, key ─▶ depthwise conv ─▶ per-head conv ─▶ + mean of q, k before ─▶ L2 norm,
 * RoPE ─┐ └──▶ value now, value of the token before ─▶ shift
 * ───────────────────────────────────────────┴▶ attention over the latent heads ─▶ output
 * up-projection */
#include "models/operators_layer.h"

/* Bytes a token of that many elements. */
static double
bytes_of(const struct operator_builder *builder, double elements)
{
    return builder->element_bytes * elements;
}

static void
build_core(struct operator_builder *builder)
{
    const struct workload *workload = builder->workload;
    const struct arch *arch = workload->arch;
    int64_t length = workload->plan->sequence_tokens;
    builder->spent_on = CLASS_ATTENTION_CORE;
    build_kernel(
        builder, "attention",
        (struct kernel){
            .kind = KERNEL_ATTENTION,
            .attention = {.batch = workload->plan->microbatch_sequences,
                          .q_len = length,
                          .kv_len = length,
                          .q_heads = arch->query_heads,
                          .kv_heads = arch->kv_heads,
                          .head_dim = arch->head_dim,
                          .is_causal = true,
                          .implementation = workload->software->attention_implementation}},
        true);
    double heads = (double)(2 * arch->query_heads + 2 * arch->kv_heads); /* q, o, k, v */
    double row_statistics = dtype_bytes(DTYPE_FP32) * (double)arch->query_heads;
    build_saved(builder, bytes_of(builder, heads * (double)arch->head_dim) + row_statistics);
}

/* q-k mean, L2 norm with temperature, RoPE, value shift. Elements a token: q, k latent widths.
 */
static void
build_cca_mixing(struct operator_builder *builder, double q, double k)
{
    const struct arch *arch = builder->workload->arch;
    double both = bytes_of(builder, q + k), value = bytes_of(builder, k);
    double turned = arch->rotary_fraction; /* of the channels that RoPE turns */
    if (builder->workload->software->fuses_attention_mixing) {
        build_pass(builder, &(struct pass){"qk_mean_norm_rope", 2 * both, both, 2 * both,
                                           2 * both, both});
    } else {
        build_pass(builder, &(struct pass){"qk_mean", both, both, both, both, 0});
        build_pass(builder, &(struct pass){"qk_mean_add", 2 * both, both, 0, 0, 0});
        build_pass(builder, &(struct pass){"qk_norm", both, both, 2 * both, both, both});
        build_pass(builder, &(struct pass){"rope", turned * both, turned * both, turned * both,
                                           turned * both, 0});
    }
    build_pass(builder, &(struct pass){"value_shift", value, value, value, value, 0});
}

static void
build_convolution(struct operator_builder *builder, const char *name, int64_t taps,
                  int64_t groups)
{
    const struct arch *arch = builder->workload->arch;
    int64_t channels = (arch->query_heads + arch->kv_heads) * arch->head_dim;
    build_kernel(builder, name,
                 (struct kernel){.kind = KERNEL_CONVOLUTION,
                                 .convolution = {builder->tokens, channels, taps, groups}},
                 true);
    build_saved(builder, bytes_of(builder, (double)channels));
}

static void
build_cca(struct operator_builder *builder)
{
    const struct arch *arch = builder->workload->arch;
    int64_t q = arch->query_heads * arch->head_dim, k = arch->kv_heads * arch->head_dim;
    double both = bytes_of(builder, (double)(q + k));
    builder->spent_on = CLASS_ATTENTION_PROJECTION;
    build_linear(builder, "cca_query", q, arch->hidden);
    build_linear(builder, "cca_key", k, arch->hidden);
    build_linear(builder, "cca_value_now", k / 2, arch->hidden);
    build_linear(builder, "cca_value_before", k - k / 2, arch->hidden);
    builder->spent_on = CLASS_ATTENTION_MIXING;
    build_pass(builder, &(struct pass){"qk_concatenate", both, both, both, both, 0});
    build_convolution(builder, "convolution_sequence", arch->sequence_taps, q + k);
    build_convolution(builder, "convolution_head", arch->channel_taps,
                      arch->query_heads + arch->kv_heads);
    build_cca_mixing(builder, (double)q, (double)k);
}

static void
build_gqa(struct operator_builder *builder)
{
    const struct arch *arch = builder->workload->arch;
    int64_t q = arch->query_heads * arch->head_dim, kv = arch->kv_heads * arch->head_dim;
    double turned = bytes_of(builder, (double)(q + kv)); /* RoPE touches queries and keys */
    builder->spent_on = CLASS_ATTENTION_PROJECTION;
    build_linear(builder, "query_key_value", q + 2 * kv, arch->hidden);
    builder->spent_on = CLASS_ATTENTION_MIXING;
    if (arch->has_query_key_norm)
        build_pass(builder,
                   &(struct pass){"qk_norm", turned, turned, 2 * turned, turned, turned});
    build_pass(builder, &(struct pass){"rope", turned, turned, turned, turned, 0});
}

void
build_attention(struct operator_builder *builder)
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
    }
    build_core(builder);
    builder->spent_on = CLASS_ATTENTION_PROJECTION;
    build_linear(builder, "attention_output", arch->hidden, arch->query_heads * arch->head_dim);
}
