/* A kernel on several threads: its rows, where none needs another, are shared out. */
#ifndef VALIDATE_CPU_THREADS_H
#define VALIDATE_CPU_THREADS_H

#include "validate/cpu_kernel.h"

/* The same bytes for any number of threads. Kernels whose rows meet (a transpose, a gradient that
 * is summed over rows, attention's blocks) run on one, their products on OpenBLAS's own. */
void cpu_threads_run(const struct cpu_kernel *cpu, int threads,
                     const union cpu_array *operands);

/* Calls run for every index below count, each in a thread of its own where the system has one. */
void cpu_threads_each(int count, void (*run)(void *context, int index), void *context);

#endif
