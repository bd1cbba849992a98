/* Forward of one microbatch, operator by operator. */
#include "validate/training_products.h"

#include "validate/cpu_experts.h"
#include "validate/cpu_run.h"

/* A kernel of the vocabulary on operands that it may write to. */
static void
run_kernel(struct training *step, const char *name,
           void (*run)(const struct kernel *kernel, const union cpu_array *operands),
           const struct kernel *kernel, const union cpu_array *operands)
{
    training_times_begin(&step->times);
    run(kernel, operands);
    training_times_end(&step->times, name);
}

static void
norm(struct training *step, const char *name, float *x, float *gain, float *y)
{
    const struct kernel kernel = {.kind = KERNEL_RMS_NORM,
                                  .rows_by_width = {step->part.tokens, step->shape.hidden}};
    const union cpu_array operands[] = {{.reals = x}, {.reals = gain}, {.reals = y}};
    run_kernel(step, name, cpu_run_rms_norm, &kernel, operands);
}

/* sum = residual + what the block before has made */
static void
add_update(struct training *step, float *residual, float *sum)
{
    const struct kernel kernel = {
        .kind = KERNEL_ELEMENTWISE,
        .elementwise = {.elements = step->part.tokens * step->shape.hidden}};
    const union cpu_array operands[] = {
        {.reals = residual}, {.reals = step->scratch.update}, {.reals = sum}};
    run_kernel(step, "residual_add", cpu_run_add, &kernel, operands);
}

static void
embed(struct training *step, const struct training_kept *kept)
{
    const struct kernel kernel = {.kind = KERNEL_GATHER,
                                  .rows_by_width = {step->part.tokens, step->shape.hidden}};
    const union cpu_array operands[] = {{.reals = step->weights.embedding},
                                        {.indices = kept->words},
                                        {.reals = kept->layers[0].attention_input}};
    run_kernel(step, "embedding", cpu_run_gather, &kernel, operands);
}

static void
attend(struct training *step, const struct training_layer_kept *layer)
{
    const struct attention shape = training_attention(step);
    const struct cpu_attention_strides strides = training_attention_strides(step);
    float *queries = layer->joined, *keys = queries + step->part.query_width;
    const union cpu_array operands[] = {{.reals = queries},
                                        {.reals = keys},
                                        {.reals = keys + step->part.kv_width},
                                        {.reals = layer->attended},
                                        {.reals = step->scratch.scores}};
    training_times_begin(&step->times);
    cpu_attention(&shape, &strides, operands);
    training_times_end(&step->times, "attention");
}

/* Leaves what is to be added to the residual in scratch.update. */
static void
attention_block(struct training *step, const struct training_layer_kept *layer,
                const struct training_layer_weights *weights)
{
    const struct training_linear joined = training_joined_linear(step);
    const struct training_linear output = training_output_linear(step);
    float *update = step->scratch.update, *whole_update = training_whole_of(step, update);
    norm(step, "attention_norm", layer->attention_input, weights->attention_norm,
         layer->attention_normed);
    training_linear_forward(step, &joined,
                            training_gather_sequence(step, layer->attention_normed),
                            weights->query_key_value, layer->joined);
    attend(step, layer);
    training_linear_forward(step, &output, layer->attended, weights->attention_output,
                            whole_update);
    training_scatter_sequence(step, whole_update, update);
}

/* Scores, the experts of each token with their weights, and the rows that its copies take. */
static void
route(struct training *step, struct training_layer_kept *layer,
      const struct training_layer_weights *weights)
{
    const struct training_part *part = &step->part;
    int64_t tokens = part->tokens, experts = step->shape.experts;
    const struct training_linear router = training_router_linear(step);
    const struct kernel softmax = {.kind = KERNEL_SOFTMAX, .rows_by_width = {tokens, experts}};
    const struct kernel top_k = {.kind = KERNEL_TOP_K,
                                 .top_k = {tokens, experts, step->shape.experts_per_token}};
    const union cpu_array scores[] = {{.reals = step->scratch.route_logits},
                                      {.reals = layer->scores}};
    const union cpu_array choice[] = {
        {.reals = layer->scores}, {.reals = layer->weights}, {.indices = layer->chosen}};
    training_linear_forward(step, &router, layer->feed_forward_normed, weights->router,
                            step->scratch.route_logits);
    cpu_run_softmax(&softmax, scores);
    cpu_run_top_k(&top_k, choice);
    training_times_end(&step->times, "router_softmax_top_k");
    cpu_sort_routes(layer->chosen, part->copies, experts, layer->sent, layer->place);
    training_times_end(&step->times, "sort_positions");
    training_count_routes(step, layer);
}

