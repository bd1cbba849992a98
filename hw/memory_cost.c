/* Kernels that stream: launch, then bytes over the bandwidth that a kernel of that size and
 * kind reaches. Operands are taken to come from HBM, as in a training step, where other kernels
 * ran in between; only what one kernel reads again itself may come from a cache. */
#include "hw/memory_cost.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* Share of the bandwidth at occupancy o, 1 at o = 1: latency over bandwidth (Little's law) with
 * queues that grow, so that half of h's bandwidth is there long before half of the threads
 * are. */
static double
occupancy_fraction(double occupancy, double half_occupancy)
{
    return (1 + half_occupancy) * occupancy / (occupancy + half_occupancy);
}

double
memory_stream_s(const struct device *device, double read_bytes, double write_bytes)
{
    const struct device_memory *memory = &device->memory;
    double bytes = read_bytes + write_bytes;
    if (bytes <= 0)
        return 0;
    double seconds_s =
        read_bytes / memory->hbm_read_bytes_per_s + write_bytes / memory->hbm_write_bytes_per_s;
    if (read_bytes > 0 && write_bytes > 0)
        seconds_s /= memory->mixed_fraction;
    double occupancy = fmin(1, bytes / memory->wave_bytes);
    return seconds_s / occupancy_fraction(occupancy, memory->half_occupancy);
}

double
memory_reread_bytes_per_s(const struct device *device, double footprint_bytes)
{
    const struct device_memory *memory = &device->memory;
    if (footprint_bytes <= memory->l2_bytes)
        return memory->l2_bytes_per_s;
    if (footprint_bytes <= memory->last_level_bytes)
        return memory->last_level_bytes_per_s;
    return memory->hbm_read_bytes_per_s;
}

/* One kernel's parts, each alone. */
struct stream_parts {
    double fixed_s;
    double hbm_s;     /* at the device's bandwidth */
    double reread_s;  /* of a second pass, from the level that holds it */
    double element_s; /* of the vector units */
    double read_bytes, write_bytes;
};

/* Compute units that are enough to draw all of HBM's bandwidth: what a streaming kernel really
 * needs of the device, though its threads wait on all. */
static double
drawing_fraction(const struct device *device)
{
    const struct device_memory *memory = &device->memory;
    return fmin(1, memory->hbm_read_bytes_per_s /
                       (memory->unit_bytes_per_s * (double)device->compute_units));
}

static void
stream_cost(const struct device *device, const struct device_stream *stream,
            const struct stream_parts *parts, struct kernel_cost *cost)
{
    double moving_s = (parts->hbm_s + parts->reread_s) / stream->bandwidth_fraction;
    double work_s = fmax(moving_s, parts->element_s);
    double seconds_s = parts->fixed_s + work_s;
    enum kernel_bound bound = parts->reread_s > parts->hbm_s ? BOUND_CACHE : BOUND_HBM;
    if (parts->element_s > moving_s)
        bound = BOUND_COMPUTE;
    if (parts->fixed_s > work_s)
        bound = BOUND_LAUNCH;
    double computing = parts->element_s / seconds_s;
    double bytes_s =
        (parts->read_bytes + parts->write_bytes) / device->memory.hbm_read_bytes_per_s;
    double drawing = drawing_fraction(device) * work_s / seconds_s;
    *cost = (struct kernel_cost){
        .seconds_s = seconds_s,
        .relative_sigma = stream->relative_sigma,
        .bound = bound,
        .hbm_bytes = parts->read_bytes + parts->write_bytes,
        .compute_fraction = fmin(1, fmax(computing, drawing)),
        .hbm_fraction = fmin(1, bytes_s / seconds_s),
    };
}

void
memory_kernel_cost(const struct device *device, enum kernel_kind kind, double read_bytes,
                   double write_bytes, struct kernel_cost *cost)
{
    const struct device_stream *stream = &device->streams[kind];
    struct stream_parts parts = {.fixed_s = stream->fixed_s,
                                 .hbm_s = memory_stream_s(device, read_bytes, write_bytes),
                                 .read_bytes = read_bytes,
                                 .write_bytes = write_bytes};
    stream_cost(device, stream, &parts, cost);
}

/* Seconds of the vector units for an operation that the device file has a rate for. */
static double
element_s(const struct device *device, const struct elementwise *elementwise)
{
    for (int64_t i = 0; elementwise->op && i < device->element_rate_count; i++) {
        const struct device_element_rate *rate = &device->element_rates[i];
        if (strcmp(rate->op, elementwise->op) == 0)
            return (double)elementwise->elements / rate->elements_per_s;
    }
    return 0;
}

/* Each launch moves its part of the bytes; none: the bytes join another kernel's. */
static void
elementwise_cost(const struct device *device, const struct elementwise *elementwise,
                 struct kernel_cost *cost)
{
    const struct device_stream *stream = &device->streams[KERNEL_ELEMENTWISE];
    double launches = (double)elementwise->launches, parts_count = fmax(1, launches);
    struct stream_parts parts = {
        .fixed_s = launches * stream->fixed_s,
        .hbm_s = parts_count * memory_stream_s(device, elementwise->read_bytes / parts_count,
                                               elementwise->write_bytes / parts_count),
        .element_s = element_s(device, elementwise),
        .read_bytes = elementwise->read_bytes,
        .write_bytes = elementwise->write_bytes};
    stream_cost(device, stream, &parts, cost);
}

