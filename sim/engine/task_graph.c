/* The task graph: tables that only grow, compact since all ranks together make ten million
 * tasks.
 *
 * A task takes 32 bytes. Its lane stands in it, or, for the few joint tasks, the index of a list of
 * lanes marked by TASK_IS_JOINT. Dependencies are pairs in a stack of blocks:
 * only read as a whole, they need neither an index nor room to grow. */
#include "sim/engine/task_graph.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { DEPENDENCIES_A_BLOCK = 1024 };

struct lane_list {
    size_t count;
    uint32_t lanes[];
};

struct dependency {
    uint32_t before, after;
};

struct dependency_block {
    struct dependency_block *below; /* filled before this one */
    size_t count;
    struct dependency items[DEPENDENCIES_A_BLOCK];
};

struct resource {
    const char *name;
    double capacity_per_s;
};

struct task_graph {
    struct arena *arena;
    struct task *tasks;
    size_t task_count, task_capacity;
    struct lane *lanes;
    size_t lane_count, lane_capacity;
    struct resource *resources;
    size_t resource_count, resource_capacity;
    struct task_demand *demands;
    size_t demand_count, demand_capacity;
    int64_t *holds_ps; /* by demand; NULL while none holds */
    size_t hold_count, hold_capacity;
    struct lane_list **lane_lists;
    size_t lane_list_count, lane_list_capacity;
    struct dependency_block *dependencies; /* the newest block */
};

struct task_graph *
task_graph_new(struct arena *arena, size_t task_count)
{
    struct task_graph *graph = arena_alloc(arena, 1, sizeof *graph);
    graph->arena = arena;
    graph->tasks = arena_alloc_unset(arena, task_count, sizeof *graph->tasks);
    graph->task_capacity = task_count;
    return graph;
}

uint32_t
task_graph_add_lane(struct task_graph *graph, const char *name, uint32_t group)
{
    assert(graph->lane_count < TASK_IS_JOINT);
    graph->lanes = arena_grow(graph->arena, graph->lanes, graph->lane_count,
                              &graph->lane_capacity, sizeof *graph->lanes);
    graph->lanes[graph->lane_count] = (struct lane){name, group, TASK_NONE, 0};
    return (uint32_t)graph->lane_count++;
}

void
task_graph_put_behind(struct task_graph *graph, uint32_t lane, uint32_t other)
{
    assert(lane < graph->lane_count && other < graph->lane_count && lane != other);
    graph->lanes[lane].behind = (int32_t)other;
}

uint32_t
task_graph_add_resource(struct task_graph *graph, const char *name, double capacity_per_s)
{
    assert(capacity_per_s > 0 && graph->resource_count < UINT32_MAX);
    graph->resources = arena_grow(graph->arena, graph->resources, graph->resource_count,
                                  &graph->resource_capacity, sizeof *graph->resources);
    graph->resources[graph->resource_count] = (struct resource){name, capacity_per_s};
    return (uint32_t)graph->resource_count++;
}

int32_t
task_graph_add_demand(struct task_graph *graph, const struct task_demand *demand)
{
    assert(demand->top_rate_per_s > 0 && demand->weight > 0);
    assert(isfinite(demand->top_rate_per_s) && isfinite(demand->weight));
    assert(graph->demand_count < INT32_MAX);
    graph->demands = arena_grow(graph->arena, graph->demands, graph->demand_count,
                                &graph->demand_capacity, sizeof *graph->demands);
    struct task_usage *usages = arena_alloc(graph->arena, demand->usage_count, sizeof *usages);
    struct task_demand *copy = &graph->demands[graph->demand_count];
    *copy = *demand;
    copy->usages = usages;
    copy->usage_count = 0;
    for (size_t i = 0; i < demand->usage_count; i++) {
        assert(demand->usages[i].amount >= 0);
        if (demand->usages[i].amount > 0) {
            usages[copy->usage_count++] = demand->usages[i];
        }
    }
    return (int32_t)graph->demand_count++;
}

