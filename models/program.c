/* What the ranks do in a step: one program for each kind of rank. */
#include "models/program.h"

#include <assert.h>

#include "models/program_builder.h"

const char *
step_lane_name(enum step_lane lane)
{
    static const char *const names[] = {"host",   "compute", "data",       "tensor",
                                        "expert", "context", "forward in", "backward in"};
    static_assert(sizeof names / sizeof *names == STEP_LANE_COUNT, "a name for each lane");
    return names[lane];
}

const char *
step_phase_name(enum step_phase phase)
{
    static const char *const names[] = {"forward", "backward", "optimizer"};
    return names[phase];
}

struct shard
step_inputs_shard(const struct step_inputs *inputs)
{
    return (struct shard){inputs->workload,
                          placement_of(inputs->workload.plan, inputs->cluster)};
}

void
program_begin_phase(struct program_builder *builder, enum step_phase phase)
{
    struct step_item *next = &builder->next;
    *next = (struct step_item){.phase = phase};
    next->layer = next->microbatch = next->pass = STEP_NONE;
    next->from_stage = next->from_item = STEP_NONE;
    for (int i = 0; i < STEP_WAITS_MAX; i++)
        next->after[i] = STEP_NONE;
}

int32_t
program_append(struct program_builder *builder, enum step_lane lane,
               const struct step_work *work)
{
    builder->items = arena_grow(builder->pricing.arena, builder->items, builder->count,
                                &builder->capacity, sizeof *builder->items);
    struct step_item *item = &builder->items[builder->count];
    *item = builder->next;
    item->lane = lane;
    item->work = work;
    int32_t index = (int32_t)builder->count++;
    builder->listed_s += work ? work->delay_s + work->work_s : 0;
    if (lane == LANE_COMPUTE) {
        builder->listed_compute_s += work ? work->work_s : 0;
        builder->last_compute = index;
    }
    return index;
}

int32_t
program_append_kernels(struct program_builder *builder, const struct priced_step *steps,
                       int64_t count)
{
    struct step_item item = builder->next;
    size_t end = builder->count + (size_t)count;
    builder->items = arena_grow(builder->pricing.arena, builder->items, end - 1,
                                &builder->capacity, sizeof *builder->items);
    item.lane = LANE_COMPUTE;
    double listed_s = builder->listed_s, listed_compute_s = builder->listed_compute_s;
    for (int64_t i = 0; i < count; i++) {
        item.work = steps[i].work;
        listed_s += item.work->delay_s + item.work->work_s;
        listed_compute_s += item.work->work_s;
        builder->items[builder->count + (size_t)i] = item;
    }
    builder->listed_s = listed_s;
    builder->listed_compute_s = listed_compute_s;
    builder->count = end;
    builder->last_compute = (int32_t)end - 1;
    return builder->last_compute;
}

int32_t
program_append_joint(struct program_builder *builder, enum step_lane lane,
                     const struct step_work *work, enum peers peers)
{
    int32_t item = program_append(builder, lane, work);
    builder->items[item].is_joint = true;
    builder->items[item].peers = peers;
    return item;
}

void
program_wait(struct program_builder *builder, int32_t item, int32_t earlier)
{
    int32_t *after = builder->items[item].after;
    int place = 0;
    if (earlier == STEP_NONE)
        return;
    while (place < STEP_WAITS_MAX && after[place] != STEP_NONE && after[place] != earlier)
        place++;
    assert(place < STEP_WAITS_MAX && "an item waits for at most five others");
    after[place] = earlier;
}

/* Whether ranks that hold different experts have different work. */
static int64_t
count_places(const struct shard *shard, struct arena *arena)
{
    const struct plan *plan = shard->workload.plan;
    const struct arch *arch = shard->workload.arch;
    int64_t ranks = shard->placement.expert;
    if (ranks == 1 || !plan->routing)
        return 1;
    struct routed_tokens routed = {plan_microbatch_tokens(plan), arch->experts_per_token,
                                   arch->experts};
    struct expert_loads loads = routing_loads(plan->routing, &routed, arena);
    for (int64_t rank = 1; rank < ranks; rank++)
        if (routing_rank_rows(&loads, ranks, rank) != routing_rank_rows(&loads, ranks, 0))
            return ranks;
    return 1;
}

