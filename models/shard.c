/* Operators split by the plan: what is exchanged where the way that tokens lie changes. */
#include "models/shard.h"

#include <assert.h>
#include <math.h>

#include "models/fp8.h"
#include "models/shard_builder.h"

static struct shard_step *
append(struct shard_builder *builder)
{
    builder->steps = arena_grow(builder->arena, builder->steps, builder->count,
                                &builder->capacity, sizeof *builder->steps);
    return &builder->steps[builder->count++];
}

void
shard_append_exchange(struct shard_builder *builder, const struct shard_exchange *exchange,
                      int64_t beside)
{
    if (placement_group_ranks(&builder->shard->placement, exchange->peers) == 1)
        return;
    *append(builder) = (struct shard_step){
        .exchange = arena_copy(builder->arena, exchange, sizeof *exchange), .beside = beside};
}

static void
append_tensor_exchange(struct shard_builder *builder, const char *name,
                       enum collective_kind kind, int64_t beside)
{
    struct shard_exchange exchange = {.name = name,
                                      .spent_on = CLASS_TENSOR_EXCHANGE,
                                      .kind = kind,
                                      .peers = PEERS_TENSOR,
                                      .dtype = builder->shard->workload.plan->compute_dtype,
                                      .bytes = builder->lists.whole_bytes};
    shard_append_exchange(builder, &exchange, beside);
}

/* Each tensor rank's part of the sequence becomes the whole. */
static void
append_gather(struct shard_builder *builder, int64_t beside)
{
    if (builder->shard->workload.plan->is_sequence_parallel)
        append_tensor_exchange(builder, "gather_sequence", COLLECTIVE_ALL_GATHER, beside);
}

/* Partial sums of the whole become each rank's part, or the whole on each. */
static void
append_sum(struct shard_builder *builder, int64_t beside)
{
    if (builder->shard->workload.plan->is_sequence_parallel)
        append_tensor_exchange(builder, "scatter_sequence", COLLECTIVE_REDUCE_SCATTER, beside);
    else
        append_tensor_exchange(builder, "reduce_partial_sums", COLLECTIVE_ALL_REDUCE, beside);
}

/* What a row takes that is dispatched, of one in the compute dtype. */
static double
dispatched_ratio(const struct workload *workload)
{
    const struct plan *plan = workload->plan;
    return fp8_is_dispatched(plan, workload->software)
               ? fp8_activation_bytes(plan->fp8_recipe) / dtype_bytes(plan->compute_dtype)
               : 1;
}

/* Token copies to their experts' ranks or back; over expert-tensor ranks every one gets all. */
static void
append_routing(struct shard_builder *builder, bool is_dispatch)
{
    struct shard_exchange all_to_all = {.name =
                                            is_dispatch ? "dispatch_tokens" : "combine_tokens",
                                        .spent_on = CLASS_EXPERT_EXCHANGE,
                                        .kind = COLLECTIVE_ALL_TO_ALL,
                                        .peers = PEERS_EXPERT,
                                        .dtype = builder->shard->workload.plan->compute_dtype,
                                        .bytes = builder->lists.routed_bytes,
                                        .crossing_fraction = builder->lists.crossing_fraction};
    double ratio = is_dispatch ? dispatched_ratio(&builder->shard->workload) : 1;
    if (ratio < 1)
        all_to_all.dtype = DTYPE_FP8;
    all_to_all.bytes *= ratio;
    struct shard_exchange within = all_to_all;
    within.name = is_dispatch ? "gather_dispatched" : "scatter_combined";
    within.kind = is_dispatch ? COLLECTIVE_ALL_GATHER : COLLECTIVE_REDUCE_SCATTER;
    within.peers = PEERS_EXPERT_TENSOR;
    within.crossing_fraction = 0;
    within.bytes = ratio * builder->lists.routed_rows * builder->lists.row_bytes;
    bool is_cut = shard_expert_pieces(builder->shard) > 1;
    if (is_cut && !is_dispatch)
        shard_append_exchange(builder, &within, 0);
    shard_append_exchange(builder, &all_to_all, 0);
    if (is_cut && is_dispatch)
        shard_append_exchange(builder, &within, 0);
}

