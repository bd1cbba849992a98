/* C[m,n] = A[m,k] B[k,n], rows one after another, for libraries that think in columns.
 *
 * Row by row, C is the column by column C^T = B^T A^T: the library's first matrix is our B, its
 * second our A. What lies as (k, n) row by row is (n, k) column by column, which is B^T as it is;
 * layout nt stores B as (n, k), which the library then has to transpose. */
#include "validate/gpu_gemm.h"

#include <math.h>
#include <string.h>

enum { OPERAND_A, OPERAND_B, OPERAND_C, OPERAND_ONE };
enum { SAMPLES = 2048, SAMPLE_THREADS = 256 };

/* One call of the library. */
struct product {
    int64_t m, n, k, batch;
    size_t a_offset_bytes, b_offset_bytes, c_offset_bytes;
    void *description, *first, *second, *third;
    unsigned char choice[GPU_CHOICE_BYTES];
    size_t workspace_bytes;
};

struct gemm_work {
    struct gpu *gpu;
    enum dtype dtype;
    enum gemm_layout layout;
    struct product *products;
    int64_t product_count;
    struct gpu_operands operands;
    double a_elements, b_elements, c_elements;
};

/* What a dtype is to the library: of the operands, the result, the sum, the scalars. */
struct gemm_types {
    int operand, result, compute, scalar;
    double result_bytes;
};

static struct gemm_types
types_of(const struct gpu_numbers *numbers, enum dtype dtype)
{
    const int fp32 = numbers->type_fp32, compute = numbers->compute_fp32;
    switch (dtype) {
    case DTYPE_FP64:
        return (struct gemm_types){numbers->type_fp64, numbers->type_fp64,
                                   numbers->compute_fp64, numbers->type_fp64, 8};
    case DTYPE_TF32:
        return (struct gemm_types){fp32, fp32, numbers->compute_tf32, fp32, 4};
    case DTYPE_BF16:
        return (struct gemm_types){numbers->type_bf16, numbers->type_bf16, compute, fp32, 2};
    case DTYPE_FP16:
        return (struct gemm_types){numbers->type_fp16, numbers->type_fp16, compute, fp32, 2};
    case DTYPE_FP8:
        return (struct gemm_types){numbers->type_fp8, numbers->type_bf16, compute, fp32, 2};
    case DTYPE_INT8:
        return (struct gemm_types){numbers->type_int8, numbers->type_int32,
                                   numbers->compute_int32, numbers->type_int32, 4};
    case DTYPE_FP32:
    case DTYPE_COUNT:
        break;
    }
    return (struct gemm_types){fp32, fp32, compute, fp32, 4};
}

static bool
blas_ok(const struct gpu *gpu, int status, const char *doing, struct error_list *errors)
{
    return status == 0 ||
           error_add(errors, ERROR_INFEASIBLE, "", "%s: %s: status %d",
                     gpu_library_name(gpu->libraries.vendor, GPU_BLAS), doing, status);
}

/* ---- The library's descriptions */

static bool
new_matrix(const struct gemm_work *work, void **matrix, int type, int64_t rows, int64_t columns)
{
    return work->gpu->libraries.api.matrix_new(matrix, type, (uint64_t)rows, (uint64_t)columns,
                                               rows) == 0;
}

static bool
set_batch(const struct gemm_work *work, void *matrix, int64_t batch, int64_t stride)
{
    const struct gpu_api *api = &work->gpu->libraries.api;
    const struct gpu_numbers *numbers = work->gpu->numbers;
    int32_t count = (int32_t)batch;
    return api->matrix_set(matrix, numbers->matrix_batch, &count, sizeof count) == 0 &&
           api->matrix_set(matrix, numbers->matrix_batch_stride, &stride, sizeof stride) == 0;
}

