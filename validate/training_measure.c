/* Measures a training step: gradients first, then steps, then what the list of times says. */
#include "validate/training_measure.h"

#include <cblas.h>
#include <math.h>

#include "sim/base/json_writer.h"
#include "validate/measure_cpu.h"
#include "validate/training_check.h"
#include "validate/training_gpu.h"
#include "validate/training_gpus.h"
#include "validate/training_optimizer.h"
#include "validate/training_replay.h"

/* Gradients in fp32 against slopes in fp64, of a model of a few hundred columns: 1e-6 in practice;
 * wrong ones are off by 1. */
static const double ERROR_FRACTION_MAX = 1e-4;

enum { CHECKED_TOKENS = 16 };

/* Of a step on a GPU, which is held against a core's: a second of many cores for 100 M parameters.
 * Where both choose other experts, other words are tried. */
enum { CHECKED_TOKENS_GPU = 512, CHECKED_SEEDS = 4 };

struct training_effort
training_effort_new(void)
{
    return (struct training_effort){
        .warmups = 2, .steps_min = 5, .steps_max = 100, .budget_s = 5, .seed = 1};
}

/* What is being measured. */
struct measuring {
    const struct training_question *question;
    const struct training_effort *effort;
    const struct process_group *world;
    struct gpu *gpu;                     /* NULL: the core */
    struct training_gpu *machine;        /* of it */
    struct gpu *gpus[TRAINING_GPUS_MAX]; /* of a run of several ranks: it and the next ones */
    int gpu_count;
    struct training_gpus *together; /* of them */
    struct arena *arena;
    struct training *step;
    struct training_optimizer optimizer;
    double *losses, *walls_s, *cores_s;
    int64_t steps, timed;
    double error_fraction, alone_error_fraction;
};

/* One short sequence through the model at its full width, by each process alone. */
static double
gradient_error(const struct measuring *measuring, const struct training_shape *shape)
{
    const struct process_group *world = measuring->world;
    struct training_shape small = training_shape_alone(shape);
    struct arena *own = arena_new_beside(measuring->arena);
    const struct process_group *self = process_group_split(world, world->rank, own);
    uint64_t seed = measuring->effort->seed;
    small.microbatch_sequences = small.global_batch_sequences = 1;
    if (small.sequence_tokens > CHECKED_TOKENS)
        small.sequence_tokens = CHECKED_TOKENS;
    struct training *step = training_new(&small, self, training_device_cpu(own), seed, own);
    double error = training_check_gradient(step, TRAINING_TENSOR_KIND_COUNT, seed, own);
    arena_free(own);
    return error;
}

static bool
take_fault(const struct training_device *device, struct error_list *errors)
{
    const struct error *error = device->errors->items;
    return error_add(errors, error->kind, error->where, "%s", error->what);
}

/* One short sequence through the model at its full width, by the GPU and by the core. */
static bool
compare_gpu(const struct measuring *measuring, const struct training_shape *shape,
            uint64_t seed, struct training_difference *difference, struct error_list *errors)
{
    struct training_shape small = training_shape_alone(shape);
    struct arena *own = arena_new_beside(measuring->arena);
    small.microbatch_sequences = small.global_batch_sequences = 1;
    if (small.sequence_tokens > CHECKED_TOKENS_GPU)
        small.sequence_tokens = CHECKED_TOKENS_GPU;
    struct training_gpu *machine = training_gpu_new(measuring->gpu, &small, own, errors);
    bool is_done = machine != NULL;
    if (is_done) {
        const struct training_device *device = training_gpu_device(machine);
        *difference = training_check_device(&small, device, seed, own);
        is_done = !training_device_failed(device) || take_fault(device, errors);
        training_gpu_free(machine);
    }
    arena_free(own);
    return is_done;
}

static bool
is_near(const struct training_difference *difference)
{
    return difference->gradient_fraction <= ERROR_FRACTION_MAX &&
           difference->loss_fraction <= ERROR_FRACTION_MAX;
}

