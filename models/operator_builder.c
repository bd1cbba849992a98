/* Making operators: the steps that every block is put together from. */
#include "models/operator_builder.h"

#include <assert.h>
#include <math.h>

struct operator_builder
operator_builder_new(const struct workload *workload, struct arena *arena)
{
    return (struct operator_builder){
        .workload = workload,
        .arena = arena,
        .tokens = plan_microbatch_tokens(workload->plan),
        .element_bytes = dtype_bytes(workload->plan->compute_dtype),
    };
}

struct operator_list
operator_builder_list(const struct operator_builder *builder)
{
    return (struct operator_list){builder->items, (int64_t)builder->count};
}

static struct model_operator *
append(struct operator_builder *builder)
{
    builder->items = arena_grow(builder->arena, builder->items, builder->count,
                                &builder->capacity, sizeof *builder->items);
    struct model_operator *item = &builder->items[builder->count++];
    item->spent_on = builder->spent_on;
    return item;
}

static struct model_operator *
last(struct operator_builder *builder)
{
    assert(builder->count > 0);
    return &builder->items[builder->count - 1];
}

static void
add_forward(struct operator_builder *builder, const char *name, struct kernel kernel)
{
    struct model_operator *item = last(builder);
    assert(item->forward_count < OPERATOR_KERNELS_MAX);
    item->forward[item->forward_count++] = (struct operation){name, builder->spent_on, kernel};
}

static void
add_backward(struct operator_builder *builder, const char *name, const char *what,
             struct kernel kernel)
{
    struct model_operator *item = last(builder);
    assert(item->backward_count < OPERATOR_KERNELS_MAX);
    name = arena_format(builder->arena, "%s.%s", name, what);
    item->backward[item->backward_count++] =
        (struct operation){name, builder->spent_on, kernel};
}

void
build_saved(struct operator_builder *builder, double bytes_per_token)
{
    last(builder)->saved_bytes += bytes_per_token * (double)builder->tokens;
}

static struct kernel
gemm(const struct operator_builder *builder, struct gemm sizes)
{
    return (struct kernel){
        .kind = KERNEL_GEMM, .dtype = builder->workload->plan->compute_dtype, .gemm = sizes};
}

/* `launches` 0: bytes that another kernel moves beside its own. */
static struct kernel
elementwise(const struct operator_builder *builder, const char *op, double read, double write,
            int64_t launches)
{
    assert(read >= 0 && write >= 0);
    return (struct kernel){
        .kind = KERNEL_ELEMENTWISE,
        .dtype = builder->workload->plan->compute_dtype,
        .elementwise = {.op = op,
                        .elements = (int64_t)(write / builder->element_bytes),
                        .read_bytes = read,
                        .write_bytes = write,
                        .launches = launches}};
}

/* Adding a weight gradient to the accumulated one. The product has written `parameters` elements
 * of the compute dtype; what is counted here is the traffic beyond that. Accumulated in place by
 * the product: it reads the sum and writes it instead of the bare gradient. As a kernel of its
 * own: it reads the gradient again, and the sum, and writes the sum. */
static void
add_accumulation(struct operator_builder *builder, const char *name, double parameters)
{
    const struct workload *workload = builder->workload;
    double sum = dtype_bytes(workload->plan->gradient_dtype), bare = builder->element_bytes;
    bool is_fused = workload->software->fuses_gradient_accumulation;
    double read = is_fused ? sum : sum + bare, write = is_fused ? sum - bare : sum;
    enum step_class spent_on = builder->spent_on;
    builder->spent_on = CLASS_GRADIENT_ACCUMULATION;
    add_backward(builder, name, "accumulate",
                 elementwise(builder, "accumulate", read * parameters, write * parameters,
                             is_fused ? 0 : 1));
    builder->spent_on = spent_on;
}

void
build_linear(struct operator_builder *builder, const struct linear *linear)
{
    int64_t tokens = builder->tokens, out = linear->out, in = linear->in;
    const char *name = linear->name;
    append(builder);
    add_forward(builder, name, gemm(builder, (struct gemm){tokens, out, in, 1, GEMM_NT}));
    add_backward(builder, name, "input_gradient",
                 gemm(builder, (struct gemm){tokens, in, out, 1, GEMM_NN}));
    add_backward(builder, name, "weight_gradient",
                 gemm(builder, (struct gemm){out, in, tokens, 1, GEMM_TN}));
    add_accumulation(builder, name, (double)out * (double)in);
    if (linear->input == KEPT_HERE)
        build_saved(builder, builder->element_bytes * (double)in);
}

