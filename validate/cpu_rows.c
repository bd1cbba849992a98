/* Kernels that reduce along rows: fp32, one thread. Sums run over sixteen lanes, which a
 * compiler may keep in vector registers without changing their order. */
#include "validate/cpu_run.h"

#include <math.h>

#include "validate/cpu_exponential.h"

enum { LANES = 16 };

static float
lanes_sum(const float *lanes)
{
    float sum = 0;
    for (int lane = 0; lane < LANES; lane++)
        sum += lanes[lane];
    return sum;
}

static float
dot(const float *restrict a, const float *restrict b, int64_t width)
{
    float lanes[LANES] = {0}, tail = 0;
    int64_t i = 0;
    for (; i + LANES <= width; i += LANES)
        for (int lane = 0; lane < LANES; lane++)
            lanes[lane] += a[i + lane] * b[i + lane];
    for (; i < width; i++)
        tail += a[i] * b[i];
    return lanes_sum(lanes) + tail;
}

static float
dot_of_three(const float *restrict a, const float *restrict b, const float *restrict c,
             int64_t width)
{
    float lanes[LANES] = {0}, tail = 0;
    int64_t i = 0;
    for (; i + LANES <= width; i += LANES)
        for (int lane = 0; lane < LANES; lane++)
            lanes[lane] += a[i + lane] * b[i + lane] * c[i + lane];
    for (; i < width; i++)
        tail += a[i] * b[i] * c[i];
    return lanes_sum(lanes) + tail;
}

static float
total(const float *x, int64_t width)
{
    float lanes[LANES] = {0}, tail = 0;
    int64_t i = 0;
    for (; i + LANES <= width; i += LANES)
        for (int lane = 0; lane < LANES; lane++)
            lanes[lane] += x[i + lane];
    for (; i < width; i++)
        tail += x[i];
    return lanes_sum(lanes) + tail;
}

static float
largest(const float *x, int64_t width)
{
    float lanes[LANES], best = x[0];
    int64_t i = 0;
    for (int lane = 0; lane < LANES; lane++)
        lanes[lane] = x[0];
    for (; i + LANES <= width; i += LANES)
        for (int lane = 0; lane < LANES; lane++)
            lanes[lane] = x[i + lane] > lanes[lane] ? x[i + lane] : lanes[lane];
    for (int lane = 0; lane < LANES; lane++)
        best = lanes[lane] > best ? lanes[lane] : best;
    for (; i < width; i++)
        best = x[i] > best ? x[i] : best;
    return best;
}

static float
exponential_sum(const float *x, float shift, int64_t width)
{
    float lanes[LANES] = {0}, tail = 0;
    int64_t i = 0;
    for (; i + LANES <= width; i += LANES)
        for (int lane = 0; lane < LANES; lane++)
            lanes[lane] += cpu_exponential(x[i + lane] - shift);
    for (; i < width; i++)
        tail += cpu_exponential(x[i] - shift);
    return lanes_sum(lanes) + tail;
}

static float
rms_norm_scale(const float *x, int64_t width)
{
    return 1 / sqrtf(dot(x, x, width) / (float)width + CPU_RMS_NORM_EPSILON);
}

/* operands: x (rows, width), gain (width), y (rows, width); Zhang and Sennrich, arXiv
 * 1910.07467, equation 4 */
void
cpu_run_rms_norm(const struct kernel *kernel, const union cpu_array *operands)
{
    int64_t width = kernel->rows_by_width.width;
    const float *restrict gain = operands[1].reals;
    for (int64_t row = 0; row < kernel->rows_by_width.rows; row++) {
        const float *restrict x = operands[0].reals + row * width;
        float *restrict y = operands[2].reals + row * width;
        float scale = rms_norm_scale(x, width);
        for (int64_t i = 0; i < width; i++)
            y[i] = x[i] * scale * gain[i];
    }
}

/* One row: with xs = x scale, dx = scale (g dy - xs mean(g dy xs)), dgain += dy xs. */
static void
rms_norm_row_backward(const union cpu_array *operands, int64_t row, int64_t width)
{
    const float *restrict x = operands[0].reals + row * width;
    const float *restrict gain = operands[1].reals;
    const float *restrict y_gradient = operands[2].reals + row * width;
    float *restrict x_gradient = operands[3].reals + row * width;
    float *restrict gain_gradient = operands[4].reals;
    float scale = rms_norm_scale(x, width);
    for (int64_t i = 0; i < width; i++)
        x_gradient[i] = y_gradient[i] * gain[i];
    float mean = dot(x_gradient, x, width) * scale / (float)width;
    for (int64_t i = 0; i < width; i++) {
        float scaled = x[i] * scale;
        x_gradient[i] = scale * (x_gradient[i] - scaled * mean);
        gain_gradient[i] += y_gradient[i] * scaled;
    }
}

