/* How much faster matrix products run within a step than one behind the other.
 *
 * A GPU that does nothing but multiply is held back by its power; in a step the kernels between
 * the products, which wait for memory, leave some of it over. Measured alone, as lists of kernels
 * are, products are slower than a step's. */
#ifndef MODELS_MIXED_LOAD_H
#define MODELS_MIXED_LOAD_H

#include "models/program.h"

/* 1 + gain x the part of its passes' time that the device spends on other kernels; the gain is the
 * device's (struct device_gemm), 0 of one that was not looked at. */
double mixed_load_speedup(const struct step_inputs *inputs, struct arena *arena);

#endif
