/* A training step on a GPU: its memory, its launches, its marks. */
#include "validate/training_gpu.h"

#include <assert.h>
#include <string.h>

#include "validate/training_gpu_work.h"

/* Of gpu_heads.cu. */
enum { HEAD_MAX = 256 };

bool
training_gpu_is_well(const struct training_gpu *machine)
{
    struct training_gpu_meeting *meeting = machine->meeting;
    if (machine->errors.count == 0)
        return meeting == NULL || training_gpu_meeting_failed(meeting) < 0;
    if (meeting != NULL)
        training_gpu_meeting_fail(meeting, machine->rank);
    return false;
}

static const struct gpu_api *
api_of(const struct training_gpu *machine)
{
    return &machine->gpu->libraries.api;
}

/* ---- Memory */

/* Of the device, zeroed; NULL after adding why not. */
static void *
take_memory(struct training_gpu *machine, size_t bytes)
{
    const struct gpu_api *api = api_of(machine);
    void *memory = NULL;
    if (!training_gpu_is_well(machine) ||
        !gpu_ok(machine->gpu, api->memory_new(&memory, bytes > 0 ? bytes : 1),
                "memory of a training step", &machine->errors))
        return NULL;
    machine->memory = arena_grow(machine->arena, machine->memory, machine->memory_count,
                                 &machine->memory_capacity, sizeof *machine->memory);
    machine->memory[machine->memory_count++] = memory;
    bool is_zero =
        gpu_ok(machine->gpu, api->enqueue_set(memory, 0, bytes, machine->gpu->stream),
               "zeroing memory", &machine->errors);
    return is_zero ? memory : NULL;
}

static void *
new_memory(void *machine, size_t bytes)
{
    void *memory = take_memory(machine, bytes);
    return memory != NULL ? memory : machine; /* nothing touches it any more */
}

void *
training_gpu_room(struct training_gpu *machine, enum training_gpu_room_name room, size_t bytes)
{
    if (machine->rooms[room].bytes < bytes) {
        machine->rooms[room].memory = take_memory(machine, bytes);
        machine->rooms[room].bytes = bytes;
    }
    return machine->rooms[room].memory;
}

static void
copy_in(void *context, void *to, const void *from, size_t bytes)
{
    struct training_gpu *machine = context;
    if (training_gpu_is_well(machine))
        (void)gpu_ok(machine->gpu,
                     api_of(machine)->enqueue_copy_in(to, from, bytes, machine->gpu->stream),
                     "copying", &machine->errors);
}

static void
wait_for(void *context)
{
    struct training_gpu *machine = context;
    if (machine->meeting != NULL)
        training_gpu_meeting_wait(machine->meeting, machine->rank);
    if (training_gpu_is_well(machine))
        (void)gpu_ok(machine->gpu, api_of(machine)->stream_wait(machine->gpu->stream),
                     "running a training step", &machine->errors);
    if (machine->meeting != NULL)
        training_gpu_meeting_go_on(machine->meeting, machine->rank);
    (void)training_gpu_is_well(machine); /* who fails tells those that wait for it */
}

static void
copy_out(void *context, void *to, const void *from, size_t bytes)
{
    struct training_gpu *machine = context;
    if (training_gpu_is_well(machine) &&
        gpu_ok(machine->gpu,
               api_of(machine)->enqueue_copy_out(to, from, bytes, machine->gpu->stream),
               "copying", &machine->errors))
        wait_for(machine);
}

static void
zero(void *context, float *reals, int64_t count)
{
    struct training_gpu *machine = context;
    if (training_gpu_is_well(machine))
        (void)gpu_ok(machine->gpu,
                     api_of(machine)->enqueue_set(reals, 0, (size_t)count * sizeof *reals,
                                                  machine->gpu->stream),
                     "zeroing", &machine->errors);
}

/* ---- Launches */

void
training_gpu_launch(struct training_gpu *machine, const struct training_launch *launch)
{
    struct training_launch own = *launch;
    void
        *arguments[sizeof own.pointers / sizeof *own.pointers +
                   sizeof own.sizes / sizeof *own.sizes + sizeof own.reals / sizeof *own.reals];
    int count = 0;
    if (!training_gpu_is_well(machine))
        return;
    for (int i = 0; i < own.pointer_count; i++)
        arguments[count++] = &own.pointers[i];
    for (int i = 0; i < own.size_count; i++)
        arguments[count++] = &own.sizes[i];
    for (int i = 0; i < own.real_count; i++)
        arguments[count++] = &own.reals[i];
    void *function =
        gpu_function(machine->gpu, DTYPE_FP32, own.name, machine->arena, &machine->errors);
    if (function != NULL && own.shape.grid_x > 0)
        (void)gpu_launch(machine->gpu, function, own.shape, arguments, &machine->errors);
}

