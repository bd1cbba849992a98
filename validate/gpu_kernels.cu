/* Kernels of the vocabulary for GPUs: one source for NVRTC and hipRTC, compiled for one dtype at a
 * time: REAL_FP64, REAL_FP32, REAL_BF16, REAL_FP16, REAL_FP8 or REAL_INT8 is defined.
 *
 * No header is included and no warp has a size: threads of a block meet in shared memory. All
 * arithmetic of 16 bits is done in fp32. Operands lie as validate/cpu_kernel.c lays them out. */

typedef long long i64;
typedef unsigned long long u64;

#if defined(REAL_FP64)
typedef double real;
typedef double wide;
static __device__ double widen(double x) { return x; }
static __device__ double narrow(double x) { return x; }
#elif defined(REAL_FP32)
typedef float real;
typedef float wide;
static __device__ float widen(float x) { return x; }
static __device__ float narrow(float x) { return x; }
#elif defined(REAL_BF16)
typedef unsigned short real;
typedef float wide;
static __device__ float widen(real x) { return __uint_as_float((unsigned)x << 16); }
/* Rounds to nearest, ties to even; no NaN comes here. */
static __device__ real narrow(float x)
{
    unsigned bits = __float_as_uint(x);
    return (real)((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}
#elif defined(REAL_FP16)
typedef unsigned short real;
typedef float wide;
#if defined(__HIPCC_RTC__) || defined(__HIP__)
static __device__ float widen(real x) { return (float)__builtin_bit_cast(_Float16, x); }
static __device__ real narrow(float x)
{
    return __builtin_bit_cast(unsigned short, (_Float16)x);
}
#else
static __device__ float widen(real x)
{
    float y;
    asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(x));
    return y;
}
static __device__ real narrow(float x)
{
    real y;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(y) : "f"(x));
    return y;
}
#endif
#elif defined(REAL_FP8)
/* E4M3: one sign, four bits of exponent, three of fraction. OCP 8-bit Floating Point
 * Specification: bias 7; gfx942's kind without negative zero: bias 8. */
#if defined(__HIPCC_RTC__) || defined(__HIP__)
#define FP8_BIAS 8
#else
#define FP8_BIAS 7
#endif
typedef unsigned char real;
typedef float wide;
static __device__ float widen(real x)
{
    int exponent = (x >> 3) & 15, fraction = x & 7;
    float size = exponent == 0 ? ldexpf((float)fraction, -2 - FP8_BIAS)
                               : ldexpf((float)(8 + fraction), exponent - 3 - FP8_BIAS);
    return x & 128 ? -size : size;
}
/* Of the random operands alone: cuts, and takes 4 for anything larger. */
static __device__ real narrow(float x)
{
    float size = fminf(fabsf(x), 4.0f);
    int exponent;
    float fraction = frexpf(size, &exponent); /* 0.5 to 1 */
    int biased = exponent - 1 + FP8_BIAS;
    if (size == 0 || biased < 1)
        return 0;
    return (real)((x < 0 ? 128 : 0) | (biased << 3) | ((int)(fraction * 16) & 7));
}
#else
typedef signed char real;
typedef float wide;
static __device__ float widen(real x) { return (float)x; }
static __device__ real narrow(float x)
{
    return (real)(int)fminf(fmaxf(x * 32, -127.0f), 127.0f);
}
#endif

/* ---- Sixteen bytes at a time */

enum { LANES = 16 / sizeof(real) };

struct __align__(16) lanes {
    real of[LANES];
};

static __device__ struct lanes load(const real *from, i64 index)
{
    return ((const struct lanes *)from)[index];
}

static __device__ void store(real *to, i64 index, const struct lanes *values)
{
    ((struct lanes *)to)[index] = *values;
}

static __device__ i64 thread_index(void)
{
    return (i64)blockIdx.x * blockDim.x + threadIdx.x;
}

/* ---- Random operands */

/* SplitMix64's mixing (Steele, Lea and Flood, OOPSLA 2014). */
static __device__ u64 mixed(u64 x)
{
    x += 0x9e3779b97f4a7c15ull;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    return x ^ (x >> 31);
}

