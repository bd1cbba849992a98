/* How fast the engine is: lanes without a resource, a step on 1,024 ranks with nothing short, and
 * with everything shared. */
#include "sim/engine/engine.h"

#include <stdio.h>
#include <stdlib.h>

#include "sim/base/check_arena.h"
#include "sim/base/check_clock.h"

enum {
    RUNS = 3, /* the quickest counts */
    RANKS = 1024,
    TASKS_A_LANE = 8000,
    TASKS_A_JOINT_TASK = 100,
    CONTENDED_TASKS_A_LANE = 500,
    LANES_A_CONTENDED_RANK = 2
};

struct result {
    double run_s;
    double tasks_per_s, events_per_s;
    double bytes_a_task;
};

/* Between 1 and 1024: Marsaglia, Xorshift RNGs (2003), triple 13, 7, 17. */
static double
random_work(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return (double)((*state >> 33) % 1024 + 1);
}

/* Tasks that take the whole of their rank's one resource, kernel after kernel, and a task of
 * all ranks after each hundred. */
static void
build_step(struct task_graph *graph)
{
    uint32_t lanes[RANKS];
    uint64_t state = 88172645463325252;
    struct task_usage whole = {.resource = 0, .amount = 1};
    int32_t kernel = task_graph_add_demand(graph, &(struct task_demand){1e9, 1, &whole, 1});
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        lanes[rank] = task_graph_add_lane(graph, "compute", rank);
        (void)task_graph_add_resource(graph, "compute units", 1e9);
    }
    for (int i = 0; i < TASKS_A_LANE; i++) {
        for (uint32_t rank = 0; rank < RANKS; rank++) {
            struct task task = {
                .work = random_work(&state), .demand = kernel, .resource_base = rank};
            (void)task_graph_add_task(graph, &task, lanes[rank]);
        }
        if (i % TASKS_A_JOINT_TASK == TASKS_A_JOINT_TASK - 1) {
            struct task joint = {.delay_ps = 5000000, .demand = TASK_NONE};
            (void)task_graph_add_joint_task(graph, &joint, lanes, RANKS);
        }
    }
}

/* The same, nothing of which takes a resource: what the clock alone costs. */
static void
build_lanes(struct task_graph *graph)
{
    uint32_t lanes[RANKS];
    uint64_t state = 88172645463325252;
    for (uint32_t rank = 0; rank < RANKS; rank++)
        lanes[rank] = task_graph_add_lane(graph, "compute", rank);
    for (int i = 0; i < TASKS_A_LANE; i++) {
        for (uint32_t rank = 0; rank < RANKS; rank++) {
            struct task task = {.delay_ps = 1000 * (int64_t)random_work(&state),
                                .demand = TASK_NONE};
            (void)task_graph_add_task(graph, &task, lanes[rank]);
        }
        if (i % TASKS_A_JOINT_TASK == TASKS_A_JOINT_TASK - 1) {
            struct task joint = {.delay_ps = 5000000, .demand = TASK_NONE};
            (void)task_graph_add_joint_task(graph, &joint, lanes, RANKS);
        }
    }
}

/* A rank's two lanes always share its resource: every end changes the other's rate. */
static void
build_contended(struct task_graph *graph)
{
    uint64_t state = 88172645463325252;
    struct task_usage whole = {.resource = 0, .amount = 1};
    int32_t kernel = task_graph_add_demand(graph, &(struct task_demand){1e9, 1, &whole, 1});
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        (void)task_graph_add_resource(graph, "compute units", 1e9);
        for (int i = 0; i < LANES_A_CONTENDED_RANK; i++) {
            (void)task_graph_add_lane(graph, "compute", rank);
        }
    }
    for (int i = 0; i < CONTENDED_TASKS_A_LANE; i++) {
        for (uint32_t lane = 0; lane < RANKS * LANES_A_CONTENDED_RANK; lane++) {
            struct task task = {.work = random_work(&state),
                                .demand = kernel,
                                .resource_base = lane / LANES_A_CONTENDED_RANK};
            (void)task_graph_add_task(graph, &task, lane);
        }
    }
}

static struct result
run_once(void (*build)(struct task_graph *graph), size_t task_count)
{
    struct arena *arena = check_arena_new();
    struct task_graph *graph = task_graph_new(arena, task_count);
    build(graph);
    double begin_s = check_cpu_s();
    const struct trace *trace = engine_run(graph, arena);
    double run_s = check_cpu_s() - begin_s;
    struct result result = {
        .run_s = run_s,
        .tasks_per_s = (double)trace->count / run_s,
        .events_per_s = (double)trace->event_count / run_s,
        .bytes_a_task = (double)arena_size_bytes(arena) / (double)trace->count,
    };
    arena_free(arena);
    return result;
}

static struct result
measure(void (*build)(struct task_graph *graph), size_t task_count)
{
    struct result best = run_once(build, task_count);
    for (int i = 1; i < RUNS; i++) {
        struct result result = run_once(build, task_count);
        if (result.run_s < best.run_s)
            best = result;
    }
    return best;
}

int
main(void)
{
    size_t step_tasks = (size_t)RANKS * TASKS_A_LANE + TASKS_A_LANE / TASKS_A_JOINT_TASK;
    size_t contended_tasks = (size_t)RANKS * LANES_A_CONTENDED_RANK * CONTENDED_TASKS_A_LANE;
    struct result step = measure(build_step, step_tasks);
    struct result lanes = measure(build_lanes, step_tasks);
    struct result contended = measure(build_contended, contended_tasks);
    (void)printf("engine_lanes_1024_events_per_s %.4g\n", lanes.events_per_s);
    (void)printf("engine_step_1024_ranks_tasks_per_s %.4g\n", step.tasks_per_s);
    (void)printf("engine_step_1024_ranks_run_s %.4g\n", step.run_s);
    (void)printf("engine_step_1024_ranks_bytes_per_task %.4g\n", step.bytes_a_task);
    (void)printf("engine_contended_tasks_per_s %.4g\n", contended.tasks_per_s);
    return EXIT_SUCCESS;
}
