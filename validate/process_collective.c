/* Times collectives between processes.
 *
 * A repeat begins at a barrier and is a number of calls one behind the other, so many that it takes
 * much longer than ranks come apart in a barrier; its time is a call's, by the slowest rank. That
 * time is agreed on by all ranks, so that all repeat equally often. */
#include "validate/process_collective.h"

#include <math.h>

#include "sim/base/units.h"
#include "validate/process_collective_work.h"

enum { CALLS_MAX = 200, TRIAL_CALLS = 3, LINE_BYTES = 64 };

static const double REPEAT_S = 100e-6; /* a barrier lets ranks go within about 1e-6 s */
static const double CACHE_RATIO = 1.25;

struct process_collectives {
    const struct process_group *world;
    const struct measure_backend *inner;
    const struct measure_cpu_options *options;
    const char *library;
    struct arena *arena;                 /* of the groups */
    const struct process_group **groups; /* [ranks]: of the first so many ... */
    bool *is_made;                       /* ... which is NULL on those outside */
};

/* Every process of the world asks for the same at the same time. */
static const struct process_group *
group_of_first(struct process_collectives *all, int ranks)
{
    if (!all->is_made[ranks])
        all->groups[ranks] =
            process_group_split(all->world, all->world->rank < ranks ? 0 : -1, all->arena);
    all->is_made[ranks] = true;
    return all->groups[ranks];
}

struct buffers {
    void *in, *out;
};

/* The work in turns: buffers rotate, and the agreed time stands in place of a clock. */
struct turns {
    const struct process_collective_work *work;
    struct buffers *sets;
    int64_t set_count;
    int64_t calls;   /* of a repeat */
    double agreed_s; /* of a call, added up over the repeats so far */
    struct measure_clock clock;
};

static void
run_turn(void *context, int64_t turn)
{
    struct turns *turns = context;
    const struct process_group *group = turns->work->group;
    process_barrier(group);
    double start_s = turns->clock.now_s(turns->clock.context);
    for (int64_t i = 0; i < turns->calls; i++) {
        const struct buffers *set = &turns->sets[(turn * turns->calls + i) % turns->set_count];
        process_collective_call(turns->work, set->in, set->out);
    }
    double own_s = turns->clock.now_s(turns->clock.context) - start_s;
    turns->agreed_s += process_largest(group, own_s) / (double)turns->calls;
}

static double
agreed_now_s(void *context)
{
    const struct turns *turns = context;
    return turns->agreed_s;
}

static double
set_bytes(const struct process_collective_work *work)
{
    return (double)work->in_bytes + (double)work->out_bytes;
}

/* Enough to be colder than this rank's part of the cache; the same number on every rank. */
static int64_t
set_count(const struct process_collective_work *work, const struct measure_cpu_options *options)
{
    double turns = (double)(options->effort.warmups + options->effort.repeats_max);
    double part_bytes = options->cache_bytes * CACHE_RATIO / work->group->size;
    double smallest = -process_largest(work->group, -set_bytes(work));
    double largest = process_largest(work->group, set_bytes(work));
    double bytes = smallest > 0 ? smallest : largest;
    return (int64_t)fmax(2, fmin(ceil(part_bytes / bytes), turns));
}

static void *
new_buffer(size_t bytes, struct arena *arena)
{
    char *buffer = arena_alloc(arena, bytes + LINE_BYTES, 1);
    return buffer + (LINE_BYTES - (uintptr_t)buffer % LINE_BYTES) % LINE_BYTES;
}

static struct buffers
new_buffers(const struct process_collective_work *work, uint64_t seed, struct arena *arena)
{
    struct buffers buffers = {new_buffer(work->in_bytes, arena),
                              new_buffer(work->out_bytes, arena)};
    process_collective_fill(work, seed, buffers.in, buffers.out);
    return buffers;
}

static bool
check_memory(const struct process_collectives *all, const struct process_collective_work *work,
             int64_t sets, struct error_list *errors)
{
    double needed_bytes =
        process_largest(work->group, (double)(sets + 1) * set_bytes(work)) * work->group->size;
    if (needed_bytes <= all->options->memory_bytes)
        return true;
    return error_add(errors, ERROR_INPUT, "", "its buffers take %s, more than %s",
                     units_format_bytes(needed_bytes).text,
                     units_format_bytes(all->options->memory_bytes).text);
}

