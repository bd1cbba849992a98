/* For models/shard.c only: a block's operators, sized for each way that the tokens can lie. */
#ifndef MODELS_SHARD_LISTS_H
#define MODELS_SHARD_LISTS_H

#include "models/shard.h"

enum token_layout { TOKENS_SPLIT, TOKENS_WHOLE, TOKENS_ROUTED, TOKEN_LAYOUT_COUNT };

struct shard_lists {
    const struct shard *shard;
    struct arena *arena;
    enum block block;
    struct operator_list of[TOKEN_LAYOUT_COUNT]; /* the same operators in each */
    double row_bytes;                            /* of one token, at the model's width */
    double whole_bytes;                          /* of all tokens of a tensor group */
    double routed_rows;  /* token copies that this rank's experts see, of all senders */
    double routed_bytes; /* of an equal all-to-all that would take as long as this one */
    double
        crossing_fraction; /* of them, as of struct collective: what goes to several ranks of a
                                 node crosses once; 0: as often as it is sent */
};

struct shard_lists shard_lists_of(const struct shard *shard, enum block block,
                                  int64_t expert_place, struct arena *arena);

/* How tokens lie for the block's index-th operator; before the first and behind the last one as
 * the residual stream has them. */
enum token_layout shard_lists_layout(const struct shard_lists *lists, int64_t index);
const struct model_operator *shard_lists_at(const struct shard_lists *lists, int64_t index);

/* The model as a rank sees it that has a part of every product's channels, or of the experts. */
const struct arch *shard_arch(const struct shard *shard, enum token_layout layout,
                              struct arena *arena);

/* The gradient of a weight, or adding it to the accumulated one. */
bool shard_is_weight_gradient(const struct operation *operation);

/* Expert-tensor ranks that each expert is cut into. Without sequence parallelism tensor ranks hold
 * the same tokens: each has whole experts, the same ones, and routes all tokens itself. */
int64_t shard_expert_pieces(const struct shard *shard);

/* Tensor ranks that the sequence is split over outside the products. */
int64_t shard_split_ranks(const struct shard *shard);

#endif
