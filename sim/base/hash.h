/* A hash of bytes that any program can repeat. */
#ifndef SIM_BASE_HASH_H
#define SIM_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

/* 64-bit FNV-1a (Fowler, Noll, Vo: draft-eastlake-fnv-17, section 2). Against slips, not against
 * forgers. */
uint64_t hash_fnv1a_64(const char *bytes, size_t length);

#endif
