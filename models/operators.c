/* The kernels of each part of a model: embedding and head here, the blocks of a layer in files
 * of their own. */
#include "models/operators.h"

#include <assert.h>

#include "models/operator_builder.h"
#include "models/operators_layer.h"

/* Looking up a row a token; backward adds a row a token into the accumulated gradient, where
 * tokens that are alike meet. */
static void
build_embedding(struct operator_builder *builder)
{
    const struct arch *arch = builder->workload->arch;
    struct kernel rows = {.kind = KERNEL_GATHER,
                          .rows_by_width = {builder->tokens, arch->hidden}};
    builder->spent_on = CLASS_EMBEDDING;
    build_kernel(builder, "embedding", rows, false);
    rows.kind = KERNEL_SCATTER_ADD;
    build_backward(builder, "embedding", rows);
}

/* Logits and cross-entropy. The fused loss keeps the logits and turns them into their
 * gradient in place. Without fusion it copies them to fp32 first, keeps that too, and its gradient
 * is another such copy while everything is still kept. */
static void
build_logits(struct operator_builder *builder)
{
    const struct arch *arch = builder->workload->arch;
    double logits = builder->element_bytes * (double)arch->vocab; /* bytes a token */
    double wide = dtype_bytes(DTYPE_FP32) * (double)arch->vocab;
    bool is_fused = builder->workload->software->fuses_cross_entropy;
    builder->spent_on = CLASS_HEAD;
    build_linear(builder, &(struct linear){"logits", arch->vocab, arch->hidden, KEPT_HERE});
    if (!is_fused)
        build_pass(builder, &(struct pass){"logits_to_fp32", logits, wide, wide, logits, wide});
    struct kernel loss = {.kind = KERNEL_CROSS_ENTROPY,
                          .cross_entropy = {builder->tokens, arch->vocab}};
    build_kernel(builder, "cross_entropy", loss, true);
    build_saved(builder, is_fused ? logits : logits + wide);
}

/* Multi-token prediction (arXiv 2412.19437 section 2.2): norms of the hidden state and of the next
 * token's embedding, one product of both side by side, a layer, the shared head and its own loss.
 * The embedding is looked up again. */
static void
build_prediction(struct operator_builder *builder)
{
    const struct arch *arch = builder->workload->arch;
    double both = 2 * builder->element_bytes * (double)arch->hidden;
    build_embedding(builder);
    builder->spent_on = CLASS_NORM_RESIDUAL;
    build_rows(builder, "prediction_embedding_norm", KERNEL_RMS_NORM, builder->tokens,
               arch->hidden);
    build_rows(builder, "prediction_hidden_norm", KERNEL_RMS_NORM, builder->tokens,
               arch->hidden);
    build_saved(builder, both);
    build_pass(builder, &(struct pass){"prediction_concatenate", both, both, both, both, 0});
    builder->spent_on = CLASS_HEAD;
    build_linear(builder, &(struct linear){"prediction_join", arch->hidden, 2 * arch->hidden,
                                           KEPT_HERE});
    build_attention(builder, 0);
    build_feed_forward(builder, arch->experts > 0);
    build_residual_norm(builder, "prediction_norm");
    build_logits(builder);
}

static void
build_head(struct operator_builder *builder)
{
    const struct arch *arch = builder->workload->arch;
    for (int64_t module = 0; module < arch->mtp_layers; module++)
        build_prediction(builder);
    build_residual_norm(builder, "final_norm");
    build_logits(builder);
}

enum block
operators_attention_block(const struct arch *arch, int64_t layer)
{
    return arch_window_tokens(arch, layer) > 0 ? BLOCK_WINDOW_ATTENTION : BLOCK_ATTENTION;
}

enum block
operators_feed_forward_block(const struct arch *arch, int64_t layer)
{
    bool is_as_the_last = arch->experts == 0 || arch_has_experts(arch, layer);
    return is_as_the_last ? BLOCK_FEED_FORWARD : BLOCK_DENSE_FEED_FORWARD;
}

bool
operators_is_of_layer(enum block block)
{
    return block != BLOCK_EMBEDDING && block != BLOCK_HEAD;
}

struct operator_list
operators_of(const struct workload *workload, enum block block, struct arena *arena)
{
    const struct arch *arch = workload->arch;
    struct operator_builder builder = operator_builder_new(workload, arena);
    switch (block) {
    case BLOCK_EMBEDDING:
        build_embedding(&builder);
        break;
    case BLOCK_ATTENTION:
        if (arch->window != WINDOW_ALL)
            build_attention(&builder, 0);
        break;
    case BLOCK_WINDOW_ATTENTION:
        if (arch->window != WINDOW_NONE)
            build_attention(&builder, arch->window_tokens);
        break;
    case BLOCK_FEED_FORWARD:
        if (arch->experts == 0 || arch->dense_layers < arch->layers)
            build_feed_forward(&builder, arch->experts > 0);
        break;
    case BLOCK_DENSE_FEED_FORWARD:
        if (arch->experts > 0 && arch->dense_layers > 0)
            build_feed_forward(&builder, false);
        break;
    case BLOCK_HEAD:
        build_head(&builder);
        break;
    case BLOCK_COUNT:
        assert(false && "not a block");
        break;
    }
    return operator_builder_list(&builder);
}

double
operators_input_bytes(const struct workload *workload)
{
    double element = workload->arch->is_residual_fp32
                         ? dtype_bytes(DTYPE_FP32)
                         : dtype_bytes(workload->plan->compute_dtype);
    return element * (double)workload->arch->hidden *
           (double)plan_microbatch_tokens(workload->plan);
}
