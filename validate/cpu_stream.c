/* Kernels that move bytes and calculate little: fp32, one thread. */
#include "validate/cpu_run.h"

#include <math.h>
#include <string.h>

#include "validate/cpu_experts.h"
#include "validate/cpu_exponential.h"

void
cpu_run_copy_elements(const struct kernel *kernel, const union cpu_array *operands)
{
    memcpy(operands[1].reals, operands[0].reals,
           (size_t)kernel->elementwise.elements * sizeof(float));
}

void
cpu_run_add(const struct kernel *kernel, const union cpu_array *operands)
{
    const float *restrict a = operands[0].reals, *restrict b = operands[1].reals;
    float *restrict sum = operands[2].reals;
    for (int64_t i = 0; i < kernel->elementwise.elements; i++)
        sum[i] = a[i] + b[i];
}

void
cpu_run_gelu(const struct kernel *kernel, const union cpu_array *operands)
{
    const float *restrict x = operands[0].reals;
    float *restrict y = operands[1].reals;
    const float root_half = 0.70710678F;
    for (int64_t i = 0; i < kernel->elementwise.elements; i++)
        y[i] = 0.5F * x[i] * (1 + erff(x[i] * root_half));
}

static float
silu(float x)
{
    return x * cpu_sigmoid(x);
}

/* operands: gate, up, y, and the silu of the gate when it has a launch of its own */
void
cpu_run_silu_mul(const struct kernel *kernel, const union cpu_array *operands)
{
    const float *restrict gate = operands[0].reals, *restrict up = operands[1].reals;
    float *restrict y = operands[2].reals;
    int64_t elements = kernel->elementwise.elements;
    if (kernel->elementwise.launches == 1) {
        for (int64_t i = 0; i < elements; i++)
            y[i] = silu(gate[i]) * up[i];
        return;
    }
    float *restrict between = operands[3].reals;
    for (int64_t i = 0; i < elements; i++)
        between[i] = silu(gate[i]);
    for (int64_t i = 0; i < elements; i++)
        y[i] = between[i] * up[i];
}

void
cpu_run_swiglu_backward(const struct kernel *kernel, const union cpu_array *operands)
{
    cpu_swiglu_backward(1, kernel->elementwise.elements / 2, operands[0].reals,
                        operands[1].reals, operands[2].reals);
}

void
cpu_run_copy(const struct kernel *kernel, const union cpu_array *operands)
{
    memcpy(operands[1].reals, operands[0].reals, (size_t)kernel->copy.bytes);
}

/* operands: table (rows, width), index (rows), y (rows, width) */
void
cpu_run_gather(const struct kernel *kernel, const union cpu_array *operands)
{
    size_t width = (size_t)kernel->rows_by_width.width;
    for (int64_t row = 0; row < kernel->rows_by_width.rows; row++)
        memcpy(operands[2].reals + (size_t)row * width,
               operands[0].reals + (size_t)operands[1].indices[row] * width,
               width * sizeof(float));
}

static void
add_to_row(float *restrict to, const float *restrict from, int64_t width)
{
    for (int64_t i = 0; i < width; i++)
        to[i] += from[i];
}

/* operands: x (rows, width), index (rows), y (rows, width), added to in place */
void
cpu_run_scatter_add(const struct kernel *kernel, const union cpu_array *operands)
{
    int64_t width = kernel->rows_by_width.width;
    for (int64_t row = 0; row < kernel->rows_by_width.rows; row++)
        add_to_row(operands[2].reals + operands[1].indices[row] * width,
                   operands[0].reals + row * width, width);
}

enum { TRANSPOSE_BLOCK = 16 }; /* rows and columns: one cache line of fp32 each way */

static int64_t
smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static void
transpose_block(const struct kernel *kernel, const union cpu_array *operands, int64_t row,
                int64_t column)
{
    int64_t rows = kernel->rows_by_width.rows, width = kernel->rows_by_width.width;
    int64_t row_end = smaller(row + TRANSPOSE_BLOCK, rows);
    int64_t column_end = smaller(column + TRANSPOSE_BLOCK, width);
    for (int64_t j = column; j < column_end; j++)
        for (int64_t i = row; i < row_end; i++)
            operands[1].reals[j * rows + i] = operands[0].reals[i * width + j];
}

/* operands: x (rows, width), y (width, rows) */
void
cpu_run_transpose(const struct kernel *kernel, const union cpu_array *operands)
{
    for (int64_t row = 0; row < kernel->rows_by_width.rows; row += TRANSPOSE_BLOCK)
        for (int64_t column = 0; column < kernel->rows_by_width.width;
             column += TRANSPOSE_BLOCK)
            transpose_block(kernel, operands, row, column);
}

void
cpu_adamw(const struct cpu_adamw *step, const union cpu_array *operands, int64_t parameters)
{
    const float *restrict gradient = operands[0].reals;
    float *restrict parameter = operands[1].reals, *restrict first = operands[2].reals,
                    *restrict second = operands[3].reals;
    const float rate = step->rate, decay = step->decay;
    const float first_scale = 1 / step->first_bias, second_scale = 1 / step->second_bias;
    for (int64_t i = 0; i < parameters; i++) {
        first[i] += (1 - CPU_ADAMW_BETA1) * (gradient[i] - first[i]);
        second[i] += (1 - CPU_ADAMW_BETA2) * (gradient[i] * gradient[i] - second[i]);
        float mean = first[i] * first_scale;
        float deviation = sqrtf(second[i] * second_scale) + CPU_ADAMW_EPSILON;
        parameter[i] -= rate * (mean / deviation + decay * parameter[i]);
    }
}

/* Its first step. */
void
cpu_run_adamw(const struct kernel *kernel, const union cpu_array *operands)
{
    const struct cpu_adamw first = {CPU_ADAMW_RATE, CPU_ADAMW_DECAY, 1 - CPU_ADAMW_BETA1,
                                    1 - CPU_ADAMW_BETA2};
    cpu_adamw(&first, operands, kernel->adamw.parameters);
}
