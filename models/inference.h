/* The same model, not trained but asked: how long a prompt takes, and one more token.
 *
 * A rank that shares its weights with no other, or a node's tensor or expert ranks together, answer
 * `batch` sequences at once. Prefill runs the forward pass over the prompts and the head over their
 * last tokens; decoding runs one token of every sequence against the keys and values that are
 * cached. Host and device work side by side, so the slower of both decides.
 *
 * Latent attention keeps compressed keys, from which values come too. Decoding multiplies queries
 * and outputs by the matrices that would expand them, instead of the cache (arXiv 2405.04434
 * section 2.1.2): every head reads the one compressed key. */
#ifndef MODELS_INFERENCE_H
#define MODELS_INFERENCE_H

#include "models/program.h"

struct inference_request {
    int64_t batch;          /* sequences of one data rank */
    int64_t prompt_tokens;  /* of each, for prefill */
    int64_t context_tokens; /* of each in the cache while decoding */
};

/* One pass over all layers. */
struct inference_pass {
    double seconds_s;
    double device_s, host_s; /* each by itself */
    double exchange_s;       /* of device_s: between ranks */
};

struct inference {
    struct inference_pass prefill;
    struct inference_pass decode; /* one token of every sequence */
    double weight_bytes;          /* of one GPU */
    double cache_bytes;           /* of all its sequences at context_tokens */
    double peak_bytes;            /* with what driver, libraries and allocator take */
    double capacity_bytes;
};

/* False after adding why not: pipeline or context parallelism; experts on tensor ranks that cannot
 * share out a prompt or a batch; no price. */
bool inference_find(const struct step_inputs *inputs, const struct inference_request *request,
                    struct inference *out, struct arena *arena, struct error_list *errors);

#endif
