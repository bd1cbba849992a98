/* Model FLOP per token, by part, under a stated convention. */
#ifndef MODELS_ARCH_FLOP_H
#define MODELS_ARCH_FLOP_H

#include "models/arch.h"

/* Forward FLOP of one token in a sequence of that length: products of matrices, attention with the
 * causal half of the mask, convolutions; norms, gates and other elementwise work count 0 (as in
 * Megatron-LM's count). Backward is twice forward. */
struct token_flop {
    double attention_projections;
    double convolutions;
    double attention_core;
    double router;
    double experts; /* or the dense feed-forward */
    double head;
    double forward; /* the sum */
    double train;   /* three times the sum */
    double six_n_active; /* the shorthand 6 x active non-embedding parameters, for comparison */
};

struct token_flop arch_flop(const struct arch *arch, int64_t sequence_tokens);

#endif
