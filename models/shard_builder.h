/* For the files of models/shard.h: a list of kernels and exchanges that grows. */
#ifndef MODELS_SHARD_BUILDER_H
#define MODELS_SHARD_BUILDER_H

#include "models/shard_lists.h"

struct shard_builder {
    const struct shard *shard;
    struct arena *arena;
    struct shard_lists lists;
    struct shard_step *steps;
    size_t count, capacity;
};

/* No effect where the rank has no peers of that kind. */
void shard_append_exchange(struct shard_builder *builder, const struct shard_exchange *exchange,
                           int64_t beside);
void shard_append_operations(struct shard_builder *builder, const struct operation *operations,
                             int count);

/* The attention core where ranks share a sequence: the operations of one direction, with the keys
 * and values of the others (models/shard_context.c). */
void shard_append_context_core(struct shard_builder *builder,
                               const struct operation *operations, int count);

/* What compressed convolutional attention wants of its neighbours before it mixes (forward), and
 * gives back (backward): the tokens before a piece, for the convolutions, and every value that is
 * shifted by a token (arXiv 2511.17127 section V). */
void shard_append_context_halo(struct shard_builder *builder, enum direction direction);

#endif
