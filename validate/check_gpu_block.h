/* For tests only: the threads of a GPU's block on the host, one after the other from meeting to
 * meeting. Part of the file that .ci/gpu-host writes. */
#ifndef VALIDATE_CHECK_GPU_BLOCK_H
#define VALIDATE_CHECK_GPU_BLOCK_H

#include <stdlib.h>
#include <ucontext.h>

#include "validate/check_gpu_source.h"

enum { CHECK_GPU_STACK_BYTES = 65536 };

struct check_gpu_place threadIdx, blockIdx, blockDim, gridDim;

static struct {
    ucontext_t scheduler, threads[CHECK_GPU_THREADS];
    bool is_done[CHECK_GPU_THREADS], is_known[CHECK_GPU_THREADS];
    char *stacks;
    bool is_alone; /* the threads do not meet */
    int count, current;
    const struct check_gpu_kernel *kernel;
    void **arguments;
} check_gpu_block;

static void
check_gpu_thread(void)
{
    check_gpu_block.kernel->call(check_gpu_block.arguments);
    check_gpu_block.is_done[check_gpu_block.current] = true;
}

void
check_gpu_meet(void)
{
    if (check_gpu_block.is_alone)
        abort(); /* the first thread did not come here */
    ucontext_t *own = &check_gpu_block.threads[check_gpu_block.current];
    (void)swapcontext(own, &check_gpu_block.scheduler);
}

static void
check_gpu_begin_block(void)
{
    check_gpu_block.is_alone = false;
    for (int i = 0; i < check_gpu_block.count; i++) {
        ucontext_t *thread = &check_gpu_block.threads[i];
        if (!check_gpu_block.is_known[i])
            (void)getcontext(thread); /* once: it asks the kernel */
        check_gpu_block.is_known[i] = true;
        thread->uc_stack.ss_sp = check_gpu_block.stacks + (size_t)i * CHECK_GPU_STACK_BYTES;
        thread->uc_stack.ss_size = CHECK_GPU_STACK_BYTES;
        thread->uc_link = &check_gpu_block.scheduler;
        makecontext(thread, check_gpu_thread, 0);
        check_gpu_block.is_done[i] = false;
    }
}

static void
check_gpu_turn_to(int thread)
{
    unsigned place = (unsigned)thread;
    check_gpu_block.current = thread;
    threadIdx = (struct check_gpu_place){place % blockDim.x, place / blockDim.x, 0};
}

/* To the next meeting, or the end; true: there is more to do. */
static bool
check_gpu_run_thread(int thread)
{
    if (check_gpu_block.is_done[thread])
        return false;
    check_gpu_turn_to(thread);
    (void)swapcontext(&check_gpu_block.scheduler, &check_gpu_block.threads[thread]);
    return !check_gpu_block.is_done[thread];
}

/* Where the first thread meets nobody, nobody does. */
static void
check_gpu_run_block(void)
{
    check_gpu_begin_block();
    bool is_left = check_gpu_run_thread(0);
    check_gpu_block.is_alone = !is_left;
    for (int i = 1; !is_left && i < check_gpu_block.count; i++) {
        check_gpu_turn_to(i);
        check_gpu_thread();
    }
    for (int i = 1; is_left && i < check_gpu_block.count; i++)
        (void)check_gpu_run_thread(i);
    while (is_left) {
        is_left = false;
        for (int i = 0; i < check_gpu_block.count; i++)
            is_left = check_gpu_run_thread(i) || is_left;
    }
}

void
check_gpu_run_grid(const struct check_gpu_kernel *kernel, void **arguments,
                   struct check_gpu_place grid, struct check_gpu_place block)
{
    gridDim = grid;
    blockDim = block;
    check_gpu_block.count = (int)(block.x * block.y);
    check_gpu_block.kernel = kernel;
    check_gpu_block.arguments = arguments;
    for (unsigned y = 0; y < grid.y; y++)
        for (unsigned x = 0; x < grid.x; x++) {
            blockIdx = (struct check_gpu_place){x, y, 0};
            check_gpu_run_block();
        }
}

void
check_gpu_open_threads(void)
{
    check_gpu_block.stacks = malloc((size_t)CHECK_GPU_THREADS * CHECK_GPU_STACK_BYTES);
}

void
check_gpu_close_threads(void)
{
    free(check_gpu_block.stacks);
}

#endif
