/* How a model is trained: batch, degrees of parallelism, sharding, optimizer, overlap. */
#ifndef MODELS_PLAN_H
#define MODELS_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "hw/cluster.h"
#include "models/arch.h"
#include "models/routing.h"

enum optimizer_kind { OPTIMIZER_ADAMW, OPTIMIZER_MUON };
enum recompute_kind {
    RECOMPUTE_NONE, /* every activation that backward needs is kept */
    RECOMPUTE_FULL, /* a block keeps its input only and runs forward again before backward */
};

struct plan {
    const char *name;
    int64_t sequence_tokens;
    int64_t microbatch_sequences;   /* of one rank, run through the model at once */
    int64_t global_batch_sequences; /* of all ranks, one optimizer step */

    /* Degrees; data = GPUs / (tensor x pipeline x context). This version lowers data
     * parallelism: the others are checked against model and cluster and must be 1. */
    int64_t tensor, pipeline, context, expert;

    int64_t zero_stage;        /* 0: replicated optimizer; 1: sharded over the data ranks */
    enum dtype compute_dtype;  /* weights and activations */
    enum dtype gradient_dtype; /* accumulated and reduced in this */
    int64_t bucket_parameters; /* gradients reduced (weights gathered) together */
    bool overlaps_gradient_reduction;
    bool overlaps_parameter_gather;
    enum recompute_kind recompute;

    enum optimizer_kind optimizer;
    int64_t newton_schulz_steps;
    bool is_newton_schulz_symmetric; /* the two symmetric products as triangles */

    const struct json *routing_object; /* "routing" as it stands in the file */
    const struct routing *routing;     /* of tokens to experts; NULL: evenly */
};

/* NULL after every fault of the file itself. */
const struct plan *plan_read(const struct json *object, struct arena *arena,
                             struct error_list *errors);

/* Whether model, cluster and plan go together; faults are placed in the plan's file (`object`).
 */
bool plan_check(const struct plan *plan, const struct json *object, const struct arch *arch,
                const struct cluster *cluster, struct error_list *errors);

int64_t plan_data_degree(const struct plan *plan, const struct cluster *cluster);
/* Microbatches that a rank runs in one step; plan_check has made sure that it is whole. */
int64_t plan_microbatches(const struct plan *plan, const struct cluster *cluster);
/* Tokens of one microbatch of one rank. */
int64_t plan_microbatch_tokens(const struct plan *plan);
/* Tokens of one step of all ranks. */
int64_t plan_step_tokens(const struct plan *plan);

#endif
