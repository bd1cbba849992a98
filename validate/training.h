/* A training step that one process runs, alone or with others: its passes, by timed kernels.
 *
 *      words ──▶ embedding ──▶ residual ──▶ norm ──▶ q k v ──▶ attention ──▶ output ──▶ + ──┐
 *                                 ▲                                                        │
 *                                 └── + ◀── combine ◀── experts ◀── permute ◀── router ◀── norm
 *
 *      residual ──▶ norm ──▶ logits ──▶ cross-entropy, the mean over all tokens of the step
 *
 * Each function's work goes by the name of the prediction's operator (models/operators.c). */
#ifndef VALIDATE_TRAINING_H
#define VALIDATE_TRAINING_H

#include "validate/training_device.h"
#include "validate/training_groups.h"
#include "validate/training_model.h"
#include "validate/training_times.h"

/* What a layer keeps for backward, of one microbatch, on the device but for the counts. Rows of the
 * experts: as many as came. */
struct training_layer_kept {
    float *attention_input; /* (tokens, hidden), the residual */
    float *attention_normed;
    float *joined;   /* (whole tokens, joined width): queries, keys and values side by side */
    float *attended; /* (whole tokens, query width) */
    float *tops;     /* (whole tokens, query heads), of machines that keep their scores' sums */
    float *feed_forward_input, *feed_forward_normed; /* (tokens, hidden) */
    float *scores;                                   /* (tokens, all experts) */
    float *weights;                                  /* (tokens, copies a token) */
    int32_t *chosen, *place;                         /* likewise: experts, and rows */
    int64_t *sent;                                   /* copies for each expert of all */
    int64_t *received; /* rows of each of its experts from each process, (processes, experts) */
    int64_t *rows;     /* of each of its experts */
    int32_t *order;    /* by expert: the received row that stands there */
    int32_t *order_back;
    float *permuted;  /* (copies, hidden), by expert */
    float *routed;    /* (rows, hidden), what its experts get: permuted itself, or received */
    float *gate_up;   /* (rows, 2 ffn) */
    float *activated; /* (rows, ffn) */
    float *made;      /* (rows, hidden), what its experts give */
    float *returned;  /* (copies, hidden), by expert: made itself, or what came back */
};

struct training_kept {
    struct training_layer_kept *layers;
    int32_t *words, *targets;  /* (tokens) */
    float *last, *last_normed; /* (tokens, hidden) */
    float *logits;             /* (tokens, vocab) */
    float *losses;             /* (tokens) */
};

/* Gradients and sums that live within one block. */
struct training_scratch {
    float *update;       /* (tokens, hidden), added to the residual */
    float *whole;        /* (whole tokens, hidden) */
    float *whole_update; /* likewise; `whole` and this are others' with one tensor rank */
    float *stream;       /* (tokens, hidden), the residual's gradient */
    float *normed;       /* (tokens, hidden), a norm's output's gradient */
    float *joined, *attended;
    float *scores, *slopes; /* of attention: (block, sequence) */
    float *logits;          /* (tokens, vocab) */
    float *weights, *route_scores, *route_logits;
    float *copies;            /* (copies, hidden) */
    float *routed, *received; /* (rows, hidden) */
    float *gate_up, *activated;
    int64_t *bytes;           /* on the host: to and from each process of the experts */
    int32_t *orders[2];       /* on the host: (rows), there and back */
    int32_t *words, *targets; /* on the host: (tokens) */
};

struct training {
    const struct training_device *device;
    struct training_shape shape;
    struct training_part part;
    struct training_groups groups;
    struct training_model model;
    struct training_weights weights, gradients;
    struct training_kept *kept; /* of each microbatch in flight */
    int64_t kept_count;
    struct training_scratch scratch;
    struct training_times times;
    uint64_t seed;
    int64_t number;  /* of the step: other words in each */
    double loss_sum; /* of its tokens so far */
};

/* Weights filled, nothing run. All processes of the groups call it. */
struct training *training_new(const struct training_shape *shape,
                              const struct process_group *world,
                              const struct training_device *device, uint64_t seed,
                              struct arena *arena);

/* The same of one rank, whose groups are known. */
struct training *training_new_of(const struct training_shape *shape,
                                 const struct training_groups *groups,
                                 const struct training_device *device, uint64_t seed,
                                 struct arena *arena);

/* The words of a microbatch and those behind them: most follow from the one before, so that there
 * is something to learn. */
void training_take_words(struct training *step, struct training_kept *kept, int64_t microbatch);

/* One microbatch through the layers of this process; what comes from the stage before lies in the
 * first layer's attention_input, what goes to the next in kept->last. */
void training_forward(struct training *step, struct training_kept *kept);
/* Adds to the gradients; in scratch.stream the gradient of kept->last, then of the first input. */
void training_backward(struct training *step, struct training_kept *kept);

/* All microbatches, in the order of one-forward-one-backward between stages. */
void training_run_passes(struct training *step);

/* The gradients of all copies added up: those of the mean loss over the step's tokens. */
void training_reduce_gradients(struct training *step);

/* The mean loss of the passes run, over all processes. */
double training_loss(const struct training *step);

#endif
