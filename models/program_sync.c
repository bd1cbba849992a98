/* What keeps ranks with the same weights alike: gradients reduced, weights gathered, the optimizer.
 */
#include <assert.h>

#include "models/fp8.h"
#include "models/program_builder.h"

static bool
is_gathered_early(const struct plan *plan)
{
    return plan->zero_stage > 0 && plan->zero_stage < 3 && plan->overlaps_parameter_gather;
}

/* The unit of the stage that uses a tensor. Tied, the head's gradients are whole only when the
 * embedding's are; where only the head is, its copy of the embedding is the head's. */
static int64_t
unit_of(const struct program_builder *builder, const struct tensor *tensor)
{
    int64_t head = 0, embedding = STEP_NONE;
    for (int64_t chunk = 0; chunk < builder->shape.chunks; chunk++) {
        const struct unit_span *span = &builder->spans[chunk];
        int64_t layers = span->count - span->has_embedding - span->has_head;
        int64_t index = tensor->layer - span->first_layer;
        if (tensor->layer >= 0 && index >= 0 && index < layers)
            return span->first + span->has_embedding + index;
        embedding = span->has_embedding ? span->first : embedding;
        head = span->has_head ? span->first + span->count - 1 : head;
    }
    return tensor->part == PART_EMBEDDING && embedding != STEP_NONE ? embedding : head;
}

/* Whole matrices do not come out even over their owners. */
static double
padding_of(const struct program_builder *builder, const struct tensor_list *tensors,
           enum peers peers)
{
    const struct plan *plan = builder->shard.workload.plan;
    int64_t ranks = placement_group_ranks(&builder->shard.placement, peers), all = 0;
    if (plan->optimizer != OPTIMIZER_MUON || plan->muon_distribution != MUON_LAYER_SHARDED ||
        plan->zero_stage == 0 || tensors->count == 0)
        return 1;
    for (int64_t i = 0; i < tensors->count; i++)
        all += tensor_elements(&tensors->items[i]);
    const struct optimizer_share *shares =
        optimizer_shares(tensors, plan, ranks, builder->pricing.arena);
    return (double)optimizer_padded_elements(shares, ranks) / (double)all;
}

/* FSDP gathers unit by unit; the others fill buckets as backward finishes units. */
static int64_t *
unit_sizes(const struct program_builder *builder, const struct tensor_list *tensors)
{
    /* A stage may hold no unit at all, yet has its first bucket. */
    size_t units = (size_t)(builder->units > 0 ? builder->units : 1);
    int64_t *sizes = arena_alloc(builder->pricing.arena, units, sizeof *sizes);
    for (int64_t i = 0; i < tensors->count; i++)
        sizes[unit_of(builder, &tensors->items[i])] += tensor_elements(&tensors->items[i]);
    return sizes;
}

/* Of those, weights of products that fp8 recipes take. */
static int64_t *
unit_quantized(const struct program_builder *builder, const struct tensor_list *tensors)
{
    size_t units = (size_t)(builder->units > 0 ? builder->units : 1);
    int64_t *sizes = arena_alloc(builder->pricing.arena, units, sizeof *sizes);
    for (int64_t i = 0; i < tensors->count; i++)
        if (fp8_takes_tensor(&tensors->items[i]))
            sizes[unit_of(builder, &tensors->items[i])] += tensor_elements(&tensors->items[i]);
    return sizes;
}

static struct buckets
make_buckets(struct program_builder *builder, const struct tensor_list *tensors,
             const struct tensor_list *frozen, enum peers peers)
{
    struct arena *arena = builder->pricing.arena;
    const struct plan *plan = builder->shard.workload.plan;
    size_t units = (size_t)(builder->units > 0 ? builder->units : 1);
    bool is_dense = peers == PEERS_DATA;
    const int64_t *sizes = unit_sizes(builder, tensors);
    const int64_t *frozen_sizes = unit_sizes(builder, frozen);
    int64_t *quantized = unit_quantized(builder, plan->adapters ? frozen : tensors);
    struct buckets buckets = {.all = peers,
                              .shard = is_dense ? PEERS_SHARD : PEERS_EXPERT_SHARD,
                              .replicas = is_dense ? PEERS_REPLICAS : PEERS_EXPERT_REPLICAS,
                              .padding = padding_of(builder, tensors, peers),
                              .of_unit = arena_alloc(arena, units, sizeof *sizes),
                              .parameters = arena_alloc(arena, units, sizeof *sizes),
                              .frozen = arena_alloc(arena, units, sizeof *sizes),
                              .narrow = arena_alloc(arena, units, sizeof *sizes),
                              .quantized = quantized,
                              .units_open = arena_alloc(arena, units, sizeof *sizes),
                              .gathered = arena_alloc(arena, units, sizeof(int32_t)),
                              .count = 1};
    int64_t room = plan->zero_stage == 3 ? 1 : plan->bucket_parameters;
    for (int64_t unit = builder->units - 1; unit >= 0; unit--) {
        int64_t *open = &buckets.parameters[buckets.count - 1];
        int64_t *open_frozen = &buckets.frozen[buckets.count - 1];
        buckets.gathered[unit] = STEP_NONE;
        buckets.of_unit[unit] = buckets.count - 1;
        buckets.units_open[buckets.count - 1]++;
        *open += sizes[unit];
        *open_frozen += plan->zero_stage == 3 ? frozen_sizes[unit] : 0;
        if (plan->gathers_weights_in_fp8 && (plan->zero_stage == 3 || !plan->adapters))
            buckets.narrow[buckets.count - 1] += quantized[unit];
        if (*open + *open_frozen >= room && unit > 0)
            buckets.count++;
    }
    return buckets;
}

