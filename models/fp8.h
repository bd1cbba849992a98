/* What casting the operands of products to fp8 moves through memory: bytes an element, by recipe
 * and by software stack.
 *
 *      forward            Y = X W^T     X, W          each along the depth of the product
 *      input gradient    dX = dY W      dY, W         W the other way round
 *      weight gradient   dW = dY^T X    dY, X         both the other way round
 *
 * One scale a tensor, or for a square block of it, serves both ways round: the second copy is the
 * first one turned, and only wanted where products read rows along their depth alone (Hopper's do:
 * Transformer Engine, user guide, "FP8 current scaling"). Scales along rows or tiles of rows are
 * others the other way round. A scale of the whole tensor, or of a column, is known only after all
 * of it was read: then it is read twice. Bytes as torchao/testing/training/roofline_utils.py
 * (pytorch/ao@0598012) counts them, but that of a copy the other way round with its own scales: as
 * float8_linear.py has it, two reads and a write of a byte, not a turned copy in bf16 besides. */
#ifndef MODELS_FP8_H
#define MODELS_FP8_H

#include "models/plan.h"
#include "models/software.h"
#include "models/tensors.h"

/* What decides them. */
struct fp8_setting {
    enum fp8_recipe recipe;
    struct software_fp8 stack;
    double wide_bytes;       /* of an element before the cast */
    bool has_narrow_weights; /* gathered in fp8 */
    bool is_frozen;          /* weights have no gradient, so that nothing is cast for it */
    bool casts_weights_once; /* a step, and keeps them */
};

/* Recipe FP8_NONE where the plan has none; of ZeRO-3 weights are let go after each pass, and what
 * was cast of them. */
struct fp8_setting fp8_setting_of(const struct plan *plan, const struct software *software);

/* What one cast moves for each element, in so many kernels of its own: 0 where another kernel does
 * it beside its own work. All 0: nothing is cast. */
struct fp8_cast {
    double read, write;
    int64_t launches;
    bool is_turned; /* one of its kernels writes two copies, one turned round */
};

/* Where an activation, or the gradient of one, comes from. */
enum fp8_origin {
    FP8_MADE,     /* by a kernel of the stack, which may have a part in the cast */
    FP8_BROUGHT,  /* by a library's kernel, a collective, or long ago */
    FP8_RECEIVED, /* in fp8 */
};

/* A product's input before it, and for its weight gradient. */
struct fp8_cast fp8_cast_input(const struct fp8_setting *setting, enum fp8_origin origin);
struct fp8_cast fp8_cast_input_again(const struct fp8_setting *setting, enum fp8_origin origin);
/* The gradient of its output, for both products of backward. */
struct fp8_cast fp8_cast_gradient(const struct fp8_setting *setting, enum fp8_origin origin);
/* A weight in each forward, and each backward, pass; or once a step for all of them. */
struct fp8_cast fp8_cast_weight(const struct fp8_setting *setting);
struct fp8_cast fp8_cast_weight_again(const struct fp8_setting *setting);
struct fp8_cast fp8_cast_weight_once(const struct fp8_setting *setting);
/* A share of the master weights, before they are gathered in fp8. */
struct fp8_cast fp8_cast_master(const struct fp8_setting *setting);

/* Whether tokens go to other ranks' experts in fp8. */
bool fp8_is_dispatched(const struct plan *plan, const struct software *software);
/* Before a microbatch's tokens go to their experts in fp8, and their gradients. */
struct fp8_cast fp8_cast_dispatched(const struct fp8_setting *setting);

/* An element of an activation in fp8, its part of a scale counted. */
double fp8_activation_bytes(enum fp8_recipe recipe);

/* What the weight gradient's product reads and writes its operands in. */
bool fp8_has_wide_weight_gradient(enum fp8_recipe recipe);
/* What a linear operator keeps of an element of its input until backward. */
double fp8_kept_bytes(const struct fp8_setting *setting);

/* Whether the tensor is the weight of products that run in fp8. */
bool fp8_takes_tensor(const struct tensor *tensor);

#endif
