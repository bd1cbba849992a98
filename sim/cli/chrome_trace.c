/* A step as a Chrome trace.
 *
 * What readers insist on (each found in the source of the reader named): a space behind the colon
 * of "rank" (HTA finds it by a regular expression), collectives named nccl.. and no other kernel so
 * (HTA, TraceLens), streams from 1 (HTA takes 0 for the host), slices of a thread that nest
 * (Perfetto), one profiler step (HTA then needs no launch events), only metadata that Perfetto
 * knows, dtypes whose size TraceLens knows, and for each group of ranks a name of its own
 * (TraceLens compares what files of several ranks say of one), no operator of the host without the
 * launch of each of its kernels (TraceLens looks for those, unless a file has kernels alone). Both
 * count every kernel of a file for its one rank: so what other ranks do is no kernel here. */
#include "sim/cli/chrome_trace.h"

#include <string.h>

#include "models/step_account.h"
#include "models/step_passes.h"
#include "sim/cli/chrome_collective.h"
#include "sim/cli/chrome_events.h"
#include "sim/cli/version.h"

/* Threads in the order in which they are shown; a lane's thread is its stream. */
enum { THREAD_HOST = 1, THREAD_ACCOUNT = 2, THREAD_COMPUTE = 7, THREAD_DATA = 21 };
/* The streams of the other communicators follow that of the data ranks. What a rank sends to the
 * n-th rank shown has threads of its own: activations, then gradients. */
enum { THREAD_SENT = 100 };

static int
thread_of(enum step_lane lane)
{
    if (lane == LANE_HOST)
        return THREAD_HOST;
    return lane == LANE_COMPUTE ? THREAD_COMPUTE : THREAD_DATA + (int)lane - LANE_DATA;
}

struct tracer {
    const struct step *step;
    const struct shown_ranks *shown;
    struct chrome_events *events;
    struct json_writer *writer;
    struct arena *scratch; /* of one rank */
    struct arena *words;   /* of one task */
    size_t place;          /* of the rank among those shown */
    int64_t rank;
    uint32_t slot;
    bool is_own;         /* the rank that the file is about */
    bool *has_sent;      /* by sender's place: activations, gradients */
    int64_t correlation; /* numbers the kernels */
    int64_t sequence;    /* numbers the collectives */
};

static struct chrome_thread
own_thread(const struct tracer *tracer, int tid)
{
    return (struct chrome_thread){tracer->rank, tid};
}

static const uint32_t *
lane_tasks(const struct tracer *tracer, enum step_lane lane, size_t *count)
{
    return trace_lane_tasks(tracer->step->trace,
                            tracer->slot * STEP_LANE_COUNT + (uint32_t)lane, count);
}

static void
put_thread(struct tracer *tracer, struct chrome_thread thread, const char *name)
{
    chrome_put_name(tracer->events, thread, "thread_name", name);
    chrome_put_order(tracer->events, thread, "thread_sort_index", thread.tid);
}

static void
put_names(struct tracer *tracer)
{
    struct chrome_thread process = own_thread(tracer, 0);
    chrome_put_name(tracer->events, process, "process_name",
                    shown_ranks_name(tracer->step, tracer->rank, tracer->scratch));
    chrome_put_order(tracer->events, process, "process_sort_index", (int64_t)tracer->place);
    for (int lane = 0; lane < STEP_LANE_COUNT; lane++) {
        size_t count = 0;
        lane_tasks(tracer, (enum step_lane)lane, &count);
        if (count > 0)
            put_thread(tracer, own_thread(tracer, thread_of((enum step_lane)lane)),
                       step_lane_name((enum step_lane)lane));
    }
}

static void
put_profiler_step(struct tracer *tracer)
{
    chrome_begin_slice(tracer->events,
                       &(struct chrome_slice){.thread = own_thread(tracer, THREAD_HOST),
                                              .end_ps = tracer->step->step_ps,
                                              .name = "ProfilerStep#1",
                                              .category = "user_annotation"});
    json_write_integer_at(tracer->writer, "External id", 0);
    chrome_end_event(tracer->events);
}

