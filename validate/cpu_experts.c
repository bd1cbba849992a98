/* What a mixture of experts does beside its products: plain loops that a compiler can widen. */
#include "validate/cpu_experts.h"

#include <string.h>

#include "validate/cpu_exponential.h"

enum { LANES = 16 };

static void
swiglu_row(const float *restrict gate, const float *restrict up, float *restrict y,
           int64_t width)
{
    for (int64_t i = 0; i < width; i++)
        y[i] = cpu_sigmoid(gate[i]) * gate[i] * up[i];
}

void
cpu_swiglu(int64_t rows, int64_t width, const float *gate_up, float *y)
{
    for (int64_t row = 0; row < rows; row++) {
        const float *gate = gate_up + row * 2 * width;
        swiglu_row(gate, gate + width, y + row * width, width);
    }
}

/* With s = sigmoid(g): d silu(g) / dg = s (1 + g (1 - s)). */
static void
swiglu_row_backward(const float *restrict gate_up, const float *restrict y_gradient,
                    float *restrict gradient, int64_t width)
{
    for (int64_t i = 0; i < width; i++) {
        float gate = gate_up[i], up = gate_up[width + i];
        float sigmoid = cpu_sigmoid(gate);
        gradient[i] = y_gradient[i] * up * sigmoid * (1 + gate * (1 - sigmoid));
        gradient[width + i] = y_gradient[i] * gate * sigmoid;
    }
}

void
cpu_swiglu_backward(int64_t rows, int64_t width, const float *gate_up, const float *y_gradient,
                    float *gate_up_gradient)
{
    for (int64_t row = 0; row < rows; row++)
        swiglu_row_backward(gate_up + row * 2 * width, y_gradient + row * width,
                            gate_up_gradient + row * 2 * width, width);
}

static const float *
row_of(const struct cpu_routes *routes, const float *rows, int64_t token, int64_t copy)
{
    return rows + routes->place[token * routes->copies + copy] * routes->width;
}

void
cpu_permute(const struct cpu_routes *routes, const float *x, float *rows)
{
    for (int64_t token = 0; token < routes->tokens; token++)
        for (int64_t copy = 0; copy < routes->copies; copy++)
            memcpy(rows + routes->place[token * routes->copies + copy] * routes->width,
                   x + token * routes->width, (size_t)routes->width * sizeof *x);
}

/* sum = weight x, or added to what is there */
static void
weigh_row(const float *restrict x, float weight, float *restrict sum, int64_t width)
{
    for (int64_t i = 0; i < width; i++)
        sum[i] = weight * x[i];
}

static void
add_weighed_row(const float *restrict x, float weight, float *restrict sum, int64_t width)
{
    for (int64_t i = 0; i < width; i++)
        sum[i] += weight * x[i];
}

void
cpu_permute_backward(const struct cpu_routes *routes, const float *rows_gradient,
                     float *x_gradient)
{
    int64_t width = routes->width;
    for (int64_t token = 0; token < routes->tokens; token++) {
        float *sum = x_gradient + token * width;
        weigh_row(row_of(routes, rows_gradient, token, 0), 1, sum, width);
        for (int64_t copy = 1; copy < routes->copies; copy++)
            add_weighed_row(row_of(routes, rows_gradient, token, copy), 1, sum, width);
    }
}

void
cpu_combine(const struct cpu_routes *routes, const float *weights, const float *rows, float *y)
{
    int64_t width = routes->width;
    for (int64_t token = 0; token < routes->tokens; token++) {
        const float *weight = weights + token * routes->copies;
        float *sum = y + token * width;
        weigh_row(row_of(routes, rows, token, 0), weight[0], sum, width);
        for (int64_t copy = 1; copy < routes->copies; copy++)
            add_weighed_row(row_of(routes, rows, token, copy), weight[copy], sum, width);
    }
}

/* drow = weight dy; the product of row and dy comes back. */
static float
combine_row_backward(const float *restrict row, const float *restrict y_gradient, float weight,
                     float *restrict row_gradient, int64_t width)
{
    float lanes[LANES] = {0}, sum = 0;
    int64_t i = 0;
    for (; i + LANES <= width; i += LANES)
        for (int lane = 0; lane < LANES; lane++) {
            lanes[lane] += row[i + lane] * y_gradient[i + lane];
            row_gradient[i + lane] = weight * y_gradient[i + lane];
        }
    for (; i < width; i++) {
        sum += row[i] * y_gradient[i];
        row_gradient[i] = weight * y_gradient[i];
    }
    for (int lane = 0; lane < LANES; lane++)
        sum += lanes[lane];
    return sum;
}

void
cpu_combine_backward(const struct cpu_routes *routes,
                     const struct cpu_combine_backward *operands)
{
    int64_t width = routes->width;
    for (int64_t i = 0; i < routes->tokens * routes->copies; i++) {
        int64_t at = routes->place[i] * width;
        operands->weights_gradient[i] = combine_row_backward(
            operands->rows + at, operands->y_gradient + i / routes->copies * width,
            operands->weights[i], operands->rows_gradient + at, width);
    }
}

void
cpu_sort_routes(const int32_t *experts, int64_t count, int64_t expert_count, int64_t *counts,
                int32_t *place)
{
    int64_t begin = 0;
    memset(counts, 0, (size_t)expert_count * sizeof *counts);
    for (int64_t i = 0; i < count; i++)
        counts[experts[i]]++;
    for (int64_t expert = 0; expert < expert_count; expert++) {
        int64_t own = counts[expert];
        counts[expert] = begin;
        begin += own;
    }
    for (int64_t i = 0; i < count; i++)
        place[i] = (int32_t)counts[experts[i]]++;
    for (int64_t expert = expert_count - 1; expert > 0; expert--)
        counts[expert] -= counts[expert - 1];
}
