/* Collectives between the GPUs of this machine: NCCL or RCCL, one process for all of them. */
#ifndef VALIDATE_GPU_COLLECTIVE_H
#define VALIDATE_GPU_COLLECTIVE_H

#include "hw/collective.h"
#include "validate/gpu.h"

/* Streams and communicators that live from one collective to the next. */
struct gpu_collectives;

/* Opens nothing yet; the gpu outlives it. */
struct gpu_collectives *gpu_collectives_new(struct gpu *gpu, struct arena *arena);

/* Gives back everything on the devices; cannot fail. */
void gpu_collectives_close(struct gpu_collectives *all);

/* Checked exactly on small whole numbers, then timed: calls in a graph on each GPU, the slowest.
 * False after adding why not. */
bool gpu_collective_measure(struct gpu_collectives *all, const struct collective *collective,
                            struct measure_result *result, struct arena *arena,
                            struct error_list *errors);

#endif
