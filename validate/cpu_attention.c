/* Attention of fp32 heads on one thread, a block of queries at a time.
 *
 *     scores (BLOCK, keys that the block sees) = Q K^T / sqrt(head_dim), softmax row by row,
 *     O = P V; backward makes P again, then dP = dO V^T, dS = P (dP - sum(P dP)), dQ = dS K,
 *     dK = dS^T Q, dV = P^T dO (Dao et al., arXiv:2205.14135, algorithms 1 and 4)
 *
 * The products are OpenBLAS's. Tokens lie one after the other, each with all its heads. */
#include "validate/cpu_run.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

#include "validate/cpu_exponential.h"

enum { BLOCK = CPU_ATTENTION_BLOCK };

/* One head of one sequence: where its first token lies in queries, keys and outputs. */
struct head {
    const struct attention *shape;
    int64_t query_at, key_at, out_at; /* in reals, from the operand's begin */
    int query_stride, key_stride, out_stride, width;
};

struct block {
    int64_t query; /* the first */
    int rows;      /* queries */
    int64_t key;   /* the first that any of them sees */
    int keys;      /* up to the last */
    const float *q, *k, *v;
    float *scores; /* (rows, keys) */
};

static struct head
head_of(const struct attention *shape, const struct cpu_attention_strides *strides,
        int64_t sequence, int64_t head)
{
    int64_t width = shape->head_dim, key_head = head / (shape->q_heads / shape->kv_heads);
    int64_t query_row = sequence * shape->q_len, key_row = sequence * shape->kv_len;
    return (struct head){
        .shape = shape,
        .query_at = query_row * strides->query + head * width,
        .key_at = key_row * strides->key + key_head * width,
        .out_at = query_row * strides->out + head * width,
        .query_stride = (int)strides->query,
        .key_stride = (int)strides->key,
        .out_stride = (int)strides->out,
        .width = (int)width,
    };
}

/* Keys that a query sees, at least one: the last query of a causal mask sees the last key. */
static int64_t
keys_end(const struct attention *shape, int64_t query)
{
    return shape->is_causal ? query + shape->kv_len - shape->q_len + 1 : shape->kv_len;
}

static int64_t
keys_begin(const struct attention *shape, int64_t query)
{
    int64_t begin = keys_end(shape, query) - shape->window;
    return shape->window > 0 && begin > 0 ? begin : 0;
}

static struct block
block_of(const struct head *head, int64_t query, const union cpu_array *operands, float *scores)
{
    int64_t left = head->shape->q_len - query, rows = left < BLOCK ? left : BLOCK;
    int64_t key = keys_begin(head->shape, query);
    return (struct block){
        .query = query,
        .rows = (int)rows,
        .key = key,
        .keys = (int)(keys_end(head->shape, query + rows - 1) - key),
        .q = operands[0].reals + head->query_at + query * head->query_stride,
        .k = operands[1].reals + head->key_at + key * head->key_stride,
        .v = operands[2].reals + head->key_at + key * head->key_stride,
        .scores = scores,
    };
}

/* Softmax of the keys from begin to end of a row, nothing elsewhere. */
static void
mask_and_soften(float *restrict row, int64_t begin, int64_t end, int64_t keys)
{
    float most = -INFINITY, sum = 0;
    for (int64_t i = begin; i < end; i++)
        most = row[i] > most ? row[i] : most;
    for (int64_t i = begin; i < end; i++)
        row[i] = cpu_exponential(row[i] - most);
    for (int64_t i = begin; i < end; i++)
        sum += row[i];
    float scale = 1 / sum;
    for (int64_t i = begin; i < end; i++)
        row[i] *= scale;
    memset(row, 0, (size_t)begin * sizeof *row);
    memset(row + end, 0, (size_t)(keys - end) * sizeof *row);
}

/* P of the block, in its scores. */
static void
weigh_keys(const struct head *head, const struct block *block)
{
    float scale = 1 / sqrtf((float)head->width);
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, block->rows, block->keys, head->width,
                scale, block->q, head->query_stride, block->k, head->key_stride, 0,
                block->scores, block->keys);
    for (int row = 0; row < block->rows; row++) {
        int64_t begin = keys_begin(head->shape, block->query + row) - block->key;
        int64_t end = keys_end(head->shape, block->query + row) - block->key;
        mask_and_soften(block->scores + (int64_t)row * block->keys, begin, end, block->keys);
    }
}

static void
forward_block(const struct head *head, int64_t query, const union cpu_array *operands)
{
    struct block block = block_of(head, query, operands, operands[4].reals);
    float *out = operands[3].reals + head->out_at + query * head->out_stride;
    weigh_keys(head, &block);
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, block.rows, head->width, block.keys,
                1, block.scores, block.keys, block.v, head->key_stride, 0, out,
                head->out_stride);
}

