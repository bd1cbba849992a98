/* Reals of 16 bits on the host. */
#ifndef VALIDATE_GPU_HALF_H
#define VALIDATE_GPU_HALF_H

#include <stddef.h>

#include "hw/kernel.h"

/* Exact values of `count` reals of fp32, bf16 or fp16. */
void gpu_half_widen(enum dtype dtype, const void *from, float *to, size_t count);

/* A whole number from -2048 to 2048, for bf16 from -256 to 256, as one such real. */
void gpu_half_write(enum dtype dtype, int value, void *to);

#endif
