/* The least that collectives over weights and gradients take of a step, bucket by bucket as
 * models/program_sync.c lays them out. */
#include "models/bound_weights.h"

struct bound_weights
bound_weights_of(const struct step_inputs *inputs, struct arena *arena)
{
    struct plan *plan = arena_copy(arena, inputs->workload.plan, sizeof *plan);
    struct shard shard = step_inputs_shard(inputs);
    plan->pipeline = shard.placement.pipeline = 1; /* all weights on one list */
    plan->schedule = SCHEDULE_1F1B;
    plan->virtual_stages = 1;
    plan->stage_layers = NULL;
    shard.workload.plan = plan;
    const struct shard_tensors *tensors = shard_tensors(&shard, arena);
    const struct tensor_list *lists[WEIGHT_SETS] = {&tensors->dense, &tensors->experts};
    struct bound_weights weights = {.embedding = 0};
    for (int set = 0; set < WEIGHT_SETS; set++) {
        size_t layers = (size_t)inputs->workload.arch->layers;
        weights.layers[set] = arena_alloc(arena, layers, sizeof *weights.layers[set]);
        for (int64_t i = 0; i < lists[set]->count; i++) {
            const struct tensor *tensor = &lists[set]->items[i];
            int64_t *place = tensor->layer >= 0 ? &weights.layers[set][tensor->layer]
                             : tensor->part == PART_EMBEDDING ? &weights.embedding
                                                              : &weights.head[set];
            *place += tensor_elements(tensor);
        }
    }
    return weights;
}

/* A stage's units in order, and what collectives over so many elements take. */
struct sync {
    const struct step_inputs *inputs;
    struct shard shard;
    int64_t rank;
    int64_t *units[WEIGHT_SETS]; /* elements of each */
    int64_t unit_count, chunks;
    int64_t *chunk_ends;      /* the unit behind each chunk */
    struct error_list errors; /* what has no price takes no time here */
};

static double
collective_s(struct sync *sync, enum collective_kind kind, enum peers peers, double elements)
{
    const struct plan *plan = sync->inputs->workload.plan;
    const struct placement *placement = &sync->shard.placement;
    enum dtype weight_dtype = plan->gathers_weights_in_fp8 ? DTYPE_FP8 : plan->compute_dtype;
    enum dtype dtype = kind == COLLECTIVE_ALL_GATHER ? weight_dtype : plan->gradient_dtype;
    struct collective collective = {.kind = kind,
                                    .dtype = dtype,
                                    .group = placement_group(placement, peers, sync->rank),
                                    .bytes = dtype_bytes(dtype) * elements};
    struct collective_cost cost = {0};
    collective.ranks = rank_group_count(&collective.group);
    if (collective.ranks == 1 || !(elements > 0) ||
        !collective_cost(sync->inputs->cluster, &collective, &cost, &sync->errors))
        return 0;
    return cost.latency_s + cost.transfer_s;
}

static double
gather_s(struct sync *sync, int set, int64_t elements)
{
    return collective_s(sync, COLLECTIVE_ALL_GATHER,
                        set == 0 ? PEERS_SHARD : PEERS_EXPERT_SHARD, (double)elements);
}

static double
reduce_s(struct sync *sync, int set, int64_t elements)
{
    const struct placement *placement = &sync->shard.placement;
    enum peers shard = set == 0 ? PEERS_SHARD : PEERS_EXPERT_SHARD;
    if (sync->inputs->workload.plan->zero_stage == 0)
        return collective_s(sync, COLLECTIVE_ALL_REDUCE,
                            set == 0 ? PEERS_DATA : PEERS_EXPERT_DATA, (double)elements);
    double part = (double)elements / (double)placement_group_ranks(placement, shard);
    return collective_s(sync, COLLECTIVE_REDUCE_SCATTER, shard, (double)elements) +
           collective_s(sync, COLLECTIVE_ALL_REDUCE,
                        set == 0 ? PEERS_REPLICAS : PEERS_EXPERT_REPLICAS, part);
}

static void
add_unit(struct sync *sync, int64_t dense, int64_t experts)
{
    sync->units[0][sync->unit_count] = dense;
    sync->units[1][sync->unit_count++] = experts;
}

/* Tied, the head's copy of the embedding is the head's where no embedding is. */
static void
list_units(struct sync *sync, const struct bound_weights *weights, int64_t stage,
           struct arena *arena)
{
    const struct arch *arch = sync->inputs->workload.arch;
    size_t most = (size_t)arch->layers + 2;
    bool has_embedding = false;
    sync->chunks = plan_chunks(sync->inputs->workload.plan);
    sync->chunk_ends = arena_alloc(arena, (size_t)sync->chunks, sizeof *sync->chunk_ends);
    for (int set = 0; set < WEIGHT_SETS; set++)
        sync->units[set] = arena_alloc(arena, most, sizeof *sync->units[set]);
    for (int64_t i = 0; i < sync->chunks; i++)
        has_embedding = has_embedding || shard_chunk(&sync->shard, stage, i).has_embedding;
    for (int64_t i = 0; i < sync->chunks; i++) {
        struct shard_chunk chunk = shard_chunk(&sync->shard, stage, i);
        bool is_copy = arch->is_embedding_tied && !has_embedding;
        if (chunk.has_embedding)
            add_unit(sync, weights->embedding, 0);
        for (int64_t j = 0; j < chunk.layers.count; j++)
            add_unit(sync, weights->layers[0][chunk.layers.first + j],
                     weights->layers[1][chunk.layers.first + j]);
        if (chunk.has_head)
            add_unit(sync, weights->head[0] + (is_copy ? weights->embedding : 0),
                     weights->head[1]);
        sync->chunk_ends[i] = sync->unit_count;
    }
}

