/* The arithmetic of pricing a product's cuts, a million a second: inline, of numbers that are not
 * negative. */
#ifndef HW_GEMM_MATH_H
#define HW_GEMM_MATH_H

#include <math.h>
#include <stdint.h>

/* fmin, fmax and ceil are calls where the compiler must mind NaN; there is none here. */
static inline double
least(double a, double b)
{
    return a < b ? a : b;
}

static inline double
most(double a, double b)
{
    return a > b ? a : b;
}

/* Of what is not negative; from 2^53 every double is whole. */
static inline double
whole_down(double value)
{
    return value < 0x1p53 ? (double)(int64_t)value : value;
}

static inline double
whole(double value)
{
    double down = whole_down(value);
    return down < value ? down + 1 : down;
}

/* Two times of one resource, a^p + b^p = whole^p. p infinite: the larger; 1: their sum. */
struct norm {
    double p;
    double least_ratio; /* of the sum, by the inequality of power means: 2^(1/p) / 2 */
    double negligible;  /* so small a part of the larger leaves a double as it is */
};

/* p: at least 1. */
static inline struct norm
norm_new(double p)
{
    const double digits = 56; /* of a double, and some more */
    return (struct norm){
        .p = p, .least_ratio = exp2(1 / p - 1), .negligible = exp2(-digits / p)};
}

/* No more than norm_s gives, and cheap. */
static inline double
norm_least_s(const struct norm *norm, double a_s, double b_s)
{
    return most(most(a_s, b_s), norm->least_ratio * (a_s + b_s));
}

static inline double
norm_s(const struct norm *norm, double a_s, double b_s)
{
    double larger = most(a_s, b_s), smaller = least(a_s, b_s);
    if (smaller <= norm->negligible * larger)
        return larger;
    if (norm->p == 1)
        return larger + smaller;
    return larger * pow(1 + pow(smaller / larger, norm->p), 1 / norm->p);
}

#endif
