/* The engine: an agenda of drains that begin and tasks that end, settled instant by instant.
 *
 *      waiting ──▶ delay ──▶ drain ──▶ ended            without work: one event, the end
 *        │                     ▲                        without delay: one event, the end
 *        └─────────────────────┘                        both, and a resource: two events
 *
 * What runs is known by the first lane of its task, which it holds for itself: the agenda's items
 * are lanes. A task counts how many ends it still waits for, of the tasks before it on its lanes
 * and of its dependencies; an end is told to all that follow.
 *
 * A drain is put on the agenda at its top rate at once; only when an instant is over are those
 * groups of drains whose resources are short given other rates, and only a drain whose rate changes
 * is looked at: its remaining work was true when its rate last changed and is brought up to date
 * then.
 *
 * A chain, kernel after kernel of one lane with nothing beside them that ends sooner or shares
 * their resources, runs without agenda and groups: two thirds of the tasks of one rank's step. */
#include "sim/engine/engine.h"

#include <assert.h>
#include <string.h>

#include "sim/base/units.h"
#include "sim/engine/contention.h"
#include "sim/engine/event_queue.h"

static const double S_PER_PS = 1e-12;

/* What a lane's task does: the number of its drain, or one of these. */
static const uint32_t PHASE_PLAIN = UINT32_MAX;     /* ends by itself: holds no resource */
static const uint32_t PHASE_DELAY = UINT32_MAX - 1; /* will drain */

static const int64_t RUNNING = -1; /* in place of when it ended */
static const int64_t NEVER = -2;

/* What a lane runs, or ran last: 24 bytes, so that a thousand lanes stay in the first cache. */
struct lane_use {
    int64_t ended_ps; /* or RUNNING; NEVER while no task has begun */
    uint32_t task;
    uint32_t phase; /* where this is the first of the task's lanes */
    bool is_joint;  /* the task runs on other lanes too */
};

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
    struct task_followers followers;
    struct lane_use *lanes;
    struct drain *drains; /* by contention's numbers */
    size_t drain_capacity;
    struct arena *arena;
    /* Before a task starts: end_ps, when the last task that it waited for ended; released_by, the
     * first added of those that ended then. */
    struct trace_entry *entries;
    struct trace *trace;
    int64_t now_ps;
    uint32_t last_lane; /* that had an event */
    bool has_holds;     /* some tasks hold up what begins behind them */
};

/* Each with how many ends its task waits for; from the last on, since all that follow a task come
 * behind it. */
static struct trace_entry *
entries_new(const struct engine *engine, struct arena *arena)
{
    const struct task_followers *followers = &engine->followers;
    size_t task_count = task_graph_task_count(engine->graph);
    struct trace_entry *entries = arena_alloc_unset(arena, task_count, sizeof *entries);
    for (size_t i = task_count; i-- > 0;) {
        const struct follower_head *head = &followers->heads[i];
        entries[i] = (struct trace_entry){0, NEVER, TASK_NONE, 0};
        if (head->first != TASK_NONE)
            entries[head->first].waits++;
        for (uint32_t other = head[0].others; other < head[1].others; other++)
            entries[followers->others[other]].waits++;
    }
    return entries;
}

static struct lane_use *
lanes_new(const struct task_graph *graph, struct arena *arena)
{
    size_t lane_count = task_graph_lane_count(graph);
    struct lane_use *lanes = arena_alloc(arena, lane_count, sizeof *lanes);
    for (size_t i = 0; i < lane_count; i++)
        lanes[i].ended_ps = NEVER;
    return lanes;
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
    engine->graph = graph;
    engine->tasks = task_graph_tasks(graph);
    engine->demands = task_graph_demands(graph);
    engine->has_holds = task_graph_has_holds(graph);
    engine->queue = event_queue_new(arena, task_graph_lane_count(graph));
    engine->contention = contention_new(graph, arena);
    struct task_order order = task_graph_order(graph, arena);
    engine->lane_tasks = order.lane_tasks;
    engine->followers = order.followers;
    engine->lanes = lanes_new(graph, arena);
    engine->entries = entries_new(engine, arena);
    engine->arena = arena;
    engine->trace = trace_new(graph, engine->lane_tasks, engine->entries, arena);
    return engine;
}

static const uint32_t *
lanes_of(const struct engine *engine, uint32_t index, size_t *count)
{
    const struct task *task = &engine->tasks[index];
    if (task->lane & TASK_IS_JOINT)
        return task_graph_task_lanes(engine->graph, index, count);
    *count = 1;
    return &task->lane;
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
    engine->lanes[lane].phase = drain;
    event_queue_set(engine->queue, lane,
                    engine->now_ps + drain_ps(task->work, demand->top_rate_per_s));
}

/* Its end is known from the beginning. */
static void
begin_plain(struct engine *engine, uint32_t lane, const struct task *task, int64_t delay_ps)
{
    int64_t end_ps = engine->now_ps + delay_ps;
    if (task->demand != TASK_NONE) {
        const struct task_demand *demand = &engine->demands[task->demand];
        end_ps += drain_ps(task->work, demand->top_rate_per_s);
    }
    engine->lanes[lane].phase = PHASE_PLAIN;
    engine->entries[engine->lanes[lane].task].end_ps = end_ps;
    event_queue_set(engine->queue, lane, end_ps);
}

