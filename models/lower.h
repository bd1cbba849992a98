/* From the programs of the ranks to the task graph of a step: the last thing that knows both. */
#ifndef MODELS_LOWER_H
#define MODELS_LOWER_H

#include "models/program.h"
#include "sim/engine/task_graph.h"

struct lowered {
    const struct task_graph *graph; /* a task's tag is its item's index in its rank's program; a
                                       lane's group is its rank */
    const struct program *program;
    int64_t simulated_ranks;
    bool is_all; /* every rank is */
    int64_t
        representative; /* the rank that reports are about: of the kind that computes longest */
};

/* Cannot fail: prices are in the program already. */
struct lowered lower_step(const struct program *program, enum program_ranks ranks,
                          struct arena *arena);

/* The slot that stands for a rank: its lanes are those from slot x STEP_LANE_COUNT. */
uint32_t lowered_slot(const struct lowered *lowered, int64_t rank);

/* What the rank runs that a slot stands for. */
const struct rank_program *lowered_kind(const struct lowered *lowered, int64_t slot);

/* The lane of the representative rank. */
uint32_t lowered_lane(const struct lowered *lowered, enum step_lane lane);

/* Tasks that simulating them takes. */
int64_t lower_task_count(const struct program *program, enum program_ranks ranks);

#endif
