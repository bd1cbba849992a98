/* What one rank does in a step, in order. */
#include "models/program.h"

#include <assert.h>

#include "models/pricing.h"
#include "models/schedule.h"

const char *
step_lane_name(enum step_lane lane)
{
    static const char *const names[] = {"host", "compute", "data"};
    static_assert(sizeof names / sizeof *names == STEP_LANE_COUNT, "a name for each lane");
    return names[lane];
}

const char *
step_phase_name(enum step_phase phase)
{
    static const char *const names[] = {"forward", "backward", "optimizer"};
    return names[phase];
}

/* Gradients are reduced, and weights gathered, bucket by bucket. A bucket is closed by the unit
 * that fills it. Units in forward order: 0 is the embedding (and a head that shares its weights),
 * 1.. are the layers, the last is what comes behind them. Backward has a unit's gradients in the
 * reverse order.
 *
 * A rank owns a contiguous piece of the whole, so a bucket ends on the ranks whose pieces it is
 * made of. It is priced as an even reduce-scatter all the same: round a ring, every byte passes
 * every link once, whoever keeps it. */
struct buckets {
    int64_t *of_unit;    /* bucket of each unit; bucket 0 holds the last units */
    int64_t *parameters; /* of each bucket */
    int64_t count;
    int64_t units;
};

struct program_builder {
    struct pricing pricing;
    struct priced_block blocks[BLOCK_COUNT][2]; /* by direction */
    struct buckets buckets;
    struct step_item *items;
    size_t count, capacity;
    struct step_item next; /* phase, layer and microbatch of what is appended */
    int32_t last_compute;  /* the item last put on the compute lane; -1: none */
    int32_t *gathered;     /* item that gathers each bucket, -1: none */
};

static int32_t
append(struct program_builder *builder, enum step_lane lane, const struct step_work *work)
{
    builder->items = arena_grow(builder->pricing.arena, builder->items, builder->count,
                                &builder->capacity, sizeof *builder->items);
    struct step_item *item = &builder->items[builder->count];
    *item = builder->next;
    item->lane = lane;
    item->work = work;
    item->after[0] = item->after[1] = -1;
    int32_t index = (int32_t)builder->count++;
    if (lane == LANE_COMPUTE)
        builder->last_compute = index;
    return index;
}

static void
wait_for(struct program_builder *builder, int32_t item, int32_t earlier)
{
    if (earlier < 0)
        return;
    int32_t *after = builder->items[item].after;
    int slot = after[0] < 0 ? 0 : 1;
    assert(after[slot] < 0 && "an item waits for at most two others");
    after[slot] = earlier;
}

/* Tied, the head's gradients are whole only when the embedding's are. */
static int64_t
unit_of(const struct tensor *tensor, const struct arch *arch)
{
    if (tensor->layer >= 0)
        return tensor->layer + 1;
    return tensor->part == PART_EMBEDDING ? 0 : arch->layers + 1;
}

static struct buckets
make_buckets(const struct step_inputs *inputs, struct arena *arena)
{
    const struct tensor_list *tensors = inputs->tensors;
    int64_t units = inputs->workload.arch->layers + 2;
    int64_t *sizes = arena_alloc(arena, (size_t)units, sizeof *sizes);
    for (int64_t i = 0; i < tensors->count; i++) {
        const struct tensor *tensor = &tensors->items[i];
        sizes[unit_of(tensor, inputs->workload.arch)] += tensor_elements(tensor);
    }
    struct buckets buckets = {arena_alloc(arena, (size_t)units, sizeof *sizes),
                              arena_alloc(arena, (size_t)units, sizeof *sizes), 1, units};
    for (int64_t unit = units - 1; unit >= 0; unit--) { /* as backward finishes them */
        int64_t *open = &buckets.parameters[buckets.count - 1];
        buckets.of_unit[unit] = buckets.count - 1;
        *open += sizes[unit];
        if (*open >= inputs->workload.plan->bucket_parameters && unit > 0)
            buckets.count++;
    }
    return buckets;
}