/* Normal values by Box and Muller (1958), or uniform from 0 to 1. */
extern "C" __global__ void fill(real *x, i64 count, u64 seed, int is_uniform)
{
    i64 step = (i64)gridDim.x * blockDim.x;
    for (i64 i = thread_index(); i < count; i += step) {
        u64 bits = mixed(seed + (u64)i);
        float a = ((float)(bits >> 40) + 0.5f) * 5.9604645e-8f;
        float b = (float)(bits & 0xffffff) * 5.9604645e-8f;
        float normal = sqrtf(-2 * logf(a)) * cosf(6.2831853f * b);
        x[i] = narrow(is_uniform ? a : normal);
    }
}

/* ---- The check of products: one block an entry, the sum in fp64 */

#if defined(REAL_FP8)
typedef unsigned short product_real;
static __device__ double product_value(product_real x)
{
    return (double)__uint_as_float((unsigned)x << 16);
}
#elif defined(REAL_INT8)
typedef int product_real;
static __device__ double product_value(product_real x) { return (double)x; }
#else
typedef real product_real;
static __device__ double product_value(product_real x) { return (double)widen(x); }
#endif

/* Strides in elements; entry `rows[i], columns[i]` of the product; pairs: result, reference. */
extern "C" __global__ void check_product(const real *a, i64 a_row, i64 a_depth, const real *b,
                                         i64 b_depth, i64 b_column, const product_real *c,
                                         i64 c_row, i64 depth, const int *rows,
                                         const int *columns, double *pairs)
{
    __shared__ double sums[256];
    i64 row = rows[blockIdx.x], column = columns[blockIdx.x];
    double sum = 0;
    for (i64 i = threadIdx.x; i < depth; i += blockDim.x)
        sum += (double)widen(a[row * a_row + i * a_depth]) *
               (double)widen(b[i * b_depth + column * b_column]);
    sums[threadIdx.x] = sum;
    for (int half = 128; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half)
            sums[threadIdx.x] += sums[threadIdx.x + half];
    }
    if (threadIdx.x == 0) {
        pairs[2 * blockIdx.x] = product_value(c[row * c_row + column]);
        pairs[2 * blockIdx.x + 1] = sums[0];
    }
}

#if !defined(REAL_FP8) && !defined(REAL_INT8) && !defined(REAL_FP64)

/* ---- Elementwise: sixteen bytes a thread, what is left over by single threads */

#define ELEMENTWISE_1(name, expression)                                                          \
    static __device__ real name##_one(real x_bits)                                               \
    {                                                                                            \
        float x = widen(x_bits);                                                                 \
        return narrow(expression);                                                               \
    }                                                                                            \
    extern "C" __global__ void name(const real *a, real *y, i64 count)                           \
    {                                                                                            \
        i64 index = thread_index(), whole = count / LANES;                                       \
        if (index < whole) {                                                                     \
            struct lanes x = load(a, index);                                                     \
            for (int i = 0; i < LANES; i++)                                                      \
                x.of[i] = name##_one(x.of[i]);                                                   \
            store(y, index, &x);                                                                 \
        } else if (index - whole < count - whole * LANES) {                                      \
            i64 last = whole * LANES + index - whole;                                            \
            y[last] = name##_one(a[last]);                                                       \
        }                                                                                        \
    }

#define ELEMENTWISE_2(name, expression)                                                          \
    static __device__ real name##_one(real a_bits, real b_bits)                                  \
    {                                                                                            \
        float a = widen(a_bits), b = widen(b_bits);                                              \
        return narrow(expression);                                                               \
    }                                                                                            \
    extern "C" __global__ void name(const real *a, const real *b, real *y, i64 count)            \
    {                                                                                            \
        i64 index = thread_index(), whole = count / LANES;                                       \
        if (index < whole) {                                                                     \
            struct lanes p = load(a, index), q = load(b, index);                                 \
            for (int i = 0; i < LANES; i++)                                                      \
                p.of[i] = name##_one(p.of[i], q.of[i]);                                          \
            store(y, index, &p);                                                                 \
        } else if (index - whole < count - whole * LANES) {                                      \
            i64 last = whole * LANES + index - whole;                                            \
            y[last] = name##_one(a[last], b[last]);                                              \
        }                                                                                        \
    }

ELEMENTWISE_1(copy_elements, x)
ELEMENTWISE_1(gelu, 0.5f * x * (1 + erff(x * 0.70710678f)))
ELEMENTWISE_1(silu, x / (1 + expf(-x)))
ELEMENTWISE_2(add, a + b)
ELEMENTWISE_2(mul, a *b)
ELEMENTWISE_2(silu_mul, a / (1 + expf(-a)) * b)

