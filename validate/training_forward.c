/* Forward of one microbatch, operator by operator. */
#include "validate/training_products.h"

static void
norm(struct training *step, const char *name, float *x, float *gain, float *y)
{
    const struct rows_by_width shape = {step->part.tokens, step->shape.hidden};
    const union cpu_array operands[] = {{.reals = x}, {.reals = gain}, {.reals = y}};
    training_times_begin(&step->times);
    step->device->rms_norm(step->device->machine, &shape, operands);
    training_times_end(&step->times, name);
}

/* sum = residual + what the block before has made */
static void
add_update(struct training *step, float *residual, float *sum)
{
    const union cpu_array operands[] = {
        {.reals = residual}, {.reals = step->scratch.update}, {.reals = sum}};
    training_times_begin(&step->times);
    step->device->add(step->device->machine, step->part.tokens * step->shape.hidden, operands);
    training_times_end(&step->times, "residual_add");
}

static void
embed(struct training *step, const struct training_kept *kept)
{
    const struct rows_by_width shape = {step->part.tokens, step->shape.hidden};
    const union cpu_array operands[] = {{.reals = step->weights.embedding},
                                        {.indices = kept->words},
                                        {.reals = kept->layers[0].attention_input}};
    training_times_begin(&step->times);
    step->device->gather(step->device->machine, &shape, operands);
    training_times_end(&step->times, "embedding");
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
                                        {.reals = step->scratch.scores},
                                        {.reals = layer->tops}};
    training_times_begin(&step->times);
    step->device->attention(step->device->machine, &shape, &strides, operands);
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
    const struct training_device *device = step->device;
    const struct training_part *part = &step->part;
    int64_t tokens = part->tokens, experts = step->shape.experts;
    const struct training_linear router = training_router_linear(step);
    const struct rows_by_width softmax = {tokens, experts};
    const struct top_k top_k = {tokens, experts, step->shape.experts_per_token};
    const union cpu_array scores[] = {{.reals = step->scratch.route_logits},
                                      {.reals = layer->scores}};
    const union cpu_array choice[] = {
        {.reals = layer->scores}, {.reals = layer->weights}, {.indices = layer->chosen}};
    training_linear_forward(step, &router, layer->feed_forward_normed, weights->router,
                            step->scratch.route_logits);
    device->softmax(device->machine, &softmax, scores);
    device->top_k(device->machine, &top_k, choice);
    training_times_end(&step->times, "router_softmax_top_k");
    device->sort_routes(device->machine, layer->chosen, part->copies, experts, layer->sent,
                        layer->place);
    training_times_end(&step->times, "sort_positions");
    training_count_routes(step, layer);
}

static void
run_experts(struct training *step, const struct training_layer_kept *layer,
            const struct training_layer_weights *weights)
{
    const struct training_device *device = step->device;
    const struct training_shape *shape = &step->shape;
    int64_t ffn = shape->expert_ffn, experts = step->part.experts;
    const struct grouped_gemm gate_up = {layer->rows, experts, 2 * ffn, shape->hidden};
    const struct grouped_gemm down = {layer->rows, experts, shape->hidden, ffn};
    training_times_begin(&step->times);
    device->grouped_gemm(device->machine, &gate_up, GEMM_NN, layer->routed, weights->gate_up,
                         layer->gate_up);
    training_times_end(&step->times, "gate_up");
    device->swiglu(device->machine, training_routed_rows(step, layer), ffn, layer->gate_up,
                   layer->activated);
    training_times_end(&step->times, "swiglu");
    device->grouped_gemm(device->machine, &down, GEMM_NN, layer->activated, weights->down,
                         layer->made);
    training_times_end(&step->times, "down");
}

/* Leaves what is to be added to the residual in scratch.update. */
static void
feed_forward_block(struct training *step, struct training_layer_kept *layer,
                   const struct training_layer_weights *weights)
{
    const struct training_device *device = step->device;
    norm(step, "feed_forward_norm", layer->feed_forward_input, weights->feed_forward_norm,
         layer->feed_forward_normed);
    route(step, layer, weights);
    const struct cpu_routes routes = training_routes(step, layer);
    training_times_begin(&step->times);
    device->permute(device->machine, &routes, layer->feed_forward_normed, layer->permuted);
    training_times_end(&step->times, "permute");
    training_dispatch(step, layer, layer->permuted, layer->routed);
    run_experts(step, layer, weights);
    training_collect(step, layer, layer->made, layer->returned);
    training_times_begin(&step->times);
    device->combine(device->machine, &routes, layer->weights, layer->returned,
                    step->scratch.update);
    training_times_end(&step->times, "combine");
}

static void
head(struct training *step, const struct training_kept *kept)
{
    int64_t tokens = step->part.tokens, vocab = step->shape.vocab;
    const struct training_linear logits = training_head_linear(step);
    const struct training_device *device = step->device;
    const struct cross_entropy loss = {tokens, vocab};
    const union cpu_array operands[] = {
        {.reals = kept->logits}, {.indices = kept->targets}, {.reals = kept->losses}};
    norm(step, "final_norm", kept->last, step->weights.final_norm, kept->last_normed);
    training_linear_forward(step, &logits, kept->last_normed, step->weights.head, kept->logits);
    training_times_begin(&step->times);
    device->cross_entropy(device->machine, &loss, operands);
    training_times_end(&step->times, "cross_entropy");
    step->loss_sum += device->total(device->machine, kept->losses, tokens);
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
