/* Products of a step, and what moves between processes around them. */
#include "validate/training_products.h"

#include <string.h>

void
training_linear_forward(struct training *step, const struct training_linear *linear,
                        const float *x, const float *weight, float *y)
{
    struct gemm gemm = {linear->rows, linear->out, linear->in, 1, GEMM_NT};
    training_times_begin(&step->times);
    step->device->gemm(step->device->machine, &gemm, x, weight, y, false);
    training_times_end(&step->times, linear->name);
}

void
training_linear_input(struct training *step, const struct training_linear *linear,
                      const float *y_gradient, const float *weight, float *x_gradient,
                      bool is_added)
{
    struct gemm gemm = {linear->rows, linear->in, linear->out, 1, GEMM_NN};
    training_times_begin(&step->times);
    step->device->gemm(step->device->machine, &gemm, y_gradient, weight, x_gradient, is_added);
    training_times_end(&step->times, linear->input_gradient);
}

void
training_linear_weight(struct training *step, const struct training_linear *linear,
                       const float *y_gradient, const float *x, float *weight_gradient)
{
    struct gemm gemm = {linear->out, linear->in, linear->rows, 1, GEMM_TN};
    training_times_begin(&step->times);
    step->device->gemm(step->device->machine, &gemm, y_gradient, x, weight_gradient, true);
    training_times_end(&step->times, linear->weight_gradient);
}

struct training_linear
training_joined_linear(const struct training *step)
{
    return (struct training_linear){"query_key_value",
                                    "query_key_value.input_gradient",
                                    "query_key_value.weight_gradient",
                                    step->part.whole_tokens,
                                    step->part.joined_width,
                                    step->shape.hidden};
}

struct training_linear
training_output_linear(const struct training *step)
{
    return (struct training_linear){"attention_output",
                                    "attention_output.input_gradient",
                                    "attention_output.weight_gradient",
                                    step->part.whole_tokens,
                                    step->shape.hidden,
                                    step->part.query_width};
}

struct training_linear
training_router_linear(const struct training *step)
{
    return (struct training_linear){
        "router",          "router.input_gradient", "router.weight_gradient",
        step->part.tokens, step->shape.experts,     step->shape.hidden};
}

struct training_linear
training_head_linear(const struct training *step)
{
    return (struct training_linear){
        "logits",          "logits.input_gradient", "logits.weight_gradient",
        step->part.tokens, step->shape.vocab,       step->shape.hidden};
}

struct attention
training_attention(const struct training *step)
{
    return (struct attention){.batch = step->shape.microbatch_sequences,
                              .q_len = step->shape.sequence_tokens,
                              .kv_len = step->shape.sequence_tokens,
                              .q_heads = step->part.query_heads,
                              .kv_heads = step->part.kv_heads,
                              .head_dim = step->shape.head_dim,
                              .is_causal = true};
}

struct cpu_attention_strides
training_attention_strides(const struct training *step)
{
    int64_t joined = step->part.joined_width;
    return (struct cpu_attention_strides){joined, joined, step->part.query_width};
}

int64_t
training_tokens(const struct training *step)
{
    return step->shape.global_batch_sequences * step->shape.sequence_tokens;
}

int64_t
training_routed_rows(const struct training *step, const struct training_layer_kept *layer)
{
    int64_t rows = 0;
    for (int64_t i = 0; i < step->part.experts; i++)
        rows += layer->rows[i];
    return rows;
}

struct cpu_routes
training_routes(const struct training *step, const struct training_layer_kept *layer)
{
    return (struct cpu_routes){step->part.tokens, step->shape.experts_per_token,
                               step->shape.hidden, layer->place};
}

static int64_t
part_elements(const struct training *step)
{
    return step->part.tokens * step->shape.hidden;
}

const float *
training_gather_sequence(struct training *step, const float *part)
{
    if (step->shape.tensor == 1)
        return part;
    training_times_begin(&step->times);
    step->device->all_gather(step->device->machine, step->groups.of[TRAINING_GROUP_TENSOR],
                             part, step->scratch.whole, part_elements(step));
    training_times_end_exchange(&step->times, "gather_sequence",
                                step->groups.peers[TRAINING_GROUP_TENSOR]);
    return step->scratch.whole;
}

float *
training_whole_of(struct training *step, float *part)
{
    return step->shape.tensor == 1 ? part : step->scratch.whole_update;
}

void
training_scatter_sequence(struct training *step, const float *whole, float *part)
{
    if (step->shape.tensor == 1)
        return;
    training_times_begin(&step->times);
    step->device->reduce_scatter(step->device->machine, step->groups.of[TRAINING_GROUP_TENSOR],
                                 whole, part, part_elements(step));
    training_times_end_exchange(&step->times, "scatter_sequence",
                                step->groups.peers[TRAINING_GROUP_TENSOR]);
}

/* Rows of one sender and one expert lie together in both orders: in the received one those of a
 * sender, by expert; in the sorted one those of an expert, by sender. */
