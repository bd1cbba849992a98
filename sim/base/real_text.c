/* One conversion to 17 digits, from which the shorter ones follow by rounding.
 *
 * The 17 digits are a whole number N: the value is N units, give or take half of one. Rounded to 16
 * or 15 digits N moves by a few units; that reads back to the value if it stays within half a ulp
 * of it, which in these units is N 2^-54 / m for a value m 2^e, 0.5 <= m < 1. Where the halves of
 * units leave this open, and where the rounding itself hangs on what lies beyond the 17th digit,
 * printf and strtod decide.
 *
 * From 1e-6 to 1e17 N is the value times a power of ten that is a double itself, up to 10^22, so
 * that product and rounding error (by fma) are N exactly; elsewhere printf tells it. */
#include "sim/base/real_text.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DIGITS_LEAST = 15, DIGITS_MOST = 17 };

static const double WHOLE_BELOW = 1e15;   /* as many digits as %.15g shows without exponent */
static const double NORMAL_FROM = 1e-300; /* smaller ones have fewer bits, or may */
static const double UNIT_SLACK = 0.501;   /* half a unit, and the rounding of this arithmetic */

/* A decimal number: 0.d1d2d3... times ten to the exponent + 1. */
struct decimal {
    uint64_t digits; /* `count` of them */
    int count;
    int exponent; /* of the first digit: 3 of 1234 */
};

/* The shortest that reads back, of `precision` digits at least. */
static size_t
try_each(double value, int precision, char text[REAL_TEXT_MAX])
{
    int length = 0;
    for (; precision <= DIGITS_MOST; precision++) {
        length = snprintf(text, REAL_TEXT_MAX, "%.*g", precision, value);
        if (strtod(text, NULL) == value)
            break;
    }
    return (size_t)length;
}

/* The digits of a whole number, at least `width` of them. */
static size_t
write_digits(uint64_t number, int width, char *text)
{
    char reversed[24];
    int count = 0;
    for (; number > 0 || count < width; number /= 10)
        reversed[count++] = (char)('0' + number % 10);
    for (int i = 0; i < count; i++)
        text[i] = reversed[count - 1 - i];
    return (size_t)count;
}

/* The value times 10^(16 - exponent) rounded to a whole number; 0 where that power of ten is no
 * double, or where the value is half way between two. */
