/* The kernels of each part of a model: embedding and head here, the blocks of a layer in files
 * of their own. */
#include "models/operators.h"

#include <assert.h>

#include "models/operator_builder.h"
#include "models/operators_layer.h"

/* Looking up a row a token; backward adds a row a token into the accumulated gradient, where
 * tokens that are alike meet; or into zeros, which are then accumulated whole. */
static void
build_embedding(struct operator_builder *builder)
{
    const struct arch *arch = builder->workload->arch;
    struct kernel rows = {.kind = KERNEL_GATHER,
                          .rows_by_width = {builder->tokens, arch->hidden}};
    double parameters = (double)arch->vocab * (double)arch->hidden;
    bool is_fused = builder->workload->software->fuses_gradient_accumulation;
    builder->spent_on = CLASS_EMBEDDING;
    build_operator(builder);
    build_forward_kernel(builder, "embedding", rows);
    if (builder->workload->plan->adapters)
        return; /* neither trained nor on the way to anything that is */
    if (!is_fused)
        build_backward_stream(builder, &(struct stream){"embedding.zero", "fill", 0,
                                                        builder->element_bytes * parameters});
    rows.kind = KERNEL_SCATTER_ADD;
    build_backward_kernel(builder, "embedding.backward", rows);
    if (!is_fused)
        build_accumulation(builder, "embedding", parameters);
}

/* The loss of logits that are copied to fp32 first: log-softmax, which keeps its output, and the
 * loss of the words that came; backward its gradient is written among zeros, that of the softmax
 * beside it, while the output is still kept. */
static void
build_loss_apart(struct operator_builder *builder)
{
    const struct arch *arch = builder->workload->arch;
    double narrow = build_bytes(builder, (double)arch->vocab);
    double wide = build_wide_bytes(builder, (double)arch->vocab);
    double words = 12.0 * (double)builder->tokens; /* a fp32 loss, an 8-byte index */
    struct kernel softmax = {.kind = KERNEL_SOFTMAX,
                             .rows_by_width = {builder->tokens, arch->vocab}};
    build_widening(builder, "logits_to_fp32", (double)arch->vocab);
    build_transient(builder, narrow + wide);
    builder->dtype = DTYPE_FP32;
    build_kernel(builder, "log_softmax", softmax, true);
    builder->dtype = builder->workload->plan->compute_dtype;
    build_saved(builder, dtype_bytes(DTYPE_FP32) * (double)arch->vocab);
    build_transient(builder, 2 * wide);
    build_operator(builder);
    build_forward_stream(builder, &(struct stream){"nll_loss", "nll_loss", words, 0});
    build_backward_stream(builder, &(struct stream){"nll_loss.start", "fill", 0, 4});
    build_backward_stream(builder, &(struct stream){"nll_loss.zero", "fill", 0, wide});
    build_backward_stream(
        builder, &(struct stream){"nll_loss.backward", "nll_loss_backward", words, words});
    build_transient(builder, wide);
}

/* Logits and cross-entropy. The fused loss keeps the logits and turns them into their
 * gradient in place. */
static void
build_logits(struct operator_builder *builder)
{
    const struct arch *arch = builder->workload->arch;
    builder->spent_on = CLASS_HEAD;
    build_linear(builder,
                 &(struct linear){"logits", arch->vocab, arch->hidden, KEPT_HERE, false});
    if (!builder->workload->software->fuses_cross_entropy) {
        build_loss_apart(builder);
        return;
    }
    struct kernel loss = {.kind = KERNEL_CROSS_ENTROPY,
                          .cross_entropy = {builder->tokens, arch->vocab}};
    build_kernel(builder, "cross_entropy", loss, true);
    build_saved(builder, builder->element_bytes * (double)arch->vocab);
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
    build_norm(builder, "prediction_embedding_norm", arch->hidden);
    build_norm(builder, "prediction_hidden_norm", arch->hidden);
    build_pass(builder, &(struct pass){"prediction_concatenate", both, both, both, both, 0});
    builder->spent_on = CLASS_HEAD;
    builder->is_projection = true; /* Megatron-Core, multi_token_prediction.py, fp8_context */
    build_linear(builder, &(struct linear){"prediction_join", arch->hidden, 2 * arch->hidden,
                                           KEPT_HERE, false});
    builder->is_projection = false;
    build_attention(builder, 0);
    build_feed_forward(builder, arch->experts > 0);
    build_residual_norm(builder, "prediction_norm");
    build_logits(builder);
}

/* The first layer's block adds an update that is not there yet; here, where the last one is added
 * and the gradient has but one source, that is made up for. */
static void
build_final_norm(struct operator_builder *builder)
{
    const struct workload *workload = builder->workload;
    builder->spent_on = CLASS_NORM_RESIDUAL;
    if (workload->software->fuses_residual_norm || workload->arch->has_residual_scaling)
        build_residual_norm(builder, "final_norm");
    else
        build_norm(builder, "final_norm", workload->arch->hidden);
}

static void
build_head(struct operator_builder *builder)
{
    const struct arch *arch = builder->workload->arch;
    for (int64_t module = 0; module < arch->mtp_layers; module++)
        build_prediction(builder);
    build_final_norm(builder);
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

static int64_t
adapter_parameters(const struct operator_list *list)
{
    int64_t sum = 0;
    for (int64_t i = 0; i < list->count; i++) {
        if (!list->items[i].is_adapter)
            continue;
        const struct gemm *gemm = &list->items[i].forward[0].kernel.gemm;
        sum += gemm->n * gemm->k;
    }
    return sum;
}

int64_t
operators_adapter_parameters(const struct workload *workload, struct arena *arena)
{
    const struct arch *arch = workload->arch;
    int64_t of_block[BLOCK_COUNT];
    for (int block = 0; block < BLOCK_COUNT; block++) {
        struct operator_list list = operators_of(workload, (enum block)block, arena);
        of_block[block] = adapter_parameters(&list);
    }
    int64_t sum = of_block[BLOCK_HEAD];
    for (int64_t layer = 0; layer < arch->layers; layer++)
        sum += of_block[operators_attention_block(arch, layer)] +
               of_block[operators_feed_forward_block(arch, layer)];
    return sum;
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