/* A collective over all data ranks on a bucket; -1 after a fault. One rank needs none: -1 too. */
static int32_t
append_bucket(struct program_builder *builder, enum collective_kind kind, int64_t bucket)
{
    const struct step_inputs *inputs = builder->pricing.inputs;
    const struct plan *plan = inputs->workload.plan;
    bool is_gather = kind == COLLECTIVE_ALL_GATHER;
    enum dtype dtype = is_gather ? plan->compute_dtype : plan->gradient_dtype;
    int64_t ranks = plan_data_degree(plan, inputs->cluster);
    struct collective collective = {.kind = kind,
                                    .dtype = dtype,
                                    .ranks = ranks,
                                    .nodes = inputs->cluster->nodes,
                                    .bytes = dtype_bytes(dtype) *
                                             (double)builder->buckets.parameters[bucket]};
    if (ranks == 1)
        return -1;
    const struct step_work *work = pricing_collective(
        &builder->pricing, is_gather ? "gather_parameters" : "reduce_gradients",
        is_gather ? CLASS_PARAMETER_GATHER : CLASS_GRADIENT_REDUCTION, &collective);
    if (!work)
        return -1;
    int32_t item = append(builder, LANE_DATA, work);
    builder->items[item].is_joint = true;
    return item;
}

/* Weights come back in the order that forward wants them: the bucket of the embedding first. */
static void
append_gathers(struct program_builder *builder, int32_t after)
{
    for (int64_t bucket = builder->buckets.count - 1; bucket >= 0; bucket--) {
        int32_t item = append_bucket(builder, COLLECTIVE_ALL_GATHER, bucket);
        builder->gathered[bucket] = item;
        if (item >= 0)
            wait_for(builder, item, after);
    }
}

static enum collective_kind
reduction_kind(const struct plan *plan)
{
    return plan->zero_stage == 0 ? COLLECTIVE_ALL_REDUCE : COLLECTIVE_REDUCE_SCATTER;
}

/* The kernels of a block behind the host's launches of them. The host may be ahead by any number
 * of blocks; a block's last kernel cannot start before its launches are through. */
static void
append_block(struct program_builder *builder, enum block block, enum direction direction,
             int32_t gathered)
{
    const struct priced_block *priced = &builder->blocks[block][direction];
    int32_t launches =
        append(builder, LANE_HOST, pricing_host(&builder->pricing, priced->launches));
    int32_t first = (int32_t)builder->count;
    for (int64_t i = 0; i < priced->count; i++)
        append(builder, LANE_COMPUTE, priced->items[i]);
    wait_for(builder, first, gathered);
    wait_for(builder, builder->last_compute, launches);
}

static int32_t
gathered_of(const struct program_builder *builder, int64_t unit)
{
    return builder->gathered[builder->buckets.of_unit[unit]];
}

static void
append_forward(struct program_builder *builder)
{
    const struct arch *arch = builder->pricing.inputs->workload.arch;
    builder->next.phase = PHASE_FORWARD;
    append_block(builder, BLOCK_EMBEDDING, DIRECTION_FORWARD, gathered_of(builder, 0));
    for (int64_t layer = 0; layer < arch->layers; layer++) {
        builder->next.layer = (int32_t)layer;
        append_block(builder, operators_attention_block(arch, layer), DIRECTION_FORWARD,
                     gathered_of(builder, layer + 1));
        append_block(builder, operators_feed_forward_block(arch, layer), DIRECTION_FORWARD, -1);
    }
    builder->next.layer = -1;
    append_block(builder, BLOCK_HEAD, DIRECTION_FORWARD,
                 gathered_of(builder, arch->layers + 1));
}

/* After the gradients of a unit are there: its bucket's reduction, if the unit closes it. */
static void
append_overlapped_reduction(struct program_builder *builder, int64_t unit)
{
    const struct buckets *buckets = &builder->buckets;
    bool is_closing = unit == 0 || buckets->of_unit[unit - 1] != buckets->of_unit[unit];
    if (!is_closing)
        return;
    enum collective_kind kind = reduction_kind(builder->pricing.inputs->workload.plan);
    int32_t item = append_bucket(builder, kind, buckets->of_unit[unit]);
    if (item >= 0)
        wait_for(builder, item, builder->last_compute);
}

