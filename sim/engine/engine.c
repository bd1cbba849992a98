/* The engine: an agenda of drains that begin and tasks that end, settled instant by instant.
 *
 *      waiting ──▶ delay ──▶ drain ──▶ ended            without work: one event, the end
 *        │                     ▲                        without delay: one event, the end
 *        └─────────────────────┘                        both, and a resource: two events
 *
 * What runs is known by the first lane of its task, which it holds for itself; the task is the
 * one at the head of that lane. A drain is put on the agenda at its top rate at once; only when
 * an instant is over are those groups of drains whose resources are short given other rates,
 * and only a drain whose rate changes is looked at: its remaining work was true when its rate
 * last changed and is brought up to date then. */
#include "sim/engine/engine.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "sim/base/units.h"
#include "sim/engine/contention.h"
#include "sim/engine/event_queue.h"

static const double S_PER_PS = 1e-12;

/* What a lane's task does: the number of its drain, or one of these. */
static const uint32_t PHASE_PLAIN = UINT32_MAX;     /* ends by itself: holds no resource */
static const uint32_t PHASE_DELAY = UINT32_MAX - 1; /* will drain */

struct drain {
    double remaining; /* work at updated_ps */
    double rate_per_s;
    int64_t updated_ps;
    uint32_t lane;
};

struct engine {
    const struct task_graph *graph;
    const struct task *tasks; /* the graph's */
    const struct task_demand *demands;
    struct event_queue *queue;
    struct contention *contention;
    struct task_lists lane_tasks;
    struct task_lists followers;
    uint32_t *heads;      /* by lane: index into lane_tasks.items of its first task not ended */
    uint32_t *waiting;    /* by task: lane predecessors and dependencies that have not ended */
    uint32_t *phases;     /* by lane */
    struct drain *drains; /* by contention's numbers */
    size_t drain_capacity;
    struct arena *arena;
    struct trace_entry *entries;
    struct trace *trace;
    int64_t now_ps;
    bool has_holds; /* some tasks hold up what begins behind them */
};

static const uint32_t *
lanes_of(const struct engine *engine, uint32_t index, size_t *count)
{
    const struct task *task = &engine->tasks[index];
    if (task->lane & TASK_IS_JOINT) {
        return task_graph_task_lanes(engine->graph, index, count);
    }
    *count = 1;
    return &task->lane;
}

/* By task: the tasks before it on its lanes and its dependencies. */
static uint32_t *
count_waiting(const struct engine *engine, struct arena *arena)
{
    const struct task_lists *followers = &engine->followers, *lanes = &engine->lane_tasks;
    size_t task_count = task_graph_task_count(engine->graph);
    uint32_t *waiting = arena_alloc(arena, task_count, sizeof *waiting);
    for (uint32_t i = 0; i < followers->begins[task_count]; i++) {
        waiting[followers->items[i]]++;
    }
    for (size_t lane = 0; lane < task_graph_lane_count(engine->graph); lane++) {
        for (uint32_t i = lanes->begins[lane] + 1; i < lanes->begins[lane + 1]; i++) {
            waiting[lanes->items[i]]++;
        }
    }
    return waiting;
}

static struct trace *
trace_new(const struct task_graph *graph, struct task_lists lane_tasks,
          const struct trace_entry *entries, struct arena *arena)
{
    struct trace *trace = arena_alloc(arena, 1, sizeof *trace);
    trace->graph = graph;
    trace->entries = entries;
    trace->count = task_graph_task_count(graph);
    trace->lane_tasks = lane_tasks;
    return trace;
}

static struct engine *
engine_new(const struct task_graph *graph, struct arena *arena)
{
    struct engine *engine = arena_alloc(arena, 1, sizeof *engine);
    size_t lane_count = task_graph_lane_count(graph);
    engine->graph = graph;
    engine->tasks = task_graph_tasks(graph);
    engine->demands = task_graph_demands(graph);
    engine->has_holds = task_graph_has_holds(graph);
    engine->queue = event_queue_new(arena, lane_count);
    engine->contention = contention_new(graph, arena);
    engine->lane_tasks = task_graph_lane_tasks(graph, arena);
    engine->followers = task_graph_followers(graph, arena);
    engine->heads = arena_alloc(arena, lane_count, sizeof *engine->heads);
    memcpy(engine->heads, engine->lane_tasks.begins, lane_count * sizeof *engine->heads);
    engine->waiting = count_waiting(engine, arena);
    engine->phases = arena_alloc(arena, lane_count, sizeof *engine->phases);
    engine->arena = arena;
    size_t task_count = task_graph_task_count(graph);
    engine->entries = arena_alloc(arena, task_count, sizeof *engine->entries);
    for (size_t i = 0; i < task_count; i++) {
        engine->entries[i].released_by = TASK_NONE;
    }
    engine->trace = trace_new(graph, engine->lane_tasks, engine->entries, arena);
    return engine;
}

