/* The weights of one process: a list of tensors, a flat array, pointers into it. */
#include "validate/training_model.h"

#include <math.h>

enum { LAYER_TENSORS = 9, END_TENSORS = 3 };

int64_t
training_tensor_elements(const struct training_tensor *tensor)
{
    return tensor->copies * tensor->rows * tensor->columns;
}

/* A list that is being put together. */
struct writer {
    const struct training_shape *shape;
    const struct training_part *part;
    struct training_tensor *tensors;
    int64_t count;
};

/* The part's sizes where a tensor is cut; 0 elsewhere: the whole. */
struct cut {
    int64_t first_copy, copies, first_row, rows, first_column, columns;
};

static void
add(struct writer *writer, struct training_tensor tensor, struct cut cut)
{
    tensor.copies = cut.copies > 0 ? cut.copies : tensor.whole_copies;
    tensor.rows = cut.rows > 0 ? cut.rows : tensor.whole_rows;
    tensor.columns = cut.columns > 0 ? cut.columns : tensor.whole_columns;
    tensor.first_copy = cut.first_copy;
    tensor.first_row = cut.first_row;
    tensor.first_column = cut.first_column;
    tensor.reduced_over = cut.copies > 0               ? TRAINING_COPIES_EXPERTS
                          : cut.rows + cut.columns > 0 ? TRAINING_COPIES_DATA
                                                       : TRAINING_COPIES_STAGE;
    writer->tensors[writer->count++] = tensor;
}

static struct training_tensor
vector(const char *name, enum training_tensor_kind kind, int64_t layer, int64_t width)
{
    return (struct training_tensor){.name = name,
                                    .kind = kind,
                                    .layer = layer,
                                    .whole_copies = 1,
                                    .whole_rows = width,
                                    .whole_columns = 1};
}

static struct training_tensor
matrix(const char *name, enum training_tensor_kind kind, int64_t layer, int64_t rows,
       int64_t columns)
{
    return (struct training_tensor){.name = name,
                                    .kind = kind,
                                    .layer = layer,
                                    .whole_copies = 1,
                                    .whole_rows = rows,
                                    .whole_columns = columns,
                                    .is_matrix = layer >= 0};
}

static void
add_attention(struct writer *writer, int64_t layer)
{
    const struct training_shape *shape = writer->shape;
    const struct training_part *part = writer->part;
    int64_t hidden = shape->hidden, tensor = part->place.tensor;
    struct cut queries = {.first_row = tensor * part->query_width, .rows = part->query_width};
    struct cut keys = {.first_row = tensor * part->kv_width, .rows = part->kv_width};
    struct cut outputs = {.first_column = queries.first_row, .columns = queries.rows};
    int64_t query_width = shape->query_heads * shape->head_dim;
    int64_t kv_width = shape->kv_heads * shape->head_dim;
    add(writer, vector("layer.attention_norm", TRAINING_ATTENTION_NORM, layer, hidden),
        (struct cut){0});
    add(writer, matrix("layer.attention.query", TRAINING_QUERY, layer, query_width, hidden),
        queries);
    add(writer, matrix("layer.attention.key", TRAINING_KEY, layer, kv_width, hidden), keys);
    add(writer, matrix("layer.attention.value", TRAINING_VALUE, layer, kv_width, hidden), keys);
    add(writer, matrix("layer.attention.output", TRAINING_OUTPUT, layer, hidden, query_width),
        outputs);
}

static void
add_experts(struct writer *writer, int64_t layer)
{
    const struct training_shape *shape = writer->shape;
    const struct training_part *part = writer->part;
    int64_t hidden = shape->hidden, ffn = shape->expert_ffn;
    struct cut experts = {.first_copy = part->first_expert, .copies = part->experts};
    struct training_tensor gate_up =
        matrix("layer.experts.gate_up", TRAINING_GATE_UP, layer, hidden, 2 * ffn);
    struct training_tensor down =
        matrix("layer.experts.down", TRAINING_DOWN, layer, ffn, hidden);
    gate_up.whole_copies = down.whole_copies = shape->experts;
    add(writer, vector("layer.feed_forward_norm", TRAINING_FEED_FORWARD_NORM, layer, hidden),
        (struct cut){0});
    add(writer, matrix("layer.router", TRAINING_ROUTER, layer, shape->experts, hidden),
        (struct cut){0});
    add(writer, gate_up, experts);
    add(writer, down, experts);
}

/* Region behind region, each in the order of the tensors. */
static void
lay_out(const struct writer *writer, struct training_model *model)
{
    for (int copies = 0; copies < TRAINING_COPIES_COUNT; copies++) {
        model->begins[copies] = model->elements;
        for (int64_t i = 0; i < writer->count; i++) {
            struct training_tensor *tensor = &writer->tensors[i];
            if ((int)tensor->reduced_over != copies)
                continue;
            tensor->at = model->elements;
            model->elements += training_tensor_elements(tensor);
        }
    }
    model->begins[TRAINING_COPIES_COUNT] = model->elements;
}

