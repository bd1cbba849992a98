/* Names and arithmetic of the vocabulary of work; reading it is kernel_read.c. */
#include "hw/kernel.h"

#include <assert.h>
#include <stddef.h>

const char *const dtype_names[DTYPE_COUNT + 1] = {"fp64", "fp32", "tf32", "bf16",
                                                  "fp16", "fp8",  "int8", NULL};

const char *
dtype_name(enum dtype dtype)
{
    assert(dtype < DTYPE_COUNT);
    return dtype_names[dtype];
}

double
dtype_bytes(enum dtype dtype)
{
    static const double bytes[DTYPE_COUNT] = {8, 4, 4, 2, 2, 1, 1};
    assert(dtype < DTYPE_COUNT);
    return bytes[dtype];
}

const char *
kernel_kind_name(enum kernel_kind kind)
{
    static const char *const names[KERNEL_KIND_COUNT] = {
        "gemm",        "grouped_gemm", "fused_moe",     "attention",
        "elementwise", "rms_norm",     "softmax",       "gather",
        "scatter_add", "transpose",    "top_k",         "cross_entropy",
        "convolution", "adamw",        "newton_schulz", "copy"};
    assert(kind < KERNEL_KIND_COUNT);
    return names[kind];
}

/* 2 m n k: a multiply and an add for each of the k terms of each of the m n results. */
static double
gemm_flop(const struct gemm *gemm)
{
    return 2.0 * (double)gemm->m * (double)gemm->n * (double)gemm->k * (double)gemm->batch;
}

static double
grouped_gemm_flop(const struct grouped_gemm *grouped)
{
    double rows = 0;
    for (int64_t i = 0; i < grouped->experts; i++)
        rows += (double)grouped->rows[i];
    return 2.0 * rows * (double)grouped->n * (double)grouped->k;
}

/* Gate, up and down are three products of tokens * top_k rows; SwiGLU itself is not counted. */
static double
fused_moe_flop(const struct fused_moe *moe)
{
    return 6.0 * (double)moe->tokens * (double)moe->top_k * (double)moe->width *
           (double)moe->expert_ffn;
}

/* Pairs of a query and a key that it sees. Causal: the last query sees every key, each query
 * before it one key fewer; queries that would see none count nothing. A window ends that
 * growth. */
static double
attention_pairs(const struct attention *attention)
{
    double q = (double)attention->q_len, kv = (double)attention->kv_len;
    if (!attention->is_causal)
        return q * kv;
    double seeing = q < kv ? q : kv, first = kv - seeing + 1; /* keys that the first one sees */
    double window = attention->window > 0 ? (double)attention->window : kv;
    double most = window < kv ? window : kv;
    if (most <= first)
        return seeing * most;
    double growing = most - first; /* queries that see fewer than the most */
    return growing * (first + most - 1) / 2 + (seeing - growing) * most;
}

/* Q K^T and P V forward; backward recomputes Q K^T and forms dP, dV, dQ, dK (Dao,
 * arXiv:2307.08691, algorithm 2): five products for two. A product is 2 head_dim flop a
 * pair. */
static double
attention_flop(const struct attention *attention, enum direction direction)
{
    double products = direction == DIRECTION_FORWARD ? 2 : 5;
    return products * 2.0 * (double)attention->head_dim * attention_pairs(attention) *
           (double)attention->q_heads * (double)attention->batch;
}

/* Each of the tokens * channels outputs sums taps * channels / groups terms; backward forms the
 * input's and the weight's gradient, as many flop each. */
static double
convolution_flop(const struct convolution *convolution, enum direction direction)
{
    double forward = 2.0 * (double)convolution->tokens * (double)convolution->channels *
                     (double)convolution->taps *
                     ((double)convolution->channels / (double)convolution->groups);
    return direction == DIRECTION_FORWARD ? forward : 2 * forward;
}

/* Jordan et al., "Muon" (2024): with s the shorter and l the longer side, a step forms
 * A = X X^T (2 s^2 l), A A (2 s^3) and B X (2 s^2 l); X X^T and A A are symmetric, so half of
 * each is enough: 3 s^2 l + s^3. */
static double
newton_schulz_flop(const struct newton_schulz *ns)
{
    double s = (double)(ns->m < ns->n ? ns->m : ns->n),
           l = (double)(ns->m < ns->n ? ns->n : ns->m);
    double step = ns->is_symmetric ? 3 * s * s * l + s * s * s : 4 * s * s * l + 2 * s * s * s;
    return (double)ns->steps * step;
}

double
kernel_flop(const struct kernel *kernel)
{
    switch (kernel->kind) {
    case KERNEL_GEMM:
        return gemm_flop(&kernel->gemm);
    case KERNEL_GROUPED_GEMM:
        return grouped_gemm_flop(&kernel->grouped_gemm);
    case KERNEL_FUSED_MOE:
        return fused_moe_flop(&kernel->fused_moe);
    case KERNEL_ATTENTION:
        return attention_flop(&kernel->attention, kernel->direction);
    case KERNEL_CONVOLUTION:
        return convolution_flop(&kernel->convolution, kernel->direction);
    case KERNEL_NEWTON_SCHULZ:
        return newton_schulz_flop(&kernel->newton_schulz);
    case KERNEL_ELEMENTWISE:
    case KERNEL_RMS_NORM:
    case KERNEL_SOFTMAX:
    case KERNEL_GATHER:
    case KERNEL_SCATTER_ADD:
    case KERNEL_TRANSPOSE:
    case KERNEL_TOP_K:
    case KERNEL_CROSS_ENTROPY:
    case KERNEL_ADAMW:
    case KERNEL_COPY:
    case KERNEL_KIND_COUNT:
        break;
    }
    return 0;
}
