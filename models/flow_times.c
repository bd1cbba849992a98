/* Times of flows: one task for each class of flows, one resource for each class of links, in a
 * graph for each part of the list, which is gone before the next part's is made.
 *
 * The engine counts picoseconds, which is too coarse here: 1 MiB over 48e9 bytes/s take 21.845333
 * us, a third of a picosecond off the grid, and a ring adds up a hundred such. The engine does not
 * ask what a second is, though: the graph's second is made 2^-n of a real one, with the largest
 * n that the clock's range allows. */
#include "models/flow_times.h"

#include <assert.h>
#include <math.h>

#include "models/flow_classes.h"
#include "models/flow_parts.h"
#include "models/flow_paths.h"
#include "sim/base/hash.h"
#include "sim/base/units.h"
#include "sim/engine/engine.h"

/* Half of what the engine takes for one drain, 2^62 ps. */
static const double GRAPH_RANGE_S = 2.3e6;

static const uint32_t NO_LANE = UINT32_MAX;
static const uint32_t NO_RESOURCE = UINT32_MAX;

struct lowering {
    const struct flow_list *list;
    const struct flow_paths *paths;
    const struct flow_classes *classes;
    struct arena *arena;       /* of what stays from part to part */
    double clock_ratio;        /* seconds of the graph in one real second: a power of two */
    struct task_usage *usages; /* of the class at hand, with room for the longest path */
    uint32_t *tasks;           /* by class: its task in its part's graph */
    uint32_t *resources;       /* by class of links: likewise; NO_RESOURCE before its part */
    /* Of the part at hand: */
    const uint32_t *part; /* classes */
    size_t part_count;
    struct task_graph *graph;
    uint32_t release_count; /* tasks before the first flow: each ends when a flow may start */
    uint32_t *open_lanes; /* by task, releases not counted: the lane that it is the last of, or
                               NO_LANE */
    int32_t *demands;     /* open addressing: demands of the graph, or TASK_NONE */
    size_t demand_mask;
};

/* As long as the list can last at most: while anything flows, some link is full or some flow at
 * its top rate, so no less than the narrowest link's rate flows. Beside it, what the engine may
 * expect of one flow for a while: an equal part of its links for ever. */
static double
longest_s(const struct flow_list *list, const struct flow_paths *paths)
{
    double start_s = 0, sum_bytes = 0, alone_s = 0, narrowest_bytes_per_s = HUGE_VAL;
    for (size_t i = 0; i < paths->link_count; i++)
        narrowest_bytes_per_s = fmin(narrowest_bytes_per_s, paths->bytes_per_s[i]);
    for (size_t i = 0; i < list->count; i++) {
        start_s = fmax(start_s, list->flows[i].start_s);
        sum_bytes += list->flows[i].bytes;
        for (uint32_t l = paths->begins[i]; l < paths->begins[i + 1]; l++) {
            uint32_t link = paths->links[l];
            double part_bytes_per_s = paths->bytes_per_s[link] / paths->flow_counts[link];
            alone_s = fmax(alone_s, list->flows[i].bytes / part_bytes_per_s);
        }
    }
    return start_s + sum_bytes / narrowest_bytes_per_s + alone_s;
}

static double
finest_clock_ratio(double longest_s)
{
    static const double SHORTEST_S =
        1e-60; /* of a list: below it doubles run out of exponents */
    int exponent;
    if (longest_s == 0)
        return 1;
    (void)frexp(GRAPH_RANGE_S / fmax(longest_s, SHORTEST_S), &exponent);
    return ldexp(1, exponent - 1);
}

static bool
has_dependencies(const struct flow *flow)
{
    return flow[1].dependency_begin > flow->dependency_begin;
}

static int64_t
start_ps(const struct lowering *lowering, const struct flow *flow)
{
    return units_ps_from_s(flow->start_s * lowering->clock_ratio);
}

static const struct flow *
flow_of_class(const struct lowering *lowering, uint32_t class)
{
    return &lowering->list->flows[lowering->classes->flows[class]];
}

/* What a flow waits for that has dependencies and a start: a task that ends then. */
static void
add_releases(struct lowering *lowering)
{
    lowering->release_count = 0;
    for (size_t i = 0; i < lowering->part_count; i++) {
        const struct flow *flow = flow_of_class(lowering, lowering->part[i]);
        if (flow->start_s == 0 || !has_dependencies(flow))
            continue;
        uint32_t lane = task_graph_add_lane(lowering->graph, "start", flow->from);
        struct task task = {.delay_ps = start_ps(lowering, flow), .demand = TASK_NONE};
        lowering->release_count = 1 + task_graph_add_task(lowering->graph, &task, lane);
    }
}

