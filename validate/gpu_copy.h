/* Copies between a GPU's memory and the host's. */
#ifndef VALIDATE_GPU_COPY_H
#define VALIDATE_GPU_COPY_H

#include "validate/gpu.h"

/* From or to pinned memory of the host: compared byte by byte, then timed. False after adding why
 * not; everything is given back. */
bool gpu_copy_measure(struct gpu *gpu, const struct kernel *kernel,
                      struct measure_result *result, struct arena *arena,
                      struct error_list *errors);

#endif
