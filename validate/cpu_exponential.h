/* e^x in fp32 without a call or a branch, so that a compiler keeps it in vector registers. */
#ifndef VALIDATE_CPU_EXPONENTIAL_H
#define VALIDATE_CPU_EXPONENTIAL_H

#include <stdint.h>

/* e^x = 2^n e^r, r from -ln(2)/2 to ln(2)/2: Cephes' expf.c (S. L. Moshier, netlib.org/cephes),
 * its polynomial and its ln(2) in two parts. Relative error under 2e-7; x from -87 to 87. */
static inline float
cpu_exponential_within(float x)
{
    const float round_shift = 12582912; /* 1.5 * 2^23: adding it rounds to integers */
    float n = (x * 1.44269504F + round_shift) - round_shift;
    float r = x - n * 0.693359375F + n * 2.12194440e-4F;
    float series = 1.9875691500e-4F;
    series = series * r + 1.3981999507e-3F;
    series = series * r + 8.3334519073e-3F;
    series = series * r + 4.1665795894e-2F;
    series = series * r + 1.6666665459e-1F;
    series = series * r + 5.0000001201e-1F;
    union {
        int32_t bits;
        float real;
    } power = {.bits = ((int32_t)n + 127) * (1 << 23)}; /* 2^n, by its exponent */
    return (series * r * r + r + 1) * power.real;
}

static inline float
cpu_between(float x, float least, float most)
{
    x = x < least ? least : x;
    return x > most ? most : x;
}

/* x beyond the range of normal fp32 is taken as the end of that range. */
static inline float
cpu_exponential(float x)
{
    return cpu_exponential_within(cpu_between(x, -87, 87));
}

/* 1 / (1 + e^-x). Ends where it differs from 0 and 1 by 1e-26, so that no product with a factor of
 * it is subnormal: those take a processor a hundred times as long, and a compiler calculates both
 * sides of the choice in every lane. */
static inline float
cpu_sigmoid(float x)
{
    return 1 / (1 + cpu_exponential_within(cpu_between(-x, -60, 60)));
}

#endif
