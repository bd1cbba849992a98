/* A training step on several GPUs: a rank, a machine and an arena for each. */
#include "validate/training_gpus.h"

#include "validate/cpu_threads.h"
#include "validate/training_optimizer.h"

struct rank {
    struct gpu *gpu;
    struct training_gpu *machine;
    struct training *step;
    struct training_optimizer optimizer;
    struct arena *arena; /* its own: its thread works in it */
};

struct training_gpus {
    int count, communicator_count;
    struct rank ranks[TRAINING_GPUS_MAX];
    void *communicators[TRAINING_GPUS_MAX];
};

static const struct gpu_api *
api_of(const struct training_gpus *all)
{
    return &all->ranks[0].gpu->libraries.api;
}

static bool
collectives_ok(const struct training_gpus *all, int status, struct error_list *errors)
{
    enum gpu_vendor vendor = all->ranks[0].gpu->libraries.vendor;
    return status == 0 || error_add(errors, ERROR_INFEASIBLE, "", "%s: %s",
                                    gpu_library_name(vendor, GPU_COLLECTIVES),
                                    api_of(all)->collectives_error_text(status));
}

/* Calls of this thread act on the rank's GPU from now on. */
static void
turn_to(const struct rank *rank)
{
    (void)rank->gpu->libraries.api.context_set(rank->gpu->context);
}

/* ---- Opening and closing */

static bool
open_rank(struct training_gpus *all, int index, const struct training_shape *shape,
          uint64_t seed, struct error_list *errors)
{
    struct rank *rank = &all->ranks[index];
    const struct training_groups groups =
        training_groups_of_copies(index, all->count, rank->arena);
    turn_to(rank);
    rank->machine = training_gpu_new(rank->gpu, shape, rank->arena, errors);
    if (rank->machine == NULL)
        return false;
    rank->step =
        training_new_of(shape, &groups, training_gpu_device(rank->machine), seed, rank->arena);
    rank->optimizer = training_optimizer_new(rank->step);
    return true;
}

static bool
join_ranks(struct training_gpus *all, struct error_list *errors)
{
    int devices[TRAINING_GPUS_MAX];
    for (int i = 0; i < all->count; i++)
        devices[i] = i;
    if (!gpu_library_open(&all->ranks[0].gpu->libraries, GPU_COLLECTIVES, errors) ||
        !collectives_ok(all,
                        api_of(all)->communicators_new(all->communicators, all->count, devices),
                        errors))
        return false;
    all->communicator_count = all->count;
    return true;
}

static bool
is_data_parallel(const struct training_shape *shape, struct error_list *errors)
{
    if (shape->tensor * shape->pipeline * shape->expert > 1)
        return error_add(errors, ERROR_INFEASIBLE, "",
                         "a step on GPUs wants data ranks alone: tensor, expert, pipeline 1");
    if (shape->data > TRAINING_GPUS_MAX)
        return error_add(errors, ERROR_INFEASIBLE, "",
                         "found %lld data ranks, wanted at most %d GPUs",
                         (long long)shape->data, TRAINING_GPUS_MAX);
    return true;
}

struct training_gpus *
training_gpus_new(struct gpu *const *gpus, const struct training_shape *shape, uint64_t seed,
                  struct arena *arena, struct error_list *errors)
{
    if (!is_data_parallel(shape, errors))
        return NULL;
    struct training_gpus *all = arena_alloc(arena, 1, sizeof *all);
    all->count = (int)shape->data;
    for (int i = 0; i < all->count; i++) {
        all->ranks[i].gpu = gpus[i];
        all->ranks[i].arena = arena_new_beside(arena);
    }
    bool is_open = join_ranks(all, errors);
    for (int i = 0; is_open && i < all->count; i++)
        is_open = open_rank(all, i, shape, seed, errors);
    if (!is_open)
        training_gpus_free(all);
    return is_open ? all : NULL;
}

void
training_gpus_free(struct training_gpus *all)
{
    for (int i = 0; i < all->count; i++) {
        struct rank *rank = &all->ranks[i];
        turn_to(rank);
        if (rank->machine != NULL)
            training_gpu_free(rank->machine);
        arena_free(rank->arena);
    }
    for (int i = 0; i < all->communicator_count; i++)
        (void)api_of(all)->communicator_free(all->communicators[i]);
    turn_to(&all->ranks[0]);
    all->count = all->communicator_count = 0;
}

/* ---- Running */

static void
run_passes(void *context, int index)
{
    struct training_gpus *all = context;
    turn_to(&all->ranks[index]);
    training_run_passes(all->ranks[index].step);
}

static bool
take_faults(const struct training_gpus *all, struct error_list *errors)
{
    for (int i = 0; i < all->count; i++) {
        const struct training_device *device = all->ranks[i].step->device;
        if (training_device_failed(device))
            return error_add(errors, device->errors->items[0].kind, "", "%s",
                             device->errors->items[0].what);
    }
    return true;
}

/* All gradients at once; nobody enters where one has failed. */
static bool
reduce(struct training_gpus *all, struct error_list *errors)
{
    const struct gpu_api *api = api_of(all);
    if (all->count == 1)
        return true;
    for (int i = 0; i < all->count; i++) {
        all->ranks[i].step->times.phase = TRAINING_REDUCTION;
        turn_to(&all->ranks[i]);
        training_times_begin(&all->ranks[i].step->times);
    }
    int status = api->group_start();
    for (int i = 0; status == 0 && i < all->count; i++) {
        const struct training *step = all->ranks[i].step;
        status = api->all_reduce(step->gradients.all, step->gradients.all,
                                 (size_t)step->model.elements, GPU_COLLECTIVE_FP32,
                                 GPU_COLLECTIVE_SUM, all->communicators[i],
                                 all->ranks[i].gpu->stream);
    }
    int ended = api->group_end();
    for (int i = 0; i < all->count; i++) {
        turn_to(&all->ranks[i]);
        training_times_end(&all->ranks[i].step->times, "reduce_gradients");
    }
    return collectives_ok(all, status != 0 ? status : ended, errors);
}

static void
finish(struct training_gpus *all, bool is_optimized)
{
    for (int i = 0; is_optimized && i < all->count; i++) {
        turn_to(&all->ranks[i]);
        training_optimizer_run(&all->ranks[i].optimizer, all->ranks[i].step);
    }
    for (int i = 0; i < all->count; i++) {
        struct training *step = all->ranks[i].step;
        turn_to(&all->ranks[i]);
        step->device->wait(step->device->machine);
    }
}

bool
training_gpus_run(struct training_gpus *all, struct training_gpus_call call,
                  struct error_list *errors)
{
    for (int i = 0; i < all->count; i++)
        all->ranks[i].step->number = call.number;
    cpu_threads_each(all->count, run_passes, all);
    bool is_well = take_faults(all, errors) && reduce(all, errors);
    if (is_well)
        finish(all, call.is_optimized);
    turn_to(&all->ranks[0]);
    return is_well && take_faults(all, errors);
}

struct training *
training_gpus_step(const struct training_gpus *all, int rank)
{
    turn_to(&all->ranks[rank]);
    return all->ranks[rank].step;
}

double
training_gpus_loss(const struct training_gpus *all)
{
    const struct training_shape *shape = &all->ranks[0].step->shape;
    double sum = 0;
    for (int i = 0; i < all->count; i++)
        sum += all->ranks[i].step->loss_sum;
    return sum / (double)(shape->global_batch_sequences * shape->sequence_tokens);
}
