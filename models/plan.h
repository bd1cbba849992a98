/* How a model is trained: batch, degrees of parallelism, schedule, sharding, optimizer, overlap.
 */
#ifndef MODELS_PLAN_H
#define MODELS_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "hw/cluster.h"
#include "models/adapters.h"
#include "models/arch.h"
#include "models/routing.h"

enum optimizer_kind { OPTIMIZER_ADAMW, OPTIMIZER_MUON };
/* How a rank comes by whole matrices: models/optimizer.h. */
enum muon_distribution { MUON_NEIGHBOUR, MUON_ALL_GATHER, MUON_LAYER_SHARDED };

enum recompute_kind {
    RECOMPUTE_NONE,      /* every activation that backward needs is kept */
    RECOMPUTE_SELECTIVE, /* the attention core runs again; a kernel that keeps no scores keeps as
                            much without that */
    RECOMPUTE_FULL, /* a block keeps its input only and runs forward again before backward */
    RECOMPUTE_EVERY_OTHER_PRODUCT, /* a layer keeps its input, what every other product of a block
                                      makes, the first included, and what attention makes; the
                                      rest runs again (torchtitan's per-operator selective
                                      checkpointing, models/llama3/infra/parallelize.py) */
};

/* What ranks are numbered along. Both layouts of models/placement.h follow one order: the tensor
 * and data axes of the experts stand where those of the dense layers do. */
enum plan_axis {
    AXIS_TENSOR,
    AXIS_CONTEXT,
    AXIS_EXPERT,
    AXIS_DATA,
    AXIS_PIPELINE,
    PLAN_AXIS_COUNT
};

/* The order of a stage's passes: models/schedule.h. */
enum schedule_kind {
    SCHEDULE_1F1B,
    SCHEDULE_INTERLEAVED,
    SCHEDULE_ZB_H1,
    SCHEDULE_ZB_V,
    SCHEDULE_DUALPIPE,
};

/* How products of the layers run in fp8: of how much of an operand one scale is, and when it is
 * known (models/fp8.h). E4M3 and E5M2 are a byte each and multiply at one rate: which of them is
 * for gradients makes no difference here. */
enum fp8_recipe {
    FP8_NONE,
    FP8_TENSORWISE, /* a scale a tensor, of its values now (torchao; TE's current scaling) */
    FP8_DELAYED,    /* a scale a tensor, of earlier steps' (TE's delayed scaling) */
    FP8_ROWWISE,    /* a scale a row, along the depth of each product (torchao) */
    FP8_ROWWISE_WITH_GW_HP, /* the same, weight gradients in the compute dtype (torchao) */
    FP8_BLOCKWISE,          /* activations 1 x 128, weights 128 x 128 (DeepSeek-V3; TE) */
};

/* How the ranks that share a sequence see each other's keys and values. */
enum context_exchange { CONTEXT_RING, CONTEXT_ALL_GATHER, CONTEXT_ULYSSES };

struct plan {
    const char *name;
    int64_t sequence_tokens;
    int64_t microbatch_sequences;   /* of one rank, run through the model at once */
    int64_t global_batch_sequences; /* of all ranks, one optimizer step */
    int64_t global_batch_tokens;    /* the same in tokens; 0: given in sequences */

    /* Degrees; data = GPUs / (tensor x pipeline x context), expert data = GPUs /
     * (expert_tensor x expert x pipeline). */
    int64_t tensor, pipeline, context, expert;
    int64_t expert_tensor;         /* 0 in the file: as tensor */
    const struct json *rank_order; /* "tp-cp-ep-dp-pp", fastest first; NULL: that, Megatron's */
    enum plan_axis order[PLAN_AXIS_COUNT];
    bool is_sequence_parallel;   /* norms and residual split along the sequence over the tensor
                                    ranks (arXiv 2205.05198); else all-reduced, each has all */
    bool is_vocabulary_parallel; /* embedding and head split over the tensor ranks */
    enum context_exchange context_exchange;

    enum schedule_kind schedule;
    int64_t virtual_stages; /* interleaved: chunks of layers that each stage holds */
    const struct json *stage_layers_list; /* layers of each chunk in order of the model */
    const int64_t *stage_layers;          /* pipeline x chunks of them; NULL: even */
    bool counts_embedding_as_layer;       /* first stage one layer less */
    bool counts_head_as_layer;            /* last stage one layer less */