/* ---- Along rows: blockDim.x threads a row, a power of two, blockDim.y rows a block */

enum { BLOCK_THREADS = 256 };

static __device__ float row_sum(float value)
{
    __shared__ float values[BLOCK_THREADS];
    int place = threadIdx.y * blockDim.x + threadIdx.x;
    __syncthreads();
    values[place] = value;
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half)
            values[place] += values[place + half];
    }
    __syncthreads();
    return values[threadIdx.y * blockDim.x];
}

static __device__ float row_largest(float value)
{
    __shared__ float values[BLOCK_THREADS];
    int place = threadIdx.y * blockDim.x + threadIdx.x;
    __syncthreads();
    values[place] = value;
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half)
            values[place] = fmaxf(values[place], values[place + half]);
    }
    __syncthreads();
    return values[threadIdx.y * blockDim.x];
}

/* A row past the last works on the last and stores nothing: all threads meet. */
struct row {
    i64 at; /* its first element */
    bool is_real;
};

static __device__ struct row own_row(i64 rows, i64 width)
{
    i64 index = (i64)blockIdx.x * blockDim.y + threadIdx.y;
    struct row row = {(index < rows ? index : rows - 1) * width, index < rows};
    return row;
}

/* Sum over the row of f(i), by lanes where the row is a whole number of them. */
#define EPSILON 1e-5f

static __device__ float dot_of_row(const real *a, const real *b, i64 width)
{
    float sum = 0;
    if (width % LANES == 0) {
        for (i64 i = threadIdx.x; i < width / LANES; i += blockDim.x) {
            struct lanes p = load(a, i), q = load(b, i);
            for (int lane = 0; lane < LANES; lane++)
                sum += widen(p.of[lane]) * widen(q.of[lane]);
        }
    } else {
        for (i64 i = threadIdx.x; i < width; i += blockDim.x)
            sum += widen(a[i]) * widen(b[i]);
    }
    return row_sum(sum);
}

extern "C" __global__ void rms_norm(const real *x, const real *gain, real *y, i64 rows, i64 width)
{
    struct row row = own_row(rows, width);
    float scale = rsqrtf(dot_of_row(x + row.at, x + row.at, width) / (float)width + EPSILON);
    if (!row.is_real)
        return;
    if (width % LANES == 0) {
        for (i64 i = threadIdx.x; i < width / LANES; i += blockDim.x) {
            struct lanes p = load(x + row.at, i), g = load(gain, i);
            for (int lane = 0; lane < LANES; lane++)
                p.of[lane] = narrow(widen(p.of[lane]) * scale * widen(g.of[lane]));
            store(y + row.at, i, &p);
        }
    } else {
        for (i64 i = threadIdx.x; i < width; i += blockDim.x)
            y[row.at + i] = narrow(widen(x[row.at + i]) * scale * widen(gain[i]));
    }
}

/* dx = scale (g dy - x scale^2 mean(g dy x)); keeps each row's scale for the gains. */
extern "C" __global__ void rms_norm_backward(const real *x, const real *gain, const real *dy,
                                             real *dx, float *scales, i64 rows, i64 width)
{
    struct row row = own_row(rows, width);
    float squares = 0, shared = 0;
    for (i64 i = threadIdx.x; i < width; i += blockDim.x) {
        float value = widen(x[row.at + i]);
        squares += value * value;
        shared += value * widen(dy[row.at + i]) * widen(gain[i]);
    }
    float scale = rsqrtf(row_sum(squares) / (float)width + EPSILON);
    float mean = row_sum(shared) / (float)width;
    if (!row.is_real)
        return;
    for (i64 i = threadIdx.x; i < width; i += blockDim.x)
        dx[row.at + i] =
            narrow(scale * (widen(dy[row.at + i]) * widen(gain[i]) -
                            widen(x[row.at + i]) * scale * scale * mean));
    if (threadIdx.x == 0)
        scales[row.at / width] = scale;
}

