/* Passes: a chunk of layers forward or backward, one block behind the other, or two passes layer by
 * layer beside each other. */
#include <assert.h>

#include "models/program_builder.h"

/* How far a pass is. */
struct pass_cursor {
    struct schedule_step step;
    int32_t index; /* of that step in the schedule */
    const struct pass_block *blocks;
    int64_t count;
    int64_t block, position; /* of the step that comes next */
    int32_t last_compute;    /* of this pass */
    int32_t launches;        /* the host's item of the block */
    int64_t last_kernel;     /* of the block's steps, the one that waits for the launches */
    bool has_weights;        /* the block's first kernel has waited for them */
    struct waiting waiting[WAITING_MAX];
    int waiting_count;
    bool is_last_of_chunk; /* its gradients are whole behind it */
};

/* Forward order; backward walks it from the end. */
void
program_list_blocks(struct program_builder *builder, struct unit_span *span)
{
    const struct arch *arch = builder->shard.workload.arch;
    const struct plan *plan = builder->shard.workload.plan;
    struct pass_block *blocks =
        arena_alloc(builder->pricing.arena, (size_t)(2 * span->count), sizeof *blocks);
    span->blocks = blocks;
    for (int64_t i = 0; i < span->count; i++) {
        int64_t unit = span->first + i, layer = span->first_layer + i - span->has_embedding;
        bool is_embedding = span->has_embedding && i == 0;
        bool is_head = span->has_head && i == span->count - 1;
        if (is_embedding || is_head) {
            blocks[span->block_count++] = (struct pass_block){
                is_head ? BLOCK_HEAD : BLOCK_EMBEDDING, STEP_NONE, unit, true, true, false};
            continue;
        }
        bool is_kept = !plan_repeats_layer(plan, layer - span->first_layer);
        blocks[span->block_count++] = (struct pass_block){
            operators_attention_block(arch, layer), (int32_t)layer, unit, true, false, is_kept};
        blocks[span->block_count++] =
            (struct pass_block){operators_feed_forward_block(arch, layer),
                                (int32_t)layer,
                                unit,
                                false,
                                true,
                                is_kept};
    }
}

static bool
is_forward(const struct pass_cursor *cursor)
{
    return cursor->step.pass == PASS_FORWARD;
}

/* The block that comes index-th in the order of the pass. */
static struct pass_block
block_at(const struct pass_cursor *cursor, int64_t index)
{
    if (is_forward(cursor))
        return cursor->blocks[index];
    struct pass_block block = cursor->blocks[cursor->count - 1 - index];
    bool is_first = block.is_last;
    block.is_last = block.is_first;
    block.is_first = is_first;
    return block;
}

static const struct priced_list *
list_at(const struct program_builder *builder, const struct pass_cursor *cursor, int64_t index)
{
    const struct priced_block *(*blocks)[BLOCK_COUNT] = builder->blocks;
    struct pass_block at = block_at(cursor, index);
    const struct priced_block *priced = blocks[builder->kind->expert_place][at.block];
    return at.is_kept ? &priced->kept[cursor->step.pass] : &priced->passes[cursor->step.pass];
}

static void
expect(struct pass_cursor *cursor, int32_t item, int64_t block, int64_t step)
{
    int place = 0;
    while (place < WAITING_MAX && cursor->waiting[place].item != STEP_NONE)
        place++;
    assert(place < WAITING_MAX && "few exchanges are under way at once");
    cursor->waiting[place] = (struct waiting){item, block, step};
    cursor->waiting_count++;
}

static bool
is_due(const struct pass_cursor *cursor, const struct waiting *waiting)
{
    return waiting->item != STEP_NONE && waiting->due_block <= cursor->block &&
           (waiting->due_block != cursor->block || waiting->due_step <= cursor->position);
}

/* The item waits for every exchange that is due at the cursor. */
static void
wait_for_due(struct program_builder *builder, struct pass_cursor *cursor, int32_t item)
{
    for (int i = 0; i < WAITING_MAX && cursor->waiting_count > 0; i++) {
        struct waiting *waiting = &cursor->waiting[i];
        if (!is_due(cursor, waiting))
            continue;
        program_wait(builder, item, waiting->item);
        waiting->item = STEP_NONE;
        cursor->waiting_count--;
    }
}

