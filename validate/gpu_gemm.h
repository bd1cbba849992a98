/* Products on a GPU through the vendor's BLAS, with the algorithm that it would choose first. */
#ifndef VALIDATE_GPU_GEMM_H
#define VALIDATE_GPU_GEMM_H

#include "validate/gpu.h"

/* Of a gemm or grouped_gemm (one product an expert, one after another): checked, then timed. False
 * after adding why not; everything on the device is given back. */
bool gpu_gemm_measure(struct gpu *gpu, const struct kernel *kernel,
                      struct measure_result *result, struct arena *arena,
                      struct error_list *errors);

#endif
