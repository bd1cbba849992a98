/* Making operators: the steps that every block is put together from. */
#include "models/operator_builder.h"

#include <assert.h>
#include <math.h>
#include <string.h>

struct operator_builder
operator_builder_new(const struct workload *workload, struct arena *arena)
{
    return (struct operator_builder){
        .workload = workload,
        .arena = arena,
        .dtype = workload->plan->compute_dtype,
        .tokens = plan_microbatch_tokens(workload->plan),
        .element_bytes = dtype_bytes(workload->plan->compute_dtype),
        .fp8 = fp8_setting_of(workload->plan, workload->software),
    };
}

struct operator_list
operator_builder_list(const struct operator_builder *builder)
{
    const struct operations *forward = &builder->passes[DIRECTION_FORWARD];
    const struct operations *backward = &builder->passes[DIRECTION_BACKWARD];
    int forwards = 0, backwards = 0; /* of the operators before */
    for (size_t i = 0; i < builder->count; i++) {
        struct model_operator *item = &builder->items[i];
        item->forward = item->forward_count > 0 ? &forward->items[forwards] : NULL;
        item->backward = item->backward_count > 0 ? &backward->items[backwards] : NULL;
        forwards += item->forward_count;
        backwards += item->backward_count;
    }
    return (struct operator_list){builder->items, (int64_t)builder->count};
}

double
build_bytes(const struct operator_builder *builder, double elements)
{
    return builder->element_bytes * (double)builder->tokens * elements;
}

double
build_wide_bytes(const struct operator_builder *builder, double elements)
{
    return dtype_bytes(DTYPE_FP32) * (double)builder->tokens * elements;
}

void
build_operator(struct operator_builder *builder)
{
    builder->items = arena_grow(builder->arena, builder->items, builder->count,
                                &builder->capacity, sizeof *builder->items);
    builder->items[builder->count++].spent_on = builder->spent_on;
}

static struct model_operator *
last(struct operator_builder *builder)
{
    assert(builder->count > 0);
    return &builder->items[builder->count - 1];
}

void
build_operation(struct operator_builder *builder, enum direction direction, const char *name,
                const struct kernel *kernel)
{
    struct operations *pass = &builder->passes[direction];
    pass->items = arena_grow(builder->arena, pass->items, pass->count, &pass->capacity,
                             sizeof *pass->items);
    pass->items[pass->count++] = (struct operation){name, builder->spent_on, *kernel};
    if (direction == DIRECTION_FORWARD)
        last(builder)->forward_count++;
    else
        last(builder)->backward_count++;
}

const char *
build_name(const struct operator_builder *builder, const char *name, const char *what)
{
    size_t name_length = strlen(name), what_length = strlen(what);
    char *both = arena_alloc(builder->arena, name_length + what_length + 2, 1);
    memcpy(both, name, name_length + 1);
    both[name_length] = '.';
    memcpy(both + name_length + 1, what, what_length + 1);
    return both;
}

/* Whether the kind has a direction; the others move rows the same way in either pass. */
static bool
has_direction(enum kernel_kind kind)
{
    return kind == KERNEL_ATTENTION || kind == KERNEL_RMS_NORM || kind == KERNEL_SOFTMAX ||
           kind == KERNEL_CROSS_ENTROPY || kind == KERNEL_CONVOLUTION;
}

void
build_forward_kernel(struct operator_builder *builder, const char *name, struct kernel kernel)
{
    kernel.dtype = builder->dtype;
    kernel.direction = DIRECTION_FORWARD;
    build_operation(builder, DIRECTION_FORWARD, name, &kernel);
}

void
build_backward_kernel(struct operator_builder *builder, const char *name, struct kernel kernel)
{
    kernel.dtype = builder->dtype;
    kernel.direction = has_direction(kernel.kind) ? DIRECTION_BACKWARD : DIRECTION_FORWARD;
    build_operation(builder, DIRECTION_BACKWARD, name, &kernel);
}

static struct kernel
elementwise(const struct operator_builder *builder, const struct stream *stream)
{
    assert(stream->read >= 0 && stream->write >= 0);
    return (struct kernel){
        .kind = KERNEL_ELEMENTWISE,
        .dtype = builder->workload->plan->compute_dtype,
        .elementwise = {.op = stream->op,
                        .elements = (int64_t)(stream->write / builder->element_bytes),
                        .read_bytes = stream->read,
                        .write_bytes = stream->write,
                        .launches = 1}};
}

void
build_forward_stream(struct operator_builder *builder, const struct stream *stream)
{
    struct kernel kernel = elementwise(builder, stream);
    build_operation(builder, DIRECTION_FORWARD, stream->name, &kernel);
}

void
build_backward_stream(struct operator_builder *builder, const struct stream *stream)
{
    struct kernel kernel = elementwise(builder, stream);
    build_operation(builder, DIRECTION_BACKWARD, stream->name, &kernel);
}

void
build_widening(struct operator_builder *builder, const char *name, double elements)
{
    double narrow = build_bytes(builder, elements), wide = build_wide_bytes(builder, elements);
    struct kernel widen = elementwise(builder, &(struct stream){name, "cast", narrow, wide});
    struct kernel back = elementwise(builder, &(struct stream){name, "narrow", wide, narrow});
    widen.elementwise.elements = back.elementwise.elements =
        (int64_t)(elements * (double)builder->tokens);
    build_operator(builder);
    build_operation(builder, DIRECTION_FORWARD, name, &widen);
    build_operation(builder, DIRECTION_BACKWARD, build_name(builder, name, "backward"), &back);
}

void
build_saved(struct operator_builder *builder, double bytes_per_token)
{
    last(builder)->saved_bytes += bytes_per_token * (double)builder->tokens;
}