static void
append_backward(struct program_builder *builder, bool is_last_microbatch)
{
    const struct workload *workload = &builder->pricing.inputs->workload;
    bool is_reducing = is_last_microbatch && workload->plan->overlaps_gradient_reduction;
    builder->next.phase = PHASE_BACKWARD;
    append_block(builder, BLOCK_HEAD, DIRECTION_BACKWARD, -1);
    if (is_reducing)
        append_overlapped_reduction(builder, workload->arch->layers + 1);
    for (int64_t layer = workload->arch->layers - 1; layer >= 0; layer--) {
        builder->next.layer = (int32_t)layer;
        append_block(builder, operators_feed_forward_block(workload->arch, layer),
                     DIRECTION_BACKWARD, -1);
        append_block(builder, operators_attention_block(workload->arch, layer),
                     DIRECTION_BACKWARD, -1);
        if (is_reducing)
            append_overlapped_reduction(builder, layer + 1);
    }
    builder->next.layer = -1;
    append_block(builder, BLOCK_EMBEDDING, DIRECTION_BACKWARD, -1);
    if (is_reducing)
        append_overlapped_reduction(builder, 0);
}

static int32_t
append_share(struct program_builder *builder, enum step_lane lane, enum share_stage stage)
{
    int32_t item = append(builder, lane, NULL);
    builder->items[item].stage = stage;
    return item;
}

/* The item of the lane appended last; -1 when there is none. */
static int32_t
last_on(const struct program_builder *builder, enum step_lane lane)
{
    int32_t item = (int32_t)builder->count - 1;
    while (item >= 0 && builder->items[item].lane != lane)
        item--;
    return item;
}

/* The norm over all ranks: 4 bytes, and the host reads them before it launches what follows. */
static int32_t
append_norm_reduction(struct program_builder *builder, int32_t local_norm)
{
    const struct step_inputs *inputs = builder->pricing.inputs;
    int64_t ranks = plan_data_degree(inputs->workload.plan, inputs->cluster);
    struct collective collective = {.kind = COLLECTIVE_ALL_REDUCE,
                                    .dtype = DTYPE_FP32,
                                    .ranks = ranks,
                                    .nodes = inputs->cluster->nodes,
                                    .bytes = dtype_bytes(DTYPE_FP32)};
    if (ranks == 1 || inputs->workload.plan->zero_stage == 0)
        return local_norm; /* every rank holds all gradients: its norm is the whole's */
    const struct step_work *work = pricing_collective(&builder->pricing, "reduce_gradient_norm",
                                                      CLASS_GRADIENT_NORM, &collective);
    int32_t item = append(builder, LANE_DATA, work);
    builder->items[item].is_joint = true;
    wait_for(builder, item, local_norm);
    return item;
}

static void
append_exposed_reductions(struct program_builder *builder)
{
    enum collective_kind kind = reduction_kind(builder->pricing.inputs->workload.plan);
    int32_t last_kernel = builder->last_compute;
    for (int64_t bucket = 0; bucket < builder->buckets.count; bucket++) {
        int32_t item = append_bucket(builder, kind, bucket);
        if (item >= 0)
            wait_for(builder, item, last_kernel);
    }
}

