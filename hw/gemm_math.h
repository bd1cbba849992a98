/* The arithmetic of pricing a product's cuts, a million a second: inline, of numbers that are not
 * negative. */
#ifndef HW_GEMM_MATH_H
#define HW_GEMM_MATH_H

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

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

_Static_assert(FLT_EVAL_METHOD == 0, "sums are rounded to a double each");

/* To the nearest whole number, as a sum rounds that has no place for a fraction; from 2^52 every
 * double is whole. */
static inline double
whole_nearest(double value)
{
    return value < 0x1p52 ? value + 0x1p52 - 0x1p52 : value;
}

static inline double
whole_down(double value)
{
    double nearest = whole_nearest(value);
    return nearest - (nearest > value ? 1 : 0);
}

static inline double
whole(double value)
{
    double nearest = whole_nearest(value);
    return nearest + (nearest < value ? 1 : 0);
}

/* The largest power of two that value, 1 at least, reaches: a double's exponent without its
 * fraction. */
static inline double
power_of_two_down(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    bits &= UINT64_C(0x7ff) << 52;
    memcpy(&value, &bits, sizeof bits);
    return value;
}

/* Of whole numbers under 2^53. */
static inline bool
is_multiple(double value, double of)
{
    return whole_down(value / of) * of == value;
}

/* Two times of one resource, a^p + b^p = whole^p. p infinite: the larger; 1: their sum. */
struct norm {
    double p;
    double negligible; /* so small a part of the larger leaves a double as it is */
};

/* p: at least 1. */
static inline struct norm
norm_new(double p)
{
    const double digits = 56; /* of a double, and some more */
    return (struct norm){.p = p, .negligible = exp2(-digits / p)};
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

/* Of the plane that touches the norm above (a_s, b_s), both over 0: of any other pair a x + b y is
 * no more than its norm, which is convex. */
struct norm_slopes {
    double a, b;
};

/* whole_s: norm_s of the two. With r the ratio of the smaller to the larger, the norm is
 * (1 + r^p)^(1/p) times the larger; its derivatives are that over 1 + r^p, and r^(p-1) of it. */
static inline struct norm_slopes
norm_slopes_of(const struct norm *norm, double a_s, double b_s, double whole_s)
{
    double larger = most(a_s, b_s), ratio = least(a_s, b_s) / larger;
    double part = pow(ratio, norm->p);
    double steep = whole_s / larger / (1 + part), flat = steep * part / ratio;
    return a_s < b_s ? (struct norm_slopes){flat, steep} : (struct norm_slopes){steep, flat};
}

#endif
