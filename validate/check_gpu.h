/* For tests only: a GPU that is this process. Memory is the heap's, kernels are gpu_kernels.cu as C
 * (check_gpu_source.h), the BLAS is three loops. It fails where a test wants it to. Each file that
 * includes it has its own. */
#ifndef VALIDATE_CHECK_GPU_H
#define VALIDATE_CHECK_GPU_H

#include <stdlib.h>
#include <string.h>

#include "validate/check_gpu_collective.h"
#include "validate/check_gpu_source.h"
#include "validate/gpu.h"

/* ---- Launches */

static int
check_gpu_launch(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                 unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                 void *stream, void **arguments, void **extra)
{
    (void)grid_z, (void)block_z, (void)shared_bytes, (void)stream, (void)extra;
    check_gpu_count(&check_gpu_launches, 1);
    if (check_gpu_fails(&check_gpu_faults.launch) || block_x * block_y > CHECK_GPU_THREADS ||
        grid_x == 0)
        return CHECK_GPU_FAULT;
    check_gpu_enter();
    check_gpu_run_grid(function, arguments, (struct check_gpu_place){grid_x, grid_y, 1},
                       (struct check_gpu_place){block_x, block_y, 1});
    check_gpu_leave();
    return 0;
}

static int
check_gpu_function(void **function, void *module, const char *name)
{
    (void)module;
    if (check_gpu_faults.missing && strcmp(check_gpu_faults.missing, name) == 0)
        return CHECK_GPU_NO_FUNCTION;
    for (const struct check_gpu_kernel *kernel = check_gpu_kernels; kernel->name; kernel++)
        if (strcmp(kernel->name, name) == 0) {
            memcpy(function, &(const void *){kernel}, sizeof *function);
            return 0;
        }
    return CHECK_GPU_NO_FUNCTION;
}

/* ---- Memory, streams, events */

static int
check_gpu_memory_new(void **memory, size_t size_bytes)
{
    const size_t line_bytes = 256;
    if (check_gpu_fails(&check_gpu_faults.memory))
        return GPU_STATUS_OUT_OF_MEMORY;
    *memory =
        aligned_alloc(line_bytes, (size_bytes + line_bytes - 1) / line_bytes * line_bytes);
    memset(*memory, 0xff, size_bytes); /* NaN: nobody may rely on zeroes */
    check_gpu_count(&check_gpu_live, 1);
    return 0;
}

static int
check_gpu_memory_free(void *memory)
{
    free(memory);
    check_gpu_count(&check_gpu_live, -1);
    return 0;
}

static int
check_gpu_copy(void *to, const void *from, size_t size_bytes, void *stream)
{
    (void)stream;
    if (check_gpu_fails(&check_gpu_faults.copy))
        return CHECK_GPU_FAULT;
    memcpy(to, from, size_bytes);
    return 0;
}

static int
check_gpu_set(void *memory, unsigned char byte, size_t size_bytes, void *stream)
{
    memset(memory, byte, size_bytes);
    if (stream != NULL)
        ++*(int *)stream;
    return 0;
}

/* A stream is the number of memsets on it. */
static int
check_gpu_stream_new(void **stream, unsigned flags)
{
    (void)flags;
    if (check_gpu_fails(&check_gpu_faults.stream))
        return CHECK_GPU_FAULT;
    *stream = calloc(1, sizeof(int));
    check_gpu_count(&check_gpu_live, 1);
    return 0;
}

static int
check_gpu_wait(void *stream)
{
    (void)stream;
    return 0;
}

/* An event is the number of launches that were before it; a launch takes a millisecond. */
static int
check_gpu_event_new(void **event, unsigned flags)
{
    (void)flags;
    if (check_gpu_fails(&check_gpu_faults.event))
        return CHECK_GPU_FAULT;
    *event = calloc(1, sizeof(int));
    check_gpu_count(&check_gpu_live, 1);
    return 0;
}

static int
check_gpu_event_record(void *event, void *stream)
{
    (void)stream;
    *(int *)event = check_gpu_launches;
    return 0;
}

