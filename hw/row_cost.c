/* Kernels that work row by row, as PyTorch's do.
 *
 *     rows of a   +---------------------------------+
 *     width       | one row: load, reduce, store    |  takes row_s + width * element_s
 *                 +---------------------------------+
 *                 | ...                             |  as many at once as units hold: so many
 *                 +---------------------------------+  rounds, each beside the next one's bytes
 *
 * The first rows have no others' bytes to hide behind. Bytes take HBM's time, or L2's where rows
 * are passed over more than once, or, of rows too few to fill the units with loads, their latency.
 * A row that is passed over twice is read from HBM again once the rows in flight no longer fit
 * L2. */
#include "hw/row_cost.h"

#include <assert.h>
#include <math.h>

#include "hw/memory_cost.h"

/* Threads of a compute unit of either maker (CUDA C++ Programming Guide, compute capabilities;
 * AMD CDNA 3 ISA: 32 waves of 64). */
static const double UNIT_THREADS = 2048;

/* Threads to a row in PyTorch's vectorized_layer_norm_kernel and vectorized_gather_kernel, and
 * in its SoftMax.cu. */
static const double NARROW_THREADS = 128, WIDE_THREADS = 1024, WIDE_BACKWARD_THREADS = 512;

/* PyTorch's PersistentSoftmax.cuh: a warp to a row up to this width, its power of two of elements
 * in registers, 32 to a thread's each, beside some 16 more (profiled on H200: 80 at 2,048, 48
 * at 1,024, 32 at 512), in workgroups of four warps. The unit's registers are shared out. */
static const double WARP_WIDTH_MAX = 2048, WARP_THREADS = 32, WARPS_A_GROUP = 4;
static const double UNIT_REGISTERS = 65536, REGISTERS_BESIDE = 16;

/* PyTorch's SoftMax.cu: a workgroup of 1,024 threads to a row. Up to the first width two of
 * them fit a unit's registers with their rows and take turns, up to the second one alone,
 * whose barriers leave the unit idle; beyond, the row is not held but passed over for the
 * maximum, the sum and the result, by two workgroups again: in shared memory if that holds it, or
 * out of L2. There a thread loads 16 bytes a step, and one by one what is left of the row once all
 * threads had as many: 2.5 times as long an element (on H200 rows of 32,000 take 15.8 us and
 * of 32,768 12.2, of which 7,424 elements and none are left). */
static const double PAIR_WIDTH_MAX = 6144, REGISTERS_WIDTH_MAX = 8192;
static const double PASSES_AGAIN = 2;
static const double LEFT_RATIO = 2.5;

/* A row that a workgroup's shared memory holds is shorter (CUDA's limit without asking for more):
 * some of it is the reductions'. A softmax's backward passes twice over longer ones. */
static const double SHARED_ROW_BYTES = 48 * 1024;

/* A thread's widest load (PTX ld.global.v4, AMD global_load_dwordx4); a norm's loads are of four
 * elements, whatever they weigh (layer_norm_kernel.cu, vec_size). A norm's thread has two on the
 * way, a softmax's one: assumed, and borne out by rows too few to fill the units. */
static const double LOAD_BYTES = 16, NORM_LOAD_ELEMENTS = 4, NORM_LOADS_AHEAD = 2;

/* Rows from this width on are taken for the logits of a loss, whose log_softmax needs no product
 * of gradient and result: the smallest vocabulary in use; scores of attention that is not fused
 * are narrower. */
static const double LOGITS_WIDTH_MIN = 32000;

/* The workgroup that picks each row's target logit, one for all rows: a thread to sixteen of them,
 * a warp at least and 1,024 threads at most (NLLLoss.cu, nll_loss_threads). */
static const double PICK_ROWS_A_THREAD = 16, PICK_THREADS_MIN = 32, PICK_THREADS_MAX = 1024;

double
row_resident_narrow(const struct device *device)
{
    return (double)device->compute_units * UNIT_THREADS / NARROW_THREADS;
}

/* One kernel over rows of a width. */
struct row_work {
    const struct device_stream *stream;
    double rows, width, row_bytes; /* row_bytes: of one array */
    double reads, writes;          /* arrays read and written once */
    double again;                  /* arrays read again */
    double found_fraction;         /* of what is read once, in L2 by the kernel before */
    double resident, in_flight;    /* rows worked on at once, rows that L2 holds */
    double element_s;
    double threads; /* to a row, loading it bit by bit; 0: all at once */
    double load_bytes, loads_ahead;
    double passes; /* over the row, waiting for its loads */
};

