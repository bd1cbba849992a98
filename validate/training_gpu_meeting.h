/* Where the GPUs of one step meet: their communicators, and the end of all waiting when one fails.
 *
 * A rank that has failed does not come to the next exchange, and the others would wait for it: on
 * their GPUs, or on the host while the library connects. The first that fails aborts all
 * communicators; nobody enters an exchange after that. Where nobody fails and yet somebody waits,
 * as for a link or a rank that is stuck, a thread of its own that watches does so. */
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

/* A rank waits for its GPU between the two. */
void training_gpu_meeting_wait(struct training_gpu_meeting *meeting, int rank);
void training_gpu_meeting_go_on(struct training_gpu_meeting *meeting, int rank);

/* This rank has failed; the second time, or when another was first, nothing happens. */
void training_gpu_meeting_fail(struct training_gpu_meeting *meeting, int rank);

/* Before all ranks run a step, and at the end of each. */
void training_gpu_meeting_begin(struct training_gpu_meeting *meeting);
void training_gpu_meeting_end(struct training_gpu_meeting *meeting);

/* Until all ranks have ended: fails the rank that is in an exchange or waits for its GPU for longer
 * than that, or whose communicator tells of a fault. */
void training_gpu_meeting_watch(struct training_gpu_meeting *meeting, double timeout_s);

/* What the watch saw, "" while nothing; of the rank that failed first. */
const char *training_gpu_meeting_fault(const struct training_gpu_meeting *meeting);

/* The rank that failed first; -1: none has. */
int training_gpu_meeting_failed(const struct training_gpu_meeting *meeting);

/* Gives back all communicators; cannot fail. */
void training_gpu_meeting_free(struct training_gpu_meeting *meeting);

#endif
