/* One collective on its way over the GPUs of this machine: what its calls, check and times share.
 */
#ifndef VALIDATE_GPU_COLLECTIVE_WORK_H
#define VALIDATE_GPU_COLLECTIVE_WORK_H

#include "validate/gpu_collective.h"

enum { GPU_RANKS_MAX = 16 };

struct gpu_rank {
    void *context, *stream, *start, *end;
    void *sent, *received, *ready; /* of the collective at hand; sent may be received */
};

struct gpu_collectives {
    struct gpu *gpu;
    int open_count; /* of the ranks that have a stream */
    struct gpu_rank ranks[GPU_RANKS_MAX];
    void *communicators[GPU_RANKS_MAX + 1][GPU_RANKS_MAX]; /* [ranks][rank] */
};

struct gpu_collective_work {
    struct gpu_collectives *all;
    enum collective_kind kind;
    enum dtype dtype;
    int ranks, type, from, to;
    int64_t sent_blocks, received_blocks;
    size_t count; /* elements of a block */
    size_t element_bytes;
    bool is_in_place;
};

/* Calls act on this rank's GPU from now on. */
bool gpu_rank_turn_to(const struct gpu_collectives *all, int rank, struct error_list *errors);

/* One call on every rank. */
bool gpu_collective_call(const struct gpu_collective_work *work, struct error_list *errors);

/* Until every rank's stream is empty. False after adding what the library reports on the way, or
 * that it did not end in time: its communicators are aborted then. */
bool gpu_collective_wait(const struct gpu_collective_work *work, struct error_list *errors);

/* Runs it once on small whole numbers; false when a result is not exact, or on a fault. */
bool gpu_collective_check(const struct gpu_collective_work *work, double *error_fraction,
                          struct arena *arena, struct error_list *errors);

/* Of one call, the slowest rank. */
bool gpu_collective_times(const struct gpu_collective_work *work, struct measure_times *times,
                          struct arena *arena, struct error_list *errors);

#endif
