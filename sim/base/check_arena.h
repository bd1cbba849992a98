/* For tests only: an arena that ends the test when memory ends. */
#ifndef SIM_BASE_CHECK_ARENA_H
#define SIM_BASE_CHECK_ARENA_H

#include <stdlib.h>

#include "sim/base/arena.h"

static inline void
check_arena_out_of_memory(void *context, size_t wanted_bytes)
{
    (void)context;
    (void)wanted_bytes;
    abort();
}

static inline struct arena *
check_arena_new(void)
{
    struct arena_policy policy = {.out_of_memory = check_arena_out_of_memory};
    return arena_new(&policy);
}

#endif
