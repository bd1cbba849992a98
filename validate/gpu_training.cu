
/* ---- What a training step runs besides, in fp32 (gpu_training.cu; this text is part of the same
 * program as gpu_kernels.cu). Arguments: operands, then sizes of 64 bits, then reals. */

#if defined(REAL_FP32)

/* ---- Attention whose tokens lie a stride apart, forward and backward (Dao, arXiv 2307.08691):
 * tiles of queries and keys in shared memory, each thread some of their scores. A block is 16 x 16
 * threads; of a row of 16 c + x, thread x has every c-th. */

enum { SIDE = 16, WIDE_TILE = 2 * SIDE, ROW = HEAD_MAX + 1, PARTS = HEAD_MAX / SIDE };

/* Rows of one head into shared memory, zero beyond the last row and the width. */
static __device__ void load_rows(float *to, const float *from, i64 stride, int rows, i64 left,
                                 i64 width)
{
    for (int row = threadIdx.y; row < rows; row += SIDE)
        for (int i = threadIdx.x; i < HEAD_MAX; i += SIDE)
            to[row * ROW + i] = row < left && i < width ? from[row * stride + i] : 0;
}

static __device__ float dot_of_rows(const float *a, const float *b, i64 width)
{
    float sum = 0;
    for (int i = 0; i < width; i++)
        sum += a[i] * b[i];
    return sum;
}

struct place {
    i64 first; /* of the tile */
    i64 sequence, head;
};

static __device__ struct place own_place(i64 length, i64 tile, i64 heads)
{
    i64 tiles = (length + tile - 1) / tile;
    struct place place = {(i64)blockIdx.x % tiles * tile, (i64)blockIdx.x / tiles / heads,
                          (i64)blockIdx.x / tiles % heads};
    return place;
}

/* Keys that some query of a tile sees. */
static __device__ i64 keys_of_tile(i64 first, i64 tile, i64 length, i64 is_causal)
{
    i64 end = first + tile;
    return is_causal && end < length ? end : length;
}

