/* A lower bound of the step time.
 *
 * A rank's kernels run one after the other in the order of its program. Of two passes that are not
 * laid beside each other, a pass's next kernel waits for the exchanges before it, and they for the
 * kernel before them; so a pass takes at least its kernels and the exchanges that they wait for,
 * as a block's list alone shows (`whole_s`). Only what stands before the first kernel of a pass and
 * behind its last can lie beside another pass: the largest such lead and tail are taken off each.
 *
 *      stage 0   F1 F2 F3 F4 B1 ...                          B4
 *      stage 1      F1 F2 F3 ...                          B4
 *      stage 2         F1 B1 F2 B2 F3 B3 F4 B4             of 1F1B
 *                ---- before  -- its own --    ---- behind
 *
 * Of passes beside each other, a forward and a backward each, no two forwards and no two backwards
 * are; and whatever lies beside what, each lane runs its exchanges one behind the other. */
#include "models/bound.h"

#include <string.h>

#include "models/bound_weights.h"
#include "models/pricing.h"
#include "models/shard.h"

/* The engine rounds each item to its picosecond: half of one may be lost. */
static const double ROUNDING_S = 1e-12;

/* One pass over a block, or over several. */
struct bound_pass {
    double compute_s;      /* its kernels */
    double whole_s;        /* and the exchanges that they wait for, nothing else being beside */
    double lead_s, tail_s; /* of that: before its first kernel, behind its last */
    double lane_s[STEP_LANE_COUNT]; /* what each lane carries by itself */
};

/* What the prices of blocks depend on, beside what runs again. */
struct bound_key {
    int64_t tensor, context, pipeline, expert, expert_tensor, microbatch_sequences;
    enum plan_axis order[PLAN_AXIS_COUNT];
};

enum { KEPT_OR_NOT = 2 }; /* layers that run again, and those that do not while others do */

/* Blocks as a plan splits them, and what of it runs again. */
struct bound_blocks {
    enum recompute_kind recompute;
    uint64_t recompute_classes;
    bool has_kept; /* layers, while others run again */
    struct bound_pass passes[KEPT_OR_NOT][BLOCK_COUNT][PASS_KINDS];
};

/* The pieces that stages are made of, and what their weights are sharded as. */
struct bound_layout {
    int64_t zero_stage, chunks, stage;
    bool is_v, is_dual; /* how pieces lie on stages */
    struct bound_sync sync;
};

enum { KEYS_MAX = 2, RECOMPUTED_MAX = 4, LAYOUTS_MAX = 32 };

struct bound_group {
    struct bound_key key;
    bool has_price;
    struct mixed_load load;
    const struct priced_lists *lists[BLOCK_COUNT];
    struct bound_blocks blocks[RECOMPUTED_MAX];
    int block_count, layout_count;
    struct bound_weights weights;
    struct bound_layout layouts[LAYOUTS_MAX];
};

struct bound_prices {
    struct arena *arena;
    struct bound_group *groups[KEYS_MAX];
    int next; /* the group that makes room for another one */
};

struct bound_prices *
bound_prices_new(struct arena *arena)
{
    struct bound_prices *prices = arena_alloc(arena, 1, sizeof *prices);
    prices->arena = arena;
    return prices;
}

static struct bound_key
key_of(const struct plan *plan)
{
    struct bound_key key = {.tensor = plan->tensor,
                            .context = plan->context,
                            .pipeline = plan->pipeline,
                            .expert = plan->expert,
                            .expert_tensor = plan->expert_tensor,
                            .microbatch_sequences = plan->microbatch_sequences};
    memcpy(key.order, plan->order, sizeof key.order);
    return key;
}

static bool
is_same_key(const struct bound_key *a, const struct bound_key *b)
{
    return a->tensor == b->tensor && a->context == b->context && a->pipeline == b->pipeline &&
           a->expert == b->expert && a->expert_tensor == b->expert_tensor &&
           a->microbatch_sequences == b->microbatch_sequences &&
           memcmp(a->order, b->order, sizeof a->order) == 0;
}

static double
later(double a, double b)
{
    return a > b ? a : b;
}

/* A list by itself: when each lane is free, and which exchanges are still to be waited for. */
struct list_clock {
    double compute_end_s;
    double lane_end_s[STEP_LANE_COUNT];
    double *ends_s; /* of the exchange at each step; 0 of a kernel */
};

/* Ends of the exchanges before step `at` that are due there. */
static double
due_s(const struct priced_list *list, const struct list_clock *clock, int64_t at)
{
    double due_s = 0;
    for (int64_t i = 0; i < at; i++)
        if (list->steps[i].lane != LANE_COMPUTE && list->steps[i].needed_at <= at)
            due_s = later(due_s, clock->ends_s[i]);
    return due_s;
}

