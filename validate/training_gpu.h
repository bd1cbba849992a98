/* A training step on a GPU: training_device's table behind a vendor's libraries, all in fp32. */
#ifndef VALIDATE_TRAINING_GPU_H
#define VALIDATE_TRAINING_GPU_H

#include "validate/gpu.h"
#include "validate/training_device.h"
#include "validate/training_gpu_meeting.h"
#include "validate/training_shape.h"

struct training_gpu;

/* Compiles the kernels and opens the BLAS of an open GPU, which outlives it. NULL after adding why
 * not: a step that has no code here, no compiler, no library, a function that is missing. */
struct training_gpu *training_gpu_new(struct gpu *gpu, const struct training_shape *shape,
                                      struct arena *arena, struct error_list *errors);

const struct training_device *training_gpu_device(const struct training_gpu *machine);

/* Its exchanges are with others of the meeting, whose rank it is; a group's communicator is this
 * rank's of the library. */
void training_gpu_join(struct training_gpu *machine, struct training_gpu_meeting *meeting,
                       int rank);

/* Gives back everything on the device; cannot fail. */
void training_gpu_free(struct training_gpu *machine);

#endif
