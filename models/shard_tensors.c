/* The weights of one rank: which stage it is, and what its part of each tensor is. */
#include "models/shard.h"

#include <assert.h>

#include "models/shard_lists.h"

struct shard_chunk
shard_chunk(const struct shard *shard, int64_t stage, int64_t chunk)
{
    const struct plan *plan = shard->workload.plan;
    struct schedule_shape shape = {plan->schedule, plan->pipeline, plan_chunks(plan), 1, false};
    int64_t piece = schedule_piece(&shape, stage, chunk);
    return (struct shard_chunk){.layers = plan_layers(plan, shard->workload.arch, piece),
                                .has_embedding = piece == 0,
                                .has_head = piece == plan_virtual_stages(plan) - 1};
}

/* What a stage holds: its layers, and the two ends. */
struct holding {
    const struct shard *shard;
    const struct shard_chunk *chunks;
    int64_t chunk_count;
    bool has_embedding, has_head;
};

static struct holding
holding_of(const struct shard *shard, int64_t stage, struct arena *arena)
{
    int64_t count = plan_chunks(shard->workload.plan);
    struct shard_chunk *chunks = arena_alloc(arena, (size_t)count, sizeof *chunks);
    struct holding holding = {.shard = shard, .chunks = chunks, .chunk_count = count};
    for (int64_t chunk = 0; chunk < count; chunk++) {
        chunks[chunk] = shard_chunk(shard, stage, chunk);
        holding.has_embedding = holding.has_embedding || chunks[chunk].has_embedding;
        holding.has_head = holding.has_head || chunks[chunk].has_head;
    }
    return holding;
}

static bool
holds_layer(const struct holding *holding, int64_t layer)
{
    for (int64_t chunk = 0; chunk < holding->chunk_count; chunk++) {
        struct layer_span span = holding->chunks[chunk].layers;
        if (layer >= span.first && layer < span.first + span.count)
            return true;
    }
    return false;
}

/* All tensors, in one order: as a tensor rank has them, of the experts as an expert rank does, and
 * of one rank alone. */
struct whole_lists {
    struct tensor_list dense, routed, whole;
    const int64_t *starts; /* of each layer in them; behind the last, of what stands outside */
};

static const int64_t *
find_starts(const struct tensor_list *list, int64_t layers, struct arena *arena)
{
    int64_t *starts = arena_alloc(arena, (size_t)layers + 1, sizeof *starts), at = 1;
    assert(list->items[0].part == PART_EMBEDDING && "the order of the forward pass");
    for (int64_t layer = 0; layer < layers; layer++) {
        starts[layer] = at;
        while (at < list->count && list->items[at].layer == layer)
            at++;
    }
    starts[layers] = at;
    return starts;
}

/* A list is made anew only where it differs. */
static struct whole_lists
whole_lists_of(const struct shard *shard, struct arena *arena)
{
    const struct arch *arch = shard->workload.arch;
    struct whole_lists lists;
    lists.dense = tensors_of(shard_arch(shard, TOKENS_WHOLE, arena), arena);
    lists.routed = lists.whole = lists.dense;
    if (shard->placement.expert > 1 || shard_expert_pieces(shard) > 1)
        lists.routed = tensors_of(shard_arch(shard, TOKENS_ROUTED, arena), arena);
    if (shard->placement.tensor > 1)
        lists.whole = tensors_of(arch, arena);
    lists.starts = find_starts(&lists.dense, arch->layers, arena);
    return lists;
}

/* What a stage holds, as far as it is listed: dense weights, and experts apart. */
struct kept_lists {
    struct tensor *items[2];
    int64_t counts[2];
    int64_t shared_elements;
};

/* Tensors [begin, end); there is room for them. */
static void
keep(struct kept_lists *kept, const struct whole_lists *lists, int64_t begin, int64_t end)
{
    for (int64_t i = begin; i < end; i++) {
        const struct tensor *tensor = &lists->dense.items[i];
        bool is_expert = tensor->part == PART_EXPERT;
        int list = is_expert && kept->items[1];
        kept->items[list][kept->counts[list]++] = is_expert ? lists->routed.items[i] : *tensor;
        int64_t elements = tensor_elements(tensor);
        if (!is_expert && elements == tensor_elements(&lists->whole.items[i]))
            kept->shared_elements += elements;
    }
}