/* dS from P and dP, which it takes the place of; with the scale of the scores. */
static void
slopes_of_scores(const struct head *head, const struct block *block, float *slopes)
{
    float scale = 1 / sqrtf((float)head->width);
    for (int row = 0; row < block->rows; row++) {
        const float *restrict weights = block->scores + (int64_t)row * block->keys;
        float *restrict slope = slopes + (int64_t)row * block->keys;
        float shared = 0;
        for (int i = 0; i < block->keys; i++)
            shared += weights[i] * slope[i];
        for (int i = 0; i < block->keys; i++)
            slope[i] = weights[i] * (slope[i] - shared) * scale;
    }
}

/* Values of the block's rows, (rows, width). */
struct row_values {
    const float *values;
    int stride;
};

/* sum (block's keys, width) += rows^T (block's rows, keys) x values */
static void
add_to_keys(const struct head *head, const struct block *block, const float *rows,
            struct row_values values, float *sum)
{
    cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, block->keys, head->width, block->rows,
                1, rows, block->keys, values.values, values.stride, 1,
                sum + head->key_at + block->key * head->key_stride, head->key_stride);
}

static void
backward_block(const struct head *head, int64_t query, const union cpu_array *operands)
{
    struct block block = block_of(head, query, operands, operands[7].reals);
    int64_t at = head->query_at + query * head->query_stride;
    const float *out_slope = operands[3].reals + head->out_at + query * head->out_stride;
    float *slopes = operands[8].reals;
    weigh_keys(head, &block);
    add_to_keys(head, &block, block.scores, (struct row_values){out_slope, head->out_stride},
                operands[6].reals);
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, block.rows, block.keys, head->width, 1,
                out_slope, head->out_stride, block.v, head->key_stride, 0, slopes, block.keys);
    slopes_of_scores(head, &block, slopes);
    add_to_keys(head, &block, slopes, (struct row_values){block.q, head->query_stride},
                operands[5].reals);
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, block.rows, head->width, block.keys,
                1, slopes, block.keys, block.k, head->key_stride, 0, operands[4].reals + at,
                head->query_stride);
}

static void
run_blocks(const struct attention *shape, const struct cpu_attention_strides *strides,
           const union cpu_array *operands,
           void (*run)(const struct head *head, int64_t query, const union cpu_array *operands))
{
    for (int64_t sequence = 0; sequence < shape->batch; sequence++)
        for (int64_t i = 0; i < shape->q_heads; i++) {
            struct head head = head_of(shape, strides, sequence, i);
            for (int64_t query = 0; query < shape->q_len; query += BLOCK)
                run(&head, query, operands);
        }
}

/* Each operand by itself, its heads side by side. */
static struct cpu_attention_strides
own_strides(const struct attention *shape)
{
    int64_t queries = shape->q_heads * shape->head_dim;
    return (struct cpu_attention_strides){queries, shape->kv_heads * shape->head_dim, queries};
}

void
cpu_attention(const struct attention *shape, const struct cpu_attention_strides *strides,
              const union cpu_array *operands)
{
    run_blocks(shape, strides, operands, forward_block);
}

void
cpu_run_attention(const struct kernel *kernel, const union cpu_array *operands)
{
    const struct cpu_attention_strides strides = own_strides(&kernel->attention);
    cpu_attention(&kernel->attention, &strides, operands);
}

/* Rows of `width` reals, each a stride behind the one before. */
static void
zero_rows(float *reals, int64_t rows, int64_t width, int64_t stride)
{
    for (int64_t row = 0; row < rows; row++)
        memset(reals + row * stride, 0, (size_t)width * sizeof *reals);
}

void
cpu_attention_backward(const struct attention *shape,
                       const struct cpu_attention_strides *strides,
                       const union cpu_array *operands)
{
    int64_t keys = shape->batch * shape->kv_len, width = shape->kv_heads * shape->head_dim;
    zero_rows(operands[4].reals, shape->batch * shape->q_len, shape->q_heads * shape->head_dim,
              strides->query);
    zero_rows(operands[5].reals, keys, width, strides->key);
    zero_rows(operands[6].reals, keys, width, strides->key);
    run_blocks(shape, strides, operands, backward_block);
}

void
cpu_run_attention_backward(const struct kernel *kernel, const union cpu_array *operands)
{
    const struct cpu_attention_strides strides = own_strides(&kernel->attention);
    cpu_attention_backward(&kernel->attention, &strides, operands);
}
