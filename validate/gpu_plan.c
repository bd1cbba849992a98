/* Streaming kernels as launches of gpu_kernels.cu and its like: names, grids, arguments. */
#include "validate/gpu_stream.h"

#include <string.h>

/* Of gpu_attention.cu. */
enum { ATTENTION_QUERIES = 8, ATTENTION_KEYS = 32, ATTENTION_HEAD_MAX = 256 };

/* Strips of a row to a thread, at most: gpu_rows.cu holds as many of one array; of each of two it
 * holds two, and a third comes out of L2. */
enum { STRIPS = 4, STRIPS_OF_TWO = 3 };

enum { THREADS = 256, TILE = 32, TILE_ROWS = 8, GAIN_PARTS = 64 };

static int64_t
blocks(int64_t count, int64_t each)
{
    return (count + each - 1) / each;
}

/* Sixteen bytes, which a thread loads at once. */
static int64_t
strip_elements(const struct kernel *kernel)
{
    return (int64_t)(16 / dtype_bytes(kernel->dtype));
}

/* Starts a launch whose first arguments are the operands 0, 1, ... */
static struct gpu_stream_launch *
add_launch(struct gpu_stream_plan *plan, const char *name, int operand_count)
{
    struct gpu_stream_launch *launch = &plan->launches[plan->launch_count++];
    *launch = (struct gpu_stream_launch){.name = name, .operand_count = operand_count};
    for (int i = 0; i < operand_count; i++)
        launch->operands[i] = i;
    return launch;
}

static void
add_size(struct gpu_stream_launch *launch, int64_t size)
{
    launch->sizes[launch->size_count++] = size;
}

/* One thread for so many elements and as many single ones as one more thread would have had. */
static void
flat(struct gpu_stream_launch *launch, int64_t count, int64_t each)
{
    launch->shape =
        (struct gpu_shape){blocks(blocks(count, each) + each, THREADS), 1, THREADS, 1};
    add_size(launch, count);
}

/* A power of two of threads a row, whole rows in a block; a thread has at most `each` elements of
 * its row, unless the row is too wide. */
static void
by_rows(struct gpu_stream_launch *launch, int64_t rows, int64_t width, int64_t each)
{
    int threads = 8;
    while (threads < THREADS && threads * each < width)
        threads *= 2;
    int rows_each = THREADS / threads;
    launch->shape = (struct gpu_shape){blocks(rows, rows_each), 1, threads, rows_each};
    add_size(launch, rows);
    add_size(launch, width);
}

static bool
plan_elementwise(const struct kernel *kernel, struct gpu_stream_plan *plan)
{
    const struct elementwise *elementwise = &kernel->elementwise;
    const char *op = elementwise->op;
    int64_t elements = elementwise->elements, each = strip_elements(kernel);
    if (strcmp(op, "copy") == 0)
        op = "copy_elements";
    if (strcmp(op, "silu_mul") == 0 && elementwise->launches == 2) {
        struct gpu_stream_launch *first = add_launch(plan, "silu", 2);
        first->operands[1] = 3;
        flat(first, elements, each);
        struct gpu_stream_launch *second = add_launch(plan, "mul", 3);
        second->operands[0] = 3;
        flat(second, elements, each);
        return true;
    }
    bool has_two =
        strcmp(op, "add") == 0 || strcmp(op, "mul") == 0 || strcmp(op, "silu_mul") == 0;
    flat(add_launch(plan, op, has_two ? 3 : 2), elements, each);
    return true;
}

static bool
plan_rms_norm(const struct kernel *kernel, struct gpu_stream_plan *plan)
{
    const struct rows_by_width *shape = &kernel->rows_by_width;
    int64_t each = strip_elements(kernel), columns = TILE; /* side by side */
    if (kernel->direction == DIRECTION_FORWARD) {
        by_rows(add_launch(plan, "rms_norm", 3), shape->rows, shape->width, STRIPS * each);
        return true;
    }
    /* scratch: operand 5 a scale for each row, operand 6 partial sums (GAIN_PARTS, width) */
    struct gpu_stream_launch *dx = add_launch(plan, "rms_norm_backward", 5);
    dx->operands[4] = 5;
    by_rows(dx, shape->rows, shape->width, STRIPS_OF_TWO * each);
    struct gpu_stream_launch *parts = add_launch(plan, "gain_gradient_parts", 4);
    parts->operands[1] = 2;
    parts->operands[2] = 5;
    parts->operands[3] = 6;
    parts->shape =
        (struct gpu_shape){blocks(shape->width, columns * each), GAIN_PARTS, TILE, TILE_ROWS};
    add_size(parts, shape->rows);
    add_size(parts, shape->width);
    struct gpu_stream_launch *sum = add_launch(plan, "gain_gradient", 2);
    sum->operands[0] = 6;
    sum->operands[1] = 4;
    sum->shape = (struct gpu_shape){blocks(shape->width, columns), 1, TILE, TILE_ROWS};
    add_size(sum, GAIN_PARTS);
    add_size(sum, shape->width);
    plan->scratch_counts[plan->scratch_count++] = (double)shape->rows;
    plan->scratch_counts[plan->scratch_count++] = (double)shape->width * GAIN_PARTS;
    return true;
}

static bool
plan_rows(const struct kernel *kernel, const char *name, int operand_count,
          struct gpu_stream_plan *plan)
{
    int64_t strips =
        operand_count == 2 || kernel->kind == KERNEL_GATHER ? STRIPS : STRIPS_OF_TWO;
    by_rows(add_launch(plan, name, operand_count), kernel->rows_by_width.rows,
            kernel->rows_by_width.width, strips * strip_elements(kernel));
    return true;
}

