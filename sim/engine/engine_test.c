/* Do worked graphs run as by hand? Times in ps; rates of 1e12 a second drain one unit a ps. */
#include "sim/engine/engine.h"

#include <check.h>
#include <string.h>

#include "sim/base/check_arena.h"
#include "sim/base/check_often.h"
#include "sim/base/check_random.h"

static const double UNIT_A_PS = 1e12;

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

static uint32_t
add_delay(struct task_graph *graph, uint32_t lane, int64_t delay_ps)
{
    struct task task = {.delay_ps = delay_ps, .demand = TASK_NONE};
    return task_graph_add_task(graph, &task, lane);
}

static uint32_t
add_work(struct task_graph *graph, uint32_t lane, double work, int32_t demand)
{
    struct task task = {.work = work, .demand = demand};
    return task_graph_add_task(graph, &task, lane);
}

/* One unit of resource 0 (from the task's base) per unit of rate. */
static int32_t
add_simple_demand(struct task_graph *graph, double top_rate_per_s, double weight)
{
    struct task_usage usage = {.resource = 0, .amount = 1};
    return task_graph_add_demand(graph,
                                 &(struct task_demand){top_rate_per_s, weight, &usage, 1});
}

/* Lanes without resources. */
static struct task_graph *
graph_of_lanes(int lane_count)
{
    struct task_graph *graph = task_graph_new(arena, 8);
    for (int i = 0; i < lane_count; i++) {
        (void)task_graph_add_lane(graph, "lane", (uint32_t)i);
    }
    return graph;
}

/* The same and one resource that drains one unit a ps. */
static struct task_graph *
graph_of_link(int lane_count)
{
    struct task_graph *graph = graph_of_lanes(lane_count);
    (void)task_graph_add_resource(graph, "link", UNIT_A_PS);
    return graph;
}

static void
check_entry(const struct trace *trace, uint32_t task, int64_t start_ps, int64_t end_ps)
{
    ck_assert_int_eq(trace->entries[task].start_ps, start_ps);
    ck_assert_int_eq(trace->entries[task].end_ps, end_ps);
}

/* Kernels of 10 ps hold up by 4 what begins on the lane behind: at 0 the first, at 7 (4 + 3) the
 * second, 11 to 14, and behind the last kernel nothing. */
START_TEST(a_running_task_holds_up_the_lane_behind)
{
    struct task_graph *graph = graph_of_link(2);
    struct task_usage usage = {.resource = 0, .amount = 0.5};
    int32_t kernel =
        task_graph_add_demand(graph, &(struct task_demand){UNIT_A_PS, 1, &usage, 1});
    task_graph_set_hold(graph, kernel, 4);
    task_graph_put_behind(graph, 1, 0);
    for (int i = 0; i < 2; i++)
        (void)add_work(graph, 0, 10, kernel);
    uint32_t first = add_delay(graph, 1, 3), second = add_delay(graph, 1, 3);
    uint32_t third = add_delay(graph, 1, 9), fourth = add_delay(graph, 1, 3);
    const struct trace *trace = engine_run(graph, arena);
    check_entry(trace, first, 0, 7);
    check_entry(trace, second, 7, 14);
    check_entry(trace, third, 14, 27);
    check_entry(trace, fourth, 27, 30);
}
END_TEST

START_TEST(a_graph_of_nothing_ends_at_once)
{
    const struct trace *trace = engine_run(graph_of_lanes(2), arena);
    ck_assert_int_eq(trace->end_ps, 0);
    ck_assert_uint_eq(trace->count, 0);
    ck_assert_uint_eq(trace->event_count, 0);
}
END_TEST

/* The header's drawing: d waits for b (15) by its lane and for c (7) by both. */
START_TEST(a_lane_runs_in_order_and_a_rendezvous_waits_for_all)
{
    struct task_graph *graph = graph_of_lanes(2);
    uint32_t a = add_delay(graph, 0, 10), b = add_delay(graph, 0, 5);
    uint32_t c = add_delay(graph, 1, 7);
    struct task joint = {.delay_ps = 3, .demand = TASK_NONE};
    uint32_t d = task_graph_add_joint_task(graph, &joint, (uint32_t[]){0, 1}, 2);
    uint32_t after = add_delay(graph, 1, 1);
    const struct trace *trace = engine_run(graph, arena);
    check_entry(trace, a, 0, 10);
    check_entry(trace, b, 10, 15);
    check_entry(trace, c, 0, 7);
    check_entry(trace, d, 15, 18);
    check_entry(trace, after, 18, 19);
    ck_assert_int_eq(trace->entries[a].released_by, TASK_NONE);
    ck_assert_int_eq(trace->entries[d].released_by, (int32_t)b);
    ck_assert_int_eq(trace->entries[after].released_by, (int32_t)d);
    ck_assert_int_eq(trace->end_ps, 19);
    ck_assert_uint_eq(trace->event_count, 5);
    ck_assert_uint_eq(trace->solve_count, 0);
}
END_TEST

