/* A decoder with experts in fp64, one sequence after the other, and the slope of its loss. */
#include "validate/training_check.h"

#include <math.h>
#include <string.h>

#include "validate/cpu_run.h"
#include "validate/training_gpus.h"

struct reference {
    const struct training_shape *shape;
    const struct training_model *model;
    const double *weights;
    struct arena *arena;
    double *residual;  /* (sequence, hidden) */
    double *normed;    /* likewise */
    double *q, *k, *v; /* (sequence, heads x head width) */
    double *attended;  /* as q */
    double *row;       /* the widest of all */
    double *other;     /* likewise */
};

static const double *
weight(const struct reference *reference, enum training_tensor_kind kind, int64_t layer)
{
    const struct training_model *model = reference->model;
    for (int64_t i = 0; i < model->tensor_count; i++)
        if (model->tensors[i].kind == kind && model->tensors[i].layer == layer)
            return reference->weights + model->tensors[i].at;
    return NULL;
}

/* y (rows of the weight) = weight x */
static void
multiply(const double *matrix, int64_t rows, int64_t columns, const double *x, double *y)
{
    for (int64_t row = 0; row < rows; row++) {
        double sum = 0;
        for (int64_t i = 0; i < columns; i++)
            sum += matrix[row * columns + i] * x[i];
        y[row] = sum;
    }
}

/* y (columns of the weight) = x^T weight */
static void
multiply_transposed(const double *matrix, int64_t rows, int64_t columns, const double *x,
                    double *y)
{
    memset(y, 0, (size_t)columns * sizeof *y);
    for (int64_t row = 0; row < rows; row++)
        for (int64_t i = 0; i < columns; i++)
            y[i] += matrix[row * columns + i] * x[row];
}

static void
norm_row(const double *x, const double *gain, double *y, int64_t width)
{
    double sum = 0;
    for (int64_t i = 0; i < width; i++)
        sum += x[i] * x[i];
    double scale = 1 / sqrt(sum / (double)width + (double)CPU_RMS_NORM_EPSILON);
    for (int64_t i = 0; i < width; i++)
        y[i] = x[i] * scale * gain[i];
}

static void
soften(double *x, int64_t width)
{
    double most = x[0], sum = 0;
    for (int64_t i = 1; i < width; i++)
        most = fmax(most, x[i]);
    for (int64_t i = 0; i < width; i++)
        sum += x[i] = exp(x[i] - most);
    for (int64_t i = 0; i < width; i++)
        x[i] /= sum;
}

static double
inner(const double *a, const double *b, int64_t width)
{
    double sum = 0;
    for (int64_t i = 0; i < width; i++)
        sum += a[i] * b[i];
    return sum;
}

/* One head of one query: softmax(q K^T / sqrt(width)) V over the keys up to its own. */
static void
attend_one(struct reference *reference, int64_t token, int64_t head)
{
    const struct training_shape *shape = reference->shape;
    int64_t width = shape->head_dim, group = shape->query_heads / shape->kv_heads;
    int64_t query_width = shape->query_heads * width, kv_width = shape->kv_heads * width;
    const double *q = reference->q + token * query_width + head * width;
    const double *k = reference->k + head / group * width;
    const double *v = reference->v + head / group * width;
    double *out = reference->attended + token * query_width + head * width;
    double *weights = reference->row;
    for (int64_t key = 0; key <= token; key++)
        weights[key] = inner(q, k + key * kv_width, width) / sqrt((double)width);
    soften(weights, token + 1);
    memset(out, 0, (size_t)width * sizeof *out);
    for (int64_t key = 0; key <= token; key++)
        for (int64_t i = 0; i < width; i++)
            out[i] += weights[key] * v[key * kv_width + i];
}