/* Whether exchanges are under way that are not due yet. */
static bool
has_undue(const struct pass_cursor *cursor)
{
    int due_count = 0;
    for (int i = 0; i < WAITING_MAX && cursor->waiting_count > 0; i++)
        due_count += is_due(cursor, &cursor->waiting[i]);
    return due_count < cursor->waiting_count;
}

/* What a pass needs from another stage, on the lane where that arrives. Not asked for early: the
 * stage says that it is ready when it is. */
static void
append_transfer(struct program_builder *builder, struct pass_cursor *cursor)
{
    struct schedule_place here = {builder->kind->stage, cursor->step.chunk}, from;
    bool is_inner = is_forward(cursor) ? schedule_previous(&builder->shape, here, &from)
                                       : schedule_next(&builder->shape, here, &from);
    if (!is_inner || from.stage == here.stage || cursor->step.pass == PASS_WEIGHT_GRADIENT)
        return;
    int32_t ready = builder->last_compute;
    enum step_lane lane = is_forward(cursor) ? LANE_FORWARD_IN : LANE_BACKWARD_IN;
    int32_t item = program_append(builder, lane, builder->transfers[!is_forward(cursor)]);
    struct item_list *list = &builder->incoming;
    list->items = arena_grow(builder->pricing.arena, list->items, list->count, &list->capacity,
                             sizeof *list->items);
    list->items[list->count++] = item;
    builder->items[item].from_stage = (int32_t)from.stage;
    builder->items[item].layer = (int32_t)from.chunk;
    if (!builder->shard.workload.plan->overlaps_pipeline_transfer)
        program_wait(builder, item, ready);
    expect(cursor, item, 0, 0);
}

static void
begin_pass(struct program_builder *builder, struct pass_cursor *cursor, int64_t index)
{
    const struct schedule_step *step = &builder->schedule->steps[index];
    *cursor =
        (struct pass_cursor){.step = *step,
                             .index = (int32_t)index,
                             .last_compute = STEP_NONE,
                             .is_last_of_chunk = index == builder->last_weights[step->chunk]};
    cursor->blocks = builder->spans[step->chunk].blocks;
    cursor->count = builder->spans[step->chunk].block_count;
    for (int i = 0; i < WAITING_MAX; i++)
        cursor->waiting[i].item = STEP_NONE;
    builder->next.phase = is_forward(cursor) ? PHASE_FORWARD : PHASE_BACKWARD;
    builder->next.microbatch = (int32_t)step->microbatch;
    builder->next.pass = cursor->index;
    builder->next.layer = STEP_NONE;
    append_transfer(builder, cursor);
}

/* The host may be ahead by any number of blocks; a block's last kernel cannot start before its
 * launches are through. */
static void
begin_block(struct program_builder *builder, struct pass_cursor *cursor)
{
    struct pass_block block = block_at(cursor, cursor->block);
    bool is_anew = builder->shard.workload.plan->zero_stage == 3; /* for each pass */
    bool needs_weights =
        is_forward(cursor) || (is_anew && cursor->step.pass != PASS_WEIGHT_GRADIENT);
    if (block.is_first && needs_weights)
        program_prepare_unit(builder, block.unit, is_forward(cursor));
    if (block.is_first && cursor->index == builder->first_forward[cursor->step.chunk])
        program_append_weight_cast(builder, block.unit);
    const struct priced_list *list = list_at(builder, cursor, cursor->block);
    cursor->has_weights = !block.is_first || !needs_weights;
    if (list->count > 0)
        cursor->launches = program_append(builder, LANE_HOST, list->launches);
    cursor->last_kernel = list->count - 1;
    while (cursor->last_kernel >= 0 && list->steps[cursor->last_kernel].lane != LANE_COMPUTE)
        cursor->last_kernel--;
}

static void
end_block(struct program_builder *builder, struct pass_cursor *cursor)
{
    struct pass_block block = block_at(cursor, cursor->block);
    bool has_weights =
        cursor->step.pass == PASS_BACKWARD || cursor->step.pass == PASS_WEIGHT_GRADIENT;
    if (block.is_last && has_weights)
        program_finish_unit(builder, block.unit, cursor->is_last_of_chunk);
    cursor->block++;
    cursor->position = 0;
}

