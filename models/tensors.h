/* Every weight tensor of a model, in the order of the forward pass: the one truth for parameter
 * counts, memory, what is sharded where and what the optimizer does. */
#ifndef MODELS_TENSORS_H
#define MODELS_TENSORS_H

#include "models/arch.h"

enum tensor_part {
    PART_EMBEDDING,
    PART_ATTENTION, /* projections, convolutions, and the norms inside attention */
    PART_ROUTER,
    PART_EXPERT,
    PART_SHARED_EXPERT, /* those that every token visits */
    PART_DENSE_FFN,
    PART_NORM, /* between the blocks: norms and the residual's scales and biases */
    PART_HEAD,
};
enum { TENSOR_PART_COUNT = PART_HEAD + 1 };

/* Gate and up are one tensor of twice the width, as training stacks keep them. */
struct tensor {
    const char *name; /* "layer.attention.query": the same in each layer */
    enum tensor_part part;
    int64_t rows, columns; /* of one copy, (output, input); columns 1: a vector; of a
                              convolution (output channels, input channels of a group x taps) */
    int64_t copies;        /* in one layer (experts): independent of one another */
    int64_t layer;         /* -1: outside the layers, as multi-token prediction is */
    bool is_matrix;  /* a weight of a product that Muon orthogonalises: in attention, router or
                        experts; not embedding, head, convolutions, vectors */
    bool is_counted; /* in published parameter counts: no norms, biases, scalars, but some of
                        ZAYA's router; nothing of multi-token prediction */
    bool is_prediction; /* of a multi-token prediction module */
};

struct tensor_list {
    const struct tensor *items;
    int64_t count;
};

struct tensor_list tensors_of(const struct arch *arch, struct arena *arena);

/* Calls take for every tensor, in the same order: for sums, which need no list. */
void tensors_visit(const struct arch *arch,
                   void (*take)(void *context, const struct tensor *tensor), void *context);

/* All copies together. */
static inline int64_t
tensor_elements(const struct tensor *tensor)
{
    return tensor->rows * tensor->columns * tensor->copies;
}

struct parameter_counts {
    int64_t embedding;           /* and the head, unless they are tied */
    int64_t nonembedding_total;  /* without norms, biases, scalars, as published counts do */
    int64_t nonembedding_active; /* the same, of the experts only those a token visits */
    int64_t every;               /* all there are, each tensor */
    int64_t prediction;          /* of every: multi-token prediction's */
    int64_t every_of[TENSOR_PART_COUNT];  /* by part: they add up to every */
    int64_t active_of[TENSOR_PART_COUNT]; /* the same, of the experts only those visited */
};

struct parameter_counts tensors_count(const struct arch *arch,
                                      const struct tensor_list *tensors);

/* The same without a list. */
struct parameter_counts tensors_count_of(const struct arch *arch);

#endif
