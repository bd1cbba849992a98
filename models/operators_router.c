/* The router: linear or ZAYA's MLP, scores, the choice of experts, and the order that it puts the
 * tokens in. */
#include "models/operators_layer.h"

static void
build_gelu(struct operator_builder *builder, const char *name, int64_t width)
{
    double all = build_bytes(builder, (double)width);
    build_operator(builder);
    build_forward_stream(builder, &(struct stream){name, "gelu", all, all});
    build_backward_stream(builder, &(struct stream){name, "gelu_backward", 2 * all, all});
    build_saved(builder, builder->element_bytes * (double)width);
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
    build_linear(builder,
                 &(struct linear){"router_down", width, arch->hidden, KEPT_HERE, false});
    if (arch->has_router_average)
        build_pass(builder, &(struct pass){"router_average", 2 * one, one, 2 * one, one, one});
    build_norm(builder, "router_norm", width);
    build_linear(builder, &(struct linear){"router_1", width, width, KEPT_HERE, false});
    build_gelu(builder, "router_gelu_1", width);
    build_linear(builder, &(struct linear){"router_2", width, width, KEPT_HERE, false});
    build_gelu(builder, "router_gelu_2", width);
    build_linear(builder, &(struct linear){"router_3", routes, width, KEPT_HERE, false});
    build_pass(builder, &(struct pass){"router_balance", scores, scores, 0, 0, 0});
}

/* Scores in fp32: a softmax over the routes or a sigmoid of each. PyTorch's softmax backward
 * multiplies gradient and output in a kernel of its own. */
static void
build_scores(struct operator_builder *builder)
{
    const struct arch *arch = builder->workload->arch;
    double routes = (double)arch_router_classes(arch);
    double wide = build_wide_bytes(builder, routes);
    struct kernel softmax = {.kind = KERNEL_SOFTMAX,
                             .rows_by_width = {builder->tokens, arch_router_classes(arch)}};
    build_widening(builder, "router_to_fp32", routes);
    build_operator(builder);
    builder->dtype = DTYPE_FP32;
    if (arch->is_router_sigmoid) {
        build_forward_stream(builder,
                             &(struct stream){"router_sigmoid", "sigmoid", wide, wide});
    } else {
        build_forward_kernel(builder, "router_softmax", softmax);
        build_backward_stream(
            builder, &(struct stream){"router_softmax.multiply", "mul", 2 * wide, wide});
    }
    build_backward_kernel(builder, "router_scores.backward", softmax);
    builder->dtype = builder->workload->plan->compute_dtype;
    build_saved(builder, dtype_bytes(DTYPE_FP32) * routes);
}

/* The chosen experts' scores; where a bias has a say in the choice only, the scores without it are
 * picked out again. Of several groups of experts (arXiv 2412.19437 section 2.1.2) each is scored,
 * the best are chosen, the rest masked. Backward puts the gradients in their places among zeros. */
static void
build_choice(struct operator_builder *builder)
{
    const struct arch *arch = builder->workload->arch;
    double routes = (double)arch_router_classes(arch);
    double chosen = build_wide_bytes(builder, (double)arch->experts_per_token);
    double scores = build_wide_bytes(builder, routes);
    bool has_bias = arch->has_balancing_bias || arch->router == ROUTER_MLP;
    struct kernel top_k = {
        .kind = KERNEL_TOP_K,
        .top_k = {builder->tokens, arch_router_classes(arch), arch->experts_per_token}};
    build_operator(builder);
    if (arch->has_balancing_bias)
        build_forward_stream(builder, &(struct stream){"router_bias", "add", scores, scores});
    if (arch->router_groups > 0) {
        build_forward_stream(builder,
                             &(struct stream){"router_group_scores", "top_k", scores, 0});
        build_forward_stream(builder,
                             &(struct stream){"router_group_mask", "mul", scores, scores});
    }
    builder->dtype = DTYPE_FP32;
    build_forward_kernel(builder, "router_top_k", top_k);
    builder->dtype = builder->workload->plan->compute_dtype;
    if (has_bias)
        build_forward_stream(builder,
                             &(struct stream){"router_pick", "gather", 2 * chosen, chosen});
    build_backward_stream(builder, &(struct stream){"router_choice.zero", "fill", 0, scores});
    build_backward_stream(builder,
                          &(struct stream){"router_choice.scatter", "scatter", chosen, chosen});
}

/* Eager code puts the weights of the chosen in the order of the experts and casts them; backward
 * adds them up where they came from, for which their places are computed and sorted. */