/* How often the array of rows by width is read and written. Forward of a norm or softmax: once
 * each; backward reads the incoming gradient and the saved array, writes one. A scatter_add
 * reads its sources and, to add to them, its targets. */
static void
rows_cost(const struct device *device, const struct kernel *kernel, struct kernel_cost *cost)
{
    const struct rows_by_width *rows = &kernel->rows_by_width;
    double bytes = (double)rows->rows * (double)rows->width * dtype_bytes(kernel->dtype);
    bool reads_two =
        kernel->kind == KERNEL_SCATTER_ADD || kernel->direction == DIRECTION_BACKWARD;
    memory_kernel_cost(device, kernel->kind, reads_two ? 2 * bytes : bytes, bytes, cost);
}

/* Reads every score; writes k values and k 4-byte indices a row. */
static void
top_k_cost(const struct device *device, const struct kernel *kernel, struct kernel_cost *cost)
{
    const struct top_k *top_k = &kernel->top_k;
    double rows = (double)top_k->rows, element_bytes = dtype_bytes(kernel->dtype);
    memory_kernel_cost(device, KERNEL_TOP_K, rows * (double)top_k->experts * element_bytes,
                       rows * (double)top_k->k * (element_bytes + sizeof(int32_t)), cost);
}

/* Forward reads a row's logits for its maximum and again for the sum of exponentials; the
 * second time from the level that holds the rows in flight, one a compute unit. It writes a
 * loss and a logarithm a row. Backward reads the logits once and writes their gradient. */
static void
cross_entropy_cost(const struct device *device, const struct kernel *kernel,
                   struct kernel_cost *cost)
{
    const struct device_stream *stream = &device->streams[KERNEL_CROSS_ENTROPY];
    double rows = (double)kernel->cross_entropy.rows;
    double row_bytes = (double)kernel->cross_entropy.vocab * dtype_bytes(kernel->dtype);
    double bytes = rows * row_bytes;
    if (kernel->direction == DIRECTION_BACKWARD) {
        memory_kernel_cost(device, KERNEL_CROSS_ENTROPY, bytes, bytes, cost);
        return;
    }
    double in_flight = row_bytes * fmin(rows, (double)device->compute_units);
    double written = 2 * rows * dtype_bytes(DTYPE_FP32);
    struct stream_parts parts = {.fixed_s = stream->fixed_s,
                                 .hbm_s = memory_stream_s(device, bytes, 0) +
                                          written / device->memory.hbm_write_bytes_per_s,
                                 .reread_s =
                                     bytes / memory_reread_bytes_per_s(device, in_flight),
                                 .read_bytes = bytes,
                                 .write_bytes = written};
    if (in_flight > fmax(device->memory.l2_bytes, device->memory.last_level_bytes))
        parts.read_bytes *= 2;
    stream_cost(device, stream, &parts, cost);
}

/* AdamW on fp32 masters: reads gradient, master and two moments, writes master and moments,
 * each 4 bytes: 28 a parameter; a parameter kept in a narrower type is written too
 * (bf16: 30). */
static void
adamw_cost(const struct device *device, const struct kernel *kernel, struct kernel_cost *cost)
{
    double parameters = (double)kernel->adamw.parameters;
    double copy_bytes = dtype_bytes(kernel->dtype) < 4 ? dtype_bytes(kernel->dtype) : 0;
    memory_kernel_cost(device, KERNEL_ADAMW, 16 * parameters, (12 + copy_bytes) * parameters,
                       cost);
}

/* Within HBM: a read and a write. To or from the host: the bytes over the host's link. */
static void
copy_cost(const struct device *device, const struct copy *copy, struct kernel_cost *cost)
{
    if (copy->from == COPY_HBM && copy->to == COPY_HBM) {
        memory_kernel_cost(device, KERNEL_COPY, copy->bytes, copy->bytes, cost);
        return;
    }
    const struct device_stream *stream = &device->streams[KERNEL_COPY];
    double link_s = copy->bytes / device->host_bytes_per_s;
    double seconds_s = stream->fixed_s + link_s;
    *cost = (struct kernel_cost){
        .seconds_s = seconds_s,
        .relative_sigma = stream->relative_sigma,
        .bound = stream->fixed_s > link_s ? BOUND_LAUNCH : BOUND_LATENCY,
        .hbm_bytes = copy->bytes,
        .hbm_fraction = fmin(1, copy->bytes / device->memory.hbm_read_bytes_per_s / seconds_s),
    };
}

void
memory_cost(const struct device *device, const struct kernel *kernel, struct kernel_cost *cost)
{
    switch (kernel->kind) {
    case KERNEL_ELEMENTWISE:
        elementwise_cost(device, &kernel->elementwise, cost);
        return;
    case KERNEL_RMS_NORM:
    case KERNEL_SOFTMAX:
    case KERNEL_GATHER:
    case KERNEL_SCATTER_ADD:
    case KERNEL_TRANSPOSE:
        rows_cost(device, kernel, cost);
        return;
    case KERNEL_TOP_K:
        top_k_cost(device, kernel, cost);
        return;
    case KERNEL_CROSS_ENTROPY:
        cross_entropy_cost(device, kernel, cost);
        return;
    case KERNEL_ADAMW:
        adamw_cost(device, kernel, cost);
        return;
    case KERNEL_COPY:
        copy_cost(device, &kernel->copy, cost);
        return;
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
