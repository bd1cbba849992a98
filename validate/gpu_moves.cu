/* Kernels that move rows, convolve them and step the optimizer (part of the program that
 * gpu_kernels.cu begins) */

#if !defined(REAL_FP8) && !defined(REAL_INT8) && !defined(REAL_FP64)

/* ---- Rows that move */

extern "C" __global__ void HELD_ROWS gather(const real *table, const int *index, real *y, i64 rows,
                                  i64 width)
{
    i64 row = (i64)blockIdx.x * blockDim.y + threadIdx.y;
    if (row >= rows)
        return;
    const real *from = table + (i64)index[row] * width;
    struct lanes held[HELD];
    for (int first = 0; first < strips_of(width); first += HELD * (int)blockDim.x) {
        hold(held, HELD, from, first, width, 0);
        for (int i = 0; i < HELD; i++)
            if (first + strip_held(i) < strips_of(width))
                put(y + row * width, first + strip_held(i), width, &held[i]);
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

/* Sixteen bytes that lie on a boundary of as many. */
static __device__ void add_strip_atomically(real *to, const struct lanes *values)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900 && defined(REAL_FP32)
    asm volatile("red.global.add.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(to), "f"(values->of[0]),
                 "f"(values->of[1]), "f"(values->of[2]), "f"(values->of[3])
                 : "memory");
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
#if defined(REAL_BF16)
#define ADD_PAIRS "red.global.add.noftz.v4.bf16x2"
#else
#define ADD_PAIRS "red.global.add.noftz.v4.f16x2"
#endif
    const unsigned *pairs = (const unsigned *)values;
    asm volatile(ADD_PAIRS " [%0], {%1, %2, %3, %4};" ::"l"(to), "r"(pairs[0]), "r"(pairs[1]),
                 "r"(pairs[2]), "r"(pairs[3])
                 : "memory");
#else
    for (int lane = 0; lane < LANES; lane++)
        add_atomically(to + lane, values->of[lane]);
#endif
}

extern "C" __global__ void scatter_add(const real *x, const int *index, real *y, i64 rows,
                                       i64 width)
{
    i64 row = (i64)blockIdx.x * blockDim.y + threadIdx.y;
    if (row >= rows)
        return;
    real *to = y + (i64)index[row] * width;
    for (i64 i = threadIdx.x; width % LANES == 0 && i < width / LANES; i += blockDim.x) {
        struct lanes values = load(x + row * width, i);
        add_strip_atomically(to + i * LANES, &values);
    }
    for (i64 i = threadIdx.x; width % LANES != 0 && i < width; i += blockDim.x)
        add_atomically(to + i, x[row * width + i]);
}

/* A square at a time through shared memory, 128 bytes of each row; a thread has as many neighbours
 * as make four bytes, a column more keeps banks apart. */
enum { PAIR = 4 / sizeof(real), TILE = 32 * PAIR, TILE_ROWS = 8 };

struct __align__(4) pair {
    real of[PAIR];
};

static __device__ struct pair load_pair(const real *row, i64 at, i64 width)
{
    struct pair pair = {{0}};
    if (width % PAIR == 0 && at < width)
        return *(const struct pair *)(row + at);
    for (int i = 0; i < PAIR; i++)
        if (at + i < width)
            pair.of[i] = row[at + i];
    return pair;
}

static __device__ void store_pair(real *row, i64 at, i64 width, struct pair pair)
{
    if (width % PAIR == 0 && at < width) {
        *(struct pair *)(row + at) = pair;
        return;
    }
    for (int i = 0; i < PAIR; i++)
        if (at + i < width)
            row[at + i] = pair.of[i];
}

extern "C" __global__ void transpose(const real *x, real *y, i64 rows, i64 width)
{
    __shared__ real tile[TILE][TILE + 1];
    i64 tiles = (width + TILE - 1) / TILE;
    i64 row = (i64)blockIdx.x / tiles * TILE, column = (i64)blockIdx.x % tiles * TILE;
    int first = PAIR * (int)threadIdx.x;
    struct pair pairs[TILE / TILE_ROWS];
    for (int i = 0; i < TILE / TILE_ROWS; i++) {
        i64 from = row + i * TILE_ROWS + threadIdx.y;
        if (from < rows)
            pairs[i] = load_pair(x + from * width, column + first, width);
    }
    for (int i = 0; i < TILE / TILE_ROWS; i++)
        for (int j = 0; j < PAIR; j++)
            tile[i * TILE_ROWS + threadIdx.y][first + j] = pairs[i].of[j];
    __syncthreads();
    for (int i = 0; i < TILE / TILE_ROWS; i++) {
        int own = i * TILE_ROWS + (int)threadIdx.y;
        struct pair pair;
        for (int j = 0; j < PAIR; j++)
            pair.of[j] = tile[first + j][own];
        if (column + own < width)
            store_pair(y + (column + own) * rows, row + first, rows, pair);
    }
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

/* ---- The optimizer (constants: validate/cpu_run.h) */

static __device__ void adamw_one(real gradient, real *parameter, real *first, real *second)
{
    float g = widen(gradient), p = widen(*parameter), m = widen(*first), v = widen(*second);
    m += (1 - 0.9f) * (g - m);
    v += (1 - 0.95f) * (g * g - v);
    float step = m / (1 - 0.9f) / (sqrtf(v / (1 - 0.95f)) + 1e-8f);
    *first = narrow(m);
    *second = narrow(v);
    *parameter = narrow(p - 1e-3f * (step + 0.1f * p));
}

extern "C" __global__ void adamw(const real *gradient, real *parameter, real *first, real *second,
                                 i64 count)
{
    i64 index = thread_index(), whole = count / LANES, last = whole * LANES + index - whole;
    if (index < whole) {
        struct lanes g = load(gradient, index), p = load(parameter, index),
                     m = load(first, index), v = load(second, index);
        for (int i = 0; i < LANES; i++)
            adamw_one(g.of[i], &p.of[i], &m.of[i], &v.of[i]);
        store(parameter, index, &p);
        store(first, index, &m);
        store(second, index, &v);
    } else if (last < count) {
        adamw_one(gradient[last], parameter + last, first + last, second + last);
    }
}

#endif
