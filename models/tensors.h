/* Every weight tensor of a model, in the order of the forward pass: the one truth for parameter
 * counts, memory, what is sharded where and what the optimizer does. */
#ifndef MODELS_TENSORS_H
#define MODELS_TENSORS_H

#include "models/arch.h"

enum tensor_part { PART_EMBEDDING, PART_ATTENTION, PART_ROUTER, PART_EXPERT, PART_DENSE_FFN, PART_NORM, PART_HEAD };

struct tensor {
    const char *name; /* "layer.attention.query" */
    enum tensor_part part;
    int64_t rows, columns; /* of one copy; columns 1: a vector; the flattened rest of a convolution */
    int64_t copies;        /* in one layer (experts); of one another independent matrices */
    int64_t layer;         /* -1: outside the layers */
    bool is_matrix;        /* a weight of a product: orthogonalised by Muon unless embedding or head */
    bool is_counted;       /* in published parameter counts: no norms, biases, scalars */
};

struct tensor_list {
    const struct tensor *items;
    int64_t count;
};

struct tensor_list tensors_of(const struct arch *arch, struct arena *arena);

struct parameter_counts {
    int64_t embedding;            /* counted once where tied */
    int64_t nonembedding_total;   /* without norms, biases, scalars, as published counts do */
    int64_t nonembedding_active;  /* the same, of the experts only those a token visits */
    int64_t every;                /* all there are, each tensor */
};

struct parameter_counts tensors_count(const struct arch *arch, const struct tensor_list *tensors);

#endif