/* Kernels of a step on all kinds of rank, about: as if every layer were the model's last one. */
static bool
has_too_many_kernels(const struct program_builder *builder, int64_t places)
{
    const struct arch *arch = builder->shard.workload.arch;
    const struct priced_block *(*blocks)[BLOCK_COUNT] = builder->blocks;
    const enum block of_layer[] = {operators_attention_block(arch, arch->layers - 1),
                                   operators_feed_forward_block(arch, arch->layers - 1)};
    int64_t kernels = 0;
    for (int i = 0; i < 2; i++)
        kernels += blocks[0][of_layer[i]]->passes[PASS_FORWARD].count +
                   blocks[0][of_layer[i]]->passes[PASS_BACKWARD].count;
    return kernels * arch->layers * builder->shape.microbatches * places > PROGRAM_KERNELS_MAX;
}

static void
merge_blocks(struct program_builder *builder, int64_t places)
{
    struct arena *arena = builder->pricing.arena;
    const struct priced_block *(*merged)[BLOCK_COUNT] =
        arena_alloc(arena, (size_t)places, sizeof *merged);
    for (int64_t place = 0; place < places; place++)
        for (int block = 0; block < BLOCK_COUNT; block++) {
            const struct priced_block *block_of = builder->blocks[place][block];
            struct priced_block *out = arena_alloc(arena, 1, sizeof *out);
            for (int pass = 0; pass < PASS_KINDS; pass++) {
                out->passes[pass] = pricing_merge(&builder->pricing, &block_of->passes[pass]);
                out->kept[pass] = pricing_merge(&builder->pricing, &block_of->kept[pass]);
            }
            merged[place][block] = out;
        }
    builder->blocks = merged;
}

static bool
price_blocks(struct program_builder *builder, int64_t places)
{
    const struct pricing *pricing = &builder->pricing;
    const struct priced_block *(*blocks)[BLOCK_COUNT] =
        arena_alloc(pricing->arena, (size_t)places, sizeof *blocks);
    for (int64_t place = 0; place < places; place++) {
        for (int block = 0; block < BLOCK_COUNT; block++) {
            bool is_alike = place > 0 && block != BLOCK_FEED_FORWARD && block != BLOCK_HEAD;
            blocks[place][block] =
                is_alike ? blocks[0][block]
                         : pricing_block(pricing, &builder->shard, (enum block)block, place);
            if (!blocks[place][block])
                return false;
        }
    }
    builder->blocks = blocks;
    enum step_detail detail = pricing->inputs->detail;
    if (detail == DETAIL_BLOCKS ||
        (detail == DETAIL_AUTO && has_too_many_kernels(builder, places)))
        merge_blocks(builder, places);
    return true;
}

/* From the ranks that forward (backward) comes from; the same price for every chunk. */
static bool
price_transfers(struct program_builder *builder)
{
    const struct shard *shard = &builder->shard;
    int64_t stages = builder->shape.stages, stage = builder->kind->stage;
    if (stages == 1)
        return true;
    for (int direction = 0; direction < 2; direction++) {
        struct rank_place place = placement_at(&shard->placement, builder->kind->rank);
        place.pipeline = (stage + (direction == 0 ? stages - 1 : 1)) % stages;
        struct collective transfer = {.kind = COLLECTIVE_SEND_RECV,
                                      .dtype = shard->workload.plan->compute_dtype,
                                      .ranks = 2,
                                      .bytes = shard_stream_bytes(shard),
                                      .from = placement_rank(&shard->placement, &place),
                                      .to = builder->kind->rank};
        builder->transfers[direction] = pricing_collective(
            &builder->pricing, direction == 0 ? "receive_activations" : "receive_gradients",
            CLASS_PIPELINE_TRANSFER, &transfer);
        if (!builder->transfers[direction])
            return false;
    }
    return true;
}

static void
make_spans(struct program_builder *builder)
{
    int64_t chunks = builder->shape.chunks;
    builder->spans =
        arena_alloc(builder->pricing.arena, (size_t)chunks, sizeof *builder->spans);
    builder->units = 0;
    for (int64_t chunk = 0; chunk < chunks; chunk++) {
        struct shard_chunk held = shard_chunk(&builder->shard, builder->kind->stage, chunk);
        struct unit_span span = {.first = builder->units,
                                 .count =
                                     held.layers.count + held.has_embedding + held.has_head,
                                 .has_embedding = held.has_embedding,
                                 .has_head = held.has_head,
                                 .first_layer = held.layers.first};
        program_list_blocks(builder, &span);
        builder->spans[chunk] = span;
        builder->units += span.count;
    }
}

