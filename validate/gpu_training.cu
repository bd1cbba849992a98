/* ---- What a training step runs besides, in fp32 (gpu_training.cu; this text is part of the same
 * program as gpu_kernels.cu). Arguments: operands, then sizes of 64 bits, then reals. */

#if defined(REAL_FP32)

/* ---- What attention's kernels for narrow and for wide heads share (gpu_heads.cu) */

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
    i64 column = (i64)blockIdx.x * COLUMN_THREADS + threadIdx.x;
    float sum = part_sum(parts, part_count, width, column);
    if (column < width && threadIdx.y == 0)
        dgain[column] += sum;
}

extern "C" __global__ void loss_backward(const float *logits, const int *targets, float *gradient,
                                         i64 rows, i64 vocab, float scale)
{
    struct row row = own_row(rows, vocab);
    struct lanes held[HELD];
    float shift, sum = exponential_sum(held, logits + row.at, vocab, &shift);
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

struct adamw_rates {
    float rate, decay, first_bias, second_bias;
};

static __device__ void adamw_step_one(struct adamw_rates rates, float g, float *parameter,
                                      float *first, float *second)
{
    float m = *first, v = *second;
    m += (1 - 0.9f) * (g - m);
    v += (1 - 0.95f) * (g * g - v);
    *first = m;
    *second = v;
    *parameter -= rates.rate * (m / rates.first_bias / (sqrtf(v / rates.second_bias) + 1e-8f) +
                                rates.decay * *parameter);
}

/* is_aligned: arrays begin with a strip. */
extern "C" __global__ void adamw_step(const float *gradient, float *parameter, float *first,
                                      float *second, i64 count, i64 is_aligned, float rate,
                                      float decay, float first_bias, float second_bias)
{
    struct adamw_rates rates = {rate, decay, first_bias, second_bias};
    i64 index = thread_index(), whole = is_aligned ? count / LANES : 0;
    i64 last = whole * LANES + index - whole;
    if (index < whole) {
        struct lanes g = load(gradient, index), p = load(parameter, index),
                     m = load(first, index), v = load(second, index);
        for (int i = 0; i < LANES; i++)
            adamw_step_one(rates, g.of[i], &p.of[i], &m.of[i], &v.of[i]);
        store(parameter, index, &p);
        store(first, index, &m);
        store(second, index, &v);
    } else if (last < count) {
        adamw_step_one(rates, gradient[last], parameter + last, first + last, second + last);
    }
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