static void
attention_block(struct reference *reference, int64_t layer)
{
    const struct training_shape *shape = reference->shape;
    int64_t hidden = shape->hidden, query_width = shape->query_heads * shape->head_dim,
            kv_width = shape->kv_heads * shape->head_dim;
    for (int64_t token = 0; token < shape->sequence_tokens; token++) {
        double *normed = reference->normed + token * hidden;
        norm_row(reference->residual + token * hidden,
                 weight(reference, TRAINING_ATTENTION_NORM, layer), normed, hidden);
        multiply(weight(reference, TRAINING_QUERY, layer), query_width, hidden, normed,
                 reference->q + token * query_width);
        multiply(weight(reference, TRAINING_KEY, layer), kv_width, hidden, normed,
                 reference->k + token * kv_width);
        multiply(weight(reference, TRAINING_VALUE, layer), kv_width, hidden, normed,
                 reference->v + token * kv_width);
    }
    for (int64_t token = 0; token < shape->sequence_tokens; token++) {
        for (int64_t head = 0; head < shape->query_heads; head++)
            attend_one(reference, token, head);
        multiply(weight(reference, TRAINING_OUTPUT, layer), hidden, query_width,
                 reference->attended + token * query_width, reference->row);
        for (int64_t i = 0; i < hidden; i++)
            reference->residual[token * hidden + i] += reference->row[i];
    }
}

/* residual += score x expert(x) */
static void
add_expert(struct reference *reference, int64_t layer, int64_t expert, double score,
           double *residual)
{
    const struct training_shape *shape = reference->shape;
    int64_t hidden = shape->hidden, ffn = shape->expert_ffn;
    const double *gate_up =
        weight(reference, TRAINING_GATE_UP, layer) + expert * hidden * 2 * ffn;
    const double *down = weight(reference, TRAINING_DOWN, layer) + expert * ffn * hidden;
    double *both = reference->row, *made = reference->other;
    multiply_transposed(gate_up, hidden, 2 * ffn, reference->normed, both);
    for (int64_t i = 0; i < ffn; i++)
        both[i] = both[i] / (1 + exp(-both[i])) * both[ffn + i];
    multiply_transposed(down, ffn, hidden, both, made);
    for (int64_t i = 0; i < hidden; i++)
        residual[i] += score * made[i];
}

/* Of one token: the experts with the largest scores, of equals the first. */
static void
feed_forward_token(struct reference *reference, int64_t layer, double *residual)
{
    const struct training_shape *shape = reference->shape;
    double *scores = arena_alloc(reference->arena, (size_t)shape->experts, sizeof *scores);
    norm_row(residual, weight(reference, TRAINING_FEED_FORWARD_NORM, layer), reference->normed,
             shape->hidden);
    multiply(weight(reference, TRAINING_ROUTER, layer), shape->experts, shape->hidden,
             reference->normed, scores);
    soften(scores, shape->experts);
    for (int64_t copy = 0; copy < shape->experts_per_token; copy++) {
        int64_t best = 0;
        for (int64_t expert = 1; expert < shape->experts; expert++)
            best = scores[expert] > scores[best] ? expert : best;
        add_expert(reference, layer, best, scores[best], residual);
        scores[best] = -1;
    }
}

static double
loss_of_token(struct reference *reference, const double *residual, int32_t target)
{
    const struct training_shape *shape = reference->shape;
    double *logits = reference->row;
    norm_row(residual, weight(reference, TRAINING_FINAL_NORM, -1), reference->normed,
             shape->hidden);
    multiply(weight(reference, TRAINING_HEAD, -1), shape->vocab, shape->hidden,
             reference->normed, logits);
    soften(logits, shape->vocab);
    return -log(logits[target]);
}

static double
loss_of_sequence(struct reference *reference, const int32_t *words, const int32_t *targets)
{
    const struct training_shape *shape = reference->shape;
    int64_t hidden = shape->hidden, tokens = shape->sequence_tokens;
    double loss = 0;
    for (int64_t token = 0; token < tokens; token++)
        memcpy(reference->residual + token * hidden,
               weight(reference, TRAINING_EMBEDDING, -1) + words[token] * hidden,
               (size_t)hidden * sizeof *reference->residual);
    for (int64_t layer = 0; layer < shape->layers; layer++) {
        attention_block(reference, layer);
        for (int64_t token = 0; token < tokens; token++)
            feed_forward_token(reference, layer, reference->residual + token * hidden);
    }
    for (int64_t token = 0; token < tokens; token++)
        loss += loss_of_token(reference, reference->residual + token * hidden, targets[token]);
    return loss;
}

static double *
reals(struct arena *arena, int64_t rows, int64_t width)
{
    return arena_alloc(arena, (size_t)(rows * width), sizeof(double));
}