void
build_kept(struct operator_builder *builder, double bytes)
{
    last(builder)->saved_bytes += bytes;
}

void
build_remade(struct operator_builder *builder, double bytes_per_token)
{
    last(builder)->remade_bytes += bytes_per_token * (double)builder->tokens;
}

void
build_dropout(struct operator_builder *builder)
{
    double mask = (double)builder->workload->arch->hidden;
    if (!builder->workload->plan->has_dropout)
        return;
    builder->spent_on = CLASS_NORM_RESIDUAL;
    build_pass(builder, &(struct pass){"dropout_mask", 0, mask, mask, 0, mask});
}

void
build_transient(struct operator_builder *builder, double bytes)
{
    struct model_operator *item = last(builder);
    item->transient_bytes = fmax(item->transient_bytes, bytes);
}

void
build_gradient_sum(struct operator_builder *builder, int uses, double bytes_per_token)
{
    double bytes = bytes_per_token * (double)builder->tokens;
    enum step_class spent_on = builder->spent_on;
    builder->spent_on =
        CLASS_NORM_RESIDUAL; /* nearly always a norm's output has many readers */
    for (int i = 1; i < uses && !builder->workload->software->fuses_gradient_joins; i++)
        build_backward_stream(builder,
                              &(struct stream){"sum_gradients", "add", 2 * bytes, bytes});
    builder->spent_on = spent_on;
}

void
build_gradient_join(struct operator_builder *builder, double bytes_per_token)
{
    double bytes = bytes_per_token * (double)builder->tokens;
    if (!builder->workload->software->fuses_gradient_joins)
        build_backward_stream(builder, &(struct stream){"join_gradients", "cat", bytes, bytes});
}

/* A weight gradient: the kernel that made it has written `parameters` elements of the compute
 * dtype; what is counted here is the traffic beyond that. Accumulated in place by that kernel: it
 * reads the sum and writes it instead of the bare gradient. As a kernel of its own: it reads the
 * gradient again, and the sum, and writes the sum. */
void
build_trained_accumulation(struct operator_builder *builder, const char *name,
                           double parameters)
{
    const struct workload *workload = builder->workload;
    double sum = dtype_bytes(workload->plan->gradient_dtype), bare = builder->element_bytes;
    bool is_fused = workload->software->fuses_gradient_accumulation;
    double read = is_fused ? sum : sum + bare, write = is_fused ? sum - bare : sum;
    enum step_class spent_on = builder->spent_on;
    struct stream stream = {build_name(builder, name, "accumulate"), "accumulate",
                            read * parameters, write * parameters};
    struct kernel kernel = elementwise(builder, &stream);
    kernel.elementwise.launches = is_fused ? 0 : 1; /* 0: bytes of another kernel's */
    builder->spent_on = CLASS_GRADIENT_ACCUMULATION;
    build_operation(builder, DIRECTION_BACKWARD, stream.name, &kernel);
    builder->spent_on = spent_on;
}

void
build_pass(struct operator_builder *builder, const struct pass *pass)
{
    double tokens = (double)builder->tokens;
    build_operator(builder);
    if (pass->read + pass->write > 0)
        build_forward_stream(builder,
                             &(struct stream){pass->name, pass->name, tokens * pass->read,
                                              tokens * pass->write});
    if (pass->backward_read + pass->backward_write > 0)
        build_backward_stream(builder,
                              &(struct stream){build_name(builder, pass->name, "backward"),
                                               pass->name, tokens * pass->backward_read,
                                               tokens * pass->backward_write});
    build_saved(builder, pass->saved);
}

void
build_kernel(struct operator_builder *builder, const char *name, struct kernel kernel,
             bool has_backward)
{
    build_operator(builder);
    build_forward_kernel(builder, name, kernel);
    if (has_backward)
        build_backward_kernel(builder, build_name(builder, name, "backward"), kernel);
}

bool
build_is_frozen(const struct operator_builder *builder)
{
    return builder->workload->plan->adapters != NULL;
}

void
build_accumulation(struct operator_builder *builder, const char *name, double parameters)
{
    if (!build_is_frozen(builder))
        build_trained_accumulation(builder, name, parameters);
}

void
build_norm(struct operator_builder *builder, const char *name, int64_t width)
{
    struct kernel norm = {.kind = KERNEL_RMS_NORM, .rows_by_width = {builder->tokens, width}};
    double both = 2 * build_bytes(builder, (double)width);
    build_kernel(builder, name, norm, true);
    build_saved(builder, builder->element_bytes * (double)width);
    if (builder->workload->software->fuses_gradient_accumulation || build_is_frozen(builder))
        return;
    build_backward_stream(builder,
                          &(struct stream){build_name(builder, name, "weight_gradient"),
                                           "norm_weight_gradient", both, 0});
    build_accumulation(builder, name, (double)width);
}

/* Traffic of residual + norm, in elements of the width. One kernel: reads residual and update,
 * writes residual and normed; backward reads the gradients of both, residual and update (for the
 * scales' gradients), writes the gradients of both. Kernels of their own: each scale reads and
 * writes, the add reads two and writes one, the norm reads and writes; backward the gradients of
 * the residual from the norm and from beyond it are added. Backward wants the sum (the norm's
 * input) and, where there are scales to learn, the update. */
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
    double tokens = (double)builder->tokens;
    build_operator(builder);
    build_forward_stream(builder, &(struct stream){"residual_add", "add",
                                                   tokens * (wide + narrow), tokens * wide});
    build_gradient_sum(builder, 2, wide);
    build_norm(builder, name, arch->hidden);
    build_saved(builder, wide - narrow);
}