/* A load that L2 answers waits about half as long as one that HBM does (pointer chases on H100 and
 * MI300X: 213 cycles of 457 to 890). */
static const double L2_LATENCY_RATIO = 0.5;

/* Waiting, load after load, for HBM; in passes after the first for L2, of what that still holds. */
static double
row_waiting_s(const struct device *device, const struct row_work *work, double hit_fraction)
{
    if (work->threads == 0)
        return 0;
    double loads = work->row_bytes / (work->threads * work->load_bytes);
    double spared = (work->passes - 1) * hit_fraction * (1 - L2_LATENCY_RATIO);
    return (work->passes - spared) * loads / work->loads_ahead * device->memory.latency_s;
}

/* All passes go through L2, of which HBM sees the first and what L2 lost; or rows wait. */
static struct memory_parts
row_parts(const struct device *device, const struct row_work *work)
{
    double array_bytes = work->rows * work->row_bytes;
    double in_flight_bytes = fmin(work->in_flight, work->rows) * work->row_bytes * work->reads;
    double hit_fraction = memory_reread_hit_fraction(device, in_flight_bytes);
    double missed = work->again * (1 - hit_fraction);
    double reads = work->reads * (1 - work->found_fraction) + missed;
    struct memory_parts parts = memory_result_parts_of(
        device, work->stream, reads * array_bytes, work->writes * array_bytes);
    double passes = work->reads + work->again + work->writes;
    parts.moving_s = fmax(parts.moving_s, memory_warm_s(device, passes * array_bytes));
    parts.first_s = work->stream->row_s + work->width * work->element_s;
    parts.rows_s = work->rows / work->resident * parts.first_s;
    if (!parts.is_warm) {
        double rounds = fmax(1, work->rows / work->in_flight);
        parts.moving_s =
            fmax(parts.moving_s, rounds * row_waiting_s(device, work, hit_fraction));
    }
    return parts;
}

static struct row_work
row_work_of(const struct device *device, const struct kernel *kernel, double rows, double width)
{
    return (struct row_work){.stream = &device->streams[kernel->kind][kernel->direction],
                             .rows = rows,
                             .width = width,
                             .row_bytes = width * dtype_bytes(kernel->dtype),
                             .load_bytes = LOAD_BYTES,
                             .loads_ahead = 1,
                             .passes = 1,
                             .reads = 1,
                             .writes = 1};
}

/* Forward passes over each row for its mean square, then for the result. Backward does so over
 * the row and the incoming gradient; a second kernel sums over all rows for the weight's
 * gradient. */
static void
rms_norm_cost(const struct device *device, const struct kernel *kernel,
              struct kernel_cost *cost)
{
    struct row_work work = row_work_of(device, kernel, (double)kernel->rows_by_width.rows,
                                       (double)kernel->rows_by_width.width);
    bool is_backward = kernel->direction == DIRECTION_BACKWARD;
    work.reads = work.again = is_backward ? 2 : 1;
    work.resident = work.in_flight = row_resident_narrow(device);
    work.element_s = work.stream->element_s;
    work.threads = NARROW_THREADS;
    work.load_bytes = NORM_LOAD_ELEMENTS * dtype_bytes(kernel->dtype);
    work.loads_ahead = NORM_LOADS_AHEAD;
    struct memory_parts parts = row_parts(device, &work);
    if (is_backward) {
        double read_bytes = 2 * work.rows * work.row_bytes;
        double moving_s = memory_stream_s(device, read_bytes, 0);
        parts.behind_s = fmax(work.rows * work.stream->sum_row_s,
                              moving_s / work.stream->bandwidth_fraction);
        parts.read_bytes += read_bytes;
    }
    memory_parts_cost(device, work.stream, &parts, cost);
}

static double
power_of_two_above(double width)
{
    return exp2(ceil(log2(width)));
}

/* Warps of a softmax on one unit, each with a row. */
static double
softmax_warps(double width)
{
    double registers = REGISTERS_BESIDE + power_of_two_above(width) / WARP_THREADS;
    double groups = UNIT_REGISTERS / (registers * WARP_THREADS * WARPS_A_GROUP);
    return fmin(UNIT_THREADS / WARP_THREADS, floor(groups) * WARPS_A_GROUP);
}

