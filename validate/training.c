/* A training step: its memory, its words, its passes in order, its gradients added up. */
#include "validate/training.h"

#include "validate/cpu_run.h"

static float *
reals(const struct training *step, int64_t rows, int64_t width)
{
    const struct training_device *device = step->device;
    return device->new_memory(device->machine, (size_t)(rows * width) * sizeof(float));
}

static int32_t *
indices(const struct training *step, int64_t count)
{
    const struct training_device *device = step->device;
    return device->new_memory(device->machine, (size_t)count * sizeof(int32_t));
}

static struct training_layer_kept
layer_kept_new(const struct training *step, struct arena *arena)
{
    const struct training_shape *shape = &step->shape;
    const struct training_part *part = &step->part;
    int64_t tokens = part->tokens, hidden = shape->hidden, rows = part->rows_most;
    size_t experts = (size_t)shape->experts;
    bool is_alone = shape->expert == 1;
    struct training_layer_kept kept = {
        .attention_input = reals(step, tokens, hidden),
        .attention_normed = reals(step, tokens, hidden),
        .joined = reals(step, part->whole_tokens, part->joined_width),
        .attended = reals(step, part->whole_tokens, part->query_width),
        .tops = reals(step, part->whole_tokens, part->query_heads),
        .feed_forward_input = reals(step, tokens, hidden),
        .feed_forward_normed = reals(step, tokens, hidden),
        .scores = reals(step, tokens, shape->experts),
        .weights = reals(step, part->copies, 1),
        .chosen = indices(step, part->copies),
        .place = indices(step, part->copies),
        .sent = arena_alloc(arena, experts, sizeof *kept.sent),
        .received = arena_alloc(arena, experts, sizeof *kept.received),
        .rows = arena_alloc(arena, experts, sizeof *kept.rows),
        .order = indices(step, rows),
        .order_back = indices(step, rows),
        .permuted = reals(step, part->copies, hidden),
        .gate_up = reals(step, rows, 2 * shape->expert_ffn),
        .activated = reals(step, rows, shape->expert_ffn),
        .made = reals(step, rows, hidden),
    };
    kept.routed = is_alone ? kept.permuted : reals(step, rows, hidden);
    kept.returned = is_alone ? kept.made : reals(step, part->copies, hidden);
    return kept;
}

static struct training_kept
kept_new(const struct training *step, struct arena *arena)
{
    int64_t tokens = step->part.tokens, hidden = step->shape.hidden;
    size_t layers = (size_t)step->part.layers;
    struct training_kept kept = {
        .layers = arena_alloc(arena, layers, sizeof *kept.layers),
        .words = indices(step, tokens),
        .targets = indices(step, tokens),
        .last = reals(step, tokens, hidden),
    };
    for (size_t i = 0; i < layers; i++)
        kept.layers[i] = layer_kept_new(step, arena);
    if (step->part.has_head) {
        kept.last_normed = reals(step, tokens, hidden);
        kept.logits = reals(step, tokens, step->shape.vocab);
        kept.losses = reals(step, tokens, 1);
    }
    return kept;
}

static struct training_scratch
scratch_new(const struct training *step, struct arena *arena)
{
    const struct training_shape *shape = &step->shape;
    const struct training_part *part = &step->part;
    int64_t tokens = part->tokens, hidden = shape->hidden, rows = part->rows_most;
    bool is_whole = shape->tensor == 1, is_alone = shape->expert == 1;
    struct training_scratch scratch = {
        .update = reals(step, tokens, hidden),
        .stream = reals(step, tokens, hidden),
        .normed = reals(step, tokens, hidden),
        .joined = reals(step, part->whole_tokens, part->joined_width),
        .attended = reals(step, part->whole_tokens, part->query_width),
        .scores = reals(step, CPU_ATTENTION_BLOCK, shape->sequence_tokens),
        .slopes = reals(step, CPU_ATTENTION_BLOCK, shape->sequence_tokens),
        .weights = reals(step, part->copies, 1),
        .route_scores = reals(step, tokens, shape->experts),
        .route_logits = reals(step, tokens, shape->experts),
        .copies = reals(step, part->copies, hidden),
        .gate_up = reals(step, rows, 2 * shape->expert_ffn),
        .activated = reals(step, rows, shape->expert_ffn),
        .bytes = arena_alloc(arena, 2 * (size_t)shape->expert, sizeof *scratch.bytes),
        .orders = {arena_alloc(arena, (size_t)rows, sizeof *scratch.orders[0]),
                   arena_alloc(arena, (size_t)rows, sizeof *scratch.orders[1])},
        .words = arena_alloc(arena, (size_t)tokens, sizeof *scratch.words),
        .targets = arena_alloc(arena, (size_t)tokens, sizeof *scratch.targets),
    };
    scratch.whole = is_whole ? NULL : reals(step, part->whole_tokens, hidden);
    scratch.whole_update = is_whole ? NULL : reals(step, part->whole_tokens, hidden);
    scratch.routed = is_alone ? scratch.copies : reals(step, rows, hidden);
    scratch.received = is_alone ? NULL : reals(step, rows, hidden);
    scratch.logits = part->has_head ? reals(step, tokens, shape->vocab) : NULL;
    return scratch;
}

