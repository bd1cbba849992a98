/* In which order a pipeline stage runs its microbatches. */
#ifndef MODELS_SCHEDULE_H
#define MODELS_SCHEDULE_H

#include "hw/kernel.h"

struct schedule_step {
    enum direction direction;
    int64_t microbatch;
};

struct schedule {
    const struct schedule_step *steps;
    int64_t count; /* two a microbatch */
};

/* One forward, one backward (PipeDream-flush, Narayanan et al. 2021, arXiv 2104.04473): stage r of
 * p first runs min(p-r-1, m) forwards, then alternates. Of one stage: forward and backward of each
 * microbatch in turn. */
struct schedule schedule_1f1b(int64_t stages, int64_t stage, int64_t microbatches,
                              struct arena *arena);

#endif