/* How rows of a softmax are held: by a warp each, or by a workgroup each. */
static void
hold_softmax_rows(const struct device *device, struct row_work *work)
{
    double units = (double)device->compute_units;
    if (work->width <= WARP_WIDTH_MAX) {
        work->resident = work->in_flight = units * softmax_warps(work->width);
        bool is_narrow =
            work->row_bytes <= 2 * work->width && work->stream->narrow_element_s > 0;
        work->element_s = is_narrow ? work->stream->narrow_element_s : work->stream->element_s;
        return;
    }
    bool is_alone = work->width > PAIR_WIDTH_MAX && work->width <= REGISTERS_WIDTH_MAX;
    bool is_slower = is_alone && work->stream->lone_fraction > 0;
    work->resident = is_slower ? units * work->stream->lone_fraction : units;
    work->in_flight = units * (is_alone ? 1 : 2);
    work->element_s = work->stream->wide_element_s;
    work->threads = WIDE_THREADS;
    if (work->width > REGISTERS_WIDTH_MAX && work->row_bytes >= SHARED_ROW_BYTES) {
        work->again = PASSES_AGAIN;
        work->passes = 1 + PASSES_AGAIN;
        double left = fmod(work->row_bytes, WIDE_THREADS * LOAD_BYTES) / work->row_bytes;
        work->element_s *= 1 + (LEFT_RATIO - 1) * left;
    }
}

/* Backward over rows too wide for a warp: smaller workgroups, two arrays in, passed over again
 * what `again` says. */
static void
hold_softmax_rows_backward(const struct device *device, struct row_work *work, double again)
{
    hold_softmax_rows(device, work);
    work->reads = 2;
    work->again = again;
    work->passes = again > 0 ? 2 : 1;
    if (work->width <= WARP_WIDTH_MAX)
        return;
    work->threads = WIDE_BACKWARD_THREADS;
    work->in_flight = (double)device->compute_units * UNIT_THREADS / WIDE_BACKWARD_THREADS;
}

/* Logits and their gradient are passed over once, the gradient again. Of others a kernel multiplies
 * gradient and result before (softmax_backward_cuda_out), which one more sums along its rows and
 * reads with the result again, out of L2 while that holds them. */
static void
softmax_backward_cost(const struct device *device, struct row_work *work,
                      struct kernel_cost *cost)
{
    bool is_logits = work->width >= LOGITS_WIDTH_MIN;
    double bytes = work->rows * work->row_bytes;
    double again = work->row_bytes > SHARED_ROW_BYTES ? 2 : 0;
    hold_softmax_rows_backward(device, work, is_logits ? 1 : again);
    if (is_logits) {
        struct memory_parts parts = row_parts(device, work);
        memory_parts_cost(device, work->stream, &parts, cost);
        return;
    }
    work->found_fraction = memory_reread_hit_fraction(device, 2 * bytes);
    struct memory_parts parts = row_parts(device, work);
    parts.behind_s =
        memory_stream_s(device, 2 * bytes, bytes) / work->stream->bandwidth_fraction;
    parts.read_bytes += 2 * bytes;
    parts.write_bytes += bytes;
    memory_parts_cost(device, work->stream, &parts, cost);
}

static void
softmax_cost(const struct device *device, const struct kernel *kernel, struct kernel_cost *cost)
{
    struct row_work work = row_work_of(device, kernel, (double)kernel->rows_by_width.rows,
                                       (double)kernel->rows_by_width.width);
    if (kernel->direction == DIRECTION_BACKWARD) {
        softmax_backward_cost(device, &work, cost);
        return;
    }
    hold_softmax_rows(device, &work);
    struct memory_parts parts = row_parts(device, &work);
    if (work.width <= WARP_WIDTH_MAX)
        parts.element_s =
            memory_by_element_s(device, kernel, work.rows * power_of_two_above(work.width));
    memory_parts_cost(device, work.stream, &parts, cost);
}

/* One workgroup for all rows, each thread row after row. */
static double
pick_targets_s(const struct device_stream *stream, double rows)
{
    double threads = exp2(round(log2(rows / PICK_ROWS_A_THREAD)));
    threads = fmin(PICK_THREADS_MAX, fmax(PICK_THREADS_MIN, threads));
    return ceil(rows / threads) * stream->sum_row_s;
}