/* The steps of the schedule that begin with each chunk, and that finish its gradients. */
static void
find_ends(struct program_builder *builder)
{
    size_t chunks = (size_t)builder->shape.chunks;
    struct arena *arena = builder->pricing.arena;
    builder->last_weights = arena_alloc(arena, chunks, sizeof *builder->last_weights);
    builder->first_forward = arena_alloc(arena, chunks, sizeof *builder->first_forward);
    for (size_t chunk = 0; chunk < chunks; chunk++)
        builder->first_forward[chunk] = STEP_NONE;
    for (int64_t i = 0; i < builder->schedule->count; i++) {
        const struct schedule_step *step = &builder->schedule->steps[i];
        if (step->pass == PASS_FORWARD && builder->first_forward[step->chunk] == STEP_NONE)
            builder->first_forward[step->chunk] = i;
        if (step->pass == PASS_BACKWARD || step->pass == PASS_WEIGHT_GRADIENT)
            builder->last_weights[step->chunk] = i;
    }
}

/* Room for every pass's kernels, exchanges, launches and transfer, for its weights and gradients
 * where each pass moves them, and some for the optimizer: a guess that spares copies. */
static size_t
guess_items(const struct program_builder *builder)
{
    const struct priced_block *(*blocks)[BLOCK_COUNT] = builder->blocks;
    bool is_synchronized = plan_reduces_each_pass(builder->shard.workload.plan);
    size_t items = 64 + 2 * (size_t)builder->units;
    for (int64_t i = 0; i < builder->schedule->count; i++) {
        const struct schedule_step *step = &builder->schedule->steps[i];
        const struct unit_span *span = &builder->spans[step->chunk];
        for (int64_t j = 0; j < span->block_count; j++)
            items += 1 + (size_t)blocks[builder->kind->expert_place][span->blocks[j].block]
                             ->passes[step->pass]
                             .count;
        items += 1 + (is_synchronized ? (size_t)span->count * 2 * BUCKETS_COUNT : 0);
    }
    return items;
}

static bool
build_kind(struct program_builder *builder, struct rank_program *kind)
{
    size_t passes = (size_t)(builder->shape.chunks * builder->shape.microbatches);
    builder->kind = kind;
    builder->schedule = &builder->schedules[kind->stage];
    builder->last_compute = STEP_NONE;
    builder->incoming = (struct item_list){NULL, 0, 0};
    for (int direction = 0; direction < 2; direction++)
        builder->made[direction] =
            arena_alloc(builder->pricing.arena, passes, sizeof *builder->made[direction]);
    make_spans(builder);
    find_ends(builder);
    builder->count = 0;
    builder->listed_s = builder->listed_compute_s = 0;
    builder->capacity = guess_items(builder);
    builder->items =
        arena_alloc_unset(builder->pricing.arena, builder->capacity, sizeof *builder->items);
    if (!price_transfers(builder))
        return false;
    program_begin_phase(builder, PHASE_FORWARD);
    builder->next.microbatch = 0;
    program_make_buckets(builder);
    program_append_first_gathers(builder);
    program_append_zeroing(builder);
    program_append_passes(builder);
    kind->optimizer = (int64_t)builder->count;
    kind->passes_s = builder->listed_s;
    kind->passes_compute_s = builder->listed_compute_s;
    program_append_optimizer(builder);
    kind->items = builder->items;
    kind->count = (int64_t)builder->count;
    return true;
}

/* What building a kind leaves behind for the others. */
struct built_kind {
    struct step_item *items;
    int32_t *made[2];
    struct item_list incoming;
};

/* A transfer was appended with the pass that it waits for: now that every stage is built, the item
 * that ended that pass is known. `layer` of a transfer holds the chunk meanwhile. */
static void
resolve_transfers(const struct program *program, const struct built_kind *built,
                  int64_t microbatches)
{
    for (int64_t i = 0; i < program->kind_count; i++) {
        for (size_t j = 0; j < built[i].incoming.count; j++) {
            struct step_item *item = &built[i].items[built[i].incoming.items[j]];
            int64_t kind =
                item->from_stage * program->expert_places + program->kinds[i].expert_place;
            const int32_t *made = built[kind].made[item->lane != LANE_FORWARD_IN];
            item->from_item = made[item->layer * microbatches + item->microbatch];
            item->layer = STEP_NONE;
        }
    }
}

