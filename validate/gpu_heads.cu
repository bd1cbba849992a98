/* ---- Attention of a training step, whose tokens lie a stride apart, forward and backward (Dao,
 * arXiv 2307.08691): tiles of queries and keys in shared memory, each thread some of their scores. A
 * block is SIDE x SIDE threads; of a row, thread x has every SIDE-th element.
 *
 * The program has this text twice: for heads to 128, and, with blocks of 8 x 8 whose tiles take as
 * much shared memory, for heads to 256. */

#if defined(REAL_FP32)

#if !defined(SIDE)
#define SIDE           16
#define HEAD_WIDTH     128
#define OF_HEADS(name) name
#define WIDE_TILE      (2 * SIDE)
#define ROW            (HEAD_WIDTH + 1)
#define PARTS          (HEAD_WIDTH / SIDE)
#else
#undef SIDE
#undef HEAD_WIDTH
#undef OF_HEADS
#define SIDE           8
#define HEAD_WIDTH     256
#define OF_HEADS(name) name##_wide
#endif

/* Rows of one head into shared memory, zero beyond the last row and the width. */
static __device__ void OF_HEADS(load_rows)(float *to, const float *from, i64 stride, int rows, i64 left,
                                 i64 width)
{
    for (int row = threadIdx.y; row < rows; row += SIDE)
        for (int i = threadIdx.x; i < HEAD_WIDTH; i += SIDE)
            to[row * ROW + i] = row < left && i < width ? from[row * stride + i] : 0;
}

/* tops (sequence, head, query): the logarithm of a row's sum of exponentials. */
extern "C" __global__ void OF_HEADS(attend)(const float *q, const float *k, const float *v, float *o,
                                  float *tops, i64 q_stride, i64 k_stride, i64 o_stride,
                                  i64 length, i64 q_heads, i64 kv_heads, i64 width, i64 is_causal)
{
    __shared__ float queries[WIDE_TILE * ROW], keys[WIDE_TILE * ROW],
        scores[WIDE_TILE][WIDE_TILE + 1];
    struct place at = own_place(length, WIDE_TILE, q_heads);
    i64 row = at.sequence * length, key_head = at.head / (q_heads / kv_heads);
    i64 end = keys_of_tile(at.first, WIDE_TILE, length, is_causal);
    float scale = rsqrtf((float)width), top[2] = {-3e38f, -3e38f}, sum[2] = {0, 0};
    float out[2][PARTS] = {{0}};
    OF_HEADS(load_rows)(queries, q + (row + at.first) * q_stride + at.head * width, q_stride, WIDE_TILE,
              length - at.first, width);
    for (i64 first = 0; first < end; first += WIDE_TILE) {
        __syncthreads();
        OF_HEADS(load_rows)(keys, k + (row + first) * k_stride + key_head * width, k_stride, WIDE_TILE,
                  length - first, width);
        __syncthreads();
        for (int a = 0; a < 2; a++)
            for (int b = 0; b < 2; b++) {
                int query = threadIdx.y + SIDE * a, key = threadIdx.x + SIDE * b;
                bool is_seen = first + key < length &&
                               (!is_causal || first + key <= at.first + query);
                float score = dot_of_rows(queries + query * ROW, keys + key * ROW, width) * scale;
                scores[query][key] = is_seen ? score : -3e38f;
            }
        __syncthreads();
        OF_HEADS(load_rows)(keys, v + (row + first) * k_stride + key_head * width, k_stride, WIDE_TILE,
                  length - first, width);
        for (int a = 0; a < 2; a++) {
            float before = top[a];
            for (int key = 0; key < WIDE_TILE; key++)
                top[a] = fmaxf(top[a], scores[threadIdx.y + SIDE * a][key]);
            sum[a] *= expf(before - top[a]);
            for (int part = 0; part < PARTS; part++)
                out[a][part] *= expf(before - top[a]);
        }
        __syncthreads();
        for (int a = 0; a < 2; a++)
            for (int b = 0; b < 2; b++) {
                float *score = &scores[threadIdx.y + SIDE * a][threadIdx.x + SIDE * b];
                *score = *score > -1e38f ? expf(*score - top[a]) : 0;
            }
        __syncthreads();
        for (int key = 0; key < WIDE_TILE; key++)
            for (int a = 0; a < 2; a++) {
                float weight = scores[threadIdx.y + SIDE * a][key];
                sum[a] += weight;
                for (int part = 0; part < PARTS; part++)
                    out[a][part] += weight * keys[key * ROW + part * SIDE + threadIdx.x];
            }
    }
    for (int a = 0; a < 2; a++) {
        i64 query = at.first + threadIdx.y + SIDE * a;
        if (query >= length)
            continue;
        for (int part = 0; part < PARTS; part++)
            if (part * SIDE + threadIdx.x < width)
                o[(row + query) * o_stride + at.head * width + part * SIDE + threadIdx.x] =
                    out[a][part] / sum[a];
        if (threadIdx.x == 0)
            tops[(at.sequence * q_heads + at.head) * length + query] = top[a] + logf(sum[a]);
    }
}

