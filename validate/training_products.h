/* Products of a step, and where one layer's tokens meet those of other processes. */
#ifndef VALIDATE_TRAINING_PRODUCTS_H
#define VALIDATE_TRAINING_PRODUCTS_H

#include "hw/kernel.h"
#include "validate/cpu_experts.h"
#include "validate/cpu_run.h"
#include "validate/training.h"

/* y (rows, out) = x (rows, in) weight^T, with the names of its three products. */
struct training_linear {
    const char *name, *input_gradient, *weight_gradient;
    int64_t rows, out, in;
};
void training_linear_forward(struct training *step, const struct training_linear *linear,
                             const float *x, const float *weight, float *y);
void training_linear_input(struct training *step, const struct training_linear *linear,
                           const float *y_gradient, const float *weight, float *x_gradient,
                           bool is_added);
void training_linear_weight(struct training *step, const struct training_linear *linear,
                            const float *y_gradient, const float *x, float *weight_gradient);

/* The products of the model. */
struct training_linear training_joined_linear(const struct training *step);
struct training_linear training_output_linear(const struct training *step);
struct training_linear training_router_linear(const struct training *step);
struct training_linear training_head_linear(const struct training *step);

/* The attention of a microbatch's sequences; queries, keys and values side by side. */
struct attention training_attention(const struct training *step);
struct cpu_attention_strides training_attention_strides(const struct training *step);

/* Tokens of the whole step, of all processes. */
int64_t training_tokens(const struct training *step);
/* Rows that the layer's experts got. */
int64_t training_routed_rows(const struct training *step,
                             const struct training_layer_kept *layer);
struct cpu_routes training_routes(const struct training *step,
                                  const struct training_layer_kept *layer);

/* The tensor ranks' parts of the tokens become the whole; partial sums of the whole each rank's
 * part. With one tensor rank the result is the argument itself. */
const float *training_gather_sequence(struct training *step, const float *part);
void training_scatter_sequence(struct training *step, const float *whole, float *part);
/* Where a product of whole tokens goes that training_scatter_sequence is to make `part` of. */
float *training_whole_of(struct training *step, float *part);

/* Copies to the processes of their experts, and what comes of them back. With one expert rank
 * buffers are shared, and nothing moves. */
void training_count_routes(struct training *step, struct training_layer_kept *layer);
void training_dispatch(struct training *step, const struct training_layer_kept *layer,
                       float *copies, float *rows);
void training_collect(struct training *step, const struct training_layer_kept *layer,
                      float *rows, float *copies);

#endif
