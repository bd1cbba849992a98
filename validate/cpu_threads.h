/* A kernel on several threads: its rows, where none needs another, are shared out. */
#ifndef VALIDATE_CPU_THREADS_H
#define VALIDATE_CPU_THREADS_H

#include "validate/cpu_kernel.h"

/* The same bytes for any number of threads. Kernels whose rows meet (a transpose, a gradient that
 * is summed over rows, attention's blocks) run on one, their products on OpenBLAS's own. */
void cpu_threads_run(const struct cpu_kernel *cpu, int threads,
                     const union cpu_array *operands);

enum { CPU_THREADS_MAX = 64 };

/* Calls run for every index below count, of at most CPU_THREADS_MAX, all at once, each in a thread
 * of its own: they may wait for each other. False, and nothing was called: the system has not so
 * many threads. */
bool cpu_threads_each(int count, void (*run)(void *context, int index), void *context);

#endif
