/* What a rank does and keeps over the step: its passes in time, and its memory. */
#ifndef MODELS_STEP_PASSES_H
#define MODELS_STEP_PASSES_H

#include "models/schedule.h"
#include "models/step.h"

/* A pass of the schedule: from the start of its first kernel or exchange to the end of its last. */
struct step_pass {
    struct schedule_step step;
    int64_t start_ps, end_ps;
};

/* In the order of the schedule of the rank that a slot stands for, *count of them. */
const struct step_pass *step_passes(const struct step *step, uint32_t slot, struct arena *arena,
                                    size_t *count);

/* The stage of that rank. */
int64_t step_slot_stage(const struct step *step, uint32_t slot);

struct step_memory_moment {
    int64_t at_ps;
    double activations_bytes; /* straight lines between moments */
};

/* A forward's activations grow as it runs, a backward's go as it does; a block that is run again is
 * there in full meanwhile. The peak is that of models/memory.h. */
struct step_memory {
    struct memory memory; /* of the rank's stage */
    double kept_bytes;    /* all but activations, through the whole step */
    const struct step_memory_moment *moments;
    size_t count;
};
struct step_memory step_memory(const struct step *step, uint32_t slot, struct arena *arena);

#endif