static int64_t
drain_ps(double work, double rate_per_s)
{
    double ps = work / rate_per_s * UNITS_PS_PER_S;
    assert(ps < (double)(INT64_MAX / 2) && "the clock's range is 106 days");
    return units_whole_ps(ps);
}

static void
begin_drain(struct engine *engine, uint32_t lane, const struct task *task)
{
    const struct task_demand *demand = &engine->demands[task->demand];
    uint32_t drain = contention_join(engine->contention, demand, task->resource_base);
    engine->drains = arena_grow(engine->arena, engine->drains, drain, &engine->drain_capacity,
                                sizeof *engine->drains);
    engine->drains[drain] = (struct drain){
        .remaining = task->work,
        .rate_per_s = demand->top_rate_per_s,
        .updated_ps = engine->now_ps,
        .lane = lane,
    };
    engine->phases[lane] = drain;
    event_queue_set(engine->queue, lane,
                    engine->now_ps + drain_ps(task->work, demand->top_rate_per_s));
}

static void
begin_plain(struct engine *engine, uint32_t lane, const struct task *task, int64_t delay_ps)
{
    int64_t end_ps = engine->now_ps + delay_ps;
    if (task->demand != TASK_NONE) {
        const struct task_demand *demand = &engine->demands[task->demand];
        end_ps += drain_ps(task->work, demand->top_rate_per_s);
    }
    engine->phases[lane] = PHASE_PLAIN;
    event_queue_set(engine->queue, lane, end_ps);
}

static bool
takes_resources(const struct engine *engine, const struct task *task)
{
    return task->demand != TASK_NONE && task->work > 0 &&
           engine->demands[task->demand].usage_count > 0;
}

/* The task before this one on its first lane, if that is what ended now; else what
 * release_task found. */
static int32_t
released_by(const struct engine *engine, uint32_t first_lane, const struct trace_entry *entry)
{
    uint32_t head = engine->heads[first_lane];
    if (head == engine->lane_tasks.begins[first_lane]) {
        return entry->released_by;
    }
    uint32_t previous = engine->lane_tasks.items[head - 1];
    bool ended_now = engine->entries[previous].end_ps == engine->now_ps;
    return ended_now ? (int32_t)previous : entry->released_by;
}

/* Asks for the memory of the task after the one that starts on a lane: a thousand lanes make a
 * thousand events until then, and reading it only then costs half of the run's time. */
static void
prefetch_next(const struct engine *engine, uint32_t lane)
{
    uint32_t next = engine->heads[lane] + 1;
    if (next < engine->lane_tasks.begins[lane + 1]) {
        uint32_t index = engine->lane_tasks.items[next];
        __builtin_prefetch(&engine->entries[index]);
        __builtin_prefetch(&engine->waiting[index]);
        __builtin_prefetch(&engine->followers.begins[index]);
        task_graph_prefetch(engine->graph, index);
    }
}

/* How long the tasks that run on the lanes before these hold up what begins on them. What waits for
 * nothing and has not ended runs, or begins in this instant. */
static int64_t
held_up_ps(const struct engine *engine, const uint32_t *lanes, size_t lane_count)
{
    int64_t held_ps = 0;
    for (size_t i = 0; i < lane_count; i++) {
        int32_t before = task_graph_lane(engine->graph, lanes[i]).behind;
        if (before == TASK_NONE ||
            engine->heads[before] == engine->lane_tasks.begins[before + 1]) {
            continue;
        }
        uint32_t running = engine->lane_tasks.items[engine->heads[before]];
        int32_t demand = engine->tasks[running].demand;
        if (engine->waiting[running] > 0 || demand == TASK_NONE) {
            continue;
        }
        int64_t hold_ps = task_graph_hold_ps(engine->graph, demand);
        held_ps = hold_ps > held_ps ? hold_ps : held_ps;
    }
    return held_ps;
}