static bool
takes_resources(const struct engine *engine, const struct task *task)
{
    return task->demand != TASK_NONE && task->work > 0 &&
           engine->demands[task->demand].usage_count > 0;
}

/* How long the tasks that run on the lanes before these hold up what begins on them. */
static int64_t
held_up_ps(const struct engine *engine, const uint32_t *lanes, size_t lane_count)
{
    int64_t held_ps = 0;
    for (size_t i = 0; i < lane_count; i++) {
        int32_t before = task_graph_lane(engine->graph, lanes[i]).behind;
        if (before == TASK_NONE || engine->lanes[before].ended_ps != RUNNING)
            continue;
        int32_t demand = engine->tasks[engine->lanes[before].task].demand;
        if (demand == TASK_NONE)
            continue;
        int64_t hold_ps = task_graph_hold_ps(engine->graph, demand);
        held_ps = hold_ps > held_ps ? hold_ps : held_ps;
    }
    return held_ps;
}

static void
occupy_lanes(struct engine *engine, uint32_t index)
{
    size_t lane_count;
    const uint32_t *lanes = lanes_of(engine, index, &lane_count);
    for (size_t i = 0; i < lane_count; i++) {
        struct lane_use *lane = &engine->lanes[lanes[i]];
        lane->ended_ps = RUNNING;
        lane->task = index;
        lane->is_joint = lane_count > 1;
    }
}

static void
free_lanes(struct engine *engine, uint32_t index)
{
    size_t lane_count;
    const uint32_t *lanes = lanes_of(engine, index, &lane_count);
    for (size_t i = 0; i < lane_count; i++)
        engine->lanes[lanes[i]].ended_ps = engine->now_ps;
}

/* Asks for the memory of what follows a task, mostly the next on its lane, as the task starts: a
 * thousand lanes make a thousand events until it ends, and reading it only then costs half of the
 * run's time. Inline, since gcc drops calls of a function that does nothing else. */
__attribute__((always_inline)) static inline void
prefetch_follower(const struct engine *engine, uint32_t index)
{
    int32_t next = engine->followers.heads[index].first;
    if (next != TASK_NONE) {
        __builtin_prefetch(&engine->tasks[next]);
        __builtin_prefetch(&engine->entries[next]);
        __builtin_prefetch(&engine->followers.heads[next]);
    }
}

static void
begin_task(struct engine *engine, uint32_t lane, const struct task *task, int64_t delay_ps)
{
    if (!takes_resources(engine, task)) {
        begin_plain(engine, lane, task, delay_ps);
    } else if (delay_ps == 0) {
        begin_drain(engine, lane, task);
    } else {
        engine->lanes[lane].phase = PHASE_DELAY;
        event_queue_set(engine->queue, lane, engine->now_ps + delay_ps);
    }
}

/* Released by the task before it on its first lane, if that ended now; else by what release_task
 * found. */
static void
start_task(struct engine *engine, uint32_t index)
{
    size_t lane_count;
    const uint32_t *lanes = lanes_of(engine, index, &lane_count);
    const struct lane_use *lane = &engine->lanes[lanes[0]];
    const struct task *task = &engine->tasks[index];
    struct trace_entry *entry = &engine->entries[index];
    entry->start_ps = engine->now_ps;
    if (lane->ended_ps == engine->now_ps)
        entry->released_by = (int32_t)lane->task;
    occupy_lanes(engine, index);
    int64_t held_ps = engine->has_holds ? held_up_ps(engine, lanes, lane_count) : 0;
    begin_task(engine, lanes[0], task, task->delay_ps + held_ps);
    prefetch_follower(engine, index);
}

/* One of the tasks that `index` waits for has ended. Of those that end last the one with the
 * lowest index is remembered. */
static void
release_task(struct engine *engine, uint32_t index, uint32_t ended)
{
    struct trace_entry *entry = &engine->entries[index];
    if (entry->end_ps < engine->now_ps || (int32_t)ended < entry->released_by) {
        entry->end_ps = engine->now_ps;
        entry->released_by = (int32_t)ended;
    }
    if (--entry->waits == 0)
        start_task(engine, index);
}

static void
end_task(struct engine *engine, struct lane_use *first_lane)
{
    uint32_t index = first_lane->task;
    first_lane->ended_ps = engine->now_ps;
    if (first_lane->is_joint)
        free_lanes(engine, index);
    const struct follower_head *head = &engine->followers.heads[index];
    if (head->first != TASK_NONE)
        release_task(engine, (uint32_t)head->first, index);
    for (uint32_t i = head[0].others; i < head[1].others; i++)
        release_task(engine, engine->followers.others[i], index);
}

/* What comes behind a lane's task, if it is all that waited for it, waits for nothing else, and
 * drains at once; or TASK_NONE. */
