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

const struct shard_tensors *
shard_tensors(const struct shard *shard, struct arena *arena)
{
    int64_t stages = shard->placement.pipeline;
    struct tensor_list dense = tensors_of(shard_arch(shard, TOKENS_WHOLE, arena), arena);
    struct tensor_list routed = tensors_of(shard_arch(shard, TOKENS_ROUTED, arena), arena);
    struct shard_tensors *all = arena_alloc(arena, (size_t)stages, sizeof *all);
    for (int64_t stage = 0; stage < stages; stage++) {
        struct holding holding = holding_of(shard, stage, arena);
        all[stage] = take_held(&holding, &dense, &routed, arena);
    }
    return all;
}