static struct reference
reference_new(const struct training *step, const double *weights, struct arena *arena)
{
    const struct training_shape *shape = &step->shape;
    int64_t tokens = shape->sequence_tokens, hidden = shape->hidden;
    int64_t query_width = shape->query_heads * shape->head_dim;
    int64_t kv_width = shape->kv_heads * shape->head_dim;
    int64_t widest = hidden + 2 * shape->expert_ffn + shape->vocab + tokens;
    return (struct reference){
        .shape = shape,
        .model = &step->model,
        .weights = weights,
        .arena = arena,
        .residual = reals(arena, tokens, hidden),
        .normed = reals(arena, tokens, hidden),
        .q = reals(arena, tokens, query_width),
        .k = reals(arena, tokens, kv_width),
        .v = reals(arena, tokens, kv_width),
        .attended = reals(arena, tokens, query_width),
        .row = reals(arena, 1, widest),
        .other = reals(arena, 1, widest),
    };
}

double
training_check_loss(struct training *step, const double *weights, struct arena *arena)
{
    struct arena *own = arena_new_beside(arena);
    struct reference reference = reference_new(step, weights, own);
    const struct training_shape *shape = &step->shape;
    double loss = 0;
    for (int64_t i = 0; i < step->part.microbatches; i++) {
        struct training_kept *kept = &step->kept[0];
        training_take_words(step, kept, i);
        for (int64_t j = 0; j < shape->microbatch_sequences; j++)
            loss += loss_of_sequence(&reference, kept->words + j * shape->sequence_tokens,
                                     kept->targets + j * shape->sequence_tokens);
    }
    arena_free(own);
    return loss / (double)(shape->global_batch_sequences * shape->sequence_tokens);
}

/* How far the weights are moved, by the norm of the way: far enough that fp64's 16 digits leave 8
 * of the slope, near enough that the loss is a line. */
static const double WAY = 1e-4;

/* Signs over one tensor, each weighing as much as the gradient is small; what of the slope is
 * expected of it, by the gradient. 0 of a tensor without gradient. */
static double
add_signs(const struct training_tensor *tensor, const float *gradient, uint64_t seed,
          double *signs)
{
    int64_t count = training_tensor_elements(tensor);
    double square = 0, slope = 0;
    for (int64_t i = 0; i < count; i++)
        square += (double)gradient[i] * (double)gradient[i];
    for (int64_t i = 0; i < count && square > 0; i++) {
        bool is_plus = training_random(seed, (uint64_t)tensor->at, (uint64_t)i) % 2 == 0;
        signs[i] = (is_plus ? 1 : -1) / sqrt(square);
        slope += signs[i] * (double)gradient[i];
    }
    return slope;
}

static double
slope_of_loss(struct training *step, const double *signs, struct arena *arena)
{
    int64_t count = step->model.elements;
    double *weights = reals(arena, 1, count), square = 0, ends[2];
    for (int64_t i = 0; i < count; i++)
        square += signs[i] * signs[i];
    double reach = WAY / sqrt(square);
    for (int end = 0; end < 2; end++) {
        for (int64_t i = 0; i < count; i++)
            weights[i] = (double)step->weights.all[i] + (end == 0 ? -reach : reach) * signs[i];
        ends[end] = training_check_loss(step, weights, arena);
    }
    return (ends[1] - ends[0]) / (2 * reach);
}

double
training_check_gradient(struct training *step, enum training_tensor_kind kind, uint64_t seed,
                        struct arena *arena)
{
    struct arena *own = arena_new_beside(arena);
    double *signs = reals(own, 1, step->model.elements), expected = 0;
    int64_t tensors = 0;
    training_run_passes(step);
    for (int64_t i = 0; i < step->model.tensor_count; i++) {
        const struct training_tensor *tensor = &step->model.tensors[i];
        if (kind != TRAINING_TENSOR_KIND_COUNT && tensor->kind != kind)
            continue;
        expected +=
            add_signs(tensor, step->gradients.all + tensor->at, seed, signs + tensor->at);
        tensors++;
    }
    double slope = slope_of_loss(step, signs, own);
    arena_free(own);
    return fabs(slope - expected) / sqrt((double)tensors);
}

/* Squares of the differences from the whole's gradient, and of that. */
struct squares {
    double difference, whole;
};

