/* Kernels that stream: launch, then bytes over the bandwidth that a kernel of that size and
 * kind reaches. A large kernel's operands come from HBM, as in a training step, where other
 * kernels ran in between; those of a small one are where the kernel before left them, in L2. */
#include "hw/memory_cost.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "hw/row_cost.h"

double
memory_warm_s(const struct device *device, double bytes)
{
    return bytes / device->memory.warm_bytes_per_s;
}

/* From HBM and to it. Writes alone are slower than writes among reads. */
static double
cold_stream_s(const struct device_memory *memory, double read_bytes, double write_bytes)
{
    double seconds_s =
        read_bytes / memory->hbm_read_bytes_per_s + write_bytes / memory->hbm_write_bytes_per_s;
    if (read_bytes > 0 && write_bytes > 0)
        seconds_s /= memory->mixed_fraction;
    if (read_bytes <= 0)
        seconds_s /= memory->write_only_fraction;
    return (read_bytes > 0 ? memory->latency_s : 0) + seconds_s;
}

static bool
is_warm(const struct device *device, double bytes)
{
    return bytes <= device->memory.warm_bytes;
}

double
memory_stream_s(const struct device *device, double read_bytes, double write_bytes)
{
    double bytes = read_bytes + write_bytes;
    if (bytes <= 0)
        return 0;
    return is_warm(device, bytes) ? memory_warm_s(device, bytes)
                                  : cold_stream_s(&device->memory, read_bytes, write_bytes);
}

double
memory_reread_hit_fraction(const struct device *device, double in_flight_bytes)
{
    return fmin(1, fmax(0, 2 - in_flight_bytes / device->memory.reread_bytes));
}

/* Compute units that are enough to draw all of HBM's bandwidth: what a streaming kernel really
 * needs of the device, though its threads wait on all. */
static double
drawing_fraction(const struct device *device)
{
    const struct device_memory *memory = &device->memory;
    return fmin(1, memory->hbm_read_bytes_per_s /
                       (memory->unit_bytes_per_s * (double)device->compute_units));
}

static enum kernel_bound
stream_bound(const struct memory_parts *parts, double work_s)
{
    if (parts->fixed_s > work_s)
        return BOUND_LAUNCH;
    if (fmax(parts->rows_s, parts->row_s) > fmax(parts->moving_s, parts->element_s))
        return BOUND_LATENCY;
    if (parts->element_s > parts->moving_s)
        return BOUND_COMPUTE;
    return parts->is_warm ? BOUND_CACHE : BOUND_HBM;
}

/* What the first rows take, then all of them beside their bytes. */
static double
rows_beside_bytes_s(const struct device *device, const struct device_stream *stream,
                    const struct memory_parts *parts)
{
    double longer_s = fmax(parts->rows_s, parts->moving_s);
    double shorter_s = fmin(parts->rows_s, parts->moving_s);
    if (shorter_s <= 0)
        return parts->first_s + longer_s;
    double own = stream->overlap_exponent;
    double p = own > 0 ? own : device->memory.row_overlap_exponent;
    return parts->first_s + longer_s * pow(1 + pow(shorter_s / longer_s, p), 1 / p);
}

void
memory_parts_cost(const struct device *device, const struct device_stream *stream,
                  const struct memory_parts *parts, struct kernel_cost *cost)
{
    double work_s = fmax(parts->element_s, rows_beside_bytes_s(device, stream, parts));
    work_s = fmax(work_s, parts->row_s) + parts->behind_s;
    double seconds_s = stream->isolated_call_s + parts->fixed_s + work_s;
    double bytes = parts->read_bytes + parts->write_bytes;
    double bytes_s = bytes / device->memory.hbm_read_bytes_per_s;
    double drawing = drawing_fraction(device) * work_s / seconds_s;
    *cost = (struct kernel_cost){
        .seconds_s = seconds_s,
        .host_s = stream->isolated_call_s,
        .relative_sigma = stream->relative_sigma,
        .bound = stream_bound(parts, work_s),
        .hbm_bytes = bytes,
        .compute_fraction = fmin(1, fmax(parts->element_s / seconds_s, drawing)),
        .hbm_fraction = fmin(1, bytes_s / seconds_s),
    };
}

/* Seconds of the device for elements that it takes one by one, whatever they weigh. */
static double
by_element_s(const struct device_stream *stream, enum dtype dtype, double elements)
{
    double rate = dtype_bytes(dtype) > 2 ? stream->wide_elements_per_s : stream->elements_per_s;
    return rate > 0 ? elements / rate : 0;
}

struct memory_parts
memory_parts_of(const struct device *device, const struct device_stream *stream,
                double read_bytes, double write_bytes)
{
    return (struct memory_parts){.fixed_s = stream->fixed_s,
                                 .moving_s = memory_stream_s(device, read_bytes, write_bytes) /
                                             stream->bandwidth_fraction,
                                 .read_bytes = read_bytes,
                                 .write_bytes = write_bytes,
                                 .is_warm = is_warm(device, read_bytes + write_bytes)};
}

/* Of a result, what goes to HBM while the kernel runs: the rest overwrites in L2 what the last one
 * left there. */
