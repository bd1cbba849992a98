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
 */
#include "models/bound.h"

#include <assert.h>
#include <string.h>

#include "models/mixed_load.h"
#include "models/shard.h"

/* The engine rounds each item to its picosecond: half of one may be lost. */
static const double ROUNDING_S = 1e-12;

struct bound_key
bound_key_of(const struct plan *plan)
{
    struct bound_key key = {.tensor = plan->tensor,
                            .context = plan->context,
                            .pipeline = plan->pipeline,
                            .expert = plan->expert,
                            .expert_tensor = plan->expert_tensor,
                            .microbatch_sequences = plan->microbatch_sequences,
                            .recompute = plan->recompute};
    memcpy(key.order, plan->order, sizeof key.order);
    return key;
}

bool
bound_key_equals(const struct bound_key *a, const struct bound_key *b)
{
    return a->tensor == b->tensor && a->context == b->context && a->pipeline == b->pipeline &&
           a->expert == b->expert && a->expert_tensor == b->expert_tensor &&
           a->microbatch_sequences == b->microbatch_sequences && a->recompute == b->recompute &&
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
    pass.tail_s = pass.whole_s - clock.compute_end_s;
    return pass;
}

bool
bound_price(const struct step_inputs *inputs, struct bound_blocks *blocks, struct arena *arena,
            struct error_list *errors)
{
    double speedup = mixed_load_speedup(inputs, arena);
    struct pricing pricing = {inputs, arena, errors, speedup};
    struct shard shard = step_inputs_shard(inputs);
    for (int block = 0; block < BLOCK_COUNT; block++) {
        const struct priced_block *priced =
            pricing_block(&pricing, &shard, (enum block)block, 0);
        if (!priced)
            return false;
        for (int pass = 0; pass < PASS_KINDS; pass++)
            blocks->passes[block][pass] = measure_list(&priced->passes[pass], arena);
    }
    return true;
}

/* What is being bounded. */
struct bound {
    const struct plan *plan;
    const struct arch *arch;
    const struct bound_blocks *blocks;
    struct shard shard;
    struct schedule_shape shape;
};

/* Adds each block's pass so many times. */
static void
add_blocks(const struct bound *bound, struct bound_pass *sum, const int64_t *counts,
           enum pass_kind pass)
{
    for (int block = 0; block < BLOCK_COUNT; block++) {
        const struct bound_pass *one = &bound->blocks->passes[block][pass];
        double times = (double)counts[block];
        if (counts[block] == 0)
            continue;
        sum->compute_s += times * one->compute_s;
        sum->whole_s += times * one->whole_s;
        sum->lead_s = later(sum->lead_s, one->lead_s);
        sum->tail_s = later(sum->tail_s, one->tail_s);
    }
}

/* How often each block stands in a chunk. */
static void
count_blocks(const struct bound *bound, const struct shard_chunk *chunk, int64_t *counts)
{
    counts[BLOCK_EMBEDDING] += chunk->has_embedding;
    counts[BLOCK_HEAD] += chunk->has_head;
    for (int64_t i = 0; i < chunk->layers.count; i++) {
        counts[operators_attention_block(bound->arch, chunk->layers.first + i)]++;
        counts[operators_feed_forward_block(bound->arch, chunk->layers.first + i)]++;
    }
}

/* One pass over a chunk: of passes that may lie beside each other its kernels only. */
static double
pass_s(const struct bound *bound, const int64_t *counts, enum pass_kind pass)
{
    struct bound_pass sum = {0};
    add_blocks(bound, &sum, counts, pass);
    bool has_own_lane = !bound->shape.has_pairs && bound->shape.kind != SCHEDULE_DUALPIPE;
    double serial_s = sum.whole_s - sum.lead_s - sum.tail_s;
    return has_own_lane ? later(sum.compute_s, serial_s) : sum.compute_s;
}

/* Backward whole or in its two parts, whichever is less. */
static double
backward_s(const struct bound *bound, const int64_t *counts)
{
    double whole_s = pass_s(bound, counts, PASS_BACKWARD);
    double parts_s = pass_s(bound, counts, PASS_INPUT_GRADIENT) +
                     pass_s(bound, counts, PASS_WEIGHT_GRADIENT);
    enum schedule_kind kind = bound->shape.kind;
    bool is_whole = kind == SCHEDULE_1F1B || kind == SCHEDULE_INTERLEAVED;
    return is_whole || whole_s < parts_s ? whole_s : parts_s;
}

/* Microbatches that run through one chunk of a rank: DualPipe's two chunks share them. */
static double
microbatches_of_chunk(const struct bound *bound)
{
    double all = (double)bound->shape.microbatches;
    return bound->shape.kind == SCHEDULE_DUALPIPE ? all / 2 : all;
}

double
bound_step_s(const struct step_inputs *inputs, const struct bound_blocks *blocks)
{
    const struct plan *plan = inputs->workload.plan;
    struct bound bound = {.plan = plan,
                          .arch = inputs->workload.arch,
                          .blocks = blocks,
                          .shard = step_inputs_shard(inputs),
                          .shape = schedule_shape(plan, inputs->cluster)};
    enum schedule_kind kind = plan->schedule;
    bool comes_back =
        kind == SCHEDULE_1F1B; /* the last backward goes on to stage 0 at the end */
    bool comes_down = comes_back || kind == SCHEDULE_INTERLEAVED || kind == SCHEDULE_ZB_H1;
    double before_s = 0, behind_s = 0, longest_s = 0;
    for (int64_t stage = 0; stage < plan->pipeline; stage++) {
        double own_s = 0, first_forward_s = 0, first_backward_s = 0;
        for (int64_t i = 0; i < bound.shape.chunks; i++) {
            struct shard_chunk chunk = shard_chunk(&bound.shard, stage, i);
            int64_t counts[BLOCK_COUNT] = {0};
            count_blocks(&bound, &chunk, counts);
            double down_s = pass_s(&bound, counts, PASS_FORWARD);
            double up_s = backward_s(&bound, counts);
            own_s += microbatches_of_chunk(&bound) * (down_s + up_s);
            first_forward_s = i == 0 ? down_s : first_forward_s;
            first_backward_s = i == 0 ? up_s : first_backward_s;
        }
        longest_s = later(longest_s, before_s + own_s + behind_s);
        before_s += comes_down ? first_forward_s : 0;
        behind_s += comes_back ? first_backward_s : 0;
    }
    return longest_s;
}
