/* The sizes of a training step that is run for real, and the part of one process in it.
 *
 * A decoder: embedding; layers of grouped-query attention and of a mixture of SwiGLU experts, each
 * behind an RMS norm and added to the residual; a norm, the head, cross-entropy. Processes are
 * numbered as models/placement.h numbers ranks: tensor ranks fastest, then data, then stages; the
 * experts' ranks are neighbours among the tensor and data ranks of a stage. */
#ifndef VALIDATE_TRAINING_SHAPE_H
#define VALIDATE_TRAINING_SHAPE_H

#include <stdbool.h>
#include <stdint.h>

struct training_shape {
    int64_t layers, hidden, vocab;
    int64_t query_heads, kv_heads, head_dim;
    int64_t experts, experts_per_token, expert_ffn;
    int64_t sequence_tokens, microbatch_sequences, global_batch_sequences;
    int64_t data, tensor, pipeline, expert; /* degrees; all 1: one process */
    bool is_muon;                           /* of the matrices of the layers, else AdamW's */
    int64_t newton_schulz_steps;
    bool is_newton_schulz_symmetric; /* the two symmetric products as triangles */
};

/* Where a process stands along each degree, counted from 0. */
struct training_place {
    int64_t tensor, data, stage;
    int64_t expert, expert_data; /* part of the experts, copy of that part */
};

/* What one process has of it all. */
struct training_part {
    struct training_place place;
    int64_t first_layer, layers;
    bool has_embedding, has_head;
    int64_t query_heads, kv_heads;
    int64_t query_width, kv_width, joined_width; /* joined: queries, keys and values */
    int64_t experts, first_expert;
    int64_t microbatches;
    int64_t whole_tokens; /* of a microbatch: attention's */
    int64_t tokens;       /* of them, its part: of residual, norms, router, head */
    int64_t copies;       /* tokens sent to experts */
    int64_t rows_most;    /* that can come to its experts */
};

/* The same step by one process. */
struct training_shape training_shape_alone(const struct training_shape *shape);

int64_t training_shape_ranks(const struct training_shape *shape);
struct training_part training_shape_part(const struct training_shape *shape, int64_t rank);

#endif
