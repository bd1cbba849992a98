/* Kernels along rows: norms, softmax, losses, the largest of a row (part of the program that
 * gpu_kernels.cu begins) */

#if !defined(REAL_FP8) && !defined(REAL_INT8) && !defined(REAL_FP64)

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

#define EPSILON 1e-5f

/* ---- A row as strips of sixteen bytes: a thread holds its first ones, so that rows that are not
 * wide are read once, and takes the others again for each pass. */

/* Four blocks to a multiprocessor, or three: 64 or 80 registers a thread on NVIDIA's. */
#define HELD_ROWS        __launch_bounds__(BLOCK_THREADS, 4)
#define HELD_ROWS_OF_TWO __launch_bounds__(BLOCK_THREADS, 3)

enum { HELD = 4, HELD_OF_TWO = 2 }; /* of one array, of each of two */

static __device__ int strips_of(i64 width)
{
    return (int)((width + LANES - 1) / LANES);
}

/* A strip of the row at x; beyond the row's end the neutral value. */
static __device__ struct lanes take(const real *x, int strip, i64 width, float neutral)
{
    struct lanes values;
    if (width % LANES == 0)
        return load(x, strip);
    for (int lane = 0; lane < LANES; lane++) {
        i64 i = (i64)strip * LANES + lane;
        values.of[lane] = i < width ? x[i] : narrow(neutral);
    }
    return values;
}

static __device__ void put(real *y, int strip, i64 width, const struct lanes *values)
{
    if (width % LANES == 0) {
        store(y, strip, values);
        return;
    }
    for (int lane = 0; lane < LANES; lane++)
        if ((i64)strip * LANES + lane < width)
            y[(i64)strip * LANES + lane] = values->of[lane];
}

/* The i-th strip that a thread holds. */
static __device__ int strip_held(int i)
{
    return (int)(i * blockDim.x + threadIdx.x);
}

/* Strips that the row at x has, of those from `first` on. */
static __device__ void hold(struct lanes *held, int count, const real *x, int first, i64 width,
                            float neutral)
{
    for (int i = 0; i < count; i++)
        if (first + strip_held(i) < strips_of(width))
            held[i] = take(x, first + strip_held(i), width, neutral);
}

/* Of a b. */
static __device__ float dot_of(const struct lanes *a, const struct lanes *b)
{
    float sum = 0;
    for (int lane = 0; lane < LANES; lane++)
        sum += widen(a->of[lane]) * widen(b->of[lane]);
    return sum;
}

static __device__ struct lanes normed(struct lanes x, const struct lanes *gain, float scale)
{
    for (int lane = 0; lane < LANES; lane++)
        x.of[lane] = narrow(widen(x.of[lane]) * scale * widen(gain->of[lane]));
    return x;
}

extern "C" __global__ void HELD_ROWS rms_norm(const real *x, const real *gain, real *y, i64 rows, i64 width)
{
    struct row row = own_row(rows, width);
    struct lanes held[HELD], values, g;
    int strips = strips_of(width);
    float sum = 0;
    hold(held, HELD, x + row.at, 0, width, 0);
    for (int i = 0; i < HELD; i++)
        if (strip_held(i) < strips)
            sum += dot_of(&held[i], &held[i]);
    for (int i = strip_held(HELD); i < strips; i += blockDim.x) {
        values = take(x + row.at, i, width, 0);
        sum += dot_of(&values, &values);
    }
    float scale = rsqrtf(row_sum(sum) / (float)width + EPSILON);
    if (!row.is_real)
        return;
    for (int i = 0; i < HELD; i++)
        if (strip_held(i) < strips) {
            g = take(gain, strip_held(i), width, 0);
            values = normed(held[i], &g, scale);
            put(y + row.at, strip_held(i), width, &values);
        }
    for (int i = strip_held(HELD); i < strips; i += blockDim.x) {
        g = take(gain, i, width, 0);
        values = normed(take(x + row.at, i, width, 0), &g, scale);
        put(y + row.at, i, width, &values);
    }
}

/* Squares of x, and dy gain x. */
static __device__ void add_norm(const struct lanes *x, const struct lanes *dy,
                                const struct lanes *gain, float *squares, float *shared)
{
    *squares += dot_of(x, x);
    for (int lane = 0; lane < LANES; lane++)
        *shared += widen(x->of[lane]) * widen(dy->of[lane]) * widen(gain->of[lane]);
}

static __device__ struct lanes norm_slope(struct lanes x, const struct lanes *dy,
                                          const struct lanes *gain, float scale, float mean)
{
    float less = scale * scale * mean;
    for (int lane = 0; lane < LANES; lane++)
        x.of[lane] = narrow(scale * (widen(dy->of[lane]) * widen(gain->of[lane]) -
                                     widen(x.of[lane]) * less));
    return x;
}

