/* Splits measured rows by shape into a fit part and a held-out part. */
#include "validate/split.h"

#include <inttypes.h>
#include <string.h>

#include "sim/base/hash.h"

const char *
split_part_name(enum split_part part)
{
    return part == SPLIT_FIT ? "fit" : "held-out";
}

static void
append_grouped_gemm(const struct grouped_gemm *gemm, struct text *shape)
{
    text_format(shape, " n=%" PRId64 " k=%" PRId64 " rows=", gemm->n, gemm->k);
    for (int64_t i = 0; i < gemm->experts; i++)
        text_format(shape, "%s%" PRId64, i == 0 ? "" : ",", gemm->rows[i]);
}

static void
append_attention(const struct attention *attention, struct text *shape)
{
    text_format(shape, " batch=%" PRId64 " q_len=%" PRId64 " kv_len=%" PRId64, attention->batch,
                attention->q_len, attention->kv_len);
    text_format(
        shape, " q_heads=%" PRId64 " kv_heads=%" PRId64 " head_dim=%" PRId64 " causal=%d",
        attention->q_heads, attention->kv_heads, attention->head_dim, attention->is_causal);
    if (attention->window > 0)
        text_format(shape, " window=%" PRId64, attention->window);
}

static void
append_fused_moe(const struct fused_moe *moe, struct text *shape)
{
    text_format(shape, " tokens=%" PRId64 " width=%" PRId64 " expert_ffn=%" PRId64, moe->tokens,
                moe->width, moe->expert_ffn);
    text_format(shape, " experts=%" PRId64 " top_k=%" PRId64, moe->experts, moe->top_k);
}

static void
append_elementwise(const struct elementwise *elementwise, struct text *shape)
{
    text_format(shape, " elements=%" PRId64 " read_bytes=%.17g write_bytes=%.17g",
                elementwise->elements, elementwise->read_bytes, elementwise->write_bytes);
    text_format(shape, " launches=%" PRId64, elementwise->launches);
}

static void
append_convolution(const struct convolution *convolution, struct text *shape)
{
    text_format(shape, " tokens=%" PRId64 " channels=%" PRId64, convolution->tokens,
                convolution->channels);
    text_format(shape, " taps=%" PRId64 " groups=%" PRId64, convolution->taps,
                convolution->groups);
}

static void
append_newton_schulz(const struct newton_schulz *newton_schulz, struct text *shape)
{
    text_format(shape, " m=%" PRId64 " n=%" PRId64 " steps=%" PRId64 " symmetric=%d",
                newton_schulz->m, newton_schulz->n, newton_schulz->steps,
                newton_schulz->is_symmetric);
}

static void
append_sizes(const struct kernel *kernel, struct text *shape)
{
    switch (kernel->kind) {
    case KERNEL_GEMM:
        text_format(shape, " m=%" PRId64 " n=%" PRId64 " k=%" PRId64 " batch=%" PRId64,
                    kernel->gemm.m, kernel->gemm.n, kernel->gemm.k, kernel->gemm.batch);
        break;
    case KERNEL_GROUPED_GEMM:
        append_grouped_gemm(&kernel->grouped_gemm, shape);
        break;
    case KERNEL_FUSED_MOE:
        append_fused_moe(&kernel->fused_moe, shape);
        break;
    case KERNEL_ATTENTION:
        append_attention(&kernel->attention, shape);
        break;
    case KERNEL_ELEMENTWISE:
        append_elementwise(&kernel->elementwise, shape);
        break;
    case KERNEL_RMS_NORM:
    case KERNEL_SOFTMAX:
    case KERNEL_GATHER:
    case KERNEL_SCATTER_ADD:
    case KERNEL_TRANSPOSE:
        text_format(shape, " rows=%" PRId64 " width=%" PRId64, kernel->rows_by_width.rows,
                    kernel->rows_by_width.width);
        break;
    case KERNEL_TOP_K:
        text_format(shape, " rows=%" PRId64 " experts=%" PRId64 " k=%" PRId64,
                    kernel->top_k.rows, kernel->top_k.experts, kernel->top_k.k);
        break;
    case KERNEL_CROSS_ENTROPY:
        text_format(shape, " rows=%" PRId64 " vocab=%" PRId64, kernel->cross_entropy.rows,
                    kernel->cross_entropy.vocab);
        break;
    case KERNEL_CONVOLUTION:
        append_convolution(&kernel->convolution, shape);
        break;
    case KERNEL_ADAMW:
        text_format(shape, " parameters=%" PRId64, kernel->adamw.parameters);
        break;
    case KERNEL_NEWTON_SCHULZ:
        append_newton_schulz(&kernel->newton_schulz, shape);
        break;
    case KERNEL_COPY:
        text_format(shape, " bytes=%.17g from=%d to=%d", kernel->copy.bytes,
                    (int)kernel->copy.from, (int)kernel->copy.to);
        break;
    case KERNEL_KIND_COUNT:
        break;
    }
}

void
split_kernel_shape(const struct kernel *kernel, struct text *shape)
{
    text_format(shape, "%s", kernel_kind_name(kernel->kind));
    append_sizes(kernel, shape);
}

void
split_collective_shape(const struct collective *collective, struct text *shape)
{
    text_format(shape, "%s ranks=%" PRId64 " nodes=%" PRId64 " bytes=%.17g",
                collective_kind_name(collective->kind), collective->ranks, collective->nodes,
                collective->bytes);
}

enum split_part
split_part(const char *shape, uint64_t seed)
{
    uint64_t mixed =
        hash_mixed(hash_fnv1a_64(shape, strlen(shape)) + (seed + 1) * 0x9e3779b97f4a7c15);
    return (mixed >> 63) != 0 ? SPLIT_HELD_OUT : SPLIT_FIT;
}
