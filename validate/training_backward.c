/* Backward of one microbatch, operator by operator, against the order of forward. Gradients of
 * weights are added to those that are there. */
#include "validate/training_products.h"

/* From scratch.normed to scratch.stream, to which it is added unless there is nothing yet, as
 * behind the last norm. */
static void
norm_backward(struct training *step, const char *name, float *x, float *gain,
              float *gain_gradient)
{
    const struct rows_by_width shape = {step->part.tokens, step->shape.hidden};
    bool is_first = gain == step->weights.final_norm;
    const union cpu_array operands[] = {{.reals = x},
                                        {.reals = gain},
                                        {.reals = step->scratch.normed},
                                        {.reals = step->scratch.stream},
                                        {.reals = gain_gradient}};
    training_times_begin(&step->times);
    step->device->rms_norm_backward(step->device->machine, &shape, operands, !is_first);
    training_times_end(&step->times, name);
}

/* The gradient of the mean over all tokens of the step. */
static void
head_backward(struct training *step, const struct training_kept *kept)
{
    int64_t tokens = step->part.tokens;
    const struct cross_entropy loss = {tokens, step->shape.vocab};
    const struct training_linear logits = training_head_linear(step);
    const union cpu_array operands[] = {
        {.reals = kept->logits}, {.indices = kept->targets}, {.reals = step->scratch.logits}};
    training_times_begin(&step->times);
    step->device->cross_entropy_backward(step->device->machine, &loss, operands,
                                         1 / (float)training_tokens(step));
    training_times_end(&step->times, "cross_entropy.backward");
    training_linear_input(step, &logits, step->scratch.logits, step->weights.head,
                          step->scratch.normed, false);
    training_linear_weight(step, &logits, step->scratch.logits, kept->last_normed,
                           step->gradients.head);
}

/* From scratch.routed, the gradient of what the experts made, to that of what they got. */
static void
experts_backward(struct training *step, const struct training_layer_kept *layer,
                 const struct training_layer_weights *weights,
                 const struct training_layer_weights *gradients)
{
    const struct training_device *device = step->device;
    struct training_scratch *scratch = &step->scratch;
    struct training_times *times = &step->times;
    int64_t ffn = step->shape.expert_ffn, hidden = step->shape.hidden;
    int64_t experts = step->part.experts;
    const struct grouped_gemm to_ffn = {layer->rows, experts, ffn, hidden};
    const struct grouped_gemm to_hidden = {layer->rows, experts, hidden, 2 * ffn};
    const struct grouped_gemm down = {layer->rows, experts, hidden, ffn};
    const struct grouped_gemm gate_up = {layer->rows, experts, 2 * ffn, hidden};
    training_times_begin(times);
    device->grouped_gemm(device->machine, &to_ffn, GEMM_NT, scratch->routed, weights->down,
                         scratch->activated);
    training_times_end(times, "down.input_gradient");
    device->grouped_weight_gradient(device->machine, &down, layer->activated, scratch->routed,
                                    gradients->down);
    training_times_end(times, "down.weight_gradient");
    device->swiglu_backward(device->machine, training_routed_rows(step, layer), ffn,
                            layer->gate_up, scratch->activated, scratch->gate_up);
    training_times_end(times, "swiglu.backward");
    device->grouped_gemm(device->machine, &to_hidden, GEMM_NT, scratch->gate_up,
                         weights->gate_up, scratch->routed);
    training_times_end(times, "gate_up.input_gradient");
    device->grouped_weight_gradient(device->machine, &gate_up, layer->routed, scratch->gate_up,
                                    gradients->gate_up);
    training_times_end(times, "gate_up.weight_gradient");
}

/* The gradient of the chosen scores among zeros, then of the softmax, then of the product; added to
 * scratch.normed. */
static void
router_backward(struct training *step, const struct training_layer_kept *layer,
                const struct training_layer_weights *weights,
                const struct training_layer_weights *gradients)
{
    const struct training_device *device = step->device;
    float *scores = step->scratch.route_scores;
    const struct top_k top_k = {step->part.tokens, step->shape.experts,
                                step->shape.experts_per_token};
    const struct rows_by_width softmax = {top_k.rows, top_k.experts};
    const struct training_linear router = training_router_linear(step);
    const union cpu_array operands[] = {
        {.reals = layer->scores}, {.reals = scores}, {.reals = step->scratch.route_logits}};
    training_times_begin(&step->times);
    device->place_weights(device->machine, &top_k, layer->chosen, step->scratch.weights,
                          scores);
    device->softmax_backward(device->machine, &softmax, operands);
    training_times_end(&step->times, "router_softmax_top_k.backward");
    training_linear_input(step, &router, step->scratch.route_logits, weights->router,
                          step->scratch.normed, true);
    training_linear_weight(step, &router, step->scratch.route_logits,
                           layer->feed_forward_normed, gradients->router);
}

