/* fp64 references of products and of kernels that move bytes. */
#include "validate/cpu_check.h"

#include <math.h>
#include <string.h>

#include "validate/cpu_bf16.h"
#include "validate/cpu_run.h"

void
cpu_error_add(struct cpu_error *error, double result, double reference)
{
    error->difference_squared += (result - reference) * (result - reference);
    error->reference_squared += reference * reference;
}

static double
gemm_entry(const struct gemm *gemm, const float *a, const float *b, int64_t row, int64_t column)
{
    double sum = 0;
    for (int64_t i = 0; i < gemm->k; i++) {
        double left = a[gemm->layout == GEMM_TN ? i * gemm->m + row : row * gemm->k + i];
        double right = b[gemm->layout == GEMM_NT ? column * gemm->k + i : i * gemm->n + column];
        sum += left * right;
    }
    return sum;
}

enum { GEMM_ENTRIES_CHECKED = 4096 };

/* All entries of a small result; of a larger one some at multiples of the golden ratio, which
 * spread over rows and columns alike. */
static int64_t
checked_entry(int64_t i, int64_t entries)
{
    if (entries <= GEMM_ENTRIES_CHECKED)
        return i;
    return (int64_t)((uint64_t)i * 0x9e3779b97f4a7c15 % (uint64_t)entries);
}

static double
gemm_entry_bf16(const struct gemm *gemm, const uint16_t *a, const uint16_t *b, int64_t row,
                int64_t column)
{
    double sum = 0;
    for (int64_t i = 0; i < gemm->k; i++) {
        uint16_t left = a[gemm->layout == GEMM_TN ? i * gemm->m + row : row * gemm->k + i];
        uint16_t right =
            b[gemm->layout == GEMM_NT ? column * gemm->k + i : i * gemm->n + column];
        sum += (double)cpu_bf16_widen(left) * (double)cpu_bf16_widen(right);
    }
    return sum;
}

void
cpu_check_gemm(const struct kernel *kernel, const union cpu_array *before,
               const union cpu_array *after, struct cpu_error *error)
{
    const struct gemm *gemm = &kernel->gemm;
    int64_t plane = gemm->m * gemm->n, entries = plane * gemm->batch;
    for (int64_t i = 0; i < entries && i < GEMM_ENTRIES_CHECKED; i++) {
        int64_t at = checked_entry(i, entries);
        int64_t matrix = at / plane, row = at % plane / gemm->n, column = at % gemm->n;
        int64_t a = matrix * gemm->m * gemm->k, b = matrix * gemm->n * gemm->k;
        double reference =
            kernel->dtype == DTYPE_BF16
                ? gemm_entry_bf16(gemm, before[0].halves + a, before[1].halves + b, row, column)
                : gemm_entry(gemm, before[0].reals + a, before[1].reals + b, row, column);
        cpu_error_add(error, (double)after[2].reals[at], reference);
    }
}

static int64_t
all_rows(const struct grouped_gemm *gemm)
{
    int64_t rows = 0;
    for (int64_t expert = 0; expert < gemm->experts; expert++)
        rows += gemm->rows[expert];
    return rows;
}

/* The expert whose rows the row is among. */
static int64_t
expert_of(const struct grouped_gemm *gemm, int64_t row)
{
    int64_t expert = 0;
    for (; row >= gemm->rows[expert]; expert++)
        row -= gemm->rows[expert];
    return expert;
}

void
cpu_check_grouped_gemm(const struct kernel *kernel, const union cpu_array *before,
                       const union cpu_array *after, struct cpu_error *error)
{
    const struct grouped_gemm *grouped = &kernel->grouped_gemm;
    const struct gemm gemm = {.n = grouped->n, .k = grouped->k, .layout = GEMM_NN};
    int64_t entries = all_rows(grouped) * grouped->n;
    for (int64_t i = 0; i < entries && i < GEMM_ENTRIES_CHECKED; i++) {
        int64_t at = checked_entry(i, entries);
        const float *b =
            before[1].reals + expert_of(grouped, at / grouped->n) * grouped->k * grouped->n;
        cpu_error_add(error, (double)after[2].reals[at],
                      gemm_entry(&gemm, before[0].reals, b, at / gemm.n, at % gemm.n));
    }
}

static double
silu(double x)
{
    return x / (1 + exp(-x));
}

