/* Measures one kernel on this machine's CPU: fresh random operands, a check, then the time. */
#ifndef VALIDATE_MEASURE_CPU_H
#define VALIDATE_MEASURE_CPU_H

#include <stdbool.h>
#include <stdint.h>

#include "hw/kernel.h"
#include "sim/base/arena.h"
#include "sim/base/error.h"
#include "validate/measure_backend.h"
#include "validate/measure_rounds.h"
#include "validate/measure_times.h"

struct measure_cpu_options {
    struct measure_effort effort;
    double cache_bytes;  /* of the last cache: operands rotate through more than this */
    double memory_bytes; /* the most that all operands may take */
    uint64_t seed;       /* of the operands' random values */
    int threads;         /* that run a kernel, and OpenBLAS's; 0: one */
    float *sweep;        /* memory to sweep, larger than the cache; NULL: a kernel's own */
};

/* What this machine has: its last cache, half of its memory; two warm-ups, 5 to 200 repeats,
 * half a second. */
struct measure_cpu_options measure_cpu_options_new(void);

/* "OpenBLAS 0.3.21 ...", in the arena; and "Intel(R) Xeon(R) Processor, 1 thread". */
const char *measure_cpu_library(struct arena *arena);
const char *measure_cpu_device(int threads, struct arena *arena);

/* False after adding ERROR_INPUT: no code for this kernel, too large for
 * the memory, or a wrong result, which is never timed. Keeps nothing in the arena that the
 * caller needs: a fresh arena a kernel bounds the memory. */
bool measure_cpu(const struct kernel *kernel, const struct measure_cpu_options *options,
                 struct measure_result *result, struct arena *arena, struct error_list *errors);

/* The kernel, found right, as a piece of work on one set of operands in the arena. The same
 * faults. */
bool measure_cpu_piece(const struct kernel *kernel, const struct measure_cpu_options *options,
                       struct measure_piece *piece, struct measure_result *result,
                       struct arena *arena, struct error_list *errors);

/* Writes over memory larger than the last cache; the context is a struct measure_cpu_options *. */
void measure_cpu_sweep(void *context);
double measure_cpu_sweep_bytes(const struct measure_cpu_options *options);

/* The same as a back end; the options outlive it. */
struct measure_backend measure_cpu_backend(struct measure_cpu_options *options,
                                           struct arena *arena);

#endif
