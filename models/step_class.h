/* What the time of a step goes to: the terms of every breakdown and the colours of every chart. */
#ifndef MODELS_STEP_CLASS_H
#define MODELS_STEP_CLASS_H

#include <stdbool.h>

enum step_class {
    /* compute, by the part of the model it is for */
    CLASS_EMBEDDING,
    CLASS_NORM_RESIDUAL,
    CLASS_ATTENTION_PROJECTION,
    CLASS_ATTENTION_MIXING, /* CCA: convolutions, q-k mean, norm, RoPE, value shift */
    CLASS_ATTENTION_CORE,
    CLASS_ROUTER,
    CLASS_DISPATCH,     /* sorting, permuting and combining tokens */
    CLASS_EXPERT,       /* expert products and their gate; a dense feed-forward too */
    CLASS_HEAD,         /* logits and cross-entropy */
    CLASS_QUANTIZATION, /* casting to fp8: largest values, scales, copies turned round */
    CLASS_GRADIENT_ACCUMULATION,
    CLASS_NEWTON_SCHULZ,
    CLASS_OPTIMIZER_UPDATE, /* gradient norm, momentum, weight update, AdamW */
    /* communication, where nothing computes beside it */
    CLASS_GRADIENT_REDUCTION,
    CLASS_PARAMETER_GATHER,
    CLASS_TENSOR_EXCHANGE,    /* between the ranks that share a layer's products */
    CLASS_EXPERT_EXCHANGE,    /* tokens to their experts and back */
    CLASS_CONTEXT_EXCHANGE,   /* keys and values between the ranks that share a sequence */
    CLASS_PIPELINE_TRANSFER,  /* from stage to stage */
    CLASS_OPTIMIZER_EXCHANGE, /* pieces of matrices between ranks that share them */
    CLASS_GRADIENT_NORM,      /* the sum over all ranks that clipping waits for */
    CLASS_OVERLAP, /* what kernels take longer beside collectives: those take compute and HBM */
    /* neither */
    CLASS_HOST,   /* the device waits for its next launch */
    CLASS_BUBBLE, /* the rank waits for another rank */
    STEP_CLASS_COUNT
};

/* "attention_core", of communication "exposed_gradient_reduction": keys of the breakdown without
 * their _s. */
const char *step_class_key(enum step_class spent_on);

/* The same for people, within its group: "attention core", "gradient reduction". */
const char *step_class_label(enum step_class spent_on);

bool step_class_is_communication(enum step_class spent_on);

/* What the classes come to: the subtotals of a breakdown. */
enum step_group {
    GROUP_COMPUTE,
    GROUP_OPTIMIZER,
    GROUP_OVERLAP,
    GROUP_NETWORK,
    GROUP_HOST,
    GROUP_BUBBLE,
    STEP_GROUP_COUNT
};

enum step_group step_class_group(enum step_class spent_on);
const char *step_group_label(enum step_group group); /* "waiting for the network" */

#endif