static void
write_cost_arguments(struct tracer *tracer, const struct step_item *item,
                     const struct step_work *work)
{
    struct json_writer *writer = tracer->writer;
    if (work->collective) {
        const struct chrome_collective of = {tracer->step, tracer->rank, item,
                                             work->collective};
        chrome_collective_write(&of, writer, tracer->words);
        json_write_integer_at(writer, "Seq", tracer->sequence++);
        json_write_string_at(writer, "algorithm", work->collective_cost->algorithm);
        json_write_string_at(writer, "bound", work->collective_cost->bound);
    }
    if (work->kernel_cost) {
        json_write_real_at(writer, "flop", work->kernel_cost->flop);
        json_write_real_at(writer, "bytes", work->kernel_cost->hbm_bytes);
        json_write_string_at(writer, "bound", kernel_bound_name(work->kernel_cost->bound));
    }
    json_write_real_at(writer, "alone_s", work->delay_s + work->work_s);
    json_write_real_at(writer, "relative_sigma", work->relative_sigma);
}

/* RCCL's kernel for every collective has one name; which it was stands in the arguments. Other
 * ranks' go by what they are for. */
static const char *
slice_name(const struct tracer *tracer, const struct step_work *work)
{
    return work->collective && tracer->is_own
               ? "ncclDevKernel_Generic_4(ncclDevKernelArgsStorage<4096ul>)"
               : work->name;
}

static const char *
slice_category(const struct tracer *tracer, const struct step_item *item)
{
    return tracer->is_own && item->lane != LANE_HOST ? "kernel" : "user_annotation";
}

static void
write_arguments(struct tracer *tracer, const struct step_item *item,
                const struct step_work *work)
{
    struct json_writer *writer = tracer->writer;
    if (tracer->is_own) {
        json_write_integer_at(writer, "External id", ++tracer->correlation);
        if (item->lane != LANE_HOST) {
            json_write_integer_at(writer, "device", 0);
            json_write_integer_at(writer, "stream", thread_of(item->lane));
            json_write_integer_at(writer, "correlation", tracer->correlation);
            write_cost_arguments(tracer, item, work);
        }
    }
    json_write_string_at(writer, "phase", step_phase_name(item->phase));
    if (!work->collective) /* of a collective only what is exposed counts for its class */
        json_write_string_at(writer, "class", step_class_key(work->spent_on));
    else if (tracer->is_own)
        json_write_string_at(writer, "for", work->name);
    if (item->layer >= 0)
        json_write_integer_at(writer, "layer", item->layer);
    if (item->microbatch >= 0)
        json_write_integer_at(writer, "microbatch", item->microbatch);
}

/* Where a rank stands among those shown; their count when it is not shown. */
static size_t
find_shown(const struct tracer *tracer, int64_t rank)
{
    size_t place = 0;
    while (place < tracer->shown->count && tracer->shown->ranks[place] != rank)
        place++;
    return place;
}

/* One number for what a task brings one rank shown. */
static int64_t
message_id(const struct tracer *tracer, uint32_t task)
{
    return (int64_t)task * (int64_t)tracer->shown->count + (int64_t)tracer->place + 1;
}

