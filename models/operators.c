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

/* Final norm, logits, cross-entropy. The fused loss keeps the logits and turns them into their
 * gradient in place. Without fusion it copies them to fp32 first, keeps that too, and its gradient
 * is another such copy while everything is still kept. */
static void
build_head(struct operator_builder *builder)
{
    const struct arch *arch = builder->workload->arch;
    double logits = builder->element_bytes * (double)arch->vocab; /* bytes a token */
    double wide = dtype_bytes(DTYPE_FP32) * (double)arch->vocab;
    bool is_fused = builder->workload->software->fuses_cross_entropy;
    build_residual_norm(builder, "final_norm");
    builder->spent_on = CLASS_HEAD;
    build_linear(builder, &(struct linear){"logits", arch->vocab, arch->hidden, KEPT_HERE});
    if (!is_fused)
        build_pass(builder, &(struct pass){"logits_to_fp32", logits, wide, wide, logits, wide});
    struct kernel loss = {.kind = KERNEL_CROSS_ENTROPY,
                          .cross_entropy = {builder->tokens, arch->vocab}};
    build_kernel(builder, "cross_entropy", loss, true);
    build_saved(builder, is_fused ? logits : logits + wide);
}

struct operator_list
operators_of(const struct workload *workload, enum block block, struct arena *arena)
{
    struct operator_builder builder = operator_builder_new(workload, arena);
    switch (block) {
    case BLOCK_EMBEDDING:
        build_embedding(&builder);
        break;
    case BLOCK_ATTENTION:
        build_attention(&builder);
        break;
    case BLOCK_FEED_FORWARD:
        build_feed_forward(&builder);
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
