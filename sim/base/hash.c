/* FNV-1a. */
#include "sim/base/hash.h"

uint64_t
hash_fnv1a_64(const char *bytes, size_t length)
{
    uint64_t hash = 0xcbf29ce484222325; /* the offset basis and prime of the 64-bit variant */
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (uint8_t)bytes[i]) * 0x100000001b3;
    return hash;
}
