/* Causal convolution along the tokens: fp32, one thread.
 *
 *     y[t, c] = sum over taps j and channels i of c's group of x[t - j, i] w[j, i, c]
 *
 * A group of one channel is a line of vector arithmetic, a wider one a product for each tap:
 * (tokens - j, width) by (width, width), OpenBLAS's, with rows a token apart. */
#include "validate/cpu_run.h"

#include <cblas.h>
#include <string.h>

struct products {
    const struct convolution *shape;
    int width, stride; /* channels of a group; from one token to the next */
};

static struct products
products_of(const struct convolution *shape)
{
    return (struct products){.shape = shape,
                             .width = (int)(shape->channels / shape->groups),
                             .stride = (int)shape->channels};
}

/* The matrix (width, width) of a tap and a group: taps lie outermost. */
static int64_t
weight_at(const struct products *products, int64_t tap, int64_t group)
{
    int64_t width = products->width;
    return (tap * products->shape->groups + group) * width * width;
}

/* y += x w, a token's row shifted by the tap. */
static void
add_lines(const struct products *products, int64_t tap, const union cpu_array *operands)
{
    int64_t channels = products->stride, tokens = products->shape->tokens;
    const float *restrict w = operands[1].reals + tap * channels;
    for (int64_t token = tap; token < tokens; token++) {
        const float *restrict x = operands[0].reals + (token - tap) * channels;
        float *restrict y = operands[2].reals + token * channels;
        for (int64_t i = 0; i < channels; i++)
            y[i] += x[i] * w[i];
    }
}

static void
add_products(const struct products *products, int64_t tap, const union cpu_array *operands)
{
    int rows = (int)(products->shape->tokens - tap), width = products->width,
        stride = products->stride;
    for (int64_t group = 0; group < products->shape->groups; group++)
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, rows, width, width, 1,
                    operands[0].reals + group * width, stride,
                    operands[1].reals + weight_at(products, tap, group), width, 1,
                    operands[2].reals + tap * stride + group * width, stride);
}

void
cpu_run_convolution(const struct kernel *kernel, const union cpu_array *operands)
{
    const struct convolution *shape = &kernel->convolution;
    struct products products = products_of(shape);
    memset(operands[2].reals, 0, (size_t)(shape->tokens * shape->channels) * sizeof(float));
    for (int64_t tap = 0; tap < shape->taps && tap < shape->tokens; tap++)
        (products.width == 1 ? add_lines : add_products)(&products, tap, operands);
}

/* dx += dy w, dw = sum over tokens of x dy */
static void
add_line_slopes(const struct products *products, int64_t tap, const union cpu_array *operands)
{
    int64_t channels = products->stride, tokens = products->shape->tokens;
    const float *restrict w = operands[1].reals + tap * channels;
    float *restrict w_slope = operands[4].reals + tap * channels;
    for (int64_t token = tap; token < tokens; token++) {
        int64_t from = (token - tap) * channels;
        const float *restrict x = operands[0].reals + from;
        const float *restrict y_slope = operands[2].reals + token * channels;
        float *restrict x_slope = operands[3].reals + from;
        for (int64_t i = 0; i < channels; i++) {
            x_slope[i] += y_slope[i] * w[i];
            w_slope[i] += y_slope[i] * x[i];
        }
    }
}

static void
add_product_slopes(const struct products *products, int64_t tap,
                   const union cpu_array *operands)
{
    int rows = (int)(products->shape->tokens - tap), width = products->width,
        stride = products->stride;
    for (int64_t group = 0; group < products->shape->groups; group++) {
        int64_t at = group * width, weight = weight_at(products, tap, group);
        const float *y_slope = operands[2].reals + tap * stride + at;
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, rows, width, width, 1, y_slope,
                    stride, operands[1].reals + weight, width, 1, operands[3].reals + at,
                    stride);
        cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, width, width, rows, 1,
                    operands[0].reals + at, stride, y_slope, stride, 0,
                    operands[4].reals + weight, width);
    }
}

void
cpu_run_convolution_backward(const struct kernel *kernel, const union cpu_array *operands)
{
    const struct convolution *shape = &kernel->convolution;
    struct products products = products_of(shape);
    size_t weights = (size_t)(shape->taps * shape->channels * products.width);
    memset(operands[3].reals, 0, (size_t)(shape->tokens * shape->channels) * sizeof(float));
    memset(operands[4].reals, 0, weights * sizeof(float));
    for (int64_t tap = 0; tap < shape->taps && tap < shape->tokens; tap++)
        (products.width == 1 ? add_line_slopes : add_product_slopes)(&products, tap, operands);
}
