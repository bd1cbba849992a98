/* fp64 references of kernels made of products. */
#include "validate/cpu_check.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

#include "validate/cpu_run.h"

/* ---- Newton-Schulz */

/* X (m, n), A and B (s, s), the X before (m, n), one behind the other. */
struct reference {
    double *x, *gram, *square, *kept;
};

static void
normalise(const float *in, double *out, int64_t count)
{
    double squares = 0;
    for (int64_t i = 0; i < count; i++)
        squares += (double)in[i] * (double)in[i];
    for (int64_t i = 0; i < count; i++)
        out[i] = (double)in[i] / (sqrt(squares) + (double)CPU_NEWTON_SCHULZ_EPSILON);
}

/* One step, whole products, each written as its formula. */
static void
iterate(const struct newton_schulz *shape, const struct reference *at)
{
    const double a = (double)CPU_NEWTON_SCHULZ_A, b = (double)CPU_NEWTON_SCHULZ_B,
                 c = (double)CPU_NEWTON_SCHULZ_C;
    int m = (int)shape->m, n = (int)shape->n;
    memcpy(at->kept, at->x, (size_t)m * (size_t)n * sizeof *at->x);
    if (m <= n) {
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, m, m, n, 1, at->x, n, at->x, n, 0,
                    at->gram, m);
        memcpy(at->square, at->gram, (size_t)m * (size_t)m * sizeof *at->gram);
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, m, m, c, at->gram, m,
                    at->gram, m, b, at->square, m);
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, m, 1, at->square, m,
                    at->kept, n, a, at->x, n);
    } else {
        cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, n, n, m, 1, at->x, n, at->x, n, 0,
                    at->gram, n);
        memcpy(at->square, at->gram, (size_t)n * (size_t)n * sizeof *at->gram);
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, n, c, at->gram, n,
                    at->gram, n, b, at->square, n);
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, n, 1, at->kept, n,
                    at->square, n, a, at->x, n);
    }
}

void
cpu_check_newton_schulz(const struct kernel *kernel, const union cpu_array *before,
                        const union cpu_array *after, struct cpu_error *error)
{
    const struct newton_schulz *shape = &kernel->newton_schulz;
    int64_t s = shape->m < shape->n ? shape->m : shape->n, elements = shape->m * shape->n;
    double *room = (void *)before[CPU_NEWTON_SCHULZ_ROOM].reals;
    struct reference at = {room, room + elements, room + elements + s * s,
                           room + elements + 2 * s * s};
    normalise(before[0].reals, at.x, elements);
    for (int64_t step = 0; step < shape->steps; step++)
        iterate(shape, &at);
    for (int64_t i = 0; i < elements; i++)
        cpu_error_add(error, (double)after[1].reals[i], at.x[i]);
}

/* ---- Experts */

enum { TOKENS_CHECKED = 32 };

static double
dot(const float *x, const float *weights, int64_t count, int64_t step)
{
    double sum = 0;
    for (int64_t i = 0; i < count; i++)
        sum += (double)x[i] * (double)weights[i * step];
    return sum;
}

/* y += weight x what the expert makes of x. */
static void
add_expert(const struct fused_moe *moe, const union cpu_array *before, int64_t copy, double *y)
{
    int64_t width = moe->width, ffn = moe->expert_ffn, expert = before[1].indices[copy];
    const float *x = before[0].reals + copy / moe->top_k * width;
    const float *up = before[3].reals + expert * width * 2 * ffn;
    const float *down = before[4].reals + expert * ffn * width;
    for (int64_t i = 0; i < ffn; i++) {
        double gate = dot(x, up + i, width, 2 * ffn);
        double made = gate / (1 + exp(-gate)) * dot(x, up + ffn + i, width, 2 * ffn);
        for (int64_t j = 0; j < width; j++)
            y[j] += (double)before[2].reals[copy] * made * (double)down[i * width + j];
    }
}

/* Some tokens, spread evenly. */
void
cpu_check_fused_moe(const struct kernel *kernel, const union cpu_array *before,
                    const union cpu_array *after, struct cpu_error *error)
{
    const struct fused_moe *moe = &kernel->fused_moe;
    double *y = (void *)before[CPU_FUSED_MOE_ROOM].reals;
    int64_t step = 1 + (moe->tokens - 1) / TOKENS_CHECKED;
    for (int64_t token = 0; token < moe->tokens; token += step) {
        memset(y, 0, (size_t)moe->width * sizeof *y);
        for (int64_t i = 0; i < moe->top_k; i++)
            add_expert(moe, before, token * moe->top_k + i, y);
        for (int64_t j = 0; j < moe->width; j++)
            cpu_error_add(error, (double)after[5].reals[token * moe->width + j], y[j]);
    }
}
