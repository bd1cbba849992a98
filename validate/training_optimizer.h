/* What a step does with its gradients: AdamW, or Muon for the matrices of the layers. */
#ifndef VALIDATE_TRAINING_OPTIMIZER_H
#define VALIDATE_TRAINING_OPTIMIZER_H

#include "validate/training.h"

struct training_optimizer {
    float *first, *second; /* moments, laid out as the weights; of Muon's matrices the second is
                              what goes into Newton-Schulz */
    union cpu_array room[4]; /* of one matrix: what comes out, and what that takes */
    int64_t steps;           /* done */
};

struct training_optimizer training_optimizer_new(const struct training *step);

/* One step from the step's gradients, which are those of all processes. */
void training_optimizer_run(struct training_optimizer *optimizer, struct training *step);

#endif
