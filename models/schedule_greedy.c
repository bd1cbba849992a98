/* Schedules that are found by trying: a clock of equal passes over all stages. */
#include "models/schedule_greedy.h"

enum { CHUNKS = 2 };

/* Passes are counted; the i-th of a chunk is that of microbatch i. */
struct stage_state {
    int64_t forward[CHUNKS], backward[CHUNKS];
    int64_t weights; /* gradients put off that have run, in the order they were put off */
    int64_t kept;
    struct schedule_step *steps;
    int64_t count;
};

struct search {
    const struct schedule_shape *shape;
    struct stage_state *now;  /* of each stage */
    struct stage_state *then; /* the same at the beginning of this tick: what others can see */
};

/* The first piece is on stage 0, the last one too; a pass waits for the piece before it. */
static bool
can_forward(const struct search *search, int64_t stage, int chunk)
{
    const struct schedule_shape *shape = search->shape;
    int64_t next = search->then[stage].forward[chunk];
    struct schedule_place from = {stage, chunk}, before;
    if (next == shape->microbatches || search->then[stage].kept == CHUNKS * shape->stages)
        return false;
    return !schedule_previous(shape, from, &before) ||
           search->then[before.stage].forward[before.chunk] > next;
}

static bool
can_backward(const struct search *search, int64_t stage, int chunk)
{
    const struct schedule_shape *shape = search->shape;
    int64_t next = search->then[stage].backward[chunk];
    struct schedule_place from = {stage, chunk}, behind;
    if (next == shape->microbatches || search->then[stage].forward[chunk] <= next)
        return false;
    return !schedule_next(shape, from, &behind) ||
           search->then[behind.stage].backward[behind.chunk] > next;
}

static void
run(struct stage_state *state, enum pass_kind pass, int64_t chunk, int64_t microbatch)
{
    state->steps[state->count++] = (struct schedule_step){pass, chunk, microbatch, false};
}

static void
run_backward(struct stage_state *state, int chunk)
{
    run(state, PASS_INPUT_GRADIENT, chunk, state->backward[chunk]++);
    state->kept--;
}

static void
run_forward(struct stage_state *state, int chunk)
{
    run(state, PASS_FORWARD, chunk, state->forward[chunk]++);
    state->kept++;
}

/* The oldest input gradient whose weights have not run. */
static void
run_weights(struct stage_state *state)
{
    int64_t seen = 0;
    for (int64_t i = 0; i < state->count; i++) {
        const struct schedule_step *step = &state->steps[i];
        if (step->pass != PASS_INPUT_GRADIENT || seen++ < state->weights)
            continue;
        state->weights++;
        run(state, PASS_WEIGHT_GRADIENT, step->chunk, step->microbatch);
        return;
    }
}

static void
run_most_urgent(struct search *search, int64_t stage)
{
    struct stage_state *state = &search->now[stage];
    bool can_back[CHUNKS] = {can_backward(search, stage, 0), can_backward(search, stage, 1)};
    if (can_back[1] && (!can_back[0] || state->backward[1] <= state->backward[0]))
        run_backward(state, 1);
    else if (can_back[0])
        run_backward(state, 0);
    else if (can_forward(search, stage, 1))
        run_forward(state, 1);
    else if (can_forward(search, stage, 0))
        run_forward(state, 0);
    else if (state->weights < state->backward[0] + state->backward[1])
        run_weights(state);
}

const struct schedule *
schedule_greedy(const struct schedule_shape *shape, struct arena *arena)
{
    size_t stages = (size_t)shape->stages;
    int64_t steps = shape->microbatches * CHUNKS * 3, left = shape->stages * steps;
    struct search search = {shape, arena_alloc(arena, stages, sizeof *search.now),
                            arena_alloc(arena, stages, sizeof *search.then)};
    for (size_t stage = 0; stage < stages; stage++)
        search.now[stage].steps =
            arena_alloc(arena, (size_t)steps, sizeof *search.now[stage].steps);
    while (left > 0) {
        for (size_t stage = 0; stage < stages; stage++)
            search.then[stage] = search.now[stage];
        for (size_t stage = 0; stage < stages; stage++) {
            run_most_urgent(&search, (int64_t)stage);
            left -= search.now[stage].count - search.then[stage].count;
        }
    }
    struct schedule *schedules = arena_alloc(arena, stages, sizeof *schedules);
    for (size_t stage = 0; stage < stages; stage++)
        schedules[stage] = (struct schedule){search.now[stage].steps, search.now[stage].count};
    return schedules;
}
