/* The weights of one process in a training step: which tensors, where each lies in one flat array,
 * and their first values, which do not depend on how the step is split. */
#ifndef VALIDATE_TRAINING_MODEL_H
#define VALIDATE_TRAINING_MODEL_H

#include "sim/base/arena.h"
#include "validate/training_shape.h"

enum training_tensor_kind {
    TRAINING_EMBEDDING,
    TRAINING_ATTENTION_NORM,
    TRAINING_QUERY,
    TRAINING_KEY,
    TRAINING_VALUE,
    TRAINING_OUTPUT,
    TRAINING_FEED_FORWARD_NORM,
    TRAINING_ROUTER,
    TRAINING_GATE_UP,
    TRAINING_DOWN,
    TRAINING_FINAL_NORM,
    TRAINING_HEAD,
    TRAINING_TENSOR_KIND_COUNT
};

/* The processes that have the same part of a tensor, and so add up its gradients. */
enum training_copies {
    TRAINING_COPIES_STAGE,   /* all of the stage: what is not cut */
    TRAINING_COPIES_DATA,    /* those with the same heads */
    TRAINING_COPIES_EXPERTS, /* those with the same experts */
    TRAINING_COPIES_COUNT
};

/* Part of a whole tensor: copies [first_copy, + copies) of it, rows and columns likewise. */
struct training_tensor {
    const char *name; /* as models/tensors.h calls it */
    enum training_tensor_kind kind;
    int64_t layer; /* of the whole model; -1: none */
    int64_t copies, rows, columns;
    int64_t first_copy, first_row, first_column;
    int64_t whole_copies, whole_rows, whole_columns;
    enum training_copies reduced_over;
    int64_t at;     /* in the flat array */
    bool is_matrix; /* that Muon orthogonalises */
};

struct training_layer_weights {
    float *attention_norm;    /* (hidden) */
    float *query_key_value;   /* (query width + 2 kv width, hidden) */
    float *attention_output;  /* (hidden, query width) */
    float *feed_forward_norm; /* (hidden) */
    float *router;            /* (all experts, hidden) */
    float *gate_up;           /* (experts, hidden, 2 ffn): a row's gates, then its ups */
    float *down;              /* (experts, ffn, hidden) */
};

/* Weights, gradients or moments: all have the same form. */
struct training_weights {
    float *all;
    struct training_layer_weights *layers;
    float *embedding;  /* (vocab, hidden) */
    float *final_norm; /* (hidden) */
    float *head;       /* (vocab, hidden) */
};

/* Tensors in the order of the forward pass; in the flat array those lie together that the same
 * processes have copies of. */
struct training_model {
    const struct training_tensor *tensors;
    int64_t tensor_count;
    int64_t elements;
    int64_t begins[TRAINING_COPIES_COUNT + 1]; /* of each such region; the last: the end */
};

int64_t training_tensor_elements(const struct training_tensor *tensor);

struct training_model training_model_of(const struct training_shape *shape,
                                        const struct training_part *part, struct arena *arena);

/* Of `all`, elements of that form. */
struct training_weights training_weights_new(const struct training_model *model,
                                             const struct training_part *part, float *all,
                                             struct arena *arena);

/* First values of all: norms 1, words of unit variance, products that keep the variance. */
void training_weights_fill(const struct training_model *model, uint64_t seed, float *all);

/* Where an element of the part lies in the whole tensor. */
int64_t training_tensor_whole_index(const struct training_tensor *tensor, int64_t element);

/* A number of 64 random bits for each place: SplitMix64's finalizer over seed, stream and index. */
uint64_t training_random(uint64_t seed, uint64_t stream, uint64_t index);
/* From it, a real from 0 to 1. */
double training_random_unit(uint64_t bits);

#endif