void
program_make_buckets(struct program_builder *builder)
{
    struct shard_tensors tensors = builder->tensors[builder->kind->stage];
    builder->buckets[BUCKETS_DENSE] =
        make_buckets(builder, &tensors.dense, &tensors.frozen_dense, PEERS_DATA);
    builder->buckets[BUCKETS_EXPERTS] =
        make_buckets(builder, &tensors.experts, &tensors.frozen_experts, PEERS_EXPERT_DATA);
}

/* A collective over ranks that hold so many bytes together; STEP_NONE where there are none or one
 * rank has all. */
static int32_t
append_bytes(struct program_builder *builder, enum collective_kind kind, enum peers peers,
             enum dtype dtype, double bytes)
{
    const struct placement *placement = &builder->shard.placement;
    bool is_gather = kind == COLLECTIVE_ALL_GATHER;
    struct collective collective = {.kind = kind,
                                    .dtype = dtype,
                                    .group =
                                        placement_group(placement, peers, builder->kind->rank),
                                    .ranks = placement_group_ranks(placement, peers),
                                    .bytes = bytes};
    if (collective.ranks == 1 || !(bytes > 0))
        return STEP_NONE;
    const struct step_work *work = pricing_collective(
        &builder->pricing, is_gather ? "gather_parameters" : "reduce_gradients",
        is_gather ? CLASS_PARAMETER_GATHER : CLASS_GRADIENT_REDUCTION, &collective);
    return work ? program_append_joint(builder, LANE_DATA, work, peers) : STEP_NONE;
}

static int32_t
append_reduce(struct program_builder *builder, enum collective_kind kind, enum peers peers,
              double elements)
{
    enum dtype dtype = builder->shard.workload.plan->gradient_dtype;
    return append_bytes(builder, kind, peers, dtype, dtype_bytes(dtype) * elements);
}

static double
bucket_elements(const struct buckets *buckets, int64_t bucket)
{
    return (double)buckets->parameters[bucket] * buckets->padding;
}

/* Weights of both widths go in one buffer. */
static int32_t
append_gather(struct program_builder *builder, const struct buckets *buckets, int64_t bucket)
{
    enum dtype wide = builder->shard.workload.plan->compute_dtype;
    double narrow = (double)buckets->narrow[bucket] * buckets->padding;
    double elements = bucket_elements(buckets, bucket) + (double)buckets->frozen[bucket];
    double bytes = dtype_bytes(wide) * (elements - narrow) + dtype_bytes(DTYPE_FP8) * narrow;
    return append_bytes(builder, COLLECTIVE_ALL_GATHER, buckets->shard,
                        narrow > 0 ? DTYPE_FP8 : wide, bytes);
}

/* To every rank, or to the shards; replicas of a shard then add theirs up (hybrid sharding, arXiv
 * 2304.11277 section 3.2.2). */
static void
append_reduction(struct program_builder *builder, const struct buckets *buckets, int64_t bucket)
{
    double elements = bucket_elements(buckets, bucket);
    int64_t shards = placement_group_ranks(&builder->shard.placement, buckets->shard);
    bool is_whole = builder->shard.workload.plan->zero_stage == 0;
    int32_t made = builder->last_compute;
    int32_t item =
        is_whole ? append_reduce(builder, COLLECTIVE_ALL_REDUCE, buckets->all, elements)
                 : append_reduce(builder, COLLECTIVE_REDUCE_SCATTER, buckets->shard, elements);
    if (item != STEP_NONE)
        program_wait(builder, item, made);
    if (is_whole)
        return;
    item = append_reduce(builder, COLLECTIVE_ALL_REDUCE, buckets->replicas,
                         elements / (double)shards);
    if (item != STEP_NONE)
        program_wait(builder, item, made);
}