/* Forward, from one way the tokens lie to the next. */
static void
append_change(struct shard_builder *builder, enum token_layout from, enum token_layout to)
{
    if (from == to)
        return;
    if (from == TOKENS_WHOLE)
        append_sum(builder, 0);
    if (from == TOKENS_ROUTED)
        append_routing(builder, false);
    if (to == TOKENS_WHOLE)
        append_gather(builder, 0);
    if (to == TOKENS_ROUTED)
        append_routing(builder, true);
}

/* Backward, against that direction; entering the whole is the operator's own business. */
static void
append_mirror(struct shard_builder *builder, enum token_layout from, enum token_layout to)
{
    if (from == to)
        return;
    if (to == TOKENS_ROUTED)
        append_routing(builder, false);
    if (from == TOKENS_WHOLE)
        append_gather(builder, 0);
    if (from == TOKENS_ROUTED)
        append_routing(builder, true);
}

void
shard_append_operations(struct shard_builder *builder, const struct operation *operations,
                        int count)
{
    for (int i = 0; i < count; i++)
        *append(builder) =
            (struct shard_step){.operation = &operations[i],
                                .is_weight_gradient = shard_is_weight_gradient(&operations[i])};
}

/* Backward of the operator that first saw the whole. The part of the input that it kept is
 * gathered again for the weight's gradient, the gradient of the input is summed and scattered
 * (arXiv 2205.05198 section 4.2.2; beside the products: Megatron-LM, tensor_parallel/layers.py,
 * LinearWithGradAccumulationAndAsyncCommunication). */
static void
append_entry_backward(struct shard_builder *builder, const struct model_operator *item)
{
    bool is_beside = builder->shard->workload.plan->overlaps_tensor_exchange;
    int first_weight = 0;
    while (first_weight < item->backward_count &&
           !shard_is_weight_gradient(&item->backward[first_weight]))
        first_weight++;
    int weights = item->backward_count - first_weight;
    if (weights > 0)
        append_gather(builder, is_beside ? first_weight : 0);
    shard_append_operations(builder, item->backward, first_weight);
    if (is_beside)
        append_sum(builder, weights);
    shard_append_operations(builder, item->backward + first_weight, weights);
    if (!is_beside)
        append_sum(builder, 0);
}

/* Where a rank has several experts, what it received lies by sender and then by expert: one more
 * pass puts it by expert, and back (Megatron-Core, sort_chunks_by_idxs). */
static void
append_chunk_sort(struct shard_builder *builder, const char *name, enum kernel_kind kind,
                  enum dtype dtype)
{
    const struct placement *placement = &builder->shard->placement;
    const struct workload *workload = &builder->shard->workload;
    int64_t rows = (int64_t)builder->lists.routed_rows, width = workload->arch->hidden;
    double bytes = dtype_bytes(dtype) * (double)rows * (double)width;
    struct operation zero = {.name = "zero_received",
                             .spent_on = CLASS_DISPATCH,
                             .kernel = {.kind = KERNEL_ELEMENTWISE,
                                        .dtype = dtype,
                                        .elementwise = {"fill", rows * width, 0, bytes, 1}}};
    struct operation operation = {
        .name = name,
        .spent_on = CLASS_DISPATCH,
        .kernel = {.kind = kind, .dtype = dtype, .rows_by_width = {rows, width}}};
    if (placement->expert == 1 || workload->arch->experts == placement->expert)
        return;
    if (kind == KERNEL_SCATTER_ADD)
        *append(builder) =
            (struct shard_step){.operation = arena_copy(builder->arena, &zero, sizeof zero)};
    *append(builder) = (struct shard_step){
        .operation = arena_copy(builder->arena, &operation, sizeof operation)};
}

/* Where rows are taken by an index without fusion, backward adds them into zeros. */
static void
append_sort(struct shard_builder *builder, enum token_layout from, enum token_layout to,
            bool is_before_exchange, enum direction direction)
{
    bool is_added = direction == DIRECTION_BACKWARD &&
                    !builder->shard->workload.software->fuses_permutation;
    enum kernel_kind kind = is_added ? KERNEL_SCATTER_ADD : KERNEL_GATHER;
    enum dtype dtype = builder->shard->workload.plan->compute_dtype;
    bool is_narrow = dispatched_ratio(&builder->shard->workload) < 1 && !is_added;
    if (to == TOKENS_ROUTED && from != to && !is_before_exchange)
        append_chunk_sort(builder, "sort_received", kind, is_narrow ? DTYPE_FP8 : dtype);
    if (from == TOKENS_ROUTED && from != to && is_before_exchange)
        append_chunk_sort(builder, "unsort_received", kind, dtype);
}