/* Partial sums over a share of the rows, one a column: (gridDim.y, width). */
extern "C" __global__ void gain_gradient_parts(const real *x, const real *dy, const float *scales,
                                               float *parts, i64 rows, i64 width)
{
    i64 column = thread_index();
    float sum = 0;
    if (column >= width)
        return;
    for (i64 row = blockIdx.y; row < rows; row += gridDim.y)
        sum += widen(x[row * width + column]) * widen(dy[row * width + column]) * scales[row];
    parts[(i64)blockIdx.y * width + column] = sum;
}

extern "C" __global__ void gain_gradient(const float *parts, real *dgain, i64 part_count,
                                         i64 width)
{
    i64 column = thread_index();
    float sum = 0;
    if (column >= width)
        return;
    for (i64 part = 0; part < part_count; part++)
        sum += parts[part * width + column];
    dgain[column] = narrow(sum);
}

/* The largest so far, and the sum of exponentials relative to it (Milakov and Gimelshein, arXiv
 * 1805.02867, algorithm 3). */
struct running {
    float largest, sum;
};

static __device__ void run_on(struct running *running, float value)
{
    if (value > running->largest) {
        running->sum *= expf(running->largest - value);
        running->largest = value;
    }
    running->sum += expf(value - running->largest);
}

/* The largest of a row and the sum of exponentials of what is left, in one pass over it. */
static __device__ float exponential_sum(const real *x, i64 width, float *shift)
{
    struct running running = {-3e38f, 0};
    if (width % LANES == 0) {
        for (i64 i = threadIdx.x; i < width / LANES; i += blockDim.x) {
            struct lanes values = load(x, i);
            for (int lane = 0; lane < LANES; lane++)
                run_on(&running, widen(values.of[lane]));
        }
    } else {
        for (i64 i = threadIdx.x; i < width; i += blockDim.x)
            run_on(&running, widen(x[i]));
    }
    *shift = row_largest(running.largest);
    return row_sum(running.sum * expf(running.largest - *shift));
}

extern "C" __global__ void softmax(const real *x, real *y, i64 rows, i64 width)
{
    struct row row = own_row(rows, width);
    float shift, scale = 1 / exponential_sum(x + row.at, width, &shift);
    if (!row.is_real)
        return;
    if (width % LANES == 0) {
        for (i64 i = threadIdx.x; i < width / LANES; i += blockDim.x) {
            struct lanes values = load(x + row.at, i);
            for (int lane = 0; lane < LANES; lane++)
                values.of[lane] = narrow(expf(widen(values.of[lane]) - shift) * scale);
            store(y + row.at, i, &values);
        }
    } else {
        for (i64 i = threadIdx.x; i < width; i += blockDim.x)
            y[row.at + i] = narrow(expf(widen(x[row.at + i]) - shift) * scale);
    }
}

extern "C" __global__ void softmax_backward(const real *y, const real *dy, real *dx, i64 rows,
                                            i64 width)
{
    struct row row = own_row(rows, width);
    float shared = dot_of_row(y + row.at, dy + row.at, width);
    if (!row.is_real)
        return;
    for (i64 i = threadIdx.x; i < width; i += blockDim.x)
        dx[row.at + i] = narrow(widen(y[row.at + i]) * (widen(dy[row.at + i]) - shared));
}

extern "C" __global__ void cross_entropy(const real *logits, const int *targets, real *loss,
                                         i64 rows, i64 vocab)
{
    struct row row = own_row(rows, vocab);
    float shift, sum = exponential_sum(logits + row.at, vocab, &shift);
    i64 index = row.at / vocab;
    if (row.is_real && threadIdx.x == 0)
        loss[index] = narrow(logf(sum) + shift - widen(logits[row.at + targets[index]]));
}

extern "C" __global__ void cross_entropy_backward(const real *logits, const int *targets,
                                                  real *gradient, i64 rows, i64 vocab)
{
    struct row row = own_row(rows, vocab);
    float shift, sum = exponential_sum(logits + row.at, vocab, &shift);
    int target = targets[row.at / vocab];
    if (!row.is_real)
        return;
    for (i64 i = threadIdx.x; i < vocab; i += blockDim.x)
        gradient[row.at + i] =
            narrow(expf(widen(logits[row.at + i]) - shift) / sum - (i == target ? 1 : 0));
}

