/* A block's operators, sized for each way that the tokens can lie. */
#include "models/shard_lists.h"

#include <assert.h>
#include <math.h>
#include <string.h>

int64_t
shard_split_ranks(const struct shard *shard)
{
    return shard->workload.plan->is_sequence_parallel ? shard->placement.tensor : 1;
}

int64_t
shard_expert_pieces(const struct shard *shard)
{
    bool is_cut = shard->placement.tensor == 1 || shard->workload.plan->is_sequence_parallel;
    return is_cut ? shard->placement.expert_tensor : 1;
}

static int64_t
at_least_one(int64_t count)
{
    return count > 0 ? count : 1;
}

/* The model as a rank sees it that has a part of every product's channels, or of the experts. */
const struct arch *
shard_arch(const struct shard *shard, enum token_layout layout, struct arena *arena)
{
    const struct placement *placement = &shard->placement;
    struct arch *arch = arena_copy(arena, shard->workload.arch, sizeof *arch);
    int64_t tensor = placement->tensor;
    if (layout == TOKENS_SPLIT)
        return arch;
    if (layout == TOKENS_ROUTED) {
        arch->experts /= placement->expert;
        arch->expert_ffn /= shard_expert_pieces(shard);
        return arch;
    }
    arch->query_heads /= tensor;
    arch->kv_heads = at_least_one(arch->kv_heads / tensor);
    arch->dense_ffn /= tensor;
    arch->shared_ffn /= tensor;
    if (shard->workload.plan->is_vocabulary_parallel)
        arch->vocab = (arch->vocab + tensor - 1) / tensor; /* padded, as Megatron-LM does */
    return arch;
}

/* The same operators with the same loads for all experts: route() puts in the real ones. */
static const struct routing *
even_routing(const struct routing *routing, struct arena *arena)
{
    struct routing even = {
        .kind = ROUTING_UNIFORM, .row_multiple = 1, .is_given = routing->is_given};
    return arena_copy(arena, &even, sizeof even);
}

static const struct plan *
plan_part(const struct shard *shard, enum token_layout layout, struct arena *arena)
{
    const struct placement *placement = &shard->placement;
    struct plan *plan = arena_copy(arena, shard->workload.plan, sizeof *plan);
    plan->sequence_tokens /= placement->context;
    if (layout != TOKENS_WHOLE)
        plan->sequence_tokens /= shard_split_ranks(shard);
    if (layout == TOKENS_ROUTED)
        plan->sequence_tokens *= shard_expert_pieces(shard);
    if (layout == TOKENS_ROUTED && plan->routing)
        plan->routing = even_routing(plan->routing, arena);
    return plan;
}

static struct operator_list
operators_part(const struct shard *shard, enum block block, enum token_layout layout,
               struct arena *arena)
{
    struct workload part = shard->workload;
    part.arch = shard_arch(shard, layout, arena);
    part.plan = plan_part(shard, layout, arena);
    return operators_of(&part, block, arena);
}

/* One list stands for all where nothing is split. */
static void
list_operators(struct shard_lists *lists)
{
    const struct shard *shard = lists->shard;
    const struct placement *placement = &shard->placement;
    bool is_dense_split = placement->tensor * placement->context > 1;
    bool is_expert_split = placement->expert * placement->expert_tensor > 1;
    struct operator_list *of = lists->of;
    of[TOKENS_WHOLE] = operators_part(shard, lists->block, TOKENS_WHOLE, lists->arena);
    of[TOKENS_SPLIT] = of[TOKENS_ROUTED] = of[TOKENS_WHOLE];
    if (is_dense_split)
        of[TOKENS_SPLIT] = operators_part(shard, lists->block, TOKENS_SPLIT, lists->arena);
    if (is_dense_split || is_expert_split)
        of[TOKENS_ROUTED] = operators_part(shard, lists->block, TOKENS_ROUTED, lists->arena);
    assert(of[TOKENS_SPLIT].count == of[TOKENS_WHOLE].count &&
           of[TOKENS_ROUTED].count == of[TOKENS_WHOLE].count && "the same operators in each");
}

static bool
ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), wanted = strlen(end);
    return length >= wanted && strcmp(text + length - wanted, end) == 0;
}

/* Rows of the rank's experts. */
struct routed_rows {
    const int64_t *of_expert;
    int64_t mean;
    double ratio; /* of all, to even ones */
};