static struct shard_list
take_list(struct shard_builder *builder)
{
    struct shard_list list = {builder->steps, (int64_t)builder->count};
    builder->steps = NULL;
    builder->count = builder->capacity = 0;
    return list;
}

/* The vocabulary split, each token's largest logit, sum and own logit come from all tensor ranks:
 * three numbers of fp32 (Megatron-LM, tensor_parallel/cross_entropy.py). */
static void
append_loss_exchange(struct shard_builder *builder)
{
    const struct workload *workload = &builder->shard->workload;
    struct shard_exchange exchange = {.name = "reduce_loss",
                                      .spent_on = CLASS_TENSOR_EXCHANGE,
                                      .kind = COLLECTIVE_ALL_REDUCE,
                                      .peers = PEERS_TENSOR,
                                      .dtype = DTYPE_FP32,
                                      .bytes = 3 * dtype_bytes(DTYPE_FP32) *
                                               builder->lists.whole_bytes /
                                               builder->lists.row_bytes};
    if (workload->plan->is_vocabulary_parallel)
        shard_append_exchange(builder, &exchange, 0);
}

/* The first operator between the projections and the core of compressed attention. */
static bool
is_first_mixing(const struct shard_builder *builder, int64_t index)
{
    const struct operator_list *list = &builder->lists.of[TOKENS_WHOLE];
    return builder->shard->workload.arch->attention == ATTENTION_CCA &&
           list->items[index].spent_on == CLASS_ATTENTION_MIXING &&
           list->items[index - 1].spent_on != CLASS_ATTENTION_MIXING;
}

static void
append_forward_operator(struct shard_builder *builder, int64_t index)
{
    const struct model_operator *item = shard_lists_at(&builder->lists, index);
    bool is_shared = builder->shard->placement.context > 1;
    if (is_shared && is_first_mixing(builder, index))
        shard_append_context_halo(builder, DIRECTION_FORWARD);
    if (is_shared && item->spent_on == CLASS_ATTENTION_CORE)
        shard_append_context_core(builder, item->forward, item->forward_count);
    else
        shard_append_operations(builder, item->forward, item->forward_count);
}

static void
append_inner_backward(struct shard_builder *builder, int64_t index)
{
    const struct model_operator *item = shard_lists_at(&builder->lists, index);
    bool is_shared = builder->shard->placement.context > 1;
    if (is_shared && item->spent_on == CLASS_ATTENTION_CORE)
        shard_append_context_core(builder, item->backward, item->backward_count);
    else
        shard_append_operations(builder, item->backward, item->backward_count);
    if (is_shared && is_first_mixing(builder, index))
        shard_append_context_halo(builder, DIRECTION_BACKWARD);
}

static struct shard_list
build_forward(struct shard_builder *builder)
{
    int64_t count = builder->lists.of[TOKENS_WHOLE].count;
    for (int64_t i = 0; i <= count && count > 0; i++) {
        enum token_layout from = shard_lists_layout(&builder->lists, i - 1),
                          to = shard_lists_layout(&builder->lists, i);
        append_sort(builder, from, to, true, DIRECTION_FORWARD);
        append_change(builder, from, to);
        append_sort(builder, from, to, false, DIRECTION_FORWARD);
        if (i == count)
            break;
        append_forward_operator(builder, i);
    }
    if (builder->lists.block == BLOCK_HEAD)
        append_loss_exchange(builder);
    return take_list(builder);
}

static struct shard_list
build_backward(struct shard_builder *builder)
{
    int64_t count = builder->lists.of[TOKENS_WHOLE].count;
    for (int64_t i = count - 1; i >= 0; i--) {
        const struct model_operator *item = shard_lists_at(&builder->lists, i);
        enum token_layout before = shard_lists_layout(&builder->lists, i - 1),
                          own = shard_lists_layout(&builder->lists, i),
                          behind = shard_lists_layout(&builder->lists, i + 1);
        append_sort(builder, behind, own, true, DIRECTION_BACKWARD);
        append_mirror(builder, own, behind);
        append_sort(builder, behind, own, false, DIRECTION_BACKWARD);
        if (own == TOKENS_WHOLE && before != own)
            append_entry_backward(builder, item);
        else
            append_inner_backward(builder, i);
    }
    return take_list(builder);
}