static void
start_task(struct engine *engine, uint32_t index)
{
    size_t lane_count;
    const uint32_t *lanes = lanes_of(engine, index, &lane_count);
    uint32_t lane = lanes[0];
    const struct task *task = &engine->tasks[index];
    int64_t delay_ps =
        task->delay_ps + (engine->has_holds ? held_up_ps(engine, lanes, lane_count) : 0);
    struct trace_entry *entry = &engine->entries[index];
    entry->released_by = released_by(engine, lane, entry);
    entry->start_ps = engine->now_ps;
    prefetch_next(engine, lane);
    if (!takes_resources(engine, task)) {
        begin_plain(engine, lane, task, delay_ps);
    } else if (delay_ps == 0) {
        begin_drain(engine, lane, task);
    } else {
        engine->phases[lane] = PHASE_DELAY;
        event_queue_set(engine->queue, lane, engine->now_ps + delay_ps);
    }
}

/* One of the tasks that `index` waits for has ended. Of those that end last the one with the
 * lowest index is remembered. */
static void
release_task(struct engine *engine, uint32_t index, uint32_t ended)
{
    int32_t *by = &engine->entries[index].released_by;
    bool is_first_now = *by == TASK_NONE || engine->entries[*by].end_ps < engine->now_ps;
    if (is_first_now || (int32_t)ended < *by) {
        *by = (int32_t)ended;
    }
    if (--engine->waiting[index] == 0) {
        start_task(engine, index);
    }
}

/* Moves every lane before anyone is released: a task may start once it heads all its lanes. */
static void
end_task(struct engine *engine, uint32_t index)
{
    engine->entries[index].end_ps = engine->now_ps;
    size_t lane_count;
    const uint32_t *lanes = lanes_of(engine, index, &lane_count);
    for (size_t i = 0; i < lane_count; i++) {
        engine->heads[lanes[i]]++;
    }
    for (size_t i = 0; i < lane_count; i++) {
        uint32_t head = engine->heads[lanes[i]];
        if (head < engine->lane_tasks.begins[lanes[i] + 1]) {
            release_task(engine, engine->lane_tasks.items[head], index);
        }
    }
    const uint32_t *begins = engine->followers.begins;
    for (uint32_t i = begins[index]; i < begins[index + 1]; i++) {
        release_task(engine, engine->followers.items[i], index);
    }
}

static void
take_event(struct engine *engine, uint32_t lane)
{
    uint32_t index = engine->lane_tasks.items[engine->heads[lane]];
    engine->trace->event_count++;
    if (engine->phases[lane] == PHASE_DELAY) {
        begin_drain(engine, lane, &engine->tasks[index]);
        return;
    }
    if (engine->phases[lane] != PHASE_PLAIN) {
        contention_leave(engine->contention, engine->phases[lane]);
    }
    end_task(engine, index);
}

static void
change_rate(struct engine *engine, struct drain *drain, double rate_per_s)
{
    if (rate_per_s == drain->rate_per_s) {
        return;
    }
    double elapsed_s = (double)(engine->now_ps - drain->updated_ps) * S_PER_PS;
    drain->remaining = fmax(0, drain->remaining - drain->rate_per_s * elapsed_s);
    drain->rate_per_s = rate_per_s;
    drain->updated_ps = engine->now_ps;
    event_queue_set(engine->queue, drain->lane,
                    engine->now_ps + drain_ps(drain->remaining, rate_per_s));
}

static void
settle_instant(struct engine *engine)
{
    struct contention_group group;
    while (contention_settle(engine->contention, &group)) {
        engine->trace->solve_count++;
        for (size_t i = 0; i < group.count; i++) {
            change_rate(engine, &engine->drains[group.drains[i]], group.rates_per_s[i]);
        }
    }
}

/* The first tasks of lanes that wait for nothing; a joint one when its first lane comes. */
static void
start_first_tasks(struct engine *engine)
{
    for (uint32_t lane = 0; lane < task_graph_lane_count(engine->graph); lane++) {
        const uint32_t *begins = engine->lane_tasks.begins;
        if (begins[lane] == begins[lane + 1]) {
            continue;
        }
        uint32_t task = engine->lane_tasks.items[begins[lane]];
        size_t lane_count;
        bool is_its_first = lanes_of(engine, task, &lane_count)[0] == lane;
        if (is_its_first && engine->waiting[task] == 0) {
            start_task(engine, task);
        }
    }
}

struct trace *
engine_run(const struct task_graph *graph, struct arena *arena)
{
    struct engine *engine = engine_new(graph, arena);
    start_first_tasks(engine);
    for (;;) {
        if (event_queue_next_ps(engine->queue) > engine->now_ps) {
            settle_instant(engine);
        }
        struct event event;
        if (!event_queue_pop(engine->queue, &event)) {
            break;
        }
        engine->now_ps = event.at_ps;
        take_event(engine, event.item);
    }
    engine->trace->end_ps = engine->now_ps;
    return engine->trace;
}
