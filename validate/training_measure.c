/* Measures a training step: gradients first, then steps, then what the list of times says. */
#include "validate/training_measure.h"

#include <cblas.h>
#include <math.h>

#include "sim/base/json_writer.h"
#include "validate/measure_cpu.h"
#include "validate/training_check.h"
#include "validate/training_optimizer.h"
#include "validate/training_replay.h"

/* Gradients in fp32 against slopes in fp64, of a model of a few hundred columns: 1e-6 in practice;
 * wrong ones are off by 1. */
static const double ERROR_FRACTION_MAX = 1e-4;

enum { CHECKED_TOKENS = 16 };

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

/* Wall time of the slowest process. */
static double
run_step(struct measuring *measuring)
{
    struct training *step = measuring->step;
    process_barrier(measuring->world);
    double begin_s = training_times_now_s(&step->times);
    training_run_passes(step);
    training_reduce_gradients(step);
    training_optimizer_run(&measuring->optimizer, step);
    double wall_s = training_times_now_s(&step->times) - begin_s;
    measuring->losses[step->number++] = training_loss(step);
    return process_largest(measuring->world, wall_s);
}

static void
run_steps(struct measuring *measuring)
{
    const struct training_effort *effort = measuring->effort;
    size_t most = (size_t)(effort->warmups + effort->steps_max);
    double passed_s = 0;
    measuring->losses = arena_alloc(measuring->arena, most, sizeof *measuring->losses);
    measuring->walls_s = arena_alloc(measuring->arena, most, sizeof *measuring->walls_s);
    measuring->cores_s = arena_alloc(measuring->arena, most, sizeof *measuring->cores_s);
    for (int64_t i = 0; i < effort->warmups; i++)
        (void)run_step(measuring);
    while (measuring->timed < effort->steps_min ||
           (measuring->timed < effort->steps_max && passed_s < effort->budget_s)) {
        double wall_s = run_step(measuring);
        measuring->cores_s[measuring->timed] =
            process_largest(measuring->world, training_times_last_s(&measuring->step->times));
        measuring->walls_s[measuring->timed++] = wall_s;
        passed_s += wall_s;
    }
    measuring->steps = measuring->step->number;
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

/* Every process's pieces, told to all, played again with their least times. */
static double
play_again(const struct measuring *measuring, double phases_s[TRAINING_PHASE_COUNT])
{
    const struct process_group *world = measuring->world;
    const struct training_times *times = &measuring->step->times;
    struct arena *arena = measuring->arena;
    size_t ranks = (size_t)world->size;
    size_t most = (size_t)process_largest(world, (double)times->count);
    struct training_piece *own = arena_alloc(arena, most, sizeof *own),
                          *all = arena_alloc(arena, most * ranks, sizeof *all);
    struct training_pieces *each = arena_alloc(arena, ranks, sizeof *each);
    int64_t *counts = arena_alloc(arena, ranks, sizeof *counts), count = (int64_t)times->count;
    for (size_t i = 0; i < times->count; i++)
        own[i] = (struct training_piece){times->items[i].least_s, times->items[i].peers,
                                         (int32_t)times->items[i].phase};
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
    json_write_integer_at(&writer, "measured_ranks", measuring->world->size);
    json_write_string_at(&writer, "measured_device", measure_cpu_device(1, out->arena));
    json_write_string_at(&writer, "measured_library", measure_cpu_library(out->arena));
    json_write_end_object(&writer);
    text_format(out, "\n");
}

bool
training_measure(const struct training_question *question, const struct training_effort *effort,
                 const struct process_group *world, struct text *out, struct error_list *errors)
{
    struct training_shape shape;
    if (!training_question_read(question, &shape, out->arena, errors))
        return false;
    if (training_shape_ranks(&shape) != world->size)
        return error_add(
            errors, ERROR_INFEASIBLE, question->run,
            "of %lld ranks, but there are %d processes: mpirun -n %lld starts them",
            (long long)training_shape_ranks(&shape), world->size,
            (long long)training_shape_ranks(&shape));
    openblas_set_num_threads(1);
    struct measuring measuring = {.question = question,
                                  .effort = effort,
                                  .world = world,
                                  .arena = out->arena,
                                  .step = training_new(&shape, world,
                                                       training_device_cpu(out->arena),
                                                       effort->seed, out->arena)};
    measuring.optimizer = training_optimizer_new(measuring.step);
    if (!check(&measuring, &shape, errors))
        return false;
    run_steps(&measuring);
    write_answer(&measuring, out);
    return true;
}
