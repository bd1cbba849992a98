/* One rank after the other, lane by lane: readers sort by time themselves. */
#include "sim/cli/perfetto_trace.h"

#include "models/step_account.h"
#include "models/step_passes.h"
#include "sim/base/units.h"
#include "sim/cli/perfetto_network.h"

/* Tracks of a rank, counted from the rank's own uuid. */
enum {
    TRACK_RANK,
    TRACK_ACCOUNT,
    TRACK_LANE,
    TRACK_MEMORY = TRACK_LANE + STEP_LANE_COUNT,
    TRACKS_OF_RANK
};
/* What a rank sends to others has tracks of its own: by receiver, stage and direction. */
static const uint64_t SENT_UUID = (uint64_t)1 << 40;
static const uint64_t NETWORK_UUID = (uint64_t)1 << 60;
/* Of more ranks each slice says only where it belongs, and accounts are of one rank. */
enum { RANKS_IN_DETAIL = 64 };
enum { AHEAD = 16 }; /* tasks, a prefetch */

struct writer {
    const struct step *step;
    struct perfetto_packets *packets;
    struct arena *scratch; /* of one rank */
    uint32_t slot;
    int64_t rank;
    bool is_detailed;
    bool *has_sent_track; /* from each stage, forward and backward */
    uint64_t *arrows;     /* as many as ranks may meet */
};

static uint64_t
track_uuid(uint32_t slot, int track)
{
    return 1 + (uint64_t)slot * TRACKS_OF_RANK + (uint64_t)track;
}

static int64_t
rank_of_lane(const struct writer *writer, uint32_t lane)
{
    return task_graph_lane(writer->step->lowered.graph, lane).group;
}

static const uint32_t *
lane_tasks(const struct writer *writer, enum step_lane lane, size_t *count)
{
    return trace_lane_tasks(writer->step->trace,
                            writer->slot * STEP_LANE_COUNT + (uint32_t)lane, count);
}

static void
put_child(const struct writer *writer, int track, enum perfetto_track_kind kind,
          const char *name)
{
    perfetto_put_track(writer->packets, &(struct perfetto_track){
                                            .uuid = track_uuid(writer->slot, track),
                                            .parent_uuid = track_uuid(writer->slot, TRACK_RANK),
                                            .kind = kind,
                                            .name = name,
                                            .place = track});
}

/* The group of a rank's tracks; of all ranks first, since they send to each other. */
static void
put_group(const struct writer *writer, uint32_t slot)
{
    const struct step *step = writer->step;
    int64_t gpus = step->run->inputs.cluster->gpus_per_node;
    int64_t rank = rank_of_lane(writer, slot * STEP_LANE_COUNT);
    const char *name =
        arena_format(writer->scratch, "rank %lld, stage %lld, node %lld, GPU %lld",
                     (long long)rank, (long long)step_slot_stage(step, slot),
                     (long long)(rank / gpus), (long long)(rank % gpus));
    perfetto_put_track(writer->packets,
                       &(struct perfetto_track){.uuid = track_uuid(slot, TRACK_RANK),
                                                .kind = PERFETTO_PROCESS,
                                                .name = name,
                                                .pid = (int32_t)rank + 1,
                                                .place = (int32_t)slot});
}

static void
put_tracks(const struct writer *writer)
{
    if (writer->is_detailed)
        put_child(writer, TRACK_ACCOUNT, PERFETTO_SLICES, "account");
    for (int lane = 0; lane < STEP_LANE_COUNT; lane++) {
        size_t count = 0;
        lane_tasks(writer, (enum step_lane)lane, &count);
        if (count > 0)
            put_child(writer, TRACK_LANE + lane, PERFETTO_SLICES,
                      step_lane_name((enum step_lane)lane));
    }
    put_child(writer, TRACK_MEMORY, PERFETTO_BYTES, "HBM");
}

static struct perfetto_note
whole_note(const char *name, int64_t value)
{
    return (struct perfetto_note){.name = name, .kind = PERFETTO_WHOLE, .whole = value};
}

static struct perfetto_note
real_note(const char *name, double value)
{
    return (struct perfetto_note){.name = name, .kind = PERFETTO_REAL, .real = value};
}

static struct perfetto_note
text_note(const char *name, const char *text)
{
    return (struct perfetto_note){.name = name, .kind = PERFETTO_TEXT, .text = text};
}

