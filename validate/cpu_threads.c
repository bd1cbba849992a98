/* Each thread runs the kernel on a run of rows, as if there were no others. */
#include "validate/cpu_threads.h"

#include <assert.h>
#include <string.h>

#include <pthread.h>

/* What a kernel has of each operand for a row; 0: the whole is everybody's. */
struct rows {
    int64_t count; /* 0: they cannot be shared out */
    int64_t of_row[CPU_OPERANDS_MAX];
};

/* Elements of an array are shared out by whole cache lines. */
enum { LINE_REALS = 16 };

/* As many as every operand has, a line at a time; the last line may be short. */
static struct rows
elements(const struct cpu_kernel *cpu, int64_t count)
{
    struct rows rows = {.count = (count + LINE_REALS - 1) / LINE_REALS};
    for (int i = 0; i < cpu->operand_count; i++)
        rows.of_row[i] = LINE_REALS;
    return rows;
}

static struct rows
rows_by_width(const struct cpu_kernel *cpu)
{
    int64_t width = cpu->kernel.rows_by_width.width;
    struct rows rows = {.count = cpu->kernel.rows_by_width.rows};
    bool is_forward = cpu->kernel.direction == DIRECTION_FORWARD;
    rows.of_row[0] = rows.of_row[1] = rows.of_row[2] = width;
    if (cpu->kernel.kind == KERNEL_RMS_NORM) {
        rows.of_row[1] = 0; /* the gain */
        rows.count = is_forward ? rows.count : 0;
    } else if (cpu->kernel.kind == KERNEL_GATHER) {
        rows.of_row[0] = 0; /* the table */
        rows.of_row[1] = 1;
    } else if (cpu->kernel.kind == KERNEL_SCATTER_ADD) { /* each row to a place of its own */
        rows.of_row[1] = 1;
        rows.of_row[2] = 0;
    }
    return rows;
}

static struct rows
rows_of(const struct cpu_kernel *cpu)
{
    const struct kernel *kernel = &cpu->kernel;
    struct rows rows = {.count = 0};
    switch (kernel->kind) {
    case KERNEL_ELEMENTWISE: /* gates and ups lie one behind the other in swiglu */
        return strcmp(kernel->elementwise.op, "swiglu") == 0
                   ? rows
                   : elements(cpu, kernel->elementwise.elements);
    case KERNEL_ADAMW:
        return elements(cpu, kernel->adamw.parameters);
    case KERNEL_COPY:
        return elements(cpu, (int64_t)(kernel->copy.bytes / sizeof(float)));
    case KERNEL_RMS_NORM:
    case KERNEL_SOFTMAX:
    case KERNEL_GATHER:
    case KERNEL_SCATTER_ADD:
        return rows_by_width(cpu);
    case KERNEL_TOP_K:
        return (struct rows){kernel->top_k.rows,
                             {kernel->top_k.experts, kernel->top_k.k, kernel->top_k.k}};
    case KERNEL_CROSS_ENTROPY:
        return (struct rows){
            kernel->cross_entropy.rows,
            {kernel->cross_entropy.vocab, 1,
             kernel->direction == DIRECTION_FORWARD ? 1 : kernel->cross_entropy.vocab}};
    case KERNEL_GEMM:
    case KERNEL_GROUPED_GEMM:
    case KERNEL_FUSED_MOE:
    case KERNEL_ATTENTION:
    case KERNEL_TRANSPOSE:
    case KERNEL_CONVOLUTION:
    case KERNEL_NEWTON_SCHULZ:
    case KERNEL_KIND_COUNT:
        break;
    }
    return rows;
}

static int64_t
least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* The kernel of rows first to end - 1. */
static struct kernel
part_of(const struct kernel *kernel, int64_t first, int64_t end)
{
    struct kernel part = *kernel;
    int64_t begin = first * LINE_REALS, stop = end * LINE_REALS;
    switch (kernel->kind) {
    case KERNEL_ELEMENTWISE:
        part.elementwise.elements = least(stop, kernel->elementwise.elements) - begin;
        break;
    case KERNEL_ADAMW:
        part.adamw.parameters = least(stop, kernel->adamw.parameters) - begin;
        break;
    case KERNEL_COPY:
        part.copy.bytes =
            (double)(least(stop, (int64_t)(kernel->copy.bytes / sizeof(float))) - begin) *
            (double)sizeof(float);
        break;
    case KERNEL_TOP_K:
        part.top_k.rows = end - first;
        break;
    case KERNEL_CROSS_ENTROPY:
        part.cross_entropy.rows = end - first;
        break;
    case KERNEL_RMS_NORM:
    case KERNEL_SOFTMAX:
    case KERNEL_GATHER:
    case KERNEL_SCATTER_ADD:
        part.rows_by_width.rows = end - first;
        break;
    case KERNEL_GEMM:
    case KERNEL_GROUPED_GEMM:
    case KERNEL_FUSED_MOE:
    case KERNEL_ATTENTION:
    case KERNEL_TRANSPOSE:
    case KERNEL_CONVOLUTION:
    case KERNEL_NEWTON_SCHULZ:
    case KERNEL_KIND_COUNT:
        break;
    }
    return part;
}

static void
run_part(const struct cpu_kernel *cpu, const struct rows *rows, const union cpu_array *operands,
         int64_t first, int64_t end)
{
    struct kernel part = part_of(&cpu->kernel, first, end);
    union cpu_array own[CPU_OPERANDS_MAX];
    for (int i = 0; i < cpu->operand_count; i++)
        own[i].reals = operands[i].reals + first * rows->of_row[i];
    cpu->run(&part, own);
}

void
cpu_threads_run(const struct cpu_kernel *cpu, int threads, const union cpu_array *operands)
{
    struct rows rows = rows_of(cpu);
    if (threads < 2 || rows.count < 2) {
        cpu->run(&cpu->kernel, operands);
        return;
    }
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int thread = 0; thread < threads; thread++) {
        int64_t first = rows.count * thread / threads,
                end = rows.count * (thread + 1) / threads;
        if (end > first)
            run_part(cpu, &rows, operands, first, end);
    }
}

/* Threads that wait at a gate until all are there. */
struct crew {
    pthread_mutex_t gate;
    bool is_whole;
    void (*run)(void *context, int index);
    void *context;
};

struct hand {
    struct crew *crew;
    int index;
    pthread_t thread;
};

static void *
work(void *argument)
{
    const struct hand *hand = argument;
    struct crew *crew = hand->crew;
    pthread_mutex_lock(&crew->gate);
    bool is_whole = crew->is_whole;
    pthread_mutex_unlock(&crew->gate);
    if (is_whole)
        crew->run(crew->context, hand->index);
    return NULL;
}

bool
cpu_threads_each(int count, void (*run)(void *context, int index), void *context)
{
    struct hand hands[CPU_THREADS_MAX];
    struct crew crew = {.run = run, .context = context};
    int started = 0;
    assert(count <= CPU_THREADS_MAX && "more threads than there is room for");
    pthread_mutex_init(&crew.gate, NULL);
    pthread_mutex_lock(&crew.gate);
    for (; started < count; started++) {
        hands[started] = (struct hand){.crew = &crew, .index = started};
        if (pthread_create(&hands[started].thread, NULL, work, &hands[started]) != 0)
            break;
    }
    crew.is_whole = started == count;
    pthread_mutex_unlock(&crew.gate);
    for (int i = 0; i < started; i++)
        pthread_join(hands[i].thread, NULL);
    pthread_mutex_destroy(&crew.gate);
    return crew.is_whole;
}
