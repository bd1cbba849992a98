/* Attention where ranks share a sequence: how each sees the others' keys and values.
 *
 * For causal masks each of the c ranks has two pieces of the sequence, the i-th from its beginning
 * and the i-th from its end, so that all have the same to do (zig-zag; Megatron-LM,
 * get_batch_on_this_cp_rank):
 *
 *   ring         keys and values go round; the next ones travel while attention works on these.
 *                Of every step but the first half is masked
 *   all_gather   all keys and values to all, then each piece against what is before it
 *   ulysses      all tokens of a part of the heads: all-to-all before and behind (arXiv 2309.14509)
 */
#include "models/shard_builder.h"

enum { PIECES = 2 };

/* Of one rank's tokens, keys and values; of heads as few as there are, before they are repeated. */
static double
key_value_bytes(const struct shard_builder *builder, const struct attention *attention)
{
    const struct arch *arch = builder->shard->workload.arch;
    int64_t heads = arch->kv_heads / builder->shard->placement.tensor;
    if (heads < 1)
        heads = 1;
    if (heads > attention->kv_heads)
        heads = attention->kv_heads;
    double element_bytes = dtype_bytes(builder->shard->workload.plan->compute_dtype);
    return element_bytes * 2 * (double)attention->batch * (double)attention->kv_len *
           (double)heads * (double)attention->head_dim;
}

static double
query_bytes(const struct shard_builder *builder, const struct attention *attention)
{
    double element_bytes = dtype_bytes(builder->shard->workload.plan->compute_dtype);
    return element_bytes * (double)attention->batch * (double)attention->q_len *
           (double)attention->q_heads * (double)attention->head_dim;
}

static void
append_exchange(struct shard_builder *builder, const char *name, enum collective_kind kind,
                double bytes, int64_t beside)
{
    struct shard_exchange exchange = {.name = name,
                                      .spent_on = CLASS_CONTEXT_EXCHANGE,
                                      .kind = kind,
                                      .peers = PEERS_CONTEXT,
                                      .dtype = builder->shard->workload.plan->compute_dtype,
                                      .bytes = bytes};
    shard_append_exchange(builder, &exchange, beside);
}

static void
append_attention(struct shard_builder *builder, const struct operation *whole,
                 const struct attention *attention)
{
    struct operation *part = arena_copy(builder->arena, whole, sizeof *part);
    part->kernel.attention = *attention;
    shard_append_operations(builder, part, 1);
}

/* Adding up what was found against different keys: two outputs are read and one written. */
static void
append_merge(struct shard_builder *builder, const struct operation *whole, double bytes)
{
    struct operation merge = {
        .name = "merge_attention",
        .spent_on = whole->spent_on,
        .kernel = {
            .kind = KERNEL_ELEMENTWISE,
            .dtype = whole->kernel.dtype,
            .elementwise = {"merge_attention", (int64_t)(bytes / 2), 2 * bytes, bytes, 1}}};
    shard_append_operations(builder, arena_copy(builder->arena, &merge, sizeof merge), 1);
}

/* Backward carries the gradients of keys and values round with them. */
static void
append_ring(struct shard_builder *builder, const struct operation *whole)
{
    const struct attention *local = &whole->kernel.attention;
    bool is_forward = whole->kernel.direction == DIRECTION_FORWARD;
    double bytes = key_value_bytes(builder, local) * (is_forward ? 1 : 2);
    struct attention half = *local;
    half.kv_len /= PIECES;
    half.is_causal = false;
    for (int64_t step = 0; step < builder->shard->placement.context; step++) {
        bool is_last = step == builder->shard->placement.context - 1;
        bool is_merged = is_forward && step > 0;
        if (!is_last)
            append_exchange(builder, "pass_keys_values", COLLECTIVE_SEND_RECV, bytes,
                            is_merged ? 2 : 1);
        append_attention(builder, whole, step == 0 ? local : &half);
        if (is_merged)
            append_merge(builder, whole, query_bytes(builder, local));
    }
}

