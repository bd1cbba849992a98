/* Products in bf16 where the CPU multiplies it and OpenBLAS was built with it: sums and results are
 * fp32. */
#ifndef VALIDATE_CPU_BF16_H
#define VALIDATE_CPU_BF16_H

#include <stdbool.h>

#include "validate/cpu_kernel.h"

/* OpenBLAS's cblas_sbgemm (its cblas.h, where BUILD_BFLOAT16 was asked for): as cblas_sgemm, with A
 * and B in bf16; the order and the transpositions are CBLAS_ORDER and CBLAS_TRANSPOSE. */
typedef void cpu_bf16_product(int order, int transpose_a, int transpose_b, int m, int n, int k,
                              float alpha, const uint16_t *a, int a_stride, const uint16_t *b,
                              int b_stride, float beta, float *c, int c_stride);

/* As the loaded libraries have it; NULL: they do not. */
cpu_bf16_product *cpu_bf16_library(void);

/* False after adding ERROR_INPUT: the CPU has no such instruction, or OpenBLAS no such function. */
bool cpu_bf16_is_there(struct error_list *errors);

/* Every matrix of the batch by one function; operands: A (batch, m, k), B (batch, k, n) in bf16, C
 * (batch, m, n) in fp32. */
void cpu_bf16_multiply(cpu_bf16_product *multiply, const struct gemm *gemm,
                       const union cpu_array *operands);

/* A kernel's run, by the library's function, which is there. */
void cpu_run_gemm_bf16(const struct kernel *kernel, const union cpu_array *operands);

/* The nearest, of two the even one; and its exact value. Finite numbers. */
uint16_t cpu_bf16_round(float real);
float cpu_bf16_widen(uint16_t half);

#endif
