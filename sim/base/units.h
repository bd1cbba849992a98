/* SI units inside, people's units outside: every conversion and every scaled print is here. */
#ifndef SIM_BASE_UNITS_H
#define SIM_BASE_UNITS_H

#include <assert.h>
#include <stdint.h>

static const double UNITS_PS_PER_S = 1e12;

enum { UNITS_TEXT_MAX = 24 };

/* A quantity as people read it: three significant digits and the fitting prefix. */
struct units_text {
    char text[UNITS_TEXT_MAX];
};

/* Picoseconds to the nearest whole one, halves up, as llround has it: of what is >= 0 and under the
 * clock's range. A call of the C library takes longer than all else that a task's end takes. */
static inline int64_t
units_whole_ps(double ps)
{
    int64_t whole = (int64_t)ps;
    return whole + (ps - (double)whole >= 0.5);
}
/* Seconds to the engine's clock, rounded to the nearest picosecond. Asserts that s is finite, not
 * negative and under the clock's range of 106 days. */
static inline int64_t
units_ps_from_s(double s)
{
    assert(s >= 0 && s < 9.2e6 && "a time within the clock's 106 days");
    return units_whole_ps(s * UNITS_PS_PER_S);
}
static inline double
units_s_from_ps(int64_t ps)
{
    return (double)ps / UNITS_PS_PER_S;
}

struct units_text units_format_s(double s);                     /* "1.24 ms" */
struct units_text units_format_bytes(double bytes);             /* "17.7 GB", powers of 1000 */
struct units_text units_format_bytes_per_s(double bytes_per_s); /* "312 GB/s" */
struct units_text units_format_flop(double flop);               /* "429 GFLOP" */
struct units_text units_format_flop_per_s(double flop_per_s);   /* "724 TFLOP/s" */
struct units_text units_format_count(double count);             /* "8.30 B", "16.8 M" */
struct units_text units_format_fraction(double fraction);       /* "37.2 %" */

#endif