void
training_gpu_run(struct training_gpu *machine, const struct kernel *kernel,
                 const union cpu_array *operands, int operand_count)
{
    struct gpu_stream_plan plan;
    bool is_planned = gpu_stream_plan(kernel, operand_count, &plan);
    assert(is_planned && plan.scratch_count == 0);
    for (int i = 0; is_planned && i < plan.launch_count; i++) {
        const struct gpu_stream_launch *planned = &plan.launches[i];
        struct training_launch launch = {.name = planned->name,
                                         .shape = planned->shape,
                                         .pointer_count = planned->operand_count,
                                         .size_count = planned->size_count};
        for (int j = 0; j < planned->operand_count; j++)
            launch.pointers[j] = operands[planned->operands[j]].reals;
        memcpy(launch.sizes, planned->sizes, sizeof planned->sizes);
        training_gpu_launch(machine, &launch);
    }
}

/* ---- Marks: an event each */

static void
set_mark(void *context, size_t mark)
{
    struct training_gpu *machine = context;
    const struct gpu_api *api = api_of(machine);
    if (!training_gpu_is_well(machine))
        return;
    if (mark == machine->event_count) {
        void *event = NULL;
        if (!gpu_ok(machine->gpu, api->event_new(&event, 0), "an event", &machine->errors))
            return;
        machine->events = arena_grow(machine->arena, machine->events, machine->event_count,
                                     &machine->event_capacity, sizeof *machine->events);
        machine->events[machine->event_count++] = event;
    }
    (void)gpu_ok(machine->gpu, api->event_record(machine->events[mark], machine->gpu->stream),
                 "timing", &machine->errors);
}

static double
between_s(void *context, size_t from, size_t to)
{
    struct training_gpu *machine = context;
    const double s_per_millisecond = 1e-3;
    float milliseconds = 0;
    if (!training_gpu_is_well(machine))
        return 0;
    (void)gpu_ok(machine->gpu,
                 api_of(machine)->event_elapsed(&milliseconds, machine->events[from],
                                                machine->events[to]),
                 "timing", &machine->errors);
    return (double)milliseconds * s_per_millisecond;
}

/* ---- Opening and closing */

static bool
has_code(const struct training_shape *shape, struct error_list *errors)
{
    if (shape->is_muon && shape->is_newton_schulz_symmetric)
        return error_add(errors, ERROR_INPUT, "",
                         "a step on GPUs wants is_newton_schulz_symmetric false");
    if (shape->head_dim > HEAD_MAX)
        return error_add(errors, ERROR_INPUT, "",
                         "a step on GPUs wants a head_dim to %d, found %lld", HEAD_MAX,
                         (long long)shape->head_dim);
    return true;
}

struct training_gpu *
training_gpu_new(struct gpu *gpu, const struct training_shape *shape, struct arena *arena,
                 struct error_list *errors)
{
    if (!has_code(shape, errors) || !gpu_open_blas(gpu, errors) ||
        gpu_function(gpu, DTYPE_FP32, "attend", arena, errors) == NULL)
        return NULL;
    struct training_gpu *machine = arena_alloc(arena, 1, sizeof *machine);
    machine->gpu = gpu;
    machine->arena = arena;
    machine->products.arena = arena;
    machine->marks = (struct training_marks){machine, set_mark, between_s};
    machine->device = (struct training_device){
        .machine = machine,
        .errors = &machine->errors,
        .marks = &machine->marks,
        .new_memory = new_memory,
        .copy_in = copy_in,
        .copy_out = copy_out,
        .zero = zero,
        .wait = wait_for,
    };
    training_gpu_add_kernels(&machine->device);
    training_gpu_add_optimizers(&machine->device);
    training_gpu_add_products(&machine->device);
    training_gpu_add_exchanges(&machine->device);
    return machine;
}

void
training_gpu_join(struct training_gpu *machine, struct training_gpu_meeting *meeting, int rank)
{
    machine->meeting = meeting;
    machine->rank = rank;
}

const struct training_device *
training_gpu_device(const struct training_gpu *machine)
{
    return &machine->device;
}

void
training_gpu_free(struct training_gpu *machine)
{
    const struct gpu_api *api = api_of(machine);
    (void)api->stream_wait(machine->gpu->stream);
    training_gpu_free_products(machine);
    for (size_t i = 0; i < machine->event_count; i++)
        (void)api->event_free(machine->events[i]);
    for (size_t i = 0; i < machine->memory_count; i++)
        (void)api->memory_free(machine->memory[i]);
    machine->event_count = machine->memory_count = 0;
}