static double
left_bytes(const struct device *device, double write_bytes)
{
    double kept = device->memory.result_kept_fraction;
    return write_bytes * (1 - kept * memory_reread_hit_fraction(device, write_bytes));
}

struct memory_parts
memory_result_parts_of(const struct device *device, const struct device_stream *stream,
                       double read_bytes, double write_bytes)
{
    struct memory_parts parts = memory_parts_of(device, stream, read_bytes, write_bytes);
    if (parts.is_warm)
        return parts;
    parts.is_warm = is_warm(device, read_bytes);
    double moving_s = parts.is_warm ? memory_warm_s(device, read_bytes + write_bytes)
                                    : cold_stream_s(&device->memory, read_bytes,
                                                    left_bytes(device, write_bytes));
    parts.moving_s = moving_s / stream->bandwidth_fraction;
    return parts;
}

void
memory_kernel_cost(const struct device *device, const struct kernel *kernel, double read_bytes,
                   double write_bytes, struct kernel_cost *cost)
{
    const struct device_stream *stream = &device->streams[kernel->kind][kernel->direction];
    struct memory_parts parts = memory_parts_of(device, stream, read_bytes, write_bytes);
    memory_parts_cost(device, stream, &parts, cost);
}

/* What the device file says of an operation's vector work, NULL if nothing. */
static const struct device_element_rate *
operation_rate(const struct device *device, const struct elementwise *elementwise)
{
    for (int64_t i = 0; elementwise->op && i < device->element_rate_count; i++)
        if (strcmp(device->element_rates[i].op, elementwise->op) == 0)
            return &device->element_rates[i];
    return NULL;
}

/* Each launch moves its part of the bytes; none: the bytes join another kernel's. */
static void
elementwise_cost(const struct device *device, const struct elementwise *elementwise,
                 struct kernel_cost *cost)
{
    const struct device_stream *stream = &device->streams[KERNEL_ELEMENTWISE][0];
    double launches = (double)elementwise->launches, count = fmax(1, launches);
    struct memory_parts parts = memory_parts_of(device, stream, elementwise->read_bytes / count,
                                                elementwise->write_bytes / count);
    const struct device_element_rate *rate = operation_rate(device, elementwise);
    parts.fixed_s = launches * (stream->fixed_s + (rate ? rate->wait_s : 0));
    parts.moving_s *= count;
    parts.read_bytes *= count;
    parts.write_bytes *= count;
    parts.element_s = rate ? (double)elementwise->elements / rate->elements_per_s : 0;
    memory_parts_cost(device, stream, &parts, cost);
}

/* A workgroup a row copies it to its place (PyTorch's vectorized_gather_kernel). */
static void
gather_cost(const struct device *device, const struct kernel *kernel, struct kernel_cost *cost)
{
    const struct device_stream *stream = &device->streams[KERNEL_GATHER][0];
    double rows = (double)kernel->rows_by_width.rows;
    double bytes = rows * (double)kernel->rows_by_width.width * dtype_bytes(kernel->dtype);
    struct memory_parts parts = memory_result_parts_of(device, stream, bytes, bytes);
    parts.rows_s = rows / row_resident_narrow(device) * stream->row_s;
    memory_parts_cost(device, stream, &parts, cost);
}

/* Up to so many rows PyTorch's index_add takes one after the other, each thread its own columns
 * (Indexing.cu: indexFuncSmallIndex): row_s each. */
static const double SMALL_INDEX_ROWS = 16;

/* A scatter_add reads its sources and adds each element to its target, a read and a write that
 * no other may come between; a transpose reads rows and writes, or writes rows and reads, each
 * element in a sector of its own. Both come down to elements a second. */
static void
scattered_cost(const struct device *device, const struct kernel *kernel,
               struct kernel_cost *cost)
{
    const struct device_stream *stream = &device->streams[kernel->kind][0];
    double elements = (double)kernel->rows_by_width.rows * (double)kernel->rows_by_width.width;
    double bytes = elements * dtype_bytes(kernel->dtype);
    double read_bytes = kernel->kind == KERNEL_SCATTER_ADD ? 2 * bytes : bytes;
    struct memory_parts parts = memory_parts_of(device, stream, read_bytes, bytes);
    parts.element_s = by_element_s(stream, kernel->dtype, elements);
    double rows = (double)kernel->rows_by_width.rows;
    if (kernel->kind == KERNEL_SCATTER_ADD && rows <= SMALL_INDEX_ROWS)
        parts.element_s = fmax(parts.element_s, rows * stream->row_s);
    memory_parts_cost(device, stream, &parts, cost);
}

/* PyTorch's multi-tensor kernels give each workgroup 65,536 elements, and a launch at most 320
 * workgroups (ATen/native/cuda/MultiTensorApply.cuh, kChunkSize and depth_to_max_blocks). Units
 * hold two of them, of 512 threads, at once (seen on H200: 256 and 320 take 118 and 165 us). */
static const double CHUNK_ELEMENTS = 65536;
static const double LAUNCH_CHUNKS = 320;
static const double UNIT_CHUNKS = 2;