void
task_graph_set_hold(struct task_graph *graph, int32_t demand, int64_t hold_ps)
{
    assert(demand >= 0 && (size_t)demand < graph->demand_count && hold_ps >= 0);
    while (graph->hold_count <= (size_t)demand) {
        graph->holds_ps = arena_grow(graph->arena, graph->holds_ps, graph->hold_count,
                                     &graph->hold_capacity, sizeof *graph->holds_ps);
        graph->holds_ps[graph->hold_count++] = 0;
    }
    graph->holds_ps[demand] = hold_ps;
}

bool
task_graph_has_holds(const struct task_graph *graph)
{
    return graph->hold_count > 0;
}

int64_t
task_graph_hold_ps(const struct task_graph *graph, int32_t demand)
{
    return (size_t)demand < graph->hold_count ? graph->holds_ps[demand] : 0;
}

static void
check_task(const struct task_graph *graph, const struct task *task)
{
    assert(task->delay_ps >= 0 && task->work >= 0 && isfinite(task->work));
    assert(task->demand >= TASK_NONE && task->demand < (int64_t)graph->demand_count);
    (void)graph;
    (void)task;
}

static uint32_t
add_on_lane(struct task_graph *graph, const struct task *task, uint32_t lane)
{
    check_task(graph, task);
    assert(graph->task_count < INT32_MAX);
    graph->tasks = arena_grow(graph->arena, graph->tasks, graph->task_count,
                              &graph->task_capacity, sizeof *graph->tasks);
    graph->tasks[graph->task_count] = *task;
    graph->tasks[graph->task_count].lane = lane;
    return (uint32_t)graph->task_count++;
}

uint32_t
task_graph_add_task(struct task_graph *graph, const struct task *task, uint32_t lane)
{
    assert(lane < graph->lane_count);
    graph->lanes[lane].task_count++;
    return add_on_lane(graph, task, lane);
}

struct task *
task_graph_room(struct task_graph *graph, size_t count)
{
    assert(count > 0 && graph->task_count + count <= INT32_MAX);
    graph->tasks = arena_grow(graph->arena, graph->tasks, graph->task_count + count - 1,
                              &graph->task_capacity, sizeof *graph->tasks);
    return &graph->tasks[graph->task_count];
}

uint32_t
task_graph_add_written(struct task_graph *graph, size_t count)
{
    uint32_t first = (uint32_t)graph->task_count;
    assert(first + count <= graph->task_capacity);
    for (size_t i = first; i < first + count; i++) {
        const struct task *task = &graph->tasks[i];
        check_task(graph, task);
        assert(task->lane < graph->lane_count);
        graph->lanes[task->lane].task_count++;
    }
    graph->task_count += count;
    return first;
}

uint32_t
task_graph_add_joint_task(struct task_graph *graph, const struct task *task,
                          const uint32_t *lanes, size_t lane_count)
{
    assert(lane_count > 0 && graph->lane_list_count < TASK_IS_JOINT);
    struct lane_list *list =
        arena_alloc(graph->arena, 1, sizeof *list + lane_count * sizeof *lanes);
    list->count = lane_count;
    for (size_t i = 0; i < lane_count; i++) {
        assert(lanes[i] < graph->lane_count);
        list->lanes[i] = lanes[i];
        graph->lanes[lanes[i]].task_count++;
    }
    graph->lane_lists = arena_grow(graph->arena, graph->lane_lists, graph->lane_list_count,
                                   &graph->lane_list_capacity, sizeof *graph->lane_lists);
    graph->lane_lists[graph->lane_list_count] = list;
    return add_on_lane(graph, task, TASK_IS_JOINT | (uint32_t)graph->lane_list_count++);
}

