/* In which order a pipeline stage runs its passes: those that are written down as rules. */
#include "models/schedule.h"

#include <assert.h>

#include "models/schedule_greedy.h"

struct schedule_shape
schedule_shape(const struct plan *plan, const struct cluster *cluster)
{
    return (struct schedule_shape){plan->schedule, plan->pipeline, plan_chunks(plan),
                                   plan_microbatches(plan, cluster),
                                   plan->overlaps_expert_exchange};
}

struct writer {
    struct schedule_step *steps;
    int64_t count;
};

static void
write(struct writer *writer, enum pass_kind pass, int64_t chunk, int64_t microbatch)
{
    writer->steps[writer->count++] =
        (struct schedule_step){.pass = pass, .chunk = chunk, .microbatch = microbatch};
}

static void
write_1f1b(struct writer *writer, const struct schedule_shape *shape, int64_t stage)
{
    int64_t microbatches = shape->microbatches;
    int64_t behind = shape->stages - stage - 1 + shape->has_pairs;
    int64_t warm_up = behind < microbatches ? behind : microbatches;
    int64_t forward = 0, backward = 0;
    while (forward < warm_up)
        write(writer, PASS_FORWARD, 0, forward++);
    while (backward < microbatches) {
        if (forward < microbatches) {
            write(writer, PASS_FORWARD, 0, forward++);
            writer->steps[writer->count - 1].is_paired = shape->has_pairs;
        }
        write(writer, PASS_BACKWARD, 0, backward++);
    }
}

/* The k-th pass over all chunks: microbatches in groups of one a stage, each group through all
 * chunks before the next. */
static void
write_interleaved_pass(struct writer *writer, const struct schedule_shape *shape, int64_t k,
                       bool is_forward)
{
    int64_t round = shape->stages * shape->chunks;
    int64_t chunk = k % round / shape->stages;
    int64_t microbatch = k / round * shape->stages + k % shape->stages;
    if (is_forward)
        write(writer, PASS_FORWARD, chunk, microbatch);
    else
        write(writer, PASS_BACKWARD, shape->chunks - 1 - chunk, microbatch);
}

static void
write_interleaved(struct writer *writer, const struct schedule_shape *shape, int64_t stage)
{
    int64_t total = shape->microbatches * shape->chunks;
    int64_t warm_up = 2 * (shape->stages - stage - 1) + (shape->chunks - 1) * shape->stages +
                      shape->has_pairs;
    int64_t forward = 0;
    while (forward < warm_up && forward < total)
        write_interleaved_pass(writer, shape, forward++, true);
    for (int64_t backward = 0; backward < total; backward++) {
        if (forward < total) {
            write_interleaved_pass(writer, shape, forward++, true);
            writer->steps[writer->count - 1].is_paired = shape->has_pairs;
        }
        write_interleaved_pass(writer, shape, backward, false);
    }
}

static void
write_zb_h1(struct writer *writer, const struct schedule_shape *shape, int64_t stage)
{
    int64_t microbatches = shape->microbatches, behind = shape->stages - stage - 1;
    int64_t warm_up = behind < microbatches ? behind : microbatches;
    int64_t forward = 0, weights = 0;
    while (forward < warm_up)
        write(writer, PASS_FORWARD, 0, forward++);
    for (int64_t backward = 0; backward < microbatches; backward++) {
        bool is_steady = forward < microbatches;
        if (is_steady)
            write(writer, PASS_FORWARD, 0, forward++);
        write(writer, PASS_INPUT_GRADIENT, 0, backward);
        if (!is_steady || backward >= stage)
            write(writer, PASS_WEIGHT_GRADIENT, 0, weights++);
    }
    while (weights < microbatches)
        write(writer, PASS_WEIGHT_GRADIENT, 0, weights++);
}

/* DualPipe's writer counts passes by direction as seen from the nearer end; weight gradients are
 * run in the order in which they were put off. */
