/* Matrix products through OpenBLAS. */
#include "validate/cpu_run.h"

#include <cblas.h>

/* operands: A (batch, m, k), B (batch, k, n), C (batch, m, n); layout nt stores B as (n, k), tn
 * stores A as (k, m) */
void
cpu_run_gemm(const struct kernel *kernel, const union cpu_array *operands)
{
    const struct gemm *gemm = &kernel->gemm;
    int m = (int)gemm->m, n = (int)gemm->n, k = (int)gemm->k;
    bool is_a_transposed = gemm->layout == GEMM_TN, is_b_transposed = gemm->layout == GEMM_NT;
    for (int64_t i = 0; i < gemm->batch; i++)
        cblas_sgemm(CblasRowMajor, is_a_transposed ? CblasTrans : CblasNoTrans,
                    is_b_transposed ? CblasTrans : CblasNoTrans, m, n, k, 1,
                    operands[0].reals + i * m * k, is_a_transposed ? m : k,
                    operands[1].reals + i * n * k, is_b_transposed ? k : n, 0,
                    operands[2].reals + i * m * n, n);
}

/* operands: A (rows of all experts, k), B (experts, k, n), C (rows of all experts, n) */
void
cpu_run_grouped_gemm(const struct kernel *kernel, const union cpu_array *operands)
{
    const struct grouped_gemm *gemm = &kernel->grouped_gemm;
    int n = (int)gemm->n, k = (int)gemm->k;
    int64_t row = 0;
    for (int64_t expert = 0; expert < gemm->experts; expert++) {
        int64_t rows = gemm->rows[expert];
        if (rows > 0)
            cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)rows, n, k, 1,
                        operands[0].reals + row * k, k, operands[1].reals + expert * k * n, n,
                        0, operands[2].reals + row * n, n);
        row += rows;
    }
}