static bool
describe_matrices(const struct gemm_work *work, struct product *product)
{
    struct gemm_types types = types_of(work->gpu->numbers, work->dtype);
    int64_t m = product->m, n = product->n, k = product->k;
    bool is_a_transposed = work->layout == GEMM_TN, is_b_transposed = work->layout == GEMM_NT;
    if (!new_matrix(work, &product->first, types.operand, is_b_transposed ? k : n,
                    is_b_transposed ? n : k) ||
        !new_matrix(work, &product->second, types.operand, is_a_transposed ? m : k,
                    is_a_transposed ? k : m) ||
        !new_matrix(work, &product->third, types.result, n, m))
        return false;
    return product->batch == 1 || (set_batch(work, product->first, product->batch, k * n) &&
                                   set_batch(work, product->second, product->batch, m * k) &&
                                   set_batch(work, product->third, product->batch, m * n));
}

/* 8-bit operands come with scales, here 1, and sums that are fast rather than exact, as PyTorch
 * asks for. */
static bool
describe_scales(const struct gemm_work *work, void *description)
{
    const struct gpu_api *api = &work->gpu->libraries.api;
    const struct gpu_numbers *numbers = work->gpu->numbers;
    const void *one = work->operands.memory[OPERAND_ONE];
    int8_t is_fast = 1;
    return api->product_set(description, numbers->product_scale_a, &one, sizeof one) == 0 &&
           api->product_set(description, numbers->product_scale_b, &one, sizeof one) == 0 &&
           (numbers->product_fast_sum < 0 ||
            api->product_set(description, numbers->product_fast_sum, &is_fast,
                             sizeof is_fast) == 0);
}

static bool
describe_product(const struct gemm_work *work, struct product *product)
{
    const struct gpu_api *api = &work->gpu->libraries.api;
    const struct gpu_numbers *numbers = work->gpu->numbers;
    struct gemm_types types = types_of(numbers, work->dtype);
    int32_t of_first =
        work->layout == GEMM_NT ? numbers->operation_transposed : numbers->operation_plain;
    int32_t of_second =
        work->layout == GEMM_TN ? numbers->operation_transposed : numbers->operation_plain;
    void **description = &product->description;
    return api->product_new(description, types.compute, types.scalar) == 0 &&
           api->product_set(*description, numbers->product_transpose_a, &of_first,
                            sizeof of_first) == 0 &&
           api->product_set(*description, numbers->product_transpose_b, &of_second,
                            sizeof of_second) == 0 &&
           (work->dtype != DTYPE_FP8 || describe_scales(work, *description));
}

/* The library's own first choice. */
static bool
choose(const struct gemm_work *work, struct product *product, struct error_list *errors)
{
    const uint64_t workspace_bytes = 33554432; /* gpu.c's WORKSPACE_BYTES */
    const struct gpu_api *api = &work->gpu->libraries.api;
    const struct gpu_numbers *numbers = work->gpu->numbers;
    void *preference = NULL;
    int found = 0;
    if (!blas_ok(work->gpu, api->preference_new(&preference), "a preference", errors))
        return false;
    int status = api->preference_set(preference, numbers->preference_workspace_bytes,
                                     &workspace_bytes, sizeof workspace_bytes);
    if (status == 0)
        status =
            api->choose(work->gpu->blas, product->description, product->first, product->second,
                        product->third, product->third, preference, 1, product->choice, &found);
    (void)api->preference_free(preference);
    memcpy(&product->workspace_bytes, product->choice + numbers->choice_workspace_offset,
           sizeof product->workspace_bytes);
    if (status == 0 && found == 0)
        return error_add(errors, ERROR_INPUT, "", "%s has no algorithm for this product",
                         gpu_library_name(work->gpu->libraries.vendor, GPU_BLAS));
    return blas_ok(work->gpu, status, "choosing an algorithm", errors);
}

static bool
prepare(const struct gemm_work *work, struct product *product, struct error_list *errors)
{
    return ((describe_product(work, product) && describe_matrices(work, product)) ||
            blas_ok(work->gpu, -1, "describing a product", errors)) &&
           choose(work, product, errors);
}