START_TEST(a_dependency_holds_a_task_and_its_lane_back)
{
    struct task_graph *graph = graph_of_lanes(2);
    uint32_t first = add_delay(graph, 0, 10);
    uint32_t held = add_delay(graph, 1, 2), behind = add_delay(graph, 1, 2);
    task_graph_add_dependency(graph, first, held);
    const struct trace *trace = engine_run(graph, arena);
    check_entry(trace, held, 10, 12);
    check_entry(trace, behind, 12, 14);
    ck_assert_int_eq(trace->entries[held].released_by, (int32_t)first);
}
END_TEST

/* All of 0 (lane 0), 1 (lane 1) and 2 (lane 2) end at 5: the one before on the first lane, here
 * lane 2, counts; without it on that lane, the first added. */
START_TEST(ties_of_release_prefer_the_first_lane_then_the_first_added)
{
    struct task_graph *graph = graph_of_lanes(4);
    for (uint32_t lane = 0; lane < 3; lane++) {
        (void)add_delay(graph, lane, 5);
    }
    struct task joint = {.demand = TASK_NONE};
    uint32_t by_lane = task_graph_add_joint_task(graph, &joint, (uint32_t[]){2, 1}, 2);
    uint32_t by_order = add_delay(graph, 3, 1);
    task_graph_add_dependency(graph, 0, by_lane);
    task_graph_add_dependency(graph, 2, by_order);
    task_graph_add_dependency(graph, 1, by_order);
    const struct trace *trace = engine_run(graph, arena);
    ck_assert_int_eq(trace->entries[by_lane].released_by, 2);
    ck_assert_int_eq(trace->entries[by_order].released_by, 1);
}
END_TEST

START_TEST(tasks_of_no_length_pass_in_one_instant)
{
    struct task_graph *graph = graph_of_link(2);
    int32_t demand = add_simple_demand(graph, UNIT_A_PS, 1);
    (void)add_delay(graph, 0, 0);
    (void)add_work(graph, 0, 0, demand);
    uint32_t last = add_delay(graph, 0, 0);
    uint32_t after = add_delay(graph, 1, 0);
    task_graph_add_dependency(graph, last, after);
    const struct trace *trace = engine_run(graph, arena);
    check_entry(trace, last, 0, 0);
    check_entry(trace, after, 0, 0);
    ck_assert_int_eq(trace->entries[after].released_by, (int32_t)last);
    ck_assert_uint_eq(trace->event_count, 4);
}
END_TEST

/* 100 units at 3e12 a second are 33.33 ps, at 7e11 142.86 ps. */
START_TEST(alone_a_task_ends_at_the_nearest_picosecond)
{
    struct task_graph *graph = graph_of_link(2);
    (void)task_graph_add_resource(graph, "other", 1e13);
    struct task fast = {
        .work = 100, .demand = add_simple_demand(graph, 3e12, 1), .resource_base = 1};
    struct task slow = {
        .work = 100, .delay_ps = 5, .demand = add_simple_demand(graph, 7e11, 1)};
    uint32_t a = task_graph_add_task(graph, &fast, 0);
    uint32_t b = task_graph_add_task(graph, &slow, 1);
    const struct trace *trace = engine_run(graph, arena);
    check_entry(trace, a, 0, 33);
    check_entry(trace, b, 0, 148);
    ck_assert_uint_eq(trace->event_count, 3); /* b's drain begins by an event of its own */
    ck_assert_uint_eq(trace->solve_count, 0);
}
END_TEST

/* 100 and 300 units: both at 1/2 until the first ends at 200 with 200 left to the second, which
 * then has the link alone. */
START_TEST(two_tasks_share_a_link_equally)
{
    struct task_graph *graph = graph_of_link(2);
    int32_t demand = add_simple_demand(graph, UNIT_A_PS, 1);
    uint32_t a = add_work(graph, 0, 100, demand), b = add_work(graph, 1, 300, demand);
    const struct trace *trace = engine_run(graph, arena);
    check_entry(trace, a, 0, 200);
    check_entry(trace, b, 0, 400);
    ck_assert_uint_eq(trace->event_count, 2);
}
END_TEST

