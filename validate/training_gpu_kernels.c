/* Kernels of a training step on a GPU, as launches of gpu_kernels.cu and gpu_training.cu. */
#include "validate/training_gpu_work.h"

enum { THREADS = 256, GAIN_PARTS = 64 };

/* Of gpu_heads.cu: a block is a square of so many threads. */
enum { SIDE = 16, SIDE_WIDE = 8, HEAD_NARROW_MAX = 128 };

/* Of gpu_rows.cu: threads side by side and below each other, and sixteen bytes. */
enum { COLUMN_THREADS = 32, COLUMN_ROWS = 8, STRIP = 4 };

static int64_t
blocks(int64_t count, int64_t each)
{
    return (count + each - 1) / each;
}

struct gpu_shape
training_gpu_flat(int64_t count)
{
    return (struct gpu_shape){blocks(count, THREADS), 1, THREADS, 1};
}

/* A power of two of threads a row, whole rows in a block. */
static struct gpu_shape
by_rows(int64_t rows, int64_t width)
{
    int threads = 8;
    while (threads < THREADS && 4 * (int64_t)threads < width)
        threads *= 2;
    return (struct gpu_shape){blocks(rows, THREADS / threads), 1, threads, THREADS / threads};
}

/* What the GPU writes looks like something only read, as a launch holds addresses alone. */
/* NOLINTBEGIN(readability-non-const-parameter) */

/* ---- Kernels that measure knows as well */

static void
rms_norm(void *machine, const struct rows_by_width *shape, const union cpu_array *operands)
{
    const struct kernel kernel = {
        .kind = KERNEL_RMS_NORM, .dtype = DTYPE_FP32, .rows_by_width = *shape};
    training_gpu_run(machine, &kernel, operands, 3);
}

static void
softmax(void *machine, const struct rows_by_width *shape, const union cpu_array *operands)
{
    const struct kernel kernel = {
        .kind = KERNEL_SOFTMAX, .dtype = DTYPE_FP32, .rows_by_width = *shape};
    training_gpu_run(machine, &kernel, operands, 2);
}

static void
softmax_backward(void *machine, const struct rows_by_width *shape,
                 const union cpu_array *operands)
{
    const struct kernel kernel = {.kind = KERNEL_SOFTMAX,
                                  .dtype = DTYPE_FP32,
                                  .direction = DIRECTION_BACKWARD,
                                  .rows_by_width = *shape};
    training_gpu_run(machine, &kernel, operands, 3);
}

static void
top_k(void *machine, const struct top_k *shape, const union cpu_array *operands)
{
    const struct kernel kernel = {.kind = KERNEL_TOP_K, .dtype = DTYPE_FP32, .top_k = *shape};
    training_gpu_run(machine, &kernel, operands, 3);
}

static void
cross_entropy(void *machine, const struct cross_entropy *shape, const union cpu_array *operands)
{
    const struct kernel kernel = {
        .kind = KERNEL_CROSS_ENTROPY, .dtype = DTYPE_FP32, .cross_entropy = *shape};
    training_gpu_run(machine, &kernel, operands, 3);
}

static void
gather(void *machine, const struct rows_by_width *shape, const union cpu_array *operands)
{
    const struct kernel kernel = {
        .kind = KERNEL_GATHER, .dtype = DTYPE_FP32, .rows_by_width = *shape};
    training_gpu_run(machine, &kernel, operands, 3);
}

static void
scatter_add(void *machine, const struct rows_by_width *shape, const union cpu_array *operands)
{
    const struct kernel kernel = {
        .kind = KERNEL_SCATTER_ADD, .dtype = DTYPE_FP32, .rows_by_width = *shape};
    training_gpu_run(machine, &kernel, operands, 3);
}

static void
add(void *machine, int64_t count, const union cpu_array *operands)
{
    const struct kernel kernel = {
        .kind = KERNEL_ELEMENTWISE,
        .dtype = DTYPE_FP32,
        .elementwise = {.op = "add", .elements = count, .launches = 1}};
    training_gpu_run(machine, &kernel, operands, 3);
}

