/* For tests, fuzz targets and benches only: an arena that ends them when memory ends. */
#ifndef SIM_BASE_CHECK_ARENA_H
#define SIM_BASE_CHECK_ARENA_H

#include <stdio.h>
#include <stdlib.h>

#include "sim/base/arena.h"

static inline void
check_arena_out_of_memory(void *context, size_t wanted_bytes)
{
    (void)context;
    (void)fprintf(stderr, "no memory for %zu bytes\n", wanted_bytes);
    abort();
}

static inline struct arena *
check_arena_new(void)
{
    struct arena_policy policy = {.out_of_memory = check_arena_out_of_memory};
    return arena_new(&policy);
}

#endif