/* k rounds: the largest score after (last, last_index) in falling order, of equals the first. */
extern "C" __global__ void top_k(const real *scores, real *values, int *experts, i64 rows,
                                 i64 width, i64 k)
{
    struct row row = own_row(rows, width);
    float last = 3e38f;
    int last_index = -1;
    for (int round = 0; round < k; round++) {
        float best = -3e38f;
        int best_index = (int)width;
        for (int i = (int)threadIdx.x; i < width; i += blockDim.x) {
            float score = widen(scores[row.at + i]);
            bool is_left = score < last || (score == last && i > last_index);
            if (is_left && score > best) {
                best = score;
                best_index = i;
            }
        }
        last = row_largest(best);
        last_index = -(int)row_largest(best == last ? -(float)best_index : -3e8f);
        if (row.is_real && threadIdx.x == 0) {
            values[row.at / width * k + round] = narrow(last);
            experts[row.at / width * k + round] = last_index;
        }
    }
}

/* ---- Rows that move */

extern "C" __global__ void gather(const real *table, const int *index, real *y, i64 rows,
                                  i64 width)
{
    i64 row = (i64)blockIdx.x * blockDim.y + threadIdx.y;
    if (row >= rows)
        return;
    const real *from = table + (i64)index[row] * width;
    if (width % LANES == 0) {
        for (i64 i = threadIdx.x; i < width / LANES; i += blockDim.x) {
            struct lanes values = load(from, i);
            store(y + row * width, i, &values);
        }
    } else {
        for (i64 i = threadIdx.x; i < width; i += blockDim.x)
            y[row * width + i] = from[i];
    }
}

/* Several rows may go to one: each addition is atomic. */
static __device__ void add_atomically(real *to, real value_bits)
{
#if defined(REAL_FP32)
    atomicAdd(to, value_bits);
#else
    unsigned *word = (unsigned *)((u64)to & ~3ull);
    int shift = (u64)to & 2 ? 16 : 0;
    unsigned old = *word, seen;
    do {
        seen = old;
        real sum = narrow(widen((real)(seen >> shift)) + widen(value_bits));
        old = atomicCAS(word, seen, (seen & ~(0xffffu << shift)) | ((unsigned)sum << shift));
    } while (old != seen);
#endif
}

extern "C" __global__ void scatter_add(const real *x, const int *index, real *y, i64 rows,
                                       i64 width)
{
    i64 row = (i64)blockIdx.x * blockDim.y + threadIdx.y;
    if (row >= rows)
        return;
    real *to = y + (i64)index[row] * width;
    for (i64 i = threadIdx.x; i < width; i += blockDim.x)
        add_atomically(to + i, x[row * width + i]);
}

/* 32 x 32 at a time through shared memory; a column more keeps its banks apart. */
extern "C" __global__ void transpose(const real *x, real *y, i64 rows, i64 width)
{
    __shared__ real tile[32][33];
    i64 tiles = (width + 31) / 32;
    i64 row = (i64)blockIdx.x / tiles * 32, column = (i64)blockIdx.x % tiles * 32;
    for (int i = threadIdx.y; i < 32; i += blockDim.y)
        if (row + i < rows && column + threadIdx.x < width)
            tile[i][threadIdx.x] = x[(row + i) * width + column + threadIdx.x];
    __syncthreads();
    for (int i = threadIdx.y; i < 32; i += blockDim.y)
        if (column + i < width && row + threadIdx.x < rows)
            y[(column + i) * rows + row + threadIdx.x] = tile[threadIdx.x][i];
}

/* ---- Causal convolution along the tokens: y[t, c] = sum over taps and channels of c's group of
 * x[t - tap, in] w[tap, group, in, c], as validate/cpu_convolution.c lays them out */

extern "C" __global__ void convolution(const real *x, const real *w, real *y, i64 tokens,
                                       i64 channels, i64 taps, i64 groups)
{
    i64 place = thread_index(), width = channels / groups;
    if (place >= tokens * channels)
        return;
    i64 token = place / channels, channel = place % channels, first = channel / width * width;
    float sum = 0;
    for (i64 tap = 0; tap < taps && tap <= token; tap++)
        for (i64 in = 0; in < width; in++)
            sum += widen(x[(token - tap) * channels + first + in]) *
                   widen(w[(tap * channels + first + in) * width + channel - first]);
    y[place] = narrow(sum);
}