static int
check_gpu_elapsed(float *milliseconds, void *start, void *end)
{
    *milliseconds = (float)(*(int *)end - *(int *)start);
    return 0;
}

static int
check_gpu_error_text(int status, const char **text)
{
    *text = status == CHECK_GPU_FAULT ? "an illegal memory access" : "something else";
    return 0;
}

/* ---- The BLAS: matrices lie column by column */

struct check_gpu_matrix {
    int64_t rows, columns, stride;
};

struct check_gpu_product {
    int32_t of_a, of_b;
    enum gpu_vendor vendor;
};

static enum gpu_vendor check_gpu_vendor;

static int
check_gpu_blas_new(void **blas)
{
    *blas = &check_gpu_vendor;
    return 0;
}

static size_t
check_gpu_blas_version(void)
{
    return 130200;
}

static int
check_gpu_object_free(void *object)
{
    free(object);
    check_gpu_count(&check_gpu_live, -1);
    return 0;
}

static int
check_gpu_product_new(void **product, int compute_type, int scale_type)
{
    const struct gpu_numbers *numbers = gpu_numbers(check_gpu_vendor);
    if (compute_type != numbers->compute_fp32 || scale_type != numbers->type_fp32)
        return CHECK_GPU_FAULT;
    *product = calloc(1, sizeof(struct check_gpu_product));
    check_gpu_count(&check_gpu_live, 1);
    return 0;
}

static int
check_gpu_product_set(void *object, int attribute, const void *value, size_t size_bytes)
{
    const struct gpu_numbers *numbers = gpu_numbers(check_gpu_vendor);
    struct check_gpu_product *product = object;
    if (attribute == numbers->product_transpose_a)
        memcpy(&product->of_a, value, size_bytes);
    else if (attribute == numbers->product_transpose_b)
        memcpy(&product->of_b, value, size_bytes);
    else
        return CHECK_GPU_FAULT;
    return 0;
}

static int
check_gpu_matrix_new(void **matrix, int type, uint64_t rows, uint64_t columns, int64_t stride)
{
    if (type != gpu_numbers(check_gpu_vendor)->type_fp32)
        return CHECK_GPU_FAULT;
    struct check_gpu_matrix *own = malloc(sizeof *own);
    *own = (struct check_gpu_matrix){(int64_t)rows, (int64_t)columns, stride};
    *matrix = own;
    check_gpu_count(&check_gpu_live, 1);
    return 0;
}

static int
check_gpu_preference_new(void **preference)
{
    *preference = calloc(1, 1);
    check_gpu_count(&check_gpu_live, 1);
    return 0;
}

static int
check_gpu_preference_set(void *preference, int attribute, const void *value, size_t size_bytes)
{
    (void)preference, (void)attribute, (void)value, (void)size_bytes;
    return 0;
}

static int
check_gpu_choose(void *blas, void *product, void *a, void *b, void *c, void *d,
                 void *preference, int wanted, void *choices, int *found)
{
    (void)blas, (void)product, (void)a, (void)b, (void)c, (void)d, (void)preference;
    (void)choices;
    *found = check_gpu_fails(&check_gpu_faults.choice) ? 0 : wanted;
    return 0;
}

/* Element (row, column) of the matrix, or of its transpose. */
static float
check_gpu_element(const float *reals, const struct check_gpu_matrix *matrix, bool is_transposed,
                  int64_t row, int64_t column)
{
    return is_transposed ? reals[row * matrix->stride + column]
                         : reals[column * matrix->stride + row];
}

