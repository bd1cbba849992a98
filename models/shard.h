/* What one rank runs of a block, and what it exchanges with whom: operators split by the plan.
 *
 * Between the operators of a block the tokens lie in one of three ways:
 *
 *   split     each tensor rank has its part of the sequence     norms, router, permutation
 *   whole     each has all tokens and its part of the channels  attention, dense products
 *   routed    each expert rank has the tokens of its experts    expert products
 *
 * Where one way meets another stands an exchange, and in backward its mirror image:
 *
 *   split -> whole    all-gather over the tensor ranks          back: reduce-scatter
 *   whole -> split    reduce-scatter                            back: all-gather
 *   split <-> routed  all-to-all over the expert ranks, gather and scatter over expert-tensor
 *
 * Without sequence parallelism split is whole: then partial sums are all-reduced on leaving
 * (forward) and on entering (backward), arXiv 1909.08053 figure 3. Nothing here knows a clock. */
#ifndef MODELS_SHARD_H
#define MODELS_SHARD_H

#include "hw/collective_kind.h"
#include "models/operators.h"
#include "models/placement.h"
#include "models/schedule.h"
#include "models/tensors.h"

struct shard_exchange {
    const char *name; /* "gather_sequence" */
    enum step_class spent_on;
    enum collective_kind kind;
    enum peers peers;
    enum dtype dtype;
    double bytes; /* as hw/collective.h counts them; of an all-to-all with unequal shares those
                     that would take an equal one as long: the busiest rank decides */
    double crossing_fraction; /* as of struct collective */
};

/* A kernel or an exchange. */
struct shard_step {
    const struct operation *operation;
    const struct shard_exchange *exchange;
    int64_t beside;          /* exchange: so many steps behind it need not wait for it */
    bool is_weight_gradient; /* can be put off until the step's end */
};

struct shard_list {
    const struct shard_step *steps;
    int64_t count;
};

struct shard_block {
    struct shard_list forward, backward;
    double saved_bytes[STEP_CLASS_COUNT]; /* kept for backward, by the class of the operator */
    double
        input_bytes[STEP_CLASS_COUNT]; /* of that, what they cannot do without to run again */
    double product_bytes[STEP_CLASS_COUNT]; /* what attention and every other product make */
    double transient_bytes; /* what the hungriest of its operators takes beside what is kept */
};

/* A model, a plan and where its ranks stand. */
struct shard {
    struct workload workload;
    struct placement placement;
};

/* Of the ranks that hold the expert_place-th part of the experts. */
struct shard_block shard_block(const struct shard *shard, enum block block,
                               int64_t expert_place, struct arena *arena);

/* One of those that RECOMPUTE_EVERY_OTHER_PRODUCT counts. */
bool shard_is_product(const struct kernel *kernel);

/* All that it keeps for backward, and of that what selective recomputation drops. */
double shard_saved_bytes(const struct shard_block *block);

/* Bytes of the residual stream of one microbatch on one rank: a block's input, and what is sent
 * from stage to stage. */
double shard_stream_bytes(const struct shard *shard);

/* The weights of one rank: those that are alike on all its data ranks, and the experts, alike on
 * its expert-data ranks. Where both are the same ranks all stands in `dense`. Where adapters are
 * trained these are the adapters', and the model's own stand apart. */
struct shard_tensors {
    struct tensor_list dense, experts;
    struct tensor_list frozen_dense, frozen_experts;
    int64_t shared_elements; /* of dense: of weights that each tensor rank has whole, such as
                                norms and the router; meaningless where one rank has all */
};

/* Of every stage: its chunks, the embedding in front of the first layer, the head behind the last.
 * Tied, the head's copy of the embedding too where that is on another stage. */
const struct shard_tensors *shard_tensors(const struct shard *shard, struct arena *arena);

/* Chunks of layers on a stage: first and count of each, and whether the model begins or ends
 * there. */
struct shard_chunk {
    struct layer_span layers;
    bool has_embedding, has_head;
};
struct shard_chunk shard_chunk(const struct shard *shard, int64_t stage, int64_t chunk);

#endif