static bool
check_gpu(struct measuring *measuring, const struct training_shape *shape,
          struct error_list *errors)
{
    struct training_difference difference = {.other_choices = 1};
    for (uint64_t i = 0; i < CHECKED_SEEDS && difference.other_choices > 0; i++)
        if (!compare_gpu(measuring, shape, measuring->effort->seed + i, &difference, errors))
            return false;
    measuring->error_fraction = difference.gradient_fraction;
    if (is_near(&difference))
        return true;
    return error_add(
        errors, ERROR_INPUT, "",
        "gradients differ by %g from a core's, the loss by %g, %lld of %lld choices "
        "of experts: not timed",
        difference.gradient_fraction, difference.loss_fraction,
        (long long)difference.other_choices, (long long)difference.choices);
}

/* The same of several GPUs: a short sequence for each copy, and for each stage. */
static struct training_shape
shape_to_check(const struct training_shape *shape)
{
    struct training_shape small = *shape;
    small.microbatch_sequences = 1;
    small.global_batch_sequences = shape->data * shape->pipeline;
    int64_t most = CHECKED_TOKENS_GPU / small.global_batch_sequences;
    if (small.sequence_tokens > most)
        small.sequence_tokens = most - most % shape->tensor;
    return small;
}

static bool
compare_gpus(const struct measuring *measuring, const struct training_shape *small,
             uint64_t seed, struct training_difference *difference, struct error_list *errors)
{
    const struct training_gpus_call gradients = {0};
    struct training_gpus *all =
        training_gpus_new(measuring->gpus, small, seed, measuring->arena, errors);
    if (all == NULL)
        return false;
    bool is_done = training_gpus_run(all, gradients, errors);
    if (is_done)
        *difference = training_check_gpus(all, seed, measuring->arena);
    training_gpus_free(all);
    return is_done;
}

/* Other words where the gradients differ, as one GPU tries them where it chooses other experts: a
 * wrong exchange is wrong with all of them. */
static bool
check_gpus(struct measuring *measuring, const struct training_shape *shape,
           struct error_list *errors)
{
    const struct training_shape small = shape_to_check(shape);
    struct training_difference difference = {.gradient_fraction = 1};
    for (uint64_t i = 0; i < CHECKED_SEEDS && !is_near(&difference); i++)
        if (!compare_gpus(measuring, &small, measuring->effort->seed + i, &difference, errors))
            return false;
    measuring->error_fraction = difference.gradient_fraction;
    return is_near(&difference) ||
           error_add(errors, ERROR_INPUT, "",
                     "gradients of %lld GPUs differ by %g from a core's, the loss by %g: not "
                     "timed",
                     (long long)training_shape_ranks(shape), difference.gradient_fraction,
                     difference.loss_fraction);
}

static bool
check(struct measuring *measuring, const struct training_shape *shape,
      struct error_list *errors)
{
    const struct process_group *world = measuring->world;
    measuring->error_fraction = process_largest(world, gradient_error(measuring, shape));
    if (!(measuring->error_fraction <= ERROR_FRACTION_MAX))
        return error_add(errors, ERROR_INPUT, "", "gradients wrong by %g, not timed",
                         measuring->error_fraction);
    if (world->size == 1)
        return true;
    measuring->alone_error_fraction = training_check_alone(measuring->step, measuring->arena);
    if (!(measuring->alone_error_fraction <= ERROR_FRACTION_MAX))
        return error_add(errors, ERROR_INPUT, "",
                         "gradients differ by %g from those of one process, not timed",
                         measuring->alone_error_fraction);
    return true;
}

/* Wall time of the slowest process, until its machine is done. */
static double
run_step(struct measuring *measuring)
{
    struct training *step = measuring->step;
    process_barrier(measuring->world);
    double begin_s = training_times_now_s(&step->times);
    training_run_passes(step);
    training_reduce_gradients(step);
    training_optimizer_run(&measuring->optimizer, step);
    step->device->wait(step->device->machine);
    double wall_s = training_times_now_s(&step->times) - begin_s;
    training_times_end_step(&step->times);
    measuring->losses[step->number++] = training_loss(step);
    return process_largest(measuring->world, wall_s);
}

