/* Making operators: products with weights, of tokens or of each expert's rows, and what is cast for
 * them where they run in fp8. */
#include "models/operator_builder.h"

/* What the next product is run in: fp8 where the plan has a recipe and it is one of a layer's
 * projections; Megatron-LM's and torchtitan's default (the router is a product of its own kind, the
 * head is filtered out: torchtitan llama3_8b.toml, filter_fqns). */
static struct fp8_setting
product_setting(const struct operator_builder *builder)
{
    struct fp8_setting setting = builder->fp8;
    if (builder->spent_on != CLASS_ATTENTION_PROJECTION && builder->spent_on != CLASS_EXPERT &&
        !builder->is_projection)
        setting.recipe = FP8_NONE;
    return setting;
}

static enum dtype
product_dtype(const struct operator_builder *builder)
{
    struct fp8_setting setting = product_setting(builder);
    bool is_narrow = setting.recipe != FP8_NONE && !setting.stack.multiplies_wide;
    return is_narrow ? DTYPE_FP8 : builder->workload->plan->compute_dtype;
}

static enum dtype
weight_gradient_dtype(const struct operator_builder *builder)
{
    bool is_wide = fp8_has_wide_weight_gradient(product_setting(builder).recipe);
    return is_wide ? builder->workload->plan->compute_dtype : product_dtype(builder);
}

/* Of blocks of k within the product, else of its result. */
static enum fp8_scales
scales_of(const struct operator_builder *builder, enum dtype dtype)
{
    return dtype == DTYPE_FP8 && builder->fp8.recipe != FP8_BLOCKWISE ? SCALES_OF_RESULT
                                                                      : SCALES_AS_MEASURED;
}

/* Copies turned round leave products one layout. */
static struct kernel
gemm(const struct operator_builder *builder, enum dtype dtype, struct gemm sizes)
{
    if (dtype == DTYPE_FP8 && builder->fp8.stack.transposes_operands)
        sizes.layout = GEMM_NT;
    return (struct kernel){.kind = KERNEL_GEMM,
                           .dtype = dtype,
                           .scales = scales_of(builder, dtype),
                           .gemm = sizes};
}

void
build_cast(struct operator_builder *builder, enum direction direction, const char *name,
           struct fp8_cast cast, double elements)
{
    enum step_class spent_on = builder->spent_on;
    const char *turning_op = builder->fp8.stack.turning_op;
    struct kernel kernel = {
        .kind = KERNEL_ELEMENTWISE,
        .dtype = builder->workload->plan->compute_dtype,
        .elementwise = {.op = cast.is_turned && turning_op ? turning_op : "quantize",
                        .elements = (int64_t)elements,
                        .read_bytes = cast.read * elements,
                        .write_bytes = cast.write * elements,
                        .launches = cast.launches}};
    if (!(cast.read + cast.write > 0))
        return;
    builder->spent_on = CLASS_QUANTIZATION;
    build_operation(builder, direction, name, &kernel);
    builder->spent_on = spent_on;
}

/* Of one product or of all experts': what is cast for it, and kept. */
struct product {
    const struct linear *linear;
    struct fp8_setting fp8;
    double rows, parameters;
    bool shares_cast; /* with the product before it */
};

static struct product
product_of(const struct operator_builder *builder, const struct linear *linear, double rows,
           double copies)
{
    struct fp8_setting fp8 = product_setting(builder);
    return (struct product){linear, fp8, rows,
                            copies * (double)linear->out * (double)linear->in,
                            fp8.stack.shares_casts && linear->input == KEPT_BY_PRODUCT};
}

static enum fp8_origin
input_origin(const struct operator_builder *builder, const struct linear *linear)
{
    bool is_made = builder->input_origin == FP8_MADE && linear->input == KEPT_HERE;
    return is_made || builder->input_origin == FP8_RECEIVED ? builder->input_origin
                                                            : FP8_BROUGHT;
}

static void
cast_forward(struct operator_builder *builder, const struct product *product)
{
    const struct linear *linear = product->linear;
    double elements = product->rows * (double)linear->in;
    if (!product->shares_cast)
        build_cast(builder, DIRECTION_FORWARD,
                   build_name(builder, linear->name, "quantize_input"),
                   fp8_cast_input(&product->fp8, input_origin(builder, linear)), elements);
    build_cast(builder, DIRECTION_FORWARD, build_name(builder, linear->name, "quantize_weight"),
               fp8_cast_weight(&product->fp8), product->parameters);
}

