/* Plain fp64 calculations that the timed code is checked against, one a kernel. Written
 * straight from the definitions, without any of the timed code. */
#ifndef VALIDATE_CPU_CHECK_H
#define VALIDATE_CPU_CHECK_H

#include "validate/cpu_kernel.h"

/* Of a large product, entries spread over the whole result; everything of the others. */
void cpu_check_gemm(const struct kernel *kernel, const union cpu_array *before,
                    const union cpu_array *after, struct cpu_error *error);
void cpu_check_grouped_gemm(const struct kernel *kernel, const union cpu_array *before,
                            const union cpu_array *after, struct cpu_error *error);

void cpu_check_elementwise(const struct kernel *kernel, const union cpu_array *before,
                           const union cpu_array *after, struct cpu_error *error);
void cpu_check_copy(const struct kernel *kernel, const union cpu_array *before,
                    const union cpu_array *after, struct cpu_error *error);
void cpu_check_gather(const struct kernel *kernel, const union cpu_array *before,
                      const union cpu_array *after, struct cpu_error *error);
void cpu_check_scatter_add(const struct kernel *kernel, const union cpu_array *before,
                           const union cpu_array *after, struct cpu_error *error);
void cpu_check_transpose(const struct kernel *kernel, const union cpu_array *before,
                         const union cpu_array *after, struct cpu_error *error);
void cpu_check_adamw(const struct kernel *kernel, const union cpu_array *before,
                     const union cpu_array *after, struct cpu_error *error);
void cpu_check_rms_norm(const struct kernel *kernel, const union cpu_array *before,
                        const union cpu_array *after, struct cpu_error *error);
void cpu_check_softmax(const struct kernel *kernel, const union cpu_array *before,
                       const union cpu_array *after, struct cpu_error *error);
void cpu_check_cross_entropy(const struct kernel *kernel, const union cpu_array *before,
                             const union cpu_array *after, struct cpu_error *error);
/* The k largest scores in descending order, and that each expert named has its score. */
void cpu_check_top_k(const struct kernel *kernel, const union cpu_array *before,
                     const union cpu_array *after, struct cpu_error *error);

/* Forward each row of the result; backward each row of dq, and dk and dv of each head. */
void cpu_check_attention(const struct kernel *kernel, const union cpu_array *before,
                         const union cpu_array *after, struct cpu_error *error);

void cpu_check_convolution(const struct kernel *kernel, const union cpu_array *before,
                           const union cpu_array *after, struct cpu_error *error);

/* The same products in fp64, by OpenBLAS as well: what it is held to is its precision. */
void cpu_check_newton_schulz(const struct kernel *kernel, const union cpu_array *before,
                             const union cpu_array *after, struct cpu_error *error);
void cpu_check_fused_moe(const struct kernel *kernel, const union cpu_array *before,
                         const union cpu_array *after, struct cpu_error *error);

/* For the checks. */
void cpu_error_add(struct cpu_error *error, double result, double reference);

#endif