static bool
check_result(const struct process_collective_work *work, uint64_t seed, double *error_fraction,
             struct arena *arena, struct error_list *errors)
{
    struct buffers buffers = new_buffers(work, seed, arena);
    process_collective_call(work, buffers.in, buffers.out);
    *error_fraction = process_collective_error(work, seed, buffers.out);
    return *error_fraction == 0 ||
           error_add(errors, ERROR_INPUT, "", "wrong by %g of the reference, not timed",
                     *error_fraction);
}

/* As many calls as make a repeat long enough. */
static int64_t
call_count(struct turns *turns)
{
    turns->calls = 1;
    for (int64_t turn = 0; turn < TRIAL_CALLS; turn++)
        run_turn(turns, turn);
    double call_s = turns->agreed_s / TRIAL_CALLS;
    turns->agreed_s = 0;
    return (int64_t)fmax(1, fmin(CALLS_MAX, ceil(REPEAT_S / call_s)));
}

static struct measure_times
take_times(const struct process_collective_work *work, struct turns *turns,
           const struct measure_cpu_options *options, struct arena *arena)
{
    struct measure_effort effort = options->effort;
    turns->work = work;
    turns->clock = measure_system_clock();
    turns->calls = call_count(turns);
    effort.budget_s /= (double)turns->calls;
    struct measure_clock agreed = {.now_s = agreed_now_s, .context = turns};
    struct measure_work turning = {.run = run_turn, .context = turns};
    struct measure_times times = measure_times_take(&turning, &effort, &agreed, arena);
    times.repeats *= turns->calls;
    return times;
}

static bool
run_planned(struct process_collectives *all, const struct process_collective_work *work,
            struct measure_result *result, struct arena *arena, struct error_list *errors)
{
    const struct measure_cpu_options *options = all->options;
    struct turns turns = {.set_count = set_count(work, options)};
    if (!check_memory(all, work, turns.set_count, errors) ||
        !check_result(work, options->seed, &result->error_fraction, arena, errors))
        return false;
    turns.sets = arena_alloc(arena, (size_t)turns.set_count, sizeof *turns.sets);
    for (int64_t i = 0; i < turns.set_count; i++)
        turns.sets[i] = new_buffers(work, options->seed + 1 + (uint64_t)i, arena);
    result->operand_sets = turns.set_count;
    result->times = take_times(work, &turns, options, arena);
    return true;
}

static bool
run_collective(void *context, const struct collective *collective,
               struct measure_result *result, struct arena *arena, struct error_list *errors)
{
    struct process_collectives *all = context;
    struct process_collective_work work;
    int ranks;
    *result = (struct measure_result){.library = all->library};
    if (!process_collective_plan(collective, all->world, &work, &ranks, arena, errors))
        return false;
    work.group = group_of_first(all, ranks);
    return work.group == NULL || run_planned(all, &work, result, arena, errors);
}

static bool
run_kernel(void *context, const struct kernel *kernel, struct measure_result *result,
           struct arena *arena, struct error_list *errors)
{
    const struct process_collectives *all = context;
    return all->world->rank > 0 ||
           all->inner->run_kernel(all->inner->context, kernel, result, arena, errors);
}

static void
close_inner(void *context)
{
    const struct process_collectives *all = context;
    if (all->inner->close != NULL)
        all->inner->close(all->inner->context);
}

struct measure_backend
process_collective_backend(const struct process_group *world,
                           const struct measure_backend *inner,
                           const struct measure_cpu_options *options, struct arena *arena)
{
    struct process_collectives *all = arena_alloc(arena, 1, sizeof *all);
    *all = (struct process_collectives){
        .world = world,
        .inner = inner,
        .options = options,
        .library = process_library(arena),
        .arena = arena,
        .is_made = arena_alloc(arena, (size_t)world->size + 1, sizeof *all->is_made),
        .groups = arena_alloc(arena, (size_t)world->size + 1, sizeof *all->groups)};
    return (struct measure_backend){
        .device = inner->device,
        .library = inner->library,
        .clock_hz = inner->clock_hz,
        .context = all,
        .run_kernel = run_kernel,
        .run_collective = run_collective,
        .close = close_inner,
    };
}
