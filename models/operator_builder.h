/* Making operators: each function appends one step of the forward pass with its backward.
 *
 * Sizes: tokens of the microbatch on this rank, widths in elements. A weight product's backward
 * is two products of the same size (data and weight gradient), and adding the weight gradient
 * to the accumulated one. */
#ifndef MODELS_OPERATOR_BUILDER_H
#define MODELS_OPERATOR_BUILDER_H

#include "models/operators.h"

struct operator_builder {
    const struct workload *workload;
    struct arena *arena;
    enum step_class spent_on; /* of what is appended from now on */
    int64_t tokens;
    double element_bytes; /* of the compute dtype */
    struct model_operator *items;
    size_t count, capacity;
};

struct operator_builder operator_builder_new(const struct workload *workload,
                                             struct arena *arena);
struct operator_list operator_builder_list(const struct operator_builder *builder);

/* (tokens, in) x (in, out); keeps its input. */
void build_linear(struct operator_builder *builder, const char *name, int64_t out, int64_t in);

/* A pass over memory: bytes a token and whole-tensor, forward and backward; 0 backward bytes:
 * no backward kernel. `saved` is what it keeps for backward, bytes a token. */
struct pass {
    const char *name;
    double read, write;                   /* bytes a token, forward */
    double backward_read, backward_write; /* bytes a token, backward */
    double saved;
};
void build_pass(struct operator_builder *builder, const struct pass *pass);

/* A kernel of the (rows, width) family, which knows its own backward. */
void build_rows(struct operator_builder *builder, const char *name, enum kernel_kind kind,
                int64_t rows, int64_t width);

/* One kernel forward and, where has_backward, the same with its direction turned. */
void build_kernel(struct operator_builder *builder, const char *name, struct kernel kernel,
                  bool has_backward);

/* Bytes a token that the operator appended last keeps for backward. */
void build_saved(struct operator_builder *builder, double bytes_per_token);

/* rows[i] tokens of expert i x (in, out) in one launch; keeps its input. */
void build_grouped_linear(struct operator_builder *builder, const char *name,
                          const int64_t *rows, int64_t out, int64_t in);

/* x + f(x) and the norm that follows, with ZAYA1's learned scales where the model has them. */
void build_residual_norm(struct operator_builder *builder, const char *name);

#endif
