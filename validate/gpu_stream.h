/* Kernels that stream through memory on a GPU: the project's own code, compiled at run time. */
#ifndef VALIDATE_GPU_STREAM_H
#define VALIDATE_GPU_STREAM_H

#include "validate/gpu.h"

enum { GPU_LAUNCHES_MAX = 3, GPU_LAUNCH_OPERANDS_MAX = 5, GPU_LAUNCH_SIZES_MAX = 7 };

/* One launch: its arguments are operands, then sizes of 64 bits. */
struct gpu_stream_launch {
    const char *name; /* in gpu_kernels.cu and its like */
    struct gpu_shape shape;
    int operands[GPU_LAUNCH_OPERANDS_MAX], operand_count;
    int64_t sizes[GPU_LAUNCH_SIZES_MAX];
    int size_count;
};

/* A kernel as launches; operands beyond the CPU's own (cpu_kernel.h) are scratch in fp32. */
struct gpu_stream_plan {
    struct gpu_stream_launch launches[GPU_LAUNCHES_MAX];
    int launch_count;
    double scratch_counts[2];
    int scratch_count;
};

/* False: this kernel has no plan. */
bool gpu_stream_plan(const struct kernel *kernel, int operand_count,
                     struct gpu_stream_plan *plan);

/* The kernel of its last elements or rows, which is what the check looks at; itself where results
 * depend on all. */
struct kernel gpu_stream_checked_part(const struct kernel *kernel);

/* Checked against the CPU's calculation in fp64 (of large arrays, their last part), then timed.
 * False after adding why not; everything on the device is given back. */
bool gpu_stream_measure(struct gpu *gpu, const struct kernel *kernel,
                        struct measure_result *result, struct arena *arena,
                        struct error_list *errors);

#endif
