/* The feed-forward block: a dense SwiGLU, or a router with its experts.
 *
 *      x ──▶ router ──▶ softmax, top-k ──▶ sort ─┐
 *      ├─────────────────────────────────────────┴▶ permute ──▶ gate and up ──▶ SwiGLU
 *      │                                                combine ◀── down ◀────────┘
 *      └▶ shared experts ──▶ + */
#include "models/operators_layer.h"

/* Gate and up are one product of twice the width, or two; the one gates the other. Backward reads
 * both and the gradient, writes the gradient of both. Unfused, SiLU and product are passes of their
 * own, the product's gradient is two of them, and the two halves are put side by side. */
struct gated {
    const char *gate_up, *swiglu, *silu, *gate, *down; /* names */
    const char *gate_alone, *up_alone;                 /* of products of their own */
    int64_t width;
    double rows; /* of all experts */
};

static bool
keeps_gates(const struct operator_builder *builder)
{
    const struct workload *workload = builder->workload;
    return workload->plan->fp8_recipe != FP8_NONE && workload->software->fp8 &&
           workload->software->fp8->keeps_gates;
}

/* Gate and up, of `all` bytes each, narrowed for backward and made wide again before it. */
static void
cast_gates(struct operator_builder *builder, double all)
{
    double narrow = 2 * all * dtype_bytes(DTYPE_FP8) / builder->element_bytes;
    enum step_class spent_on = builder->spent_on;
    builder->spent_on = CLASS_QUANTIZATION;
    build_forward_stream(builder,
                         &(struct stream){"narrow_gates", "quantize", 2 * all, narrow});
    build_backward_stream(builder, &(struct stream){"widen_gates", "cast", narrow, 2 * all});
    builder->spent_on = spent_on;
}

static void
build_swiglu(struct operator_builder *builder, const struct gated *gated)
{
    double tokens = (double)builder->tokens;
    double all = builder->element_bytes * (double)gated->width * gated->rows;
    double one = all / tokens; /* bytes a token */
    if (builder->workload->software->fuses_swiglu) {
        bool is_narrow = keeps_gates(builder);
        double kept =
            is_narrow ? 2 * one * dtype_bytes(DTYPE_FP8) / builder->element_bytes : 2 * one;
        build_pass(builder,
                   &(struct pass){gated->swiglu, 2 * one, one, 3 * one, 2 * one, kept});
        if (is_narrow)
            cast_gates(builder, all);
        return;
    }
    build_operator(builder);
    build_forward_stream(builder, &(struct stream){gated->silu, "silu_strided", all, all});
    build_backward_stream(builder,
                          &(struct stream){gated->silu, "silu_backward_strided", 2 * all, all});
    build_gradient_join(builder, 2 * one);
    build_saved(builder, 2 * one);
    build_operator(builder);
    build_forward_stream(builder, &(struct stream){gated->gate, "mul_strided", 2 * all, all});
    build_backward_stream(builder, &(struct stream){gated->gate, "mul_strided", 2 * all, all});
    build_backward_stream(builder, &(struct stream){gated->gate, "mul", 2 * all, all});
    build_saved(builder, one);
}

/* A product of the tokens, or with loads one of each expert's. */
static void
build_product(struct operator_builder *builder, const struct expert_loads *loads,
              const struct linear *linear)
{
    if (loads)
        build_grouped_linear(builder, loads, linear);
    else
        build_linear(builder, linear);
}

/* Of rows that are moved to their experts, and of their gradients on the way back. */
static enum fp8_origin
routed_origin(const struct operator_builder *builder, const struct expert_loads *loads)
{
    if (!loads)
        return FP8_MADE;
    return fp8_is_dispatched(builder->workload->plan, builder->workload->software)
               ? FP8_RECEIVED
               : FP8_BROUGHT;
}

static void
build_gated(struct operator_builder *builder, const struct expert_loads *loads,
            const struct gated *gated, enum kept_input input)
{
    const struct arch *arch = builder->workload->arch;
    struct linear first = {gated->gate_up, 2 * gated->width, arch->hidden, input,
                           arch->has_ffn_bias};
    struct linear down = {gated->down, arch->hidden, gated->width, KEPT_HERE,
                          arch->has_ffn_bias};
    enum fp8_origin origin = routed_origin(builder, loads);
    builder->input_origin = origin;
    if (builder->workload->software->splits_projections) {
        first.name = gated->gate_alone;
        first.out = gated->width;
        build_product(builder, loads, &first);
        build_gradient_sum(builder, 2,
                           builder->element_bytes * (double)arch->hidden * gated->rows /
                               (double)builder->tokens);
        first.name = gated->up_alone;
        first.input = KEPT_BY_PRODUCT;
    }
    build_product(builder, loads, &first);
    builder->input_origin = FP8_MADE;
    build_swiglu(builder, gated);
    builder->gradient_origin = origin;
    build_product(builder, loads, &down);
    builder->gradient_origin = FP8_MADE;
}

