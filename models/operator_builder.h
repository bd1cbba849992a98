/* Making operators: each function appends one step of the forward pass with its backward, or adds a
 * kernel to the step appended last.
 *
 * Sizes: tokens of the microbatch on this rank, widths in elements. A weight product's backward is
 * two products of the same size (data and weight gradient), and adding the weight gradient to the
 * accumulated one. How many operators a block has, and how many kernels each, does not depend on
 * sizes: plans compile it once more for each way that sizes are split. */
#ifndef MODELS_OPERATOR_BUILDER_H
#define MODELS_OPERATOR_BUILDER_H

#include "models/fp8.h"
#include "models/operators.h"

struct operator_builder {
    const struct workload *workload;
    struct arena *arena;
    enum step_class spent_on; /* of what is appended from now on */
    enum dtype dtype;         /* the same; the plan's compute dtype unless someone changes it */
    int64_t tokens;
    double element_bytes; /* of the compute dtype */
    struct fp8_setting fp8;
    bool is_projection; /* what counts for another class is a product of a layer all the same */
    enum fp8_origin input_origin, gradient_origin; /* of the product's that is built next */
    struct model_operator *items;
    size_t count, capacity;
    struct operations {
        struct operation *items;
        size_t count, capacity;
    } passes[2]; /* forward and backward, of all operators one behind the other */
};

struct operator_builder operator_builder_new(const struct workload *workload,
                                             struct arena *arena);
struct operator_list operator_builder_list(const struct operator_builder *builder);

/* Bytes of so many elements of the compute dtype for each token; of so many in fp32. */
double build_bytes(const struct operator_builder *builder, double elements);
double build_wide_bytes(const struct operator_builder *builder, double elements);

/* An operator that has no kernels yet. */
void build_operator(struct operator_builder *builder);

/* A kernel as it stands, added to the operator appended last; a name that lives as long. */
void build_operation(struct operator_builder *builder, enum direction direction,
                     const char *name, const struct kernel *kernel);
const char *build_name(const struct operator_builder *builder, const char *name,
                       const char *what); /* "name.what" */

/* A pass over memory, added to the operator appended last. */
struct stream {
    const char *name; /* "combine.multiply" */
    /* What it does, as lists of kernels call it: "mul". PyTorch's eager kernels take several
     * elements of a contiguous tensor at once, but only one of the half of a wider tensor
     * ("mul_strided"), of rows with a number each ("mul_broadcast") and of a dtype that is made
     * wider ("cast"): ATen/native/cuda/CUDALoops.cuh. A device may have a rate of its own for
     * these. */
    const char *op;
    double read, write; /* bytes in all */
};
void build_forward_stream(struct operator_builder *builder, const struct stream *stream);
void build_backward_stream(struct operator_builder *builder, const struct stream *stream);

/* An operator that makes so many elements a token fp32, and backward their gradients narrow. */
void build_widening(struct operator_builder *builder, const char *name, double elements);

/* The same for a kernel; its dtype is the builder's. */
void build_forward_kernel(struct operator_builder *builder, const char *name,
                          struct kernel kernel);
void build_backward_kernel(struct operator_builder *builder, const char *name,
                           struct kernel kernel);

/* A product (rows, in) x (in, out). Its input is kept for the weight gradient: by the operator
 * itself, or by another that has kept the same tensor already, which may be a product too. */
enum kept_input { KEPT_HERE, KEPT_BY_ANOTHER, KEPT_BY_PRODUCT };
struct linear {
    const char *name;
    int64_t out, in;
    enum kept_input input;
    bool has_bias; /* added by the product; its gradient is a sum over the rows */
};

/* Rows are the tokens. */
void build_linear(struct operator_builder *builder, const struct linear *linear);
/* loads->rows[i] tokens of expert i, all experts in one launch. A bias is one row an expert. */
void build_grouped_linear(struct operator_builder *builder, const struct expert_loads *loads,
                          const struct linear *linear);

/* A cast of so many elements to fp8, added to the operator appended last; nothing where nothing is
 * cast. */
void build_cast(struct operator_builder *builder, enum direction direction, const char *name,
                struct fp8_cast cast, double elements);

/* One operator of at most one pass each way, named as what it does. No forward bytes: no forward
 * kernel; no backward bytes: no backward one. */
struct pass {
    const char *name;
    double read, write;                   /* bytes a token, forward */
    double backward_read, backward_write; /* bytes a token, backward */
    double saved;                         /* bytes a token, kept for backward */
};
void build_pass(struct operator_builder *builder, const struct pass *pass);

/* One operator of one kernel forward and, where has_backward, the same with its direction turned.
 */
void build_kernel(struct operator_builder *builder, const char *name, struct kernel kernel,
                  bool has_backward);

/* RMS norm of that many elements of each token; keeps its input, and learns a weight, whose
 * gradient is a pass of its own over input and gradient where the stack does not accumulate in
 * place. */
void build_norm(struct operator_builder *builder, const char *name, int64_t width);

/* More bytes a token that the operator appended last keeps for backward. */
void build_saved(struct operator_builder *builder, double bytes_per_token);
/* The same in bytes, of rows that are not the tokens. */
void build_kept(struct operator_builder *builder, double bytes);
/* Bytes that it takes while it runs and gives back, beside what is kept. */
void build_transient(struct operator_builder *builder, double bytes);

/* Of what the operator appended last keeps: what running again would make anew. */
void build_remade(struct operator_builder *builder, double bytes_per_token);
/* Where the plan drops channels out of an update: the mask, a byte each, that the kernel which adds
 * the residual writes and backward reads. */
void build_dropout(struct operator_builder *builder);

/* Backward of the operator appended last, where the stack has kernels of their own for it: the
 * gradients of `uses` readers of one tensor of so many bytes a token are added up; or the gradients
 * of parts of a tensor are laid side by side. */
void build_gradient_sum(struct operator_builder *builder, int uses, double bytes_per_token);
void build_gradient_join(struct operator_builder *builder, double bytes_per_token);

/* Adds so many weights' gradients to the accumulated ones: in place by the kernel that made them,
 * or by one of its own. */
void build_trained_accumulation(struct operator_builder *builder, const char *name,
                                double parameters);
/* The same of the model's own weights, which have no gradient where adapters are trained. */
bool build_is_frozen(const struct operator_builder *builder);
void build_accumulation(struct operator_builder *builder, const char *name, double parameters);

/* x + f(x) and the norm that follows, with ZAYA1's learned scales where the model has them. */
void build_residual_norm(struct operator_builder *builder, const char *name);

#endif
