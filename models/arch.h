/* A model's architecture: its sizes, and what kind each part is. No plan, no hardware. */
#ifndef MODELS_ARCH_H
#define MODELS_ARCH_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/arena.h"
#include "sim/base/error.h"
#include "sim/base/json.h"

enum attention_kind {
    ATTENTION_GQA, /* MHA where query and kv heads are equally many */
    ATTENTION_CCA, /* compressed convolutional attention, arXiv 2510.04476 */
};

enum router_kind {
    ROUTER_LINEAR,
    ROUTER_MLP, /* ZAYA1: down-projection, three layers, arXiv 2511.17127 section IV */
};

struct arch {
    const char *name;
    int64_t layers; /* attention block + feed-forward block each */
    int64_t hidden;
    int64_t vocab;
    int64_t context_max;     /* positions the model was made for */
    bool is_embedding_tied;  /* the head shares the embedding's weights */

    enum attention_kind attention;
    int64_t query_heads, kv_heads, head_dim;
    double rotary_fraction;  /* of the head's channels that turn */
    int64_t sequence_taps;   /* CCA: taps of the depthwise convolution along the sequence */
    int64_t channel_taps;    /* CCA: taps of the grouped (per head) convolution */

    int64_t experts;         /* 0: a dense model */
    int64_t experts_per_token;
    int64_t expert_ffn;      /* width after the gate; the gate-and-up product is twice this */
    int64_t dense_ffn;       /* of a dense layer, after the gate */
    enum router_kind router;
    int64_t router_hidden;   /* ROUTER_MLP */
    bool has_router_average; /* ROUTER_MLP: adds the previous layer's router state (EDA) */
    bool has_skip_route;     /* one class more in the router: skip the experts (MoD) */

    bool has_residual_scaling; /* learned scale and bias on the residual and on each output */
    bool is_residual_fp32;
    bool has_query_key_norm;
    bool has_attention_bias;
};

/* From a Hugging Face config.json as it comes; the dialect is known by "model_type" and by which
 * keys stand in it. NULL after adding every fault. */
const struct arch *arch_read(const struct json *config, struct arena *arena,
                             struct error_list *errors);

#endif