/* ---- Attention */

static size_t
row_bytes(const struct attention *shape)
{
    return (size_t)(shape->batch * shape->q_heads * shape->q_len) * sizeof(float);
}

/* A kernel for narrow and for wide heads; a block takes so many squares of queries or keys. */
struct attention_names {
    const char *narrow, *wide;
    int64_t heads, squares;
};

static struct training_launch
attention_launch(const struct attention_names *names, const struct attention *shape,
                 const struct cpu_attention_strides *strides)
{
    bool is_wide = shape->head_dim > HEAD_NARROW_MAX;
    int side = is_wide ? SIDE_WIDE : SIDE;
    int64_t tiles = blocks(shape->q_len, names->squares * side);
    return (struct training_launch){
        .name = is_wide ? names->wide : names->narrow,
        .shape = {shape->batch * names->heads * tiles, 1, side, side},
        .sizes = {strides->query, strides->key, strides->out, shape->q_len, shape->q_heads,
                  shape->kv_heads, shape->head_dim, shape->is_causal},
        .size_count = 8};
}

/* operands: q, k, v, o, a room of the CPU's, tops */
static void
attention(void *machine, const struct attention *shape,
          const struct cpu_attention_strides *strides, const union cpu_array *operands)
{
    const struct attention_names names = {"attend", "attend_wide", shape->q_heads, 2};
    struct training_launch launch = attention_launch(&names, shape, strides);
    for (int i = 0; i < 4; i++)
        launch.pointers[i] = operands[i].reals;
    launch.pointers[4] = operands[5].reals;
    launch.pointer_count = 5;
    training_gpu_launch(machine, &launch);
}

static void
run_slopes(struct training_gpu *machine, const struct attention *shape,
           const struct cpu_attention_strides *strides, const union cpu_array *operands,
           void *slopes)
{
    int64_t rows = shape->batch * shape->q_len * shape->q_heads;
    const struct training_launch launch = {
        .name = "attend_slopes",
        .shape = by_rows(rows, shape->head_dim),
        .pointers = {operands[9].reals, operands[3].reals, slopes},
        .pointer_count = 3,
        .sizes = {rows, shape->head_dim, shape->q_len, shape->q_heads, strides->out},
        .size_count = 5};
    training_gpu_launch(machine, &launch);
}

/* operands: q, k, v, do, dq, dk, dv, two rooms of the CPU's, o, tops */
static void
attention_backward(void *context, const struct attention *shape,
                   const struct cpu_attention_strides *strides, const union cpu_array *operands)
{
    struct training_gpu *machine = context;
    void *slopes = training_gpu_room(machine, TRAINING_GPU_SLOPES, row_bytes(shape));
    run_slopes(machine, shape, strides, operands, slopes);
    const struct attention_names dq_names = {"attend_dq", "attend_dq_wide", shape->q_heads, 1};
    const struct attention_names dkv_names = {"attend_dkv", "attend_dkv_wide", shape->kv_heads,
                                              1};
    struct training_launch dq = attention_launch(&dq_names, shape, strides);
    struct training_launch dkv = attention_launch(&dkv_names, shape, strides);
    for (int i = 0; i < 4; i++)
        dq.pointers[i] = dkv.pointers[i] = operands[i].reals;
    dq.pointers[4] = dkv.pointers[4] = operands[10].reals;
    dq.pointers[5] = dkv.pointers[5] = slopes;
    dq.pointers[6] = operands[4].reals;
    dq.pointer_count = 7;
    dkv.pointers[6] = operands[5].reals;
    dkv.pointers[7] = operands[6].reals;
    dkv.pointer_count = 8;
    training_gpu_launch(machine, &dq);
    training_gpu_launch(machine, &dkv);
}

/* ---- Along rows */

