/* Points that fill a cube evenly, the same for the same seed. */
#ifndef SIM_CLI_SWEEP_SAMPLE_H
#define SIM_CLI_SWEEP_SAMPLE_H

#include <stddef.h>
#include <stdint.h>

#include "sim/base/arena.h"

enum { SWEEP_SAMPLE_AXES_MAX = 40 }; /* GSL's directions end there */

/* The first points of Sobol's sequence (I. M. Sobol, USSR Comput. Math. Math. Phys. 7, 1967), each
 * coordinate shifted round by an amount that the seed decides: (points, axes), 0 to below 1. */
const double *sweep_samples(size_t points, size_t axes, int64_t seed, struct arena *arena);

#endif