extern "C" __global__ void convolution_dx(const real *w, const real *dy, real *dx, i64 tokens,
                                          i64 channels, i64 taps, i64 groups)
{
    i64 place = thread_index(), width = channels / groups;
    if (place >= tokens * channels)
        return;
    i64 token = place / channels, channel = place % channels, first = channel / width * width;
    float sum = 0;
    for (i64 tap = 0; tap < taps && token + tap < tokens; tap++)
        for (i64 out = 0; out < width; out++)
            sum += widen(dy[(token + tap) * channels + first + out]) *
                   widen(w[(tap * channels + channel) * width + out]);
    dx[place] = narrow(sum);
}

/* A thread along x for each weight, those along y share its tokens. */
extern "C" __global__ void convolution_dw(const real *x, const real *dy, real *dw, i64 tokens,
                                          i64 channels, i64 taps, i64 groups)
{
    __shared__ float sums[BLOCK_THREADS];
    i64 place = thread_index(), width = channels / groups;
    int own = threadIdx.y * blockDim.x + threadIdx.x;
    float sum = 0;
    if (place < taps * channels * width) {
        i64 tap = place / (channels * width), in = place / width % channels,
            out = in / width * width + place % width;
        for (i64 token = tap + threadIdx.y; token < tokens; token += blockDim.y)
            sum += widen(x[(token - tap) * channels + in]) * widen(dy[token * channels + out]);
    }
    sums[own] = sum;
    for (int half = blockDim.y / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.y < half)
            sums[own] += sums[own + half * blockDim.x];
    }
    if (threadIdx.y == 0 && place < taps * channels * width)
        dw[place] = narrow(sums[own]);
}

/* ---- Attention, forward: 8 queries of a head a block, 32 keys at a time in shared memory; the
 * softmax is corrected as larger scores come (Dao et al., arXiv 2205.14135, algorithm 1). */

enum { QUERIES = 8, KEYS = 32, HEAD_MAX = 128 };

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

extern "C" __global__ void attention(const real *q, const real *k, const real *v, real *o,
                                     i64 q_len, i64 kv_len, i64 q_heads, i64 kv_heads, i64 width,
                                     i64 is_causal, i64 window)
{
    __shared__ float keys[KEYS][HEAD_MAX + 1], queries[QUERIES][HEAD_MAX];
    __shared__ real values[KEYS][HEAD_MAX];
    __shared__ float weights[QUERIES][KEYS];
    i64 tiles = (q_len + QUERIES - 1) / QUERIES, tile = blockIdx.x % tiles;
    i64 head = blockIdx.x / tiles % q_heads, sequence = blockIdx.x / tiles / q_heads;
    i64 key_head = head / (q_heads / kv_heads), query = tile * QUERIES + threadIdx.y;
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
        for (i64 i = threadIdx.y * KEYS + threadIdx.x; i < KEYS * width; i += KEYS * QUERIES) {
            i64 key = first + i / width < end ? first + i / width : end - 1;
            i64 from = ((sequence * kv_len + key) * kv_heads + key_head) * width + i % width;
            keys[i / width][i % width] = widen(k[from]);
            values[i / width][i % width] = v[from];
        }
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
        for (int part = 0; part < HEAD_MAX / KEYS && part * KEYS + threadIdx.x < width; part++) {
            float value = out[part] * correction;
            for (int i = 0; i < KEYS; i++)
                value += weights[threadIdx.y][i] * widen(values[i][part * KEYS + threadIdx.x]);
            out[part] = value;
        }
    }
    for (int part = 0; is_real && part < HEAD_MAX / KEYS; part++)
        if (part * KEYS + threadIdx.x < width)
            o[at + part * KEYS + threadIdx.x] = narrow(out[part] / sum);
}

/* ---- The optimizer (constants: validate/cpu_run.h) */

extern "C" __global__ void adamw(const real *gradient, real *parameter, real *first, real *second,
                                 i64 count)
{
    i64 i = thread_index();
    if (i >= count)
        return;
    float g = widen(gradient[i]), p = widen(parameter[i]), m = widen(first[i]),
          v = widen(second[i]);
    m += (1 - 0.9f) * (g - m);
    v += (1 - 0.95f) * (g * g - v);
    float step = m / (1 - 0.9f) / (sqrtf(v / (1 - 0.95f)) + 1e-8f);
    first[i] = narrow(m);
    second[i] = narrow(v);
    parameter[i] = narrow(p - 1e-3f * (step + 0.1f * p));
}

#endif
