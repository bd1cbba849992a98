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
    int count;
    struct rank ranks[TRAINING_GPUS_MAX];
    struct training_gpu_meeting *meeting;
    struct training_gpus_call call; /* of the step at hand */
};

/* Calls of this thread act on the rank's GPU from now on. */
static void
turn_to(const struct rank *rank)
{
    (void)rank->gpu->libraries.api.context_set(rank->gpu->context);
}

/* ---- Opening and closing */

/* Ranks of the same color meet, unless a rank is alone in it. NULL after adding why not. */
static const struct process_group *
group_of(struct training_gpus *all, const struct training_shape *shape,
         enum training_group kind, int rank, struct error_list *errors)
{
    int members[TRAINING_GPUS_MAX], color = training_group_color(shape, kind, rank);
    struct process_group group = {0};
    for (int other = 0; other < all->count; other++) {
        if (training_group_color(shape, kind, other) != color)
            continue;
        if (other == rank)
            group.rank = group.size;
        members[group.size++] = other;
    }
    struct arena *arena = all->ranks[rank].arena;
    if (group.size > 1) {
        void *const *communicators =
            training_gpu_meeting_join(all->meeting, members, group.size, errors);
        if (communicators == NULL)
            return NULL;
        group.communicator = communicators[group.rank];
    }
    return arena_copy(arena, &group, sizeof group);
}

/* Neighbouring stages meet in the world. */
static const struct process_group *
world_of(struct training_gpus *all, const struct training_shape *shape, int rank,
         struct error_list *errors)
{
    int members[TRAINING_GPUS_MAX];
    struct process_group world = {.rank = rank, .size = all->count};
    for (int i = 0; i < all->count; i++)
        members[i] = i;
    if (shape->pipeline > 1) {
        void *const *communicators =
            training_gpu_meeting_join(all->meeting, members, all->count, errors);
        if (communicators == NULL)
            return NULL;
        world.communicator = communicators[rank];
    }
    return arena_copy(all->ranks[rank].arena, &world, sizeof world);
}

static bool
open_rank(struct training_gpus *all, int index, const struct training_shape *shape,
          uint64_t seed, struct error_list *errors)
{
    struct rank *rank = &all->ranks[index];
    const struct process_group *groups[TRAINING_GROUP_COUNT];
    const struct process_group *world = world_of(all, shape, index, errors);
    bool is_joined = world != NULL;
    for (int kind = 0; is_joined && kind < TRAINING_GROUP_COUNT; kind++) {
        groups[kind] = group_of(all, shape, (enum training_group)kind, index, errors);
        is_joined = groups[kind] != NULL;
    }
    turn_to(rank);
    if (is_joined)
        rank->machine = training_gpu_new(rank->gpu, shape, rank->arena, errors);
    if (rank->machine == NULL)
        return false;
    const struct training_groups made = training_groups_of(shape, world, groups);
    training_gpu_join(rank->machine, all->meeting, index);
    rank->step =
        training_new_of(shape, &made, training_gpu_device(rank->machine), seed, rank->arena);
    rank->optimizer = training_optimizer_new(rank->step);
    return true;
}

static bool
open_ranks(struct training_gpus *all, const struct training_shape *shape, uint64_t seed,
           struct error_list *errors)
{
    for (int i = 0; all->count > 1 && i < all->count; i++)
        if (!gpu_library_open(&all->ranks[i].gpu->libraries, GPU_COLLECTIVES, errors))
            return false;
    for (int i = 0; i < all->count; i++)
        if (!open_rank(all, i, shape, seed, errors))
            return false;
    turn_to(&all->ranks[0]);
    return true;
}

struct training_gpus *
training_gpus_new(struct gpu *const *gpus, const struct training_shape *shape, uint64_t seed,
                  struct arena *arena, struct error_list *errors)
{
    int64_t count = training_shape_ranks(shape);
    if (count > TRAINING_GPUS_MAX) {
        error_add(errors, ERROR_INFEASIBLE, "", "found %lld ranks, wanted at most %d GPUs",
                  (long long)count, TRAINING_GPUS_MAX);
        return NULL;
    }
    struct training_gpus *all = arena_alloc(arena, 1, sizeof *all);
    all->count = (int)count;
    all->meeting = training_gpu_meeting_new(&gpus[0]->libraries, all->count, arena);
    for (int i = 0; i < all->count; i++) {
        all->ranks[i].gpu = gpus[i];
        all->ranks[i].arena = arena_new_beside(arena);
    }
    bool is_open = open_ranks(all, shape, seed, errors);
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
    training_gpu_meeting_free(all->meeting);
    turn_to(&all->ranks[0]);
    all->count = 0;
}

/* ---- Running */

static void
run_step(const struct training_gpus *all, struct rank *rank)
{
    struct training *step = rank->step;
    turn_to(rank);
    step->number = all->call.number;
    training_run_passes(step);
    training_reduce_gradients(step);
    if (all->call.is_optimized)
        training_optimizer_run(&rank->optimizer, step);
    step->device->wait(step->device->machine);
    training_times_end_step(&step->times);
}

/* A thread for each rank, and behind them one that watches over their exchanges. */
static void
run_rank(void *context, int index)
{
    struct training_gpus *all = context;
    if (index == all->count) {
        training_gpu_meeting_watch(all->meeting, all->ranks[0].gpu->options.timeout_s);
        return;
    }
    run_step(all, &all->ranks[index]);
    training_gpu_meeting_end(all->meeting);
}

static bool
take_fault(const struct training_gpus *all, struct error_list *errors)
{
    int first = training_gpu_meeting_failed(all->meeting);
    const char *fault = training_gpu_meeting_fault(all->meeting);
    if (first >= 0 && *fault != '\0')
        return error_add(errors, ERROR_INFEASIBLE, "", "GPU %d: %s", first, fault);
    for (int i = 0; i < all->count; i++) {
        const struct training_device *device = all->ranks[i].step->device;
        if ((first < 0 || first == i) && training_device_failed(device))
            return error_add(errors, device->errors->items[0].kind, "", "GPU %d: %s", i,
                             device->errors->items[0].what);
    }
    return true;
}

bool
training_gpus_run(struct training_gpus *all, struct training_gpus_call call,
                  struct error_list *errors)
{
    all->call = call;
    if (!take_fault(all, errors))
        return false;
    training_gpu_meeting_begin(all->meeting);
    if (!cpu_threads_each(all->count + (all->count > 1), run_rank, all))
        return error_add(errors, ERROR_INFEASIBLE, "",
                         "the system has no threads left for %d GPUs", all->count);
    turn_to(&all->ranks[0]);
    return take_fault(all, errors);
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