static int32_t
next_of_chain(const struct engine *engine, uint32_t index, uint32_t lane)
{
    const struct follower_head *head = &engine->followers.heads[index];
    int32_t next = head->first;
    if (next == TASK_NONE || head[0].others != head[1].others)
        return TASK_NONE;
    const struct task *task = &engine->tasks[next];
    bool is_next = task->lane == lane && engine->entries[next].waits == 1;
    return is_next && task->delay_ps == 0 && takes_resources(engine, task) ? next : TASK_NONE;
}

/* Whether nobody else is due before the lane's drain ends: others are not before *others_ps. Where
 * many lanes run beside each other it is in vain to look: only behind an event of its own. */
static bool
ends_first(const struct engine *engine, uint32_t lane, int64_t end_ps, int64_t *others_ps)
{
    if (lane != engine->last_lane || !contention_is_settled(engine->contention))
        return false;
    if (end_ps >= *others_ps)
        *others_ps = event_queue_others_ps(engine->queue, end_ps);
    return end_ps < *others_ps;
}

/* Goes on with what comes behind the lane's drain, that ends now, if it takes the same resources;
 * and without the agenda as long as that ends before anyone else is due. False where the drain is
 * still to be ended, at the engine's new time. */
static bool
run_chain(struct engine *engine, uint32_t lane, struct lane_use *use)
{
    int64_t others_ps = engine->now_ps;
    for (;;) {
        int32_t next = next_of_chain(engine, use->task, lane);
        if (next == TASK_NONE)
            return false;
        const struct task *task = &engine->tasks[next];
        const struct task_demand *demand = &engine->demands[task->demand];
        if (!contention_replace(engine->contention, use->phase, demand, task->resource_base))
            return false;
        struct trace_entry *entry = &engine->entries[next];
        int64_t end_ps = engine->now_ps + drain_ps(task->work, demand->top_rate_per_s);
        *entry = (struct trace_entry){engine->now_ps, end_ps, (int32_t)use->task, 0};
        use->task = (uint32_t)next;
        if (!ends_first(engine, lane, end_ps, &others_ps)) {
            engine->drains[use->phase] =
                (struct drain){task->work, demand->top_rate_per_s, engine->now_ps, lane};
            event_queue_set(engine->queue, lane, end_ps);
            prefetch_follower(engine, (uint32_t)next);
            return true;
        }
        engine->trace->event_count++;
        engine->now_ps = end_ps;
    }
}

/* A rendezvous has other lanes to free, and a lane may have to ask how long it is held up. */
static bool
may_go_on(const struct engine *engine, uint32_t lane)
{
    return !engine->lanes[lane].is_joint &&
           (!engine->has_holds || task_graph_lane(engine->graph, lane).behind == TASK_NONE);
}

static void
take_event(struct engine *engine, uint32_t index)
{
    struct lane_use *lane = &engine->lanes[index];
    engine->trace->event_count++;
    if (lane->phase == PHASE_DELAY) {
        begin_drain(engine, index, &engine->tasks[lane->task]);
        return;
    }
    if (lane->phase != PHASE_PLAIN) {
        engine->entries[lane->task].end_ps = engine->now_ps;
        if (may_go_on(engine, index) && run_chain(engine, index, lane)) {
            engine->last_lane = index;
            return;
        }
        contention_leave(engine->contention, lane->phase);
    }
    engine->last_lane = index;
    end_task(engine, lane);
}

static void
change_rate(struct engine *engine, struct drain *drain, double rate_per_s)
{
    if (rate_per_s == drain->rate_per_s) {
        return;
    }
    double elapsed_s = (double)(engine->now_ps - drain->updated_ps) * S_PER_PS;
    double remaining = drain->remaining - drain->rate_per_s * elapsed_s;
    drain->remaining = remaining > 0 ? remaining : 0;
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

/* The first task of a lane, if it waits for nothing and this is the first of its lanes; or
 * TASK_NONE. */
static int32_t
task_to_begin_with(const struct engine *engine, uint32_t lane)
{
    const uint32_t *begins = engine->lane_tasks.begins;
    if (begins[lane] == begins[lane + 1])
        return TASK_NONE;
    uint32_t task = engine->lane_tasks.items[begins[lane]];
    size_t lane_count;
    bool is_its_first = lanes_of(engine, task, &lane_count)[0] == lane;
    return is_its_first && engine->entries[task].waits == 0 ? (int32_t)task : TASK_NONE;
}

/* They take their lanes before anyone starts: each holds up what begins behind it. */
static void
start_first_tasks(struct engine *engine)
{
    uint32_t lane_count = (uint32_t)task_graph_lane_count(engine->graph);
    for (uint32_t lane = 0; lane < lane_count; lane++) {
        int32_t task = task_to_begin_with(engine, lane);
        if (task != TASK_NONE)
            occupy_lanes(engine, (uint32_t)task);
    }
    for (uint32_t lane = 0; lane < lane_count; lane++) {
        int32_t task = task_to_begin_with(engine, lane);
        if (task != TASK_NONE)
            start_task(engine, (uint32_t)task);
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