/* The ranks of a kind are the same on all axes but the data axes. */
static void
place_kind(struct rank_program *kind, const struct placement *placement, int64_t places)
{
    struct rank_place place = {.pipeline = kind->stage};
    kind->rank = placement_rank(placement, &place);
    place = placement_at(placement, kind->rank);
    while (places > 1 && (place.pipeline != kind->stage || place.expert != kind->expert_place))
        place = placement_at(placement, ++kind->rank);
    assert(kind->rank < placement->ranks);
    kind->slowest_rank = kind->rank;
}

static double
compute_s(const struct program *program, const struct rank_program *kind)
{
    double sum_s = kind->passes_compute_s;
    for (int64_t i = kind->optimizer; i < kind->count; i++) {
        const struct step_item *item = &kind->items[i];
        if (item->lane == LANE_COMPUTE)
            sum_s += program_work(program, item, kind->slowest_rank)->work_s;
    }
    return sum_s;
}

static void
find_slowest_kind(struct program *program)
{
    double longest_s = -1;
    for (int64_t i = 0; i < program->kind_count; i++) {
        double own_s = compute_s(program, &program->kinds[i]);
        if (own_s > longest_s)
            program->slowest_kind = i;
        longest_s = own_s > longest_s ? own_s : longest_s;
    }
}

static bool
build_kinds(struct program_builder *builder, const struct program *program,
            struct rank_program *kinds)
{
    struct arena *arena = builder->pricing.arena;
    size_t count = (size_t)program->kind_count;
    struct built_kind *built = arena_alloc(arena, count, sizeof *built);
    for (size_t i = 0; i < count; i++) {
        kinds[i].stage = (int64_t)i / program->expert_places;
        kinds[i].expert_place = (int64_t)i % program->expert_places;
        place_kind(&kinds[i], &program->placement, program->expert_places);
        if (!build_kind(builder, &kinds[i]))
            return false;
        built[i] = (struct built_kind){
            builder->items, {builder->made[0], builder->made[1]}, builder->incoming};
    }
    resolve_transfers(program, built, builder->shape.microbatches);
    return true;
}

const struct program *
program_of(const struct step_inputs *inputs, enum program_ranks ranks, struct arena *arena,
           struct error_list *errors)
{
    int faults_before = errors->count;
    const struct plan *plan = inputs->workload.plan;
    struct mixed_load load = mixed_load_of(inputs, arena);
    struct program_builder builder = {.pricing = {inputs, arena, errors, load},
                                      .shard = step_inputs_shard(inputs),
                                      .shape = schedule_shape(plan, inputs->cluster)};
    struct program *program = arena_alloc(arena, 1, sizeof *program);
    program->placement = builder.shard.placement;
    program->ranks = program->placement.ranks;
    program->is_all = ranks == RANKS_ALL;
    program->expert_places = count_places(&builder.shard, arena);
    program->kind_count = plan->pipeline * program->expert_places;
    builder.schedules = schedule_all(&builder.shape, arena);
    builder.tensors = shard_tensors(&builder.shard, arena);
    struct rank_program *kinds = arena_alloc(arena, (size_t)program->kind_count, sizeof *kinds);
    program->kinds = kinds;
    if (!price_blocks(&builder, program->expert_places) ||
        !build_kinds(&builder, program, kinds) ||
        !pricing_shares(&builder.pricing, builder.tensors, program, kinds))
        return NULL;
    if (errors->count != faults_before)
        return NULL;
    find_slowest_kind(program);
    return program;
}

const struct rank_program *
program_kind(const struct program *program, int64_t rank)
{
    if (program->kind_count == 1) /* asked for each task of each rank */
        return program->kinds;
    struct rank_place place = placement_at(&program->placement, rank);
    int64_t among = program->expert_places == 1 ? 0 : place.expert;
    return &program->kinds[place.pipeline * program->expert_places + among];
}

const struct step_work *
program_own_work(const struct program *program, const struct step_item *item, int64_t rank)
{
    struct rank_place place = placement_at(&program->placement, rank);
    int64_t own = place.data * program->placement.context + place.context;
    const struct share_work *share =
        &program->shares[place.pipeline * program->data_ranks + own];
    const struct step_work *work =
        item->stage == SHARE_EXCHANGE ? share->exchange : share->works[item->stage];
    assert(work && "of a rank that the program speaks of");
    return work;
}
