/* Attention by its name, forward, of any 32 or 16 bits (part of the program that
 * gpu_kernels.cu begins) */

#if !defined(REAL_FP8) && !defined(REAL_INT8) && !defined(REAL_FP64)

/* ---- Attention, forward: 8 queries of a head a block, 32 keys at a time in shared memory, then
 * their values in the same place; the softmax is corrected as larger scores come (Dao et al., arXiv
 * 2205.14135, algorithm 1). */

enum { QUERIES = 8, KEYS = 32, HEAD_MAX = 256 };

struct seen {
    i64 begin, end;
};

/* Keys that a query sees: the last query of a causal mask sees the last key. */
static __device__ struct seen keys_seen(i64 query, i64 q_len, i64 kv_len, i64 is_causal, i64 window)
{
    i64 end = is_causal ? query + kv_len - q_len + 1 : kv_len;
    struct seen seen = {window > 0 && end > window ? end - window : 0, end};
    return seen;
}

/* Rows of 32 keys or values from the sequence's row `first` on, those behind `end` as the last. */
static __device__ void load_keys(float (*to)[HEAD_MAX + 1], const real *from, i64 first, i64 end,
                                 i64 stride, i64 width)
{
    for (int row = threadIdx.y; row < KEYS; row += QUERIES) {
        i64 key = first + row < end ? first + row : end - 1;
        for (i64 i = threadIdx.x; i < width; i += KEYS)
            to[row][i] = widen(from[key * stride + i]);
    }
}

extern "C" __global__ void attention(const real *q, const real *k, const real *v, real *o,
                                     i64 q_len, i64 kv_len, i64 q_heads, i64 kv_heads, i64 width,
                                     i64 is_causal, i64 window)
{
    __shared__ float keys[KEYS][HEAD_MAX + 1], queries[QUERIES][HEAD_MAX];
    __shared__ float weights[QUERIES][KEYS];
    i64 tiles = (q_len + QUERIES - 1) / QUERIES, tile = blockIdx.x % tiles;
    i64 head = blockIdx.x / tiles % q_heads, sequence = blockIdx.x / tiles / q_heads;
    i64 key_head = head / (q_heads / kv_heads), query = tile * QUERIES + threadIdx.y;
    i64 stride = kv_heads * width, from = sequence * kv_len * stride + key_head * width;
    bool is_real = query < q_len;
    i64 own = is_real ? query : q_len - 1, last = tile * QUERIES + QUERIES - 1;
    i64 at = ((sequence * q_len + own) * q_heads + head) * width;
    struct seen seen = keys_seen(own, q_len, kv_len, is_causal, window);
    i64 begin = keys_seen(tile * QUERIES, q_len, kv_len, is_causal, window).begin;
    i64 end = keys_seen(last < q_len ? last : q_len - 1, q_len, kv_len, is_causal, window).end;
    float scale = rsqrtf((float)width), largest = -3e38f, sum = 0, out[HEAD_MAX / KEYS] = {0};
    for (i64 i = threadIdx.x; i < width; i += KEYS)
        queries[threadIdx.y][i] = widen(q[at + i]) * scale;
    for (i64 first = begin; first < end; first += KEYS) {
        __syncthreads();
        load_keys(keys, k + from, first, end, stride, width);
        __syncthreads();
        i64 key = first + threadIdx.x;
        float score = 0;
        for (i64 i = 0; i < width; i++)
            score += queries[threadIdx.y][i] * keys[threadIdx.x][i];
        bool is_seen = key >= seen.begin && key < seen.end;
        float top = fmaxf(largest, row_largest(is_seen ? score : -3e38f));
        float weight = is_seen ? expf(score - top) : 0, correction = expf(largest - top);
        weights[threadIdx.y][threadIdx.x] = weight;
        sum = sum * correction + row_sum(weight);
        largest = top;
        load_keys(keys, v + from, first, end, stride, width);
        __syncthreads();
        for (int part = 0; part < HEAD_MAX / KEYS; part++) {
            if (part * KEYS + threadIdx.x >= width)
                break;
            float value = out[part] * correction;
            for (int i = 0; i < KEYS; i++)
                value += weights[threadIdx.y][i] * keys[i][part * KEYS + threadIdx.x];
            out[part] = value;
        }
    }
    for (int part = 0; is_real && part < HEAD_MAX / KEYS; part++)
        if (part * KEYS + threadIdx.x < width)
            o[at + part * KEYS + threadIdx.x] = narrow(out[part] / sum);
}

#endif
