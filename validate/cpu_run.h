/* The code that is timed: one function a kernel, fp32, one thread, operands as cpu_kernel.c
 * lays them out. */
#ifndef VALIDATE_CPU_RUN_H
#define VALIDATE_CPU_RUN_H

#include "validate/cpu_kernel.h"

void cpu_run_gemm(const struct kernel *kernel, const union cpu_array *operands);
void cpu_run_grouped_gemm(const struct kernel *kernel, const union cpu_array *operands);

/* operands: x, y or a, b, y; silu_mul in two launches has a third, the gated half in between */
void cpu_run_copy_elements(const struct kernel *kernel, const union cpu_array *operands);
void cpu_run_add(const struct kernel *kernel, const union cpu_array *operands);
void cpu_run_gelu(const struct kernel *kernel, const union cpu_array *operands);
void cpu_run_silu_mul(const struct kernel *kernel, const union cpu_array *operands);

void cpu_run_copy(const struct kernel *kernel, const union cpu_array *operands);
void cpu_run_gather(const struct kernel *kernel, const union cpu_array *operands);
void cpu_run_scatter_add(const struct kernel *kernel, const union cpu_array *operands);
void cpu_run_transpose(const struct kernel *kernel, const union cpu_array *operands);
void cpu_run_adamw(const struct kernel *kernel, const union cpu_array *operands);

void cpu_run_rms_norm(const struct kernel *kernel, const union cpu_array *operands);
void cpu_run_rms_norm_backward(const struct kernel *kernel, const union cpu_array *operands);
void cpu_run_softmax(const struct kernel *kernel, const union cpu_array *operands);
void cpu_run_softmax_backward(const struct kernel *kernel, const union cpu_array *operands);
void cpu_run_cross_entropy(const struct kernel *kernel, const union cpu_array *operands);
void cpu_run_cross_entropy_backward(const struct kernel *kernel,
                                    const union cpu_array *operands);
void cpu_run_top_k(const struct kernel *kernel, const union cpu_array *operands);

/* operands: q, k, v, o, scores (block, kv_len); backward q, k, v, do, dq, dk, dv, scores, slopes */
void cpu_run_attention(const struct kernel *kernel, const union cpu_array *operands);
void cpu_run_attention_backward(const struct kernel *kernel, const union cpu_array *operands);

/* operands: x (tokens, channels), w (taps, groups, in, out), y; backward x, w, dy, dx, dw */
void cpu_run_convolution(const struct kernel *kernel, const union cpu_array *operands);
void cpu_run_convolution_backward(const struct kernel *kernel, const union cpu_array *operands);

/* Queries whose scores are made at once. */
enum { CPU_ATTENTION_BLOCK = 64 };

/* Of RMSNorm, of AdamW: any usual values, they do not change the time. */
#define CPU_RMS_NORM_EPSILON 1e-5f
#define CPU_ADAMW_RATE       1e-3f
#define CPU_ADAMW_BETA1      0.9f
#define CPU_ADAMW_BETA2      0.95f
#define CPU_ADAMW_EPSILON    1e-8f
#define CPU_ADAMW_DECAY      0.1f

#endif
