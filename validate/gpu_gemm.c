/* Products on a GPU, alone or one for each expert: operands, check, times. */
#include "validate/gpu_gemm.h"

#include <math.h>

#include "validate/gpu_product.h"

enum { OPERAND_A, OPERAND_B, OPERAND_C, OPERAND_ONE };
enum { SAMPLES = 2048, SAMPLE_THREADS = 256 };

/* One call of the library, and where its operands lie. */
struct placed_product {
    struct gpu_product product;
    size_t a_offset_bytes, b_offset_bytes, c_offset_bytes;
};

struct gemm_work {
    struct gpu *gpu;
    enum dtype dtype;
    enum gemm_layout layout;
    struct placed_product *products;
    int64_t product_count;
    struct gpu_operands operands;
    double a_elements, b_elements, c_elements;
};

static void
free_products(const struct gemm_work *work)
{
    for (int64_t i = 0; i < work->product_count; i++)
        gpu_product_free(work->gpu, &work->products[i].product);
}

static bool
enqueue(void *context, int64_t set, struct error_list *errors)
{
    const struct gemm_work *work = context;
    const char *a = gpu_operand(&work->operands, OPERAND_A, set);
    const char *b = gpu_operand(&work->operands, OPERAND_B, set);
    char *c = gpu_operand(&work->operands, OPERAND_C, set);
    for (int64_t i = 0; i < work->product_count; i++) {
        const struct placed_product *placed = &work->products[i];
        const struct gpu_product_operands operands = {
            a + placed->a_offset_bytes, b + placed->b_offset_bytes, c + placed->c_offset_bytes};
        if (!gpu_product_run(work->gpu, &placed->product, &operands, false, errors))
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
sample(const struct gemm_work *work, const struct placed_product *placed, struct samples *there,
       struct arena *arena, struct error_list *errors)
{
    struct gpu *gpu = work->gpu;
    const struct gemm *shape = &placed->product.shape;
    double element_bytes = dtype_bytes(work->dtype);
    int64_t last = shape->batch - 1, set = work->operands.sets - 1;
    size_t a_skip = (size_t)((double)(last * shape->m * shape->k) * element_bytes);
    size_t b_skip = (size_t)((double)(last * shape->k * shape->n) * element_bytes);
    size_t c_skip = (size_t)((double)(last * shape->m * shape->n) *
                             gpu_product_types(gpu->numbers, work->dtype).result_bytes);
    const char *a =
        (char *)gpu_operand(&work->operands, OPERAND_A, set) + placed->a_offset_bytes + a_skip;
    const char *b =
        (char *)gpu_operand(&work->operands, OPERAND_B, set) + placed->b_offset_bytes + b_skip;
    const char *c =
        (char *)gpu_operand(&work->operands, OPERAND_C, set) + placed->c_offset_bytes + c_skip;
    int64_t m = shape->m, n = shape->n, k = shape->k;
    bool is_a_transposed = work->layout == GEMM_TN, is_b_transposed = work->layout == GEMM_NT;
    int64_t a_row = is_a_transposed ? 1 : k, a_depth = is_a_transposed ? m : 1;
    int64_t b_depth = is_b_transposed ? 1 : n, b_column = is_b_transposed ? k : 1;
    void *rows = there->rows, *columns = there->columns, *pairs = there->pairs; /* on the GPU */
    void *arguments[] = {&a, &a_row, &a_depth, &b,    &b_depth, &b_column,
                         &c, &n,     &k,       &rows, &columns, &pairs};
    const struct gpu_shape blocks = {SAMPLES, 1, SAMPLE_THREADS, 1};
    void *function = gpu_function(gpu, work->dtype, "check_product", arena, errors);
    return function != NULL && gpu_launch(gpu, function, blocks, arguments, errors);
}

/* Steps that no tile's size divides. */
static void
choose_places(const struct gemm *shape, struct samples *samples)
{
    for (int64_t i = 0; i < SAMPLES; i++) {
        samples->rows[i] = (int32_t)((i * 7919 + shape->m - 1) % shape->m);
        samples->columns[i] = (int32_t)((i * 104729 + shape->n - 1) % shape->n);
    }
}

static bool
check_product(const struct gemm_work *work, const struct placed_product *placed,
              struct cpu_error *error, struct arena *arena, struct error_list *errors)
{
    const struct gpu *gpu = work->gpu;
    const struct gpu_api *api = &gpu->libraries.api;
    struct samples *samples = arena_alloc(arena, 1, sizeof *samples);
    void *memory = NULL;
    choose_places(&placed->product.shape, samples);
    if (!gpu_ok(gpu, api->memory_new(&memory, sizeof *samples), "the check", errors))
        return false;
    bool is_done =
        gpu_ok(gpu, api->copy_to_device(memory, samples, sizeof *samples), "copying", errors) &&
        sample(work, placed, memory, arena, errors) &&
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
    work->products[0].product = (struct gpu_product){.shape = *gemm, .dtype = work->dtype};
}

static void
plan_grouped(struct gemm_work *work, const struct grouped_gemm *gemm, struct arena *arena)
{
    double a_bytes = dtype_bytes(work->dtype), n = (double)gemm->n, k = (double)gemm->k;
    double c_bytes = gpu_product_types(work->gpu->numbers, work->dtype).result_bytes, row = 0;
    work->layout = GEMM_NN;
    work->products = arena_alloc(arena, (size_t)gemm->experts, sizeof *work->products);
    for (int64_t expert = 0; expert < gemm->experts; expert++) {
        if (gemm->rows[expert] == 0)
            continue;
        work->products[work->product_count++] = (struct placed_product){
            .product = {.shape = {gemm->rows[expert], gemm->n, gemm->k, 1, GEMM_NN},
                        .dtype = work->dtype},
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
    double result_bytes = gpu_product_types(gpu->numbers, work->dtype).result_bytes;
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
    for (int64_t i = 0; i < work->product_count; i++) {
        work->products[i].product.one = work->operands.memory[OPERAND_ONE];
        if (!gpu_product_prepare(work->gpu, &work->products[i].product, errors))
            return false;
    }
    if (!check(work, &result->error_fraction, arena, errors))
        return false;
    if (!(result->error_fraction <= error_fraction_max(work->dtype)))
        return error_add(errors, ERROR_INPUT, "", "wrong by %g of the reference, not timed",
                         result->error_fraction);
    result->operand_sets = work->operands.sets;
    struct gpu_work timed = {.enqueue = enqueue, .context = work, .sets = work->operands.sets};
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
