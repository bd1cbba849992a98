/* What must run, where, after what, and what it shares: the waist between models and engine.
 *
 *      lane 0   [ a ][ b ]──────┐           a task waits for the one before it on each of
 *      lane 1   [ c ]─┐         ▼           its lanes and for its dependencies; a collective
 *                     └──▶ [ d on 0 and 1 ] is one task on a lane of every member
 *
 * Tasks are added in an order in which they could run (dependencies before dependants), so a
 * graph cannot hold a cycle. Nothing here knows what a task stands for: `tag` is its maker's.
 */
#ifndef SIM_ENGINE_TASK_GRAPH_H
#define SIM_ENGINE_TASK_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/base/arena.h"

struct task_graph;

enum { TASK_NONE = -1 };

/* An in-order queue of tasks, as a GPU stream is. */
struct lane {
    const char *name; /* "compute"; kept, not copied */
    uint32_t group;   /* lanes of one group belong together: the rank */
    int32_t behind;   /* a lane whose tasks hold up those that begin here; or TASK_NONE */
    uint32_t task_count;
};

/* Of a resource, how much one unit of the task's rate takes: 0.2 of a device's compute share
 * per unit, 1 byte per byte of a link. */
struct task_usage {
    uint32_t resource; /* counted from the task's resource_base */
    double amount;     /* >= 0 */
};

/* How tasks of one sort drain their work; shared by all tasks that name it. */
struct task_demand {
    double top_rate_per_s; /* > 0: units of work a second with nothing in the way */
    double weight;         /* > 0: its part when a resource is short; 1 where all are equal */
    const struct task_usage *usages; /* copied by task_graph_add_demand */
    size_t usage_count;
};

struct task {
    int64_t delay_ps; /* first this, taking no resource */
    double work;      /* then this many units, drained at a shared rate */
    int32_t demand;   /* from task_graph_add_demand; TASK_NONE: only the delay */
    uint32_t resource_base;
    uint32_t tag;  /* the maker's; comes back in the trace */
    uint32_t lane; /* set by task_graph_add_task; of a joint task for task_graph_task_lanes */
};

static const uint32_t TASK_IS_JOINT = UINT32_C(1) << 31; /* in its lane */

/* task_count is a guess that saves memory and copying; a task takes 32 bytes and each of its
 * dependencies 8. */
struct task_graph *task_graph_new(struct arena *arena, size_t task_count);

/* Each returns the index of what it added, counting from 0. Names are kept, not copied. */
uint32_t task_graph_add_lane(struct task_graph *graph, const char *name, uint32_t group);
/* From now on tasks of `lane` are held up by those of `other`, both there already. */
void task_graph_put_behind(struct task_graph *graph, uint32_t lane, uint32_t other);
uint32_t task_graph_add_resource(struct task_graph *graph, const char *name,
                                 double capacity_per_s);
int32_t task_graph_add_demand(struct task_graph *graph, const struct task_demand *demand);
/* While a task of this demand runs, one that begins on a lane behind its own is delayed by so
 * much: on a GPU that places the work of one kernel before that of the next. 0 until said. */
void task_graph_set_hold(struct task_graph *graph, int32_t demand, int64_t hold_ps);
uint32_t task_graph_add_task(struct task_graph *graph, const struct task *task, uint32_t lane);
/* Several in two steps: room for as many, and then those of them that were written there, each with
 * its lane; the index of the first. */
struct task *task_graph_room(struct task_graph *graph, size_t count);
uint32_t task_graph_add_written(struct task_graph *graph, size_t count);
/* A rendezvous: starts when it is at the head of every one of the lanes (each named once). */
uint32_t task_graph_add_joint_task(struct task_graph *graph, const struct task *task,
                                   const uint32_t *lanes, size_t lane_count);
/* `after` starts when `before` has ended; asserts before < after < count. */
void task_graph_add_dependency(struct task_graph *graph, uint32_t before, uint32_t after);

size_t task_graph_task_count(const struct task_graph *graph);
size_t task_graph_lane_count(const struct task_graph *graph);
size_t task_graph_resource_count(const struct task_graph *graph);
size_t task_graph_demand_count(const struct task_graph *graph);
struct task task_graph_task(const struct task_graph *graph, uint32_t task);
/* Says that the task will be read soon: no effect but on the time it takes. Never inline: of a
 * function that does nothing else gcc drops the calls. */
void task_graph_prefetch(const struct task_graph *graph, uint32_t task);
struct lane task_graph_lane(const struct task_graph *graph, uint32_t lane);
/* The lanes of a task: *count of them, in the order they were given. Like every pointer below,
 * good until the graph is added to. */
const uint32_t *task_graph_task_lanes(const struct task_graph *graph, uint32_t task,
                                      size_t *count);
/* All tasks and demands, by index: for who reads them more often than a call may cost. */
const struct task *task_graph_tasks(const struct task_graph *graph);
const struct task_demand *task_graph_demands(const struct task_graph *graph);
bool task_graph_has_holds(const struct task_graph *graph);
int64_t task_graph_hold_ps(const struct task_graph *graph, int32_t demand);
const char *task_graph_resource_name(const struct task_graph *graph, uint32_t resource);
double task_graph_resource_capacity_per_s(const struct task_graph *graph, uint32_t resource);

/* Who comes after whom, laid out for walking: list i stands in items[begins[i]] up to
 * items[begins[i + 1]]. */
struct task_lists {
    const uint32_t *begins;
    const uint32_t *items;
};

/* By task, whom its end lets go on: the next on each of its lanes, in their order, then those that
 * depend on it, in the order in which that was said. The first stands apart from the others, which
 * are others[heads[task].others] up to where those of the next task begin: mostly none. */
struct follower_head {
    int32_t first; /* or TASK_NONE */
    uint32_t others;
};
struct task_followers {
    const struct follower_head *heads; /* one more than tasks */
    const uint32_t *others;
};

struct task_order {
    struct task_lists lane_tasks; /* by lane, its tasks in their order */
    struct task_followers followers;
};
struct task_order task_graph_order(const struct task_graph *graph, struct arena *arena);

#endif