static void
run_experts(struct training *step, const struct training_layer_kept *layer,
            const struct training_layer_weights *weights)
{
    const struct training_shape *shape = &step->shape;
    int64_t ffn = shape->expert_ffn, experts = step->part.experts;
    const struct grouped_gemm gate_up = {layer->rows, experts, 2 * ffn, shape->hidden};
    const struct grouped_gemm down = {layer->rows, experts, shape->hidden, ffn};
    training_times_begin(&step->times);
    cpu_grouped_gemm(&gate_up, GEMM_NN, layer->routed, weights->gate_up, layer->gate_up);
    training_times_end(&step->times, "gate_up");
    cpu_swiglu(training_routed_rows(step, layer), ffn, layer->gate_up, layer->activated);
    training_times_end(&step->times, "swiglu");
    cpu_grouped_gemm(&down, GEMM_NN, layer->activated, weights->down, layer->made);
    training_times_end(&step->times, "down");
}

/* Leaves what is to be added to the residual in scratch.update. */
static void
feed_forward_block(struct training *step, struct training_layer_kept *layer,
                   const struct training_layer_weights *weights)
{
    norm(step, "feed_forward_norm", layer->feed_forward_input, weights->feed_forward_norm,
         layer->feed_forward_normed);
    route(step, layer, weights);
    const struct cpu_routes routes = training_routes(step, layer);
    training_times_begin(&step->times);
    cpu_permute(&routes, layer->feed_forward_normed, layer->permuted);
    training_times_end(&step->times, "permute");
    training_dispatch(step, layer, layer->permuted, layer->routed);
    run_experts(step, layer, weights);
    training_collect(step, layer, layer->made, layer->returned);
    training_times_begin(&step->times);
    cpu_combine(&routes, layer->weights, layer->returned, step->scratch.update);
    training_times_end(&step->times, "combine");
}

static void
head(struct training *step, const struct training_kept *kept)
{
    int64_t tokens = step->part.tokens, vocab = step->shape.vocab;
    const struct training_linear logits = training_head_linear(step);
    const struct kernel loss = {.kind = KERNEL_CROSS_ENTROPY, .cross_entropy = {tokens, vocab}};
    const union cpu_array operands[] = {
        {.reals = kept->logits}, {.indices = kept->targets}, {.reals = kept->losses}};
    norm(step, "final_norm", kept->last, step->weights.final_norm, kept->last_normed);
    training_linear_forward(step, &logits, kept->last_normed, step->weights.head, kept->logits);
    run_kernel(step, "cross_entropy", cpu_run_cross_entropy, &loss, operands);
    for (int64_t i = 0; i < tokens; i++)
        step->loss_sum += (double)kept->losses[i];
}

void
training_forward(struct training *step, struct training_kept *kept)
{
    int64_t layers = step->part.layers;
    if (step->part.has_embedding)
        embed(step, kept);
    for (int64_t i = 0; i < layers; i++) {
        struct training_layer_kept *layer = &kept->layers[i];
        const struct training_layer_weights *weights = &step->weights.layers[i];
        float *next = i + 1 < layers ? layer[1].attention_input : kept->last;
        attention_block(step, layer, weights);
        add_update(step, layer->attention_input, layer->feed_forward_input);
        feed_forward_block(step, layer, weights);
        add_update(step, layer->feed_forward_input, next);
    }
    if (step->part.has_head)
        head(step, kept);
}