/* Weights 1 and 3: rates 1/4 and 3/4. 300 units end at 400; 100 of 200 then remain alone. */
START_TEST(weights_are_honoured)
{
    struct task_graph *graph = graph_of_link(2);
    uint32_t light = add_work(graph, 0, 200, add_simple_demand(graph, UNIT_A_PS, 1));
    uint32_t heavy = add_work(graph, 1, 300, add_simple_demand(graph, UNIT_A_PS, 3));
    const struct trace *trace = engine_run(graph, arena);
    check_entry(trace, heavy, 0, 400);
    check_entry(trace, light, 0, 500);
}
END_TEST

/* Links of 1 and 0.4 units a ps. At first across = y = 0.2, x = 0.8 (sharing_test.c): x ends
 * 400 at 500; across and y stay at 0.2 and end their 200 at 1000. */
START_TEST(three_flows_on_two_links)
{
    struct task_graph *graph = graph_of_link(3);
    (void)task_graph_add_resource(graph, "narrow", 0.4 * UNIT_A_PS);
    struct task_usage both[] = {{0, 1}, {1, 1}};
    int32_t on_one = add_simple_demand(graph, UNIT_A_PS, 1);
    int32_t on_both =
        task_graph_add_demand(graph, &(struct task_demand){UNIT_A_PS, 1, both, 2});
    uint32_t across = add_work(graph, 0, 200, on_both);
    uint32_t x = add_work(graph, 1, 400, on_one);
    struct task on_narrow = {.work = 200, .demand = on_one, .resource_base = 1};
    uint32_t y = task_graph_add_task(graph, &on_narrow, 2);
    const struct trace *trace = engine_run(graph, arena);
    check_entry(trace, x, 0, 500);
    check_entry(trace, across, 0, 1000);
    check_entry(trace, y, 0, 1000);
}
END_TEST

/* The slow task takes a quarter at its top rate, three quarters are left to the other: nobody
 * waits when their sum fits. */
START_TEST(a_top_rate_leaves_room_for_others)
{
    struct task_graph *graph = graph_of_link(2);
    uint32_t slow = add_work(graph, 0, 100, add_simple_demand(graph, 0.25 * UNIT_A_PS, 1));
    uint32_t fast = add_work(graph, 1, 300, add_simple_demand(graph, 0.75 * UNIT_A_PS, 1));
    const struct trace *trace = engine_run(graph, arena);
    check_entry(trace, slow, 0, 400);
    check_entry(trace, fast, 0, 400);
    ck_assert_uint_eq(trace->solve_count, 0);
}
END_TEST

/* Until 50 the first has the link alone and drains 50; both then have 100 left at 1/2: 250. */
START_TEST(a_delay_takes_no_resource)
{
    struct task_graph *graph = graph_of_link(2);
    int32_t demand = add_simple_demand(graph, UNIT_A_PS, 1);
    uint32_t at_once = add_work(graph, 0, 150, demand);
    struct task late = {.delay_ps = 50, .work = 100, .demand = demand};
    uint32_t delayed = task_graph_add_task(graph, &late, 1);
    const struct trace *trace = engine_run(graph, arena);
    check_entry(trace, at_once, 0, 250);
    check_entry(trace, delayed, 0, 250);
}
END_TEST

/* Alone on half of what it could take: 100 units at 0.5 a ps. */
START_TEST(a_task_alone_can_be_held_back)
{
    struct task_graph *graph = graph_of_link(1);
    uint32_t task = add_work(graph, 0, 100, add_simple_demand(graph, 2 * UNIT_A_PS, 1));
    const struct trace *trace = engine_run(graph, arena);
    check_entry(trace, task, 0, 100);
    ck_assert_uint_eq(trace->solve_count, 1);
}
END_TEST

/* One ends as the other begins: together they would be too much, but they never meet. */
START_TEST(what_meets_only_at_one_instant_does_not_share)
{
    struct task_graph *graph = graph_of_link(3);
    int32_t demand = add_simple_demand(graph, UNIT_A_PS, 1);
    uint32_t clock = add_delay(graph, 0, 70);
    uint32_t next = add_work(graph, 1, 30, demand);
    uint32_t before = add_work(graph, 2, 70, demand);
    task_graph_add_dependency(graph, clock, next);
    const struct trace *trace = engine_run(graph, arena);
    check_entry(trace, before, 0, 70);
    check_entry(trace, next, 70, 100);
    ck_assert_uint_eq(trace->solve_count, 0);
}
END_TEST

