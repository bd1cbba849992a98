/* Which code on a GPU runs a kernel. */
#include "validate/measure_gpu.h"

#include "validate/gpu_gemm.h"
#include "validate/gpu_stream.h"

static bool
run_kernel(void *context, const struct kernel *kernel, struct measure_result *result,
           struct arena *arena, struct error_list *errors)
{
    struct measure_gpu *measure = context;
    struct gpu *gpu = &measure->gpu;
    *result = (struct measure_result){0};
    if (kernel->kind == KERNEL_GEMM || kernel->kind == KERNEL_GROUPED_GEMM)
        return gpu_gemm_measure(gpu, kernel, result, arena, errors);
    return gpu_stream_measure(gpu, kernel, result, arena, errors);
}

static void
close_gpu(void *context)
{
    struct measure_gpu *measure = context;
    gpu_close(&measure->gpu);
}

bool
measure_gpu_open(struct measure_gpu *measure, struct measure_backend *backend,
                 enum gpu_vendor vendor, const char *library_path, struct arena *arena,
                 struct error_list *errors)
{
    if (!gpu_open(&measure->gpu, vendor, library_path, 0, arena, errors))
        return false;
    *backend = (struct measure_backend){
        .device = measure->gpu.name,
        .library = measure->gpu.library,
        .context = measure,
        .run_kernel = run_kernel,
        .close = close_gpu,
    };
    return true;
}