/* The graph's resource of that class of links, added where they are first met. */
static uint32_t
resource_of(struct lowering *lowering, uint32_t link_class)
{
    uint32_t *resource = &lowering->resources[link_class];
    if (*resource == NO_RESOURCE) {
        uint32_t link = lowering->classes->links[link_class];
        *resource =
            task_graph_add_resource(lowering->graph, "link",
                                    lowering->paths->bytes_per_s[link] / lowering->clock_ratio);
    }
    return *resource;
}

/* The classes of links that the class passes, each once. */
static size_t
fill_usages(struct lowering *lowering, uint32_t class)
{
    const struct flow_paths *paths = lowering->paths;
    uint32_t flow = lowering->classes->flows[class];
    size_t count = 0;
    for (uint32_t i = paths->begins[flow]; i < paths->begins[flow + 1]; i++) {
        uint32_t link = lowering->classes->of_link[paths->links[i]];
        size_t at = 0;
        while (at < count && lowering->usages[at].resource != link)
            at++;
        if (at == count)
            lowering->usages[count++] = (struct task_usage){link, 0};
        lowering->usages[at].amount += 1;
    }
    for (size_t i = 0; i < count; i++) {
        struct task_usage *usage = &lowering->usages[i];
        usage->amount = flow_classes_flows_on_link(lowering->classes, class, usage->resource,
                                                   usage->amount);
        usage->resource = resource_of(lowering, usage->resource);
    }
    return count;
}

static bool
has_usages(const struct task_demand *demand, const struct task_usage *usages, size_t count)
{
    bool is_same = demand->usage_count == count;
    for (size_t i = 0; i < count && is_same; i++)
        is_same = demand->usages[i].resource == usages[i].resource &&
                  demand->usages[i].amount == usages[i].amount;
    return is_same;
}

static size_t
hash_usages(const struct task_usage *usages, size_t count)
{
    uint64_t hash = count;
    for (size_t i = 0; i < count; i++)
        hash = hash_mixed(hash_mixed(hash + usages[i].resource) + (uint64_t)usages[i].amount);
    return hash;
}

/* The graph's demand of those that pass these links; flows on one path share it. */
static int32_t
demand_of(struct lowering *lowering, uint32_t class)
{
    size_t count = fill_usages(lowering, class);
    size_t at = hash_usages(lowering->usages, count) & lowering->demand_mask;
    for (;; at = (at + 1) & lowering->demand_mask) {
        int32_t demand = lowering->demands[at];
        if (demand == TASK_NONE)
            break;
        if (has_usages(task_graph_demand(lowering->graph, demand), lowering->usages, count))
            return demand;
    }
    uint32_t flow = lowering->classes->flows[class];
    struct task_demand demand = {
        .top_rate_per_s =
            flow_paths_top_bytes_per_s(lowering->paths, flow) / lowering->clock_ratio,
        .weight = 1,
        .usages = lowering->usages,
        .usage_count = count,
    };
    lowering->demands[at] = task_graph_add_demand(lowering->graph, &demand);
    return lowering->demands[at];
}

/* The lane of a dependency that is still the last of its lane: to come behind it there is to wait
 * for it. Else a lane of its own. *before is that dependency, or the class itself. */
static uint32_t
lane_behind(struct lowering *lowering, const struct flow *flow, uint32_t class,
            uint32_t *before)
{
    for (uint32_t i = flow->dependency_begin; i < flow[1].dependency_begin; i++) {
        *before = lowering->classes->of_flow[lowering->list->dependencies[i]];
        uint32_t *open =
            &lowering->open_lanes[lowering->tasks[*before] - lowering->release_count];
        uint32_t lane = *open;
        *open = NO_LANE;
        if (lane != NO_LANE)
            return lane;
    }
    *before = class;
    return task_graph_add_lane(lowering->graph, "flow", flow->from);
}

static void
add_dependencies(struct lowering *lowering, const struct flow *flow, uint32_t task,
                 uint32_t before_on_lane)
{
    for (uint32_t i = flow->dependency_begin; i < flow[1].dependency_begin; i++) {
        uint32_t before = lowering->classes->of_flow[lowering->list->dependencies[i]];
        if (before != before_on_lane)
            task_graph_add_dependency(lowering->graph, lowering->tasks[before], task);
    }
}