static uint64_t
scale(double value, int exponent)
{
    static const double tens[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                  1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                  1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    const int tens_count = sizeof tens / sizeof *tens;
    const double wholes_from = 0x1p53; /* doubles are whole numbers */
    int power = DIGITS_MOST - 1 - exponent;
    if (power < 0 || power >= tens_count)
        return 0;
    double product = value * tens[power], rest = fma(value, tens[power], -product);
    double whole = floor(rest), fraction = rest - whole;
    if (product < wholes_from || fraction == 0.5)
        return 0;
    return (uint64_t)((int64_t)product + (int64_t)whole) + (fraction > 0.5 ? 1 : 0);
}

/* By arithmetic; false where that is not exact. */
static bool
scale_to_seventeen(double value, struct decimal *decimal)
{
    const uint64_t low = 10000000000000000, high = 100000000000000000;
    const double log10_of_2 = 0.30102999566398120;
    int binary_exponent;
    frexp(value, &binary_exponent);
    int exponent = (int)floor((binary_exponent - 1) * log10_of_2); /* or one more */
    uint64_t digits = scale(value, exponent);
    if (digits >= high)
        digits = scale(value, ++exponent);
    *decimal = (struct decimal){digits, DIGITS_MOST, exponent};
    return digits >= low && digits < high;
}

/* "1.2345678901234567e-05" of %.16e. */
static struct decimal
print_seventeen(double value)
{
    char text[REAL_TEXT_MAX];
    struct decimal decimal = {.count = DIGITS_MOST};
    snprintf(text, sizeof text, "%.16e", value);
    decimal.digits = (uint64_t)(text[0] - '0');
    for (int i = 2; i < DIGITS_MOST + 1; i++)
        decimal.digits = decimal.digits * 10 + (uint64_t)(text[i] - '0');
    const char *exponent = text + DIGITS_MOST + 2;
    for (const char *at = exponent + 1; *at != '\0'; at++)
        decimal.exponent = decimal.exponent * 10 + (*at - '0');
    if (*exponent == '-')
        decimal.exponent = -decimal.exponent;
    return decimal;
}

enum answer { NO, YES, OPEN };

/* Rounds the 17 digits to `count`; whether that reads back to the same double. */
static enum answer
shorten(const struct decimal *whole, double half_ulp_units, int count, struct decimal *shorter)
{
    uint64_t step = count == DIGITS_LEAST ? 100 : 10;
    uint64_t rest = whole->digits % step, up = rest > step / 2 ? 1 : 0;
    double moved_units = (double)(up ? step - rest : rest);
    if (moved_units - UNIT_SLACK > half_ulp_units)
        return NO;
    if (rest == step / 2 || moved_units + UNIT_SLACK >= half_ulp_units)
        return OPEN;
    *shorter = (struct decimal){whole->digits / step + up, count, whole->exponent};
    return YES;
}

/* Without the zeros at its end; the digits of a number rounded up to the next power of ten are one
 * more than their count. */
static void
strip_zeros(struct decimal *decimal, uint64_t limit)
{
    if (decimal->digits == limit) {
        decimal->digits = 1;
        decimal->count = 1;
        decimal->exponent++;
    }
    while (decimal->count > 1 && decimal->digits % 10 == 0) {
        decimal->digits /= 10;
        decimal->count--;
    }
}

/* As %g lays it out: with an exponent from `precision` on and below -4. */
static size_t
write_decimal(const struct decimal *decimal, int precision, char *text)
{
    char digits[DIGITS_MOST + 7];
    size_t count = write_digits(decimal->digits, decimal->count, digits), length = 0;
    bool has_exponent = decimal->exponent < -4 || decimal->exponent >= precision;
    int before = has_exponent ? 1 : decimal->exponent + 1; /* digits before the point */
    if (before <= 0) {
        text[length++] = '0';
        text[length++] = '.';
        for (int i = before; i < 0; i++)
            text[length++] = '0';
    }
    for (size_t i = 0; i < count || (int)i < before; i++) {
        if (before > 0 && i == (size_t)before)
            text[length++] = '.';
        if (i < count)
            text[length++] = digits[i];
        else
            text[length++] = '0';
    }
    if (has_exponent) {
        text[length++] = 'e';
        text[length++] = decimal->exponent < 0 ? '-' : '+';
        length += write_digits((uint64_t)abs(decimal->exponent), 2, text + length);
    }
    text[length] = '\0';
    return length;
}

size_t
real_text_write_whole(int64_t value, char text[REAL_TEXT_MAX])
{
    size_t sign = value < 0 ? 1 : 0;
    uint64_t size = value < 0 ? -(uint64_t)value : (uint64_t)value;
    text[0] = '-';
    size_t length = sign + write_digits(size, 1, text + sign);
    text[length] = '\0';
    return length;
}

size_t
real_text_write(double value, char text[REAL_TEXT_MAX])
{
    size_t sign = signbit(value) ? 1 : 0;
    double size = fabs(value);
    int exponent;
    text[0] = '-';
    if (size < WHOLE_BELOW && size == (double)(uint64_t)size) {
        size_t length = sign + write_digits((uint64_t)size, 1, text + sign);
        text[length] = '\0';
        return length;
    }
    double m = frexp(size, &exponent);
    if (size < NORMAL_FROM || m == 0.5) /* half as wide below a power of two */
        return try_each(value, DIGITS_LEAST, text);
    struct decimal whole;
    if (!scale_to_seventeen(size, &whole))
        whole = print_seventeen(size);
    struct decimal shown = whole;
    double half_ulp_units = (double)whole.digits * 0x1p-54 / m;
    uint64_t limit = 1000000000000000;
    for (int count = DIGITS_LEAST; count < DIGITS_MOST; count++, limit *= 10) {
        enum answer answer = shorten(&whole, half_ulp_units, count, &shown);
        if (answer == OPEN)
            return try_each(value, count, text);
        if (answer == YES)
            break;
    }
    int precision = shown.count;
    strip_zeros(&shown, limit);
    return sign + write_decimal(&shown, precision, text + sign);
}