/* The same, dx added to what is there. */
static void
rms_norm_row_backward_added(const union cpu_array *operands, int64_t row, int64_t width)
{
    const float *restrict x = operands[0].reals + row * width;
    const float *restrict gain = operands[1].reals;
    const float *restrict y_gradient = operands[2].reals + row * width;
    float *restrict x_gradient = operands[3].reals + row * width;
    float *restrict gain_gradient = operands[4].reals;
    float scale = rms_norm_scale(x, width);
    float mean = dot_of_three(x, y_gradient, gain, width) * scale / (float)width;
    for (int64_t i = 0; i < width; i++) {
        float scaled = x[i] * scale;
        x_gradient[i] += scale * (y_gradient[i] * gain[i] - scaled * mean);
        gain_gradient[i] += y_gradient[i] * scaled;
    }
}

void
cpu_rms_norm_backward(const struct rows_by_width *shape, const union cpu_array *operands,
                      bool is_added)
{
    for (int64_t row = 0; row < shape->rows; row++)
        (is_added ? rms_norm_row_backward_added : rms_norm_row_backward)(operands, row,
                                                                         shape->width);
}

/* operands: x, gain, dy, dx, dgain (width) */
void
cpu_run_rms_norm_backward(const struct kernel *kernel, const union cpu_array *operands)
{
    for (int64_t i = 0; i < kernel->rows_by_width.width; i++)
        operands[4].reals[i] = 0;
    cpu_rms_norm_backward(&kernel->rows_by_width, operands, false);
}

/* y = exp(x - shift) scale */
static void
exponentials(const float *x, float *y, float shift, float scale, int64_t width)
{
    for (int64_t i = 0; i < width; i++)
        y[i] = cpu_exponential(x[i] - shift) * scale;
}

/* operands: x (rows, width), y (rows, width) */
void
cpu_run_softmax(const struct kernel *kernel, const union cpu_array *operands)
{
    int64_t width = kernel->rows_by_width.width;
    for (int64_t row = 0; row < kernel->rows_by_width.rows; row++) {
        const float *x = operands[0].reals + row * width;
        float *y = operands[1].reals + row * width;
        exponentials(x, y, largest(x, width), 1, width);
        float scale = 1 / total(y, width);
        for (int64_t i = 0; i < width; i++)
            y[i] *= scale;
    }
}

/* operands: y, dy, dx, all (rows, width); dx = y (dy - sum(y dy)) */
void
cpu_run_softmax_backward(const struct kernel *kernel, const union cpu_array *operands)
{
    int64_t width = kernel->rows_by_width.width;
    for (int64_t row = 0; row < kernel->rows_by_width.rows; row++) {
        const float *restrict y = operands[0].reals + row * width;
        const float *restrict y_gradient = operands[1].reals + row * width;
        float *restrict x_gradient = operands[2].reals + row * width;
        float shared = dot(y, y_gradient, width);
        for (int64_t i = 0; i < width; i++)
            x_gradient[i] = y[i] * (y_gradient[i] - shared);
    }
}

/* operands: logits (rows, vocab), target (rows), loss (rows) */
void
cpu_run_cross_entropy(const struct kernel *kernel, const union cpu_array *operands)
{
    int64_t vocab = kernel->cross_entropy.vocab;
    for (int64_t row = 0; row < kernel->cross_entropy.rows; row++) {
        const float *logits = operands[0].reals + row * vocab;
        float shift = largest(logits, vocab);
        float sum = exponential_sum(logits, shift, vocab);
        operands[2].reals[row] = logf(sum) + shift - logits[operands[1].indices[row]];
    }
}

void
cpu_cross_entropy_backward(const struct cross_entropy *shape, const union cpu_array *operands,
                           float scale)
{
    int64_t vocab = shape->vocab;
    for (int64_t row = 0; row < shape->rows; row++) {
        const float *logits = operands[0].reals + row * vocab;
        float *gradient = operands[2].reals + row * vocab;
        float shift = largest(logits, vocab);
        exponentials(logits, gradient, shift, scale / exponential_sum(logits, shift, vocab),
                     vocab);
        gradient[operands[1].indices[row]] -= scale;
    }
}

/* operands: logits, target, dlogits (rows, vocab) = softmax(logits) - 1 at the target; the sum
 * of exponentials is made anew */
void
cpu_run_cross_entropy_backward(const struct kernel *kernel, const union cpu_array *operands)
{
    cpu_cross_entropy_backward(&kernel->cross_entropy, operands, 1);
}

/* Keeps the k largest so far in descending order. */
static void
top_k_of_row(const float *scores, const struct top_k *top_k, float *values, int32_t *experts)
{
    int64_t kept = 0;
    for (int64_t expert = 0; expert < top_k->experts; expert++) {
        float score = scores[expert];
        if (kept == top_k->k && score <= values[kept - 1])
            continue;
        int64_t place = kept < top_k->k ? kept++ : kept - 1;
        for (; place > 0 && values[place - 1] < score; place--) {
            values[place] = values[place - 1];
            experts[place] = experts[place - 1];
        }
        values[place] = score;
        experts[place] = (int32_t)expert;
    }
}

/* operands: scores (rows, experts), values (rows, k), experts (rows, k) */
void
cpu_run_top_k(const struct kernel *kernel, const union cpu_array *operands)
{
    const struct top_k *top_k = &kernel->top_k;
    for (int64_t row = 0; row < top_k->rows; row++)
        top_k_of_row(operands[0].reals + row * top_k->experts, top_k,
                     operands[1].reals + row * top_k->k, operands[2].indices + row * top_k->k);
}