/* dq of SIDE queries: over their keys, dS K with dS = P (dO V^T - slope). */
extern "C" __global__ void OF_HEADS(attend_dq)(const float *q, const float *k, const float *v,
                                     const float *o_gradient, const float *tops,
                                     const float *slopes, float *dq, i64 q_stride, i64 k_stride,
                                     i64 o_stride, i64 length, i64 q_heads, i64 kv_heads,
                                     i64 width, i64 is_causal)
{
    __shared__ float queries[SIDE * ROW], outs[SIDE * ROW], keys[WIDE_TILE * ROW],
        scores[SIDE][WIDE_TILE + 1];
    struct attended all = {q,        k,        v,        o_gradient, tops,  slopes,
                           q_stride, k_stride, o_stride, length,     width, is_causal};
    struct place at = own_place(length, SIDE, q_heads);
    i64 row = at.sequence * length, key_head = at.head / (q_heads / kv_heads);
    i64 top = (at.sequence * q_heads + at.head) * length, query = at.first + threadIdx.y;
    i64 end = keys_of_tile(at.first, SIDE, length, is_causal);
    float scale = rsqrtf((float)width), out[PARTS] = {0};
    OF_HEADS(load_rows)(queries, q + (row + at.first) * q_stride + at.head * width, q_stride, SIDE,
              length - at.first, width);
    OF_HEADS(load_rows)(outs, o_gradient + (row + at.first) * o_stride + at.head * width, o_stride, SIDE,
              length - at.first, width);
    for (i64 first = 0; first < end; first += WIDE_TILE) {
        const float *from = k + (row + first) * k_stride + key_head * width;
        float weights[2];
        __syncthreads();
        OF_HEADS(load_rows)(keys, from, k_stride, WIDE_TILE, length - first, width);
        __syncthreads();
        for (int b = 0; b < 2; b++) {
            int key = threadIdx.x + SIDE * b;
            float score =
                dot_of_rows(queries + threadIdx.y * ROW, keys + key * ROW, width) * scale;
            weights[b] = weight_of(&all, top, query, first + key, score);
        }
        __syncthreads();
        OF_HEADS(load_rows)(keys, v + (row + first) * k_stride + key_head * width, k_stride, WIDE_TILE,
                  length - first, width);
        __syncthreads();
        for (int b = 0; b < 2; b++) {
            int key = threadIdx.x + SIDE * b;
            float slope = dot_of_rows(outs + threadIdx.y * ROW, keys + key * ROW, width);
            scores[threadIdx.y][key] =
                weights[b] * (slope - slope_of(&all, top, query)) * scale;
        }
        __syncthreads();
        OF_HEADS(load_rows)(keys, from, k_stride, WIDE_TILE, length - first, width);
        __syncthreads();
        for (int key = 0; key < WIDE_TILE; key++)
            for (int part = 0; part < PARTS; part++)
                out[part] +=
                    scores[threadIdx.y][key] * keys[key * ROW + part * SIDE + threadIdx.x];
    }
    for (int part = 0; part < PARTS; part++)
        if (query < length && part * SIDE + threadIdx.x < width)
            dq[(row + query) * q_stride + at.head * width + part * SIDE + threadIdx.x] =
                out[part];
}

