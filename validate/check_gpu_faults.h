/* For tests only: when the calls of check_gpu.h fail, and what it counts. */
#ifndef VALIDATE_CHECK_GPU_FAULTS_H
#define VALIDATE_CHECK_GPU_FAULTS_H

#include <sched.h>
#include <stdbool.h>

/* Calls of each sort until one fails; negative: never. */
struct check_gpu_faults {
    int memory, launch, copy, event, choice, exchange, stream;
    int stuck;           /* an exchange that does not go on until somebody aborts it */
    int link;            /* a question to a communicator that tells of a fault */
    const char *missing; /* a kernel */
    bool is_wrong;       /* products are a thousandth too large */
};

static struct check_gpu_faults check_gpu_faults;
static int check_gpu_live;     /* pieces of memory, events, descriptions that nobody freed */
static int check_gpu_launches; /* so far */

enum { CHECK_GPU_FAULT = 700, CHECK_GPU_NO_FUNCTION = 500 };

/* GPUs are driven by a thread each, and this process is all of them. */
static int check_gpu_lock;

static inline void
check_gpu_enter(void)
{
    while (__sync_lock_test_and_set(&check_gpu_lock, 1) != 0)
        (void)sched_yield();
}

static inline void
check_gpu_leave(void)
{
    __sync_lock_release(&check_gpu_lock);
}

/* Whether this call is the one to fail. */
static inline bool
check_gpu_fails(int *left)
{
    check_gpu_enter();
    bool is_fault = *left >= 0 && (*left)-- == 0;
    check_gpu_leave();
    return is_fault;
}

static inline void
check_gpu_count(int *counter, int more)
{
    (void)__sync_fetch_and_add(counter, more);
}

#endif
