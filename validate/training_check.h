/* The loss of a training step in fp64, written straight from the definitions without any of the
 * timed code, and the gradient of the step held against differences of it. */
#ifndef VALIDATE_TRAINING_CHECK_H
#define VALIDATE_TRAINING_CHECK_H

#include "validate/training.h"

/* The mean loss of the words that the step takes, with these weights (laid out as step->model's).
 * Of one process: its part is the whole. */
double training_check_loss(struct training *step, const double *weights, struct arena *arena);

/* Runs the passes of the step, then moves the weights of one kind of tensor, or of all
 * (TRAINING_TENSOR_KIND_COUNT), a little along random signs and back, and compares the fp64 loss's
 * slope with the gradient's. An estimate of norm(gradient - true) / norm(gradient): its root mean
 * square over the signs is that. Each tensor counts alike. */
double training_check_gradient(struct training *step, enum training_tensor_kind kind,
                               uint64_t seed, struct arena *arena);

/* Runs the passes by all processes and by each alone, and gives norm(gradient - the one
 * process's) / norm(that), over the parts of all. */
double training_check_alone(struct training *step, struct arena *arena);

/* A step on another machine beside the same one on this core, of one process. */
struct training_difference {
    double gradient_fraction; /* norm(gradient - the core's) / norm(that) */
    double loss_fraction;
    int64_t choices, other_choices; /* of experts; where two scores are nearly equal, rounding
                                       decides, and gradients have nothing in common any more */
};

/* Runs the passes of both. */
struct training_difference training_check_device(const struct training_shape *shape,
                                                 const struct training_device *device,
                                                 uint64_t seed, struct arena *arena);

/* What training_gpus.h's ranks have made of the shape's passes, against one core that does it all;
 * choices are not looked at. */
struct training_gpus;
struct training_difference training_check_gpus(const struct training_gpus *all, uint64_t seed,
                                               struct arena *arena);

#endif
