/* What a step does with its gradients. */
#include "validate/training_optimizer.h"

#include <math.h>

/* As small models are trained: rate of AdamW and its decay, up to so many channels; of wider ones
 * the rate falls as one over the width (Yang et al., arXiv 2203.03466, table 8). */
static const float ADAMW_RATE = 3e-3F, ADAMW_DECAY = 0.01F, RATE_WIDTH = 256;

/* Muon's (K. Jordan et al., 2024): momentum; and, so that its updates are as large as AdamW's, 0.2
 * sqrt of the longer side times what is orthogonal (Moonlight, arXiv 2502.16982, equation 4). */
static const float MOMENTUM = 0.95F, MATCHED_RATIO = 0.2F;

struct training_optimizer
training_optimizer_new(const struct training *step)
{
    const struct training_device *device = step->device;
    size_t elements = (size_t)step->model.elements, largest = 0, square = 0;
    struct training_optimizer optimizer = {
        .first = device->new_memory(device->machine, elements * sizeof(float)),
        .second = device->new_memory(device->machine, elements * sizeof(float)),
    };
    for (int64_t i = 0; step->shape.is_muon && i < step->model.tensor_count; i++) {
        const struct training_tensor *tensor = &step->model.tensors[i];
        size_t rows = (size_t)tensor->rows, columns = (size_t)tensor->columns;
        size_t side = rows < columns ? rows : columns;
        largest = rows * columns > largest ? rows * columns : largest;
        square = side * side > square ? side * side : square;
    }
    for (int i = 0; i < 4; i++)
        optimizer.room[i].reals =
            device->new_memory(device->machine, (i < 2 ? largest : square) * sizeof(float));
    return optimizer;
}

static float
rate_of(const struct training *step)
{
    return ADAMW_RATE * fminf(1, RATE_WIDTH / (float)step->shape.hidden);
}

/* Elements from begin on. */
static void
run_adamw(struct training_optimizer *optimizer, struct training *step, int64_t begin,
          int64_t count)
{
    const struct cpu_adamw adamw = {rate_of(step), ADAMW_DECAY,
                                    1 - powf(CPU_ADAMW_BETA1, (float)optimizer->steps),
                                    1 - powf(CPU_ADAMW_BETA2, (float)optimizer->steps)};
    const union cpu_array operands[] = {{.reals = step->gradients.all + begin},
                                        {.reals = step->weights.all + begin},
                                        {.reals = optimizer->first + begin},
                                        {.reals = optimizer->second + begin}};
    training_times_begin(&step->times);
    step->device->adamw(step->device->machine, &adamw, operands, count);
    training_times_end(&step->times, "adamw");
}

/* Nesterov's: what the momentum will be when this gradient has come again. */
static void
run_momentum(struct training_optimizer *optimizer, struct training *step,
             const struct training_tensor *tensor)
{
    const union cpu_array operands[] = {{.reals = step->gradients.all + tensor->at},
                                        {.reals = optimizer->first + tensor->at},
                                        {.reals = optimizer->second + tensor->at}};
    training_times_begin(&step->times);
    step->device->momentum(step->device->machine, training_tensor_elements(tensor), MOMENTUM,
                           operands);
    training_times_end(&step->times, "muon_momentum");
}

static void
run_matrix(struct training_optimizer *optimizer, struct training *step,
           const struct training_tensor *tensor, int64_t at)
{
    const struct newton_schulz shape = {tensor->rows, tensor->columns,
                                        step->shape.newton_schulz_steps,
                                        step->shape.is_newton_schulz_symmetric};
    const struct training_device *device = step->device;
    const union cpu_array *room = optimizer->room;
    const union cpu_array operands[] = {
        {.reals = optimizer->second + at}, room[0], room[2], room[3], room[1]};
    int64_t longer = shape.m > shape.n ? shape.m : shape.n;
    float rate = rate_of(step), matched_rate = rate * MATCHED_RATIO * sqrtf((float)longer);
    const union cpu_array updated[] = {room[0], {.reals = step->weights.all + at}};
    training_times_begin(&step->times);
    device->newton_schulz(device->machine, &shape, operands);
    training_times_end(&step->times, "newton_schulz");
    device->muon_update(device->machine, shape.m * shape.n, matched_rate, rate * ADAMW_DECAY,
                        updated);
    training_times_end(&step->times, "muon_update");
}

static void
run_muon(struct training_optimizer *optimizer, struct training *step)
{
    for (int64_t i = 0; i < step->model.tensor_count; i++) {
        const struct training_tensor *tensor = &step->model.tensors[i];
        if (!tensor->is_matrix) {
            run_adamw(optimizer, step, tensor->at, training_tensor_elements(tensor));
            continue;
        }
        run_momentum(optimizer, step, tensor);
        for (int64_t copy = 0; copy < tensor->copies; copy++)
            run_matrix(optimizer, step, tensor,
                       tensor->at + copy * tensor->rows * tensor->columns);
    }
}

void
training_optimizer_run(struct training_optimizer *optimizer, struct training *step)
{
    optimizer->steps++;
    step->times.phase = TRAINING_OPTIMIZER;
    if (step->shape.is_muon)
        run_muon(optimizer, step);
    else
        run_adamw(optimizer, step, 0, step->model.elements);
}