/* Same demand, resources counted from each rank's base: they do not meet. */
START_TEST(a_base_moves_a_demand_to_a_ranks_own_resources)
{
    struct task_graph *graph = graph_of_link(2);
    (void)task_graph_add_resource(graph, "link of rank 1", UNIT_A_PS);
    int32_t demand = add_simple_demand(graph, UNIT_A_PS, 1);
    struct task task = {.work = 100, .demand = demand};
    uint32_t a = task_graph_add_task(graph, &task, 0);
    task.resource_base = 1;
    uint32_t b = task_graph_add_task(graph, &task, 1);
    const struct trace *trace = engine_run(graph, arena);
    check_entry(trace, a, 0, 100);
    check_entry(trace, b, 0, 100);
    ck_assert_uint_eq(trace->solve_count, 0);
}
END_TEST

/* Both resources, one of them, one twice, more than there is, or another order; then none. */
static void
add_kernel_demands(struct task_graph *graph)
{
    static const struct task_usage usages[][2] = {
        {{0, 0.5}, {1, 0.5}}, {{0, 0.9}, {1, 0.3}}, {{0, 0.7}, {1, 1.5}},
        {{1, 0.4}, {0, 0.4}}, {{0, 0.4}, {0, 0.4}}, {{1, 0.8}, {0, 0}},
    };
    for (size_t i = 0; i < sizeof usages / sizeof *usages; i++) {
        struct task_demand demand = {UNIT_A_PS / (double)(1 + i % 2), (double)(1 + i % 3),
                                     usages[i], 2};
        (void)task_graph_add_demand(graph, &demand);
    }
    (void)task_graph_add_demand(graph, &(struct task_demand){UNIT_A_PS, 1, NULL, 0});
}

enum { KERNEL_DEMANDS = 7, KERNEL_LANES = 3 };

/* Lanes 1 and 2 are for what runs beside the kernels of lane 0: longer, and often on resources of
 * their own. */
static struct task
random_kernel(uint64_t *state, uint32_t lane)
{
    bool is_short = lane == 0 || check_random_below(state, 2);
    bool is_elsewhere = check_random_below(state, lane == 0 ? 6 : 2) == 0;
    return (struct task){.work = 0.3 * check_random_below(state, is_short ? 30 : 300),
                         .delay_ps = check_random_below(state, 8) == 0 ? 5 : 0,
                         .demand = (int32_t)check_random_below(state, KERNEL_DEMANDS),
                         .resource_base = is_elsewhere ? 2 : 0};
}

/* A task of one lane, said as such or as a rendezvous of that lane; now and then of two lanes. */
static void
add_kernel(struct task_graph *graph, uint64_t *state, bool is_joint)
{
    uint32_t lane = check_random_below(state, 8) == 0 ? 1 + check_random_below(state, 2) : 0;
    const uint32_t lanes[] = {lane, (lane + 2) % KERNEL_LANES};
    struct task task = random_kernel(state, lane);
    if (check_random_below(state, 20) == 0)
        (void)task_graph_add_joint_task(graph, &task, lanes, 2);
    else if (is_joint)
        (void)task_graph_add_joint_task(graph, &task, lanes, 1);
    else
        (void)task_graph_add_task(graph, &task, lane);
}

/* Kernels of lane 0, most of them behind each other without anything between; a few tasks of two
 * other lanes are beside them or wait for them, or the kernels for those. */
static const struct trace *
run_kernels(uint64_t state, bool is_joint)
{
    uint32_t task_count = 1 + check_random_below(&state, 60);
    struct task_graph *graph = graph_of_link(KERNEL_LANES);
    for (int i = 1; i < 4; i++)
        (void)task_graph_add_resource(graph, "hbm", UNIT_A_PS);
    add_kernel_demands(graph);
    uint32_t lane = check_random_below(&state, 3);
    task_graph_put_behind(graph, lane, (lane + 1) % KERNEL_LANES);
    task_graph_set_hold(graph, 0, 3);
    task_graph_set_hold(graph, KERNEL_DEMANDS - 1, 2);
    for (uint32_t i = 0; i < task_count; i++) {
        add_kernel(graph, &state, is_joint);
        if (i > 0 && check_random_below(&state, 10) == 0)
            task_graph_add_dependency(graph, check_random_below(&state, i), i);
    }
    return engine_run(graph, arena);
}