/* Weights come back in the order that forward wants them: the bucket of the embedding first. */
static void
append_gathers(struct program_builder *builder, int32_t after)
{
    for (int set = 0; set < BUCKETS_COUNT; set++) {
        struct buckets *buckets = &builder->buckets[set];
        for (int64_t bucket = buckets->count - 1; bucket >= 0; bucket--) {
            int32_t item = append_gather(builder, buckets, bucket);
            buckets->gathered[bucket] = item;
            if (item != STEP_NONE)
                program_wait(builder, item, after);
        }
    }
}

void
program_append_first_gathers(struct program_builder *builder)
{
    if (is_gathered_early(builder->shard.workload.plan))
        append_gathers(builder, STEP_NONE);
}

/* One unit's weights, asked for when the unit before it begins. */
static void
gather_unit(struct program_builder *builder, int64_t unit, int32_t after)
{
    for (int set = 0; set < BUCKETS_COUNT; set++) {
        struct buckets *buckets = &builder->buckets[set];
        int64_t bucket = buckets->of_unit[unit];
        if (buckets->gathered[bucket] != STEP_NONE)
            continue;
        int32_t item = append_gather(builder, buckets, bucket);
        buckets->gathered[bucket] = item;
        if (item != STEP_NONE)
            program_wait(builder, item, after);
    }
}

static void
forget_unit(struct program_builder *builder, int64_t unit)
{
    for (int set = 0; set < BUCKETS_COUNT; set++)
        builder->buckets[set].gathered[builder->buckets[set].of_unit[unit]] = STEP_NONE;
}

/* Of fully sharded weights a unit's are there while it runs and the next one's arrive; each pass
 * gathers them anew (arXiv 2304.11277, section 3.3). */
void
program_prepare_unit(struct program_builder *builder, int64_t unit, bool is_forward)
{
    const struct plan *plan = builder->shard.workload.plan;
    int64_t next = is_forward ? unit + 1 : unit - 1, before = is_forward ? unit - 1 : unit + 1;
    if (plan->zero_stage < 3)
        return;
    if (before >= 0 && before < builder->units)
        forget_unit(builder, before);
    gather_unit(builder, unit, builder->last_compute);
    if (plan->overlaps_parameter_gather && next >= 0 && next < builder->units)
        gather_unit(builder, next, builder->last_compute);
}

int32_t
program_gathered(const struct program_builder *builder, int64_t unit, int bucket_set)
{
    const struct buckets *buckets = &builder->buckets[bucket_set];
    return buckets->gathered[buckets->of_unit[unit]];
}

/* The bucket that this unit is the last of to be finished goes on its way. */
void
program_finish_unit(struct program_builder *builder, int64_t unit, bool is_last)
{
    const struct plan *plan = builder->shard.workload.plan;
    bool is_reduced = is_last && plan->overlaps_gradient_reduction;
    if (!is_reduced && !plan_reduces_each_pass(plan))
        return;
    for (int set = 0; set < BUCKETS_COUNT; set++) {
        struct buckets *buckets = &builder->buckets[set];
        int64_t bucket = buckets->of_unit[unit], units = 0;
        if (--buckets->units_open[bucket] > 0)
            continue;
        for (int64_t i = 0; i < builder->units; i++)
            units += buckets->of_unit[i] == bucket;
        buckets->units_open[bucket] = units; /* for the next microbatch */
        append_reduction(builder, buckets, bucket);
    }
}

static int32_t
append_share(struct program_builder *builder, enum step_lane lane, enum share_stage stage)
{
    int32_t item = program_append(builder, lane, NULL);
    builder->items[item].stage = stage;
    return item;
}

void
program_append_weight_cast(struct program_builder *builder, int64_t unit)
{
    const struct workload *workload = &builder->shard.workload;
    struct fp8_setting setting = fp8_setting_of(workload->plan, workload->software);
    struct fp8_cast cast = fp8_cast_weight_once(&setting);
    struct pricing_pass pass = {.name = "quantize_weights",
                                .spent_on = CLASS_QUANTIZATION,
                                .read = cast.read,
                                .write = cast.write,
                                .launches = cast.launches,
                                .op = "quantize"};
    for (int set = 0; set < BUCKETS_COUNT; set++)
        pass.elements += builder->buckets[set].quantized[unit];
    if (cast.launches == 0 || pass.elements == 0)
        return;
    const struct step_work *work = pricing_pass(&builder->pricing, &pass);
    if (!work)
        return;
    int32_t item = program_append(builder, LANE_COMPUTE, work);
    for (int set = 0; set < BUCKETS_COUNT; set++)
        program_wait(builder, item, program_gathered(builder, unit, set));
}

