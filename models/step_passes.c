/* Passes found by what the items of a rank belong to; memory as the sum of ramps over passes. */
#include "models/step_passes.h"

#include <math.h>
#include <stdlib.h>

int64_t
step_slot_stage(const struct step *step, uint32_t slot)
{
    uint32_t rank = task_graph_lane(step->lowered.graph, slot * STEP_LANE_COUNT).group;
    return program_kind(step->lowered.program, rank)->stage;
}

static void
stretch_pass(struct step_pass *pass, const struct trace_entry *entry)
{
    if (entry->start_ps < pass->start_ps)
        pass->start_ps = entry->start_ps;
    if (entry->end_ps > pass->end_ps)
        pass->end_ps = entry->end_ps;
}

static void
find_ends(const struct step *step, uint32_t slot, struct step_pass *passes)
{
    static const enum step_lane lanes[] = {LANE_COMPUTE, LANE_TENSOR, LANE_EXPERT,
                                           LANE_CONTEXT};
    for (size_t i = 0; i < sizeof lanes / sizeof *lanes; i++) {
        size_t count = 0;
        const uint32_t *tasks =
            trace_lane_tasks(step->trace, slot * STEP_LANE_COUNT + (uint32_t)lanes[i], &count);
        for (size_t j = 0; j < count; j++) {
            int32_t pass = step_item_of(step, tasks[j])->pass;
            if (pass != STEP_NONE)
                stretch_pass(&passes[pass], &step->trace->entries[tasks[j]]);
        }
    }
}

const struct step_pass *
step_passes(const struct step *step, uint32_t slot, struct arena *arena, size_t *count)
{
    const struct step_inputs *inputs = &step->run->inputs;
    struct schedule_shape shape = schedule_shape(inputs->workload.plan, inputs->cluster);
    struct schedule schedule = schedule_of(&shape, step_slot_stage(step, slot), arena);
    *count = (size_t)schedule.count;
    struct step_pass *passes = arena_alloc(arena, *count, sizeof *passes);
    for (size_t i = 0; i < *count; i++)
        passes[i] = (struct step_pass){schedule.steps[i], INT64_MAX, 0};
    find_ends(step, slot, passes);
    return passes;
}

/* How much more from a moment on, and how much faster it grows from there. */
struct change {
    int64_t at_ps;
    double more_bytes;
    double bytes_per_ps;
};

static int
compare_changes(const void *a, const void *b)
{
    const struct change *one = a, *two = b;
    return (one->at_ps > two->at_ps) - (one->at_ps < two->at_ps);
}

/* A ramp over a pass, as its two ends. */
static void
add_ramp(struct change *changes, const struct step_pass *pass, double bytes)
{
    double rate = bytes / (double)(pass->end_ps - pass->start_ps);
    changes[0] = (struct change){pass->start_ps, 0, rate};
    changes[1] = (struct change){pass->end_ps, 0, -rate};
}

/* Of all passes, two changes each. */
static struct change *
list_changes(const struct step *step, uint32_t slot, double repeated_bytes, struct arena *arena,
             size_t *count)
{
    const struct step_inputs *inputs = &step->run->inputs;
    int64_t chunks = schedule_shape(inputs->workload.plan, inputs->cluster).chunks;
    double *saved = arena_alloc(arena, (size_t)chunks, sizeof *saved);
    for (int64_t chunk = 0; chunk < chunks; chunk++)
        saved[chunk] = memory_saved_of(inputs, step_slot_stage(step, slot), chunk, arena).sum;
    const struct step_pass *passes = step_passes(step, slot, arena, count);
    struct change *changes = arena_alloc(arena, 2 * *count, sizeof *changes);
    for (size_t i = 0; i < *count; i++) {
        enum pass_kind kind = passes[i].step.pass;
        bool frees = kind == PASS_BACKWARD || kind == PASS_WEIGHT_GRADIENT;
        double bytes = saved[passes[i].step.chunk];
        if (passes[i].start_ps < passes[i].end_ps && (kind == PASS_FORWARD || frees))
            add_ramp(&changes[2 * i], &passes[i], frees ? -bytes : bytes);
        if (kind != PASS_FORWARD && passes[i].start_ps < passes[i].end_ps) {
            changes[2 * i].at_ps = passes[i].start_ps;
            changes[2 * i].more_bytes = repeated_bytes;
            changes[2 * i + 1].at_ps = passes[i].end_ps;
            changes[2 * i + 1].more_bytes = -repeated_bytes;
        }
    }
    *count *= 2;
    if (*count > 0)
        qsort(changes, *count, sizeof *changes, compare_changes);
    return changes;
}

static double
largest_of(const struct memory_course *course)
{
    double largest = 0;
    for (int64_t i = 0; i < course->count; i++)
        largest = fmax(largest, course->moments[i].activations);
    return largest;
}

struct step_memory
step_memory(const struct step *step, uint32_t slot, struct arena *arena)
{
    const struct step_inputs *inputs = &step->run->inputs;
    int64_t stage = step_slot_stage(step, slot);
    struct memory_course course = memory_course(inputs, stage, arena);
    struct step_memory out = {.memory = memory_of_stages(inputs, arena)[stage]};
    out.kept_bytes = out.memory.peak - out.memory.activations;
    size_t count = 0;
    const struct change *changes =
        list_changes(step, slot, out.memory.activations - largest_of(&course), arena, &count);
    struct step_memory_moment *moments = arena_alloc(arena, 2 * count + 2, sizeof *moments);
    double now_bytes = 0, bytes_per_ps = 0;
    int64_t now_ps = 0;
    out.count = 1; /* nothing at the beginning */
    for (size_t i = 0; i < count; i++) {
        now_bytes += bytes_per_ps * (double)(changes[i].at_ps - now_ps);
        now_ps = changes[i].at_ps;
        moments[out.count++] = (struct step_memory_moment){now_ps, fmax(0, now_bytes)};
        now_bytes += changes[i].more_bytes;
        bytes_per_ps += changes[i].bytes_per_ps;
        moments[out.count++] = (struct step_memory_moment){now_ps, fmax(0, now_bytes)};
    }
    moments[out.count++] = (struct step_memory_moment){step->step_ps, 0};
    moments[out.count - 1].activations_bytes = moments[out.count - 2].activations_bytes;
    out.moments = moments;
    return out;
}