/* Of all GPUs, until the last is done. */
static double
run_step_of_gpus(struct measuring *measuring, struct error_list *errors)
{
    struct training *step = measuring->step;
    const struct training_gpus_call call = {step->number, true};
    double begin_s = training_times_now_s(&step->times);
    if (!training_gpus_run(measuring->together, call, errors))
        return 0;
    double wall_s = training_times_now_s(&step->times) - begin_s;
    measuring->losses[step->number++] = training_gpus_loss(measuring->together);
    return wall_s;
}

static double
run_one(struct measuring *measuring, struct error_list *errors)
{
    return measuring->together ? run_step_of_gpus(measuring, errors) : run_step(measuring);
}

static bool
run_steps(struct measuring *measuring, struct error_list *errors)
{
    const struct training_effort *effort = measuring->effort;
    size_t most = (size_t)(effort->warmups + effort->steps_max);
    double passed_s = 0;
    measuring->losses = arena_alloc(measuring->arena, most, sizeof *measuring->losses);
    measuring->walls_s = arena_alloc(measuring->arena, most, sizeof *measuring->walls_s);
    measuring->cores_s = arena_alloc(measuring->arena, most, sizeof *measuring->cores_s);
    for (int64_t i = 0; i < effort->warmups; i++)
        (void)run_one(measuring, errors);
    while (errors->count == 0 &&
           (measuring->timed < effort->steps_min ||
            (measuring->timed < effort->steps_max && passed_s < effort->budget_s))) {
        double wall_s = run_one(measuring, errors);
        measuring->cores_s[measuring->timed] =
            process_largest(measuring->world, training_times_last_s(&measuring->step->times));
        measuring->walls_s[measuring->timed++] = wall_s;
        passed_s += wall_s;
    }
    measuring->steps = measuring->step->number;
    if (errors->count > 0)
        return false;
    return !training_device_failed(measuring->step->device) ||
           take_fault(measuring->step->device, errors);
}

/* ---- The answer */

static void
write_reals(struct json_writer *writer, const char *key, const double *reals, int64_t count)
{
    json_write_key(writer, key);
    json_write_begin_array(writer);
    for (int64_t i = 0; i < count; i++)
        json_write_real(writer, reals[i]);
    json_write_end_array(writer);
}

static void
write_kernels(struct json_writer *writer, const struct training_times *times)
{
    json_write_key(writer, "measured_kernels");
    json_write_begin_object(writer);
    for (size_t i = 0; i < times->count; i++) {
        int64_t runs;
        if (training_times_is_repeated(times, i))
            continue;
        double seconds_s = training_times_name_s(times, times->items[i].name, &runs);
        json_write_key(writer, times->items[i].name);
        json_write_begin_object(writer);
        json_write_real_at(writer, "seconds_s", seconds_s);
        json_write_integer_at(writer, "runs", runs);
        json_write_end_object(writer);
    }
    json_write_end_object(writer);
}

static void
write_question(struct json_writer *writer, const struct training_question *question)
{
    json_write_string_at(writer, "run", question->run);
    json_write_key(writer, "settings");
    json_write_begin_array(writer);
    for (size_t i = 0; i < question->setting_count; i++)
        json_write_string(writer, question->settings[i]);
    json_write_end_array(writer);
}

static void
fill_pieces(const struct training_times *times, struct training_piece *pieces)
{
    for (size_t i = 0; i < times->count; i++)
        pieces[i] = (struct training_piece){times->items[i].least_s, times->items[i].peers,
                                            (int32_t)times->items[i].phase};
}