/* dx = scale (g dy - x scale^2 mean(g dy x)); keeps each row's scale for the gains. */
extern "C" __global__ void HELD_ROWS_OF_TWO rms_norm_backward(const real *x, const real *gain, const real *dy,
                                             real *dx, float *scales, i64 rows, i64 width)
{
    struct row row = own_row(rows, width);
    struct lanes held[HELD_OF_TWO], held_dy[HELD_OF_TWO], values, slopes, g;
    int strips = strips_of(width);
    float squares = 0, shared = 0;
    hold(held, HELD_OF_TWO, x + row.at, 0, width, 0);
    hold(held_dy, HELD_OF_TWO, dy + row.at, 0, width, 0);
    for (int i = 0; i < HELD_OF_TWO; i++)
        if (strip_held(i) < strips) {
            g = take(gain, strip_held(i), width, 0);
            add_norm(&held[i], &held_dy[i], &g, &squares, &shared);
        }
    for (int i = strip_held(HELD_OF_TWO); i < strips; i += blockDim.x) {
        values = take(x + row.at, i, width, 0);
        slopes = take(dy + row.at, i, width, 0);
        g = take(gain, i, width, 0);
        add_norm(&values, &slopes, &g, &squares, &shared);
    }
    float scale = rsqrtf(row_sum(squares) / (float)width + EPSILON);
    float mean = row_sum(shared) / (float)width;
    if (!row.is_real)
        return;
    for (int i = 0; i < HELD_OF_TWO; i++)
        if (strip_held(i) < strips) {
            g = take(gain, strip_held(i), width, 0);
            values = norm_slope(held[i], &held_dy[i], &g, scale, mean);
            put(dx + row.at, strip_held(i), width, &values);
        }
    for (int i = strip_held(HELD_OF_TWO); i < strips; i += blockDim.x) {
        slopes = take(dy + row.at, i, width, 0);
        g = take(gain, i, width, 0);
        values = norm_slope(take(x + row.at, i, width, 0), &slopes, &g, scale, mean);
        put(dx + row.at, i, width, &values);
    }
    if (threadIdx.x == 0)
        scales[row.at / width] = scale;
}

/* ---- Down columns: 32 threads side by side, 8 below each other that share their rows */

enum { COLUMN_THREADS = 32, COLUMN_ROWS = 8 };

/* Partial sums over a share of the rows, one a column: (gridDim.y, width). A thread has the
 * columns of a strip. */
extern "C" __global__ void gain_gradient_parts(const real *x, const real *dy, const float *scales,
                                               float *parts, i64 rows, i64 width)
{
    __shared__ float sums[COLUMN_ROWS][COLUMN_THREADS * LANES + 1];
    int strip = (int)(blockIdx.x * COLUMN_THREADS + threadIdx.x);
    float own[LANES] = {0};
    for (i64 row = (i64)blockIdx.y * COLUMN_ROWS + threadIdx.y;
         strip < strips_of(width) && row < rows; row += (i64)gridDim.y * COLUMN_ROWS) {
        struct lanes a = take(x + row * width, strip, width, 0),
                     b = take(dy + row * width, strip, width, 0);
        for (int lane = 0; lane < LANES; lane++)
            own[lane] += widen(a.of[lane]) * widen(b.of[lane]) * scales[row];
    }
    for (int lane = 0; lane < LANES; lane++)
        sums[threadIdx.y][lane * COLUMN_THREADS + threadIdx.x] = own[lane];
    __syncthreads();
    for (int lane = threadIdx.y; lane < LANES; lane += COLUMN_ROWS) {
        i64 column = (i64)strip * LANES + lane;
        float sum = 0;
        for (int i = 0; i < COLUMN_ROWS; i++)
            sum += sums[i][lane * COLUMN_THREADS + threadIdx.x];
        if (column < width)
            parts[(i64)blockIdx.y * width + column] = sum;
    }
}