/* With s = sigmoid(gate): d silu(gate) / dgate = s + gate s (1 - s). */
static double
swiglu_gradient(const struct elementwise *elementwise, const union cpu_array *operands,
                int64_t i)
{
    int64_t width = elementwise->elements / 2;
    double gate = operands[0].reals[i % width], up = operands[0].reals[width + i % width];
    double sigmoid = 1 / (1 + exp(-gate)), slope = operands[1].reals[i % width];
    if (i >= width)
        return slope * silu(gate);
    return slope * up * (sigmoid + gate * sigmoid * (1 - sigmoid));
}

static double
elementwise_value(const struct elementwise *elementwise, const union cpu_array *operands,
                  int64_t i)
{
    const char *op = elementwise->op;
    if (strcmp(op, "swiglu") == 0 && elementwise->read_bytes < 2 * elementwise->write_bytes)
        return swiglu_gradient(elementwise, operands, i);
    double first = operands[0].reals[i];
    if (strcmp(op, "copy") == 0)
        return first;
    if (strcmp(op, "gelu") == 0)
        return 0.5 * first * (1 + erf(first / sqrt(2)));
    double second = operands[1].reals[i];
    return strcmp(op, "add") == 0 ? first + second : silu(first) * second;
}

void
cpu_check_elementwise(const struct kernel *kernel, const union cpu_array *before,
                      const union cpu_array *after, struct cpu_error *error)
{
    const char *op = kernel->elementwise.op;
    int result = strcmp(op, "copy") == 0 || strcmp(op, "gelu") == 0 ? 1 : 2;
    for (int64_t i = 0; i < kernel->elementwise.elements; i++)
        cpu_error_add(error, (double)after[result].reals[i],
                      elementwise_value(&kernel->elementwise, before, i));
}

void
cpu_check_copy(const struct kernel *kernel, const union cpu_array *before,
               const union cpu_array *after, struct cpu_error *error)
{
    int64_t elements = (int64_t)(kernel->copy.bytes / sizeof(float));
    for (int64_t i = 0; i < elements; i++)
        cpu_error_add(error, (double)after[1].reals[i], (double)before[0].reals[i]);
}

void
cpu_check_gather(const struct kernel *kernel, const union cpu_array *before,
                 const union cpu_array *after, struct cpu_error *error)
{
    int64_t width = kernel->rows_by_width.width;
    for (int64_t at = 0; at < kernel->rows_by_width.rows * width; at++) {
        int64_t from = before[1].indices[at / width] * width + at % width;
        cpu_error_add(error, (double)after[2].reals[at], (double)before[0].reals[from]);
    }
}

/* Every row that was added to: what it was and what came. Indices are a permutation, so that
 * each row gets one other. */
void
cpu_check_scatter_add(const struct kernel *kernel, const union cpu_array *before,
                      const union cpu_array *after, struct cpu_error *error)
{
    int64_t width = kernel->rows_by_width.width;
    for (int64_t at = 0; at < kernel->rows_by_width.rows * width; at++) {
        int64_t to = before[1].indices[at / width] * width + at % width;
        cpu_error_add(error, (double)after[2].reals[to],
                      (double)before[2].reals[to] + (double)before[0].reals[at]);
    }
}

void
cpu_check_transpose(const struct kernel *kernel, const union cpu_array *before,
                    const union cpu_array *after, struct cpu_error *error)
{
    int64_t rows = kernel->rows_by_width.rows, width = kernel->rows_by_width.width;
    for (int64_t at = 0; at < rows * width; at++)
        cpu_error_add(error, (double)after[1].reals[at % width * rows + at / width],
                      (double)before[0].reals[at]);
}

/* The changes, not the values: a parameter that stood still would be nearly right. */
void
cpu_check_adamw(const struct kernel *kernel, const union cpu_array *before,
                const union cpu_array *after, struct cpu_error *error)
{
    const double beta1 = (double)CPU_ADAMW_BETA1, beta2 = (double)CPU_ADAMW_BETA2;
    for (int64_t i = 0; i < kernel->adamw.parameters; i++) {
        double gradient = before[0].reals[i], parameter = before[1].reals[i];
        double first = beta1 * (double)before[2].reals[i] + (1 - beta1) * gradient;
        double second = beta2 * (double)before[3].reals[i] + (1 - beta2) * gradient * gradient;
        double direction =
            first / (1 - beta1) / (sqrt(second / (1 - beta2)) + (double)CPU_ADAMW_EPSILON);
        double wanted = parameter - (double)CPU_ADAMW_RATE *
                                        (direction + (double)CPU_ADAMW_DECAY * parameter);
        cpu_error_add(error, (double)after[1].reals[i], wanted);
        cpu_error_add(error, (double)after[2].reals[i], first);
        cpu_error_add(error, (double)after[3].reals[i], second);
    }
}
