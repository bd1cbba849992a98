/* Are equal ranks equal, wherever they stand and however many there are? Is no work lost?
 *
 * Every rank has a compute lane and a communication lane, a device and a link of its own. Each
 * step is a kernel and a smaller one beside it that want more than the device has; some steps end
 * in a collective of all ranks, which takes of every device and every link while kernels run. */
#include "sim/engine/engine.h"

#include <check.h>
#include <stdlib.h>

#include "sim/base/check_arena.h"
#include "sim/base/check_random.h"

enum { RANKS = 8, STEPS = 60, STEPS_A_COLLECTIVE = 5, RESOURCES_A_RANK = 2 };
enum { LINK_FLOWS = 12, TASKS_A_FLOW = 25 };

static const double DEVICE_PER_S = 1e9;
static const double LINK_PER_S = 4e8;

static struct arena *arena;

static void
begin(void)
{
    arena = check_arena_new();
}

static void
end(void)
{
    arena_free(arena);
}

/* What the ranks run, and which rank stands at each place. */
struct order {
    uint32_t rank_count;
    uint32_t rank_at[RANKS];
    double work_ratio[RANKS]; /* by rank: of its kernels to those of an average rank */
};

struct demands {
    int32_t large, small, collective;
};

static struct demands
add_demands(struct task_graph *graph, uint32_t rank_count)
{
    struct task_usage device = {.resource = 0, .amount = 1};
    struct task_usage part = {.resource = 0, .amount = 0.5};
    struct task_usage all[RANKS * RESOURCES_A_RANK];
    for (uint32_t i = 0; i < rank_count * RESOURCES_A_RANK; i++) {
        all[i] = (struct task_usage){.resource = i, .amount = i % RESOURCES_A_RANK ? 1 : 0.3};
    }
    return (struct demands){
        .large = task_graph_add_demand(graph, &(struct task_demand){1e9, 1, &device, 1}),
        .small = task_graph_add_demand(graph, &(struct task_demand){1e9, 2, &part, 1}),
        .collective = task_graph_add_demand(
            graph, &(struct task_demand){5e8, 1, all, (size_t)rank_count * RESOURCES_A_RANK}),
    };
}

static void
add_places(struct task_graph *graph, const struct order *order)
{
    for (uint32_t place = 0; place < order->rank_count; place++) {
        (void)task_graph_add_lane(graph, "compute", order->rank_at[place]);
        (void)task_graph_add_lane(graph, "communication", order->rank_at[place]);
        (void)task_graph_add_resource(graph, "device", DEVICE_PER_S);
        (void)task_graph_add_resource(graph, "link", LINK_PER_S);
    }
}

/* A large kernel on the compute lane and, after a delay, a small one on the other. */
static void
add_kernels(struct task_graph *graph, const struct order *order, struct demands demands,
            uint32_t units)
{
    for (uint32_t place = 0; place < order->rank_count; place++) {
        double ratio = order->work_ratio[order->rank_at[place]];
        struct task task = {.work = units * ratio,
                            .demand = demands.large,
                            .resource_base = place * RESOURCES_A_RANK};
        (void)task_graph_add_task(graph, &task, 2 * place);
        task.delay_ps = 1000 * (int64_t)units;
        task.work = 0.7 * units * ratio;
        task.demand = demands.small;
        (void)task_graph_add_task(graph, &task, 2 * place + 1);
    }
}

static void
add_collective(struct task_graph *graph, const struct order *order, struct demands demands,
               uint32_t units)
{
    uint32_t lanes[RANKS];
    for (uint32_t place = 0; place < order->rank_count; place++) {
        lanes[place] = 2 * place + 1;
    }
    struct task task = {.delay_ps = 5000, .work = 2.0 * units, .demand = demands.collective};
    (void)task_graph_add_joint_task(graph, &task, lanes, order->rank_count);
}

static const struct trace *
run(const struct order *order)
{
    struct task_graph *graph = task_graph_new(arena, 0);
    struct demands demands = add_demands(graph, order->rank_count);
    add_places(graph, order);
    uint64_t state = 31;
    for (int step = 0; step < STEPS; step++) {
        uint32_t units = 1 + check_random_below(&state, 2000);
        add_kernels(graph, order, demands, units);
        if (step % STEPS_A_COLLECTIVE == 0) {
            add_collective(graph, order, demands, units);
        }
    }
    return engine_run(graph, arena);
}

/* The tasks of two lanes, possibly of two runs, at the same times to the picosecond. */
static void
check_lanes_equal(const struct trace *a, uint32_t lane_a, const struct trace *b,
                  uint32_t lane_b)
{
    size_t count_a, count_b;
    const uint32_t *tasks_a = trace_lane_tasks(a, lane_a, &count_a);
    const uint32_t *tasks_b = trace_lane_tasks(b, lane_b, &count_b);
    ck_assert_uint_eq(count_a, count_b);
    for (size_t i = 0; i < count_a; i++) {
        const struct trace_entry *entry_a = &a->entries[tasks_a[i]];
        const struct trace_entry *entry_b = &b->entries[tasks_b[i]];
        ck_assert_int_eq(entry_a->start_ps, entry_b->start_ps);
        ck_assert_int_eq(entry_a->end_ps, entry_b->end_ps);
    }
}