/* The item of the lane appended last; STEP_NONE when there is none. */
static int32_t
last_on(const struct program_builder *builder, enum step_lane lane)
{
    int32_t item = (int32_t)builder->count - 1;
    while (item >= 0 && builder->items[item].lane != lane)
        item--;
    return item >= 0 ? item : STEP_NONE;
}

/* The norm over all ranks: 4 bytes, and the host reads them before it launches what follows. */
static int32_t
append_norm_reduction(struct program_builder *builder, int32_t local_norm)
{
    const struct placement *placement = &builder->shard.placement;
    bool is_whole = builder->shard.workload.plan->zero_stage == 0 &&
                    placement->tensor * placement->pipeline * placement->expert == 1;
    struct collective collective = {.kind = COLLECTIVE_ALL_REDUCE,
                                    .dtype = DTYPE_FP32,
                                    .group = placement_group(placement, PEERS_ALL, 0),
                                    .ranks = placement->ranks,
                                    .bytes = dtype_bytes(DTYPE_FP32)};
    if (placement->ranks == 1 || is_whole)
        return local_norm; /* every rank holds all gradients: its norm is the whole's */
    const struct step_work *work = pricing_collective(&builder->pricing, "reduce_gradient_norm",
                                                      CLASS_GRADIENT_NORM, &collective);
    if (!work)
        return local_norm;
    int32_t item = program_append_joint(builder, LANE_DATA, work, PEERS_ALL);
    program_wait(builder, item, local_norm);
    return item;
}

/* First and last stage add up the gradients of their copies of a tied embedding (Megatron-LM,
 * distributed/finalize_model_grads.py). */
static void
append_embedding_reduction(struct program_builder *builder)
{
    const struct shard *shard = &builder->shard;
    const struct plan *plan = shard->workload.plan;
    int64_t stage = builder->kind->stage, last = shard->placement.pipeline - 1;
    bool is_apart = shard->workload.arch->is_embedding_tied && last > 0 && !plan->adapters &&
                    plan->schedule != SCHEDULE_ZB_V && plan->schedule != SCHEDULE_DUALPIPE;
    if (!is_apart || (stage != 0 && stage != last))
        return;
    int64_t cut = plan->is_vocabulary_parallel ? plan->tensor : 1;
    double elements =
        (double)shard->workload.arch->vocab * (double)shard->workload.arch->hidden;
    struct collective collective = {
        .kind = COLLECTIVE_ALL_REDUCE,
        .dtype = plan->gradient_dtype,
        .group = placement_group(&shard->placement, PEERS_ENDS, builder->kind->rank),
        .ranks = 2,
        .bytes = dtype_bytes(plan->gradient_dtype) * elements / (double)cut};
    const struct step_work *work = pricing_collective(
        &builder->pricing, "reduce_tied_embedding", CLASS_GRADIENT_REDUCTION, &collective);
    if (work)
        program_wait(builder, program_append_joint(builder, LANE_DATA, work, PEERS_ENDS),
                     builder->last_compute);
}

/* With sequence parallelism a weight that every tensor rank has whole has seen its part of the
 * tokens, or of the heads: gradients are added up once the data ranks have theirs (Megatron-LM,
 * distributed/finalize_model_grads.py), of ZeRO-2 and 3 each shard's. */
static void
append_shared_reduction(struct program_builder *builder)
{
    const struct plan *plan = builder->shard.workload.plan;
    double elements = (double)builder->tensors[builder->kind->stage].shared_elements;
    if (!plan->is_sequence_parallel)
        return;
    if (plan->zero_stage >= 2)
        elements /= (double)placement_group_ranks(&builder->shard.placement, PEERS_SHARD);
    int32_t item = append_reduce(builder, COLLECTIVE_ALL_REDUCE, PEERS_TENSOR, elements);
    if (item != STEP_NONE)
        program_wait(builder, item, builder->last_compute);
}

static void
append_exposed_reductions(struct program_builder *builder)
{
    for (int set = 0; set < BUCKETS_COUNT; set++)
        for (int64_t bucket = 0; bucket < builder->buckets[set].count; bucket++)
            append_reduction(builder, &builder->buckets[set], bucket);
}

static int32_t
append_copy(struct program_builder *builder, enum share_stage stage, int32_t after)
{
    int32_t copy = append_share(builder, LANE_COMPUTE, stage);
    program_wait(builder, copy, after);
    return copy;
}