/* Microbatches whose forward a stage has run before the first backward. */
static int64_t
warm_microbatches(const struct training *step)
{
    int64_t behind = step->shape.pipeline - step->part.place.stage - 1;
    return behind < step->part.microbatches ? behind : step->part.microbatches;
}

/* The host's calculation: the same on every device. */
static void
fill_weights(const struct training *step, struct arena *arena)
{
    const struct training_device *device = step->device;
    struct arena *own = arena_new_beside(arena);
    size_t elements = (size_t)step->model.elements;
    float *all = arena_alloc(own, elements, sizeof *all);
    training_weights_fill(&step->model, step->seed, all);
    device->copy_in(device->machine, step->weights.all, all, elements * sizeof *all);
    arena_free(own);
}

struct training *
training_new(const struct training_shape *shape, const struct process_group *world,
             const struct training_device *device, uint64_t seed, struct arena *arena)
{
    const struct training_groups groups = training_groups_new(shape, world, arena);
    return training_new_of(shape, &groups, device, seed, arena);
}

struct training *
training_new_of(const struct training_shape *shape, const struct training_groups *groups,
                const struct training_device *device, uint64_t seed, struct arena *arena)
{
    struct training *step = arena_alloc(arena, 1, sizeof *step);
    step->device = device;
    step->shape = *shape;
    step->part = training_shape_part(shape, groups->world->rank);
    step->groups = *groups;
    step->model = training_model_of(shape, &step->part, arena);
    int64_t elements = step->model.elements;
    step->weights =
        training_weights_new(&step->model, &step->part, reals(step, elements, 1), arena);
    step->gradients =
        training_weights_new(&step->model, &step->part, reals(step, elements, 1), arena);
    step->times = training_times_new(device->marks, arena);
    step->seed = seed;
    step->kept_count = warm_microbatches(step) + 1;
    step->kept = arena_alloc(arena, (size_t)step->kept_count, sizeof *step->kept);
    for (int64_t i = 0; i < step->kept_count; i++)
        step->kept[i] = kept_new(step, arena);
    step->scratch = scratch_new(step, arena);
    fill_weights(step, arena);
    return step;
}

/* ---- Words */

/* One word of eight is drawn, the others follow from the one before. */
static int32_t
next_word(int32_t word, int64_t vocab, uint64_t bits)
{
    bool is_drawn = bits % 8 == 0;
    uint64_t next = is_drawn ? bits / 8 : (uint64_t)word * 5 + 17;
    return (int32_t)(next % (uint64_t)vocab);
}

/* Words and targets of a sequence, as far as they are among the process's tokens. */
static void
take_sequence(const struct training *step, int64_t sequence, int64_t first)
{
    int64_t tokens = step->part.tokens, begin = step->part.place.tensor * tokens;
    uint64_t whole = (uint64_t)(step->number * step->shape.global_batch_sequences + sequence);
    int32_t word = next_word(0, step->shape.vocab, 8 * training_random(step->seed, whole, 0));
    for (int64_t i = 0; i < step->shape.sequence_tokens; i++) {
        int32_t target = next_word(word, step->shape.vocab,
                                   training_random(step->seed, whole, (uint64_t)i + 1));
        int64_t at = first + i - begin;
        if (at >= 0 && at < tokens) {
            step->scratch.words[at] = word;
            step->scratch.targets[at] = target;
        }
        word = target;
    }
}