static void
free_products(const struct gemm_work *work)
{
    const struct gpu_api *api = &work->gpu->libraries.api;
    for (int64_t i = 0; i < work->product_count; i++) {
        const struct product *product = &work->products[i];
        void *matrices[] = {product->first, product->second, product->third};
        for (int matrix = 0; matrix < 3; matrix++)
            if (matrices[matrix] != NULL)
                (void)api->matrix_free(matrices[matrix]);
        if (product->description != NULL)
            (void)api->product_free(product->description);
    }
}

/* ---- Running */

union scalar {
    double fp64;
    float fp32;
    int32_t int32;
};

static union scalar
scalar_of(enum dtype dtype, int value)
{
    union scalar scalar = {0};
    if (dtype == DTYPE_FP64)
        scalar.fp64 = value;
    else if (dtype == DTYPE_INT8)
        scalar.int32 = value;
    else
        scalar.fp32 = (float)value;
    return scalar;
}

static bool
enqueue(void *context, int64_t set, struct error_list *errors)
{
    const struct gemm_work *work = context;
    const struct gpu *gpu = work->gpu;
    union scalar one = scalar_of(work->dtype, 1), zero = scalar_of(work->dtype, 0);
    const char *a = gpu_operand(&work->operands, OPERAND_A, set);
    const char *b = gpu_operand(&work->operands, OPERAND_B, set);
    char *c = gpu_operand(&work->operands, OPERAND_C, set);
    for (int64_t i = 0; i < work->product_count; i++) {
        const struct product *product = &work->products[i];
        void *to = c + product->c_offset_bytes;
        int status = gpu->libraries.api.multiply(
            gpu->blas, product->description, &one, b + product->b_offset_bytes, product->first,
            a + product->a_offset_bytes, product->second, &zero, to, product->third, to,
            product->third, product->choice, gpu->workspace, product->workspace_bytes,
            gpu->stream);
        if (!blas_ok(gpu, status, "multiplying", errors))
            return false;
    }
    return true;
}

/* ---- The check */

/* Which entries are looked at, and what stands there. */
struct samples {
    int32_t rows[SAMPLES], columns[SAMPLES];
    struct {
        double result, reference;
    } pairs[SAMPLES];
};

/* Entries spread over the first and the last product of the last set, in one launch each. */
static bool
sample(const struct gemm_work *work, const struct product *product, struct samples *there,
       struct arena *arena, struct error_list *errors)
{
    struct gpu *gpu = work->gpu;
    double element_bytes = dtype_bytes(work->dtype);
    int64_t last = product->batch - 1, set = work->operands.sets - 1;
    size_t a_skip = (size_t)((double)(last * product->m * product->k) * element_bytes);
    size_t b_skip = (size_t)((double)(last * product->k * product->n) * element_bytes);
    size_t c_skip = (size_t)((double)(last * product->m * product->n) *
                             types_of(gpu->numbers, work->dtype).result_bytes);
    const char *a =
        (char *)gpu_operand(&work->operands, OPERAND_A, set) + product->a_offset_bytes + a_skip;
    const char *b =
        (char *)gpu_operand(&work->operands, OPERAND_B, set) + product->b_offset_bytes + b_skip;
    const char *c =
        (char *)gpu_operand(&work->operands, OPERAND_C, set) + product->c_offset_bytes + c_skip;
    int64_t m = product->m, n = product->n, k = product->k;
    bool is_a_transposed = work->layout == GEMM_TN, is_b_transposed = work->layout == GEMM_NT;
    int64_t a_row = is_a_transposed ? 1 : k, a_depth = is_a_transposed ? m : 1;
    int64_t b_depth = is_b_transposed ? 1 : n, b_column = is_b_transposed ? k : 1;
    void *rows = there->rows, *columns = there->columns, *pairs = there->pairs; /* on the GPU */
    void *arguments[] = {&a, &a_row, &a_depth, &b,    &b_depth, &b_column,
                         &c, &n,     &k,       &rows, &columns, &pairs};
    const struct gpu_shape shape = {SAMPLES, 1, SAMPLE_THREADS, 1};
    void *function = gpu_function(gpu, work->dtype, "check_product", arena, errors);
    return function != NULL && gpu_launch(gpu, function, shape, arguments, errors);
}