/* operands: x, gain, dy, dx, dgain */
static void
rms_norm_backward(void *context, const struct rows_by_width *shape,
                  const union cpu_array *operands, bool is_added)
{
    struct training_gpu *machine = context;
    int64_t rows = shape->rows, width = shape->width;
    void *scales =
        training_gpu_room(machine, TRAINING_GPU_SCALES, (size_t)rows * sizeof(float));
    void *parts = training_gpu_room(machine, TRAINING_GPU_PARTS,
                                    (size_t)(width * GAIN_PARTS) * sizeof(float));
    const float *x = operands[0].reals, *y_gradient = operands[2].reals;
    const struct training_launch launches[] = {
        {.name = "norm_backward",
         .shape = by_rows(rows, width),
         .pointers = {x, operands[1].reals, y_gradient, operands[3].reals, scales},
         .pointer_count = 5,
         .sizes = {rows, width, is_added},
         .size_count = 3},
        {.name = "gain_gradient_parts",
         .shape = {blocks(width, (int64_t)COLUMN_THREADS * STRIP), GAIN_PARTS, COLUMN_THREADS,
                   COLUMN_ROWS},
         .pointers = {x, y_gradient, scales, parts},
         .pointer_count = 4,
         .sizes = {rows, width},
         .size_count = 2},
        {.name = "gain_gradient_add",
         .shape = {blocks(width, COLUMN_THREADS), 1, COLUMN_THREADS, COLUMN_ROWS},
         .pointers = {parts, operands[4].reals},
         .pointer_count = 2,
         .sizes = {GAIN_PARTS, width},
         .size_count = 2},
    };
    for (int i = 0; i < 3; i++)
        training_gpu_launch(machine, &launches[i]);
}

static void
cross_entropy_backward(void *machine, const struct cross_entropy *shape,
                       const union cpu_array *operands, float scale)
{
    const struct training_launch launch = {
        .name = "loss_backward",
        .shape = by_rows(shape->rows, shape->vocab),
        .pointers = {operands[0].reals, operands[1].indices, operands[2].reals},
        .pointer_count = 3,
        .sizes = {shape->rows, shape->vocab},
        .size_count = 2,
        .reals = {scale},
        .real_count = 1};
    training_gpu_launch(machine, &launch);
}

/* ---- Experts */

static void
swiglu(void *machine, int64_t rows, int64_t width, const float *gate_up, float *y)
{
    const struct training_launch launch = {.name = "swiglu",
                                           .shape = training_gpu_flat(rows * width),
                                           .pointers = {gate_up, y},
                                           .pointer_count = 2,
                                           .sizes = {rows * width, width},
                                           .size_count = 2};
    training_gpu_launch(machine, &launch);
}

static void
swiglu_backward(void *machine, int64_t rows, int64_t width, const float *gate_up,
                const float *y_gradient, float *gate_up_gradient)
{
    const struct training_launch launch = {.name = "swiglu_backward",
                                           .shape = training_gpu_flat(rows * width),
                                           .pointers = {gate_up, y_gradient, gate_up_gradient},
                                           .pointer_count = 3,
                                           .sizes = {rows * width, width},
                                           .size_count = 2};
    training_gpu_launch(machine, &launch);
}

/* A launch over rows of tokens, or of their copies. */
static struct training_launch
routed(const char *name, const struct cpu_routes *routes, int64_t rows)
{
    return (struct training_launch){.name = name,
                                    .shape = by_rows(rows, routes->width),
                                    .sizes = {rows, routes->width, routes->copies},
                                    .size_count = 3};
}

static void
permute(void *machine, const struct cpu_routes *routes, const float *x, float *rows)
{
    struct training_launch launch = routed("permute", routes, routes->tokens * routes->copies);
    launch.pointers[0] = x;
    launch.pointers[1] = routes->place;
    launch.pointers[2] = rows;
    launch.pointer_count = 3;
    training_gpu_launch(machine, &launch);
}

static void
permute_backward(void *machine, const struct cpu_routes *routes, const float *rows_gradient,
                 float *x_gradient)
{
    struct training_launch launch = routed("permute_backward", routes, routes->tokens);
    launch.pointers[0] = rows_gradient;
    launch.pointers[1] = routes->place;
    launch.pointers[2] = x_gradient;
    launch.pointer_count = 3;
    training_gpu_launch(machine, &launch);
}