static struct bound_pass
measure_list(const struct priced_list *list, struct arena *arena)
{
    struct list_clock clock = {
        .ends_s = arena_alloc(arena, (size_t)list->count + 1, sizeof *clock.ends_s)};
    struct bound_pass pass = {.lead_s = -1};
    for (int64_t i = 0; i < list->count; i++) {
        const struct priced_step *step = &list->steps[i];
        double lasts_s = step->work->delay_s + step->work->work_s - ROUNDING_S;
        double start_s = later(clock.compute_end_s, due_s(list, &clock, i));
        lasts_s = later(lasts_s, 0);
        pass.lane_s[step->lane] += lasts_s;
        if (step->lane == LANE_COMPUTE) {
            pass.lead_s = pass.lead_s < 0 ? start_s : pass.lead_s;
            pass.compute_s += lasts_s;
            clock.compute_end_s = start_s + lasts_s;
        } else {
            start_s = later(start_s, clock.lane_end_s[step->lane]);
            clock.lane_end_s[step->lane] = clock.ends_s[i] = start_s + lasts_s;
        }
        pass.whole_s = later(pass.whole_s, start_s + lasts_s);
    }
    if (pass.lead_s < 0) /* no kernel at all: nothing that a pass can count on */
        return (struct bound_pass){0};
    pass.lane_s[LANE_HOST] = later(0, list->launches->delay_s - ROUNDING_S);
    pass.tail_s = pass.whole_s - clock.compute_end_s;
    return pass;
}

static void
price_group(struct bound_group *group, const struct step_inputs *inputs, struct arena *arena,
            struct error_list *errors)
{
    struct shard shard = step_inputs_shard(inputs);
    group->key = key_of(inputs->workload.plan);
    group->load = mixed_load_of(inputs, arena);
    group->weights = bound_weights_of(inputs, arena);
    group->has_price = true;
    struct pricing pricing = {inputs, arena, errors, group->load};
    for (int block = 0; block < BLOCK_COUNT && group->has_price; block++) {
        group->lists[block] = pricing_lists(&pricing, &shard, (enum block)block, 0);
        group->has_price = group->lists[block] != NULL;
    }
}

/* The oldest group makes room. */
static struct bound_group *
find_group(struct bound_prices *prices, const struct step_inputs *inputs,
           struct error_list *errors)
{
    struct bound_key key = key_of(inputs->workload.plan);
    for (int i = 0; i < KEYS_MAX; i++)
        if (prices->groups[i] && is_same_key(&prices->groups[i]->key, &key))
            return prices->groups[i];
    struct bound_group *group = arena_alloc(prices->arena, 1, sizeof *group);
    prices->groups[prices->next] = group;
    prices->next = (prices->next + 1) % KEYS_MAX;
    price_group(group, inputs, prices->arena, errors);
    return group;
}

static const struct bound_blocks *
find_blocks(struct bound_group *group, const struct step_inputs *inputs, struct arena *arena)
{
    struct error_list unheard = {0}; /* the lists have their prices */
    const struct plan *plan = inputs->workload.plan;
    struct pricing pricing = {inputs, arena, &unheard, group->load};
    bool has_kept = plan->recompute_layers > 0;
    for (int i = 0; i < group->block_count; i++)
        if (group->blocks[i].recompute == plan->recompute &&
            group->blocks[i].recompute_classes == plan->recompute_classes &&
            group->blocks[i].has_kept == has_kept)
            return &group->blocks[i];
    group->block_count += group->block_count < RECOMPUTED_MAX;
    struct bound_blocks *blocks = &group->blocks[group->block_count - 1];
    blocks->recompute = plan->recompute;
    blocks->recompute_classes = plan->recompute_classes;
    blocks->has_kept = has_kept;
    for (int block = 0; block < BLOCK_COUNT; block++) {
        const struct priced_block *priced = pricing_passes(&pricing, group->lists[block]);
        for (int pass = 0; pass < PASS_KINDS; pass++) {
            blocks->passes[0][block][pass] = blocks->passes[1][block][pass] =
                measure_list(&priced->passes[pass], arena);
            if (has_kept)
                blocks->passes[1][block][pass] = measure_list(&priced->kept[pass], arena);
        }
    }
    return blocks;
}

static bool
is_same_layout(const struct bound_layout *a, const struct bound_layout *b)
{
    return a->zero_stage == b->zero_stage && a->chunks == b->chunks && a->stage == b->stage &&
           a->is_v == b->is_v && a->is_dual == b->is_dual;
}