/* Steps that no tile's size divides. */
static void
choose_places(const struct product *product, struct samples *samples)
{
    for (int64_t i = 0; i < SAMPLES; i++) {
        samples->rows[i] = (int32_t)((i * 7919 + product->m - 1) % product->m);
        samples->columns[i] = (int32_t)((i * 104729 + product->n - 1) % product->n);
    }
}

static bool
check_product(const struct gemm_work *work, const struct product *product,
              struct cpu_error *error, struct arena *arena, struct error_list *errors)
{
    const struct gpu *gpu = work->gpu;
    const struct gpu_api *api = &gpu->libraries.api;
    struct samples *samples = arena_alloc(arena, 1, sizeof *samples);
    void *memory = NULL;
    choose_places(product, samples);
    if (!gpu_ok(gpu, api->memory_new(&memory, sizeof *samples), "the check", errors))
        return false;
    bool is_done =
        gpu_ok(gpu, api->copy_to_device(memory, samples, sizeof *samples), "copying", errors) &&
        sample(work, product, memory, arena, errors) &&
        gpu_ok(gpu, api->stream_wait(gpu->stream), "the check", errors) &&
        gpu_ok(gpu, api->copy_to_host(samples, memory, sizeof *samples), "copying", errors);
    (void)api->memory_free(memory);
    for (int i = 0; is_done && i < SAMPLES; i++) {
        double reference = samples->pairs[i].reference;
        double difference = samples->pairs[i].result - reference;
        error->difference_squared += difference * difference;
        error->reference_squared += reference * reference;
    }
    return is_done;
}

static bool
check(struct gemm_work *work, double *error_fraction, struct arena *arena,
      struct error_list *errors)
{
    struct cpu_error error = {0};
    if (!enqueue(work, work->operands.sets - 1, errors) ||
        !check_product(work, &work->products[0], &error, arena, errors) ||
        !check_product(work, &work->products[work->product_count - 1], &error, arena, errors))
        return false;
    *error_fraction = cpu_error_fraction(&error);
    return true;
}

/* ---- What is asked for */

static void
plan_gemm(struct gemm_work *work, const struct gemm *gemm, struct arena *arena)
{
    double m = (double)gemm->m, n = (double)gemm->n, k = (double)gemm->k,
           batch = (double)gemm->batch;
    work->layout = gemm->layout;
    work->a_elements = batch * m * k;
    work->b_elements = batch * k * n;
    work->c_elements = batch * m * n;
    work->products = arena_alloc(arena, 1, sizeof *work->products);
    work->product_count = 1;
    work->products[0] =
        (struct product){.m = gemm->m, .n = gemm->n, .k = gemm->k, .batch = gemm->batch};
}

static void
plan_grouped(struct gemm_work *work, const struct grouped_gemm *gemm, struct arena *arena)
{
    double a_bytes = dtype_bytes(work->dtype), n = (double)gemm->n, k = (double)gemm->k;
    double c_bytes = types_of(work->gpu->numbers, work->dtype).result_bytes, row = 0;
    work->layout = GEMM_NN;
    work->products = arena_alloc(arena, (size_t)gemm->experts, sizeof *work->products);
    for (int64_t expert = 0; expert < gemm->experts; expert++) {
        if (gemm->rows[expert] == 0)
            continue;
        work->products[work->product_count++] = (struct product){
            .m = gemm->rows[expert],
            .n = gemm->n,
            .k = gemm->k,
            .batch = 1,
            .a_offset_bytes = (size_t)(row * k * a_bytes),
            .b_offset_bytes = (size_t)((double)expert * k * n * a_bytes),
            .c_offset_bytes = (size_t)(row * n * c_bytes),
        };
        row += (double)gemm->rows[expert];
    }
    work->a_elements = row * k;
    work->b_elements = (double)gemm->experts * k * n;
    work->c_elements = row * n;
}