/* For both products; what only the weight gradient wants is put off with it. */
static void
cast_gradient(struct operator_builder *builder, const struct product *product)
{
    const struct linear *linear = product->linear;
    build_cast(builder, DIRECTION_BACKWARD,
               build_name(builder, linear->name, "quantize_gradient"),
               fp8_cast_gradient(&product->fp8, builder->gradient_origin),
               product->rows * (double)linear->out);
    build_cast(builder, DIRECTION_BACKWARD,
               build_name(builder, linear->name, "quantize_weight"),
               fp8_cast_weight_again(&product->fp8), product->parameters);
}

static void
cast_input_again(struct operator_builder *builder, const struct product *product)
{
    const struct linear *linear = product->linear;
    if (product->shares_cast)
        return;
    build_cast(builder, DIRECTION_BACKWARD,
               build_name(builder, linear->name, "quantize_input.weight_gradient"),
               fp8_cast_input_again(&product->fp8, input_origin(builder, linear)),
               product->rows * (double)linear->in);
}

/* Beside what others keep, a product that keeps its input in fp8 has its own copy. */
static void
keep_input(struct operator_builder *builder, const struct product *product)
{
    double bytes = fp8_kept_bytes(&product->fp8);
    bool is_narrow = bytes < product->fp8.wide_bytes;
    if (product->linear->input == KEPT_HERE || (is_narrow && !product->shares_cast))
        build_kept(builder, bytes * product->rows * (double)product->linear->in);
}

/* The gradient of a bias is the sum of its rows' gradients. */
static void
add_bias_gradient(struct operator_builder *builder, const struct linear *linear, double rows,
                  double copies)
{
    double out = (double)linear->out;
    if (build_is_frozen(builder))
        return;
    build_backward_stream(builder,
                          &(struct stream){build_name(builder, linear->name, "bias_gradient"),
                                           "sum", builder->element_bytes * rows * out,
                                           builder->element_bytes * copies * out});
    build_accumulation(builder, build_name(builder, linear->name, "bias"), copies * out);
}

/* Forward and the gradient of the input; that of the weight, for which the input is kept, where the
 * weight is trained. */
static void
add_product(struct operator_builder *builder, const struct linear *linear, bool is_trained)
{
    int64_t tokens = builder->tokens, out = linear->out, in = linear->in;
    const char *name = linear->name;
    enum dtype dtype = product_dtype(builder), last_dtype = weight_gradient_dtype(builder);
    struct kernel forward = gemm(builder, dtype, (struct gemm){tokens, out, in, 1, GEMM_NT});
    struct kernel input = gemm(builder, dtype, (struct gemm){tokens, in, out, 1, GEMM_NN});
    struct kernel weight =
        gemm(builder, last_dtype, (struct gemm){out, in, tokens, 1, GEMM_TN});
    struct product product = product_of(builder, linear, (double)tokens, 1);
    build_operator(builder);
    cast_forward(builder, &product);
    build_operation(builder, DIRECTION_FORWARD, name, &forward);
    cast_gradient(builder, &product);
    build_operation(builder, DIRECTION_BACKWARD, build_name(builder, name, "input_gradient"),
                    &input);
    if (!is_trained)
        return;
    cast_input_again(builder, &product);
    build_operation(builder, DIRECTION_BACKWARD, build_name(builder, name, "weight_gradient"),
                    &weight);
    build_trained_accumulation(builder, name, (double)out * (double)in);
    keep_input(builder, &product);
}

/* One of the two thin products, which no recipe is for. */
static void
add_thin(struct operator_builder *builder, const struct linear *linear)
{
    enum fp8_recipe recipe = builder->fp8.recipe;
    builder->fp8.recipe = FP8_NONE;
    add_product(builder, linear, true);
    builder->fp8.recipe = recipe;
    builder->items[builder->count - 1].is_adapter = true;
}

/* Behind the frozen product, so that backward comes to the thin ones first: what they give is
 * scaled and added to its output, their input's gradient to that of its input (PyTorch's dropout
 * keeps a mask of a byte an element: ATen/native/cuda/Dropout.cu). */
