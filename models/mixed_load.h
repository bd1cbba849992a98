/* At what clock a step's kernels run, against the lists that their prices are from.
 *
 * A GPU that does nothing but multiply is held back by its power; in a step the kernels between
 * the products, which wait for memory, leave some of it over. Measured alone, as lists of kernels
 * are, products are slower than a step's. What streams alone runs at the boost clock, and among or
 * right behind a step's products at theirs: it takes longer there as far as it goes with the
 * clock. */
#ifndef MODELS_MIXED_LOAD_H
#define MODELS_MIXED_LOAD_H

#include "models/program.h"

/* 1 and 1: kernels take what they take alone. */
struct mixed_load {
    double product_speedup; /* of matrix products, against those that run alone */
    double clock_slowdown;  /* the boost clock over the step's */
};

/* Products gain 1 + gain x the part of its passes' time that the device spends on other kernels;
 * the gain is the device's (struct device_gemm), 0 of one that was not looked at. The rest of the
 * way to the boost clock of the plan's products is the slowdown, at least 1. */
struct mixed_load mixed_load_of(const struct step_inputs *inputs, struct arena *arena);

/* The boost clock over the one at which long products of that type run alone: (1 + r^q)^(1/q), r
 * what the loop issues at the boost clock over what power allows, q the device's power_exponent
 * (hw/gemm_cut.c joins both times so). 1 where nothing is known. */
double mixed_load_boost(const struct device *device, enum dtype dtype);

/* How much faster than alone a kernel runs: a product by its speedup, at most to the boost clock;
 * another not at all, or slower (below 1) as far as it goes with the clock. */
double mixed_load_kernel_speedup(const struct device *device, const struct kernel *kernel,
                                 const struct mixed_load *load);

#endif