/* Collectives over weights of one stage. */
static struct bound_sync
find_sync(struct bound_group *group, const struct step_inputs *inputs, int64_t stage,
          struct arena *arena)
{
    const struct plan *plan = inputs->workload.plan;
    struct bound_layout layout = {.zero_stage = plan->zero_stage,
                                  .chunks = plan_chunks(plan),
                                  .stage = stage,
                                  .is_v = plan->schedule == SCHEDULE_ZB_V,
                                  .is_dual = plan->schedule == SCHEDULE_DUALPIPE};
    for (int i = 0; i < group->layout_count; i++)
        if (is_same_layout(&group->layouts[i], &layout))
            return group->layouts[i].sync;
    layout.sync = bound_sync_of(inputs, &group->weights, stage, arena);
    if (group->layout_count < LAYOUTS_MAX)
        group->layouts[group->layout_count++] = layout;
    return layout.sync;
}

/* What is being bounded. */
struct bound {
    const struct plan *plan;
    const struct arch *arch;
    const struct bound_blocks *blocks;
    struct shard shard;
    struct schedule_shape shape;
    bool has_own_time; /* no pass lies beside another */
};

/* Adds a pass so many times, one behind the other. */
static void
add_pass(struct bound_pass *sum, const struct bound_pass *one, double times)
{
    if (times <= 0)
        return;
    sum->compute_s += times * one->compute_s;
    sum->whole_s += times * one->whole_s;
    sum->lead_s = later(sum->lead_s, one->lead_s);
    sum->tail_s = later(sum->tail_s, one->tail_s);
    for (int lane = 0; lane < STEP_LANE_COUNT; lane++)
        sum->lane_s[lane] += times * one->lane_s[lane];
}

/* How often each block stands in a chunk. */
struct block_counts {
    int64_t of[KEPT_OR_NOT][BLOCK_COUNT];
};

static struct block_counts
count_blocks(const struct bound *bound, const struct shard_chunk *chunk)
{
    struct block_counts counts = {{{0}}};
    counts.of[0][BLOCK_EMBEDDING] += chunk->has_embedding;
    counts.of[0][BLOCK_HEAD] += chunk->has_head;
    for (int64_t i = 0; i < chunk->layers.count; i++) {
        int64_t *of = counts.of[!plan_repeats_layer(bound->plan, i)];
        of[operators_attention_block(bound->arch, chunk->layers.first + i)]++;
        of[operators_feed_forward_block(bound->arch, chunk->layers.first + i)]++;
    }
    return counts;
}

/* One pass over a chunk. `whole_s` is from its first kernel to its last from here on. */
static struct bound_pass
pass_of(const struct bound *bound, const struct block_counts *counts, enum pass_kind pass)
{
    struct bound_pass sum = {0};
    for (int kept = 0; kept < KEPT_OR_NOT; kept++)
        for (int block = 0; block < BLOCK_COUNT; block++)
            add_pass(&sum, &bound->blocks->passes[kept][block][pass],
                     (double)counts->of[kept][block]);
    sum.whole_s = later(sum.compute_s, sum.whole_s - sum.lead_s - sum.tail_s);
    sum.lead_s = sum.tail_s = 0;
    return sum;
}

static void
take_less(double *a, double b)
{
    *a = b < *a ? b : *a;
}

/* Backward whole or in its two parts, of each sum whichever is less. */
static struct bound_pass
backward_of(const struct bound *bound, const struct block_counts *counts)
{
    struct bound_pass whole = pass_of(bound, counts, PASS_BACKWARD);
    enum schedule_kind kind = bound->shape.kind;
    if (kind == SCHEDULE_1F1B || kind == SCHEDULE_INTERLEAVED)
        return whole;
    struct bound_pass parts = pass_of(bound, counts, PASS_INPUT_GRADIENT);
    struct bound_pass weights = pass_of(bound, counts, PASS_WEIGHT_GRADIENT);
    add_pass(&parts, &weights, 1);
    take_less(&whole.compute_s, parts.compute_s);
    take_less(&whole.whole_s, parts.whole_s);
    for (int lane = 0; lane < STEP_LANE_COUNT; lane++)
        take_less(&whole.lane_s[lane], parts.lane_s[lane]);
    return whole;
}

/* Forwards of a stage that have no backward beside them, and as many the other way round:
 * models/schedule.c. */
static double
count_alone(const struct bound *bound, int64_t stage)
{
    const struct schedule_shape *shape = &bound->shape;
    int64_t behind = shape->stages - stage - 1 + shape->has_pairs;
    int64_t total = shape->microbatches * shape->chunks;
    if (shape->kind == SCHEDULE_DUALPIPE) {
        int64_t half = shape->stages / 2, mirrored = shape->stages - 1 - stage;
        int64_t nearer = stage < mirrored ? stage : mirrored;
        return (double)(3 * (half - nearer - 1) + 2 * (nearer + 1));
    }
    if (shape->kind == SCHEDULE_INTERLEAVED)
        behind += shape->stages - stage - 1 + (shape->chunks - 1) * shape->stages;
    return (double)(behind < total ? behind : total);
}