struct dual_writer {
    struct writer *writer;
    int64_t microbatches; /* of one direction */
    bool is_second_half;
    int64_t forward[2], backward[2];
    struct schedule_step *late; /* weight gradients put off, a queue */
    int64_t late_begin, late_end;
};

static int64_t
real_chunk(const struct dual_writer *dual, int phase)
{
    return dual->is_second_half ? 1 - phase : phase;
}

static int64_t
real_microbatch(const struct dual_writer *dual, int phase, int64_t number)
{
    return real_chunk(dual, phase) * dual->microbatches + number;
}

static void
write_dual_forward(struct dual_writer *dual, int phase)
{
    write(dual->writer, PASS_FORWARD, real_chunk(dual, phase),
          real_microbatch(dual, phase, dual->forward[phase]++));
}

static void
write_dual_backward(struct dual_writer *dual, int phase, bool is_split)
{
    int64_t chunk = real_chunk(dual, phase);
    int64_t microbatch = real_microbatch(dual, phase, dual->backward[phase]++);
    write(dual->writer, is_split ? PASS_INPUT_GRADIENT : PASS_BACKWARD, chunk, microbatch);
    if (is_split)
        dual->late[dual->late_end++] =
            (struct schedule_step){PASS_WEIGHT_GRADIENT, chunk, microbatch, false};
}

static void
write_dual_weight(struct dual_writer *dual)
{
    if (dual->late_begin < dual->late_end)
        dual->writer->steps[dual->writer->count++] = dual->late[dual->late_begin++];
}

static void
write_dual_pair(struct dual_writer *dual, int forward_phase)
{
    int64_t first = dual->writer->count;
    write_dual_forward(dual, forward_phase);
    dual->writer->steps[first].is_paired = true;
    write_dual_backward(dual, 1 - forward_phase, false);
}

/* Steps 1 to 4: filling from both ends, then pairs. */
static void
write_dual_head(struct dual_writer *dual, int64_t half, int64_t nearer, int64_t stages)
{
    int64_t inner = half - nearer - 1;
    for (int64_t i = 0; i < 2 * inner; i++)
        write_dual_forward(dual, 0);
    for (int64_t i = 0; i < nearer + 1; i++) {
        write_dual_forward(dual, 0);
        write_dual_forward(dual, 1);
    }
    for (int64_t i = 0; i < inner; i++) {
        write_dual_backward(dual, 1, true);
        write_dual_weight(dual);
        write_dual_forward(dual, 1);
    }
    for (int64_t i = 0; i < dual->microbatches - stages + nearer + 1; i++) {
        bool is_apart = i == 0 && inner == 0; /* the middle two have nothing to pair yet */
        if (is_apart) {
            write_dual_forward(dual, 0);
            write_dual_backward(dual, 1, false);
        } else {
            write_dual_pair(dual, 0);
        }
        write_dual_pair(dual, 1);
    }
}

/* Steps 5 to 8: emptying; the later half of the backwards leave their weights for the end. */
static void
write_dual_tail(struct dual_writer *dual, int64_t half, int64_t nearer)
{
    int64_t inner = half - nearer - 1, both = nearer + 1;
    bool is_split = false;
    for (int64_t i = 0; i < inner; i++) {
        write_dual_backward(dual, 1, false);
        write_dual_pair(dual, 1);
    }
    for (int64_t i = 0; i < both; i++) {
        is_split = is_split || (i == both / 2 && nearer % 2 == 1);
        write_dual_backward(dual, 1, is_split);
        is_split = is_split || (i == both / 2 && nearer % 2 == 0);
        write_dual_backward(dual, 0, is_split);
    }
    for (int64_t i = 0; i < inner; i++) {
        write_dual_weight(dual);
        write_dual_backward(dual, 0, true);
    }
    while (dual->late_begin < dual->late_end)
        write_dual_weight(dual);
}