/* Clipping reads every gradient before the first weight may change; without it the optimizer waits
 * for the reductions alone. */
static int32_t
append_clipping(struct program_builder *builder, int32_t reduced)
{
    if (!builder->shard.workload.plan->clips_gradients)
        return reduced;
    int32_t norm = append_share(builder, LANE_COMPUTE, SHARE_GRADIENT_NORM);
    program_wait(builder, norm, reduced);
    return append_norm_reduction(builder, norm);
}

/* Each rank has seen its share of a weight: one all-reduce of all largest values (torchao,
 * precompute_float8_dynamic_scale_for_fsdp; Megatron-LM, fp8_utils.py). */
static int32_t
append_scale_reduction(struct program_builder *builder)
{
    const struct shard_tensors *tensors = &builder->tensors[builder->kind->stage];
    double scales = 0;
    for (int64_t i = 0; i < tensors->dense.count; i++)
        scales += fp8_takes_tensor(&tensors->dense.items[i]);
    for (int64_t i = 0; i < tensors->experts.count; i++)
        scales += (double)tensors->experts.items[i].copies;
    if (builder->shard.workload.plan->fp8_recipe != FP8_TENSORWISE)
        return STEP_NONE;
    return append_bytes(builder, COLLECTIVE_ALL_REDUCE, PEERS_DATA, DTYPE_FP32,
                        dtype_bytes(DTYPE_FP32) * scales);
}

void
program_append_optimizer(struct program_builder *builder)
{
    const struct plan *plan = builder->shard.workload.plan;
    program_begin_phase(builder, PHASE_OPTIMIZER);
    if (!plan->overlaps_gradient_reduction && !plan_reduces_each_pass(plan))
        append_exposed_reductions(builder);
    append_shared_reduction(builder);
    append_embedding_reduction(builder);
    int32_t reduced = last_on(builder, LANE_DATA);
    if (!builder->shard.workload.software->fuses_master_copies)
        reduced = append_copy(builder, SHARE_WIDEN, reduced);
    int32_t clipped = append_clipping(builder, reduced);
    int32_t launches = append_share(builder, LANE_HOST, SHARE_LAUNCHES);
    if (plan->clips_gradients)
        program_wait(builder, launches, clipped);
    int32_t momentum = append_share(builder, LANE_COMPUTE, SHARE_MOMENTUM);
    program_wait(builder, momentum, clipped);
    int32_t exchange = STEP_NONE; /* AdamW needs no whole matrices */
    if (plan->optimizer == OPTIMIZER_MUON) {
        exchange = append_share(builder, LANE_DATA, SHARE_EXCHANGE);
        program_wait(builder, exchange, momentum);
    }
    append_share(builder, LANE_COMPUTE, SHARE_ADAMW);
    int32_t newton_schulz = append_share(builder, LANE_COMPUTE, SHARE_NEWTON_SCHULZ);
    program_wait(builder, newton_schulz, exchange);
    int32_t update = append_share(builder, LANE_COMPUTE, SHARE_UPDATE);
    program_wait(builder, update, launches);
    if (!builder->shard.workload.software->fuses_master_copies)
        append_copy(builder, SHARE_NARROW, STEP_NONE);
    if (plan->gathers_weights_in_fp8)
        append_copy(builder, SHARE_QUANTIZE, append_scale_reduction(builder));
    bool is_gathered_late = plan->zero_stage > 0 && plan->zero_stage < 3;
    if (is_gathered_late && !plan->overlaps_parameter_gather)
        append_gathers(builder, builder->last_compute);
}

/* One pass that writes all accumulated gradients, of ZeRO-2 and 3 a share of them. */
void
program_append_zeroing(struct program_builder *builder)
{
    const struct plan *plan = builder->shard.workload.plan;
    int64_t elements = 0;
    for (int set = 0; set < BUCKETS_COUNT; set++) {
        const struct buckets *buckets = &builder->buckets[set];
        int64_t ranks = plan->zero_stage < 2
                            ? 1
                            : placement_group_ranks(&builder->shard.placement, buckets->shard);
        for (int64_t bucket = 0; bucket < buckets->count; bucket++)
            elements += buckets->parameters[bucket] / ranks;
    }
    const struct pricing_pass zeroing = {.name = "zero_gradients",
                                         .spent_on = CLASS_GRADIENT_ACCUMULATION,
                                         .elements = elements,
                                         .write = dtype_bytes(plan->gradient_dtype),
                                         .launches = 1};
    const struct step_work *work = pricing_pass(&builder->pricing, &zeroing);
    if (work)
        program_append(builder, LANE_COMPUTE, work);
}
