/* What a mixture of experts does beside its products, forward and backward: fp32, one thread. */
#ifndef VALIDATE_CPU_EXPERTS_H
#define VALIDATE_CPU_EXPERTS_H

#include <stdint.h>

/* y = silu(gate) up, where a row of gate_up is its gates, then its ups: (rows, 2 width). */
void cpu_swiglu(int64_t rows, int64_t width, const float *gate_up, float *y);
void cpu_swiglu_backward(int64_t rows, int64_t width, const float *gate_up,
                         const float *y_gradient, float *gate_up_gradient);

/* Each token goes to `copies` experts; the j-th copy of token t lies at row place[t, j]. */
struct cpu_routes {
    int64_t tokens, copies, width;
    const int32_t *place;
};

/* rows[place[t, j]] = x[t] */
void cpu_permute(const struct cpu_routes *routes, const float *x, float *rows);
/* dx[t] = the sum of drows[place[t, j]] */
void cpu_permute_backward(const struct cpu_routes *routes, const float *rows_gradient,
                          float *x_gradient);
/* y[t] = the sum of weights[t, j] rows[place[t, j]] */
void cpu_combine(const struct cpu_routes *routes, const float *weights, const float *rows,
                 float *y);
/* drows[place[t, j]] = weights[t, j] dy[t]; dweights[t, j] = dy[t] rows[place[t, j]] */
struct cpu_combine_backward {
    const float *weights, *rows, *y_gradient;
    float *rows_gradient, *weights_gradient;
};
void cpu_combine_backward(const struct cpu_routes *routes,
                          const struct cpu_combine_backward *operands);

/* Puts copies in the order of their experts: counts[e] of each, and the place of each copy. */
void cpu_sort_routes(const int32_t *experts, int64_t count, int64_t expert_count,
                     int64_t *counts, int32_t *place);

#endif
