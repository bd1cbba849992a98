/* Measures a training step: is it right, how long does it take, and what does each part take? */
#ifndef VALIDATE_TRAINING_MEASURE_H
#define VALIDATE_TRAINING_MEASURE_H

#include "sim/base/error.h"
#include "sim/base/text.h"
#include "validate/gpu.h"
#include "validate/process_group.h"
#include "validate/training_question.h"

struct training_effort {
    int64_t warmups;
    int64_t steps_min, steps_max; /* timed; so many, then until budget_s has passed */
    double budget_s;
    uint64_t seed; /* of weights and words */
};

/* Two to warm up, 5 to 100 in five seconds. */
struct training_effort training_effort_new(void);

/* All processes of the world, which must be as many as the run has ranks, run the steps, or one
 * process on its GPU, where that is not NULL; the answer of rank 0 is a line of JSON as
 * sim/cli/measured_steps.h reads it:
 *
 *   run, settings                    the question
 *   measured_s, measured_repeats_s   the median of the steps, and each: of the slowest process
 *   measured_core_s                  the median of the time that its process had a core for it, or
 *                                    that the GPU worked
 *   measured_quiet_s                 with the least time of each piece of work: the sum of those of
 *                                    one process, of several played again (training_replay.h)
 *   measured_forward_backward_s ...  of those, the parts of a step
 *   measured_kernels                 of those, by name: seconds_s, runs
 *   measured_losses                  of all steps, those to warm up too
 *   measured_error_fraction          of the gradients, against slopes, or a GPU's against the same
 *                                    step on a core: validate/training_check.h
 *   measured_alone_error_fraction    against one process that does it all, where there are several
 *
 * False after adding why not: a fault of the run, other ranks, gradients that are wrong. */
bool training_measure(const struct training_question *question,
                      const struct training_effort *effort, const struct process_group *world,
                      struct gpu *gpu, struct text *out, struct error_list *errors);

#endif