/* Rows of one grouped product are those of the rank's experts, and a pass over rows has as many. */
static void
route_operation(struct operation *operation, const struct routed_rows *rows)
{
    struct kernel *kernel = &operation->kernel;
    if (kernel->kind == KERNEL_GROUPED_GEMM && ends_with(operation->name, ".weight_gradient")) {
        kernel->grouped_gemm.k = rows->mean;
    } else if (kernel->kind == KERNEL_GROUPED_GEMM) {
        kernel->grouped_gemm.rows = rows->of_expert;
    } else if (kernel->kind == KERNEL_ELEMENTWISE &&
               operation->spent_on != CLASS_GRADIENT_ACCUMULATION &&
               !ends_with(operation->name, ".quantize_weight")) {
        kernel->elementwise.elements =
            (int64_t)((double)kernel->elementwise.elements * rows->ratio);
        kernel->elementwise.read_bytes *= rows->ratio;
        kernel->elementwise.write_bytes *= rows->ratio;
    }
}

static const struct operation *
route_operations(const struct operation *operations, int count, const struct routed_rows *rows,
                 struct arena *arena)
{
    struct operation *routed = arena_alloc_unset(arena, (size_t)count, sizeof *routed);
    for (int i = 0; i < count; i++) {
        routed[i] = operations[i];
        route_operation(&routed[i], rows);
    }
    return routed;
}

/* The operators of the experts were made for even loads: here are the real ones. */
static void
route_operators(struct shard_lists *lists, const int64_t *rows, double even_rows)
{
    struct operator_list *list = &lists->of[TOKENS_ROUTED];
    int64_t experts = lists->shard->workload.arch->experts / lists->shard->placement.expert;
    struct routed_rows routed = {rows,
                                 at_least_one((int64_t)(lists->routed_rows / (double)experts)),
                                 lists->routed_rows / even_rows};
    struct model_operator *items =
        arena_copy(lists->arena, list->items, (size_t)list->count * sizeof *items);
    for (int64_t i = 0; i < list->count; i++) {
        struct model_operator *item = &items[i];
        item->saved_bytes *= routed.ratio;
        item->transient_bytes *= routed.ratio;
        item->forward =
            route_operations(item->forward, item->forward_count, &routed, lists->arena);
        item->backward =
            route_operations(item->backward, item->backward_count, &routed, lists->arena);
    }
    list->items = items;
}

/* Every rank sends alike. The rank that sends or receives most decides how long the all-to-all
 * takes; an equal one of so many bytes takes as long. */
static double
all_to_all_rows(const struct expert_loads *loads, int64_t ranks)
{
    double most = 0, sent = (double)loads->copies;
    for (int64_t rank = 0; rank < ranks; rank++) {
        double own = (double)routing_rank_rows(loads, ranks, rank);
        double received = own * (double)(ranks - 1);
        most = most > received ? most : received;
        most = most > sent - own ? most : sent - own;
    }
    return ranks > 1 ? most * (double)ranks / (double)(ranks - 1) : sent;
}

/* Nodes that hold experts. */
static int64_t
expert_nodes(const struct placement *placement)
{
    struct rank_group group = placement_group(placement, PEERS_EXPERT, 0);
    int64_t members = rank_group_count(&group);
    int64_t first = rank_group_at(&group, 0) / placement->gpus_per_node;
    int64_t last = rank_group_at(&group, members - 1) / placement->gpus_per_node;
    return last - first + 1 < members ? last - first + 1 : members;
}

/* A token that goes to several experts of a rank goes there as one copy, and so to several ranks
 * of a node. */
static void
send_once(struct shard_lists *lists, const struct routed_tokens *routed)
{
    const struct arch *arch = lists->shard->workload.arch;
    struct routing_groups groups = {arch->router_groups, arch->router_groups_per_token};
    int64_t ranks = lists->shard->placement.expert;
    int64_t nodes = expert_nodes(&lists->shard->placement);
    if (!lists->shard->workload.software->sends_once_per_node || nodes == 1 ||
        arch->experts % nodes != 0)
        return;
    double ranks_met = routing_places_met(routed, groups, ranks);
    lists->routed_bytes *= ranks_met / (double)routed->per_token;
    lists->crossing_fraction = routing_places_met(routed, groups, nodes) / ranks_met;
}