/* What an operator of those that run again keeps all the same: the first of a run of one class its
 * input, the attention core all but its scores, since other products need its output. */
static double
input_bytes(const struct shard_builder *builder, int64_t index, double saved_bytes)
{
    const struct shard_lists *lists = &builder->lists;
    const struct model_operator *items = lists->of[TOKENS_WHOLE].items;
    bool is_first = index == 0 || items[index - 1].spent_on != items[index].spent_on;
    double input = lists->whole_bytes / (double)shard_split_ranks(builder->shard);
    if (items[index].spent_on == CLASS_ATTENTION_CORE)
        return saved_bytes - shard_lists_at(lists, index)->remade_bytes;
    if (shard_lists_layout(lists, index) == TOKENS_ROUTED)
        input = lists->routed_rows * lists->row_bytes;
    return is_first ? input : 0;
}

/* Bytes that a kernel leaves behind if it is attention, or a product and kept; products in fp8
 * write 16 bits, as hw/gemm_setting.c has it. */
static double
made_bytes(const struct kernel *kernel, int64_t products)
{
    const struct grouped_gemm *grouped = &kernel->grouped_gemm;
    const struct attention *attention = &kernel->attention;
    double elements = 0, statistics = 0;
    if (kernel->kind == KERNEL_GEMM) {
        elements = (double)kernel->gemm.m * (double)kernel->gemm.n * (double)kernel->gemm.batch;
    } else if (kernel->kind == KERNEL_GROUPED_GEMM) {
        for (int64_t i = 0; i < grouped->experts; i++)
            elements += (double)grouped->rows[i] * (double)grouped->n;
    } else if (kernel->kind == KERNEL_ATTENTION) {
        double rows = (double)(attention->batch * attention->q_len * attention->q_heads);
        statistics = dtype_bytes(DTYPE_FP32) * rows;
        return rows * (double)attention->head_dim * dtype_bytes(kernel->dtype) + statistics;
    }
    return products % 2 == 1 ? elements * fmax(dtype_bytes(kernel->dtype), 2) : 0;
}

static void
add_made(const struct model_operator *item, int64_t *products, struct shard_block *out)
{
    for (int i = 0; i < item->forward_count; i++) {
        const struct kernel *kernel = &item->forward[i].kernel;
        *products += shard_is_product(kernel);
        out->product_bytes[item->spent_on] += made_bytes(kernel, *products);
    }
}

/* The operator that enters the whole keeps only its rank's part of its input: with sequence
 * parallelism backward gathers it again. */
static void
add_saved(const struct shard_builder *builder, struct shard_block *out)
{
    int64_t products = 0;
    for (int64_t i = 0; i < builder->lists.of[TOKENS_WHOLE].count; i++) {
        enum token_layout own = shard_lists_layout(&builder->lists, i);
        bool is_entry =
            own == TOKENS_WHOLE && shard_lists_layout(&builder->lists, i - 1) != own;
        const struct model_operator *item = shard_lists_at(&builder->lists, i);
        double bytes = item->saved_bytes;
        if (is_entry)
            bytes /= (double)shard_split_ranks(builder->shard);
        out->saved_bytes[item->spent_on] += bytes;
        out->input_bytes[item->spent_on] += input_bytes(builder, i, bytes);
        add_made(item, &products, out);
        if (item->transient_bytes > out->transient_bytes)
            out->transient_bytes = item->transient_bytes;
    }
}

struct shard_block
shard_block(const struct shard *shard, enum block block, int64_t expert_place,
            struct arena *arena)
{
    struct shard_builder builder = {.shard = shard,
                                    .arena = arena,
                                    .lists = shard_lists_of(shard, block, expert_place, arena)};
    struct shard_block out = {.forward = build_forward(&builder)};
    out.backward = build_backward(&builder);
    add_saved(&builder, &out);
    return out;
}

bool
shard_is_product(const struct kernel *kernel)
{
    return kernel->kind == KERNEL_GEMM || kernel->kind == KERNEL_GROUPED_GEMM;
}

double
shard_saved_bytes(const struct shard_block *block)
{
    double bytes = 0;
    for (int i = 0; i < STEP_CLASS_COUNT; i++)
        bytes += block->saved_bytes[i];
    return bytes;
}

double
shard_stream_bytes(const struct shard *shard)
{
    return operators_input_bytes(&shard->workload) /
           (double)(shard->placement.context * shard_split_ranks(shard));
}
