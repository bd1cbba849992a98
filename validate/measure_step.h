/* `measure --step RUN`: a training step, for real, on all processes that were started together. */
#ifndef VALIDATE_MEASURE_STEP_H
#define VALIDATE_MEASURE_STEP_H

#include "sim/base/arena.h"

/* The words behind --step; prints the answer on standard output. Returns the exit code. */
int measure_step(int count, char *const *words, const struct arena_policy *policy);

#endif
