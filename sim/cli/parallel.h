/* One function over many indices, on several threads at once. */
#ifndef SIM_CLI_PARALLEL_H
#define SIM_CLI_PARALLEL_H

#include <stddef.h>

struct parallel_work {
    void (*each)(void *context, size_t index,
                 int thread); /* touches nothing of another index */
    void *context;
    size_t count;
};

enum { PARALLEL_THREADS_MAX = 256 };

/* Calls `each` once for every index, in any order, and returns when all are done. Threads are
 * numbered from 0; where the system grants fewer than asked for, fewer do all of it. */
void parallel_run(const struct parallel_work *work, int threads);

/* Cores of this machine. */
int parallel_cores(void);

#endif
