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
/* operands: gates and behind them ups, the gradient of half as many, the gradient of both */
void cpu_run_swiglu_backward(const struct kernel *kernel, const union cpu_array *operands);

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

/* Jordan et al., "Muon", 2024: X by its norm, then X = a X + (b A + c A A) X, A = X X^T; operands:
 * X, result, A, B, X before, room for the check */
void cpu_run_newton_schulz(const struct kernel *kernel, const union cpu_array *operands);
void cpu_run_fused_moe(const struct kernel *kernel, const union cpu_array *operands);

enum { CPU_NEWTON_SCHULZ_ROOM = 5, CPU_FUSED_MOE_ROOM = 12 };

/* ---- The same code with what the steps of a training need beside it */

/* C = A B, or added to what is in C; one of the batch. */
void cpu_gemm(const struct gemm *gemm, const float *a, const float *b, float *c, bool is_added);
/* B (experts, k, n), or of layout nt (experts, n, k). */
void cpu_grouped_gemm(const struct grouped_gemm *gemm, enum gemm_layout layout, const float *a,
                      const float *b, float *c);
/* gradient (experts, k, n) += x^T dy, with x (rows, k), dy (rows, n) of each expert. */
void cpu_grouped_weight_gradient(const struct grouped_gemm *gemm, const float *x,
                                 const float *y_gradient, float *gradient);

/* Reals from a token to the next: queries, keys and values may lie side by side in one row. */
struct cpu_attention_strides {
    int64_t query, key, out;
};
void cpu_attention(const struct attention *shape, const struct cpu_attention_strides *strides,
                   const union cpu_array *operands);
void cpu_attention_backward(const struct attention *shape,
                            const struct cpu_attention_strides *strides,
                            const union cpu_array *operands);

/* dgain added to what is there, and dx where asked for. */
void cpu_rms_norm_backward(const struct rows_by_width *shape, const union cpu_array *operands,
                           bool is_added);
/* The gradient of scale x the sum of losses. */
void cpu_cross_entropy_backward(const struct cross_entropy *shape,
                                const union cpu_array *operands, float scale);

/* One step of AdamW (Loshchilov and Hutter, arXiv 1711.05101, algorithm 2); of the n-th the
 * biases are 1 - beta^n. */
struct cpu_adamw {
    float rate, decay, first_bias, second_bias;
};
/* operands: gradient, parameter, first and second moment, the last three updated in place */
void cpu_adamw(const struct cpu_adamw *step, const union cpu_array *operands,
               int64_t parameters);

/* Queries whose scores are made at once. */
enum { CPU_ATTENTION_BLOCK = 64 };

/* Of RMSNorm, of AdamW: any usual values, they do not change the time. */
#define CPU_RMS_NORM_EPSILON 1e-5f
#define CPU_ADAMW_RATE       1e-3f
#define CPU_ADAMW_BETA1      0.9f
#define CPU_ADAMW_BETA2      0.95f
#define CPU_ADAMW_EPSILON    1e-8f
#define CPU_ADAMW_DECAY      0.1f

/* Of Muon's quintic, from the same page. */
#define CPU_NEWTON_SCHULZ_A       3.4445f
#define CPU_NEWTON_SCHULZ_B       (-4.7750f)
#define CPU_NEWTON_SCHULZ_C       2.0315f
#define CPU_NEWTON_SCHULZ_EPSILON 1e-7f

#endif
