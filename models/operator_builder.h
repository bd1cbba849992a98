/* Making operators: each function appends one step of the forward pass with its backward.
 *
 * Sizes: tokens of the microbatch on this rank, widths in elements. A weight product's backward is
 * two products of the same size (data and weight gradient), and adding the weight gradient to the
 * accumulated one. */
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

/* A product (rows, in) x (in, out). Its input is kept for the weight gradient: by the operator
 * itself, or by another that has kept the same tensor already. */
enum kept_input { KEPT_HERE, KEPT_BY_ANOTHER };
struct linear {
    const char *name;
    int64_t out, in;
    enum kept_input input;
};

/* Rows are the tokens. */
void build_linear(struct operator_builder *builder, const struct linear *linear);
/* rows[i] tokens of expert i, all experts in one launch. */
void build_grouped_linear(struct operator_builder *builder, const int64_t *rows,
                          const struct linear *linear);

/* A pass over memory. No forward bytes: no forward kernel; no backward bytes: no backward one. */
struct pass {
    const char *name;
    double read, write;                   /* bytes a token, forward */
    double backward_read, backward_write; /* bytes a token, backward */
    double saved;                         /* bytes a token, kept for backward */
};
void build_pass(struct operator_builder *builder, const struct pass *pass);

/* One kernel forward and, where has_backward, the same with its direction turned. */
void build_kernel(struct operator_builder *builder, const char *name, struct kernel kernel,
                  bool has_backward);
/* The same for kernels of rows by width. */
void build_rows(struct operator_builder *builder, const char *name, enum kernel_kind kind,
                int64_t rows, int64_t width);

/* One more kernel for the backward of the operator appended last. */
void build_backward(struct operator_builder *builder, const char *name, struct kernel kernel);

/* More bytes a token that the operator appended last keeps for backward. */
void build_saved(struct operator_builder *builder, double bytes_per_token);

/* x + f(x) and the norm that follows, with ZAYA1's learned scales where the model has them. */
void build_residual_norm(struct operator_builder *builder, const char *name);

#endif
