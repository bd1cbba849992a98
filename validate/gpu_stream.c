/* Operands, check and time of streaming kernels: laid out and judged as the CPU's (cpu_kernel.h),
 * in the kernel's own dtype. */
#include "validate/gpu_stream.h"

#include <math.h>
#include <string.h>

#include "validate/gpu_half.h"

struct stream_work {
    struct gpu *gpu;
    struct kernel kernel;
    struct cpu_kernel cpu; /* the same kernel in fp32, for its operands and its check */
    struct gpu_stream_plan plan;
    struct gpu_operands operands;
    void *functions[GPU_LAUNCHES_MAX];
};

/* ---- The kernel in fp32 */

/* Elements of which the check looks at the last, where a part can be judged alone. */
static const double CHECKED_ELEMENTS = 1048576;

static bool
find_cpu(struct cpu_kernel *cpu, const struct kernel *kernel, struct error_list *errors)
{
    struct kernel twin = *kernel;
    double ratio = dtype_bytes(DTYPE_FP32) / dtype_bytes(kernel->dtype);
    if (kernel->kind == KERNEL_ELEMENTWISE) {
        twin.elementwise.read_bytes *= ratio;
        twin.elementwise.write_bytes *= ratio;
    }
    twin.dtype = DTYPE_FP32;
    return cpu_kernel_find(cpu, &twin, errors);
}

static int64_t
rows_of(double width, int64_t rows)
{
    return (int64_t)fmin((double)rows, fmax(1, floor(CHECKED_ELEMENTS / width)));
}

/* Of so many elements: bytes for each are whole or a half, so that nothing is rounded. */
static void
shorten(struct elementwise *elementwise, double count)
{
    double elements = (double)elementwise->elements;
    elementwise->read_bytes = elementwise->read_bytes / elements * count;
    elementwise->write_bytes = elementwise->write_bytes / elements * count;
    elementwise->elements = (int64_t)count;
}

struct kernel
gpu_stream_checked_part(const struct kernel *kernel)
{
    struct kernel part = *kernel;
    bool is_by_row = kernel->kind == KERNEL_SOFTMAX || (kernel->kind == KERNEL_RMS_NORM &&
                                                        kernel->direction == DIRECTION_FORWARD);
    if (kernel->kind == KERNEL_ELEMENTWISE) {
        shorten(&part.elementwise,
                fmin(CHECKED_ELEMENTS, (double)kernel->elementwise.elements));
    } else if (is_by_row) {
        part.rows_by_width.rows =
            rows_of((double)kernel->rows_by_width.width, kernel->rows_by_width.rows);
    } else if (kernel->kind == KERNEL_TOP_K) {
        part.top_k.rows = rows_of((double)kernel->top_k.experts, kernel->top_k.rows);
    } else if (kernel->kind == KERNEL_CROSS_ENTROPY) {
        part.cross_entropy.rows =
            rows_of((double)kernel->cross_entropy.vocab, kernel->cross_entropy.rows);
    } else if (kernel->kind == KERNEL_ATTENTION) {
        part.attention.batch = 1;
    } else if (kernel->kind == KERNEL_ADAMW) {
        part.adamw.parameters = rows_of(1, kernel->adamw.parameters);
    }
    return part;
}

/* ---- Operands */

static bool
is_index(const struct stream_work *work, int operand)
{
    enum cpu_fill fill = work->cpu.operands[operand].fill;
    bool is_expert = work->kernel.kind == KERNEL_TOP_K && operand == 2;
    return fill == CPU_FILL_INDEX || fill == CPU_FILL_PERMUTATION || is_expert;
}

static enum dtype
real_dtype(const struct stream_work *work)
{
    return work->kernel.kind == KERNEL_COPY ? DTYPE_FP32 : work->kernel.dtype;
}

static double
element_bytes(const struct stream_work *work, int operand)
{
    return is_index(work, operand) ? (double)sizeof(int32_t) : dtype_bytes(real_dtype(work));
}

/* Any odd number below 2^31 that shares no factor with count makes i -> i step a permutation. */
static int64_t
permuting_step(int64_t count)
{
    int64_t step = (int64_t)(0.6180339887 * (double)count) | 1; /* far from its neighbours */
    for (;; step += 2) {
        int64_t a = step, b = count;
        while (b != 0) {
            int64_t rest = a % b;
            a = b;
            b = rest;
        }
        if (a == 1)
            return step;
    }
}

