/* fp64 references of kernels that reduce along rows. */
#include "validate/cpu_check.h"

#include <math.h>

#include "validate/cpu_run.h"

static double
rms_scale(const float *x, int64_t width)
{
    double sum = 0;
    for (int64_t i = 0; i < width; i++)
        sum += (double)x[i] * (double)x[i];
    return 1 / sqrt(sum / (double)width + (double)CPU_RMS_NORM_EPSILON);
}

static void
check_rms_norm_forward(const struct rows_by_width *shape, const union cpu_array *before,
                       const union cpu_array *after, struct cpu_error *error)
{
    int64_t width = shape->width;
    for (int64_t row = 0; row < shape->rows; row++) {
        double scale = rms_scale(before[0].reals + row * width, width);
        for (int64_t at = row * width; at < (row + 1) * width; at++)
            cpu_error_add(error, (double)after[2].reals[at],
                          (double)before[0].reals[at] * scale *
                              (double)before[1].reals[at - row * width]);
    }
}

/* dx_i = s (g_i dy_i - x_i s^2 sum_j(g_j dy_j x_j) / width), by differentiating x_i s(x) g_i */
static void
check_rms_norm_row(const struct rows_by_width *shape, int64_t row,
                   const union cpu_array *before, const union cpu_array *after,
                   struct cpu_error *error)
{
    int64_t width = shape->width;
    const float *x = before[0].reals + row * width, *gain = before[1].reals,
                *y_gradient = before[2].reals + row * width;
    double scale = rms_scale(x, width), shared = 0;
    for (int64_t i = 0; i < width; i++)
        shared += (double)gain[i] * (double)y_gradient[i] * (double)x[i];
    for (int64_t i = 0; i < width; i++)
        cpu_error_add(error, (double)after[3].reals[row * width + i],
                      scale * (double)gain[i] * (double)y_gradient[i] -
                          (double)x[i] * scale * scale * scale * shared / (double)width);
}

/* dg_i = sum over rows of dy_i x_i s */
static double
gain_gradient(const struct rows_by_width *shape, int64_t i, const union cpu_array *before)
{
    double sum = 0;
    for (int64_t row = 0; row < shape->rows; row++) {
        int64_t at = row * shape->width + i;
        sum += (double)before[2].reals[at] * (double)before[0].reals[at] *
               rms_scale(before[0].reals + row * shape->width, shape->width);
    }
    return sum;
}

enum { GAINS_CHECKED = 8 }; /* each costs a pass over all rows */

static void
check_rms_norm_backward(const struct rows_by_width *shape, const union cpu_array *before,
                        const union cpu_array *after, struct cpu_error *error)
{
    for (int64_t row = 0; row < shape->rows; row++)
        check_rms_norm_row(shape, row, before, after, error);
    int64_t step = shape->width / GAINS_CHECKED + 1;
    for (int64_t i = shape->width - 1; i >= 0; i -= step)
        cpu_error_add(error, (double)after[4].reals[i], gain_gradient(shape, i, before));
}

void
cpu_check_rms_norm(const struct kernel *kernel, const union cpu_array *before,
                   const union cpu_array *after, struct cpu_error *error)
{
    if (kernel->direction == DIRECTION_FORWARD)
        check_rms_norm_forward(&kernel->rows_by_width, before, after, error);
    else
        check_rms_norm_backward(&kernel->rows_by_width, before, after, error);
}

/* log(sum(exp(x))), shifted by the largest x */
static double
log_sum_exp(const float *x, int64_t width)
{
    double shift = (double)x[0], sum = 0;
    for (int64_t i = 1; i < width; i++)
        shift = fmax(shift, (double)x[i]);
    for (int64_t i = 0; i < width; i++)
        sum += exp((double)x[i] - shift);
    /* The largest contributes exactly 1. */
    return shift + log(fmax(sum, 1));
}

static void
check_softmax_row_backward(const float *y, const float *y_gradient, const float *x_gradient,
                           int64_t width, struct cpu_error *error)
{
    double shared = 0;
    for (int64_t i = 0; i < width; i++)
        shared += (double)y[i] * (double)y_gradient[i];
    for (int64_t i = 0; i < width; i++)
        cpu_error_add(error, (double)x_gradient[i],
                      (double)y[i] * ((double)y_gradient[i] - shared));
}

static void
check_softmax_row(const float *x, const float *y, int64_t width, struct cpu_error *error)
{
    double shift = log_sum_exp(x, width);
    for (int64_t i = 0; i < width; i++)
        cpu_error_add(error, (double)y[i], exp((double)x[i] - shift));
}

void
cpu_check_softmax(const struct kernel *kernel, const union cpu_array *before,
                  const union cpu_array *after, struct cpu_error *error)
{
    int64_t width = kernel->rows_by_width.width;
    for (int64_t at = 0; at < kernel->rows_by_width.rows * width; at += width)
        if (kernel->direction == DIRECTION_FORWARD)
            check_softmax_row(before[0].reals + at, after[1].reals + at, width, error);
        else
            check_softmax_row_backward(before[0].reals + at, before[1].reals + at,
                                       after[2].reals + at, width, error);
}

static void
check_cross_entropy_row_backward(const float *logits, int64_t target, const float *gradient,
                                 int64_t vocab, struct cpu_error *error)
{
    double shift = log_sum_exp(logits, vocab);
    for (int64_t i = 0; i < vocab; i++)
        cpu_error_add(error, (double)gradient[i],
                      exp((double)logits[i] - shift) - (i == target ? 1 : 0));
}

void
cpu_check_cross_entropy(const struct kernel *kernel, const union cpu_array *before,
                        const union cpu_array *after, struct cpu_error *error)
{
    int64_t vocab = kernel->cross_entropy.vocab;
    for (int64_t row = 0; row < kernel->cross_entropy.rows; row++) {
        const float *logits = before[0].reals + row * vocab;
        int64_t target = before[1].indices[row];
        if (kernel->direction == DIRECTION_BACKWARD)
            check_cross_entropy_row_backward(logits, target, after[2].reals + row * vocab,
                                             vocab, error);
        else
            cpu_error_add(error, (double)after[2].reals[row],
                          log_sum_exp(logits, vocab) - (double)logits[target]);
    }
}

/* How many scores of the row are larger: the rank of a score that is in its right place. */
static int64_t
rank_of(const float *scores, int64_t experts, float score)
{
    int64_t larger = 0;
    for (int64_t expert = 0; expert < experts; expert++)
        larger += scores[expert] > score;
    return larger;
}

void
cpu_check_top_k(const struct kernel *kernel, const union cpu_array *before,
                const union cpu_array *after, struct cpu_error *error)
{
    int64_t experts = kernel->top_k.experts, k = kernel->top_k.k;
    for (int64_t at = 0; at < kernel->top_k.rows * k; at++) {
        const float *scores = before[0].reals + at / k * experts;
        int64_t expert = after[2].indices[at];
        float score = expert >= 0 && expert < experts ? scores[expert] : NAN;
        /* Equal scores may stand in either order: then the rank is at most the place. */
        bool is_in_place = rank_of(scores, experts, score) <= at % k &&
                           (at % k == 0 || after[1].reals[at - 1] >= after[1].reals[at]);
        cpu_error_add(error, is_in_place ? (double)after[1].reals[at] : (double)NAN,
                      (double)score);
    }
}
