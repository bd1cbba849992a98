/* One function over many indices, on several threads: each takes the next index that is left. */
#include "sim/cli/parallel.h"

#include <stdbool.h>

#include <pthread.h>
#include <unistd.h>

struct pool {
    const struct parallel_work *work;
    pthread_mutex_t lock;
    size_t next; /* under the lock */
};

struct worker {
    struct pool *pool;
    int number;
    pthread_t thread;
    bool is_started;
};

static bool
take_index(struct pool *pool, size_t *index)
{
    pthread_mutex_lock(&pool->lock);
    bool is_left = pool->next < pool->work->count;
    *index = pool->next;
    pool->next += is_left;
    pthread_mutex_unlock(&pool->lock);
    return is_left;
}

static void *
work_on(void *argument)
{
    const struct worker *worker = argument;
    const struct parallel_work *work = worker->pool->work;
    for (size_t index = 0; take_index(worker->pool, &index);)
        work->each(work->context, index, worker->number);
    return NULL;
}

void
parallel_run(const struct parallel_work *work, int threads)
{
    struct pool pool = {.work = work};
    struct worker workers[PARALLEL_THREADS_MAX] = {{.pool = &pool}};
    if (threads > PARALLEL_THREADS_MAX)
        threads = PARALLEL_THREADS_MAX;
    pthread_mutex_init(&pool.lock, NULL);
    for (int i = 1; i < threads && (size_t)i < work->count; i++) {
        workers[i] = (struct worker){.pool = &pool, .number = i};
        workers[i].is_started =
            pthread_create(&workers[i].thread, NULL, work_on, &workers[i]) == 0;
    }
    work_on(&workers[0]); /* this thread is the first of them */
    for (int i = 1; i < threads; i++)
        if (workers[i].is_started)
            pthread_join(workers[i].thread, NULL);
    pthread_mutex_destroy(&pool.lock);
}

int
parallel_cores(void)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    return cores < 1 ? 1 : cores > PARALLEL_THREADS_MAX ? PARALLEL_THREADS_MAX : (int)cores;
}