/* The rank with the first and the last piece stands for all: together two pieces see as much. */
static void
append_gathered(struct shard_builder *builder, const struct operation *whole)
{
    int64_t ranks = builder->shard->placement.context;
    struct attention first = whole->kernel.attention;
    bool is_forward = whole->kernel.direction == DIRECTION_FORWARD;
    double bytes = key_value_bytes(builder, &first) * (double)ranks;
    first.q_len /= PIECES;
    first.kv_len /= PIECES;
    struct attention last = first;
    last.kv_len *= PIECES * ranks;
    if (is_forward)
        append_exchange(builder, "gather_keys_values", COLLECTIVE_ALL_GATHER, bytes, 0);
    append_attention(builder, whole, &first);
    append_attention(builder, whole, &last);
    if (!is_forward)
        append_exchange(builder, "scatter_key_value_gradients", COLLECTIVE_REDUCE_SCATTER,
                        bytes, 0);
}

static void
append_ulysses(struct shard_builder *builder, const struct operation *whole)
{
    int64_t ranks = builder->shard->placement.context;
    struct attention heads = whole->kernel.attention;
    double queries = query_bytes(builder, &heads);
    double inputs = queries + key_value_bytes(builder, &heads);
    bool is_forward = whole->kernel.direction == DIRECTION_FORWARD;
    heads.q_len *= ranks;
    heads.kv_len *= ranks;
    heads.q_heads /= ranks;
    heads.kv_heads = heads.kv_heads / ranks > 0 ? heads.kv_heads / ranks : 1;
    append_exchange(builder, "tokens_to_heads", COLLECTIVE_ALL_TO_ALL,
                    is_forward ? inputs : queries, 0);
    append_attention(builder, whole, &heads);
    append_exchange(builder, "heads_to_tokens", COLLECTIVE_ALL_TO_ALL,
                    is_forward ? queries : inputs, 0);
}

void
shard_append_context_core(struct shard_builder *builder, const struct operation *operations,
                          int count)
{
    for (int i = 0; i < count; i++) {
        if (operations[i].kernel.kind != KERNEL_ATTENTION) {
            shard_append_operations(builder, &operations[i], 1);
            continue;
        }
        switch (builder->shard->workload.plan->context_exchange) {
        case CONTEXT_RING:
            append_ring(builder, &operations[i]);
            break;
        case CONTEXT_ALL_GATHER:
            append_gathered(builder, &operations[i]);
            break;
        case CONTEXT_ULYSSES:
            append_ulysses(builder, &operations[i]);
            break;
        }
    }
}

/* Of each piece the tokens before it: one a tap beyond the first, of both convolutions. */
void
shard_append_context_halo(struct shard_builder *builder, enum direction direction)
{
    const struct arch *arch = builder->shard->workload.arch;
    const struct plan *plan = builder->shard->workload.plan;
    bool is_forward = direction == DIRECTION_FORWARD;
    double element_bytes = dtype_bytes(plan->compute_dtype);
    double sequences = (double)plan->microbatch_sequences;
    double tensor = (double)builder->shard->placement.tensor;
    double tokens = (double)(arch->sequence_taps - 1 + arch->channel_taps - 1) * PIECES;
    double latent = (double)(arch_query_width(arch) + arch_kv_width(arch)) / tensor;
    int64_t values = arch_kv_width(arch), unshifted = values / 2;
    double shifted = (double)(values - unshifted) / tensor;
    append_exchange(builder, "exchange_halo", COLLECTIVE_SEND_RECV,
                    element_bytes * sequences * tokens * latent, 0);
    append_exchange(builder, is_forward ? "gather_values" : "scatter_value_gradients",
                    is_forward ? COLLECTIVE_ALL_GATHER : COLLECTIVE_REDUCE_SCATTER,
                    element_bytes * sequences * (double)plan->sequence_tokens * shifted, 0);
}