/* What the ranks of that place among the experts get to do. */
static void
route(struct shard_lists *lists, int64_t place)
{
    const struct placement *placement = &lists->shard->placement;
    const struct arch *arch = lists->shard->workload.arch;
    const struct plan *plan = lists->shard->workload.plan;
    int64_t ranks = placement->expert, local = arch->experts / ranks;
    int64_t pieces = shard_expert_pieces(lists->shard), senders = ranks * pieces;
    int64_t tokens =
        plan_microbatch_tokens(plan) / placement->context / shard_split_ranks(lists->shard);
    struct routed_tokens routed = {tokens, arch->experts_per_token, arch->experts};
    struct expert_loads loads = routing_loads(plan->routing, &routed, lists->arena);
    int64_t *rows = arena_alloc(lists->arena, (size_t)local, sizeof *rows);
    double even = (double)(tokens * arch->experts_per_token * pieces);
    for (int64_t i = 0; i < local; i++) {
        rows[i] = loads.rows[place * local + i] * senders;
        lists->routed_rows += (double)rows[i];
    }
    lists->routed_bytes = all_to_all_rows(&loads, ranks) * lists->row_bytes;
    send_once(lists, &routed);
    if (lists->of[TOKENS_ROUTED].items != lists->of[TOKENS_WHOLE].items)
        route_operators(lists, rows, even);
}

/* The gradient of a weight, and adding it to the accumulated one. */
bool
shard_is_weight_gradient(const struct operation *operation)
{
    return ends_with(operation->name, ".weight_gradient") ||
           ends_with(operation->name, ".bias_gradient") ||
           ends_with(operation->name, ".accumulate");
}

struct shard_lists
shard_lists_of(const struct shard *shard, enum block block, int64_t expert_place,
               struct arena *arena)
{
    const struct plan *plan = shard->workload.plan;
    const struct arch *arch = shard->workload.arch;
    double tokens = (double)plan_microbatch_tokens(plan) / (double)shard->placement.context;
    double row_bytes = dtype_bytes(plan->compute_dtype) * (double)arch->hidden;
    struct shard_lists lists = {.shard = shard,
                                .arena = arena,
                                .block = block,
                                .row_bytes = row_bytes,
                                .whole_bytes = tokens * row_bytes};
    list_operators(&lists);
    if (arch->experts > 0)
        route(&lists, expert_place);
    return lists;
}

static const char *
operator_name(const struct model_operator *item)
{
    if (item->forward_count > 0)
        return item->forward[0].name;
    return item->backward_count > 0 ? item->backward[0].name : "";
}

static enum token_layout
layout_of(const struct shard_lists *lists, int64_t index)
{
    const struct workload *workload = &lists->shard->workload;
    const struct model_operator *item = &lists->of[TOKENS_WHOLE].items[index];
    enum step_class spent_on = item->spent_on;
    bool is_dense = workload->arch->experts == 0 || lists->block == BLOCK_DENSE_FEED_FORWARD ||
                    strncmp(operator_name(item), "shared_", strlen("shared_")) == 0;
    bool is_attention = spent_on == CLASS_ATTENTION_PROJECTION ||
                        spent_on == CLASS_ATTENTION_MIXING || spent_on == CLASS_ATTENTION_CORE;
    bool is_of_words = spent_on == CLASS_EMBEDDING || spent_on == CLASS_HEAD;
    if (spent_on == CLASS_EXPERT)
        return is_dense ? TOKENS_WHOLE : TOKENS_ROUTED;
    bool is_whole = is_attention || (is_of_words && workload->plan->is_vocabulary_parallel);
    return is_whole ? TOKENS_WHOLE : TOKENS_SPLIT;
}

/* Token numbers in front of the embedding, and the loss, are on every rank. */
enum token_layout
shard_lists_layout(const struct shard_lists *lists, int64_t index)
{
    int64_t count = lists->of[TOKENS_WHOLE].count;
    if (lists->block == BLOCK_EMBEDDING && index < 0)
        return layout_of(lists, 0);
    if (lists->block == BLOCK_HEAD && index == count)
        return layout_of(lists, count - 1);
    return index < 0 || index == count ? TOKENS_SPLIT : layout_of(lists, index);
}

const struct model_operator *
shard_lists_at(const struct shard_lists *lists, int64_t index)
{
    return &lists->of[shard_lists_layout(lists, index)].items[index];
}
