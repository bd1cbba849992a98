/* For tests: numbers as nobody would choose them. */
#ifndef SIM_BASE_CHECK_RANDOM_H
#define SIM_BASE_CHECK_RANDOM_H

#include <stdint.h>

/* From 0 to bound - 1 (Knuth's MMIX generator). */
static inline uint32_t
check_random_below(uint64_t *seed, uint32_t bound)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*seed >> 33) % bound;
}

#endif
