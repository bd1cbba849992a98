/* What a training step asks of the machine that it runs on: memory, kernels, and exchanges with
 * other machines.
 *
 *      training_forward, training_backward, training_optimizer
 *                              │
 *                       training_device ── training_device_cpu.c   this process's core, and MPI
 *                                       └─ training_gpu.c          a GPU, and NCCL or RCCL
 *
 * Every call begins with the machine. Pointers to reals and indices are the machine's; those to
 * sizes, counts of rows and shapes are the host's. A machine works in the order of the calls, and
 * may do so later: only copy_out, total, sort_routes, exchange_counts and wait return when it is
 * done.
 *
 * No call fails. What goes wrong is put into `errors` once, and all calls behind it do nothing. */
#ifndef VALIDATE_TRAINING_DEVICE_H
#define VALIDATE_TRAINING_DEVICE_H

#include "validate/cpu_experts.h"
#include "validate/cpu_run.h"
#include "validate/process_group.h"
#include "validate/training_times.h"

struct training_device {
    void *machine;
    const struct error_list *errors;    /* NULL: this machine has none */
    const struct training_marks *marks; /* times by the machine's own clock; NULL: the core's */

    /* Zeroes, for as long as the machine; never NULL, though it may not be there after an error. */
    void *(*new_memory)(void *machine, size_t bytes);
    void (*copy_in)(void *machine, void *to, const void *from, size_t bytes);
    void (*copy_out)(void *machine, void *to, const void *from, size_t bytes);
    void (*zero)(void *machine, float *reals, int64_t count);
    void (*wait)(void *machine); /* until all is done */

    /* As cpu_run.h's, with the same operands; behind those of attention, where a machine may keep
     * (batch x queries, heads) of it from forward to backward, and backward's forward result
     * before that. */
    void (*gemm)(void *machine, const struct gemm *gemm, const float *a, const float *b,
                 float *c, bool is_added);
    void (*grouped_gemm)(void *machine, const struct grouped_gemm *gemm,
                         enum gemm_layout layout, const float *a, const float *b, float *c);
    void (*grouped_weight_gradient)(void *machine, const struct grouped_gemm *gemm,
                                    const float *x, const float *y_gradient, float *gradient);
    void (*attention)(void *machine, const struct attention *shape,
                      const struct cpu_attention_strides *strides,
                      const union cpu_array *operands);
    void (*attention_backward)(void *machine, const struct attention *shape,
                               const struct cpu_attention_strides *strides,
                               const union cpu_array *operands);
    void (*rms_norm)(void *machine, const struct rows_by_width *shape,
                     const union cpu_array *operands);
    void (*rms_norm_backward)(void *machine, const struct rows_by_width *shape,
                              const union cpu_array *operands, bool is_added);
    void (*softmax)(void *machine, const struct rows_by_width *shape,
                    const union cpu_array *operands);
    void (*softmax_backward)(void *machine, const struct rows_by_width *shape,
                             const union cpu_array *operands);
    void (*top_k)(void *machine, const struct top_k *shape, const union cpu_array *operands);
    void (*cross_entropy)(void *machine, const struct cross_entropy *shape,
                          const union cpu_array *operands);
    void (*cross_entropy_backward)(void *machine, const struct cross_entropy *shape,
                                   const union cpu_array *operands, float scale);
    void (*gather)(void *machine, const struct rows_by_width *shape,
                   const union cpu_array *operands);
    void (*scatter_add)(void *machine, const struct rows_by_width *shape,
                        const union cpu_array *operands);
    void (*add)(void *machine, int64_t count, const union cpu_array *operands);
    void (*adamw)(void *machine, const struct cpu_adamw *step, const union cpu_array *operands,
                  int64_t parameters);
    void (*newton_schulz)(void *machine, const struct newton_schulz *shape,
                          const union cpu_array *operands);

    /* As cpu_experts.h's. */
    void (*swiglu)(void *machine, int64_t rows, int64_t width, const float *gate_up, float *y);
    void (*swiglu_backward)(void *machine, int64_t rows, int64_t width, const float *gate_up,
                            const float *y_gradient, float *gate_up_gradient);
    void (*permute)(void *machine, const struct cpu_routes *routes, const float *x,
                    float *rows);
    void (*permute_backward)(void *machine, const struct cpu_routes *routes,
                             const float *rows_gradient, float *x_gradient);
    void (*combine)(void *machine, const struct cpu_routes *routes, const float *weights,
                    const float *rows, float *y);
    void (*combine_backward)(void *machine, const struct cpu_routes *routes,
                             const struct cpu_combine_backward *operands);
    void (*sort_routes)(void *machine, const int32_t *experts, int64_t count,
                        int64_t expert_count, int64_t *counts, int32_t *place);

    /* scores (tokens, experts): zero but weights[t, j] at chosen[t, j]. */
    void (*place_weights)(void *machine, const struct top_k *shape, const int32_t *chosen,
                          const float *weights, float *scores);
    double (*total)(void *machine, const float *reals, int64_t count);

    /* Muon: first = momentum first + gradient, ahead = gradient + momentum first; and weights
     * -= rate update + decay weights. */
    void (*momentum)(void *machine, int64_t count, float momentum,
                     const union cpu_array *operands);
    void (*muon_update)(void *machine, int64_t count, float rate, float decay,
                        const union cpu_array *operands);

    /* As process_group.h's, between the machines of a group of two and more, which all call. */
    void (*all_reduce)(void *machine, const struct process_group *group, float *reals,
                       int64_t count); /* in place */
    void (*all_gather)(void *machine, const struct process_group *group, const float *in,
                       float *out, int64_t count); /* count each */
    void (*reduce_scatter)(void *machine, const struct process_group *group, const float *in,
                           float *out, int64_t count); /* count each */
    void (*all_to_all_v)(void *machine, const struct process_group *group, const void *in,
                         const int64_t *in_bytes, void *out, const int64_t *out_bytes);
    void (*exchange)(void *machine, const struct process_group *group,
                     struct process_message to, const void *in, struct process_message from,
                     void *out);
    /* Of numbers on the host: count for each of the group, and from each. */
    void (*exchange_counts)(void *machine, const struct process_group *group, const int64_t *in,
                            int64_t *out, int64_t count);
};

/* This process's core; its memory is the arena's. */
const struct training_device *training_device_cpu(struct arena *arena);

bool training_device_failed(const struct training_device *device);

#endif
