/* The feed-forward block: a dense SwiGLU, or a router with its experts.
 *
 *   x ─▶ router ─▶ softmax, top-k ─▶ sort ─▶ permute ─▶ gate and up ─▶ SwiGLU ─▶ down ─▶
 * combine */
#include "models/operators_layer.h"

/* Gate and up are one product of twice the width; its half gates the other. Backward reads both
 * and the gradient, writes the gradient of both; unfused, SiLU and product are passes of their
 * own. */
static void
build_swiglu(struct operator_builder *builder, double width, double rows_per_token)
{
    double one = builder->element_bytes * width * rows_per_token;
    if (builder->workload->software->fuses_swiglu) {
        build_pass(builder, &(struct pass){"swiglu", 2 * one, one, 3 * one, 2 * one, 2 * one});
        return;
    }
    build_pass(builder, &(struct pass){"silu", one, one, 2 * one, one, one});
    build_pass(builder, &(struct pass){"gate", 2 * one, one, 3 * one, 2 * one, 2 * one});
}

static void
build_dense(struct operator_builder *builder)
{
    const struct arch *arch = builder->workload->arch;
    builder->spent_on = CLASS_EXPERT;
    build_linear(builder, "gate_up", 2 * arch->dense_ffn, arch->hidden);
    build_swiglu(builder, (double)arch->dense_ffn, 1);
    build_linear(builder, "down", arch->hidden, arch->dense_ffn);
}

/* ZAYA1 (arXiv 2511.17127 section IV): down-projection, the previous layer's state added (EDA),
 * norm, two layers with GELU, then one score a route. */
static void
build_mlp_router(struct operator_builder *builder, int64_t routes)
{
    const struct arch *arch = builder->workload->arch;
    int64_t width = arch->router_hidden;
    double one = builder->element_bytes * (double)width;
    build_linear(builder, "router_down", width, arch->hidden);
    if (arch->has_router_average)
        build_pass(builder, &(struct pass){"router_average", 2 * one, one, 2 * one, one, one});
    build_rows(builder, "router_norm", KERNEL_RMS_NORM, builder->tokens, width);
    build_saved(builder, one);
    build_linear(builder, "router_1", width, width);
    build_pass(builder, &(struct pass){"router_gelu_1", one, one, 2 * one, one, one});
    build_linear(builder, "router_2", width, width);
    build_pass(builder, &(struct pass){"router_gelu_2", one, one, 2 * one, one, one});
    build_linear(builder, "router_3", routes, width);
}

static void
build_router(struct operator_builder *builder)
{
    const struct arch *arch = builder->workload->arch;
    int64_t routes = arch->experts + (arch->has_skip_route ? 1 : 0);
    builder->spent_on = CLASS_ROUTER;
    switch (arch->router) {
    case ROUTER_LINEAR:
        build_linear(builder, "router", routes, arch->hidden);
        break;
    case ROUTER_MLP:
        build_mlp_router(builder, routes);
        break;
    }
    struct kernel top_k = {.kind = KERNEL_TOP_K,
                           .top_k = {builder->tokens, routes, arch->experts_per_token}};
    if (!builder->workload->software->fuses_router_tail)
        build_rows(builder, "router_softmax", KERNEL_SOFTMAX, builder->tokens, routes);
    build_kernel(builder, "router_top_k", top_k, false);
    build_saved(builder, dtype_bytes(DTYPE_FP32) * (double)routes);
}

/* A counting sort of (token, expert) pairs by expert: a histogram, its prefix sum, the
 * positions; each reads and writes the 4-byte indices once. */
static void
build_sort(struct operator_builder *builder)
{
    double index = 4.0 * (double)builder->workload->arch->experts_per_token; /* bytes a token */
    build_pass(builder, &(struct pass){"sort_histogram", index, index, 0, 0, 0});
    build_pass(builder, &(struct pass){"sort_prefix_sum", index, index, 0, 0, 0});
    build_pass(builder, &(struct pass){"sort_positions", index, index, 0, 0, index});
}

/* Tokens of each expert, as even as whole tokens allow. */
static const int64_t *
even_rows(const struct operator_builder *builder)
{
    const struct arch *arch = builder->workload->arch;
    int64_t pairs = builder->tokens * arch->experts_per_token;
    int64_t *rows = arena_alloc(builder->arena, (size_t)arch->experts, sizeof *rows);
    for (int64_t i = 0; i < arch->experts; i++)
        rows[i] = pairs / arch->experts + (i < pairs % arch->experts);
    return rows;
}

static void
build_experts(struct operator_builder *builder)
{
    const struct arch *arch = builder->workload->arch;
    const int64_t *rows = even_rows(builder);
    int64_t pairs = builder->tokens * arch->experts_per_token;
    builder->spent_on = CLASS_DISPATCH;
    build_sort(builder);
    build_rows(builder, "permute", KERNEL_GATHER, pairs, arch->hidden);
    builder->spent_on = CLASS_EXPERT;
    build_grouped_linear(builder, "gate_up", rows, 2 * arch->expert_ffn, arch->hidden);
    build_swiglu(builder, (double)arch->expert_ffn, (double)arch->experts_per_token);
    build_grouped_linear(builder, "down", rows, arch->hidden, arch->expert_ffn);
    builder->spent_on = CLASS_DISPATCH;
    build_rows(builder, "combine", KERNEL_SCATTER_ADD, pairs, arch->hidden);
    build_saved(builder,
                builder->element_bytes * (double)(arch->hidden * arch->experts_per_token));
}

void
build_feed_forward(struct operator_builder *builder)
{
    build_residual_norm(builder, "feed_forward_norm");
    if (builder->workload->arch->experts == 0) {
        build_dense(builder);
        return;
    }
    build_router(builder);
    build_experts(builder);
}