static bool
new_operands(struct gemm_work *work, struct arena *arena, struct error_list *errors)
{
    struct gpu *gpu = work->gpu;
    struct gpu_operands *operands = &work->operands;
    const float one = 1;
    const struct gpu_values values = {.dtype = work->dtype};
    double bytes = dtype_bytes(work->dtype);
    double result_bytes = types_of(gpu->numbers, work->dtype).result_bytes;
    double set_bytes =
        (work->a_elements + work->b_elements) * bytes + work->c_elements * result_bytes;
    operands->sets = gpu_set_count(gpu, set_bytes);
    return gpu_operand_new(gpu, operands, work->a_elements * bytes, errors) &&
           gpu_operand_new(gpu, operands, work->b_elements * bytes, errors) &&
           gpu_operand_new(gpu, operands, work->c_elements * result_bytes, errors) &&
           gpu_operand_new(gpu, operands, sizeof one, errors) &&
           gpu_ok(gpu,
                  gpu->libraries.api.copy_to_device(operands->memory[OPERAND_ONE], &one,
                                                    sizeof one),
                  "copying", errors) &&
           gpu_fill(gpu, operands, OPERAND_A, values, arena, errors) &&
           gpu_fill(gpu, operands, OPERAND_B, values, arena, errors);
}

/* Results are rounded to their dtype, sums are in fp32, of tf32 products have ten bits: relative
 * errors by their unit roundoff (2^-9 for bf16, 2^-12 for fp16), twice that where they add up. */
static double
error_fraction_max(enum dtype dtype)
{
    switch (dtype) {
    case DTYPE_FP64:
        return 1e-12;
    case DTYPE_FP32:
        return 2e-5;
    case DTYPE_TF32:
    case DTYPE_FP16:
        return 1e-3;
    case DTYPE_FP8: /* sums of 14 bits */
        return 2e-2;
    case DTYPE_BF16:
    case DTYPE_INT8:
    case DTYPE_COUNT:
        break;
    }
    return dtype == DTYPE_INT8 ? 0 : 4e-3;
}

static bool
measure(struct gemm_work *work, struct measure_result *result, struct arena *arena,
        struct error_list *errors)
{
    if (!new_operands(work, arena, errors))
        return false;
    for (int64_t i = 0; i < work->product_count; i++)
        if (!prepare(work, &work->products[i], errors))
            return false;
    if (!check(work, &result->error_fraction, arena, errors))
        return false;
    if (!(result->error_fraction <= error_fraction_max(work->dtype)))
        return error_add(errors, ERROR_INPUT, "", "wrong by %g of the reference, not timed",
                         result->error_fraction);
    result->operand_sets = work->operands.sets;
    struct gpu_work timed = {enqueue, work, work->operands.sets};
    return gpu_times_take(work->gpu, &timed, &result->times, arena, errors);
}

bool
gpu_gemm_measure(struct gpu *gpu, const struct kernel *kernel, struct measure_result *result,
                 struct arena *arena, struct error_list *errors)
{
    bool is_grouped = kernel->kind == KERNEL_GROUPED_GEMM;
    struct gemm_work work = {.gpu = gpu, .dtype = kernel->dtype};
    if (!gpu_open_blas(gpu, errors))
        return false;
    if (is_grouped)
        plan_grouped(&work, &kernel->grouped_gemm, arena);
    else
        plan_gemm(&work, &kernel->gemm, arena);
    if (work.product_count == 0)
        return error_add(errors, ERROR_INPUT, "", "no expert has a row: nothing to run");
    bool is_measured = measure(&work, result, arena, errors);
    free_products(&work);
    gpu_operands_free(gpu, &work.operands);
    result->library = arena_format(arena, "%s %lld, its first choice%s",
                                   gpu_library_name(gpu->libraries.vendor, GPU_BLAS),
                                   (long long)gpu_api_blas_version(&gpu->libraries, gpu->blas),
                                   is_grouped ? ", one product an expert" : "");
    return is_measured;
}
