/* FLOP of a forward pass by closed forms, one a part. */
#include "models/arch_flop.h"

#include "models/tensors.h"

enum {
    FLOP_PER_MULTIPLY_ADD = 2,
    GATED_PRODUCTS = 3,   /* gate, up, down: each hidden x width */
    TRAIN_PER_FORWARD = 3 /* backward forms two products for each of forward's */
};

/* Multiply-adds of one token, one layer: q, k, v and the output projection. The value of CCA
 * comes in two halves, together as wide as the key. */
static double
plain_projection_terms(const struct arch *arch)
{
    double query_width = (double)arch_query_width(arch), kv_width = (double)arch_kv_width(arch);
    return (double)arch->hidden * (2 * query_width + 2 * kv_width);
}

/* MLA, each rank with its way down and up: q (h + a (n + r)) + c (h + a (n + v)) + h r + a v h,
 * with ranks q and c, a heads of n + r query channels of which r turn, and v value channels. */
static double
latent_projection_terms(const struct arch *arch)
{
    double hidden = (double)arch->hidden, rank = (double)arch->query_rank;
    double queries = (double)arch_query_width(arch), outputs = (double)arch_output_width(arch);
    double turning = (double)arch->rotary_head_dim;
    double keys = queries - (double)arch->query_heads * turning; /* that do not turn */
    double query = rank > 0 ? rank * (hidden + queries) : hidden * queries;
    return query + (double)arch->kv_rank * (hidden + keys + outputs) + hidden * turning +
           outputs * hidden;
}

static double
projection_terms(const struct arch *arch)
{
    return arch->attention == ATTENTION_MLA ? latent_projection_terms(arch)
                                            : plain_projection_terms(arch);
}

/* arXiv 2510.04476, Table II: e- k_seq + e-^2 / (query heads + kv heads) k_ch, with e- the
 * channels of queries and keys together, so that e- / heads is the head's width. */
static double
convolution_terms(const struct arch *arch)
{
    if (arch->attention != ATTENTION_CCA)
        return 0;
    double channels = (double)(arch_query_width(arch) + arch_kv_width(arch));
    return channels * (double)(arch->sequence_taps + arch->head_dim * arch->channel_taps);
}

static double
router_terms(const struct arch *arch)
{
    if (arch->experts == 0)
        return 0;
    double classes = (double)arch_router_classes(arch), hidden = (double)arch->hidden;
    double width = (double)arch->router_hidden;
    if (arch->router == ROUTER_MLP)
        return hidden * width + 2 * width * width + width * classes;
    return hidden * classes;
}

static double
gated_terms(const struct arch *arch, int64_t width)
{
    return (double)GATED_PRODUCTS * (double)arch->hidden * (double)width;
}

/* Gate, up and down; or up and down. */
static double
dense_terms(const struct arch *arch)
{
    return gated_terms(arch, arch->dense_ffn) * (arch->is_ffn_plain ? 2.0 / 3 : 1);
}

/* How many keys a query meets, the mean over a sequence of s: s / 2 under a causal mask (the
 * convention; exactly (s + 1) / 2). With a window of w < s, the first w queries meet w / 2 and
 * the others w: (w^2 / 2 + (s - w) w) / s = w - w^2 / (2 s). */
static double
mean_keys(int64_t sequence_tokens, int64_t window_tokens)
{
    double s = (double)sequence_tokens, w = (double)window_tokens;
    return window_tokens > 0 && w < s ? w - w * w / (2 * s) : s / 2;
}

/* Q K^T and A V: each a product over the head's width for every pair, in every query head. */
static double
attention_terms_per_key(const struct arch *arch)
{
    return (double)(arch_query_width(arch) + arch_output_width(arch));
}

static double
attention_core_terms(const struct arch *arch, int64_t sequence_tokens)
{
    double keys = 0;
    for (int64_t layer = 0; layer < arch->layers; layer++)
        keys += mean_keys(sequence_tokens, arch_window_tokens(arch, layer));
    return keys * attention_terms_per_key(arch);
}

/* One module: hidden state and embedding joined, a layer as the last ones are, the head. Its
 * attention has no window. */
static double
prediction_terms(const struct arch *arch, double keys)
{
    double hidden = (double)arch->hidden;
    int64_t width = arch->experts_per_token * arch->expert_ffn + arch->shared_ffn;
    double ffn = arch->experts > 0 ? gated_terms(arch, width) : dense_terms(arch);
    return 2 * hidden * hidden + projection_terms(arch) + convolution_terms(arch) +
           keys * attention_terms_per_key(arch) + router_terms(arch) + ffn +
           hidden * (double)arch->vocab;
}

struct token_flop
arch_flop(const struct arch *arch, int64_t sequence_tokens)
{
    double layers = (double)arch->layers, modules = (double)arch->mtp_layers;
    double full = (double)sequence_tokens, expert_layers = (double)arch_expert_layers(arch);
    double dense_layers = arch->experts > 0 ? layers - expert_layers : 0;
    double routed = arch->experts > 0 ? expert_layers * (double)arch->experts_per_token *
                                            gated_terms(arch, arch->expert_ffn)
                                      : layers * dense_terms(arch);
    double full_mask = layers * full * attention_terms_per_key(arch) +
                       modules * full / 2 * attention_terms_per_key(arch);
    struct token_flop flop = {
        .attention_projections = FLOP_PER_MULTIPLY_ADD * layers * projection_terms(arch),
        .convolutions = FLOP_PER_MULTIPLY_ADD * layers * convolution_terms(arch),
        .attention_core = FLOP_PER_MULTIPLY_ADD * attention_core_terms(arch, sequence_tokens),
        .router = FLOP_PER_MULTIPLY_ADD * expert_layers * router_terms(arch),
        .experts = FLOP_PER_MULTIPLY_ADD * routed,
        .shared_experts =
            FLOP_PER_MULTIPLY_ADD * expert_layers * gated_terms(arch, arch->shared_ffn),
        .dense_layers = FLOP_PER_MULTIPLY_ADD * dense_layers * dense_terms(arch),
        .head = FLOP_PER_MULTIPLY_ADD * (double)arch->hidden * (double)arch->vocab,
        .prediction = FLOP_PER_MULTIPLY_ADD * modules * prediction_terms(arch, full / 2),
    };
    flop.forward = flop.attention_projections + flop.convolutions + flop.attention_core +
                   flop.router + flop.experts + flop.shared_experts + flop.dense_layers +
                   flop.head + flop.prediction;
    flop.forward_full_mask =
        flop.forward - flop.attention_core + FLOP_PER_MULTIPLY_ADD * full_mask;
    flop.train = TRAIN_PER_FORWARD * flop.forward;
    flop.train_full_mask = TRAIN_PER_FORWARD * flop.forward_full_mask;
    flop.six_n_active = (double)(TRAIN_PER_FORWARD * FLOP_PER_MULTIPLY_ADD) *
                        (double)tensors_count_of(arch).nonembedding_active;
    return flop;
}
