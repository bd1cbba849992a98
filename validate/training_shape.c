/* The sizes of a training step that is run for real, and the part of one process in it. */
#include "validate/training_shape.h"

struct training_shape
training_shape_alone(const struct training_shape *shape)
{
    struct training_shape alone = *shape;
    alone.data = alone.tensor = alone.pipeline = alone.expert = 1;
    return alone;
}

int64_t
training_shape_ranks(const struct training_shape *shape)
{
    return shape->data * shape->tensor * shape->pipeline;
}

static struct training_place
place_of(const struct training_shape *shape, int64_t rank)
{
    int64_t within = rank % (shape->data * shape->tensor); /* its stage */
    return (struct training_place){
        .tensor = within % shape->tensor,
        .data = within / shape->tensor,
        .stage = rank / (shape->data * shape->tensor),
        .expert = within % shape->expert,
        .expert_data = within / shape->expert,
    };
}

struct training_part
training_shape_part(const struct training_shape *shape, int64_t rank)
{
    struct training_part part = {.place = place_of(shape, rank)};
    part.layers = shape->layers / shape->pipeline;
    part.first_layer = part.place.stage * part.layers;
    part.has_embedding = part.place.stage == 0;
    part.has_head = part.place.stage == shape->pipeline - 1;
    part.query_heads = shape->query_heads / shape->tensor;
    part.kv_heads = shape->kv_heads / shape->tensor;
    part.query_width = part.query_heads * shape->head_dim;
    part.kv_width = part.kv_heads * shape->head_dim;
    part.joined_width = part.query_width + 2 * part.kv_width;
    part.experts = shape->experts / shape->expert;
    part.first_expert = part.place.expert * part.experts;
    part.microbatches =
        shape->global_batch_sequences / (shape->data * shape->microbatch_sequences);
    part.whole_tokens = shape->microbatch_sequences * shape->sequence_tokens;
    part.tokens = part.whole_tokens / shape->tensor;
    part.copies = part.tokens * shape->experts_per_token;
    part.rows_most = part.copies * shape->expert;
    return part;
}
