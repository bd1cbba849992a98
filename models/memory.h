/* What a step keeps in a GPU's memory, by class, at its peak. */
#ifndef MODELS_MEMORY_H
#define MODELS_MEMORY_H

#include "models/operators.h"
#include "models/optimizer.h"

/* All in bytes, of the rank that needs most. The peak is the end of the last forward block:
 * weights, gradients and state are always there, every kept activation is. */
struct memory {
    double weights;       /* compute dtype */
    double gradients;     /* gradient dtype, whole on every rank up to ZeRO-1 */
    double optimizer;     /* master weights and moments of the rank's share */
    double activations;   /* kept for backward, the logits included */
    double communication; /* pieces of split matrices */
    double workspace;     /* Newton-Schulz products of the largest matrix */
    double runtime;       /* driver, libraries, channels */
    double fragmentation;
    double peak; /* the sum */
    double capacity;
};

enum { MEMORY_CLASS_COUNT = 8 };
/* The classes by name, in the order above, for reports. */
struct memory_class {
    const char *name; /* "weights" */
    double bytes;
};
void memory_classes(const struct memory *memory,
                    struct memory_class classes[MEMORY_CLASS_COUNT]);

struct memory memory_of(const struct workload *workload, const struct tensor_list *tensors,
                        const struct cluster *cluster, struct arena *arena);

/* Bytes kept for backward of one microbatch. */
double memory_activation_bytes(const struct workload *workload, struct arena *arena);

#endif
