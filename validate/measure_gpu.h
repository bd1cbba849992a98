/* The GPU back ends of measure: kernels on the first GPU, collectives on as many as they need. */
#ifndef VALIDATE_MEASURE_GPU_H
#define VALIDATE_MEASURE_GPU_H

#include "validate/gpu.h"
#include "validate/measure_backend.h"

/* Opened by measure_gpu_open; zero-initialised by its owner, whom the back end does not outlive. */
struct measure_gpu {
    struct gpu gpu;
    struct gpu_collectives *collectives;
};

/* Finds GPU `device` of the machine. False after adding the fault, nothing left open. Names live
 * in the arena. */
bool measure_gpu_open(struct measure_gpu *measure, struct measure_backend *backend,
                      enum gpu_vendor vendor, const char *library_path, struct arena *arena,
                      struct error_list *errors);

#endif