START_TEST(kernels_run_as_a_rendezvous_of_one_lane_does)
{
    enum { GRAPHS = 6000 };
    uint64_t state = 25;
    for (int i = 0; i < GRAPHS; i++) {
        (void)check_random_below(&state, 1);
        const struct trace *one = run_kernels(state, false);
        const struct trace *joint = run_kernels(state, true);
        CHECK_OFTEN(memcmp(one->entries, joint->entries, one->count * sizeof *one->entries) ==
                    0);
        CHECK_OFTEN(one->end_ps == joint->end_ps && one->event_count == joint->event_count &&
                    one->solve_count == joint->solve_count);
        arena_clear(arena);
    }
}
END_TEST

/* By hand: a kernel to 5 ps, a rendezvous to 10 that would hold up lane 2, kernels to 11 and 30:
 * what begins on lane 2 at 12 is not held up any more. */
START_TEST(a_rendezvous_has_left_all_its_lanes_when_one_goes_on)
{
    struct task_graph *graph = graph_of_link(3);
    int32_t whole = add_simple_demand(graph, UNIT_A_PS, 1);
    task_graph_set_hold(graph, whole, 10);
    task_graph_put_behind(graph, 2, 1);
    (void)add_work(graph, 0, 5, whole);
    struct task both = {.work = 5, .demand = whole};
    (void)task_graph_add_joint_task(graph, &both, (const uint32_t[]){0, 1}, 2);
    (void)add_work(graph, 0, 1, whole);
    (void)add_work(graph, 0, 19, whole);
    (void)add_delay(graph, 2, 12);
    uint32_t behind = add_delay(graph, 2, 1);
    check_entry(engine_run(graph, arena), behind, 12, 13);
}
END_TEST

/* By hand: kernels of 10, 20 and 30 ps on a lane, each with the link to itself; on another lane 60
 * ps end as the third does, but were there first, so that what waits for both names them. */
START_TEST(a_chain_of_kernels_ends_before_another_lane_at_the_same_time)
{
    struct task_graph *graph = graph_of_link(2);
    int32_t whole = add_simple_demand(graph, UNIT_A_PS, 1);
    uint32_t beside = add_delay(graph, 1, 60);
    uint32_t kernels[3];
    for (uint32_t i = 0; i < 3; i++)
        kernels[i] = add_work(graph, 0, 10 * (i + 1), whole);
    uint32_t last = add_delay(graph, 1, 1);
    task_graph_add_dependency(graph, kernels[2], last);
    const struct trace *trace = engine_run(graph, arena);
    check_entry(trace, kernels[0], 0, 10);
    check_entry(trace, kernels[1], 10, 30);
    check_entry(trace, kernels[2], 30, 60);
    check_entry(trace, last, 60, 61);
    ck_assert_int_eq(trace->entries[kernels[2]].released_by, (int32_t)kernels[1]);
    ck_assert_int_eq(trace->entries[last].released_by, (int32_t)beside);
    ck_assert_uint_eq(trace->event_count, 5);
}
END_TEST

Suite *engine_suite(void);

Suite *
engine_suite(void)
{
    Suite *suite = suite_create("engine");
    TCase *facts = tcase_create("facts");
    tcase_add_checked_fixture(facts, begin, end);
    tcase_add_test(facts, a_running_task_holds_up_the_lane_behind);
    tcase_add_test(facts, a_graph_of_nothing_ends_at_once);
    tcase_add_test(facts, a_lane_runs_in_order_and_a_rendezvous_waits_for_all);
    tcase_add_test(facts, a_dependency_holds_a_task_and_its_lane_back);
    tcase_add_test(facts, ties_of_release_prefer_the_first_lane_then_the_first_added);
    tcase_add_test(facts, tasks_of_no_length_pass_in_one_instant);
    tcase_add_test(facts, alone_a_task_ends_at_the_nearest_picosecond);
    tcase_add_test(facts, two_tasks_share_a_link_equally);
    tcase_add_test(facts, weights_are_honoured);
    tcase_add_test(facts, three_flows_on_two_links);
    tcase_add_test(facts, a_top_rate_leaves_room_for_others);
    tcase_add_test(facts, a_delay_takes_no_resource);
    tcase_add_test(facts, a_task_alone_can_be_held_back);
    tcase_add_test(facts, what_meets_only_at_one_instant_does_not_share);
    tcase_add_test(facts, a_base_moves_a_demand_to_a_ranks_own_resources);
    tcase_add_test(facts, kernels_run_as_a_rendezvous_of_one_lane_does);
    tcase_add_test(facts, a_rendezvous_has_left_all_its_lanes_when_one_goes_on);
    tcase_add_test(facts, a_chain_of_kernels_ends_before_another_lane_at_the_same_time);
    suite_add_tcase(suite, facts);
    return suite;
}