/* Of all GPUs. */
static double
play_gpus_again(const struct measuring *measuring, double phases_s[TRAINING_PHASE_COUNT])
{
    struct arena *arena = measuring->arena;
    struct training_pieces each[TRAINING_GPUS_MAX];
    for (int rank = 0; rank < measuring->gpu_count; rank++) {
        const struct training_times *times =
            &training_gpus_step(measuring->together, rank)->times;
        struct training_piece *pieces = arena_alloc(arena, times->count, sizeof *pieces);
        fill_pieces(times, pieces);
        each[rank] = (struct training_pieces){pieces, (int64_t)times->count};
    }
    return training_replay(each, measuring->gpu_count, phases_s, arena);
}

/* Every process's pieces, told to all, played again with their least times. */
static double
play_again(const struct measuring *measuring, double phases_s[TRAINING_PHASE_COUNT])
{
    const struct process_group *world = measuring->world;
    const struct training_times *times = &measuring->step->times;
    struct arena *arena = measuring->arena;
    size_t ranks = (size_t)world->size;
    if (measuring->together)
        return play_gpus_again(measuring, phases_s);
    size_t most = (size_t)process_largest(world, (double)times->count);
    struct training_piece *own = arena_alloc(arena, most, sizeof *own),
                          *all = arena_alloc(arena, most * ranks, sizeof *all);
    struct training_pieces *each = arena_alloc(arena, ranks, sizeof *each);
    int64_t *counts = arena_alloc(arena, ranks, sizeof *counts), count = (int64_t)times->count;
    fill_pieces(times, own);
    process_all_gather(world, own, all, most * sizeof *own);
    process_all_gather(world, &count, counts, sizeof count);
    for (size_t i = 0; i < ranks; i++)
        each[i] = (struct training_pieces){all + i * most, counts[i]};
    return training_replay(each, world->size, phases_s, arena);
}

static void
write_times(struct json_writer *writer, const struct measuring *measuring)
{
    const struct training_times *times = &measuring->step->times;
    static const char *const keys[] = {"measured_forward_backward_s",
                                       "measured_gradient_reduction_s", "measured_optimizer_s",
                                       "measured_parameter_gather_s"};
    double phases_s[TRAINING_PHASE_COUNT], quiet_s = play_again(measuring, phases_s);
    double *sorted = arena_copy(measuring->arena, measuring->walls_s,
                                (size_t)measuring->timed * sizeof *sorted);
    json_write_real_at(writer, "measured_s", measure_median(sorted, measuring->timed));
    json_write_real_at(writer, "measured_min_s", sorted[0]);
    json_write_real_at(writer, "measured_core_s",
                       measure_median(measuring->cores_s, measuring->timed));
    json_write_real_at(writer, "measured_quiet_s", quiet_s);
    for (int phase = 0; phase < TRAINING_PHASE_COUNT; phase++)
        if (phases_s[phase] > 0)
            json_write_real_at(writer, keys[phase], phases_s[phase]);
    write_reals(writer, "measured_repeats_s", measuring->walls_s, measuring->timed);
    write_kernels(writer, times);
}

static void
write_answer(const struct measuring *measuring, struct text *out)
{
    struct json_writer writer = json_writer_new(out, false);
    json_write_begin_object(&writer);
    write_question(&writer, measuring->question);
    write_times(&writer, measuring);
    write_reals(&writer, "measured_losses", measuring->losses, measuring->steps);
    json_write_real_at(&writer, "measured_error_fraction", measuring->error_fraction);
    if (measuring->world->size > 1)
        json_write_real_at(&writer, "measured_alone_error_fraction",
                           measuring->alone_error_fraction);
    json_write_integer_at(&writer, "measured_ranks",
                          measuring->gpu ? measuring->gpu_count : measuring->world->size);
    json_write_string_at(&writer, "measured_device",
                         measuring->gpu ? measuring->gpu->name
                                        : measure_cpu_device(1, out->arena));
    json_write_string_at(&writer, "measured_library",
                         measuring->gpu ? gpu_libraries_text(measuring->gpu, out->arena)
                                        : measure_cpu_library(out->arena));
    json_write_end_object(&writer);
    text_format(out, "\n");
}