static void
append_optimizer(struct program_builder *builder)
{
    const struct plan *plan = builder->pricing.inputs->workload.plan;
    builder->next = (struct step_item){.phase = PHASE_OPTIMIZER, .layer = -1, .microbatch = -1};
    if (!plan->overlaps_gradient_reduction)
        append_exposed_reductions(builder);
    int32_t reduced = last_on(builder, LANE_DATA);
    int32_t norm = append_share(builder, LANE_COMPUTE, SHARE_GRADIENT_NORM);
    wait_for(builder, norm, reduced);
    int32_t clipped = append_norm_reduction(builder, norm);
    int32_t launches = append_share(builder, LANE_HOST, SHARE_LAUNCHES);
    wait_for(builder, launches, clipped);
    int32_t momentum = append_share(builder, LANE_COMPUTE, SHARE_MOMENTUM);
    wait_for(builder, momentum, clipped);
    int32_t exchange = append_share(builder, LANE_DATA, SHARE_EXCHANGE);
    wait_for(builder, exchange, momentum);
    append_share(builder, LANE_COMPUTE, SHARE_ADAMW);
    int32_t newton_schulz = append_share(builder, LANE_COMPUTE, SHARE_NEWTON_SCHULZ);
    wait_for(builder, newton_schulz, exchange);
    int32_t update = append_share(builder, LANE_COMPUTE, SHARE_UPDATE);
    wait_for(builder, update, launches);
    if (plan->zero_stage > 0 && !plan->overlaps_parameter_gather)
        append_gathers(builder, builder->last_compute);
}

/* The accumulated gradients start from 0: one pass that writes them. */
static bool
append_zeroing(struct program_builder *builder)
{
    const struct step_inputs *inputs = builder->pricing.inputs;
    const struct pricing_pass zeroing = {
        .name = "zero_gradients",
        .spent_on = CLASS_GRADIENT_ACCUMULATION,
        .elements = tensors_count(inputs->workload.arch, inputs->tensors).every,
        .write = dtype_bytes(inputs->workload.plan->gradient_dtype),
        .launches = 1};
    const struct step_work *work = pricing_pass(&builder->pricing, &zeroing);
    if (work)
        append(builder, LANE_COMPUTE, work);
    return work != NULL;
}

static bool
price_blocks(struct program_builder *builder)
{
    for (int block = 0; block < BLOCK_COUNT; block++)
        for (int direction = 0; direction < 2; direction++)
            if (!pricing_block(&builder->pricing, (enum block)block, (enum direction)direction,
                               &builder->blocks[block][direction]))
                return false;
    return true;
}

static bool
append_step(struct program_builder *builder)
{
    const struct step_inputs *inputs = builder->pricing.inputs;
    const struct plan *plan = inputs->workload.plan;
    int64_t microbatches = plan_microbatches(plan, inputs->cluster);
    struct schedule schedule = schedule_1f1b(1, 0, microbatches, builder->pricing.arena);
    builder->next = (struct step_item){.layer = -1, .microbatch = 0};
    if (plan->zero_stage > 0 && plan->overlaps_parameter_gather)
        append_gathers(builder, -1);
    if (!append_zeroing(builder))
        return false;
    for (int64_t i = 0; i < schedule.count; i++) {
        const struct schedule_step *step = &schedule.steps[i];
        builder->next.microbatch = (int32_t)step->microbatch;
        if (step->direction == DIRECTION_FORWARD)
            append_forward(builder);
        else
            append_backward(builder, step->microbatch == microbatches - 1);
    }
    append_optimizer(builder);
    return true;
}

const struct program *
program_of(const struct step_inputs *inputs, struct arena *arena, struct error_list *errors)
{
    int faults_before = errors->count;
    struct program_builder builder = {.pricing = {inputs, arena, errors}, .last_compute = -1};
    struct program *program = arena_alloc(arena, 1, sizeof *program);
    builder.buckets = make_buckets(inputs, arena);
    builder.gathered =
        arena_alloc(arena, (size_t)builder.buckets.count, sizeof *builder.gathered);
    for (int64_t bucket = 0; bucket < builder.buckets.count; bucket++)
        builder.gathered[bucket] = -1;
    if (!price_blocks(&builder) || !pricing_shares(&builder.pricing, program))
        return NULL;
    if (!append_step(&builder) || errors->count != faults_before)
        return NULL;
    program->items = builder.items;
    program->count = (int64_t)builder.count;
    return program;
}

const struct step_work *
program_work(const struct program *program, const struct step_item *item, int64_t rank)
{
    return item->work ? item->work : program->shares[rank][item->stage];
}