/* Indices are made here and copied to each set. */
static bool
fill_indices(struct stream_work *work, int operand, struct arena *arena,
             struct error_list *errors)
{
    const struct cpu_operand *wanted = &work->cpu.operands[operand];
    int64_t count = (int64_t)wanted->count;
    int64_t end = wanted->fill == CPU_FILL_PERMUTATION ? count : wanted->index_end;
    int32_t *indices = arena_alloc(arena, (size_t)count, sizeof *indices);
    int64_t step = end > 0 ? permuting_step(end) : 0;
    for (int64_t i = 0; end > 0 && i < count; i++)
        indices[i] = (int32_t)(i * step % end);
    for (int64_t set = 0; set < work->operands.sets; set++)
        if (!gpu_ok(work->gpu,
                    work->gpu->libraries.api.copy_to_device(
                        gpu_operand(&work->operands, operand, set), indices,
                        (size_t)count * sizeof *indices),
                    "copying", errors))
            return false;
    return true;
}

static bool
new_operand(struct stream_work *work, int operand, struct arena *arena,
            struct error_list *errors)
{
    const struct cpu_operand *wanted = &work->cpu.operands[operand];
    if (!gpu_operand_new(work->gpu, &work->operands,
                         wanted->count * element_bytes(work, operand), errors))
        return false;
    if (is_index(work, operand))
        return fill_indices(work, operand, arena, errors);
    struct gpu_values values = {real_dtype(work), wanted->fill == CPU_FILL_POSITIVE};
    return gpu_fill(work->gpu, &work->operands, operand, values, arena, errors);
}

static bool
new_operands(struct stream_work *work, struct arena *arena, struct error_list *errors)
{
    double set_bytes = 0;
    for (int i = 0; i < work->cpu.operand_count; i++)
        set_bytes += work->cpu.operands[i].count * element_bytes(work, i);
    work->operands.sets = gpu_set_count(work->gpu, set_bytes);
    for (int i = 0; i < work->cpu.operand_count; i++)
        if (!new_operand(work, i, arena, errors))
            return false;
    for (int i = 0; i < work->plan.scratch_count; i++)
        if (!gpu_operand_new(work->gpu, &work->operands,
                             work->plan.scratch_counts[i] * dtype_bytes(DTYPE_FP32), errors))
            return false;
    return true;
}

/* ---- Running */

static bool
launch(const struct stream_work *work, int index, int64_t set, struct error_list *errors)
{
    const struct gpu_stream_launch *launch = &work->plan.launches[index];
    void *pointers[GPU_LAUNCH_OPERANDS_MAX];
    int64_t sizes[GPU_LAUNCH_SIZES_MAX];
    void *arguments[GPU_LAUNCH_OPERANDS_MAX + GPU_LAUNCH_SIZES_MAX];
    int count = 0;
    for (int i = 0; i < launch->operand_count; i++) {
        pointers[i] = gpu_operand(&work->operands, launch->operands[i], set);
        arguments[count++] = &pointers[i];
    }
    for (int i = 0; i < launch->size_count; i++) {
        sizes[i] = launch->sizes[i];
        arguments[count++] = &sizes[i];
    }
    return gpu_launch(work->gpu, work->functions[index], launch->shape, arguments, errors);
}

static bool
enqueue(void *context, int64_t set, struct error_list *errors)
{
    const struct stream_work *work = context;
    if (work->kernel.kind == KERNEL_COPY)
        return gpu_ok(work->gpu,
                      work->gpu->libraries.api.enqueue_copy(
                          gpu_operand(&work->operands, 1, set),
                          gpu_operand(&work->operands, 0, set), (size_t)work->kernel.copy.bytes,
                          work->gpu->stream),
                      "a copy", errors);
    for (int i = 0; i < work->plan.launch_count; i++)
        if (!launch(work, i, set, errors))
            return false;
    return true;
}

/* ---- The check */

/* The last elements of an operand of the last set, widened. */
static bool
read_operand(const struct stream_work *work, int operand, double count, union cpu_array *array,
             struct arena *arena, struct error_list *errors)
{
    double bytes = element_bytes(work, operand);
    size_t skip = (size_t)((work->cpu.operands[operand].count - count) * bytes);
    size_t length = (size_t)count;
    char *raw = arena_alloc(arena, length + 1, (size_t)bytes);
    const char *from = gpu_operand(&work->operands, operand, work->operands.sets - 1);
    if (!gpu_ok(work->gpu,
                work->gpu->libraries.api.copy_to_host(raw, from + skip, length * (size_t)bytes),
                "copying", errors))
        return false;
    if (is_index(work, operand)) {
        array->indices = (int32_t *)(void *)raw;
        return true;
    }
    array->reals = arena_alloc(arena, length + 1, sizeof *array->reals);
    gpu_half_widen(real_dtype(work), raw, array->reals, length);
    return true;
}