/* tops (sequence, head, query): the logarithm of a row's sum of exponentials. */
extern "C" __global__ void attend(const float *q, const float *k, const float *v, float *o,
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
    load_rows(queries, q + (row + at.first) * q_stride + at.head * width, q_stride, WIDE_TILE,
              length - at.first, width);
    for (i64 first = 0; first < end; first += WIDE_TILE) {
        __syncthreads();
        load_rows(keys, k + (row + first) * k_stride + key_head * width, k_stride, WIDE_TILE,
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
        load_rows(keys, v + (row + first) * k_stride + key_head * width, k_stride, WIDE_TILE,
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

/* slopes (sequence, head, query): do o, of which backward takes the mean slope of a row. */
extern "C" __global__ void attend_slopes(const float *o, const float *o_gradient, float *slopes,
                                         i64 rows, i64 width, i64 length, i64 heads, i64 stride)
{
    i64 row = (i64)blockIdx.x * blockDim.y + threadIdx.y;
    i64 own = row < rows ? row : rows - 1, token = own / heads, head = own % heads;
    i64 at = token * stride + head * width;
    float sum = 0;
    for (i64 i = threadIdx.x; i < width; i += blockDim.x)
        sum += o[at + i] * o_gradient[at + i];
    sum = row_sum(sum);
    if (row < rows && threadIdx.x == 0)
        slopes[(token / length * heads + head) * length + token % length] = sum;
}

/* What both backward kernels read. */
struct attended {
    const float *q, *k, *v, *o_gradient, *tops, *slopes;
    i64 q_stride, k_stride, o_stride, length, width, is_causal;
};

/* The weight of one score. */
static __device__ float weight_of(const struct attended *all, i64 row, i64 query, i64 key,
                                  float score)
{
    bool is_seen = query < all->length && key < all->length &&
                   (!all->is_causal || key <= query);
    return is_seen ? expf(score - all->tops[row + query]) : 0;
}

static __device__ float slope_of(const struct attended *all, i64 row, i64 query)
{
    return query < all->length ? all->slopes[row + query] : 0;
}

/* dq of 16 queries: over their keys, dS K with dS = P (dO V^T - slope). */
extern "C" __global__ void attend_dq(const float *q, const float *k, const float *v,
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
    load_rows(queries, q + (row + at.first) * q_stride + at.head * width, q_stride, SIDE,
              length - at.first, width);
    load_rows(outs, o_gradient + (row + at.first) * o_stride + at.head * width, o_stride, SIDE,
              length - at.first, width);
    for (i64 first = 0; first < end; first += WIDE_TILE) {
        const float *from = k + (row + first) * k_stride + key_head * width;
        float weights[2];
        __syncthreads();
        load_rows(keys, from, k_stride, WIDE_TILE, length - first, width);
        __syncthreads();
        for (int b = 0; b < 2; b++) {
            int key = threadIdx.x + SIDE * b;
            float score =
                dot_of_rows(queries + threadIdx.y * ROW, keys + key * ROW, width) * scale;
            weights[b] = weight_of(&all, top, query, first + key, score);
        }
        __syncthreads();
        load_rows(keys, v + (row + first) * k_stride + key_head * width, k_stride, WIDE_TILE,
                  length - first, width);
        __syncthreads();
        for (int b = 0; b < 2; b++) {
            int key = threadIdx.x + SIDE * b;
            float slope = dot_of_rows(outs + threadIdx.y * ROW, keys + key * ROW, width);
            scores[threadIdx.y][key] =
                weights[b] * (slope - slope_of(&all, top, query)) * scale;
        }
        __syncthreads();
        load_rows(keys, from, k_stride, WIDE_TILE, length - first, width);
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

/* One query head's part in the gradients of 16 keys and values: dV += P^T dO, dK += dS^T Q. */
static __device__ void add_head(const struct attended *all, struct place at, i64 head, i64 heads,
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
        load_rows(rows, from, all->q_stride, WIDE_TILE, length - first, width);
        __syncthreads();
        for (int b = 0; b < 2; b++) {
            int query = threadIdx.x + SIDE * b;
            float score = dot_of_rows(rows + query * ROW, keys + threadIdx.y * ROW, width) * scale;
            weights[query][threadIdx.y] = weight_of(all, top, first + query, key, score);
        }
        __syncthreads();
        load_rows(rows, all->o_gradient + (row + first) * all->o_stride + head * width,
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
        load_rows(rows, from, all->q_stride, WIDE_TILE, length - first, width);
        __syncthreads();
        for (int query = 0; query < WIDE_TILE; query++)
            for (int part = 0; part < PARTS; part++)
                dk[part] += slopes[query][threadIdx.y] *
                            rows[query * ROW + part * SIDE + threadIdx.x];
    }
}

/* Of 16 keys of a head, over all query heads that it serves: no two blocks add to one place. */
extern "C" __global__ void attend_dkv(const float *q, const float *k, const float *v,
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
    load_rows(keys, k + from + at.head * width, k_stride, SIDE, length - at.first, width);
    load_rows(values, v + from + at.head * width, k_stride, SIDE, length - at.first, width);
    for (i64 head = at.head * group; head < (at.head + 1) * group; head++)
        add_head(&all, at, head, q_heads, keys, values, rows, dk_own, dv_own);
    for (int part = 0; part < PARTS; part++) {
        i64 column = part * SIDE + threadIdx.x;
        i64 to = from + threadIdx.y * k_stride + at.head * width + column;
        if (at.first + threadIdx.y < length && column < width) {
            dk[to] = dk_own[part];
            dv[to] = dv_own[part];
        }
    }
}

/* ---- Along rows */

/* As rms_norm_backward, and added to what is in dx where asked for. */
extern "C" __global__ void norm_backward(const float *x, const float *gain, const float *dy,
                                         float *dx, float *scales, i64 rows, i64 width,
                                         i64 is_added)
{
    struct row row = own_row(rows, width);
    float squares = 0, shared = 0;
    for (i64 i = threadIdx.x; i < width; i += blockDim.x) {
        float value = x[row.at + i];
        squares += value * value;
        shared += value * dy[row.at + i] * gain[i];
    }
    float scale = rsqrtf(row_sum(squares) / (float)width + EPSILON);
    float mean = row_sum(shared) / (float)width;
    if (!row.is_real)
        return;
    for (i64 i = threadIdx.x; i < width; i += blockDim.x)
        dx[row.at + i] =
            (is_added ? dx[row.at + i] : 0) +
            scale * (dy[row.at + i] * gain[i] - x[row.at + i] * scale * scale * mean);
    if (threadIdx.x == 0)
        scales[row.at / width] = scale;
}

extern "C" __global__ void gain_gradient_add(const float *parts, float *dgain, i64 part_count,
                                             i64 width)
{
    i64 column = thread_index();
    float sum = 0;
    if (column >= width)
        return;
    for (i64 part = 0; part < part_count; part++)
        sum += parts[part * width + column];
    dgain[column] += sum;
}

extern "C" __global__ void loss_backward(const float *logits, const int *targets, float *gradient,
                                         i64 rows, i64 vocab, float scale)
{
    struct row row = own_row(rows, vocab);
    float shift, sum = exponential_sum(logits + row.at, vocab, &shift);
    int target = targets[row.at / vocab];
    if (!row.is_real)
        return;
    for (i64 i = threadIdx.x; i < vocab; i += blockDim.x)
        gradient[row.at + i] =
            scale * (expf(logits[row.at + i] - shift) / sum - (i == target ? 1 : 0));
}

/* ---- Experts (validate/cpu_experts.h) */

extern "C" __global__ void swiglu(const float *gate_up, float *y, i64 count, i64 width)
{
    i64 i = thread_index();
    if (i >= count)
        return;
    const float *gate = gate_up + i / width * 2 * width + i % width;
    y[i] = gate[0] / (1 + expf(-gate[0])) * gate[width];
}

extern "C" __global__ void swiglu_backward(const float *gate_up, const float *dy, float *dgate_up,
                                           i64 count, i64 width)
{
    i64 i = thread_index(), at = i / width * 2 * width + i % width;
    if (i >= count)
        return;
    float gate = gate_up[at], up = gate_up[at + width], sigmoid = 1 / (1 + expf(-gate));
    dgate_up[at] = dy[i] * up * sigmoid * (1 + gate * (1 - sigmoid));
    dgate_up[at + width] = dy[i] * gate * sigmoid;
}

/* How many copies go to the block's expert. */
extern "C" __global__ void count_routes(const int *experts, i64 *counts, i64 count)
{
    __shared__ int sums[BLOCK_THREADS];
    int sum = 0;
    for (i64 i = threadIdx.x; i < count; i += BLOCK_THREADS)
        sum += experts[i] == (int)blockIdx.x;
    sums[threadIdx.x] = sum;
    for (int half = BLOCK_THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half)
            sums[threadIdx.x] += sums[threadIdx.x + half];
    }
    if (threadIdx.x == 0)
        counts[blockIdx.x] = sums[0];
}

/* Copies of an expert lie in their own order, behind those of the experts before: each block runs
 * through all copies, 256 at a time, and adds up how many of them are its own. */
extern "C" __global__ void place_routes(const int *experts, const i64 *counts, int *place,
                                        i64 count)
{
    __shared__ int sums[BLOCK_THREADS];
    i64 begin = 0;
    for (int expert = 0; expert < (int)blockIdx.x; expert++)
        begin += counts[expert];
    for (i64 first = 0; first < count; first += BLOCK_THREADS) {
        i64 i = first + threadIdx.x;
        int is_own = i < count && experts[i] == (int)blockIdx.x;
        __syncthreads();
        sums[threadIdx.x] = is_own;
        for (int reach = 1; reach < BLOCK_THREADS; reach *= 2) {
            __syncthreads();
            int before = threadIdx.x >= reach ? sums[threadIdx.x - reach] : 0;
            __syncthreads();
            sums[threadIdx.x] += before;
        }
        __syncthreads();
        if (is_own)
            place[i] = (int)begin + sums[threadIdx.x] - 1;
        begin += sums[BLOCK_THREADS - 1];
    }
}

extern "C" __global__ void permute(const float *x, const int *place, float *y, i64 rows, i64 width,
                                   i64 copies)
{
    i64 row = (i64)blockIdx.x * blockDim.y + threadIdx.y;
    if (row >= rows)
        return;
    for (i64 i = threadIdx.x; i < width; i += blockDim.x)
        y[place[row] * width + i] = x[row / copies * width + i];
}

extern "C" __global__ void permute_backward(const float *dy, const int *place, float *dx, i64 rows,
                                            i64 width, i64 copies)
{
    i64 row = (i64)blockIdx.x * blockDim.y + threadIdx.y;
    if (row >= rows)
        return;
    for (i64 i = threadIdx.x; i < width; i += blockDim.x) {
        float sum = 0;
        for (i64 copy = 0; copy < copies; copy++)
            sum += dy[place[row * copies + copy] * width + i];
        dx[row * width + i] = sum;
    }
}

extern "C" __global__ void combine(const float *weights, const float *x, const int *place,
                                   float *y, i64 rows, i64 width, i64 copies)
{
    i64 row = (i64)blockIdx.x * blockDim.y + threadIdx.y;
    if (row >= rows)
        return;
    for (i64 i = threadIdx.x; i < width; i += blockDim.x) {
        float sum = 0;
        for (i64 copy = 0; copy < copies; copy++)
            sum += weights[row * copies + copy] * x[place[row * copies + copy] * width + i];
        y[row * width + i] = sum;
    }
}

/* A row here is a copy. */
extern "C" __global__ void combine_backward(const float *weights, const float *x, const int *place,
                                            const float *dy, float *dx, float *dweights, i64 rows,
                                            i64 width, i64 copies)
{
    i64 row = (i64)blockIdx.x * blockDim.y + threadIdx.y, own = row < rows ? row : rows - 1;
    i64 at = place[own] * width, token = own / copies * width;
    float sum = 0;
    for (i64 i = threadIdx.x; i < width; i += blockDim.x)
        sum += x[at + i] * dy[token + i];
    sum = row_sum(sum);
    for (i64 i = threadIdx.x; row < rows && i < width; i += blockDim.x)
        dx[at + i] = weights[own] * dy[token + i];
    if (row < rows && threadIdx.x == 0)
        dweights[row] = sum;
}

extern "C" __global__ void place_weights(const int *chosen, const float *weights, float *scores,
                                         i64 count, i64 copies, i64 experts)
{
    i64 i = thread_index();
    if (i < count)
        scores[i / copies * experts + chosen[i]] = weights[i];
}

/* ---- Optimizers (validate/cpu_run.h, validate/training_device.h) */

extern "C" __global__ void adamw_step(const float *gradient, float *parameter, float *first,
                                      float *second, i64 count, float rate, float decay,
                                      float first_bias, float second_bias)
{
    i64 i = thread_index();
    if (i >= count)
        return;
    float g = gradient[i], m = first[i], v = second[i];
    m += (1 - 0.9f) * (g - m);
    v += (1 - 0.95f) * (g * g - v);
    first[i] = m;
    second[i] = v;
    parameter[i] -=
        rate * (m / first_bias / (sqrtf(v / second_bias) + 1e-8f) + decay * parameter[i]);
}

extern "C" __global__ void muon_momentum(const float *gradient, float *first, float *ahead,
                                         i64 count, float ratio)
{
    i64 i = thread_index();
    if (i >= count)
        return;
    float m = ratio * first[i] + gradient[i];
    first[i] = m;
    ahead[i] = gradient[i] + ratio * m;
}

extern "C" __global__ void muon_step(const float *update, float *weights, i64 count, float rate,
                                     float decay)
{
    i64 i = thread_index();
    if (i < count)
        weights[i] -= rate * update[i] + decay * weights[i];
}

/* parts[block]: the squares of every element that the block comes to. */
extern "C" __global__ void square_parts(const float *x, float *parts, i64 count)
{
    __shared__ float sums[BLOCK_THREADS];
    float sum = 0;
    for (i64 i = thread_index(); i < count; i += (i64)gridDim.x * BLOCK_THREADS)
        sum += x[i] * x[i];
    sums[threadIdx.x] = sum;
    for (int half = BLOCK_THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half)
            sums[threadIdx.x] += sums[threadIdx.x + half];
    }
    if (threadIdx.x == 0)
        parts[blockIdx.x] = sums[0];
}

/* y = x / its norm, by the parts of its squares: 1e-7 as validate/cpu_run.h has it. */
extern "C" __global__ void divide_by_norm(const float *x, const float *parts, float *y, i64 count,
                                          i64 part_count)
{
    i64 i = thread_index();
    float squares = 0;
    for (i64 part = 0; part < part_count; part++)
        squares += parts[part];
    if (i < count)
        y[i] = x[i] / (sqrtf(squares) + 1e-7f);
}

/* y = a x + b y */
extern "C" __global__ void blend(const float *x, float *y, i64 count, float a, float b)
{
    i64 i = thread_index();
    if (i < count)
        y[i] = a * x[i] + b * y[i];
}

#endif
