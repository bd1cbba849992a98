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