void
task_graph_add_dependency(struct task_graph *graph, uint32_t before, uint32_t after)
{
    assert(before < after && after < graph->task_count);
    struct dependency_block *block = graph->dependencies;
    if (!block || block->count == DEPENDENCIES_A_BLOCK) {
        block = arena_alloc(graph->arena, 1, sizeof *block);
        block->below = graph->dependencies;
        graph->dependencies = block;
    }
    block->items[block->count++] = (struct dependency){before, after};
}

size_t
task_graph_task_count(const struct task_graph *graph)
{
    return graph->task_count;
}

size_t
task_graph_lane_count(const struct task_graph *graph)
{
    return graph->lane_count;
}

size_t
task_graph_resource_count(const struct task_graph *graph)
{
    return graph->resource_count;
}

size_t
task_graph_demand_count(const struct task_graph *graph)
{
    return graph->demand_count;
}

struct task
task_graph_task(const struct task_graph *graph, uint32_t task)
{
    assert(task < graph->task_count);
    return graph->tasks[task];
}

const struct task *
task_graph_tasks(const struct task_graph *graph)
{
    return graph->tasks;
}

const struct task_demand *
task_graph_demands(const struct task_graph *graph)
{
    return graph->demands;
}

void
task_graph_prefetch(const struct task_graph *graph, uint32_t task)
{
    __builtin_prefetch(&graph->tasks[task]);
}

struct lane
task_graph_lane(const struct task_graph *graph, uint32_t lane)
{
    assert(lane < graph->lane_count);
    return graph->lanes[lane];
}

const uint32_t *
task_graph_task_lanes(const struct task_graph *graph, uint32_t task, size_t *count)
{
    assert(task < graph->task_count);
    const uint32_t *lane = &graph->tasks[task].lane;
    if (!(*lane & TASK_IS_JOINT)) {
        *count = 1;
        return lane;
    }
    const struct lane_list *list = graph->lane_lists[*lane & ~TASK_IS_JOINT];
    *count = list->count;
    return list->lanes;
}

const char *
task_graph_resource_name(const struct task_graph *graph, uint32_t resource)
{
    assert(resource < graph->resource_count);
    return graph->resources[resource].name;
}

double
task_graph_resource_capacity_per_s(const struct task_graph *graph, uint32_t resource)
{
    assert(resource < graph->resource_count);
    return graph->resources[resource].capacity_per_s;
}

/* Lists while they are filled, from the last task to the first. */
struct listing {
    const struct task_graph *graph;
    uint32_t *begins;     /* by lane: of its list as far as it is filled */
    const uint32_t *ends; /* by lane */
    uint32_t *items;
    struct follower_head *heads;
    uint32_t *others;
    struct dependency *joint_nexts; /* beyond the first of each joint task, in falling order */
    size_t joint_next_count;
};

/* Lists that are empty yet, each at its end. */
static struct listing
listing_new(const struct task_graph *graph, struct arena *arena)
{
    size_t lanes = graph->lane_count;
    uint32_t *begins = arena_alloc_unset(arena, lanes + 1, sizeof *begins);
    uint32_t *ends = arena_alloc_unset(arena, lanes, sizeof *ends);
    uint64_t sum = 0;
    for (size_t i = 0; i < lanes; i++) {
        sum += graph->lanes[i].task_count;
        begins[i] = ends[i] = (uint32_t)sum;
    }
    assert(sum <= UINT32_MAX);
    begins[lanes] = (uint32_t)sum;
    size_t joint = sum - (graph->task_count - graph->lane_list_count);
    struct listing listing = {.graph = graph, .begins = begins, .ends = ends};
    listing.items = arena_alloc_unset(arena, sum, sizeof *listing.items);
    listing.heads = arena_alloc_unset(arena, graph->task_count + 1, sizeof *listing.heads);
    listing.joint_nexts = arena_alloc_unset(arena, joint, sizeof *listing.joint_nexts);
    return listing;
}

/* Returns the lane's task behind it; or TASK_NONE. */
static int32_t
put_on_lane(const struct listing *listing, uint32_t lane, uint32_t task)
{
    uint32_t begin = listing->begins[lane];
    int32_t next = begin < listing->ends[lane] ? (int32_t)listing->items[begin] : TASK_NONE;
    listing->items[begin - 1] = task;
    listing->begins[lane] = begin - 1;
    return next;
}

