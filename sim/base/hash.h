/* Hashes that any program can repeat: of bytes, and of whole numbers. */
#ifndef SIM_BASE_HASH_H
#define SIM_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

/* 64-bit FNV-1a (Fowler, Noll, Vo: draft-eastlake-fnv-17, section 2). Against slips, not against
 * forgers. */
uint64_t hash_fnv1a_64(const char *bytes, size_t length);

/* SplitMix64's output function (Steele, Lea, Flood, OOPSLA 2014, figure 16): one to one, and
 * every bit of the result depends on every bit of x. 0 stays 0. */
static inline uint64_t
hash_mixed(uint64_t x)
{
    x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
    return x ^ x >> 31;
}

#endif
