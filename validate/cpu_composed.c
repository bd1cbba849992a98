/* Kernels made of products: Muon's orthogonalisation, and a layer of experts in one call. */
#include "validate/cpu_run.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

#include "validate/cpu_experts.h"

/* ---- Newton-Schulz: X of m x n, s the shorter side; A = X X^T or X^T X, whichever is s x s */

struct iteration {
    int m, n, s;
    bool is_wide; /* m <= n */
    bool is_symmetric;
    float *x, *gram, *square, *kept; /* (m, n), (s, s), (s, s), (m, n) */
};

/* Divided by its norm, of which no singular value is then above 1. */
static void
normalise(const float *in, float *out, int64_t count)
{
    double squares = 0;
    for (int64_t i = 0; i < count; i++)
        squares += (double)in[i] * (double)in[i];
    float scale = (float)(1 / (sqrt(squares) + (double)CPU_NEWTON_SCHULZ_EPSILON));
    for (int64_t i = 0; i < count; i++)
        out[i] = in[i] * scale;
}

/* A: its upper triangle alone where that is enough. */
static void
make_gram(const struct iteration *at)
{
    int s = at->s, l = at->is_wide ? at->n : at->m;
    if (at->is_symmetric)
        cblas_ssyrk(CblasRowMajor, CblasUpper, at->is_wide ? CblasNoTrans : CblasTrans, s, l, 1,
                    at->x, at->n, 0, at->gram, s);
    else
        cblas_sgemm(CblasRowMajor, at->is_wide ? CblasNoTrans : CblasTrans,
                    at->is_wide ? CblasTrans : CblasNoTrans, s, s, l, 1, at->x, at->n, at->x,
                    at->n, 0, at->gram, s);
}

/* The lower triangle from the upper. */
static void
mirror(float *matrix, int s)
{
    for (int64_t row = 1; row < s; row++)
        for (int64_t column = 0; column < row; column++)
            matrix[row * s + column] = matrix[column * s + row];
}

/* B = b A + c A A, A being symmetric: A A = A A^T. */
static void
make_square(const struct iteration *at)
{
    int s = at->s;
    if (at->is_symmetric)
        mirror(at->gram, s);
    memcpy(at->square, at->gram, (size_t)s * (size_t)s * sizeof *at->square);
    if (at->is_symmetric)
        cblas_ssyrk(CblasRowMajor, CblasUpper, CblasNoTrans, s, s, CPU_NEWTON_SCHULZ_C,
                    at->gram, s, CPU_NEWTON_SCHULZ_B, at->square, s);
    else
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, s, s, s, CPU_NEWTON_SCHULZ_C,
                    at->gram, s, at->gram, s, CPU_NEWTON_SCHULZ_B, at->square, s);
    if (at->is_symmetric)
        mirror(at->square, s);
}

/* X = a X + B X, or a X + X B */
static void
update(const struct iteration *at)
{
    int m = at->m, n = at->n, s = at->s;
    memcpy(at->kept, at->x, (size_t)m * (size_t)n * sizeof *at->x);
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, s, 1,
                at->is_wide ? at->square : at->kept, at->is_wide ? s : n,
                at->is_wide ? at->kept : at->square, at->is_wide ? n : s, CPU_NEWTON_SCHULZ_A,
                at->x, n);
}

/* operands: X (m, n), the result (m, n), A (s, s), B (s, s), X of the step before (m, n) */
void
cpu_run_newton_schulz(const struct kernel *kernel, const union cpu_array *operands)
{
    const struct newton_schulz *shape = &kernel->newton_schulz;
    int64_t s = shape->m < shape->n ? shape->m : shape->n;
    struct iteration at = {.m = (int)shape->m,
                           .n = (int)shape->n,
                           .s = (int)s,
                           .is_wide = shape->m <= shape->n,
                           .is_symmetric = shape->is_symmetric,
                           .x = operands[1].reals,
                           .gram = operands[2].reals,
                           .square = operands[3].reals,
                           .kept = operands[4].reals};
    normalise(operands[0].reals, at.x, shape->m * shape->n);
    for (int64_t step = 0; step < shape->steps; step++) {
        make_gram(&at);
        make_square(&at);
        update(&at);
    }
}

/* ---- Experts */

/* operands: x (tokens, width), expert and weight of each copy (tokens, top_k), gate and up weights
 * (experts, width, 2 ffn), down weights (experts, ffn, width), y (tokens, width); in between the
 * copies' rows (tokens top_k, width), twice, gates and ups (.., 2 ffn), what they make (.., ffn),
 * the place of each copy, and the rows of each expert as 64-bit numbers */
void
cpu_run_fused_moe(const struct kernel *kernel, const union cpu_array *operands)
{
    const struct fused_moe *moe = &kernel->fused_moe;
    int64_t copies = moe->tokens * moe->top_k, width = moe->width, ffn = moe->expert_ffn;
    float *rows = operands[6].reals, *out = operands[7].reals, *gate_up = operands[8].reals,
          *made = operands[9].reals;
    int32_t *place = operands[10].indices;
    int64_t *counts = (void *)operands[11].reals;
    cpu_sort_routes(operands[1].indices, copies, moe->experts, counts, place);
    const struct cpu_routes routes = {moe->tokens, moe->top_k, width, place};
    const struct grouped_gemm up = {counts, moe->experts, 2 * ffn, width};
    const struct grouped_gemm down = {counts, moe->experts, width, ffn};
    cpu_permute(&routes, operands[0].reals, rows);
    cpu_grouped_gemm(&up, GEMM_NN, rows, operands[3].reals, gate_up);
    cpu_swiglu(copies, ffn, gate_up, made);
    cpu_grouped_gemm(&down, GEMM_NN, made, operands[4].reals, out);
    cpu_combine(&routes, operands[2].reals, out, operands[5].reals);
}