/* A tied head has no tensor of its own: away from the embedding it holds a copy. */
static struct shard_tensors
take_held(const struct holding *holding, const struct whole_lists *lists, struct arena *arena)
{
    const struct placement *placement = &holding->shard->placement;
    const struct arch *arch = holding->shard->workload.arch;
    bool is_one_group = placement->expert_tensor == placement->tensor &&
                        placement->expert == 1 && placement->context == 1;
    const int64_t *starts = lists->starts, outside = starts[arch->layers];
    int64_t room = 1 + lists->dense.count - outside;
    for (int64_t layer = 0; layer < arch->layers; layer++)
        room += holds_layer(holding, layer) ? starts[layer + 1] - starts[layer] : 0;
    struct kept_lists kept = {.shared_elements = 0};
    for (int i = 0; i < (is_one_group ? 1 : 2); i++)
        kept.items[i] = arena_alloc_unset(arena, (size_t)room, sizeof *kept.items[i]);
    if (holding->has_embedding || (arch->is_embedding_tied && holding->has_head))
        keep(&kept, lists, 0, 1);
    for (int64_t layer = 0; layer < arch->layers; layer++)
        if (holds_layer(holding, layer))
            keep(&kept, lists, starts[layer], starts[layer + 1]);
    if (holding->has_head)
        keep(&kept, lists, outside, lists->dense.count);
    return (struct shard_tensors){.dense = {kept.items[0], kept.counts[0]},
                                  .experts = {kept.items[1], kept.counts[1]},
                                  .shared_elements = kept.shared_elements};
}

/* Adapters of each block, sized as a tensor rank has them. */
struct adapter_lists {
    struct operator_list of[BLOCK_COUNT];
};

static struct adapter_lists
adapter_lists_of(const struct shard *shard, struct arena *arena)
{
    struct workload whole = shard->workload;
    struct adapter_lists lists;
    whole.arch = shard_arch(shard, TOKENS_WHOLE, arena);
    for (int block = 0; block < BLOCK_COUNT; block++)
        lists.of[block] = operators_of(&whole, (enum block)block, arena);
    return lists;
}

/* What is trained of a block: the weight of each thin product is its (n, k). Adds to `out` where
 * there is one, else only counts. */
static int64_t
take_adapters(const struct operator_list *list, int64_t layer, struct tensor *out)
{
    int64_t count = 0;
    for (int64_t i = 0; i < list->count; i++) {
        const struct model_operator *item = &list->items[i];
        if (!item->is_adapter)
            continue;
        const struct gemm *gemm = &item->forward[0].kernel.gemm;
        if (out)
            out[count] = (struct tensor){
                .name = item->forward[0].name,
                .part = item->spent_on == CLASS_EXPERT ? PART_DENSE_FFN : PART_ATTENTION,
                .rows = gemm->n,
                .columns = gemm->k,
                .copies = 1,
                .layer = layer,
                .is_matrix = true};
        count++;
    }
    return count;
}

/* Of a stage, layer by layer and then of what is predicted ahead. */
static int64_t
take_stage(const struct holding *holding, const struct adapter_lists *lists, struct tensor *out)
{
    const struct arch *arch = holding->shard->workload.arch;
    int64_t count = 0;
    for (int64_t layer = 0; layer < arch->layers; layer++) {
        const enum block blocks[] = {operators_attention_block(arch, layer),
                                     operators_feed_forward_block(arch, layer)};
        for (int i = 0; i < 2 && holds_layer(holding, layer); i++)
            count += take_adapters(&lists->of[blocks[i]], layer, out ? out + count : NULL);
    }
    if (holding->has_head)
        count += take_adapters(&lists->of[BLOCK_HEAD], -1, out ? out + count : NULL);
    return count;
}

/* The model's own weights step aside. */
static void
freeze(const struct holding *holding, const struct adapter_lists *lists, struct arena *arena,
       struct shard_tensors *tensors)
{
    int64_t count = take_stage(holding, lists, NULL);
    struct tensor *items = arena_alloc(arena, (size_t)count, sizeof *items);
    take_stage(holding, lists, items);
    tensors->frozen_dense = tensors->dense;
    tensors->frozen_experts = tensors->experts;
    tensors->dense = (struct tensor_list){items, count};
    tensors->experts = (struct tensor_list){NULL, 0};
    tensors->shared_elements = 0;
}

const struct shard_tensors *
shard_tensors(const struct shard *shard, struct arena *arena)
{
    bool has_adapters = shard->workload.plan->adapters != NULL;
    struct adapter_lists lists = {{{NULL, 0}}};
    int64_t stages = shard->placement.pipeline;
    struct whole_lists whole = whole_lists_of(shard, arena);
    struct shard_tensors *all = arena_alloc(arena, (size_t)stages, sizeof *all);
    if (has_adapters)
        lists = adapter_lists_of(shard, arena);
    for (int64_t stage = 0; stage < stages; stage++) {
        struct holding holding = holding_of(shard, stage, arena);
        all[stage] = take_held(&holding, &whole, arena);
        if (has_adapters)
            freeze(&holding, &lists, arena, &all[stage]);
    }
    return all;
}
