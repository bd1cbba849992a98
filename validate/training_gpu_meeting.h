/* Where the GPUs of one step meet: their communicators, and the end of all waiting when one fails.
 *
 * A rank that has failed does not come to the next exchange, and the others would wait for it: on
 * their GPUs, or on the host while the library connects. The first that fails aborts all
 * communicators; nobody enters an exchange after that. */
#ifndef VALIDATE_TRAINING_GPU_MEETING_H
#define VALIDATE_TRAINING_GPU_MEETING_H

#include "sim/base/arena.h"
#include "validate/gpu_api.h"

enum { TRAINING_GPUS_MAX = 16 };

struct training_gpu_meeting;

/* Of open libraries that outlive it. */
struct training_gpu_meeting *training_gpu_meeting_new(const struct gpu_libraries *libraries,
                                                      int ranks, struct arena *arena);

/* The communicators of some ranks, which are the devices of the same ordinals, by rank in that
 * order; those that are there already come back. NULL after adding why not. */
void *const *training_gpu_meeting_join(struct training_gpu_meeting *meeting, const int *ranks,
                                       int count, struct error_list *errors);

/* A rank calls the library between the two, unless enter is false: somebody has failed. */
bool training_gpu_meeting_enter(struct training_gpu_meeting *meeting, int rank);
void training_gpu_meeting_leave(struct training_gpu_meeting *meeting, int rank);

/* This rank has failed; the second time, or when another was first, nothing happens. */
void training_gpu_meeting_fail(struct training_gpu_meeting *meeting, int rank);

/* The rank that failed first; -1: none has. */
int training_gpu_meeting_failed(const struct training_gpu_meeting *meeting);

/* Gives back all communicators; cannot fail. */
void training_gpu_meeting_free(struct training_gpu_meeting *meeting);

#endif
