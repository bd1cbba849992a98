/* Rounds, and when a piece of work needs no more of them. */
#include "validate/measure_rounds.h"

#include <assert.h>
#include <math.h>

/* Reading the core's clock is a call of the system, of 1 us in a virtual machine; a process that
 * loses its core loses several, and what is stolen is sometimes taken off another run. */
static const double CLOCK_S = 3e-6, CLOCK_FRACTION = 0.01;

/* On two shared cores 744 kernels in 40 rounds had least times that came again within 2.8 % in
 * other runs, and within 3.2 % when those rest of which four agree like this. */
enum { AGREEING = 4 };
static const double AGREEMENT_FRACTION = 0.02;

/* A long run averages over what is short; time is better spent on those that do not. */
static const double MOST_SHARES = 2;

/* Times of one piece, ascending. */
struct samples {
    double *core_s;
    int64_t count;
};

struct state {
    struct samples clean, disturbed;
    double spent_s;
};

struct taking {
    const struct measure_rounds *rounds;
    struct measure_piece *pieces;
    struct state *states;
    size_t count, stride;
    int64_t turn;
};

static double
now_s(const struct measure_clock *clock)
{
    return clock->now_s(clock->context);
}

static void
insert(struct samples *samples, double core_s)
{
    int64_t at = samples->count++;
    for (; at > 0 && samples->core_s[at - 1] > core_s; at--)
        samples->core_s[at] = samples->core_s[at - 1];
    samples->core_s[at] = core_s;
}

static bool
agrees(const struct samples *samples)
{
    return samples->count >= AGREEING &&
           samples->core_s[AGREEING - 1] <= samples->core_s[0] * (1 + AGREEMENT_FRACTION);
}

static bool
rests(const struct taking *taking, const struct state *state)
{
    const struct measure_effort *effort = &taking->rounds->effort;
    return state->clean.count + state->disturbed.count >= effort->repeats_min &&
           (agrees(&state->clean) || state->spent_s >= MOST_SHARES * effort->budget_s);
}

static void
run_piece(struct taking *taking, size_t i)
{
    const struct measure_rounds *rounds = taking->rounds;
    const struct measure_work *work = &taking->pieces[i].work;
    struct state *state = &taking->states[i];
    if (work->prepare)
        work->prepare(work->context, taking->turn);
    double wall_s = now_s(&rounds->wall), core_s = now_s(&rounds->core);
    work->run(work->context, taking->turn);
    core_s = now_s(&rounds->core) - core_s;
    wall_s = now_s(&rounds->wall) - wall_s;
    if (taking->turn < rounds->effort.warmups)
        return;
    bool is_clean = fabs(wall_s - core_s) <= CLOCK_S + CLOCK_FRACTION * core_s;
    insert(is_clean ? &state->clean : &state->disturbed, core_s);
    state->spent_s += wall_s;
}

static bool
is_over(const struct taking *taking)
{
    const struct measure_rounds *rounds = taking->rounds;
    return rounds->is_over && rounds->is_over(rounds->context);
}

/* Before the first round nothing is known of any, and so all take part. */
static double
active_bytes(const struct taking *taking)
{
    double bytes = 0;
    for (size_t i = 0; i < taking->count; i++)
        if (!rests(taking, &taking->states[i]))
            bytes += taking->pieces[i].operand_bytes;
    return bytes;
}

/* False when all rest or somebody wants an end. */
static bool
take_round(struct taking *taking)
{
    const struct measure_rounds *rounds = taking->rounds;
    double bytes = active_bytes(taking);
    if (bytes <= 0)
        return false;
    if (rounds->sweep && bytes < rounds->cold_bytes)
        rounds->sweep(rounds->context);
    for (size_t visited = 0, i = 0; visited < taking->count; visited++) {
        if (is_over(taking))
            return false;
        if (!rests(taking, &taking->states[i]))
            run_piece(taking, i);
        i = (i + taking->stride) % taking->count;
    }
    taking->turn++;
    return true;
}

static size_t
common_divisor(size_t a, size_t b)
{
    return b == 0 ? a : common_divisor(b, a % b);
}

/* Steps through the pieces by the golden ratio: neighbours in a list are alike, and should not meet
 * the same spell. */
static size_t
stride_of(size_t count)
{
    const double golden = 0.6180339887498949;
    size_t stride = (size_t)(golden * (double)count);
    while (stride > 1 && common_divisor(stride, count) != 1)
        stride--;
    return stride > 1 ? stride : 1;
}

static void
finish(struct measure_piece *piece, struct state *state)
{
    struct samples *samples = state->clean.count > 0 ? &state->clean : &state->disturbed;
    piece->times = (struct measure_times){.repeats = samples->count};
    piece->disturbed = samples == &state->clean ? state->disturbed.count : 0;
    if (samples->count == 0)
        return;
    piece->times.min_s = samples->core_s[0];
    piece->times.max_s = samples->core_s[samples->count - 1];
    piece->times.median_s = measure_median(samples->core_s, samples->count);
}

void
measure_rounds_take(struct measure_piece *pieces, size_t count,
                    const struct measure_rounds *rounds, struct arena *arena)
{
    const struct measure_effort *effort = &rounds->effort;
    const size_t most = (size_t)effort->repeats_max;
    const double budget_s = effort->budget_s * (double)count;
    struct taking taking = {rounds, pieces, NULL, count, stride_of(count), 0};
    assert(effort->repeats_min > 0 && effort->repeats_max >= effort->repeats_min);
    taking.states = arena_alloc(arena, count, sizeof *taking.states);
    for (size_t i = 0; i < count; i++) {
        taking.states[i].clean.core_s = arena_alloc(arena, most, sizeof(double));
        taking.states[i].disturbed.core_s = arena_alloc(arena, most, sizeof(double));
    }
    double begun_s = now_s(&rounds->wall);
    while (take_round(&taking)) {
        int64_t taken = taking.turn - effort->warmups;
        bool is_spent = now_s(&rounds->wall) - begun_s >= budget_s;
        if (taken >= effort->repeats_max || (taken >= effort->repeats_min && is_spent))
            break;
    }
    for (size_t i = 0; i < count; i++)
        finish(&pieces[i], &taking.states[i]);
}
