/* One function over many indices, on several threads: each takes the next index that is left. */
#include "sim/cli/parallel.h"

#include <stdbool.h>

#include <pthread.h>
#include <unistd.h>

struct worker {
    const struct parallel_team *team;
    int number;
    pthread_t thread;
    bool is_started;
};

static void *
work_on(void *argument)
{
    const struct worker *worker = argument;
    worker->team->body(worker->team->context, worker->number);
    return NULL;
}

void
parallel_team_run(const struct parallel_team *team, int threads)
{
    struct worker workers[PARALLEL_THREADS_MAX] = {{.team = team}};
    if (threads > PARALLEL_THREADS_MAX)
        threads = PARALLEL_THREADS_MAX;
    for (int i = 1; i < threads; i++) {
        workers[i] = (struct worker){.team = team, .number = i};
        workers[i].is_started =
            pthread_create(&workers[i].thread, NULL, work_on, &workers[i]) == 0;
    }
    work_on(&workers[0]);
    for (int i = 1; i < threads; i++)
        if (workers[i].is_started)
            pthread_join(workers[i].thread, NULL);
}

struct parallel_lock {
    pthread_mutex_t mutex;
};

struct parallel_lock *
parallel_lock_new(struct arena *arena)
{
    struct parallel_lock *lock = arena_alloc(arena, 1, sizeof *lock);
    pthread_mutex_init(&lock->mutex, NULL);
    return lock;
}

void
parallel_lock_free(struct parallel_lock *lock)
{
    pthread_mutex_destroy(&lock->mutex);
}

void
parallel_lock_take(struct parallel_lock *lock)
{
    pthread_mutex_lock(&lock->mutex);
}

void
parallel_lock_give(struct parallel_lock *lock)
{
    pthread_mutex_unlock(&lock->mutex);
}

struct pool {
    const struct parallel_work *work;
    struct parallel_lock lock;
    size_t next; /* under the lock */
};

static bool
take_index(struct pool *pool, size_t *index)
{
    parallel_lock_take(&pool->lock);
    bool is_left = pool->next < pool->work->count;
    *index = pool->next;
    pool->next += is_left;
    parallel_lock_give(&pool->lock);
    return is_left;
}

static void
work_through(void *context, int thread)
{
    struct pool *pool = context;
    for (size_t index = 0; take_index(pool, &index);)
        pool->work->each(pool->work->context, index, thread);
}

void
parallel_run(const struct parallel_work *work, int threads)
{
    struct pool pool = {.work = work};
    bool is_fewer = threads > 0 && work->count < (size_t)threads;
    pthread_mutex_init(&pool.lock.mutex, NULL);
    parallel_team_run(&(struct parallel_team){work_through, &pool},
                      is_fewer ? (int)work->count : threads);
    parallel_lock_free(&pool.lock);
}

int
parallel_cores(void)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    return cores < 1 ? 1 : cores > PARALLEL_THREADS_MAX ? PARALLEL_THREADS_MAX : (int)cores;
}