struct training_model
training_model_of(const struct training_shape *shape, const struct training_part *part,
                  struct arena *arena)
{
    struct writer writer = {.shape = shape, .part = part};
    size_t room = (size_t)(part->layers * LAYER_TENSORS + END_TENSORS);
    writer.tensors = arena_alloc(arena, room, sizeof *writer.tensors);
    if (part->has_embedding)
        add(&writer, matrix("embedding", TRAINING_EMBEDDING, -1, shape->vocab, shape->hidden),
            (struct cut){0});
    for (int64_t i = 0; i < part->layers; i++) {
        add_attention(&writer, part->first_layer + i);
        add_experts(&writer, part->first_layer + i);
    }
    if (part->has_head) {
        add(&writer, vector("final_norm", TRAINING_FINAL_NORM, -1, shape->hidden),
            (struct cut){0});
        add(&writer, matrix("head", TRAINING_HEAD, -1, shape->vocab, shape->hidden),
            (struct cut){0});
    }
    struct training_model model = {.tensors = writer.tensors, .tensor_count = writer.count};
    lay_out(&writer, &model);
    return model;
}

/* The pointer that a tensor is used by; queries, keys and values are used as one. */
static float **
pointer_of(struct training_weights *weights, const struct training_part *part,
           const struct training_tensor *tensor)
{
    struct training_layer_weights *layer = weights->layers;
    if (tensor->layer >= 0)
        layer += tensor->layer - part->first_layer;
    switch (tensor->kind) {
    case TRAINING_EMBEDDING:
        return &weights->embedding;
    case TRAINING_ATTENTION_NORM:
        return &layer->attention_norm;
    case TRAINING_QUERY:
        return &layer->query_key_value;
    case TRAINING_OUTPUT:
        return &layer->attention_output;
    case TRAINING_FEED_FORWARD_NORM:
        return &layer->feed_forward_norm;
    case TRAINING_ROUTER:
        return &layer->router;
    case TRAINING_GATE_UP:
        return &layer->gate_up;
    case TRAINING_DOWN:
        return &layer->down;
    case TRAINING_FINAL_NORM:
        return &weights->final_norm;
    case TRAINING_HEAD:
        return &weights->head;
    case TRAINING_KEY:
    case TRAINING_VALUE:
    case TRAINING_TENSOR_KIND_COUNT:
        break;
    }
    return NULL;
}

struct training_weights
training_weights_new(const struct training_model *model, const struct training_part *part,
                     float *all, struct arena *arena)
{
    struct training_weights weights = {
        .layers = arena_alloc(arena, (size_t)part->layers, sizeof *weights.layers)};
    weights.all = all;
    for (int64_t i = 0; i < model->tensor_count; i++) {
        float **pointer = pointer_of(&weights, part, &model->tensors[i]);
        if (pointer)
            *pointer = weights.all + model->tensors[i].at;
    }
    return weights;
}

int64_t
training_tensor_whole_index(const struct training_tensor *tensor, int64_t element)
{
    int64_t column = element % tensor->columns + tensor->first_column;
    int64_t row = element / tensor->columns % tensor->rows + tensor->first_row;
    int64_t copy = element / (tensor->columns * tensor->rows) + tensor->first_copy;
    return (copy * tensor->whole_rows + row) * tensor->whole_columns + column;
}

/* SplitMix64 (Steele, Lea and Flood, OOPSLA 2014), asked for its index-th number. */
uint64_t
training_random(uint64_t seed, uint64_t stream, uint64_t index)
{
    uint64_t z = seed + (stream + 1) * 0xd1342543de82ef95U + index * 0x9e3779b97f4a7c15U;
    for (int round = 0; round < 2; round++) {
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
        z ^= z >> 31;
    }
    return z;
}

double
training_random_unit(uint64_t bits)
{
    return (double)(bits >> 11) * 0x1p-53;
}

/* Depth of the product that the tensor is a factor of; 1 where it is no product. */
static double
product_depth(const struct training_tensor *tensor)
{
    bool is_input_by_output = tensor->kind == TRAINING_GATE_UP || tensor->kind == TRAINING_DOWN;
    if (tensor->kind == TRAINING_EMBEDDING)
        return 1;
    return (double)(is_input_by_output ? tensor->whole_rows : tensor->whole_columns);
}

static void
fill(const struct training_tensor *tensor, float *values, uint64_t seed)
{
    uint64_t stream =
        (uint64_t)((tensor->layer + 1) * TRAINING_TENSOR_KIND_COUNT) + (uint64_t)tensor->kind;
    /* uniform from -a to a has the variance a^2 / 3 */
    double reach = sqrt(3 / product_depth(tensor));
    bool is_norm = tensor->whole_columns == 1;
    for (int64_t i = 0; i < training_tensor_elements(tensor); i++) {
        uint64_t whole = (uint64_t)training_tensor_whole_index(tensor, i);
        double unit = training_random_unit(training_random(seed, stream, whole));
        values[i] = is_norm ? 1 : (float)(reach * (2 * unit - 1));
    }
}

void
training_weights_fill(const struct training_model *model, uint64_t seed, float *all)
{
    for (int64_t i = 0; i < model->tensor_count; i++)
        fill(&model->tensors[i], all + model->tensors[i].at, seed);
}