void
build_pass(struct operator_builder *builder, const struct pass *pass)
{
    double tokens = (double)builder->tokens;
    append(builder);
    if (pass->read + pass->write > 0)
        add_forward(
            builder, pass->name,
            elementwise(builder, pass->name, tokens * pass->read, tokens * pass->write, 1));
    if (pass->backward_read + pass->backward_write > 0)
        add_backward(builder, pass->name, "backward",
                     elementwise(builder, pass->name, tokens * pass->backward_read,
                                 tokens * pass->backward_write, 1));
    build_saved(builder, pass->saved);
}

void
build_kernel(struct operator_builder *builder, const char *name, struct kernel kernel,
             bool has_backward)
{
    append(builder);
    kernel.dtype = builder->workload->plan->compute_dtype;
    kernel.direction = DIRECTION_FORWARD;
    add_forward(builder, name, kernel);
    if (has_backward)
        build_backward(builder, name, kernel);
}

void
build_backward(struct operator_builder *builder, const char *name, struct kernel kernel)
{
    kernel.dtype = builder->workload->plan->compute_dtype;
    kernel.direction = DIRECTION_BACKWARD;
    add_backward(builder, name, "backward", kernel);
}

void
build_rows(struct operator_builder *builder, const char *name, enum kernel_kind kind,
           int64_t rows, int64_t width)
{
    build_kernel(builder, name, (struct kernel){.kind = kind, .rows_by_width = {rows, width}},
                 true);
}

/* The weight gradient of expert i is (out, rows[i]) x (rows[i], in). In the vocabulary a
 * grouped product has one depth for all: the mean of rows; exact while experts are equally
 * loaded. */
static struct kernel
grouped_weight_gradient(struct operator_builder *builder, int64_t out, int64_t in)
{
    const struct arch *arch = builder->workload->arch;
    int64_t *rows = arena_alloc(builder->arena, (size_t)arch->experts, sizeof *rows);
    for (int64_t i = 0; i < arch->experts; i++)
        rows[i] = out;
    int64_t depth = builder->tokens * arch->experts_per_token / arch->experts;
    return (struct kernel){.kind = KERNEL_GROUPED_GEMM,
                           .dtype = builder->workload->plan->compute_dtype,
                           .grouped_gemm = {rows, arch->experts, in, depth > 0 ? depth : 1}};
}

void
build_grouped_linear(struct operator_builder *builder, const int64_t *rows,
                     const struct linear *linear)
{
    const struct arch *arch = builder->workload->arch;
    int64_t out = linear->out, in = linear->in;
    struct kernel kernel = {.kind = KERNEL_GROUPED_GEMM,
                            .dtype = builder->workload->plan->compute_dtype,
                            .grouped_gemm = {rows, arch->experts, out, in}};
    append(builder);
    add_forward(builder, linear->name, kernel);
    kernel.grouped_gemm.n = in;
    kernel.grouped_gemm.k = out;
    add_backward(builder, linear->name, "input_gradient", kernel);
    add_backward(builder, linear->name, "weight_gradient",
                 grouped_weight_gradient(builder, out, in));
    add_accumulation(builder, linear->name, (double)arch->experts * (double)out * (double)in);
    build_saved(builder, builder->element_bytes * (double)in * (double)arch->experts_per_token);
}

/* Traffic of residual + norm, in elements of the width. One kernel: reads residual and update,
 * writes residual and normed; backward reads the gradients of both, residual and update (for the
 * scales' gradients), writes the gradients of both. Kernels of their own: each scale reads and
 * writes, the add reads two and writes one, the norm reads and writes. Backward wants the sum (the
 * norm's input) and, where there are scales to learn, the update. */
void
build_residual_norm(struct operator_builder *builder, const char *name)
{
    const struct arch *arch = builder->workload->arch;
    double narrow = builder->element_bytes * (double)arch->hidden;
    double wide =
        fmax(narrow, arch->is_residual_fp32 ? dtype_bytes(DTYPE_FP32) * (double)arch->hidden
                                            : narrow); /* the residual itself */
    double kept = arch->has_residual_scaling ? wide + narrow : wide;
    builder->spent_on = CLASS_NORM_RESIDUAL;
    if (builder->workload->software->fuses_residual_norm) {
        build_pass(builder, &(struct pass){name, wide + narrow, wide + narrow,
                                           2 * wide + 2 * narrow, wide + narrow, kept});
        return;
    }
    if (arch->has_residual_scaling) {
        build_pass(builder, &(struct pass){"residual_scale", wide, wide, 2 * wide, wide, wide});
        build_pass(builder,
                   &(struct pass){"output_scale", narrow, narrow, 2 * narrow, narrow, narrow});
    }
    build_pass(builder, &(struct pass){"residual_add", wide + narrow, wide, wide, narrow, 0});
    build_rows(builder, name, KERNEL_RMS_NORM, builder->tokens, arch->hidden);
    build_saved(builder, wide);
}