/* One query head's part in the gradients of SIDE keys and values: dV += P^T dO, dK += dS^T Q. */
static __device__ void OF_HEADS(add_head)(const struct attended *all, struct place at, i64 head, i64 heads,
                                const float *keys, const float *values, float *rows,
                                float *dk, float *dv)
{
    __shared__ float weights[WIDE_TILE][SIDE + 1], slopes[WIDE_TILE][SIDE + 1];
    i64 length = all->length, width = all->width, row = at.sequence * length;
    i64 top = (at.sequence * heads + head) * length, key = at.first + threadIdx.y;
    i64 begin = all->is_causal ? at.first / WIDE_TILE * WIDE_TILE : 0;
    float scale = rsqrtf((float)width);
    for (i64 first = begin; first < length; first += WIDE_TILE) {
        const float *from = all->q + (row + first) * all->q_stride + head * width;
        __syncthreads();
        OF_HEADS(load_rows)(rows, from, all->q_stride, WIDE_TILE, length - first, width);
        __syncthreads();
        for (int b = 0; b < 2; b++) {
            int query = threadIdx.x + SIDE * b;
            float score = dot_of_rows(rows + query * ROW, keys + threadIdx.y * ROW, width) * scale;
            weights[query][threadIdx.y] = weight_of(all, top, first + query, key, score);
        }
        __syncthreads();
        OF_HEADS(load_rows)(rows, all->o_gradient + (row + first) * all->o_stride + head * width,
                  all->o_stride, WIDE_TILE, length - first, width);
        __syncthreads();
        for (int b = 0; b < 2; b++) {
            int query = threadIdx.x + SIDE * b;
            float slope = dot_of_rows(rows + query * ROW, values + threadIdx.y * ROW, width);
            slopes[query][threadIdx.y] = weights[query][threadIdx.y] * scale *
                                         (slope - slope_of(all, top, first + query));
        }
        __syncthreads();
        for (int query = 0; query < WIDE_TILE; query++)
            for (int part = 0; part < PARTS; part++)
                dv[part] += weights[query][threadIdx.y] *
                            rows[query * ROW + part * SIDE + threadIdx.x];
        __syncthreads();
        OF_HEADS(load_rows)(rows, from, all->q_stride, WIDE_TILE, length - first, width);
        __syncthreads();
        for (int query = 0; query < WIDE_TILE; query++)
            for (int part = 0; part < PARTS; part++)
                dk[part] += slopes[query][threadIdx.y] *
                            rows[query * ROW + part * SIDE + threadIdx.x];
    }
}

/* Of SIDE keys of a head, over all query heads that it serves: no two blocks add to one place. */
extern "C" __global__ void OF_HEADS(attend_dkv)(const float *q, const float *k, const float *v,
                                      const float *o_gradient, const float *tops,
                                      const float *slopes, float *dk, float *dv, i64 q_stride,
                                      i64 k_stride, i64 o_stride, i64 length, i64 q_heads,
                                      i64 kv_heads, i64 width, i64 is_causal)
{
    __shared__ float keys[SIDE * ROW], values[SIDE * ROW], rows[WIDE_TILE * ROW];
    struct attended all = {q,        k,        v,        o_gradient, tops,  slopes,
                           q_stride, k_stride, o_stride, length,     width, is_causal};
    struct place at = own_place(length, SIDE, kv_heads);
    i64 group = q_heads / kv_heads, from = (at.sequence * length + at.first) * k_stride;
    float dk_own[PARTS] = {0}, dv_own[PARTS] = {0};
    OF_HEADS(load_rows)(keys, k + from + at.head * width, k_stride, SIDE, length - at.first, width);
    OF_HEADS(load_rows)(values, v + from + at.head * width, k_stride, SIDE, length - at.first, width);
    for (i64 head = at.head * group; head < (at.head + 1) * group; head++)
        OF_HEADS(add_head)(&all, at, head, q_heads, keys, values, rows, dk_own, dv_own);
    for (int part = 0; part < PARTS; part++) {
        i64 column = part * SIDE + threadIdx.x;
        i64 to = from + threadIdx.y * k_stride + at.head * width + column;
        if (at.first + threadIdx.y < length && column < width) {
            dk[to] = dk_own[part];
            dv[to] = dv_own[part];
        }
    }
}

#endif