/* The passes of a stage. */
struct stage_time {
    struct bound_pass forward, backward;             /* all of them */
    struct bound_pass first_forward, first_backward; /* of the first chunk, once */
    double least_forward_s, least_backward_s;        /* of any chunk */
};

static struct stage_time
time_stage(const struct bound *bound, int64_t stage)
{
    struct stage_time time = {.least_forward_s = -1};
    double all = (double)bound->shape.microbatches;
    double times = bound->shape.kind == SCHEDULE_DUALPIPE ? all / 2 : all; /* two share them */
    for (int64_t i = 0; i < bound->shape.chunks; i++) {
        struct shard_chunk chunk = shard_chunk(&bound->shard, stage, i);
        struct block_counts counts = count_blocks(bound, &chunk);
        struct bound_pass down = pass_of(bound, &counts, PASS_FORWARD);
        struct bound_pass up = backward_of(bound, &counts);
        add_pass(&time.forward, &down, times);
        add_pass(&time.backward, &up, times);
        if (time.least_forward_s < 0) {
            time.first_forward = down;
            time.first_backward = up;
            time.least_forward_s = down.whole_s;
            time.least_backward_s = up.whole_s;
        }
        take_less(&time.least_forward_s, down.whole_s);
        take_less(&time.least_backward_s, up.whole_s);
    }
    return time;
}

/* From a stage's first kernel to its last. */
static double
own_s(const struct bound *bound, const struct stage_time *time, int64_t stage)
{
    const struct bound_pass *down = &time->forward, *up = &time->backward;
    if (bound->has_own_time)
        return down->whole_s + up->whole_s;
    double alone = count_alone(bound, stage);
    double longest_s = down->compute_s + up->compute_s;
    longest_s = later(longest_s, up->whole_s + alone * time->least_forward_s);
    return later(longest_s, down->whole_s + alone * time->least_backward_s);
}

/* What any lane of the stage carries in the whole step. */
static double
lanes_s(const struct stage_time *time, const struct bound_sync *sync)
{
    double longest_s = sync->lane_s;
    for (int lane = 0; lane < STEP_LANE_COUNT; lane++)
        longest_s = later(longest_s, time->forward.lane_s[lane] + time->backward.lane_s[lane]);
    return longest_s;
}

/* The stage at one end of the pipeline and one in the middle: weights lie alike on the others. */
static bool
has_sync(const struct plan *plan, int64_t stage)
{
    return stage == 0 || stage == plan->pipeline / 2 || stage == plan->pipeline - 1;
}

/* Stage by stage. DualPipe's second half mirrors the first. */
static double
longest_stage_s(const struct bound *bound, struct bound_group *group,
                const struct step_inputs *inputs, struct arena *arena)
{
    enum schedule_kind kind = bound->shape.kind;
    bool comes_back = kind == SCHEDULE_1F1B; /* the last backward goes on to stage 0 */
    int64_t stages = kind == SCHEDULE_DUALPIPE ? bound->shape.stages / 2 : bound->shape.stages;
    double before_s = 0, behind_s = 0, longest_s = 0;
    for (int64_t stage = 0; stage < stages; stage++) {
        struct stage_time time = time_stage(bound, stage);
        struct bound_sync sync = {0};
        if (has_sync(bound->plan, stage))
            sync = find_sync(group, inputs, stage, arena);
        double stage_s = later(before_s, sync.before_s) + own_s(bound, &time, stage) +
                         later(behind_s, sync.behind_s);
        longest_s = later(longest_s, later(stage_s, lanes_s(&time, &sync)));
        before_s += time.first_forward.whole_s;
        behind_s += comes_back ? time.first_backward.whole_s : 0;
    }
    return longest_s;
}

bool
bound_step_s(struct bound_prices *prices, const struct step_inputs *inputs, double *bound_s,
             struct error_list *errors)
{
    struct bound_group *group = find_group(prices, inputs, errors);
    if (!group->has_price)
        return false;
    const struct plan *plan = inputs->workload.plan;
    struct schedule_shape shape = schedule_shape(plan, inputs->cluster);
    struct bound bound = {.plan = plan,
                          .arch = inputs->workload.arch,
                          .blocks = find_blocks(group, inputs, prices->arena),
                          .shard = step_inputs_shard(inputs),
                          .shape = shape,
                          .has_own_time = !shape.has_pairs && shape.kind != SCHEDULE_DUALPIPE};
    *bound_s = longest_stage_s(&bound, group, inputs, prices->arena);
    return true;
}