static bool
plan_transpose(const struct kernel *kernel, struct gpu_stream_plan *plan)
{
    const struct rows_by_width *shape = &kernel->rows_by_width;
    int64_t tile = (int64_t)TILE * 4 / (int64_t)dtype_bytes(kernel->dtype);
    struct gpu_stream_launch *launch = add_launch(plan, "transpose", 2);
    launch->shape = (struct gpu_shape){blocks(shape->rows, tile) * blocks(shape->width, tile),
                                       1, TILE, TILE_ROWS};
    add_size(launch, shape->rows);
    add_size(launch, shape->width);
    return true;
}

static bool
plan_top_k(const struct kernel *kernel, struct gpu_stream_plan *plan)
{
    struct gpu_stream_launch *launch = add_launch(plan, "top_k", 3);
    by_rows(launch, kernel->top_k.rows, kernel->top_k.experts, 4);
    add_size(launch, kernel->top_k.k);
    return true;
}

static bool
plan_adamw(const struct kernel *kernel, struct gpu_stream_plan *plan)
{
    flat(add_launch(plan, "adamw", 4), kernel->adamw.parameters, strip_elements(kernel));
    return true;
}

static void
add_convolution_sizes(struct gpu_stream_launch *launch, const struct convolution *shape)
{
    add_size(launch, shape->tokens);
    add_size(launch, shape->channels);
    add_size(launch, shape->taps);
    add_size(launch, shape->groups);
}

static bool
plan_convolution(const struct kernel *kernel, struct gpu_stream_plan *plan)
{
    const struct convolution *shape = &kernel->convolution;
    bool is_forward = kernel->direction == DIRECTION_FORWARD;
    const struct gpu_shape by_place = {blocks(shape->tokens * shape->channels, THREADS), 1,
                                       THREADS, 1};
    int64_t weights = shape->taps * shape->channels * (shape->channels / shape->groups);
    struct gpu_stream_launch *first =
        add_launch(plan, is_forward ? "convolution" : "convolution_dx", 3);
    first->shape = by_place;
    add_convolution_sizes(first, shape);
    if (is_forward)
        return true;
    for (int i = 0; i < 3; i++)
        first->operands[i] = i + 1; /* w, dy, dx */
    struct gpu_stream_launch *second = add_launch(plan, "convolution_dw", 3);
    second->operands[1] = 2;
    second->operands[2] = 4;
    second->shape = (struct gpu_shape){blocks(weights, TILE), 1, TILE, TILE_ROWS};
    add_convolution_sizes(second, shape);
    return true;
}

/* Forward, heads of 256 and less, and asked for by its name: a row without one means what PyTorch
 * and Megatron run. */
static bool
plan_attention(const struct kernel *kernel, struct gpu_stream_plan *plan)
{
    const struct attention *shape = &kernel->attention;
    const char *wanted = shape->implementation;
    if (kernel->direction != DIRECTION_FORWARD || shape->head_dim > ATTENTION_HEAD_MAX ||
        wanted == NULL || strcmp(wanted, "own") != 0)
        return false;
    struct gpu_stream_launch *launch = add_launch(plan, "attention", 4);
    launch->shape = (struct gpu_shape){shape->batch * shape->q_heads *
                                           blocks(shape->q_len, ATTENTION_QUERIES),
                                       1, ATTENTION_KEYS, ATTENTION_QUERIES};
    add_size(launch, shape->q_len);
    add_size(launch, shape->kv_len);
    add_size(launch, shape->q_heads);
    add_size(launch, shape->kv_heads);
    add_size(launch, shape->head_dim);
    add_size(launch, shape->is_causal);
    add_size(launch, shape->window);
    return true;
}

bool
gpu_stream_plan(const struct kernel *kernel, int operand_count, struct gpu_stream_plan *plan)
{
    *plan = (struct gpu_stream_plan){0};
    bool is_forward = kernel->direction == DIRECTION_FORWARD;
    switch (kernel->kind) {
    case KERNEL_ELEMENTWISE:
        return plan_elementwise(kernel, plan);
    case KERNEL_RMS_NORM:
        return plan_rms_norm(kernel, plan);
    case KERNEL_SOFTMAX:
        return plan_rows(kernel, is_forward ? "softmax" : "softmax_backward", operand_count,
                         plan);
    case KERNEL_GATHER:
        return plan_rows(kernel, "gather", operand_count, plan);
    case KERNEL_SCATTER_ADD:
        return plan_rows(kernel, "scatter_add", operand_count, plan);
    case KERNEL_TRANSPOSE:
        return plan_transpose(kernel, plan);
    case KERNEL_TOP_K:
        return plan_top_k(kernel, plan);
    case KERNEL_CROSS_ENTROPY:
        by_rows(add_launch(plan, is_forward ? "cross_entropy" : "cross_entropy_backward",
                           operand_count),
                kernel->cross_entropy.rows, kernel->cross_entropy.vocab,
                STRIPS * strip_elements(kernel));
        return true;
    case KERNEL_ADAMW:
        return plan_adamw(kernel, plan);
    case KERNEL_CONVOLUTION:
        return plan_convolution(kernel, plan);
    case KERNEL_ATTENTION:
        return plan_attention(kernel, plan);
    case KERNEL_COPY:
        return true;
    case KERNEL_GEMM:
    case KERNEL_GROUPED_GEMM:
    case KERNEL_FUSED_MOE:
    case KERNEL_NEWTON_SCHULZ:
    case KERNEL_KIND_COUNT:
        break;
    }
    return false;
}