static size_t
note_cost(const struct step_work *work, struct perfetto_note *notes)
{
    size_t count = 0;
    notes[count++] = text_note("class", step_class_key(work->spent_on));
    notes[count++] = real_note("alone_s", work->delay_s + work->work_s);
    notes[count++] = real_note("relative_sigma", work->relative_sigma);
    if (work->kernel_cost) {
        notes[count++] = text_note("bound", kernel_bound_name(work->kernel_cost->bound));
        notes[count++] = real_note("flop", work->kernel_cost->flop);
        notes[count++] = real_note("hbm_bytes", work->kernel_cost->hbm_bytes);
    }
    if (work->collective) {
        notes[count++] = text_note("algorithm", work->collective_cost->algorithm);
        notes[count++] = text_note("bound", work->collective_cost->bound);
        notes[count++] = real_note("bytes", work->collective->bytes);
        notes[count++] = whole_note("ranks", work->collective->ranks);
    }
    return count;
}

/* Of a task that several ranks start together, the rank that came last: the one whose own task
 * released it. -1: none did, as behind another task of them all. */
static int64_t
last_to_come(const struct writer *writer, uint32_t task)
{
    const struct task_graph *graph = writer->step->lowered.graph;
    int32_t by = writer->step->trace->entries[task].released_by;
    size_t count = 0;
    const uint32_t *lanes =
        by == TASK_NONE ? NULL : task_graph_task_lanes(graph, (uint32_t)by, &count);
    if (count != 1)
        return -1;
    int64_t rank = rank_of_lane(writer, lanes[0]);
    lanes = task_graph_task_lanes(graph, task, &count);
    for (size_t i = 0; i < count; i++)
        if (rank_of_lane(writer, lanes[i]) == rank)
            return rank;
    return -1;
}

static uint64_t
arrow_id(uint32_t task, int64_t rank)
{
    return ((uint64_t)task + 1) << 32 | (uint64_t)(rank + 1);
}

/* From the last to come to each of the others. */
static struct perfetto_arrows
joint_arrows(const struct writer *writer, uint32_t task)
{
    size_t count = 0, used = 0;
    const uint32_t *lanes = task_graph_task_lanes(writer->step->lowered.graph, task, &count);
    int64_t last = count > 1 && count <= PERFETTO_ARROWS_MAX ? last_to_come(writer, task) : -1;
    if (last < 0)
        return (struct perfetto_arrows){0};
    if (last != writer->rank) {
        writer->arrows[0] = arrow_id(task, writer->rank);
        return (struct perfetto_arrows){.ends = writer->arrows, .end_count = 1};
    }
    for (size_t i = 0; i < count; i++)
        if (rank_of_lane(writer, lanes[i]) != last)
            writer->arrows[used++] = arrow_id(task, rank_of_lane(writer, lanes[i]));
    return (struct perfetto_arrows){.starts = writer->arrows, .start_count = used};
}

/* The sender's side of what this rank receives: a slice on a track of the sender's group. */
static struct perfetto_arrows
put_sent(struct writer *writer, const struct step_item *item,
         const struct perfetto_slice *received, uint32_t task)
{
    const struct program *program = writer->step->lowered.program;
    bool is_backward = item->lane == LANE_BACKWARD_IN;
    struct rank_place place = placement_at(&program->placement, writer->rank);
    place.pipeline = item->from_stage;
    uint32_t sender =
        lowered_slot(&writer->step->lowered, placement_rank(&program->placement, &place));
    uint64_t kind = (uint64_t)item->from_stage * 2 + is_backward;
    uint64_t uuid = SENT_UUID + ((uint64_t)writer->slot << 16 | kind);
    if (!writer->has_sent_track[kind])
        perfetto_put_track(writer->packets,
                           &(struct perfetto_track){
                               .uuid = uuid,
                               .parent_uuid = track_uuid(sender, TRACK_RANK),
                               .kind = PERFETTO_SLICES,
                               .name = arena_format(writer->scratch, "%s to rank %lld",
                                                    is_backward ? "gradients" : "activations",
                                                    (long long)writer->rank),
                               .place = TRACK_MEMORY});
    writer->has_sent_track[kind] = true;
    writer->arrows[0] = arrow_id(task, writer->rank);
    struct perfetto_slice sent = *received;
    sent.track = uuid;
    sent.name = is_backward ? "send_gradients" : "send_activations";
    sent.note_count = 0;
    sent.arrows = (struct perfetto_arrows){.starts = writer->arrows, .start_count = 1};
    perfetto_put_slice(writer->packets, &sent);
    return (struct perfetto_arrows){.ends = writer->arrows, .end_count = 1};
}