static void
build_ordered_weights(struct operator_builder *builder)
{
    const struct arch *arch = builder->workload->arch;
    double copies = (double)arch->experts_per_token;
    double wide = build_wide_bytes(builder, copies), narrow = build_bytes(builder, copies);
    build_operator(builder);
    build_forward_stream(builder, &(struct stream){"router_order", "index", 3 * wide, wide});
    build_forward_stream(builder,
                         &(struct stream){"router_weights_cast", "narrow", wide, narrow});
    build_backward_stream(
        builder, &(struct stream){"router_weights_cast.backward", "cast", narrow, wide});
    build_backward_stream(builder, &(struct stream){"router_order.zero", "fill", 0, wide});
    build_backward_stream(builder,
                          &(struct stream){"router_order.places", "mul", 2 * wide, 2 * wide});
    build_backward_stream(builder,
                          &(struct stream){"router_order.sort", "sort", 4 * wide, 4 * wide});
    build_backward_stream(builder,
                          &(struct stream){"router_order.put", "index_put", 3 * wide, wide});
    build_saved(builder, builder->element_bytes * copies);
}

/* Softmax and top-k. One kernel forward where they are fused; the choice has no backward. */
static void
build_tail(struct operator_builder *builder)
{
    const struct arch *arch = builder->workload->arch;
    int64_t routes = arch_router_classes(arch);
    struct kernel softmax = {.kind = KERNEL_SOFTMAX,
                             .rows_by_width = {builder->tokens, routes}};
    struct kernel top_k = {.kind = KERNEL_TOP_K,
                           .top_k = {builder->tokens, routes, arch->experts_per_token}};
    if (!builder->workload->software->fuses_router_tail) {
        build_scores(builder);
        build_choice(builder);
        return;
    }
    builder->dtype = DTYPE_FP32;
    build_operator(builder);
    build_forward_kernel(builder, "router_softmax_top_k", top_k);
    build_backward_kernel(builder, "router_softmax_top_k.backward", softmax);
    build_saved(builder, dtype_bytes(DTYPE_FP32) * (double)routes);
    builder->dtype = builder->workload->plan->compute_dtype;
}

/* A counting sort of (token, expert) pairs by expert: a histogram, its prefix sum, the positions;
 * each reads and writes the 4-byte indices once. Eager code calls a general sort of 8-byte keys
 * with 8-byte values, which passes over both once for each 8 bits of the key (NVIDIA CUB's and
 * rocPRIM's radix sort), and counts afterwards. A routing that is given beforehand needs none of
 * it, but the operators stand there all the same: a block has as many whatever its routing. */
static void
build_sort(struct operator_builder *builder, bool is_given)
{
    enum { KEY_BYTES = 8, PAIR_BYTES = 16 };
    double copies = is_given ? 0 : (double)builder->workload->arch->experts_per_token;
    double index = 4.0 * copies; /* bytes a token */
    double pairs = (double)builder->tokens * copies * PAIR_BYTES;
    if (builder->workload->software->fuses_permutation) {
        build_pass(builder, &(struct pass){"sort_histogram", index, index, 0, 0, 0});
        build_pass(builder, &(struct pass){"sort_prefix_sum", index, index, 0, 0, 0});
        build_pass(builder, &(struct pass){"sort_positions", index, index, 0, 0, index});
        return;
    }
    for (int pass = 0; pass < KEY_BYTES; pass++) {
        build_operator(builder);
        if (!is_given)
            build_forward_stream(builder, &(struct stream){"sort_pass", "sort", pairs, pairs});
    }
    build_pass(builder, &(struct pass){"sort_count", 2 * index, 0, 0, 0, 2 * index});
}

void
build_router(struct operator_builder *builder)
{
    const struct workload *workload = builder->workload;
    const struct arch *arch = workload->arch;
    builder->spent_on = CLASS_ROUTER;
    switch (arch->router) {
    case ROUTER_LINEAR:
        build_linear(builder, &(struct linear){"router", arch_router_classes(arch),
                                               arch->hidden, KEPT_HERE, arch->has_router_bias});
        break;
    case ROUTER_MLP:
        build_mlp_router(builder);
        break;
    }
    build_tail(builder);
    builder->spent_on = CLASS_DISPATCH;
    build_sort(builder, workload->plan->routing && workload->plan->routing->is_given);
    if (!workload->software->fuses_permutation)
        build_ordered_weights(builder);
}
