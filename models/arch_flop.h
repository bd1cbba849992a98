/* Model FLOP per token, by part, under a stated convention. */
#ifndef MODELS_ARCH_FLOP_H
#define MODELS_ARCH_FLOP_H

#include "models/arch.h"

/* Forward FLOP of one token, the mean over a sequence of that length; a multiply-add is 2.
 * Products of matrices, attention with the causal half of the mask (a layer with a window: only
 * what it sees), convolutions. Norms, gates, softmax and other elementwise work count 0, and so
 * does the embedding's lookup: as in Megatron-LM's num_floating_point_operations. Backward is
 * twice forward; recomputation counts nothing. Each token visits all its experts: the skip
 * route is taken by none. */
struct token_flop {
    double attention_projections;
    double convolutions;
    double attention_core;
    double router;
    double experts; /* or a dense model's feed-forward */
    double shared_experts;
    double dense_layers; /* the feed-forward of a mixture's first layers that have no experts */
    double head;
    double prediction;   /* multi-token prediction: a product, a layer and the head each */
    double forward;      /* the sum */
    double train;        /* three times the sum */
    double six_n_active; /* the shorthand 6 x active non-embedding parameters, for comparison */
    double forward_full_mask; /* were masked-out attention counted: other tools' convention */
    double train_full_mask;
};

struct token_flop arch_flop(const struct arch *arch, int64_t sequence_tokens);

#endif
