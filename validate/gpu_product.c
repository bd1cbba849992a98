/* C[m,n] = A[m,k] B[k,n], rows one after another, for libraries that think in columns.
 *
 * Row by row, C is the column by column C^T = B^T A^T: the library's first matrix is our B, its
 * second our A. What lies as (k, n) row by row is (n, k) column by column, which is B^T as it is;
 * layout nt stores B as (n, k), which the library then has to transpose. */
#include "validate/gpu_product.h"

#include <string.h>

struct gpu_product_types
gpu_product_types(const struct gpu_numbers *numbers, enum dtype dtype)
{
    const int fp32 = numbers->type_fp32, compute = numbers->compute_fp32;
    switch (dtype) {
    case DTYPE_FP64:
        return (struct gpu_product_types){numbers->type_fp64, numbers->type_fp64,
                                          numbers->compute_fp64, numbers->type_fp64, 8};
    case DTYPE_TF32:
        return (struct gpu_product_types){fp32, fp32, numbers->compute_tf32, fp32, 4};
    case DTYPE_BF16:
        return (struct gpu_product_types){numbers->type_bf16, numbers->type_bf16, compute, fp32,
                                          2};
    case DTYPE_FP16:
        return (struct gpu_product_types){numbers->type_fp16, numbers->type_fp16, compute, fp32,
                                          2};
    case DTYPE_FP8:
        return (struct gpu_product_types){numbers->type_fp8, numbers->type_bf16, compute, fp32,
                                          2};
    case DTYPE_INT8:
        return (struct gpu_product_types){numbers->type_int8, numbers->type_int32,
                                          numbers->compute_int32, numbers->type_int32, 4};
    case DTYPE_FP32:
    case DTYPE_COUNT:
        break;
    }
    return (struct gpu_product_types){fp32, fp32, compute, fp32, 4};
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
new_matrix(const struct gpu *gpu, void **matrix, int type, int64_t rows, int64_t columns)
{
    return gpu->libraries.api.matrix_new(matrix, type, (uint64_t)rows, (uint64_t)columns,
                                         rows) == 0;
}

static bool
set_batch(const struct gpu *gpu, void *matrix, int64_t batch, int64_t stride)
{
    const struct gpu_api *api = &gpu->libraries.api;
    const struct gpu_numbers *numbers = gpu->numbers;
    int32_t count = (int32_t)batch;
    return api->matrix_set(matrix, numbers->matrix_batch, &count, sizeof count) == 0 &&
           api->matrix_set(matrix, numbers->matrix_batch_stride, &stride, sizeof stride) == 0;
}

static bool
describe_matrices(const struct gpu *gpu, struct gpu_product *product)
{
    struct gpu_product_types types = gpu_product_types(gpu->numbers, product->dtype);
    int64_t m = product->shape.m, n = product->shape.n, k = product->shape.k;
    bool is_a_transposed = product->shape.layout == GEMM_TN,
         is_b_transposed = product->shape.layout == GEMM_NT;
    if (!new_matrix(gpu, &product->first, types.operand, is_b_transposed ? k : n,
                    is_b_transposed ? n : k) ||
        !new_matrix(gpu, &product->second, types.operand, is_a_transposed ? m : k,
                    is_a_transposed ? k : m) ||
        !new_matrix(gpu, &product->third, types.result, n, m))
        return false;
    return product->shape.batch == 1 ||
           (set_batch(gpu, product->first, product->shape.batch, k * n) &&
            set_batch(gpu, product->second, product->shape.batch, m * k) &&
            set_batch(gpu, product->third, product->shape.batch, m * n));
}

/* 8-bit operands come with scales, here 1, and sums that are fast rather than exact, as PyTorch
 * asks for. */
static bool
describe_scales(const struct gpu *gpu, const struct gpu_product *product)
{
    const struct gpu_api *api = &gpu->libraries.api;
    const struct gpu_numbers *numbers = gpu->numbers;
    void *description = product->description;
    const void *one = product->one;
    int8_t is_fast = 1;
    return api->product_set(description, numbers->product_scale_a, &one, sizeof one) == 0 &&
           api->product_set(description, numbers->product_scale_b, &one, sizeof one) == 0 &&
           (numbers->product_fast_sum < 0 ||
            api->product_set(description, numbers->product_fast_sum, &is_fast,
                             sizeof is_fast) == 0);
}

static bool
describe_product(const struct gpu *gpu, struct gpu_product *product)
{
    const struct gpu_api *api = &gpu->libraries.api;
    const struct gpu_numbers *numbers = gpu->numbers;
    struct gpu_product_types types = gpu_product_types(numbers, product->dtype);
    int32_t of_first = product->shape.layout == GEMM_NT ? numbers->operation_transposed
                                                        : numbers->operation_plain;
    int32_t of_second = product->shape.layout == GEMM_TN ? numbers->operation_transposed
                                                         : numbers->operation_plain;
    void **description = &product->description;
    return api->product_new(description, types.compute, types.scalar) == 0 &&
           api->product_set(*description, numbers->product_transpose_a, &of_first,
                            sizeof of_first) == 0 &&
           api->product_set(*description, numbers->product_transpose_b, &of_second,
                            sizeof of_second) == 0 &&
           (product->dtype != DTYPE_FP8 || describe_scales(gpu, product));
}

/* The library's own first choice. */
static bool
choose(const struct gpu *gpu, struct gpu_product *product, struct error_list *errors)
{
    const uint64_t workspace_bytes = 33554432; /* gpu.c's WORKSPACE_BYTES */
    const struct gpu_api *api = &gpu->libraries.api;
    const struct gpu_numbers *numbers = gpu->numbers;
    void *preference = NULL;
    int found = 0;
    if (!blas_ok(gpu, api->preference_new(&preference), "a preference", errors))
        return false;
    int status = api->preference_set(preference, numbers->preference_workspace_bytes,
                                     &workspace_bytes, sizeof workspace_bytes);
    if (status == 0)
        status =
            api->choose(gpu->blas, product->description, product->first, product->second,
                        product->third, product->third, preference, 1, product->choice, &found);
    (void)api->preference_free(preference);
    memcpy(&product->workspace_bytes, product->choice + numbers->choice_workspace_offset,
           sizeof product->workspace_bytes);
    if (status == 0 && found == 0)
        return error_add(errors, ERROR_INPUT, "", "%s has no algorithm for this product",
                         gpu_library_name(gpu->libraries.vendor, GPU_BLAS));
    return blas_ok(gpu, status, "choosing an algorithm", errors);
}

bool
gpu_product_prepare(const struct gpu *gpu, struct gpu_product *product,
                    struct error_list *errors)
{
    return ((describe_product(gpu, product) && describe_matrices(gpu, product)) ||
            blas_ok(gpu, -1, "describing a product", errors)) &&
           choose(gpu, product, errors);
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

bool
gpu_product_run(const struct gpu *gpu, const struct gpu_product *product,
                const struct gpu_product_operands *operands, bool is_added,
                struct error_list *errors)
{
    union scalar one = scalar_of(product->dtype, 1);
    union scalar kept = scalar_of(product->dtype, is_added);
    int status = gpu->libraries.api.multiply(
        gpu->blas, product->description, &one, operands->b, product->first, operands->a,
        product->second, &kept, operands->c, product->third, operands->c, product->third,
        product->choice, gpu->workspace, product->workspace_bytes, gpu->stream);
    return blas_ok(gpu, status, "multiplying", errors);
}

void
gpu_product_free(const struct gpu *gpu, const struct gpu_product *product)
{
    const struct gpu_api *api = &gpu->libraries.api;
    void *matrices[] = {product->first, product->second, product->third};
    for (int matrix = 0; matrix < 3; matrix++)
        if (matrices[matrix] != NULL)
            (void)api->matrix_free(matrices[matrix]);
    if (product->description != NULL)
        (void)api->product_free(product->description);
}
