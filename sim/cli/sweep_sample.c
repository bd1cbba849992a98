/* Points that fill a cube evenly: GSL's Sobol sequence, shifted. */
#include "sim/cli/sweep_sample.h"

#include <assert.h>
#include <math.h>

#include <gsl/gsl_qrng.h>

#include "sim/base/hash.h"

/* Cranley and Patterson's rotation (SIAM J. Numer. Anal. 13, 1976): how far an axis is shifted. */
static double
shift_of(int64_t seed, size_t axis)
{
    uint64_t mixed = hash_mixed((uint64_t)seed * SWEEP_SAMPLE_AXES_MAX + axis);
    return ldexp((double)(mixed >> 11), -53); /* 53 bits make a double below 1 */
}

const double *
sweep_samples(size_t points, size_t axes, int64_t seed, struct arena *arena)
{
    double *samples = arena_alloc(arena, points * axes, sizeof *samples);
    gsl_qrng *sequence = gsl_qrng_alloc(gsl_qrng_sobol, (unsigned)axes);
    assert(sequence && "as many axes as GSL has directions for");
    for (size_t point = 0; point < points; point++) {
        double *at = samples + point * axes;
        gsl_qrng_get(sequence, at);
        for (size_t axis = 0; axis < axes; axis++) {
            double shifted = at[axis] + shift_of(seed, axis);
            at[axis] = shifted - floor(shifted);
        }
    }
    gsl_qrng_free(sequence);
    return samples;
}
