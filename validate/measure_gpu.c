/* Which code on a GPU runs a kernel. */
#include "validate/measure_gpu.h"

#include "validate/gpu_collective.h"
#include "validate/gpu_copy.h"
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
    if (kernel->kind == KERNEL_COPY &&
        (kernel->copy.from == COPY_HOST || kernel->copy.to == COPY_HOST))
        return gpu_copy_measure(gpu, kernel, result, arena, errors);
    return gpu_stream_measure(gpu, kernel, result, arena, errors);
}

static bool
run_collective(void *context, const struct collective *collective,
               struct measure_result *result, struct arena *arena, struct error_list *errors)
{
    struct measure_gpu *measure = context;
    return gpu_collective_measure(measure->collectives, collective, result, arena, errors);
}

static void
close_gpu(void *context)
{
    struct measure_gpu *measure = context;
    gpu_collectives_close(measure->collectives);
    gpu_close(&measure->gpu);
}

bool
measure_gpu_open(struct measure_gpu *measure, struct measure_backend *backend,
                 enum gpu_vendor vendor, const char *library_path, struct arena *arena,
                 struct error_list *errors)
{
    if (!gpu_open(&measure->gpu, vendor, library_path, 0, arena, errors))
        return false;
    measure->collectives = gpu_collectives_new(&measure->gpu, arena);
    *backend = (struct measure_backend){
        .device = measure->gpu.name,
        .library = measure->gpu.library,
        .is_enqueued = true,
        .context = measure,
        .run_kernel = run_kernel,
        .run_collective = run_collective,
        .close = close_gpu,
    };
    return true;
}