static void
put_task(struct writer *writer, uint32_t task)
{
    const struct trace_entry *entry = &writer->step->trace->entries[task];
    const struct step_item *item = step_item_of(writer->step, task);
    const struct step_work *work = step_work_of(writer->step, task);
    struct perfetto_note notes[PERFETTO_NOTES_MAX];
    struct perfetto_slice slice = {.track =
                                       track_uuid(writer->slot, TRACK_LANE + (int)item->lane),
                                   .start_ps = entry->start_ps,
                                   .end_ps = entry->end_ps,
                                   .name = work->name,
                                   .category = step_phase_name(item->phase),
                                   .notes = notes};
    if (entry->start_ps == entry->end_ps)
        return;
    if (writer->is_detailed && item->lane != LANE_HOST)
        slice.note_count = note_cost(work, notes);
    if (item->layer >= 0)
        notes[slice.note_count++] = whole_note("layer", item->layer);
    if (item->microbatch >= 0)
        notes[slice.note_count++] = whole_note("microbatch", item->microbatch + 1);
    slice.arrows = item->from_stage != STEP_NONE ? put_sent(writer, item, &slice, task)
                                                 : joint_arrows(writer, task);
    perfetto_put_slice(writer->packets, &slice);
}

static void
put_account(const struct writer *writer)
{
    size_t count = 0;
    const struct step_stretch *list =
        step_account_list(writer->step, writer->slot, writer->scratch, &count);
    for (size_t i = 0; i < count; i++) {
        struct perfetto_note duration =
            whole_note("duration_ps", list[i].end_ps - list[i].start_ps);
        perfetto_put_slice(
            writer->packets,
            &(struct perfetto_slice){.track = track_uuid(writer->slot, TRACK_ACCOUNT),
                                     .start_ps = list[i].start_ps,
                                     .end_ps = list[i].end_ps,
                                     .name = step_class_key(list[i].spent_on),
                                     .category = "account",
                                     .notes = &duration,
                                     .note_count = 1});
    }
}

static void
put_memory(const struct writer *writer)
{
    struct step_memory memory = step_memory(writer->step, writer->slot, writer->scratch);
    for (size_t i = 0; i < memory.count; i++)
        perfetto_put_counter(writer->packets, track_uuid(writer->slot, TRACK_MEMORY),
                             memory.moments[i].at_ps,
                             memory.kept_bytes + memory.moments[i].activations_bytes);
}

/* Of all ranks' tasks few are in a cache: waiting for memory took half of the time. */
static void
prefetch(const struct writer *writer, uint32_t task)
{
    __builtin_prefetch(&writer->step->trace->entries[task]);
    task_graph_prefetch(writer->step->lowered.graph, task);
}

static void
put_rank(struct writer *writer)
{
    int64_t stages = writer->step->lowered.program->placement.pipeline;
    writer->rank = rank_of_lane(writer, writer->slot * STEP_LANE_COUNT);
    writer->is_detailed = writer->step->lowered.simulated_ranks <= RANKS_IN_DETAIL ||
                          writer->rank == writer->step->lowered.representative;
    writer->has_sent_track =
        arena_alloc(writer->scratch, (size_t)stages * 2, sizeof *writer->has_sent_track);
    put_tracks(writer);
    if (writer->is_detailed)
        put_account(writer);
    for (int lane = 0; lane < STEP_LANE_COUNT; lane++) {
        size_t count = 0;
        const uint32_t *tasks = lane_tasks(writer, (enum step_lane)lane, &count);
        for (size_t i = 0; i < count; i++) {
            if (i + AHEAD < count)
                prefetch(writer, tasks[i + AHEAD]);
            put_task(writer, tasks[i]);
        }
    }
    put_memory(writer);
}

uint64_t
perfetto_trace_write(const struct step *step, const struct trace_sink *sink,
                     struct arena *arena)
{
    struct writer writer = {.step = step, .packets = perfetto_packets_new(sink, arena)};
    writer.arrows = arena_alloc(arena, PERFETTO_ARROWS_MAX, sizeof *writer.arrows);
    writer.scratch = arena_new_beside(arena);
    for (uint32_t slot = 0; slot < step->lowered.simulated_ranks; slot++)
        put_group(&writer, slot);
    arena_free(writer.scratch);
    for (uint32_t slot = 0; slot < step->lowered.simulated_ranks; slot++) {
        writer.slot = slot;
        writer.scratch = arena_new_beside(arena);
        put_rank(&writer);
        arena_free(writer.scratch);
    }
    perfetto_network_write(step, writer.packets, NETWORK_UUID, arena);
    return perfetto_packets_end(writer.packets);
}