static void
combine(void *machine, const struct cpu_routes *routes, const float *weights, const float *rows,
        float *y)
{
    struct training_launch launch = routed("combine", routes, routes->tokens);
    launch.pointers[0] = weights;
    launch.pointers[1] = rows;
    launch.pointers[2] = routes->place;
    launch.pointers[3] = y;
    launch.pointer_count = 4;
    training_gpu_launch(machine, &launch);
}

static void
combine_backward(void *machine, const struct cpu_routes *routes,
                 const struct cpu_combine_backward *operands)
{
    struct training_launch launch =
        routed("combine_backward", routes, routes->tokens * routes->copies);
    launch.pointers[0] = operands->weights;
    launch.pointers[1] = operands->rows;
    launch.pointers[2] = routes->place;
    launch.pointers[3] = operands->y_gradient;
    launch.pointers[4] = operands->rows_gradient;
    launch.pointers[5] = operands->weights_gradient;
    launch.pointer_count = 6;
    training_gpu_launch(machine, &launch);
}

/* The host waits for the counts: with them it describes the products of the experts. */
static void
sort_routes(void *context, const int32_t *experts, int64_t count, int64_t expert_count,
            int64_t *counts, int32_t *place)
{
    struct training_gpu *machine = context;
    const struct gpu_shape shape = {expert_count, 1, THREADS, 1};
    size_t bytes = (size_t)expert_count * sizeof *counts;
    void *own = training_gpu_room(machine, TRAINING_GPU_PARTS, bytes);
    const struct training_launch launches[] = {{.name = "count_routes",
                                                .shape = shape,
                                                .pointers = {experts, own},
                                                .pointer_count = 2,
                                                .sizes = {count},
                                                .size_count = 1},
                                               {.name = "place_routes",
                                                .shape = shape,
                                                .pointers = {experts, own, place},
                                                .pointer_count = 3,
                                                .sizes = {count},
                                                .size_count = 1}};
    for (int i = 0; i < 2; i++)
        training_gpu_launch(machine, &launches[i]);
    machine->device.copy_out(machine, counts, own, bytes);
}

static void
place_weights(void *context, const struct top_k *shape, const int32_t *chosen,
              const float *weights, float *scores)
{
    struct training_gpu *machine = context;
    const struct training_launch launch = {
        .name = "place_weights",
        .shape = training_gpu_flat(shape->rows * shape->k),
        .pointers = {chosen, weights, scores},
        .pointer_count = 3,
        .sizes = {shape->rows * shape->k, shape->k, shape->experts},
        .size_count = 3};
    machine->device.zero(machine, scores, shape->rows * shape->experts);
    training_gpu_launch(machine, &launch);
}

/* ---- Sums */

static double
total(void *context, const float *reals, int64_t count)
{
    struct training_gpu *machine = context;
    struct arena *own = arena_new_beside(machine->arena);
    float *copy = arena_alloc(own, (size_t)count, sizeof *copy);
    double sum = 0;
    machine->device.copy_out(machine, copy, reals, (size_t)count * sizeof *copy);
    for (int64_t i = 0; i < count; i++)
        sum += (double)copy[i];
    arena_free(own);
    return sum;
}

void
training_gpu_add_kernels(struct training_device *device)
{
    device->attention = attention;
    device->attention_backward = attention_backward;
    device->rms_norm = rms_norm;
    device->rms_norm_backward = rms_norm_backward;
    device->softmax = softmax;
    device->softmax_backward = softmax_backward;
    device->top_k = top_k;
    device->cross_entropy = cross_entropy;
    device->cross_entropy_backward = cross_entropy_backward;
    device->gather = gather;
    device->scatter_add = scatter_add;
    device->add = add;
    device->swiglu = swiglu;
    device->swiglu_backward = swiglu_backward;
    device->permute = permute;
    device->permute_backward = permute_backward;
    device->combine = combine;
    device->combine_backward = combine_backward;
    device->sort_routes = sort_routes;
    device->place_weights = place_weights;
    device->total = total;
}

/* NOLINTEND(readability-non-const-parameter) */
