/* Plain kernels along rows: a block of 256 threads has as many rows as some threads each leave room
 * for, loads them in strips of sixteen bytes, meets, stores.
 *
 *     row     strip strip strip strip | strip strip ...
 *             held by its threads     | loaded again, out of L2 while that holds it
 *
 * Its bytes move beside the waiting of its rows, as many at once as units hold blocks, and beside
 * what its threads calculate. */
#include "hw/plain_cost.h"

#include <assert.h>
#include <math.h>

#include "hw/memory_cost.h"

/* validate/gpu_plan.c: threads of a block, the fewest to a row; a thread's strip. */
static const double BLOCK_THREADS = 256, ROW_THREADS_MIN = 8, STRIP_BYTES = 16;

/* Threads of a compute unit (CUDA C++ Programming Guide, compute capabilities; AMD CDNA 3 ISA). */
static const double UNIT_THREADS = 2048;

/* A load that L2 answers waits about half as long as one that HBM does (pointer chases on H100 and
 * MI300X: 213 cycles of 457 to 890). */
static const double L2_LATENCY_RATIO = 0.5;

/* A transpose's tile: 128 bytes of 128 bytes' worth of rows. */
static const double TILE_BYTES = 128;

/* One launch along rows. */
struct plain_work {
    const struct device_stream *stream;
    enum dtype dtype;
    double rows, row_bytes;
    double reads, writes; /* arrays of that size */
    double strips;        /* of a row, to a thread: the most unless the row is too wide */
    double held;          /* of them, of each array */
    bool is_again;        /* what is not held is loaded a second time */
    double blocks;        /* that a unit holds */
    double meetings;      /* of a row's threads: sums, maxima */
};

static double
power_of_two_above(double count)
{
    return exp2(ceil(log2(count)));
}

static double
row_threads(const struct plain_work *work)
{
    double wanted = power_of_two_above(work->row_bytes / (work->strips * STRIP_BYTES));
    return fmin(BLOCK_THREADS, fmax(ROW_THREADS_MIN, wanted));
}

/* Rows that are worked on at once. */
static double
rows_resident(const struct device *device, const struct plain_work *work)
{
    return (double)device->compute_units * work->blocks * BLOCK_THREADS / row_threads(work);
}

/* A thread waits for the strips that it holds together, for the others one after the other, the
 * second time for L2 where that has them. */
static double
strips_waiting_s(const struct device *device, const struct plain_work *work,
                 double hit_fraction)
{
    double strips = work->row_bytes / (row_threads(work) * STRIP_BYTES);
    double passes = work->is_again ? 2 - hit_fraction * (1 - L2_LATENCY_RATIO) : 1;
    return fmax(0, strips - work->held) * passes * device->memory.latency_s;
}

/* A meeting takes as many steps as halve the threads to one, and two more, each of all threads. */
static double
meeting_s(const struct plain_work *work)
{
    const double warp = 32;
    double threads = row_threads(work), steps = log2(threads) + 2;
    return work->rows * threads / warp * work->meetings * steps * work->stream->element_s;
}

static double
calculating_s(const struct plain_work *work)
{
    const struct device_stream *stream = work->stream;
    double bytes = dtype_bytes(work->dtype);
    double rate = bytes > 2 ? stream->wide_elements_per_s : stream->elements_per_s;
    double elements = work->rows * work->row_bytes / bytes;
    return meeting_s(work) + (rate > 0 ? elements / rate : 0);
}

static struct memory_parts
parts_of(const struct device *device, const struct plain_work *work)
{
    double array_bytes = work->rows * work->row_bytes, resident = rows_resident(device, work);
    double held_bytes = row_threads(work) * work->held * STRIP_BYTES;
    double left = work->is_again ? fmax(0, 1 - held_bytes / work->row_bytes) : 0;
    double again_bytes = left * work->reads * array_bytes;
    double in_flight_bytes = fmin(resident, work->rows) * work->row_bytes * work->reads;
    double hit_fraction = memory_reread_hit_fraction(device, in_flight_bytes);
    double missed_bytes = again_bytes * (1 - hit_fraction);
    struct memory_parts parts =
        memory_parts_of(device, work->stream, work->reads * array_bytes + missed_bytes,
                        work->writes * array_bytes);
    double through_bytes = (work->reads + work->writes) * array_bytes + again_bytes;
    parts.moving_s = fmax(parts.moving_s, memory_warm_s(device, through_bytes));
    parts.first_s = work->stream->row_s;
    double rounds = work->rows / resident;
    double waiting_s = rounds * work->stream->row_s +
                       fmax(1, rounds) * strips_waiting_s(device, work, hit_fraction);
    parts.rows_s = fmax(waiting_s, calculating_s(work));
    return parts;
}

static struct plain_work
work_of(const struct device *device, const struct kernel *kernel)
{
    double element_bytes = dtype_bytes(kernel->dtype);
    const struct rows_by_width *shape = &kernel->rows_by_width;
    return (struct plain_work){
        .stream = &device->streams[kernel->kind][kernel->direction],
        .dtype = kernel->dtype,
        .rows = (double)shape->rows,
        .row_bytes = (double)shape->width * element_bytes,
        .reads = 1,
        .writes = 1,
        .strips = 4,
        .held = 4,
        .is_again = true,
        .blocks = 4, /* of 64 registers a thread */
    };
}

/* Of two arrays a thread holds less. */
static void
take_two(struct plain_work *work)
{
    work->reads = 2;
    work->strips = 3;
    work->held = 2;
    work->blocks = 3; /* of 80 registers a thread */
}

/* Backward two more kernels: partial sums down all columns, which read both arrays again, and their
 * sum. */