static void
write_dualpipe(struct writer *writer, const struct schedule_shape *shape, int64_t stage,
               struct arena *arena)
{
    int64_t half = shape->stages / 2, mirrored = shape->stages - 1 - stage;
    struct dual_writer dual = {
        .writer = writer,
        .microbatches = shape->microbatches / 2,
        .is_second_half = stage >= half,
        .late = arena_alloc(arena, (size_t)shape->microbatches, sizeof *dual.late)};
    int64_t nearer = stage < mirrored ? stage : mirrored;
    write_dual_head(&dual, half, nearer, shape->stages);
    write_dual_tail(&dual, half, nearer);
}

struct schedule
schedule_of(const struct schedule_shape *shape, int64_t stage, struct arena *arena)
{
    assert(stage >= 0 && stage < shape->stages && shape->microbatches > 0);
    int64_t most = 3 * shape->chunks * shape->microbatches;
    struct writer writer = {arena_alloc(arena, (size_t)most, sizeof *writer.steps), 0};
    switch (shape->kind) {
    case SCHEDULE_1F1B:
        write_1f1b(&writer, shape, stage);
        break;
    case SCHEDULE_INTERLEAVED:
        write_interleaved(&writer, shape, stage);
        break;
    case SCHEDULE_ZB_H1:
        write_zb_h1(&writer, shape, stage);
        break;
    case SCHEDULE_ZB_V:
        return schedule_greedy(shape, arena)[stage];
    case SCHEDULE_DUALPIPE:
        write_dualpipe(&writer, shape, stage, arena);
        break;
    }
    return (struct schedule){writer.steps, writer.count};
}

const struct schedule *
schedule_all(const struct schedule_shape *shape, struct arena *arena)
{
    if (shape->kind == SCHEDULE_ZB_V)
        return schedule_greedy(shape, arena);
    struct schedule *schedules = arena_alloc(arena, (size_t)shape->stages, sizeof *schedules);
    for (int64_t stage = 0; stage < shape->stages; stage++)
        schedules[stage] = schedule_of(shape, stage, arena);
    return schedules;
}

int64_t
schedule_piece(const struct schedule_shape *shape, int64_t stage, int64_t chunk)
{
    if (chunk == 0)
        return stage;
    switch (shape->kind) {
    case SCHEDULE_ZB_V:
        return 2 * shape->stages - 1 - stage;
    case SCHEDULE_DUALPIPE:
        return shape->stages - 1 - stage;
    case SCHEDULE_1F1B:
    case SCHEDULE_INTERLEAVED:
    case SCHEDULE_ZB_H1:
        break;
    }
    return chunk * shape->stages + stage;
}

/* The place of the piece so many further on. */
static bool
step_from(const struct schedule_shape *shape, struct schedule_place from, int64_t by,
          struct schedule_place *to)
{
    int64_t stages = shape->stages;
    int64_t piece = schedule_piece(shape, from.stage, from.chunk) + by;
    bool is_dual = shape->kind == SCHEDULE_DUALPIPE;
    if (piece < 0 || piece >= stages * (is_dual ? 1 : shape->chunks))
        return false;
    if (is_dual)
        *to = (struct schedule_place){from.stage + (from.chunk == 0 ? by : -by), from.chunk};
    else if (shape->kind == SCHEDULE_ZB_V && piece >= stages)
        *to = (struct schedule_place){2 * stages - 1 - piece, 1};
    else
        *to = (struct schedule_place){piece % stages, piece / stages};
    return true;
}

bool
schedule_next(const struct schedule_shape *shape, struct schedule_place from,
              struct schedule_place *to)
{
    return step_from(shape, from, 1, to);
}

bool
schedule_previous(const struct schedule_shape *shape, struct schedule_place from,
                  struct schedule_place *to)
{
    return step_from(shape, from, -1, to);
}

int64_t
schedule_kept(const struct schedule *schedule)
{
    int64_t kept = 0, most = 0;
    for (int64_t i = 0; i < schedule->count; i++) {
        enum pass_kind pass = schedule->steps[i].pass;
        kept += pass == PASS_FORWARD;
        kept -= pass == PASS_BACKWARD || pass == PASS_INPUT_GRADIENT;
        most = kept > most ? kept : most;
    }
    return most;
}
