/* The weights of one rank: which stage it is, and what its part of each tensor is. */
#include "models/shard.h"
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

/* A tied head has no tensor of its own: away from the embedding it holds a copy. */
static bool
holds(const struct holding *holding, const struct tensor *tensor)
{
    bool is_tied = holding->shard->workload.arch->is_embedding_tied;
    if (tensor->layer >= 0)
        return holds_layer(holding, tensor->layer);
    if (tensor->part == PART_EMBEDDING)
        return holding->has_embedding || (is_tied && holding->has_head);
    return holding->has_head;
}

/* Elements of what the stage holds of weights that are no smaller than in the whole model. */
static int64_t
shared_elements(const struct holding *holding, const struct tensor_list *dense,
                const struct tensor_list *whole)
{
    int64_t elements = 0;
    for (int64_t i = 0; i < dense->count; i++) {
        int64_t own = tensor_elements(&dense->items[i]);
        if (dense->items[i].part != PART_EXPERT && holds(holding, &dense->items[i]) &&
            own == tensor_elements(&whole->items[i]))
            elements += own;
    }
    return elements;
}

/* The stage's part of both lists, which hold the same tensors in the same order. */
static struct shard_tensors
take_held(const struct holding *holding, const struct tensor_list *dense,
          const struct tensor_list *routed, struct arena *arena)
{
    const struct placement *placement = &holding->shard->placement;
    bool is_one_group = placement->expert_tensor == placement->tensor &&
                        placement->expert == 1 && placement->context == 1;
    struct tensor *kept[2];
    struct tensor_list out[2] = {{NULL, 0}, {NULL, 0}};
    int64_t counts[2] = {0};
    for (int64_t i = 0; i < dense->count; i++)
        if (holds(holding, &dense->items[i]))
            counts[dense->items[i].part == PART_EXPERT && !is_one_group]++;
    for (int i = 0; i < 2; i++)
        out[i].items = kept[i] = arena_alloc(arena, (size_t)counts[i], sizeof *kept[i]);
    for (int64_t i = 0; i < dense->count; i++) {
        bool is_expert = dense->items[i].part == PART_EXPERT;
        const struct tensor *tensor = is_expert ? &routed->items[i] : &dense->items[i];
        int list = is_expert && !is_one_group;
        if (holds(holding, tensor))
            kept[list][out[list].count++] = *tensor;
    }
    return (struct shard_tensors){.dense = out[0], .experts = out[1]};
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
    struct tensor_list dense = tensors_of(shard_arch(shard, TOKENS_WHOLE, arena), arena);
    struct tensor_list routed = tensors_of(shard_arch(shard, TOKENS_ROUTED, arena), arena);
    struct tensor_list whole = tensors_of(shard->workload.arch, arena);
    struct shard_tensors *all = arena_alloc(arena, (size_t)stages, sizeof *all);
    if (has_adapters)
        lists = adapter_lists_of(shard, arena);
    for (int64_t stage = 0; stage < stages; stage++) {
        struct holding holding = holding_of(shard, stage, arena);
        all[stage] = take_held(&holding, &dense, &routed, arena);
        all[stage].shared_elements = shared_elements(&holding, &dense, &whole);
        if (has_adapters)
            freeze(&holding, &lists, arena, &all[stage]);
    }
    return all;
}
