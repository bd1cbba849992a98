/* What a step keeps in a GPU's memory: by class, by stage, over the step and at its peak. */
#ifndef MODELS_MEMORY_H
#define MODELS_MEMORY_H

#include "models/program.h"

/* All in bytes, of the rank of a stage that needs most, at the moment when it does. */
struct memory {
    double weights;     /* compute dtype; of ZeRO-3 a share, and the units that are gathered */
    double gradients;   /* gradient dtype, whole on every rank up to ZeRO-1 */
    double optimizer;   /* master weights and moments of the rank's share */
    double activations; /* kept for backward, the logits included */
    double communication; /* what all-to-alls send and receive, pieces of split matrices */
    double workspace;     /* what the running block needs beside, or the optimizer */
    double runtime;       /* driver, libraries, channels */
    double fragmentation;
    double peak; /* the sum */
    double capacity;

    int64_t stage;
    int64_t kept_passes;         /* forwards of a chunk whose activations are kept then */
    struct schedule_step moment; /* the pass that runs then */
};

enum { MEMORY_CLASS_COUNT = 8 };
/* The classes by name, in the order above, for reports. */
struct memory_class {
    const char *name; /* "weights" */
    double bytes;
};
void memory_classes(const struct memory *memory,
                    struct memory_class classes[MEMORY_CLASS_COUNT]);

/* Of the stage that needs most. */
struct memory memory_of(const struct step_inputs *inputs, struct arena *arena);

/* Of every stage, plan->pipeline of them. */
const struct memory *memory_of_stages(const struct step_inputs *inputs, struct arena *arena);

/* Activations of one stage over its schedule: what is kept after each of its passes, by class of
 * operator. */
struct memory_moment {
    struct schedule_step step;
    double activations;
};
struct memory_course {
    const struct memory_moment *moments;
    int64_t count;
};
struct memory_course memory_course(const struct step_inputs *inputs, int64_t stage,
                                   struct arena *arena);

/* What one pass of a chunk keeps, by the class of the operator that keeps it. */
struct memory_saved {
    double bytes[STEP_CLASS_COUNT];
    double sum;
};
struct memory_saved memory_saved_of(const struct step_inputs *inputs, int64_t stage,
                                    int64_t chunk, struct arena *arena);

#endif
