/* A model's architecture: its sizes, and what kind each part is. No plan, no hardware. */
#ifndef MODELS_ARCH_H
#define MODELS_ARCH_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/arena.h"
#include "sim/base/error.h"
#include "sim/base/json.h"
#include "sim/base/json_writer.h"

enum attention_kind {
    ATTENTION_GQA, /* MHA where query and kv heads are equally many */
    ATTENTION_CCA, /* compressed convolutional attention, arXiv 2510.04476 */
    ATTENTION_MLA, /* multi-head latent attention, arXiv 2405.04434: low-rank queries, keys and
                      values; a part of each head, whose key all heads share, turns */
};

/* Which layers attend only to the last window_tokens positions. */
enum window_pattern {
    WINDOW_NONE,
    WINDOW_ALL,
    WINDOW_EVEN, /* layers 0, 2, 4, ...: gpt-oss */
};

enum router_kind {
    ROUTER_LINEAR,
    ROUTER_MLP, /* ZAYA1: down-projection, three layers, arXiv 2511.17127 section IV */
};

struct arch {
    const char *name;       /* of the file, or of its folder where the file is "config.json" */
    const char *model_type; /* "zaya", as Hugging Face calls the family */
    int64_t layers;         /* attention block + feed-forward block each */
    int64_t hidden;
    int64_t vocab;
    int64_t context_max;    /* positions the model was made for; 0: any */
    bool is_embedding_tied; /* the head shares the embedding's weights */

    enum attention_kind attention;
    int64_t query_heads, kv_heads;
    int64_t head_dim;        /* of queries and keys; MLA: turning and other channels together */
    int64_t value_head_dim;  /* of values and outputs; 0: the same */
    double rotary_fraction;  /* of the head's channels that turn */
    int64_t query_rank;      /* MLA: width that queries are compressed to; 0: they are not */
    int64_t kv_rank;         /* MLA: width that keys and values are compressed to */
    int64_t rotary_head_dim; /* MLA: channels of each head that turn */
    int64_t sequence_taps;   /* CCA: taps of the depthwise convolution along the sequence */
    int64_t channel_taps;    /* CCA: taps of the grouped (per head) convolution */
    enum window_pattern window;
    int64_t window_tokens; /* 0 with WINDOW_NONE */

    int64_t experts; /* 0: a dense model */
    int64_t experts_per_token;
    int64_t expert_ffn;   /* width after the gate; the gate-and-up product is twice this */
    int64_t shared_ffn;   /* of the experts that every token visits, together; 0: none */
    int64_t dense_ffn;    /* of a dense layer, after the gate */
    bool is_ffn_plain;    /* dense layers have no gate: one product up, GELU, one down */
    int64_t dense_layers; /* with experts: the first so many layers have none */
    enum router_kind router;
    int64_t router_hidden;   /* ROUTER_MLP */
    bool has_router_average; /* ROUTER_MLP: adds the previous layer's router state (EDA) */
    bool has_skip_route;     /* one class more in the router: skip the experts (MoD) */
    bool is_router_sigmoid;  /* scores by a sigmoid, not a softmax */
    bool has_balancing_bias; /* ROUTER_LINEAR: added to the scores for the choice alone */
    int64_t router_groups;   /* experts are chosen from router_groups_per_token of so many
                                groups only; 0: from all */
    int64_t router_groups_per_token;

    int64_t mtp_layers; /* multi-token prediction, arXiv 2412.19437 section 2.2: modules behind
                           the last layer, each a product, a layer and the shared head */

    bool has_residual_scaling; /* learned scale and bias on the residual and on each output */
    bool is_residual_fp32;
    bool has_query_key_norm;      /* RMSNorm with weights; CCA's own L2 norm is not this */
    bool is_query_key_norm_whole; /* over all heads at once (OLMoE), else over each head */
    bool has_attention_bias;      /* on the projections q, k, v and o */
    bool has_attention_sinks;     /* a learned logit per query head in the softmax (gpt-oss) */
    bool has_ffn_bias;            /* on both products of each expert, or of the dense block */
    bool has_router_bias;         /* ROUTER_LINEAR; the MLP router always has its own */
};

/* From a Hugging Face config.json as it comes, or from our own form; the dialect is known by
 * "model_type" and by which keys stand in it. Of the former, keys that say nothing about cost
 * are passed over. NULL after adding every fault. */
const struct arch *arch_read(const struct json *config, struct arena *arena,
                             struct error_list *errors);

/* As our own form of a model file, "model_type": "stepcast": every size under its name here. */
void arch_write(struct json_writer *writer, const struct arch *arch);

/* Positions that this layer attends to at most; 0: all before it. */
int64_t arch_window_tokens(const struct arch *arch, int64_t layer);

/* Whether the layer has experts; those of a mixture that come first may have none. */
bool arch_has_experts(const struct arch *arch, int64_t layer);

/* Layers with experts, those of multi-token prediction not counted. */
int64_t arch_expert_layers(const struct arch *arch);

/* What the router chooses among: the experts, and the skip route where there is one. */
int64_t arch_router_classes(const struct arch *arch);

/* Channels of all query heads, and of all key (or value) heads. */
int64_t arch_query_width(const struct arch *arch);
int64_t arch_kv_width(const struct arch *arch);
/* Channels of one value head, and of the outputs of all heads. */
int64_t arch_value_head_dim(const struct arch *arch);
int64_t arch_output_width(const struct arch *arch);

/* Elements of keys and values that one sequence of that length leaves in the cache, all layers;
 * a layer with a window keeps no more than the window. MLA caches the compressed form and the
 * one turning key. */
int64_t arch_kv_cache_elements(const struct arch *arch, int64_t sequence_tokens);

#endif