/* The GPUs behind the first: a run has as many as ranks. */
static bool
open_gpus(struct measuring *measuring, const struct training_shape *shape,
          struct error_list *errors)
{
    const struct gpu_libraries *libraries = &measuring->gpu->libraries;
    int wanted = (int)training_shape_ranks(shape);
    measuring->gpus[0] = measuring->gpu;
    for (measuring->gpu_count = 1; measuring->gpu_count < wanted; measuring->gpu_count++) {
        struct gpu *gpu = arena_alloc(measuring->arena, 1, sizeof *gpu);
        if (!gpu_open(gpu, libraries->vendor, libraries->path, measuring->gpu_count,
                      measuring->arena, errors))
            return false;
        measuring->gpus[measuring->gpu_count] = gpu;
    }
    return true;
}

static void
close_machine(struct measuring *measuring)
{
    if (measuring->machine)
        training_gpu_free(measuring->machine);
    if (measuring->together)
        training_gpus_free(measuring->together);
    for (int i = 1; i < measuring->gpu_count; i++)
        gpu_close(measuring->gpus[i]);
}

/* GPUs are checked first, when their memory is empty. */
static bool
make_step(struct measuring *measuring, const struct training_shape *shape,
          struct error_list *errors)
{
    uint64_t seed = measuring->effort->seed;
    struct arena *arena = measuring->arena;
    if (training_shape_ranks(shape) > 1) {
        if (!open_gpus(measuring, shape, errors) || !check_gpus(measuring, shape, errors))
            return false;
        measuring->together = training_gpus_new(measuring->gpus, shape, seed, arena, errors);
        measuring->step =
            measuring->together ? training_gpus_step(measuring->together, 0) : NULL;
        return measuring->together != NULL;
    }
    measuring->gpu_count = 1;
    if (!check_gpu(measuring, shape, errors))
        return false;
    measuring->machine = training_gpu_new(measuring->gpu, shape, arena, errors);
    if (!measuring->machine)
        return false;
    measuring->step = training_new(shape, measuring->world,
                                   training_gpu_device(measuring->machine), seed, arena);
    measuring->optimizer = training_optimizer_new(measuring->step);
    return true;
}

static bool
run(struct measuring *measuring, const struct training_shape *shape, struct error_list *errors)
{
    struct arena *arena = measuring->arena;
    if (measuring->gpu)
        return make_step(measuring, shape, errors) && run_steps(measuring, errors);
    openblas_set_num_threads(1);
    measuring->step = training_new(shape, measuring->world, training_device_cpu(arena),
                                   measuring->effort->seed, arena);
    measuring->optimizer = training_optimizer_new(measuring->step);
    return check(measuring, shape, errors) && run_steps(measuring, errors);
}

/* Processes that were started, and ranks that the run has. */
static bool
has_ranks(const struct measuring *measuring, const struct training_shape *shape,
          struct error_list *errors)
{
    long long wanted = training_shape_ranks(shape);
    const char *path = measuring->question->run;
    if (measuring->gpu && wanted > TRAINING_GPUS_MAX)
        return error_add(errors, ERROR_INFEASIBLE, path,
                         "of %lld ranks, wanted at most %d GPUs", wanted, TRAINING_GPUS_MAX);
    if (measuring->gpu || wanted == measuring->world->size)
        return true;
    return error_add(errors, ERROR_INFEASIBLE, path,
                     "of %lld ranks, but there are %d processes: mpirun -n %lld starts them",
                     wanted, measuring->world->size, wanted);
}

bool
training_measure(const struct training_question *question, const struct training_effort *effort,
                 const struct process_group *world, struct gpu *gpu, struct text *out,
                 struct error_list *errors)
{
    struct training_shape shape;
    struct measuring measuring = {.question = question,
                                  .effort = effort,
                                  .world = world,
                                  .gpu = gpu,
                                  .arena = out->arena};
    if (!training_question_read(question, &shape, out->arena, errors) ||
        !has_ranks(&measuring, &shape, errors))
        return false;
    bool is_measured = run(&measuring, &shape, errors);
    if (is_measured)
        write_answer(&measuring, out);
    close_machine(&measuring);
    return is_measured;
}
