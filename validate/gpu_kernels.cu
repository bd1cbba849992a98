/* Kernels of the vocabulary for GPUs: one source for NVRTC and hipRTC, of this file and those behind
 * it in the Makefile's GPU_KERNELS, compiled for one dtype at a time: REAL_FP64, REAL_FP32, REAL_BF16,
 * REAL_FP16, REAL_FP8 or REAL_INT8 is defined.
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

#endif