/* The product up keeps the block's input, GELU its own, the product down GELU's output. */
static void
build_plain(struct operator_builder *builder)
{
    const struct arch *arch = builder->workload->arch;
    double one = builder->element_bytes * (double)arch->dense_ffn;
    builder->spent_on = CLASS_EXPERT;
    build_linear(builder, &(struct linear){"up", arch->dense_ffn, arch->hidden, KEPT_HERE,
                                           arch->has_ffn_bias});
    build_pass(builder, &(struct pass){"gelu", one, one, 2 * one, one, one});
    build_linear(builder, &(struct linear){"down", arch->hidden, arch->dense_ffn, KEPT_HERE,
                                           arch->has_ffn_bias});
}

static void
build_dense(struct operator_builder *builder)
{
    if (builder->workload->arch->is_ffn_plain) {
        build_plain(builder);
        return;
    }
    const struct gated dense = {"gate_up",
                                "swiglu",
                                "silu",
                                "gate",
                                "down",
                                "gate_projection",
                                "up_projection",
                                builder->workload->arch->dense_ffn,
                                (double)builder->tokens};
    builder->spent_on = CLASS_EXPERT;
    build_gated(builder, NULL, &dense, KEPT_HERE);
}

/* Beside the routed ones, on all tokens, from the input that the router keeps; what they give is
 * added. */
static void
build_shared_experts(struct operator_builder *builder)
{
    const struct arch *arch = builder->workload->arch;
    const struct gated shared = {
        "shared_gate_up",       "shared_swiglu",  "shared_silu",
        "shared_gate",          "shared_down",    "shared_gate_projection",
        "shared_up_projection", arch->shared_ffn, (double)builder->tokens};
    double all = build_bytes(builder, (double)arch->hidden);
    builder->spent_on = CLASS_EXPERT;
    build_gated(builder, NULL, &shared, KEPT_BY_ANOTHER);
    builder->spent_on = CLASS_DISPATCH;
    build_operator(builder);
    build_forward_stream(builder, &(struct stream){"shared_add", "add", 2 * all, all});
}

/* What a row takes that is sent to its expert in fp8, of one that is not. */
static double
sent_ratio(const struct operator_builder *builder)
{
    const struct workload *workload = builder->workload;
    bool is_narrow = fp8_is_dispatched(workload->plan, workload->software);
    return is_narrow ? fp8_activation_bytes(workload->plan->fp8_recipe) / builder->element_bytes
                     : 1;
}

/* Tokens are cast before they are copied for their experts, their gradients before those are. */
static void
build_dispatch_cast(struct operator_builder *builder, enum direction direction)
{
    const struct workload *workload = builder->workload;
    struct fp8_cast cast = fp8_cast_dispatched(&builder->fp8);
    double elements = (double)builder->tokens * (double)workload->arch->hidden;
    if (fp8_is_dispatched(workload->plan, workload->software))
        build_cast(builder, direction,
                   direction == DIRECTION_FORWARD ? "permute.quantize_tokens"
                                                  : "combine.quantize_gradients",
                   cast, elements);
}

/* Rows of the width into the order of experts, k of them a token. Fused: forward reads a row,
 * writes k; backward reads k gradients, writes their sum. Apart: rows are found (their token is
 * their place divided by k), taken, and backward added into zeros. */
static void
build_permute(struct operator_builder *builder, int64_t copies)
{
    const struct arch *arch = builder->workload->arch;
    double one = builder->element_bytes * (double)arch->hidden, sent = sent_ratio(builder);
    double all = one * (double)copies / (double)builder->tokens, index = 8.0 * (double)copies;
    struct kernel rows = {.kind = KERNEL_GATHER, .rows_by_width = {copies, arch->hidden}};
    if (builder->workload->software->fuses_permutation) {
        build_pass(builder, &(struct pass){"permute", sent * one, sent * all, all, one, 0});
        build_dispatch_cast(builder, DIRECTION_FORWARD);
        return;
    }
    build_operator(builder);
    build_dispatch_cast(builder, DIRECTION_FORWARD);
    build_forward_stream(builder,
                         &(struct stream){"permute.places", "floor_divide", index, index});
    build_forward_kernel(builder, "permute", rows);
    build_backward_stream(builder,
                          &(struct stream){"permute.zero", "fill", 0,
                                           build_bytes(builder, (double)arch->hidden)});
    rows.kind = KERNEL_SCATTER_ADD;
    build_backward_kernel(builder, "permute.add_gradients", rows);
}

