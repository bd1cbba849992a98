/* What a step on a GPU does with its gradients: AdamW; Muon, its Newton-Schulz by products. */
#include "validate/training_gpu_work.h"

enum { THREADS = 256, SQUARE_PARTS_MAX = 256 };

/* What the GPU writes looks like something only read, as a launch holds addresses alone. */
/* NOLINTBEGIN(readability-non-const-parameter) */

static void
adamw(void *machine, const struct cpu_adamw *step, const union cpu_array *operands,
      int64_t parameters)
{
    const int64_t strip = 4; /* reals that a thread takes at once */
    uintptr_t odd = 0;
    for (int i = 0; i < 4; i++)
        odd |= (uintptr_t)operands[i].reals % (sizeof(float) * (size_t)strip);
    const struct training_launch launch = {
        .name = "adamw_step",
        .shape = training_gpu_flat(odd == 0 ? parameters / strip + strip : parameters),
        .pointers = {operands[0].reals, operands[1].reals, operands[2].reals,
                     operands[3].reals},
        .pointer_count = 4,
        .sizes = {parameters, odd == 0},
        .size_count = 2,
        .reals = {step->rate, step->decay, step->first_bias, step->second_bias},
        .real_count = 4};
    training_gpu_launch(machine, &launch);
}

/* operands: gradient, first, ahead */
static void
momentum(void *machine, int64_t count, float ratio, const union cpu_array *operands)
{
    const struct training_launch launch = {
        .name = "muon_momentum",
        .shape = training_gpu_flat(count),
        .pointers = {operands[0].reals, operands[1].reals, operands[2].reals},
        .pointer_count = 3,
        .sizes = {count},
        .size_count = 1,
        .reals = {ratio},
        .real_count = 1};
    training_gpu_launch(machine, &launch);
}

/* operands: update, weights */
static void
muon_update(void *machine, int64_t count, float rate, float decay,
            const union cpu_array *operands)
{
    const struct training_launch launch = {.name = "muon_step",
                                           .shape = training_gpu_flat(count),
                                           .pointers = {operands[0].reals, operands[1].reals},
                                           .pointer_count = 2,
                                           .sizes = {count},
                                           .size_count = 1,
                                           .reals = {rate, decay},
                                           .real_count = 2};
    training_gpu_launch(machine, &launch);
}

/* ---- Newton-Schulz: X of m x n, s the shorter side, as validate/cpu_composed.c has it */

static void
normalise(struct training_gpu *machine, int64_t count, const float *in, float *out)
{
    int64_t enough = (count + THREADS - 1) / THREADS;
    int64_t part_count = enough < SQUARE_PARTS_MAX ? enough : SQUARE_PARTS_MAX;
    void *parts =
        training_gpu_room(machine, TRAINING_GPU_PARTS, SQUARE_PARTS_MAX * sizeof(float));
    const struct training_launch launches[] = {{.name = "square_parts",
                                                .shape = {part_count, 1, THREADS, 1},
                                                .pointers = {in, parts},
                                                .pointer_count = 2,
                                                .sizes = {count},
                                                .size_count = 1},
                                               {.name = "divide_by_norm",
                                                .shape = training_gpu_flat(count),
                                                .pointers = {in, parts, out},
                                                .pointer_count = 3,
                                                .sizes = {count, part_count},
                                                .size_count = 2}};
    for (int i = 0; i < 2; i++)
        training_gpu_launch(machine, &launches[i]);
}

/* y = a x + b y */
static void
blend(struct training_gpu *machine, int64_t count, const float *x, float *y, float a, float b)
{
    const struct training_launch launch = {.name = "blend",
                                           .shape = training_gpu_flat(count),
                                           .pointers = {x, y},
                                           .pointer_count = 2,
                                           .sizes = {count},
                                           .size_count = 1,
                                           .reals = {a, b},
                                           .real_count = 2};
    training_gpu_launch(machine, &launch);
}

/* operands: X (m, n), the result (m, n), A (s, s), B (s, s), what is added to X (m, n) */
static void
newton_schulz(void *context, const struct newton_schulz *shape, const union cpu_array *operands)
{
    struct training_gpu *machine = context;
    const struct training_device *device = &machine->device;
    int64_t m = shape->m, n = shape->n;
    bool is_wide = m <= n;
    int64_t s = is_wide ? m : n;
    float *x = operands[1].reals, *gram = operands[2].reals, *square = operands[3].reals,
          *more = operands[4].reals;
    const struct gemm gram_of_x = {s, s, is_wide ? n : m, 1, is_wide ? GEMM_NT : GEMM_TN};
    const struct gemm squared = {s, s, s, 1, GEMM_NN}, updated = {m, n, s, 1, GEMM_NN};
    normalise(machine, m * n, operands[0].reals, x);
    for (int64_t step = 0; step < shape->steps; step++) {
        device->gemm(machine, &gram_of_x, x, x, gram, false);
        device->gemm(machine, &squared, gram, gram, square, false);
        blend(machine, s * s, gram, square, CPU_NEWTON_SCHULZ_B, CPU_NEWTON_SCHULZ_C);
        device->gemm(machine, &updated, is_wide ? square : x, is_wide ? x : square, more,
                     false);
        blend(machine, m * n, more, x, 1, CPU_NEWTON_SCHULZ_A);
    }
}

void
training_gpu_add_optimizers(struct training_device *device)
{
    device->adamw = adamw;
    device->momentum = momentum;
    device->muon_update = muon_update;
    device->newton_schulz = newton_schulz;
}

/* NOLINTEND(readability-non-const-parameter) */