static void
add_adapter(struct operator_builder *builder, const struct linear *linear)
{
    const struct adapters *adapters = builder->workload->plan->adapters;
    double in = builder->element_bytes * (double)linear->in, mask = (double)linear->in;
    double all = build_bytes(builder, (double)linear->out);
    bool has_dropout = adapters->dropout_fraction > 0;
    build_gradient_sum(builder, 2, in);
    if (has_dropout)
        build_pass(builder, &(struct pass){build_name(builder, linear->name, "adapter_dropout"),
                                           in, in + mask, in + mask, in, mask});
    add_thin(builder,
             &(struct linear){build_name(builder, linear->name, "adapter_in"), adapters->rank,
                              linear->in, has_dropout ? KEPT_HERE : linear->input, false});
    add_thin(builder, &(struct linear){build_name(builder, linear->name, "adapter_out"),
                                       linear->out, adapters->rank, KEPT_HERE, false});
    build_operator(builder);
    struct stream scale = {build_name(builder, linear->name, "adapter_scale"), "mul", all, all};
    build_forward_stream(builder, &scale);
    build_forward_stream(builder,
                         &(struct stream){build_name(builder, linear->name, "adapter_add"),
                                          "add", 2 * all, all});
    build_backward_stream(builder, &scale);
}

void
build_linear(struct operator_builder *builder, const struct linear *linear)
{
    const struct adapters *adapters = builder->workload->plan->adapters;
    add_product(builder, linear, adapters == NULL);
    if (linear->has_bias)
        add_bias_gradient(builder, linear, (double)builder->tokens, 1);
    if (adapters && adapters_has(adapters, adapters_module_of(linear->name)))
        add_adapter(builder, linear);
}

/* The weight gradient of expert i is (out, rows[i]) x (rows[i], in). In the vocabulary a
 * grouped product has one depth for all: the mean of rows; exact while experts are equally
 * loaded. */
static struct kernel
grouped_weight_gradient(struct operator_builder *builder, const struct expert_loads *loads,
                        const struct linear *linear)
{
    int64_t *rows = arena_alloc(builder->arena, (size_t)loads->experts, sizeof *rows);
    for (int64_t i = 0; i < loads->experts; i++)
        rows[i] = linear->out;
    int64_t depth = routing_rank_rows(loads, 1, 0) / loads->experts;
    return (struct kernel){
        .kind = KERNEL_GROUPED_GEMM,
        .dtype = weight_gradient_dtype(builder),
        .scales = scales_of(builder, weight_gradient_dtype(builder)),
        .grouped_gemm = {rows, loads->experts, linear->in, depth > 0 ? depth : 1}};
}

/* Grouped products have no room for a bias: it is added by the gate's kernel or by its own. */
static void
add_grouped_bias(struct operator_builder *builder, const struct linear *linear, double rows,
                 double experts)
{
    double bytes = builder->element_bytes * rows * (double)linear->out;
    if (!builder->workload->software->fuses_swiglu)
        build_forward_stream(
            builder,
            &(struct stream){build_name(builder, linear->name, "bias"), "add", bytes, bytes});
    add_bias_gradient(builder, linear, rows, experts);
}

void
build_grouped_linear(struct operator_builder *builder, const struct expert_loads *loads,
                     const struct linear *linear)
{
    int64_t out = linear->out, in = linear->in;
    double experts = (double)loads->experts, rows = (double)routing_rank_rows(loads, 1, 0);
    struct kernel kernel = {.kind = KERNEL_GROUPED_GEMM,
                            .dtype = product_dtype(builder),
                            .scales = scales_of(builder, product_dtype(builder)),
                            .grouped_gemm = {loads->rows, loads->experts, out, in}};
    struct kernel weight = grouped_weight_gradient(builder, loads, linear);
    struct product product = product_of(builder, linear, rows, experts);
    build_operator(builder);
    cast_forward(builder, &product);
    build_operation(builder, DIRECTION_FORWARD, linear->name, &kernel);
    kernel.grouped_gemm.n = in;
    kernel.grouped_gemm.k = out;
    cast_gradient(builder, &product);
    build_operation(builder, DIRECTION_BACKWARD,
                    build_name(builder, linear->name, "input_gradient"), &kernel);
    if (!build_is_frozen(builder)) {
        cast_input_again(builder, &product);
        build_operation(builder, DIRECTION_BACKWARD,
                        build_name(builder, linear->name, "weight_gradient"), &weight);
        keep_input(builder, &product);
    }
    build_accumulation(builder, linear->name, experts * (double)out * (double)in);
    if (linear->has_bias)
        add_grouped_bias(builder, linear, rows, experts);
}
