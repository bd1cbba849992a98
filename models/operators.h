/* The kernels of each part of a model, forward and backward, for one microbatch on one rank.
 *
 * An operator is a step of the forward pass with what its backward takes; a block is a list of
 * them. Forward runs them first to last, backward last to first. A model has layers of few
 * kinds, so a block is compiled once and used for each layer of its kind. */
#ifndef MODELS_OPERATORS_H
#define MODELS_OPERATORS_H

#include "models/arch.h"
#include "models/plan.h"
#include "models/software.h"
#include "models/step_class.h"

enum block {
    BLOCK_EMBEDDING,
    BLOCK_ATTENTION,
    BLOCK_WINDOW_ATTENTION,   /* of layers that attend to the last positions only */
    BLOCK_FEED_FORWARD,       /* with experts, or a dense model's */
    BLOCK_DENSE_FEED_FORWARD, /* of a mixture's first layers, which have no experts */
    BLOCK_HEAD,               /* multi-token prediction with it */
    BLOCK_COUNT
};

/* The blocks that a layer is made of. */
enum block operators_attention_block(const struct arch *arch, int64_t layer);
enum block operators_feed_forward_block(const struct arch *arch, int64_t layer);
/* Whether it is one of those, of which recomputation speaks. */
bool operators_is_of_layer(enum block block);

struct operation {
    const char *name; /* "cca_query.weight_gradient" */
    enum step_class spent_on;
    struct kernel kernel;
};

struct model_operator {
    enum step_class spent_on;
    const struct operation *forward, *backward; /* in the order they run */
    int forward_count, backward_count;
    double saved_bytes;     /* activations kept from forward until backward */
    double remade_bytes;    /* attention's: of those, what it can make anew from the others */
    bool is_adapter;        /* a product whose weight (n, k) is trained while others are not */
    double transient_bytes; /* taken beside them only while one of its passes runs */
};

struct operator_list {
    const struct model_operator *items;
    int64_t count;
};

/* What the operators depend on. */
struct workload {
    const struct arch *arch;
    const struct plan *plan;
    const struct software *software;
};

/* Empty for a block that the model has no layer of. */
struct operator_list operators_of(const struct workload *workload, enum block block,
                                  struct arena *arena);

/* Weights of all adapters, each once, however they are split. */
int64_t operators_adapter_parameters(const struct workload *workload, struct arena *arena);

/* Bytes of a block's input for one microbatch: what full recomputation keeps. */
double operators_input_bytes(const struct workload *workload);

#endif