static bool
read_operands(const struct stream_work *work, const struct cpu_kernel *part,
              union cpu_array *arrays, struct arena *arena, struct error_list *errors)
{
    if (!gpu_ok(work->gpu, work->gpu->libraries.api.stream_wait(work->gpu->stream), "running",
                errors))
        return false;
    for (int i = 0; i < part->operand_count; i++)
        if (!read_operand(work, i, part->operands[i].count, &arrays[i], arena, errors))
            return false;
    return true;
}

static bool
check(struct stream_work *work, double *error_fraction, struct arena *arena,
      struct error_list *errors)
{
    struct kernel part_kernel = gpu_stream_checked_part(&work->kernel);
    struct cpu_kernel part;
    union cpu_array before[CPU_OPERANDS_MAX], after[CPU_OPERANDS_MAX];
    struct cpu_error error = {0};
    if (!find_cpu(&part, &part_kernel, errors) ||
        !read_operands(work, &part, before, arena, errors) ||
        !enqueue(work, work->operands.sets - 1, errors) ||
        !read_operands(work, &part, after, arena, errors))
        return false;
    part.check(&part.kernel, before, after, &error);
    *error_fraction = cpu_error_fraction(&error);
    return true;
}

/* Results of one rounding or two: the dtype's unit roundoff, 2^-9, 2^-12, twice, and fp32's sums
 * as on the CPU. */
static double
error_fraction_max(enum dtype dtype)
{
    if (dtype == DTYPE_BF16)
        return 4e-3;
    return dtype == DTYPE_FP16 ? 5e-4 : 2e-5;
}

/* A copy in a graph runs a slower kernel of the driver's unless its bytes can be cut into rows (on
 * H200 2.7e12 bytes/s for 4.1e12), as those of 512 MiB cannot; programs copy in a stream, whose
 * 5 us between copies are little of a copy so long. */
static const double STREAM_COPY_BYTES = 268435456;

static bool
is_in_stream(const struct kernel *kernel)
{
    return kernel->kind == KERNEL_COPY && kernel->copy.bytes >= STREAM_COPY_BYTES;
}

static bool
measure(struct stream_work *work, struct measure_result *result, struct arena *arena,
        struct error_list *errors)
{
    for (int i = 0; i < work->plan.launch_count; i++) {
        work->functions[i] = gpu_function(work->gpu, real_dtype(work),
                                          work->plan.launches[i].name, arena, errors);
        if (work->functions[i] == NULL)
            return false;
    }
    if (!new_operands(work, arena, errors) ||
        !check(work, &result->error_fraction, arena, errors))
        return false;
    if (!(result->error_fraction <= error_fraction_max(real_dtype(work))))
        return error_add(errors, ERROR_INPUT, "", "wrong by %g of the reference, not timed",
                         result->error_fraction);
    result->operand_sets = work->operands.sets;
    struct gpu_work timed = {.enqueue = enqueue,
                             .context = work,
                             .sets = work->operands.sets,
                             .is_in_stream = is_in_stream(&work->kernel)};
    return gpu_times_take(work->gpu, &timed, &result->times, arena, errors);
}

bool
gpu_stream_measure(struct gpu *gpu, const struct kernel *kernel, struct measure_result *result,
                   struct arena *arena, struct error_list *errors)
{
    struct stream_work work = {.gpu = gpu, .kernel = *kernel};
    bool is_real = kernel->dtype == DTYPE_FP32 || kernel->dtype == DTYPE_BF16 ||
                   kernel->dtype == DTYPE_FP16 || kernel->kind == KERNEL_COPY;
    if (!gpu_stream_plan(kernel, 0, &work.plan))
        return error_add(errors, ERROR_INPUT, "", "the GPU has no code for %s%s",
                         kernel->kind == KERNEL_ATTENTION ? "such " : "",
                         kernel->kind == KERNEL_ATTENTION
                             ? "attention, only forward, head_dim to 256, implementation own"
                             : kernel_kind_name(kernel->kind));
    if (!is_real)
        return error_add(errors, ERROR_INPUT, "",
                         "the GPU's own %s runs fp32, bf16, fp16: not %s",
                         kernel_kind_name(kernel->kind), dtype_name(kernel->dtype));
    if (!find_cpu(&work.cpu, kernel, errors))
        return false;
    (void)gpu_stream_plan(kernel, work.cpu.operand_count, &work.plan);
    bool is_measured = measure(&work, result, arena, errors);
    gpu_operands_free(gpu, &work.operands);
    return is_measured;
}