static struct memory_parts
norm_parts(const struct device *device, const struct kernel *kernel)
{
    struct plain_work work = work_of(device, kernel);
    work.meetings = 1;
    if (kernel->direction == DIRECTION_FORWARD)
        return parts_of(device, &work);
    take_two(&work);
    work.meetings = 2;
    struct memory_parts parts = parts_of(device, &work);
    double read_bytes = 2 * work.rows * work.row_bytes;
    double moving_s = memory_stream_s(device, read_bytes, 0) / work.stream->bandwidth_fraction;
    parts.behind_s = fmax(work.rows * work.stream->sum_row_s, moving_s);
    parts.read_bytes += read_bytes;
    return parts;
}

static struct memory_parts
softmax_parts(const struct device *device, const struct kernel *kernel)
{
    struct plain_work work = work_of(device, kernel);
    work.meetings = 2;
    if (kernel->direction == DIRECTION_BACKWARD) {
        take_two(&work);
        work.meetings = 1;
    }
    return parts_of(device, &work);
}

/* Forward the logits are read once; backward as a softmax. */
static struct memory_parts
loss_parts(const struct device *device, const struct kernel *kernel)
{
    struct plain_work work = work_of(device, kernel);
    work.rows = (double)kernel->cross_entropy.rows;
    work.row_bytes = (double)kernel->cross_entropy.vocab * dtype_bytes(kernel->dtype);
    work.meetings = 2;
    if (kernel->direction == DIRECTION_FORWARD) {
        work.writes = 0;
        work.is_again = false;
    }
    return parts_of(device, &work);
}

/* k rounds, each a search of the row's scores and two meetings. */
static struct memory_parts
top_k_parts(const struct device *device, const struct kernel *kernel)
{
    const struct top_k *top_k = &kernel->top_k;
    const double thread_scores = 4;
    double k = (double)top_k->k, rows = (double)top_k->rows;
    struct plain_work work = work_of(device, kernel);
    work.rows = rows;
    work.row_bytes = (double)top_k->experts * dtype_bytes(kernel->dtype);
    work.strips = thread_scores * dtype_bytes(kernel->dtype) / STRIP_BYTES;
    work.is_again = false;
    work.blocks = UNIT_THREADS / BLOCK_THREADS;
    work.meetings = 2;
    work.writes = k * (dtype_bytes(kernel->dtype) + sizeof(int32_t)) / work.row_bytes;
    struct memory_parts parts = parts_of(device, &work);
    parts.first_s *= k;
    parts.rows_s *= k;
    return parts;
}

static struct memory_parts
moved_parts(const struct device *device, const struct kernel *kernel)
{
    struct plain_work work = work_of(device, kernel);
    work.is_again = false;
    if (kernel->kind == KERNEL_GATHER)
        return parts_of(device, &work);
    work.reads = 2; /* the target as well */
    work.strips = 3;
    work.held = work.row_bytes; /* nobody waits for an addition */
    work.blocks = UNIT_THREADS / BLOCK_THREADS;
    return parts_of(device, &work);
}

/* Tiles in place of rows. */
static struct memory_parts
transpose_parts(const struct device *device, const struct kernel *kernel)
{
    const struct rows_by_width *shape = &kernel->rows_by_width;
    struct plain_work work = work_of(device, kernel);
    double side = TILE_BYTES / dtype_bytes(kernel->dtype);
    work.rows = ceil((double)shape->rows / side) * ceil((double)shape->width / side);
    work.row_bytes = side * side * dtype_bytes(kernel->dtype);
    work.strips = work.row_bytes / STRIP_BYTES / BLOCK_THREADS; /* a block to a tile */
    work.held = work.strips;
    work.is_again = false;
    work.blocks = UNIT_THREADS / BLOCK_THREADS;
    return parts_of(device, &work);
}

/* A thread to sixteen bytes of each of four arrays; three are written. */
static struct memory_parts
adamw_parts(const struct device *device, const struct kernel *kernel)
{
    double bytes = (double)kernel->adamw.parameters * dtype_bytes(kernel->dtype);
    return memory_parts_of(device, &device->streams[KERNEL_ADAMW][DIRECTION_FORWARD], 4 * bytes,
                           3 * bytes);
}

bool
plain_has(enum kernel_kind kind)
{
    return kind == KERNEL_RMS_NORM || kind == KERNEL_SOFTMAX || kind == KERNEL_GATHER ||
           kind == KERNEL_SCATTER_ADD || kind == KERNEL_TRANSPOSE || kind == KERNEL_TOP_K ||
           kind == KERNEL_CROSS_ENTROPY || kind == KERNEL_ADAMW;
}

static struct memory_parts
parts_of_kernel(const struct device *device, const struct kernel *kernel)
{
    if (kernel->kind == KERNEL_RMS_NORM)
        return norm_parts(device, kernel);
    if (kernel->kind == KERNEL_SOFTMAX)
        return softmax_parts(device, kernel);
    if (kernel->kind == KERNEL_CROSS_ENTROPY)
        return loss_parts(device, kernel);
    if (kernel->kind == KERNEL_TOP_K)
        return top_k_parts(device, kernel);
    if (kernel->kind == KERNEL_TRANSPOSE)
        return transpose_parts(device, kernel);
    return kernel->kind == KERNEL_ADAMW ? adamw_parts(device, kernel)
                                        : moved_parts(device, kernel);
}

void
plain_cost(const struct device *device, const struct kernel *kernel, struct kernel_cost *cost)
{
    assert(plain_has(kernel->kind) && "a kernel of another kind");
    struct memory_parts parts = parts_of_kernel(device, kernel);
    memory_parts_cost(device, &device->streams[kernel->kind][kernel->direction], &parts, cost);
}