/* Chunks beside each other: as long as their bytes take, and as one walks. */
static double
chunks_s(const struct device *device, const struct memory_parts *all, double walk_s,
         double part)
{
    double p = device->memory.row_overlap_exponent;
    return pow(pow(all->moving_s * part, p) + pow(walk_s, p), 1 / p);
}

/* A launch of some chunks of all: as many at once as units hold, then the rest. */
static double
chunk_launch_s(const struct device *device, const struct memory_parts *all, double walk_s,
               double chunks, double count)
{
    double held = UNIT_CHUNKS * (double)device->compute_units;
    double rounds = floor(count / held), rest = count - rounds * held;
    double rest_s =
        rest > 0 ? chunks_s(device, all, walk_s * fmin(1, chunks), rest / chunks) : 0;
    return rounds * chunks_s(device, all, walk_s, held / chunks) + rest_s;
}

/* All launches of a multi-tensor kernel whose bytes alone would take all->moving_s. */
static double
multi_tensor_s(const struct device *device, const struct device_stream *stream,
               const struct memory_parts *all, double elements)
{
    double chunks = elements / CHUNK_ELEMENTS, launches = floor(chunks / LAUNCH_CHUNKS);
    double walk_s = stream->row_s + (all->is_warm ? 0 : stream->sum_row_s);
    double rest = chunks - launches * LAUNCH_CHUNKS;
    return launches * chunk_launch_s(device, all, walk_s, chunks, LAUNCH_CHUNKS) +
           chunk_launch_s(device, all, walk_s, chunks, rest);
}

/* AdamW on fp32 masters: reads gradient, master and two moments, writes master and moments,
 * each 4 bytes: 28 a parameter; a parameter kept in a narrower type is written too
 * (bf16: 30). */
static void
adamw_cost(const struct device *device, const struct kernel *kernel, struct kernel_cost *cost)
{
    const struct device_stream *stream = &device->streams[KERNEL_ADAMW][DIRECTION_FORWARD];
    double parameters = (double)kernel->adamw.parameters;
    double copy_bytes = dtype_bytes(kernel->dtype) < 4 ? dtype_bytes(kernel->dtype) : 0;
    struct memory_parts parts =
        memory_parts_of(device, stream, 16 * parameters, (12 + copy_bytes) * parameters);
    if (stream->row_s > 0)
        parts.moving_s = multi_tensor_s(device, stream, &parts, parameters);
    memory_parts_cost(device, stream, &parts, cost);
}

/* Within HBM: a read and a write. To or from the host: the bytes over the host's link, after one
 * way along it (row_s), or there and back where the host's memory is read. */
static void
copy_cost(const struct device *device, const struct kernel *kernel, struct kernel_cost *cost)
{
    const struct copy *copy = &kernel->copy;
    if (copy->from == COPY_HBM && copy->to == COPY_HBM) {
        memory_kernel_cost(device, kernel, copy->bytes, copy->bytes, cost);
        return;
    }
    const struct device_stream *stream = &device->streams[KERNEL_COPY][0];
    double ways = copy->from == COPY_HOST ? 2 : 1;
    double link_s = ways * stream->row_s + copy->bytes / device->host_bytes_per_s;
    double seconds_s = stream->fixed_s + link_s;
    *cost = (struct kernel_cost){
        .seconds_s = seconds_s,
        .relative_sigma = stream->relative_sigma,
        .bound = stream->fixed_s > link_s ? BOUND_LAUNCH : BOUND_LATENCY,
        .hbm_bytes = copy->bytes,
        .hbm_fraction = fmin(1, copy->bytes / device->memory.hbm_read_bytes_per_s / seconds_s),
    };
}

double
memory_by_element_s(const struct device *device, const struct kernel *kernel, double elements)
{
    return by_element_s(&device->streams[kernel->kind][kernel->direction], kernel->dtype,
                        elements);
}

void
memory_cost(const struct device *device, const struct kernel *kernel, struct kernel_cost *cost)
{
    switch (kernel->kind) {
    case KERNEL_ELEMENTWISE:
        elementwise_cost(device, &kernel->elementwise, cost);
        return;
    case KERNEL_GATHER:
        gather_cost(device, kernel, cost);
        return;
    case KERNEL_SCATTER_ADD:
    case KERNEL_TRANSPOSE:
        scattered_cost(device, kernel, cost);
        return;
    case KERNEL_ADAMW:
        adamw_cost(device, kernel, cost);
        return;
    case KERNEL_COPY:
        copy_cost(device, kernel, cost);
        return;
    case KERNEL_RMS_NORM:
    case KERNEL_SOFTMAX:
    case KERNEL_TOP_K:
    case KERNEL_CROSS_ENTROPY:
    case KERNEL_GEMM:
    case KERNEL_GROUPED_GEMM:
    case KERNEL_FUSED_MOE:
    case KERNEL_ATTENTION:
    case KERNEL_CONVOLUTION:
    case KERNEL_NEWTON_SCHULZ:
    case KERNEL_KIND_COUNT:
        break;
    }
    assert(false && "a kernel that does not stream");
}