/* A transfer is a task of its receiver: the sender's side of it is a slice of the same length. */
static void
put_sent(struct tracer *tracer, const struct step_item *item,
         const struct chrome_slice *received, uint32_t task)
{
    size_t sender =
        find_shown(tracer, chrome_collective_sender(tracer->step, tracer->rank, item));
    bool is_gradient = item->lane == LANE_BACKWARD_IN;
    if (sender == tracer->shown->count || !chrome_slice_takes_arrows(received))
        return;
    struct chrome_slice sent = *received;
    sent.thread.pid = tracer->shown->ranks[sender];
    sent.thread.tid = THREAD_SENT + 2 * (int)tracer->place + is_gradient;
    sent.name = is_gradient ? "send_gradients" : "send_activations";
    sent.category = "user_annotation";
    if (!tracer->has_sent[2 * sender + is_gradient])
        put_thread(tracer, sent.thread,
                   arena_format(tracer->words, "%s to rank %lld",
                                is_gradient ? "gradients" : "activations",
                                (long long)tracer->rank));
    tracer->has_sent[2 * sender + is_gradient] = true;
    chrome_begin_slice(tracer->events, &sent);
    chrome_end_event(tracer->events);
    chrome_put_arrow_start(tracer->events, &sent, message_id(tracer, task));
    chrome_put_arrow_end(tracer->events, received, message_id(tracer, task));
}

/* Of an exchange that each rank has with the next of its group: to that one, and from the one
 * before. The number of a message is that of its receiver. */
static void
put_exchange(struct tracer *tracer, const struct step_item *item,
             const struct chrome_slice *slice, uint32_t task)
{
    struct rank_group group =
        placement_group(&tracer->step->lowered.program->placement, item->peers, tracer->rank);
    int64_t count = rank_group_count(&group), own = 0;
    while (rank_group_at(&group, own) != tracer->rank)
        own++;
    size_t next = find_shown(tracer, rank_group_at(&group, (own + 1) % count));
    size_t before = find_shown(tracer, rank_group_at(&group, (own + count - 1) % count));
    int64_t id = message_id(tracer, task);
    if (!chrome_slice_takes_arrows(slice))
        return;
    if (next < tracer->shown->count)
        chrome_put_arrow_start(tracer->events, slice,
                               id + (int64_t)next - (int64_t)tracer->place);
    if (before < tracer->shown->count)
        chrome_put_arrow_end(tracer->events, slice, id);
}

static void
put_task(struct tracer *tracer, uint32_t task)
{
    const struct step_item *item = step_item_of(tracer->step, task);
    const struct step_work *work = step_work_of(tracer->step, task);
    const struct trace_entry *entry = &tracer->step->trace->entries[task];
    const struct chrome_slice slice = {
        .thread = own_thread(tracer, thread_of(item->lane)),
        .start_ps = entry->start_ps,
        .end_ps = entry->end_ps,
        .name = slice_name(tracer, work),
        .category = slice_category(tracer, item),
    };
    if (entry->start_ps == entry->end_ps)
        return;
    arena_clear(tracer->words);
    chrome_begin_slice(tracer->events, &slice);
    write_arguments(tracer, item, work);
    chrome_end_event(tracer->events);
    if (item->from_stage != STEP_NONE)
        put_sent(tracer, item, &slice, task);
    else if (item->is_joint && work->collective &&
             work->collective->kind == COLLECTIVE_SEND_RECV)
        put_exchange(tracer, item, &slice, task);
}

/* What each moment counts for in the breakdown, to the picosecond. */
static void
put_account(struct tracer *tracer)
{
    size_t count = 0;
    struct chrome_slice slice = {.thread = own_thread(tracer, THREAD_ACCOUNT),
                                 .category = "user_annotation"};
    const struct step_stretch *list =
        step_account_list(tracer->step, tracer->slot, tracer->scratch, &count);
    put_thread(tracer, slice.thread, "account");
    for (size_t i = 0; i < count; i++) {
        slice.name = step_class_key(list[i].spent_on);
        slice.start_ps = list[i].start_ps;
        slice.end_ps = list[i].end_ps;
        chrome_begin_slice(tracer->events, &slice);
        json_write_integer_at(tracer->writer, "duration_ps", slice.end_ps - slice.start_ps);
        chrome_end_event(tracer->events);
    }
}

