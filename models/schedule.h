/* In which order a pipeline stage runs its passes.
 *
 * A stage holds one chunk of layers or several; microbatches go through the chunks of all stages
 * in the order of the model. Where chunks lie:
 *
 *   1F1B, ZB-H1   stage s holds piece s
 *   interleaved   chunk c of stage s is piece c p + s
 *   ZB-V          down and up again: stage s holds pieces s and 2p - 1 - s
 *   DualPipe      half of the microbatches go down, half up: stage s holds pieces s and p - 1 - s,
 *                 every piece lies on two stages
 */
#ifndef MODELS_SCHEDULE_H
#define MODELS_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

#include "models/plan.h"
#include "sim/base/arena.h"

enum pass_kind {
    PASS_FORWARD,
    PASS_BACKWARD,        /* gradients of inputs and of weights */
    PASS_INPUT_GRADIENT,  /* what the stage before waits for */
    PASS_WEIGHT_GRADIENT, /* what nobody waits for */
};

struct schedule_step {
    enum pass_kind pass;
    int64_t chunk;
    int64_t microbatch;
    bool is_paired; /* runs layer by layer beside the step that follows */
};

struct schedule {
    const struct schedule_step *steps;
    int64_t count;
};

struct schedule_shape {
    enum schedule_kind kind;
    int64_t stages, chunks, microbatches;
    bool
        has_pairs; /* 1F1B and interleaved: a forward beside a backward, so that the exchanges of
                       one are hidden by the other; one more forward comes first (Megatron-LM,
                       --overlap-moe-expert-parallel-comm) */
};

struct schedule_shape schedule_shape(const struct plan *plan, const struct cluster *cluster);

/* One forward, one backward (PipeDream-flush, Narayanan et al. 2021, arXiv 2104.04473): stage r of
 * p first runs min(p-r-1, m) forwards, then alternates. Interleaved: 2 (p-r-1) + (v-1) p of them
 * (Megatron-LM, schedules.py). ZB-H1: weight gradients of stage r come r microbatches late, so
 * that they fill what was the bubble, with no more activations kept (arXiv 2401.10241, and its
 * patch to Megatron-LM). ZB-V: of what can run the most urgent, within the activations that 1F1B
 * keeps (the same, section 6). DualPipe: deepseek-ai/DualPipe, dualpipe.py. */
struct schedule schedule_of(const struct schedule_shape *shape, int64_t stage,
                            struct arena *arena);

/* Of every stage. */
const struct schedule *schedule_all(const struct schedule_shape *shape, struct arena *arena);

/* The piece of the model that a chunk is. */
int64_t schedule_piece(const struct schedule_shape *shape, int64_t stage, int64_t chunk);

/* Where forward goes from a chunk, and where it came from: false at the model's end. */
struct schedule_place {
    int64_t stage, chunk;
};
bool schedule_next(const struct schedule_shape *shape, struct schedule_place from,
                   struct schedule_place *to);
bool schedule_previous(const struct schedule_shape *shape, struct schedule_place from,
                       struct schedule_place *to);

/* The most chunk passes whose activations a stage keeps at once: forwards that have run without
 * their backward, or of a split one its input gradient. */
int64_t schedule_kept(const struct schedule *schedule);

#endif
