/* One buffer in pinned memory of the host, as many on the GPU as rotate. */
#include "validate/gpu_copy.h"

#include <string.h>

struct copy_work {
    struct gpu *gpu;
    size_t bytes;
    bool is_to_host;
    void *host;
    struct gpu_operands operands;
};

static bool
enqueue(void *context, int64_t set, struct error_list *errors)
{
    const struct copy_work *work = context;
    const struct gpu_api *api = &work->gpu->libraries.api;
    void *there = gpu_operand(&work->operands, 0, set), *stream = work->gpu->stream;
    int status = work->is_to_host
                     ? api->enqueue_copy_out(work->host, there, work->bytes, stream)
                     : api->enqueue_copy_in(there, work->host, work->bytes, stream);
    return gpu_ok(work->gpu, status, "a copy", errors);
}

static bool
new_buffers(struct copy_work *work, struct arena *arena, struct error_list *errors)
{
    struct gpu *gpu = work->gpu;
    const struct gpu_values values = {.dtype = DTYPE_FP32};
    work->operands.sets = gpu_set_count(gpu, (double)work->bytes);
    if (!gpu_operand_new(gpu, &work->operands, (double)work->bytes, errors) ||
        !gpu_fill(gpu, &work->operands, 0, values, arena, errors) ||
        !gpu_ok(gpu, gpu->libraries.api.stream_wait(gpu->stream), "random operands", errors) ||
        !gpu_ok(gpu, gpu->libraries.api.host_memory_new(&work->host, work->bytes, 0),
                "pinned memory", errors))
        return false;
    for (size_t i = 0; i < work->bytes; i++)
        ((unsigned char *)work->host)[i] = (unsigned char)(i % 251);
    return true;
}

/* Both sides hold the same bytes after one copy of the last set. */
static bool
check(struct copy_work *work, struct arena *arena, struct error_list *errors)
{
    struct gpu *gpu = work->gpu;
    char *there = arena_alloc(arena, work->bytes, 1);
    int64_t last = work->operands.sets - 1;
    if (!enqueue(work, last, errors) ||
        !gpu_ok(gpu, gpu->libraries.api.stream_wait(gpu->stream), "a copy", errors) ||
        !gpu_ok(gpu,
                gpu->libraries.api.copy_to_host(there, gpu_operand(&work->operands, 0, last),
                                                work->bytes),
                "copying", errors))
        return false;
    return memcmp(there, work->host, work->bytes) == 0 ||
           error_add(errors, ERROR_INPUT, "", "the copy is not the same, not timed");
}

bool
gpu_copy_measure(struct gpu *gpu, const struct kernel *kernel, struct measure_result *result,
                 struct arena *arena, struct error_list *errors)
{
    const struct copy *copy = &kernel->copy;
    struct copy_work work = {
        .gpu = gpu, .bytes = (size_t)copy->bytes, .is_to_host = copy->to == COPY_HOST};
    if (copy->from == copy->to || copy->bytes < 1)
        return error_add(errors, ERROR_INPUT, "",
                         "a GPU copies from hbm or to it, whole bytes");
    struct gpu_work timed = {.enqueue = enqueue, .context = &work};
    bool is_measured = new_buffers(&work, arena, errors) && check(&work, arena, errors);
    timed.sets = result->operand_sets = work.operands.sets;
    is_measured = is_measured && gpu_times_take(gpu, &timed, &result->times, arena, errors);
    gpu_operands_free(gpu, &work.operands);
    if (work.host != NULL)
        (void)gpu->libraries.api.host_memory_free(work.host);
    return is_measured;
}