static void
order_block(int32_t *const *orders, int64_t received, int64_t sorted, int64_t rows)
{
    for (int64_t row = 0; row < rows; row++) {
        orders[0][sorted + row] = (int32_t)(received + row);
        orders[1][received + row] = (int32_t)(sorted + row);
    }
}

static void
order_rows(const struct training *step, struct training_layer_kept *layer)
{
    const struct training_device *device = step->device;
    int32_t *const *orders = step->scratch.orders;
    int64_t experts = step->part.experts, blocks = step->shape.expert * experts, sorted = 0;
    for (int64_t expert = 0; expert < experts; expert++) {
        int64_t received = 0, begin = sorted;
        for (int64_t i = 0; i < blocks; received += layer->received[i++]) {
            if (i % experts != expert)
                continue;
            order_block(orders, received, sorted, layer->received[i]);
            sorted += layer->received[i];
        }
        layer->rows[expert] = sorted - begin;
    }
    size_t bytes = (size_t)sorted * sizeof *layer->order;
    device->copy_in(device->machine, layer->order, orders[0], bytes);
    device->copy_in(device->machine, layer->order_back, orders[1], bytes);
}

void
training_count_routes(struct training *step, struct training_layer_kept *layer)
{
    const struct training_device *device = step->device;
    int64_t experts = step->part.experts;
    if (step->shape.expert == 1) {
        memcpy(layer->rows, layer->sent, (size_t)experts * sizeof *layer->rows);
        return;
    }
    training_times_begin(&step->times);
    device->exchange_counts(device->machine, step->groups.of[TRAINING_GROUP_EXPERT],
                            layer->sent, layer->received, experts);
    order_rows(step, layer);
    training_times_end_exchange(&step->times, "count_routes",
                                step->groups.peers[TRAINING_GROUP_EXPERT]);
}

/* Bytes to each process of the experts, or from it: sums over its or one's own experts. */
static void
part_bytes(const struct training *step, const int64_t *rows, int64_t *bytes)
{
    int64_t experts = step->part.experts;
    for (int64_t i = 0; i < step->shape.expert; i++) {
        bytes[i] = 0;
        for (int64_t expert = 0; expert < experts; expert++)
            bytes[i] += rows[i * experts + expert];
        bytes[i] *= step->shape.hidden * (int64_t)sizeof(float);
    }
}

/* to[i] = from[order[i]], all rows of its experts */
static void
take_rows(const struct training *step, const struct training_layer_kept *layer, int32_t *order,
          float *from, float *to)
{
    const struct rows_by_width shape = {training_routed_rows(step, layer), step->shape.hidden};
    const union cpu_array operands[] = {{.reals = from}, {.indices = order}, {.reals = to}};
    step->device->gather(step->device->machine, &shape, operands);
}

/* Of one expert a process what was received lies in order already. */
static bool
is_sorted_as_received(const struct training *step)
{
    return step->part.experts == 1;
}

/* As many bytes as scratch.bytes says. */
static void
send_rows(struct training *step, const char *name, const float *out, float *in)
{
    const int64_t *out_bytes = step->scratch.bytes, *in_bytes = out_bytes + step->shape.expert;
    step->device->all_to_all_v(step->device->machine, step->groups.of[TRAINING_GROUP_EXPERT],
                               out, out_bytes, in, in_bytes);
    training_times_end_exchange(&step->times, name, step->groups.peers[TRAINING_GROUP_EXPERT]);
}

void
training_dispatch(struct training *step, const struct training_layer_kept *layer, float *copies,
                  float *rows)
{
    float *received = is_sorted_as_received(step) ? rows : step->scratch.received;
    int64_t *out_bytes = step->scratch.bytes, *in_bytes = out_bytes + step->shape.expert;
    if (step->shape.expert == 1)
        return;
    training_times_begin(&step->times);
    part_bytes(step, layer->sent, out_bytes);
    part_bytes(step, layer->received, in_bytes);
    send_rows(step, "dispatch_tokens", copies, received);
    if (is_sorted_as_received(step))
        return;
    take_rows(step, layer, layer->order, received, rows);
    training_times_end(&step->times, "sort_received");
}

void
training_collect(struct training *step, const struct training_layer_kept *layer, float *rows,
                 float *copies)
{
    const float *unsorted = is_sorted_as_received(step) ? rows : step->scratch.received;
    int64_t *out_bytes = step->scratch.bytes, *in_bytes = out_bytes + step->shape.expert;
    if (step->shape.expert == 1)
        return;
    training_times_begin(&step->times);
    if (!is_sorted_as_received(step)) {
        take_rows(step, layer, layer->order_back, rows, step->scratch.received);
        training_times_end(&step->times, "unsort_received");
    }
    part_bytes(step, layer->received, out_bytes);
    part_bytes(step, layer->sent, in_bytes);
    send_rows(step, "combine_tokens", unsorted, copies);
}
