/* The feed-forward block: a dense SwiGLU, or a router with its experts.
 *
 *      x ──▶ router ──▶ softmax, top-k ──▶ sort ─┐
 *      └─────────────────────────────────────────┴▶ permute ──▶ gate and up ──▶ SwiGLU
 *                                                        combine ◀── down ◀────────┘ */
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
    build_linear(builder,
                 &(struct linear){"gate_up", 2 * arch->dense_ffn, arch->hidden, KEPT_HERE});
    build_swiglu(builder, (double)arch->dense_ffn, 1);
    build_linear(builder, &(struct linear){"down", arch->hidden, arch->dense_ffn, KEPT_HERE});
}

/* Beside the routed ones, on all tokens, from the input that the router keeps; what they give is
 * added. Backward, so are the gradients of the input. */
static void
build_shared_experts(struct operator_builder *builder)
{
    const struct arch *arch = builder->workload->arch;
    double one = builder->element_bytes * (double)arch->hidden;
    builder->spent_on = CLASS_EXPERT;
    build_linear(builder, &(struct linear){"shared_gate_up", 2 * arch->shared_ffn, arch->hidden,
                                           KEPT_BY_ANOTHER});
    build_swiglu(builder, (double)arch->shared_ffn, 1);
    build_linear(builder,
                 &(struct linear){"shared_down", arch->hidden, arch->shared_ffn, KEPT_HERE});
    build_pass(builder, &(struct pass){"shared_add", 2 * one, one, 2 * one, one, 0});
}

/* ZAYA1 (arXiv 2511.17127 section IV): down-projection, the previous layer's state added (EDA),
 * norm, two layers with GELU, then one score a route, to which a balancing bias is added. */
static void
build_mlp_router(struct operator_builder *builder)
{
    const struct arch *arch = builder->workload->arch;
    int64_t width = arch->router_hidden, routes = arch_router_classes(arch);
    double one = builder->element_bytes * (double)width;
    double scores = dtype_bytes(DTYPE_FP32) * (double)routes;
    build_linear(builder, &(struct linear){"router_down", width, arch->hidden, KEPT_HERE});
    if (arch->has_router_average)
        build_pass(builder, &(struct pass){"router_average", 2 * one, one, 2 * one, one, one});
    build_rows(builder, "router_norm", KERNEL_RMS_NORM, builder->tokens, width);
    build_saved(builder, one);
    build_linear(builder, &(struct linear){"router_1", width, width, KEPT_HERE});
    build_pass(builder, &(struct pass){"router_gelu_1", one, one, 2 * one, one, one});
    build_linear(builder, &(struct linear){"router_2", width, width, KEPT_HERE});
    build_pass(builder, &(struct pass){"router_gelu_2", one, one, 2 * one, one, one});
    build_linear(builder, &(struct linear){"router_3", routes, width, KEPT_HERE});
    build_pass(builder, &(struct pass){"router_balance", scores, scores, 0, 0, 0});
}

/* Softmax and top-k. One kernel forward where they are fused; the softmax has a backward, the
 * choice has none. The weight of the chosen is picked out, apart unless fused. */
static void
build_router_tail(struct operator_builder *builder)
{
    const struct arch *arch = builder->workload->arch;
    int64_t routes = arch_router_classes(arch);
    double scores = dtype_bytes(DTYPE_FP32) * (double)routes;
    double chosen = dtype_bytes(DTYPE_FP32) * (double)arch->experts_per_token;
    struct kernel softmax = {.kind = KERNEL_SOFTMAX,
                             .rows_by_width = {builder->tokens, routes}};
    struct kernel top_k = {.kind = KERNEL_TOP_K,
                           .top_k = {builder->tokens, routes, arch->experts_per_token}};
    if (builder->workload->software->fuses_router_tail) {
        build_kernel(builder, "router_softmax_top_k", top_k, false);
        build_backward(builder, "router_softmax_top_k", softmax);
    } else {
        build_kernel(builder, "router_softmax", softmax, true);
        build_kernel(builder, "router_top_k", top_k, false);
        build_pass(builder, &(struct pass){"router_pick", scores, chosen, chosen, scores, 0});
    }
    build_saved(builder, scores);
}

static void
build_router(struct operator_builder *builder)
{
    const struct arch *arch = builder->workload->arch;
    builder->spent_on = CLASS_ROUTER;
    switch (arch->router) {
    case ROUTER_LINEAR:
        build_linear(builder, &(struct linear){"router", arch_router_classes(arch),
                                               arch->hidden, KEPT_HERE});
        break;
    case ROUTER_MLP:
        build_mlp_router(builder);
        break;
    }
    build_router_tail(builder);
}

/* A counting sort of (token, expert) pairs by expert: a histogram, its prefix sum, the positions;
 * each reads and writes the 4-byte indices once. */
static void
build_sort(struct operator_builder *builder)
{
    double index = 4.0 * (double)builder->workload->arch->experts_per_token; /* bytes a token */
    build_pass(builder, &(struct pass){"sort_histogram", index, index, 0, 0, 0});
    build_pass(builder, &(struct pass){"sort_prefix_sum", index, index, 0, 0, 0});
    build_pass(builder, &(struct pass){"sort_positions", index, index, 0, 0, index});
}

/* Rows of the width, in and out of the order of experts; k of them a token. The order is a
 * permutation, so nothing meets and nothing is added atomically:
 *   permute   forward reads a row, writes k; backward reads k gradients, writes their sum
 *   combine   forward reads k rows, writes their weighted sum; backward reads the gradient and
 *             the k rows (for the weights' gradients), writes k gradients */
static void
build_experts(struct operator_builder *builder)
{
    const struct arch *arch = builder->workload->arch;
    struct routed_tokens routed = {builder->tokens, arch->experts_per_token, arch->experts};
    struct expert_loads loads =
        routing_loads(builder->workload->plan->routing, &routed, builder->arena);
    double one = builder->element_bytes * (double)arch->hidden;
    double all = one * (double)arch->experts_per_token;
    builder->spent_on = CLASS_DISPATCH;
    build_sort(builder);
    build_pass(builder, &(struct pass){"permute", one, all, all, one, 0});
    builder->spent_on = CLASS_EXPERT;
    build_grouped_linear(
        builder, loads.rows,
        &(struct linear){"gate_up", 2 * arch->expert_ffn, arch->hidden, KEPT_HERE});
    build_swiglu(builder, (double)arch->expert_ffn, (double)arch->experts_per_token);
    build_grouped_linear(builder, loads.rows,
                         &(struct linear){"down", arch->hidden, arch->expert_ffn, KEPT_HERE});
    builder->spent_on = CLASS_DISPATCH;
    build_pass(builder, &(struct pass){"combine", all, one, one + all, all, all});
}

void
build_feed_forward(struct operator_builder *builder, bool has_experts)
{
    build_residual_norm(builder, "feed_forward_norm");
    if (!has_experts) {
        build_dense(builder);
        return;
    }
    build_router(builder);
    build_experts(builder);
    if (builder->workload->arch->shared_ffn > 0)
        build_shared_experts(builder);
}
