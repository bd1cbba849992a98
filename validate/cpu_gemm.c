/* Matrix products through OpenBLAS. */
#include "validate/cpu_run.h"

#include <cblas.h>

void
cpu_gemm(const struct gemm *gemm, const float *a, const float *b, float *c, bool is_added)
{
    int m = (int)gemm->m, n = (int)gemm->n, k = (int)gemm->k;
    bool is_a_transposed = gemm->layout == GEMM_TN, is_b_transposed = gemm->layout == GEMM_NT;
    cblas_sgemm(CblasRowMajor, is_a_transposed ? CblasTrans : CblasNoTrans,
                is_b_transposed ? CblasTrans : CblasNoTrans, m, n, k, 1, a,
                is_a_transposed ? m : k, b, is_b_transposed ? k : n, is_added ? 1 : 0, c, n);
}

/* operands: A (batch, m, k), B (batch, k, n), C (batch, m, n); layout nt stores B as (n, k), tn
 * stores A as (k, m) */
void
cpu_run_gemm(const struct kernel *kernel, const union cpu_array *operands)
{
    const struct gemm *gemm = &kernel->gemm;
    int64_t m = gemm->m, n = gemm->n, k = gemm->k;
    for (int64_t i = 0; i < gemm->batch; i++)
        cpu_gemm(gemm, operands[0].reals + i * m * k, operands[1].reals + i * n * k,
                 operands[2].reals + i * m * n, false);
}

/* operands: A (rows of all experts, k), B (experts, k, n), C (rows of all experts, n) */
void
cpu_run_grouped_gemm(const struct kernel *kernel, const union cpu_array *operands)
{
    const struct grouped_gemm *gemm = &kernel->grouped_gemm;
    cpu_grouped_gemm(gemm, GEMM_NN, operands[0].reals, operands[1].reals, operands[2].reals);
}

void
cpu_grouped_gemm(const struct grouped_gemm *gemm, enum gemm_layout layout, const float *a,
                 const float *b, float *c)
{
    for (int64_t expert = 0; expert < gemm->experts; expert++) {
        struct gemm one = {gemm->rows[expert], gemm->n, gemm->k, 1, layout};
        if (one.m > 0)
            cpu_gemm(&one, a, b, c, false);
        a += one.m * one.k;
        b += one.k * one.n;
        c += one.m * one.n;
    }
}

void
cpu_grouped_weight_gradient(const struct grouped_gemm *gemm, const float *x,
                            const float *y_gradient, float *gradient)
{
    for (int64_t expert = 0; expert < gemm->experts; expert++) {
        struct gemm one = {gemm->k, gemm->n, gemm->rows[expert], 1, GEMM_TN};
        if (one.k > 0)
            cpu_gemm(&one, x, y_gradient, gradient, true);
        x += one.k * one.m;
        y_gradient += one.k * one.n;
        gradient += one.m * one.n;
    }
}