    int64_t zero_stage;          /* what is sharded over the data ranks; 0: nothing; 1: the
                                  optimizer; 2: gradients too; 3: weights too */
    int64_t shard_ranks;         /* data ranks that a shard is spread over; 0: all (hybrid
                                  sharding replicates the rest) */
    enum dtype compute_dtype;    /* weights and activations */
    enum fp8_recipe fp8_recipe;  /* of the layers' products; router, attention core, embedding
                                   and head stay in the compute dtype */
    bool gathers_weights_in_fp8; /* torchao enable_fsdp_float8_all_gather, Megatron-LM
                                    --fp8-param-gather */
    bool dispatches_in_fp8; /* tokens to their experts, and their gradients; back in the compute
                               dtype (arXiv 2412.19437 section 3.3.3) */
    enum dtype gradient_dtype;     /* accumulated and reduced in this */
    int64_t bucket_parameters;     /* gradients reduced (weights gathered) together */
    bool reduces_every_microbatch; /* gradients that are not sharded, too: PyTorch's DDP without
                                      no_sync */
    bool overlaps_gradient_reduction;
    bool overlaps_parameter_gather;
    bool overlaps_tensor_exchange;   /* backward's, with the weight gradient beside it */
    bool overlaps_expert_exchange;   /* one microbatch's with another's computing */
    bool overlaps_pipeline_transfer; /* received before the stage is ready for it */
    bool
        keeps_sent_tensors; /* what went to other stages stays in memory until the step's end */
    enum recompute_kind recompute;
    int64_t recompute_layers; /* full: of a chunk of layers only the first so many (Megatron-LM,
                                 --recompute-method block); 0: all */
    const struct json
        *recompute_list;        /* operators that keep their inputs only and run again, by
                                          the class they count for: ["feed_forward"] */
    uint64_t recompute_classes; /* bits of enum step_class: those, or what `recompute`
                                          selects */

    enum optimizer_kind optimizer;
    enum muon_distribution muon_distribution;
    bool has_dropout;     /* of attention's scores and of both updates of a layer, as GPT-3 */
    bool clips_gradients; /* to a norm over all ranks, before the optimizer */
    int64_t newton_schulz_steps;
    bool is_newton_schulz_symmetric; /* the two symmetric products as triangles */

    const struct json *adapters_object; /* "adapters" as it stands in the file */
    const struct adapters *adapters;    /* whose weights alone are trained; NULL: all are */

    const struct json *routing_object; /* "routing" as it stands in the file */
    const struct routing *routing;     /* of tokens to experts; NULL: evenly */
};

/* NULL after every fault of the file itself. */
const struct plan *plan_read(const struct json *object, struct arena *arena,
                             struct error_list *errors);

/* Whether model, cluster and plan go together; faults are placed in the plan's file (`object`; NULL
 * where nobody reads them). */
bool plan_check(const struct plan *plan, const struct json *object, const struct arch *arch,
                const struct cluster *cluster, struct error_list *errors);

/* Bits of the classes that run again of that kind, where no list of operators says others. */
uint64_t plan_recompute_classes(enum recompute_kind recompute);

/* Whether blocks of the index-th layer of a chunk run again in full; what else runs again does
 * so in every layer. */
bool plan_repeats_layer(const struct plan *plan, int64_t index);

const char *fp8_recipe_name(enum fp8_recipe recipe); /* "tensorwise" */

/* Whether gradients are reduced within every microbatch's backward; else behind the last. */
bool plan_reduces_each_pass(const struct plan *plan);

int64_t plan_data_degree(const struct plan *plan, const struct cluster *cluster);
/* Microbatches that a rank runs in one step; plan_check has made sure that it is whole. */
int64_t plan_microbatches(const struct plan *plan, const struct cluster *cluster);
/* Tokens of one microbatch, of all ranks that share it. */
int64_t plan_microbatch_tokens(const struct plan *plan);
/* Tokens of one step of all ranks. */
int64_t plan_step_tokens(const struct plan *plan);

/* Chunks of layers that a rank holds: 1, or more where the schedule asks for it. */
int64_t plan_chunks(const struct plan *plan);
/* Pieces that the model is cut into, one behind the other. DualPipe's ranks hold two of them
 * each, every piece twice. */
int64_t plan_virtual_stages(const struct plan *plan);

/* The layers of one such piece. */
struct layer_span {
    int64_t first, count;
};
struct layer_span plan_layers(const struct plan *plan, const struct arch *arch,
                              int64_t virtual_stage);

#endif
