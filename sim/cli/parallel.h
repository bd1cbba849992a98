/* One function over many indices, on several threads at once. */
#ifndef SIM_CLI_PARALLEL_H
#define SIM_CLI_PARALLEL_H

#include <stddef.h>

#include "sim/base/arena.h"

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

/* Calls `body` once on each of so many threads, numbered from 0, and returns when all are through.
 * The caller's own is 0; where the system grants fewer, the last are missing. */
struct parallel_team {
    void (*body)(void *context, int thread);
    void *context;
};
void parallel_team_run(const struct parallel_team *team, int threads);

/* What one thread at a time may hold. Lives until it is freed. */
struct parallel_lock;
struct parallel_lock *parallel_lock_new(struct arena *arena);
void parallel_lock_free(struct parallel_lock *lock);
void parallel_lock_take(struct parallel_lock *lock);
void parallel_lock_give(struct parallel_lock *lock);

/* Cores of this machine. */
int parallel_cores(void);

#endif