static void
feed_forward_backward(struct training *step, const struct training_layer_kept *layer,
                      const struct training_layer_weights *weights,
                      const struct training_layer_weights *gradients)
{
    const struct training_device *device = step->device;
    struct training_scratch *scratch = &step->scratch;
    const struct cpu_routes routes = training_routes(step, layer);
    const struct cpu_combine_backward combine = {
        layer->weights, layer->returned, scratch->stream, scratch->copies, scratch->weights};
    training_times_begin(&step->times);
    device->combine_backward(device->machine, &routes, &combine);
    training_times_end(&step->times, "combine.backward");
    training_dispatch(step, layer, scratch->copies, scratch->routed);
    experts_backward(step, layer, weights, gradients);
    training_collect(step, layer, scratch->routed, scratch->copies);
    training_times_begin(&step->times);
    device->permute_backward(device->machine, &routes, scratch->copies, scratch->normed);
    training_times_end(&step->times, "permute.backward");
    router_backward(step, layer, weights, gradients);
    norm_backward(step, "feed_forward_norm.backward", layer->feed_forward_input,
                  weights->feed_forward_norm, gradients->feed_forward_norm);
}

/* From scratch.attended to scratch.joined. */
static void
attend_backward(struct training *step, const struct training_layer_kept *layer)
{
    const struct training_scratch *scratch = &step->scratch;
    const struct attention shape = training_attention(step);
    const struct cpu_attention_strides strides = training_attention_strides(step);
    int64_t keys = step->part.query_width, values = keys + step->part.kv_width;
    const union cpu_array operands[] = {{.reals = layer->joined},
                                        {.reals = layer->joined + keys},
                                        {.reals = layer->joined + values},
                                        {.reals = scratch->attended},
                                        {.reals = scratch->joined},
                                        {.reals = scratch->joined + keys},
                                        {.reals = scratch->joined + values},
                                        {.reals = scratch->scores},
                                        {.reals = scratch->slopes},
                                        {.reals = layer->attended},
                                        {.reals = layer->tops}};
    training_times_begin(&step->times);
    step->device->attention_backward(step->device->machine, &shape, &strides, operands);
    training_times_end(&step->times, "attention.backward");
}

static void
attention_backward(struct training *step, const struct training_layer_kept *layer,
                   const struct training_layer_weights *weights,
                   const struct training_layer_weights *gradients)
{
    struct training_scratch *scratch = &step->scratch;
    const struct training_linear joined = training_joined_linear(step);
    const struct training_linear output = training_output_linear(step);
    const float *stream = training_gather_sequence(step, scratch->stream);
    training_linear_input(step, &output, stream, weights->attention_output, scratch->attended,
                          false);
    training_linear_weight(step, &output, stream, layer->attended, gradients->attention_output);
    attend_backward(step, layer);
    const float *normed = training_gather_sequence(step, layer->attention_normed);
    float *whole = training_whole_of(step, scratch->normed);
    training_linear_input(step, &joined, scratch->joined, weights->query_key_value, whole,
                          false);
    training_linear_weight(step, &joined, scratch->joined, normed, gradients->query_key_value);
    training_scatter_sequence(step, whole, scratch->normed);
    norm_backward(step, "attention_norm.backward", layer->attention_input,
                  weights->attention_norm, gradients->attention_norm);
}

static void
embed_backward(struct training *step, const struct training_kept *kept)
{
    const struct rows_by_width shape = {step->part.tokens, step->shape.hidden};
    const union cpu_array operands[] = {{.reals = step->scratch.stream},
                                        {.indices = kept->words},
                                        {.reals = step->gradients.embedding}};
    training_times_begin(&step->times);
    step->device->scatter_add(step->device->machine, &shape, operands);
    training_times_end(&step->times, "embedding.backward");
}

void
training_backward(struct training *step, struct training_kept *kept)
{
    if (step->part.has_head) {
        head_backward(step, kept);
        norm_backward(step, "final_norm.backward", kept->last, step->weights.final_norm,
                      step->gradients.final_norm);
    }
    for (int64_t i = step->part.layers - 1; i >= 0; i--) {
        const struct training_layer_weights *weights = &step->weights.layers[i];
        const struct training_layer_weights *gradients = &step->gradients.layers[i];
        feed_forward_backward(step, &kept->layers[i], weights, gradients);
        attention_backward(step, &kept->layers[i], weights, gradients);
    }
    if (step->part.has_embedding)
        embed_backward(step, kept);
}
