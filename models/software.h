/* The software stack: which operators are one kernel, and what the host costs. */
#ifndef MODELS_SOFTWARE_H
#define MODELS_SOFTWARE_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/arena.h"
#include "sim/base/error.h"
#include "sim/base/json.h"

/* How the stack's products in fp8 come by their operands. */
struct software_fp8 {
    bool fuses_casts;         /* the kernel that makes an activation or its gradient finds its
                                 largest value, or scales it, before writing: one read less */
    bool transposes_operands; /* products take rows along their depth only, so that backward
                                 takes copies turned round */
    bool keeps_inputs;        /* what the weight gradient reads is made forward and kept in
                                 fp8; else the input is kept as it came, and cast again */
    bool shares_casts;        /* products with one input cast it once */
    bool keeps_gates; /* what SwiGLU reads is kept in fp8 until backward, by a cast of its
                                 own each way (Megatron-Core, activation_func_fp8_input_store) */
    bool casts_weights_once; /* a step, and keeps them; else in every pass */
    bool multiplies_wide;    /* products take what those of the compute dtype take: the library
                                has no kernels tuned for fp8 yet */
    const char *turning_op;  /* of casts that write a copy turned round besides, a kind of
                                kernel whose rate the device may know; NULL: as other casts */
};

struct software {
    const char *name;
    double host_launch_s;              /* host time to launch one kernel */
    double host_launch_relative_sigma; /* standard deviation of that, as a part of it */
    bool fuses_residual_norm;          /* residual scale, add and RMS norm in one kernel */
    bool fuses_swiglu;                 /* SiLU, product and (backward) its recomputation */
    bool fuses_attention_mixing;       /* q-k mean, norm, temperature, RoPE in one kernel */
    bool fuses_rope;                   /* else negate, lay side by side, multiply twice, add */
    bool turns_complex;           /* RoPE fused but for its product, of complex numbers in fp32:
                                          pairs are made wide before and narrow after */
    bool splits_projections;      /* queries, keys and values are a product each, so are gate
                                          and up; else one product makes what has one input */
    bool keeps_attention_scores;  /* attention is two products and a softmax, not one kernel:
                                          scores are kept for backward */
    bool repeats_key_value_heads; /* copies keys and values to every query head */
    bool pads_value_heads;        /* to the width of the queries, for attention (MLA) */
    bool fuses_router_tail;       /* softmax and top-k in one kernel */
    bool fuses_permutation;       /* rows to their experts and back, weights applied: one
                                          kernel each way; else index, multiply, add to zeros */
    bool
        weighs_activations; /* an expert's weight is multiplied into its activation, within SwiGLU,
                                so that its output need not be kept for the weight's gradient */
    bool fuses_gradient_joins;        /* gradients that meet are added, and those of a split
                                          laid side by side, by the kernels that make them */
    bool fuses_cross_entropy;         /* no fp32 copy of the logits */
    bool fuses_gradient_accumulation; /* weight gradients added in place by the product */
    bool fuses_optimizer; /* one multi-tensor kernel a pass instead of one a tensor */
    bool
        fuses_master_copies; /* the optimizer reads gradients, and writes weights, of the compute
                                 dtype itself, without a copy of either */
    bool
        sends_once_per_node; /* a token for several experts of a node crosses to it once, and is
                                 copied there (DeepEP) */
    const char *attention_implementation; /* NULL: the device's default */
    const struct json *fp8_object;        /* "fp8" as it stands in the file */
    const struct software_fp8 *fp8;       /* NULL: the stack has no products in fp8 */
    double runtime_bytes;                 /* driver context, libraries, collective channels */
    double fragmentation_fraction;        /* of what is allocated, lost between blocks */
};

const struct software *software_read(const struct json *object, struct arena *arena,
                                     struct error_list *errors);

#endif
