/* What else is in use moves the times of short kernels, though nothing else runs.
 *
 * Seen on eleven H200 (driver 580.159.04) with kernels in a graph: once seven or eight streams have
 * had work, ever, each kernel takes longer by 0.17 us when its operands lie in L2 and by 0.35 us
 * when they do not. The second kernel of a product split along k, which otherwise starts while the
 * first ends, then takes 1 us longer, unless libraries and kernels were loaded before those streams
 * were used. What sort of streams makes no difference, nor does their priority or the number of
 * connections (CUDA_DEVICE_MAX_CONNECTIONS); memory, captures and graphs alone do not bring it
 * about, a memset of 256 bytes does not, one of 1 MiB does. Its cause lies in the driver or below
 * and is not known; of processes that went on for a minute, one in five lost it.
 *
 * A PyTorch program takes its streams from a pool of 32 (c10/cuda/CUDAStream.cpp) and is past that
 * point after the first few captures or side streams. What is to predict such programs is timed as
 * they are. */
#include "validate/gpu_streams.h"

#include <assert.h>

static const size_t SET_BYTES = 1048576;

bool
gpu_streams_open(struct gpu *gpu, int count, struct error_list *errors)
{
    const struct gpu_api *api = &gpu->libraries.api;
    struct gpu_streams *streams = &gpu->others;
    assert(count <= GPU_STREAMS_MAX && streams->count == 0);
    if (count == 0)
        return true;
    if (!gpu_ok(gpu, api->memory_new(&streams->memory, SET_BYTES), "streams", errors))
        return false;
    for (; streams->count < count; streams->count++)
        if (!gpu_ok(gpu, api->stream_new(&streams->streams[streams->count], GPU_STREAM_APART),
                    "streams", errors))
            return false;
    return gpu_streams_run(gpu, errors);
}

bool
gpu_streams_run(const struct gpu *gpu, struct error_list *errors)
{
    const struct gpu_api *api = &gpu->libraries.api;
    const struct gpu_streams *streams = &gpu->others;
    for (int i = 0; i < streams->count; i++)
        if (!gpu_ok(gpu, api->enqueue_set(streams->memory, 0, SET_BYTES, streams->streams[i]),
                    "streams", errors))
            return false;
    for (int i = 0; i < streams->count; i++)
        if (!gpu_ok(gpu, api->stream_wait(streams->streams[i]), "streams", errors))
            return false;
    return true;
}

void
gpu_streams_close(struct gpu *gpu)
{
    const struct gpu_api *api = &gpu->libraries.api;
    struct gpu_streams *streams = &gpu->others;
    for (int i = 0; i < streams->count; i++)
        (void)api->stream_free(streams->streams[i]);
    if (streams->memory != NULL)
        (void)api->memory_free(streams->memory);
    *streams = (struct gpu_streams){0};
}
