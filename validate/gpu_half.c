/* bf16 is the upper half of fp32; fp16 has five bits of exponent, bias 15 (IEEE 754). */
#include "validate/gpu_half.h"

#include <math.h>
#include <string.h>

static float
from_bf16(uint16_t bits)
{
    uint32_t whole = (uint32_t)bits << 16;
    float value;
    memcpy(&value, &whole, sizeof value);
    return value;
}

static float
from_fp16(uint16_t bits)
{
    int exponent = bits >> 10 & 31, fraction = bits & 1023;
    float size;
    if (exponent == 31)
        size = fraction != 0 ? NAN : INFINITY;
    else if (exponent == 0)
        size = ldexpf((float)fraction, -24);
    else
        size = ldexpf((float)(1024 + fraction), exponent - 25);
    return bits >> 15 ? -size : size;
}

void
gpu_half_widen(enum dtype dtype, const void *from, float *to, size_t count)
{
    const uint16_t *halves = from;
    if (dtype == DTYPE_FP32)
        memcpy(to, from, count * sizeof *to);
    else
        for (size_t i = 0; i < count; i++)
            to[i] = dtype == DTYPE_BF16 ? from_bf16(halves[i]) : from_fp16(halves[i]);
}

/* The upper half of the fp32, of which the lower is zero for so few bits. */
static uint16_t
to_bf16(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return (uint16_t)(bits >> 16);
}

static uint16_t
to_fp16(float value)
{
    int exponent;
    float fraction = frexpf(fabsf(value), &exponent); /* 0.5 to 1 */
    if (value == 0)
        return 0;
    return (uint16_t)((value < 0 ? 0x8000 : 0) | (exponent + 14) << 10 |
                      ((int)(fraction * 2048) - 1024));
}

void
gpu_half_write(enum dtype dtype, int value, void *to)
{
    float real = (float)value;
    uint16_t bits = dtype == DTYPE_BF16 ? to_bf16(real) : to_fp16(real);
    if (dtype == DTYPE_FP32)
        memcpy(to, &real, sizeof real);
    else
        memcpy(to, &bits, sizeof bits);
}