/* Back, with the weights of the choice. Fused: forward reads k rows, writes their weighted sum;
 * backward reads the gradient and the k rows (for the weights' gradients, unless the weights are in
 * the rows already), writes k gradients.
 * Apart: weights are multiplied in, and rows added into a copy of zeros; backward takes the rows'
 * gradients, multiplies them with weights and with rows, and sums the latter over the width. */
static void
build_combine(struct operator_builder *builder, int64_t copies)
{
    const struct arch *arch = builder->workload->arch;
    double one = builder->element_bytes * (double)arch->hidden;
    double all = one * (double)copies / (double)builder->tokens, index = 8.0 * (double)copies;
    double rows_bytes = one * (double)copies, sums = one * (double)builder->tokens;
    double weights = builder->element_bytes * (double)copies;
    struct kernel rows = {.kind = KERNEL_SCATTER_ADD, .rows_by_width = {copies, arch->hidden}};
    const struct software *software = builder->workload->software;
    double sent = sent_ratio(builder);
    if (software->fuses_permutation) {
        double kept = software->weighs_activations ? 0 : all;
        build_pass(builder,
                   &(struct pass){"combine", all, one, sent * one + kept, sent * all, kept});
        build_dispatch_cast(builder, DIRECTION_BACKWARD);
        return;
    }
    build_operator(builder);
    build_dispatch_cast(builder, DIRECTION_BACKWARD);
    build_forward_stream(builder, &(struct stream){"combine.weigh", "mul_broadcast",
                                                   rows_bytes + weights, rows_bytes});
    build_backward_stream(builder, &(struct stream){"combine.weigh", "mul_broadcast",
                                                    rows_bytes + weights, rows_bytes});
    build_backward_stream(builder, &(struct stream){"combine.weight_gradients", "mul",
                                                    2 * rows_bytes, rows_bytes});
    build_backward_stream(builder,
                          &(struct stream){"combine.sum_weights", "sum", rows_bytes, weights});
    build_saved(builder, all);
    build_operator(builder);
    build_forward_stream(builder, &(struct stream){"combine.zero", "fill", 0, sums});
    build_forward_stream(builder,
                         &(struct stream){"combine.places", "floor_divide", index, index});
    build_forward_stream(builder, &(struct stream){"combine.copy", "copy", sums, sums});
    build_forward_kernel(builder, "combine", rows);
    rows.kind = KERNEL_GATHER;
    build_backward_kernel(builder, "combine.take_gradients", rows);
    build_saved(builder, all); /* for its shape alone: PyTorch, derivatives.yaml, index_add */
}

static void
build_experts(struct operator_builder *builder)
{
    const struct workload *workload = builder->workload;
    const struct arch *arch = workload->arch;
    struct routed_tokens routed = {builder->tokens, arch->experts_per_token, arch->experts};
    struct expert_loads loads = routing_loads(workload->plan->routing, &routed, builder->arena);
    const struct gated experts = {
        "gate_up",       "swiglu",         "silu",
        "gate",          "down",           "gate_projection",
        "up_projection", arch->expert_ffn, (double)routing_rank_rows(&loads, 1, 0)};
    build_permute(builder, loads.copies);
    builder->spent_on = CLASS_EXPERT;
    build_gated(builder, &loads, &experts, KEPT_HERE);
    builder->spent_on = CLASS_DISPATCH;
    build_combine(builder, loads.copies);
}

/* The norm's output goes to the router, to the experts and to the shared ones. */
void
build_feed_forward(struct operator_builder *builder, bool has_experts)
{
    const struct arch *arch = builder->workload->arch;
    build_residual_norm(builder, "feed_forward_norm");
    if (!has_experts) {
        build_dense(builder);
        build_dropout(builder);
        return;
    }
    build_operator(builder);
    build_gradient_sum(builder, arch->shared_ffn > 0 ? 3 : 2,
                       builder->element_bytes * (double)arch->hidden);
    build_router(builder);
    build_experts(builder);
    if (arch->shared_ffn > 0)
        build_shared_experts(builder);
    build_dropout(builder);
}