/* What all buckets take, and the one that holds the first unit: those that do not fill a bucket
 * by themselves go with the units before them. */
struct bucket_sum {
    double gather_s, reduce_s, first_gather_s, first_reduce_s;
};

static struct bucket_sum
sum_buckets_of(struct sync *sync, int set)
{
    const struct plan *plan = sync->inputs->workload.plan;
    int64_t room = plan->zero_stage == 3 ? 1 : plan->bucket_parameters, open = 0, priced = -1;
    struct bucket_sum sum = {0};
    for (int64_t unit = sync->unit_count - 1; unit >= 0; unit--) {
        open += sync->units[set][unit];
        if (open < room && unit > 0)
            continue;
        if (open != priced) { /* layers are mostly equal */
            sum.first_gather_s = plan->zero_stage > 0 ? gather_s(sync, set, open) : 0;
            sum.first_reduce_s = reduce_s(sync, set, open);
        }
        sum.gather_s += sum.first_gather_s;
        sum.reduce_s += sum.first_reduce_s;
        priced = open;
        open = 0;
    }
    return sum;
}

/* Of the first kernel only the dense weights are counted on. */
static struct bucket_sum
sum_buckets(struct sync *sync)
{
    struct bucket_sum sum = sum_buckets_of(sync, 0), experts = sum_buckets_of(sync, 1);
    sum.gather_s += experts.gather_s;
    sum.reduce_s += experts.reduce_s;
    sum.first_reduce_s += experts.first_reduce_s;
    return sum;
}

/* Of weights that are gathered for each pass: all units of a chunk but its outermost, which the
 * pass before may have left. */
static double
inner_gathers_of_s(struct sync *sync, int set)
{
    int64_t begin = 0, priced = -1;
    double sum_s = 0, gathered_s = 0;
    for (int64_t chunk = 0; chunk < sync->chunks; chunk++) {
        for (int64_t unit = begin + 1; unit < sync->chunk_ends[chunk] - 1; unit++) {
            int64_t elements = sync->units[set][unit];
            gathered_s = elements == priced ? gathered_s : gather_s(sync, set, elements);
            priced = elements;
            sum_s += gathered_s;
        }
        begin = sync->chunk_ends[chunk];
    }
    return sum_s;
}

static double
inner_gathers_s(struct sync *sync)
{
    return inner_gathers_of_s(sync, 0) + inner_gathers_of_s(sync, 1);
}

/* What is reduced or gathered for each pass is on the lane as often; what waits for the step's ends
 * is in front of its first kernel or behind its last. */
static struct bound_sync
add_up(struct sync *sync)
{
    const struct plan *plan = sync->inputs->workload.plan;
    struct schedule_shape shape = schedule_shape(plan, sync->inputs->cluster);
    double microbatches = (double)shape.microbatches;
    double times = shape.kind == SCHEDULE_DUALPIPE ? microbatches / 2 : microbatches;
    struct bucket_sum sum = sum_buckets(sync);
    bool is_early = plan->overlaps_parameter_gather, is_one = sync->chunks == 1;
    bool is_each = plan_reduces_each_pass(plan);
    bool is_late = is_each || plan->overlaps_gradient_reduction;
    double behind_s = !is_late ? sum.reduce_s : is_one ? sum.first_reduce_s : 0;
    if (plan->zero_stage == 3)
        return (struct bound_sync){
            .lane_s =
                times * (sum.reduce_s + (shape.has_pairs ? 0 : 2 * inner_gathers_s(sync))),
            .behind_s = behind_s};
    double once_s = is_each ? times * sum.reduce_s : sum.reduce_s;
    bool is_gathered = plan->zero_stage > 0;
    return (struct bound_sync){.lane_s = once_s + (is_gathered ? sum.gather_s : 0),
                               .before_s = is_gathered && is_early ? sum.first_gather_s : 0,
                               .behind_s =
                                   behind_s + (is_gathered && !is_early ? sum.gather_s : 0)};
}

struct bound_sync
bound_sync_of(const struct step_inputs *inputs, const struct bound_weights *weights,
              int64_t stage, struct arena *arena)
{
    struct sync sync = {.inputs = inputs, .shard = step_inputs_shard(inputs)};
    const struct plan *plan = inputs->workload.plan;
    if (plan->muon_distribution == MUON_LAYER_SHARDED && plan->optimizer == OPTIMIZER_MUON)
        return (struct bound_sync){0}; /* shares are padded, buckets with them */
    sync.rank = placement_rank(&sync.shard.placement, &(struct rank_place){.pipeline = stage});
    list_units(&sync, weights, stage, arena);
    return add_up(&sync);
}