static int
check_gpu_multiply(void *blas, void *object, const void *alpha, const void *a, void *a_matrix,
                   const void *b, void *b_matrix, const void *beta, const void *c,
                   void *c_matrix, void *d, void *d_matrix, const void *choice, void *workspace,
                   size_t workspace_bytes, void *stream)
{
    const struct check_gpu_product *product = object;
    const struct check_gpu_matrix *first = a_matrix, *second = b_matrix, *third = d_matrix;
    int transposed = gpu_numbers(check_gpu_vendor)->operation_transposed;
    bool is_a = product->of_a == transposed, is_b = product->of_b == transposed;
    int64_t depth = is_a ? first->rows : first->columns;
    (void)blas, (void)choice, (void)workspace, (void)workspace_bytes, (void)stream;
    if (c != d || c_matrix != d_matrix || depth != (is_b ? second->columns : second->rows))
        return CHECK_GPU_FAULT;
    check_gpu_count(&check_gpu_launches, 1);
    for (int64_t column = 0; column < third->columns; column++)
        for (int64_t row = 0; row < third->rows; row++) {
            float *out = (float *)d + column * third->stride + row, sum = 0;
            for (int64_t i = 0; i < depth; i++)
                sum += check_gpu_element(a, first, is_a, row, i) *
                       check_gpu_element(b, second, is_b, i, column);
            float kept = *(const float *)beta;
            sum *= check_gpu_faults.is_wrong ? 1.001F : 1;
            *out = *(const float *)alpha * sum + (kept > 0 ? kept * *out : 0);
        }
    return 0;
}

static int
check_gpu_context_set(void *context)
{
    (void)context;
    return 0;
}

/* ---- Together */

/* An open GPU of the vendor, nothing of it used yet. */
static inline struct gpu
check_gpu_open(enum gpu_vendor vendor)
{
    struct gpu_api api = {.context_set = check_gpu_context_set,
                          .error_text = check_gpu_error_text,
                          .memory_new = check_gpu_memory_new,
                          .memory_free = check_gpu_memory_free,
                          .enqueue_copy_in = check_gpu_copy,
                          .enqueue_copy_out = check_gpu_copy,
                          .enqueue_set = check_gpu_set,
                          .stream_wait = check_gpu_wait,
                          .stream_new = check_gpu_stream_new,
                          .stream_free = check_gpu_object_free,
                          .event_new = check_gpu_event_new,
                          .event_free = check_gpu_object_free,
                          .event_record = check_gpu_event_record,
                          .event_elapsed = check_gpu_elapsed,
                          .module_function = check_gpu_function,
                          .launch = check_gpu_launch,
                          .blas_new = check_gpu_blas_new,
                          .product_new = check_gpu_product_new,
                          .product_free = check_gpu_object_free,
                          .product_set = check_gpu_product_set,
                          .matrix_new = check_gpu_matrix_new,
                          .matrix_free = check_gpu_object_free,
                          .preference_new = check_gpu_preference_new,
                          .preference_free = check_gpu_object_free,
                          .preference_set = check_gpu_preference_set,
                          .choose = check_gpu_choose,
                          .multiply = check_gpu_multiply};
    size_t (*version)(void) = check_gpu_blas_version;
    check_gpu_add_collectives(&api);
    struct gpu gpu = {.libraries = {.vendor = vendor, .api = api},
                      .name = "a test's GPU",
                      .library = "this process",
                      .numbers = gpu_numbers(vendor),
                      .options = gpu_options_new()};
    for (int i = 0; i < GPU_LIBRARY_COUNT; i++)
        gpu.libraries.handles[i] = &check_gpu_vendor;
    gpu.modules[DTYPE_FP32] = &check_gpu_vendor;
    memcpy(&gpu.libraries.api.blas_version, &version, sizeof version);
    check_gpu_vendor = vendor;
    check_gpu_faults =
        (struct check_gpu_faults){-1, -1, -1, -1, -1, -1, -1, -1, -1, NULL, false};
    check_gpu_live = check_gpu_launches = 0;
    check_gpu_open_threads();
    return gpu;
}

/* What gpu_close gives back of what is there. */
static inline void
check_gpu_close(struct gpu *gpu)
{
    if (gpu->workspace)
        (void)check_gpu_memory_free(gpu->workspace);
    *gpu = (struct gpu){0};
    check_gpu_close_threads();
}

#endif