static struct follower_head
put_on_lanes(struct listing *listing, uint32_t task)
{
    struct follower_head head = {TASK_NONE, 0};
    size_t lane_count;
    const uint32_t *lanes = task_graph_task_lanes(listing->graph, task, &lane_count);
    for (size_t i = lane_count; i-- > 0;) {
        int32_t next = put_on_lane(listing, lanes[i], task);
        if (next == TASK_NONE)
            continue;
        if (head.first != TASK_NONE) {
            listing->joint_nexts[listing->joint_next_count++] =
                (struct dependency){task, (uint32_t)head.first};
            head.others++;
        }
        head.first = next;
    }
    return head;
}

static void
list_by_lane(struct listing *listing)
{
    const struct task *tasks = listing->graph->tasks;
    for (uint32_t task = (uint32_t)listing->graph->task_count; task-- > 0;)
        listing->heads[task] =
            tasks[task].lane & TASK_IS_JOINT
                ? put_on_lanes(listing, task)
                : (struct follower_head){put_on_lane(listing, tasks[task].lane, task), 0};
}

static void
count_dependants(const struct listing *listing)
{
    const struct dependency_block *block = listing->graph->dependencies;
    for (; block; block = block->below)
        for (size_t i = 0; i < block->count; i++)
            listing->heads[block->items[i].before].others++;
}

/* From how many follow each, beside what is its first by now, to where the others of each end;
 * returns how many others there are. */
static uint32_t
counts_to_ends(struct follower_head *heads, size_t task_count)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < task_count; i++) {
        sum += heads[i].others - (heads[i].first == TASK_NONE && heads[i].others > 0);
        heads[i].others = (uint32_t)sum;
    }
    assert(sum <= UINT32_MAX);
    heads[task_count] = (struct follower_head){TASK_NONE, (uint32_t)sum};
    return (uint32_t)sum;
}

static bool
is_last_on_lanes(const struct listing *listing, uint32_t task)
{
    size_t lane_count;
    const uint32_t *lanes = task_graph_task_lanes(listing->graph, task, &lane_count);
    bool is_last = true;
    for (size_t i = 0; i < lane_count && is_last; i++)
        is_last = listing->items[listing->ends[lanes[i]] - 1] == task;
    return is_last;
}

/* From the last to the first: before those that were put there so far, but behind what is next on a
 * lane. */
static void
put_dependants(const struct listing *listing)
{
    const struct dependency_block *block = listing->graph->dependencies;
    for (; block; block = block->below)
        for (size_t i = block->count; i-- > 0;) {
            const struct dependency *one = &block->items[i];
            struct follower_head *head = &listing->heads[one->before];
            int32_t behind = (int32_t)one->after;
            if (is_last_on_lanes(listing, one->before)) {
                behind = head->first;
                head->first = (int32_t)one->after;
            }
            if (behind != TASK_NONE)
                listing->others[--head->others] = (uint32_t)behind;
        }
}

static void
put_joint_nexts(const struct listing *listing)
{
    for (size_t i = 0; i < listing->joint_next_count; i++) {
        const struct dependency *one = &listing->joint_nexts[i];
        listing->others[--listing->heads[one->before].others] = one->after;
    }
}

struct task_order
task_graph_order(const struct task_graph *graph, struct arena *arena)
{
    struct listing listing = listing_new(graph, arena);
    list_by_lane(&listing);
    count_dependants(&listing);
    uint32_t other_count = counts_to_ends(listing.heads, graph->task_count);
    listing.others = arena_alloc_unset(arena, other_count, sizeof *listing.others);
    put_dependants(&listing);
    put_joint_nexts(&listing);
    return (struct task_order){{listing.begins, listing.items},
                               {listing.heads, listing.others}};
}
