/* cblas_sbgemm, looked up at run time: Debian's OpenBLAS 0.3.21 is built without it. */
#include "validate/cpu_bf16.h"

#include <cblas.h>
#include <dlfcn.h>
#include <string.h>

#if defined(__aarch64__)
#include <sys/auxv.h>
#endif

cpu_bf16_product *
cpu_bf16_library(void)
{
    cpu_bf16_product *multiply = NULL;
    void *symbol = dlsym(RTLD_DEFAULT, "cblas_sbgemm");
    /* POSIX lets an object pointer of dlsym stand for a function, ISO C does not. */
    memcpy(&multiply, &symbol, sizeof multiply);
    return multiply;
}

/* For which OpenBLAS has kernels: Cooper Lake's and Sapphire Rapids's, Neoverse N2's and V1's. */
static bool
cpu_has_instruction(void)
{
#if defined(__x86_64__)
    return __builtin_cpu_supports("avx512bf16") != 0;
#elif defined(__aarch64__)
    const unsigned long hwcap2_bf16 = 1UL << 14; /* of Linux's asm/hwcap.h */
    return (getauxval(AT_HWCAP2) & hwcap2_bf16) != 0;
#else
    return false;
#endif
}

bool
cpu_bf16_is_there(struct error_list *errors)
{
    if (!cpu_has_instruction())
        return error_add(errors, ERROR_INPUT, "",
                         "this CPU does not multiply bf16 (x86-64: avx512_bf16): wanted fp32");
    return cpu_bf16_library() != NULL ||
           error_add(errors, ERROR_INPUT, "",
                     "OpenBLAS was built without products of bf16 (cblas_sbgemm): wanted fp32");
}

void
cpu_bf16_multiply(cpu_bf16_product *multiply, const struct gemm *gemm,
                  const union cpu_array *operands)
{
    int m = (int)gemm->m, n = (int)gemm->n, k = (int)gemm->k;
    bool is_a_transposed = gemm->layout == GEMM_TN, is_b_transposed = gemm->layout == GEMM_NT;
    for (int64_t i = 0; i < gemm->batch; i++)
        multiply(CblasRowMajor, is_a_transposed ? CblasTrans : CblasNoTrans,
                 is_b_transposed ? CblasTrans : CblasNoTrans, m, n, k, 1,
                 operands[0].halves + i * gemm->m * gemm->k, is_a_transposed ? m : k,
                 operands[1].halves + i * gemm->n * gemm->k, is_b_transposed ? k : n, 0,
                 operands[2].reals + i * gemm->m * gemm->n, n);
}

/* The symbol is found anew: a fifth of a microsecond, of products that take tens. */
void
cpu_run_gemm_bf16(const struct kernel *kernel, const union cpu_array *operands)
{
    cpu_bf16_multiply(cpu_bf16_library(), &kernel->gemm, operands);
}

uint16_t
cpu_bf16_round(float real)
{
    uint32_t bits;
    memcpy(&bits, &real, sizeof bits);
    bits += 0x7fff + (bits >> 16 & 1);
    return (uint16_t)(bits >> 16);
}

float
cpu_bf16_widen(uint16_t half)
{
    uint32_t bits = (uint32_t)half << 16;
    float real;
    memcpy(&real, &bits, sizeof real);
    return real;
}