static void
wait_for_weights(struct program_builder *builder, struct pass_cursor *cursor, int32_t item)
{
    int64_t unit = block_at(cursor, cursor->block).unit;
    for (int set = 0; set < BUCKETS_COUNT; set++)
        program_wait(builder, item, program_gathered(builder, unit, set));
    cursor->has_weights = true;
}

/* The next kernel, and those behind it up to an exchange, if nothing is to be waited for on the
 * way. */
static void
append_kernels(struct program_builder *builder, struct pass_cursor *cursor,
               const struct priced_list *list)
{
    const struct priced_step *steps = &list->steps[cursor->position];
    int64_t left = list->count - cursor->position, count = 1;
    bool is_alone = has_undue(cursor);
    while (count < left && !is_alone && steps[count].lane == LANE_COMPUTE)
        count++;
    cursor->last_compute = program_append_kernels(builder, steps, count);
    int32_t first = cursor->last_compute - (int32_t)count + 1;
    wait_for_due(builder, cursor, first);
    if (!cursor->has_weights)
        wait_for_weights(builder, cursor, first);
    cursor->position += count;
    if (cursor->position == cursor->last_kernel + 1)
        program_wait(builder, cursor->last_compute, cursor->launches);
}

static void
append_exchange(struct program_builder *builder, struct pass_cursor *cursor,
                const struct priced_step *step)
{
    int32_t item = program_append_joint(builder, step->lane, step->work, step->peers);
    program_wait(builder, item, cursor->last_compute);
    wait_for_due(builder, cursor, item);
    expect(cursor, item, cursor->block, step->needed_at);
    cursor->position++;
}

/* The pass as far as its next exchange that must be waited for; false at its end. */
static bool
advance(struct program_builder *builder, struct pass_cursor *cursor)
{
    builder->next.phase = is_forward(cursor) ? PHASE_FORWARD : PHASE_BACKWARD;
    builder->next.microbatch = (int32_t)cursor->step.microbatch;
    builder->next.pass = cursor->index;
    while (cursor->block < cursor->count) {
        builder->next.layer = block_at(cursor, cursor->block).layer;
        if (cursor->position == 0)
            begin_block(builder, cursor);
        const struct priced_list *list = list_at(builder, cursor, cursor->block);
        while (cursor->position < list->count) {
            const struct priced_step *step = &list->steps[cursor->position];
            if (step->lane == LANE_COMPUTE)
                append_kernels(builder, cursor, list);
            else
                append_exchange(builder, cursor, step);
            if (step->lane != LANE_COMPUTE && step->needed_at == cursor->position)
                return true;
        }
        end_block(builder, cursor);
    }
    return false;
}

/* Who waits for the pass, waits for its last exchange, or for its last kernel. */
static void
end_pass(struct program_builder *builder, const struct pass_cursor *cursor)
{
    int32_t made = cursor->last_compute;
    int64_t place = cursor->step.chunk * builder->shape.microbatches + cursor->step.microbatch;
    for (int i = 0; i < WAITING_MAX; i++)
        if (cursor->waiting[i].item != STEP_NONE)
            made = cursor->waiting[i].item;
    builder->next.layer = STEP_NONE;
    if (is_forward(cursor))
        builder->made[0][place] = made;
    else if (cursor->step.pass != PASS_WEIGHT_GRADIENT)
        builder->made[1][place] = made;
}

static void
append_pair(struct program_builder *builder, int64_t index)
{
    struct pass_cursor first, second;
    begin_pass(builder, &first, index);
    begin_pass(builder, &second, index + 1);
    bool is_first_open = true, is_second_open = true;
    while (is_first_open || is_second_open) {
        is_first_open = is_first_open && advance(builder, &first);
        is_second_open = is_second_open && advance(builder, &second);
    }
    end_pass(builder, &first);
    end_pass(builder, &second);
}

void
program_append_passes(struct program_builder *builder)
{
    for (int64_t i = 0; i < builder->schedule->count; i++) {
        struct pass_cursor cursor;
        if (builder->schedule->steps[i].is_paired) {
            append_pair(builder, i++);
            continue;
        }
        begin_pass(builder, &cursor, i);
        while (advance(builder, &cursor))
            continue;
        end_pass(builder, &cursor);
    }
}