/* Of a column's parts, once for all threads that share it; 0 beyond the width. */
static __device__ float part_sum(const float *parts, i64 part_count, i64 width, i64 column)
{
    __shared__ float sums[COLUMN_ROWS][COLUMN_THREADS];
    float sum = 0;
    for (i64 part = threadIdx.y; column < width && part < part_count; part += COLUMN_ROWS)
        sum += parts[part * width + column];
    sums[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();
    sum = 0;
    for (int i = 0; i < COLUMN_ROWS; i++)
        sum += sums[i][threadIdx.x];
    return sum;
}

extern "C" __global__ void gain_gradient(const float *parts, real *dgain, i64 part_count,
                                         i64 width)
{
    i64 column = (i64)blockIdx.x * COLUMN_THREADS + threadIdx.x;
    float sum = part_sum(parts, part_count, width, column);
    if (column < width && threadIdx.y == 0)
        dgain[column] = narrow(sum);
}

/* ---- Softmax and losses */

#define LEAST -3e38f

/* The largest so far, and the sum of exponentials relative to it (Milakov and Gimelshein, arXiv
 * 1805.02867, algorithm 3, a strip at a time). */
struct running {
    float largest, sum;
};

static __device__ void run_on(struct running *running, const struct lanes *values)
{
    float largest = running->largest;
    for (int lane = 0; lane < LANES; lane++)
        largest = fmaxf(largest, widen(values->of[lane]));
    running->sum *= expf(running->largest - largest);
    running->largest = largest;
    for (int lane = 0; lane < LANES; lane++)
        running->sum += expf(widen(values->of[lane]) - largest);
}

/* The largest of a row and the sum of exponentials of what is left; holds its first strips. */
static __device__ float exponential_sum(struct lanes *held, const real *x, i64 width,
                                        float *shift)
{
    struct running running = {LEAST, 0};
    hold(held, HELD, x, 0, width, LEAST);
    for (int i = 0; i < HELD; i++)
        if (strip_held(i) < strips_of(width))
            run_on(&running, &held[i]);
    for (int i = strip_held(HELD); i < strips_of(width); i += blockDim.x) {
        struct lanes values = take(x, i, width, LEAST);
        run_on(&running, &values);
    }
    *shift = row_largest(running.largest);
    return row_sum(running.sum * expf(running.largest - *shift));
}

/* Exponentials over their sum; less 1 at the target, where it is one of the strip. */
static __device__ struct lanes weights_of(struct lanes x, float shift, float scale, int target)
{
    for (int lane = 0; lane < LANES; lane++)
        x.of[lane] =
            narrow(expf(widen(x.of[lane]) - shift) * scale - (lane == target ? 1.0f : 0.0f));
    return x;
}

/* The row's softmax, less 1 at the target; -1: none. */
static __device__ void store_weights(const real *x, real *y, struct row row, i64 width,
                                     int target)
{
    struct lanes held[HELD], values;
    float shift, scale = 1 / exponential_sum(held, x + row.at, width, &shift);
    if (!row.is_real)
        return;
    for (int i = 0; i < HELD; i++)
        if (strip_held(i) < strips_of(width)) {
            values = weights_of(held[i], shift, scale, target - strip_held(i) * LANES);
            put(y + row.at, strip_held(i), width, &values);
        }
    for (int i = strip_held(HELD); i < strips_of(width); i += blockDim.x) {
        values = weights_of(take(x + row.at, i, width, LEAST), shift, scale, target - i * LANES);
        put(y + row.at, i, width, &values);
    }
}

extern "C" __global__ void HELD_ROWS softmax(const real *x, real *y, i64 rows, i64 width)
{
    store_weights(x, y, own_row(rows, width), width, -1);
}

static __device__ struct lanes softmax_slope(struct lanes y, const struct lanes *dy, float shared)
{
    for (int lane = 0; lane < LANES; lane++)
        y.of[lane] = narrow(widen(y.of[lane]) * (widen(dy->of[lane]) - shared));
    return y;
}

extern "C" __global__ void HELD_ROWS_OF_TWO softmax_backward(const real *y, const real *dy, real *dx, i64 rows,
                                            i64 width)
{
    struct row row = own_row(rows, width);
    struct lanes held[HELD_OF_TWO], held_dy[HELD_OF_TWO], values, slopes;
    int strips = strips_of(width);
    float sum = 0;
    hold(held, HELD_OF_TWO, y + row.at, 0, width, 0);
    hold(held_dy, HELD_OF_TWO, dy + row.at, 0, width, 0);
    for (int i = 0; i < HELD_OF_TWO; i++)
        if (strip_held(i) < strips)
            sum += dot_of(&held[i], &held_dy[i]);
    for (int i = strip_held(HELD_OF_TWO); i < strips; i += blockDim.x) {
        values = take(y + row.at, i, width, 0);
        slopes = take(dy + row.at, i, width, 0);
        sum += dot_of(&values, &slopes);
    }
    float shared = row_sum(sum);
    if (!row.is_real)
        return;
    for (int i = 0; i < HELD_OF_TWO; i++)
        if (strip_held(i) < strips) {
            values = softmax_slope(held[i], &held_dy[i], shared);
            put(dx + row.at, strip_held(i), width, &values);
        }
    for (int i = strip_held(HELD_OF_TWO); i < strips; i += blockDim.x) {
        slopes = take(dy + row.at, i, width, 0);
        values = softmax_slope(take(y + row.at, i, width, 0), &slopes, shared);
        put(dx + row.at, i, width, &values);
    }
}

extern "C" __global__ void HELD_ROWS cross_entropy(const real *logits, const int *targets, real *loss,
                                         i64 rows, i64 vocab)
{
    struct row row = own_row(rows, vocab);
    struct lanes held[HELD];
    float shift, sum = exponential_sum(held, logits + row.at, vocab, &shift);
    i64 index = row.at / vocab;
    if (row.is_real && threadIdx.x == 0)
        loss[index] = narrow(logf(sum) + shift - widen(logits[row.at + targets[index]]));
}

extern "C" __global__ void HELD_ROWS cross_entropy_backward(const real *logits, const int *targets,
                                                  real *gradient, i64 rows, i64 vocab)
{
    struct row row = own_row(rows, vocab);
    store_weights(logits, gradient, row, vocab, targets[row.at / vocab]);
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

#endif