/* As counters: what stays in memory through the step, and activations as they come and go. */
static void
put_memory(struct tracer *tracer)
{
    struct json_writer *writer = tracer->writer;
    struct step_memory memory = step_memory(tracer->step, tracer->slot, tracer->scratch);
    double others = memory.kept_bytes - memory.memory.weights - memory.memory.gradients -
                    memory.memory.optimizer;
    for (size_t i = 0; i < memory.count; i++) {
        chrome_begin_counter(tracer->events, own_thread(tracer, 0), "HBM",
                             memory.moments[i].at_ps);
        json_write_real_at(writer, "weights", memory.memory.weights);
        json_write_real_at(writer, "gradients", memory.memory.gradients);
        json_write_real_at(writer, "optimizer", memory.memory.optimizer);
        json_write_real_at(writer, "activations", memory.moments[i].activations_bytes);
        json_write_real_at(writer, "others", others);
        chrome_end_event(tracer->events);
    }
}

static void
write_header(const struct step *step, int64_t rank, struct json_writer *writer)
{
    const struct cluster *cluster = step->run->inputs.cluster;
    json_write_integer_at(writer, "schemaVersion", 1);
    json_write_key(writer, "deviceProperties");
    json_write_begin_array(writer);
    json_write_begin_object(writer);
    json_write_integer_at(writer, "id", 0);
    json_write_string_at(writer, "name", cluster->device->description);
    json_write_bool_at(writer, "predicted", true);
    json_write_end_object(writer);
    json_write_end_array(writer);
    json_write_key(writer, "distributedInfo");
    json_write_begin_object(writer);
    json_write_string_at(writer, "backend", "nccl");
    json_write_integer_at(writer, "rank", rank);
    json_write_integer_at(writer, "world_size", cluster_gpus(cluster));
    json_write_end_object(writer);
    json_write_string_at(writer, "displayTimeUnit", "ms");
    json_write_integer_at(writer, "baseTimeNanoseconds", 0);
    json_write_string_at(writer, "traceName", step->run->name);
    json_write_key(writer, "simulator");
    json_write_begin_object(writer);
    json_write_string_at(writer, "name", "stepcast");
    json_write_string_at(writer, "version", STEPCAST_VERSION);
    json_write_end_object(writer);
}

static void
put_rank(struct tracer *tracer, size_t place)
{
    tracer->place = place;
    tracer->rank = tracer->shown->ranks[place];
    tracer->slot = lowered_slot(&tracer->step->lowered, tracer->rank);
    tracer->is_own = place == tracer->shown->own;
    memset(tracer->has_sent, 0, 2 * tracer->shown->count * sizeof *tracer->has_sent);
    put_names(tracer);
    if (tracer->is_own)
        put_profiler_step(tracer);
    put_account(tracer);
    put_memory(tracer);
    for (int lane = 0; lane < STEP_LANE_COUNT; lane++) {
        size_t count = 0;
        const uint32_t *tasks = lane_tasks(tracer, (enum step_lane)lane, &count);
        for (size_t i = 0; i < count; i++)
            put_task(tracer, tasks[i]);
    }
}

void
chrome_trace_write(const struct step *step, const struct shown_ranks *shown,
                   const struct trace_sink *sink, struct arena *arena)
{
    struct chrome_events *events = chrome_events_new(sink, arena);
    struct tracer tracer = {
        .step = step, .shown = shown, .events = events, .writer = chrome_events_writer(events)};
    tracer.has_sent = arena_alloc(arena, 2 * shown->count, sizeof *tracer.has_sent);
    tracer.words = arena_new_beside(arena);
    write_header(step, shown->ranks[shown->own], tracer.writer);
    chrome_events_begin(events);
    for (size_t i = 0; i < shown->count; i++) {
        tracer.scratch = arena_new_beside(arena);
        put_rank(&tracer, i);
        arena_free(tracer.scratch);
    }
    arena_free(tracer.words);
    chrome_events_end(events);
}
