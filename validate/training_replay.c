/* A step played again: processes run on by themselves and wait for each other at exchanges. */
#include "validate/training_replay.h"

#include <assert.h>
#include <math.h>

struct process {
    struct training_pieces pieces;
    int64_t next;
    double now_s;
};

struct replay {
    struct process *processes;
    int64_t count;
    double *ends_s; /* of the phases */
};

static void
finish_piece(struct replay *replay, struct process *process, double now_s)
{
    int phase = process->pieces.items[process->next++].phase;
    process->now_s = now_s;
    replay->ends_s[phase] = fmax(replay->ends_s[phase], now_s);
}

static const struct training_piece *
piece_of(const struct process *process)
{
    return process->next < process->pieces.count ? &process->pieces.items[process->next] : NULL;
}

/* Up to its next exchange. */
static void
run_kernels(struct replay *replay, struct process *process)
{
    const struct training_piece *piece = piece_of(process);
    for (; piece && piece->peers == 0; piece = piece_of(process))
        finish_piece(replay, process, process->now_s + piece->least_s);
}

/* Whether all who meet in it have come. */
static bool
is_complete(const struct replay *replay, uint64_t peers)
{
    for (int64_t i = 0; i < replay->count; i++) {
        const struct training_piece *piece = piece_of(&replay->processes[i]);
        if (peers >> i & 1 && (!piece || piece->peers != peers))
            return false;
    }
    return true;
}

static void
run_exchange(struct replay *replay, uint64_t peers)
{
    double begin_s = 0, least_s = INFINITY;
    for (int64_t i = 0; i < replay->count; i++) {
        const struct process *process = &replay->processes[i];
        if (!(peers >> i & 1))
            continue;
        begin_s = fmax(begin_s, process->now_s);
        least_s = fmin(least_s, piece_of(process)->least_s);
    }
    for (int64_t i = 0; i < replay->count; i++)
        if (peers >> i & 1) {
            finish_piece(replay, &replay->processes[i], begin_s + least_s);
            run_kernels(replay, &replay->processes[i]);
        }
}

/* The exchange of some process that can begin; 0 when all are through. */
static uint64_t
next_exchange(const struct replay *replay)
{
    bool is_open = false;
    for (int64_t i = 0; i < replay->count; i++) {
        const struct training_piece *piece = piece_of(&replay->processes[i]);
        is_open = is_open || piece;
        if (piece && is_complete(replay, piece->peers))
            return piece->peers;
    }
    assert(!is_open && "every exchange has its counterparts");
    return 0;
}

double
training_replay(const struct training_pieces *processes, int64_t process_count,
                double phases_s[TRAINING_PHASE_COUNT], struct arena *arena)
{
    struct replay replay = {.count = process_count, .ends_s = phases_s};
    replay.processes = arena_alloc(arena, (size_t)process_count, sizeof *replay.processes);
    for (int phase = 0; phase < TRAINING_PHASE_COUNT; phase++)
        phases_s[phase] = 0;
    for (int64_t i = 0; i < process_count; i++) {
        replay.processes[i].pieces = processes[i];
        run_kernels(&replay, &replay.processes[i]);
    }
    for (uint64_t peers = next_exchange(&replay); peers != 0; peers = next_exchange(&replay))
        run_exchange(&replay, peers);
    double before_s = 0;
    for (int phase = 0; phase < TRAINING_PHASE_COUNT; phase++) {
        double end_s = fmax(before_s, phases_s[phase]);
        phases_s[phase] = end_s - before_s;
        before_s = end_s;
    }
    return before_s;
}
