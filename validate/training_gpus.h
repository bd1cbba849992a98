/* A training step on several GPUs of one machine by one process: a thread drives each GPU through
 * the program of training.h, as a process does on a core; NCCL or RCCL exchanges where MPI does.
 *
 *      thread 0   passes ─┬─ reduction ─┬─ optimizer
 *      thread 1   passes ─┼─ reduction ─┼─ optimizer
 *      ...                exchanges between GPUs */
#ifndef VALIDATE_TRAINING_GPUS_H
#define VALIDATE_TRAINING_GPUS_H

#include "validate/training.h"
#include "validate/training_gpu.h"

struct training_gpus;

/* Open GPUs, the i-th that of ordinal i, as many as the shape has ranks; they outlive it. NULL
 * after adding why not, nothing left on them. */
struct training_gpus *training_gpus_new(struct gpu *const *gpus,
                                        const struct training_shape *shape, uint64_t seed,
                                        struct arena *arena, struct error_list *errors);

/* A step of this number, of all ranks; without the optimizer, gradients alone. Returns when all
 * GPUs are done: false after adding what went wrong first, of which GPU; where one has failed no
 * other waits for it, and no step runs any more. */
struct training_gpus_call {
    int64_t number;
    bool is_optimized;
};
bool training_gpus_run(struct training_gpus *all, struct training_gpus_call call,
                       struct error_list *errors);

/* The step of one rank, whose times tell of its GPU: calls of this thread act on that now. */
struct training *training_gpus_step(const struct training_gpus *all, int rank);
/* The mean loss of the passes run, over all ranks. */
double training_gpus_loss(const struct training_gpus *all);

/* Gives back everything on the devices; cannot fail. */
void training_gpus_free(struct training_gpus *all);

#endif
