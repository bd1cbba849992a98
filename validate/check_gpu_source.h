/* For tests only: what the text of gpu_kernels.cu takes for granted, so that a C compiler reads it
 * for the host. The threads of a block take turns: each runs to the next meeting. */
#ifndef VALIDATE_CHECK_GPU_SOURCE_H
#define VALIDATE_CHECK_GPU_SOURCE_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

/* NOLINTBEGIN(bugprone-reserved-identifier): the words are those of the kernels' language */
#define REAL_FP32
#define __global__       static
#define __device__       inline
#define __shared__       static
#define __align__(bytes) __attribute__((aligned(bytes)))

struct check_gpu_place {
    unsigned x, y, z;
};

/* Of the thread that runs. */
extern struct check_gpu_place threadIdx, blockIdx, blockDim, gridDim;

/* The others run until they come here. */
void check_gpu_meet(void);
#define __syncthreads check_gpu_meet
/* NOLINTEND(bugprone-reserved-identifier) */

struct check_gpu_kernel {
    const char *name;
    void (*call)(void **arguments);
};
extern const struct check_gpu_kernel check_gpu_kernels[]; /* ended by a name of NULL */

/* At most so many threads a block; one grid at a time, between open and close. */
enum { CHECK_GPU_THREADS = 256 };
void check_gpu_run_grid(const struct check_gpu_kernel *kernel, void **arguments,
                        struct check_gpu_place grid, struct check_gpu_place block);
void check_gpu_open_threads(void);
void check_gpu_close_threads(void);

static inline float
check_gpu_rsqrt(float x)
{
    return 1 / sqrtf(x);
}
#define rsqrtf          check_gpu_rsqrt
#define atomicAdd(p, x) (*(p) += (x))

#endif