static void
add_flows(struct lowering *lowering)
{
    uint32_t next_release = 0;
    for (size_t i = 0; i < lowering->part_count; i++) {
        uint32_t class = lowering->part[i];
        const struct flow *flow = flow_of_class(lowering, class);
        bool is_released = flow->start_s > 0 && has_dependencies(flow);
        struct task task = {.work = flow->bytes, .demand = demand_of(lowering, class)};
        task.delay_ps = is_released ? 0 : start_ps(lowering, flow);
        uint32_t before;
        uint32_t lane = lane_behind(lowering, flow, class, &before);
        lowering->tasks[class] = task_graph_add_task(lowering->graph, &task, lane);
        lowering->open_lanes[i] = lane;
        add_dependencies(lowering, flow, lowering->tasks[class], before);
        if (is_released)
            task_graph_add_dependency(lowering->graph, next_release++, lowering->tasks[class]);
    }
}

/* What stays from part to part. */
static void
make_room(struct lowering *lowering, struct arena *arena)
{
    size_t path_max = 0, link_count = lowering->classes->link_count;
    for (size_t i = 0; i < lowering->list->count; i++) {
        size_t length = lowering->paths->begins[i + 1] - lowering->paths->begins[i];
        path_max = length > path_max ? length : path_max;
    }
    lowering->usages = arena_alloc(arena, path_max, sizeof *lowering->usages);
    lowering->tasks = arena_alloc(arena, lowering->classes->count, sizeof *lowering->tasks);
    lowering->resources = arena_alloc(arena, link_count, sizeof *lowering->resources);
    for (size_t i = 0; i < link_count; i++)
        lowering->resources[i] = NO_RESOURCE;
}

/* The graph of the part at hand; tables that only this takes are in `scratch`. */
static void
lower_part(struct lowering *lowering, struct arena *scratch, struct arena *arena)
{
    size_t size = 64;
    while (size < 2 * lowering->part_count)
        size *= 2;
    lowering->open_lanes =
        arena_alloc(scratch, lowering->part_count, sizeof *lowering->open_lanes);
    lowering->demands = arena_alloc(scratch, size, sizeof *lowering->demands);
    lowering->demand_mask = size - 1;
    for (size_t i = 0; i < size; i++)
        lowering->demands[i] = TASK_NONE;
    lowering->graph = task_graph_new(arena, lowering->part_count);
    add_releases(lowering);
    add_flows(lowering);
}

/* Writes when the flows that stand for the part's classes end. */
static void
run_part(struct lowering *lowering, struct flow_times *times, double *finish_s)
{
    const struct flow_classes *classes = lowering->classes;
    struct arena *arena = arena_new_beside(lowering->arena);
    struct arena *scratch = arena_new_beside(lowering->arena);
    lower_part(lowering, scratch, arena);
    arena_free(scratch);
    const struct trace *trace = engine_run(lowering->graph, arena);
    for (size_t i = 0; i < lowering->part_count; i++) {
        uint32_t class = lowering->part[i];
        int64_t end_ps = trace->entries[lowering->tasks[class]].end_ps;
        finish_s[classes->flows[class]] = units_s_from_ps(end_ps) / lowering->clock_ratio;
    }
    times->event_count += trace->event_count;
    times->solve_count += trace->solve_count;
    arena_free(arena);
}

static struct flow_times *
run_parts(struct lowering *lowering, const struct flow_parts *parts, struct arena *arena)
{
    const struct flow_classes *classes = lowering->classes;
    size_t flow_count = lowering->list->count;
    struct flow_times *times = arena_alloc(arena, 1, sizeof *times);
    double *finish_s = arena_alloc(arena, flow_count, sizeof *finish_s);
    for (size_t part = 0; part < parts->count; part++) {
        lowering->part = &parts->classes[parts->begins[part]];
        lowering->part_count = parts->begins[part + 1] - parts->begins[part];
        run_part(lowering, times, finish_s);
    }
    for (size_t i = 0; i < flow_count; i++)
        finish_s[i] = finish_s[classes->flows[classes->of_flow[i]]];
    times->finish_s = finish_s;
    times->class_count = classes->count;
    return times;
}

struct flow_times *
flow_times_find(const struct flow_list *list, const struct cluster *cluster, uint64_t seed,
                struct arena *arena, struct error_list *errors)
{
    struct arena *scratch = arena_new_beside(arena);
    struct flow_times *times = NULL;
    const struct flow_paths *paths = flow_paths_find(list, cluster, seed, scratch, errors);
    if (paths) {
        const struct flow_classes *classes = flow_classes_find(list, paths, scratch);
        struct lowering lowering = {
            .list = list,
            .paths = paths,
            .classes = classes,
            .arena = scratch,
            .clock_ratio = finest_clock_ratio(longest_s(list, paths)),
        };
        make_room(&lowering, scratch);
        times = run_parts(&lowering, flow_parts_find(list, paths, classes, scratch), arena);
    }
    arena_free(scratch);
    return times;
}