void
training_take_words(struct training *step, struct training_kept *kept, int64_t microbatch)
{
    const struct training_device *device = step->device;
    int64_t count = step->shape.microbatch_sequences;
    int64_t first = (step->part.place.data * step->part.microbatches + microbatch) * count;
    size_t bytes = (size_t)step->part.tokens * sizeof *kept->words;
    for (int64_t i = 0; i < count; i++)
        take_sequence(step, first + i, i * step->shape.sequence_tokens);
    device->copy_in(device->machine, kept->words, step->scratch.words, bytes);
    device->copy_in(device->machine, kept->targets, step->scratch.targets, bytes);
}

/* ---- Passes */

static struct training_kept *
kept_of(struct training *step, int64_t microbatch)
{
    return &step->kept[microbatch % step->kept_count];
}

/* To one neighbouring stage, and from it; NULL: nothing. */
static void
exchange(struct training *step, int neighbour, const float *out, float *in)
{
    size_t bytes = (size_t)(step->part.tokens * step->shape.hidden) * sizeof *out;
    struct process_message to = {out ? neighbour : -1, out ? bytes : 0};
    struct process_message from = {in ? neighbour : -1, in ? bytes : 0};
    if (neighbour < 0 || (!out && !in))
        return;
    training_times_begin(&step->times);
    step->device->exchange(step->device->machine, step->groups.world, to, out, from, in);
    training_times_end_exchange(&step->times, "transfer",
                                training_groups_pair(&step->groups, neighbour));
}

static void
run_forward(struct training *step, int64_t microbatch)
{
    struct training_kept *kept = kept_of(step, microbatch);
    training_take_words(step, kept, microbatch);
    training_forward(step, kept);
}

/* Where the next microbatch comes in; NULL: there is none. */
static float *
input_of(struct training *step, int64_t microbatch)
{
    if (microbatch >= step->part.microbatches)
        return NULL;
    return kept_of(step, microbatch)->layers[0].attention_input;
}

void
training_run_passes(struct training *step)
{
    const struct training_groups *groups = &step->groups;
    int64_t warm = warm_microbatches(step), count = step->part.microbatches;
    float *stream = step->scratch.stream;
    training_times_begin_step(&step->times);
    training_times_begin(&step->times);
    step->device->zero(step->device->machine, step->gradients.all, step->model.elements);
    training_times_end(&step->times, "zero_gradients");
    step->loss_sum = 0;
    for (int64_t i = 0; i < warm; i++) {
        exchange(step, groups->before, NULL, input_of(step, i));
        run_forward(step, i);
        exchange(step, groups->behind, kept_of(step, i)->last, NULL);
    }
    exchange(step, groups->before, NULL, input_of(step, warm));
    for (int64_t i = 0; i < count; i++) {
        int64_t ahead = i + warm;
        if (ahead < count)
            run_forward(step, ahead);
        exchange(step, groups->behind, ahead < count ? kept_of(step, ahead)->last : NULL,
                 stream);
        training_backward(step, kept_of(step, i));
        exchange(step, groups->before, stream, input_of(step, ahead + 1));
    }
}

/* ---- Over all processes */

/* Regions with the same copies go together. */
void
training_reduce_gradients(struct training *step)
{
    const struct process_group *const *copies = step->groups.of;
    const struct training_device *device = step->device;
    const int64_t *begins = step->model.begins;
    for (int i = 0, end; i < TRAINING_COPIES_COUNT; i = end) {
        for (end = i + 1; end < TRAINING_COPIES_COUNT && copies[end]->size == copies[i]->size;)
            end++;
        float *part = step->gradients.all + begins[i];
        step->times.phase = TRAINING_REDUCTION;
        if (copies[i]->size == 1 || begins[end] == begins[i])
            continue;
        training_times_begin(&step->times);
        device->all_reduce(device->machine, copies[i], part, begins[end] - begins[i]);
        training_times_end_exchange(&step->times, "reduce_gradients", step->groups.peers[i]);
    }
}

double
training_loss(const struct training *step)
{
    double tokens = (double)(step->shape.global_batch_sequences * step->shape.sequence_tokens);
    return process_total(step->groups.world, step->loss_sum) / tokens;
}