/* Adds one process's part, whose gradient lies on the host. */
static void
add_part(const struct training *step, const float *gradient, const struct training *alone,
         struct squares *squares)
{
    for (int64_t i = 0; i < step->model.tensor_count; i++) {
        const struct training_tensor *tensor = &step->model.tensors[i], *whole = NULL;
        for (int64_t j = 0; j < alone->model.tensor_count; j++)
            if (alone->model.tensors[j].kind == tensor->kind &&
                alone->model.tensors[j].layer == tensor->layer)
                whole = &alone->model.tensors[j];
        for (int64_t j = 0; whole && j < training_tensor_elements(tensor); j++) {
            int64_t at = whole->at + training_tensor_whole_index(tensor, j);
            double wanted = (double)alone->gradients.all[at];
            squares->difference += pow((double)gradient[tensor->at + j] - wanted, 2);
            squares->whole += wanted * wanted;
        }
    }
}

double
training_check_alone(struct training *step, struct arena *arena)
{
    const struct process_group *world = step->groups.world;
    const struct training_shape shape = training_shape_alone(&step->shape);
    struct arena *own = arena_new_beside(arena);
    const struct process_group *self = process_group_split(world, world->rank, own);
    struct training *alone =
        training_new(&shape, self, training_device_cpu(own), step->seed, own);
    alone->number = step->number;
    training_run_passes(alone);
    training_run_passes(step);
    training_reduce_gradients(step);
    struct squares squares = {0};
    add_part(step, step->gradients.all, alone, &squares);
    arena_free(own);
    return sqrt(process_total(world, squares.difference) / process_total(world, squares.whole));
}

/* ---- One machine beside another */

/* What the device's memory holds, on the host. */
static void *
fetch(const struct training *step, const void *memory, size_t bytes, struct arena *arena)
{
    void *copy = arena_alloc(arena, bytes, 1);
    step->device->copy_out(step->device->machine, copy, memory, bytes);
    return copy;
}

/* Of the last microbatch. */
static int64_t
count_other_choices(const struct training *there, const struct training *here,
                    struct arena *arena)
{
    int64_t count = here->part.copies, other = 0;
    for (int64_t layer = 0; layer < here->part.layers; layer++) {
        const int32_t *chosen = here->kept[0].layers[layer].chosen;
        const int32_t *chosen_there = fetch(there, there->kept[0].layers[layer].chosen,
                                            (size_t)count * sizeof *chosen, arena);
        for (int64_t i = 0; i < count; i++)
            other += chosen[i] != chosen_there[i];
    }
    return other;
}

static const float *
fetch_gradient(const struct training *step, struct arena *arena)
{
    return fetch(step, step->gradients.all, (size_t)step->model.elements * sizeof(float),
                 arena);
}

struct training_difference
training_check_device(const struct training_shape *shape, const struct training_device *device,
                      uint64_t seed, struct arena *arena)
{
    const struct process_group alone = {.rank = 0, .size = 1};
    struct arena *own = arena_new_beside(arena);
    struct training *there = training_new(shape, &alone, device, seed, own);
    struct training *here = training_new(shape, &alone, training_device_cpu(own), seed, own);
    struct squares squares = {0};
    training_run_passes(there);
    training_run_passes(here);
    add_part(there, fetch_gradient(there, own), here, &squares);
    struct training_difference result = {
        .gradient_fraction = sqrt(squares.difference / squares.whole),
        .loss_fraction = fabs(training_loss(there) / training_loss(here) - 1),
        .choices = here->part.layers * here->part.copies,
        .other_choices = count_other_choices(there, here, own)};
    arena_free(own);
    return result;
}

struct training_difference
training_check_gpus(const struct training_gpus *all, uint64_t seed, struct arena *arena)
{
    const struct process_group alone = {.rank = 0, .size = 1};
    const struct training_shape *cut = &training_gpus_step(all, 0)->shape;
    const struct training_shape whole = training_shape_alone(cut);
    struct arena *own = arena_new_beside(arena);
    struct training *here = training_new(&whole, &alone, training_device_cpu(own), seed, own);
    struct squares squares = {0};
    training_run_passes(here);
    for (int rank = 0; rank < training_shape_ranks(cut); rank++) {
        const struct training *there = training_gpus_step(all, rank);
        add_part(there, fetch_gradient(there, own), here, &squares);
    }
    struct training_difference result = {
        .gradient_fraction = sqrt(squares.difference / squares.whole),
        .loss_fraction = fabs(training_gpus_loss(all) / training_loss(here) - 1)};
    arena_free(own);
    return result;
}