/* Forward is a softmax's logarithm, written as wide as the logits, and a pick of each row's
 * target. Backward fills the gradient with zeros, sets the targets, then passes over it and
 * the logarithms (log_softmax_backward): one array written, two read, one of them again, one
 * written. */
static void
cross_entropy_cost(const struct device *device, const struct kernel *kernel,
                   struct kernel_cost *cost)
{
    struct row_work work = row_work_of(device, kernel, (double)kernel->cross_entropy.rows,
                                       (double)kernel->cross_entropy.vocab);
    bool is_backward = kernel->direction == DIRECTION_BACKWARD;
    if (is_backward)
        hold_softmax_rows_backward(device, &work, work.width > REGISTERS_WIDTH_MAX ? 1 : 0);
    else
        hold_softmax_rows(device, &work);
    struct memory_parts parts = row_parts(device, &work);
    parts.behind_s = pick_targets_s(work.stream, work.rows);
    if (is_backward) {
        double bytes = work.rows * work.row_bytes;
        parts.behind_s += memory_stream_s(device, 0, bytes) / work.stream->bandwidth_fraction;
        parts.write_bytes += bytes;
    }
    memory_parts_cost(device, work.stream, &parts, cost);
}

/* 1 + 1/2 + ... + 1/n, to 0.3 % (Euler and Maclaurin's series). */
static double
harmonic(double n)
{
    const double euler_gamma = 0.5772156649015329;
    return log(n) + euler_gamma + 1 / (2 * n) - 1 / (12 * n * n);
}

/* Of scores in random order, how many are among the k largest when they come: the i-th with
 * probability k / i (Renyi 1962, on records, for k = 1). */
static double
entering_scores(double scores, double k)
{
    return k * (1 + harmonic(scores) - harmonic(k));
}

/* A workgroup to a row finds the k-th largest digit by digit (sbtopk::gatherTopK), at least a
 * warp wide; k of more than one are sorted by a second kernel. Reads every score; writes k
 * values and k 4-byte indices a row. A core compares one by one with the least that it keeps, and
 * takes its time where the comparison comes out as it seldom does. */
static void
top_k_cost(const struct device *device, const struct kernel *kernel, struct kernel_cost *cost)
{
    const double warp = 32;
    const struct top_k *top_k = &kernel->top_k;
    const struct device_stream *stream = &device->streams[KERNEL_TOP_K][0];
    double rows = (double)top_k->rows, experts = (double)top_k->experts, k = (double)top_k->k;
    double element_bytes = dtype_bytes(kernel->dtype);
    double write_bytes = rows * k * (element_bytes + sizeof(int32_t));
    bool is_core = device->compute_units == 1;
    double compared = is_core ? entering_scores(experts, k) : fmax(warp, experts);
    struct memory_parts parts =
        memory_result_parts_of(device, stream, rows * experts * element_bytes, write_bytes);
    parts.row_s = stream->row_s;
    parts.rows_s = memory_by_element_s(device, kernel, rows * compared);
    if (top_k->k > 1 && !is_core)
        parts.behind_s = stream->fixed_s + fmax(stream->row_s, rows * stream->sum_row_s);
    memory_parts_cost(device, stream, &parts, cost);
}

void
row_cost(const struct device *device, const struct kernel *kernel, struct kernel_cost *cost)
{
    switch (kernel->kind) {
    case KERNEL_RMS_NORM:
        rms_norm_cost(device, kernel, cost);
        return;
    case KERNEL_SOFTMAX:
        softmax_cost(device, kernel, cost);
        return;
    case KERNEL_TOP_K:
        top_k_cost(device, kernel, cost);
        return;
    case KERNEL_CROSS_ENTROPY:
        cross_entropy_cost(device, kernel, cost);
        return;
    case KERNEL_ELEMENTWISE:
    case KERNEL_GATHER:
    case KERNEL_SCATTER_ADD:
    case KERNEL_TRANSPOSE:
    case KERNEL_ADAMW:
    case KERNEL_COPY:
    case KERNEL_GEMM:
    case KERNEL_GROUPED_GEMM:
    case KERNEL_FUSED_MOE:
    case KERNEL_ATTENTION:
    case KERNEL_CONVOLUTION:
    case KERNEL_NEWTON_SCHULZ:
    case KERNEL_KIND_COUNT:
        break;
    }
    assert(false && "a kernel that does not work row by row");
}
