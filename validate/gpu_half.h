/* Reals of 16 bits on the host. */
#ifndef VALIDATE_GPU_HALF_H
#define VALIDATE_GPU_HALF_H

#include <stddef.h>

#include "hw/kernel.h"

/* Exact values of `count` reals of fp32, bf16 or fp16. */
void gpu_half_widen(enum dtype dtype, const void *from, float *to, size_t count);

#endif
