/* Streams beside the one that is timed, in use as those of a program that trains. */
#ifndef VALIDATE_GPU_STREAMS_H
#define VALIDATE_GPU_STREAMS_H

#include "validate/gpu.h"

/* Makes `count` more streams, up to GPU_STREAMS_MAX, and runs a memset on each: before any kernel
 * is loaded, as gpu_streams.c tells why. gpu_streams_close gives them back. */
bool gpu_streams_open(struct gpu *gpu, int count, struct error_list *errors);

/* Runs a memset on each again, and waits for them. */
bool gpu_streams_run(const struct gpu *gpu, struct error_list *errors);

void gpu_streams_close(struct gpu *gpu);

#endif