START_TEST(many_equal_ranks_run_as_one)
{
    struct order one = {.rank_count = 1, .work_ratio = {1}};
    struct order all = {.rank_count = RANKS};
    for (uint32_t i = 0; i < RANKS; i++) {
        all.rank_at[i] = i;
        all.work_ratio[i] = 1;
    }
    const struct trace *folded = run(&one), *whole = run(&all);
    ck_assert_uint_gt(folded->solve_count, STEPS);
    ck_assert_int_eq(folded->end_ps, whole->end_ps);
    for (uint32_t lane = 0; lane < 2 * RANKS; lane++) {
        check_lanes_equal(folded, lane % 2, whole, lane);
    }
}
END_TEST

/* Ranks of three speeds; the permutation takes place i to 3 i + 1 of 8. */
START_TEST(ranks_in_another_order_run_at_the_same_times)
{
    struct order straight = {.rank_count = RANKS}, mixed = {.rank_count = RANKS};
    for (uint32_t i = 0; i < RANKS; i++) {
        straight.rank_at[i] = i;
        mixed.rank_at[i] = (3 * i + 1) % RANKS;
        straight.work_ratio[i] = mixed.work_ratio[i] = 1 + 0.25 * (i % 3);
    }
    const struct trace *a = run(&straight), *b = run(&mixed);
    for (uint32_t place = 0; place < RANKS; place++) {
        check_lanes_equal(a, 2 * mixed.rank_at[place], b, 2 * place);
        check_lanes_equal(a, 2 * mixed.rank_at[place] + 1, b, 2 * place + 1);
    }
}
END_TEST

START_TEST(tasks_of_a_lane_never_overlap)
{
    struct order order = {.rank_count = RANKS};
    for (uint32_t i = 0; i < RANKS; i++) {
        order.rank_at[i] = i;
        order.work_ratio[i] = 1 + 0.1 * i;
    }
    const struct trace *trace = run(&order);
    for (uint32_t lane = 0; lane < 2 * RANKS; lane++) {
        size_t count;
        const uint32_t *tasks = trace_lane_tasks(trace, lane, &count);
        for (size_t i = 0; i < count; i++) {
            const struct trace_entry *entry = &trace->entries[tasks[i]];
            int64_t free_ps = i > 0 ? trace->entries[tasks[i - 1]].end_ps : 0;
            ck_assert_int_ge(entry->start_ps, free_ps);
            ck_assert_int_ge(entry->end_ps, entry->start_ps);
        }
    }
}
END_TEST

/* Each flow alone can fill the link and there is always one, so the link is never idle: all the
 * work, of whatever weights and sizes, takes work / capacity. Each end is off by up to half a
 * picosecond and so is the work then left: one picosecond a task. */
START_TEST(a_link_that_is_never_idle_loses_no_work)
{
    struct task_graph *graph = task_graph_new(arena, 0);
    (void)task_graph_add_resource(graph, "link", LINK_PER_S);
    struct task_usage usage = {.resource = 0, .amount = 1};
    uint64_t state = 33;
    double work = 0;
    for (uint32_t flow = 0; flow < LINK_FLOWS; flow++) {
        (void)task_graph_add_lane(graph, "flow", flow);
        int32_t demand = task_graph_add_demand(
            graph, &(struct task_demand){LINK_PER_S, 1 + flow % 4, &usage, 1});
        for (int i = 0; i < TASKS_A_FLOW; i++) {
            struct task task = {.work = check_random_below(&state, 1000), .demand = demand};
            work += task.work;
            (void)task_graph_add_task(graph, &task, flow);
        }
    }
    const struct trace *trace = engine_run(graph, arena);
    ck_assert_int_le(llabs(trace->end_ps - (int64_t)(work / LINK_PER_S * 1e12)),
                     (int64_t)trace->count);
}
END_TEST

Suite *engine_ranks_suite(void);

Suite *
engine_ranks_suite(void)
{
    Suite *suite = suite_create("engine_ranks");
    TCase *facts = tcase_create("facts");
    tcase_add_checked_fixture(facts, begin, end);
    tcase_add_test(facts, many_equal_ranks_run_as_one);
    tcase_add_test(facts, ranks_in_another_order_run_at_the_same_times);
    tcase_add_test(facts, tasks_of_a_lane_never_overlap);
    tcase_add_test(facts, a_link_that_is_never_idle_loses_no_work);
    suite_add_tcase(suite, facts);
    return suite;
}
