/* Do flows alone end when the engine says that tasks like them end, in little memory? */
#include "sim/engine/fluid.h"

#include <check.h>
#include <stdbool.h>
#include <stdlib.h>

#include "sim/base/check_arena.h"
#include "sim/base/check_often.h"
#include "sim/base/check_random.h"
#include "sim/engine/engine.h"

enum { CASES = 400, FLOWS_MAX = 40, LINKS_MAX = 6, PASSAGES_MAX = 4 };

static const int64_t PS_PER_S = 1000000000000;

static struct arena *arena;

static void
setup(void)
{
    arena = check_arena_new();
}

static void
teardown(void)
{
    arena_free(arena);
}

/* Flow 0 alone on 10 units/s until flow 1 comes at 1 s; then half each: its other 10 take 2 s.
 * Flow 2 waits for 1, which has moved 10 beside 0 and moves 20 alone; 3 has no work. */
START_TEST(flows_share_from_when_they_start_until_they_end)
{
    const struct fluid_size size = {.flows = 4, .links = 2, .passages = 4};
    static const int64_t starts_s[] = {0, 1, 2, 0};
    static const double works[] = {20, 30, 10, 0};
    static const int64_t ends_s[] = {3, 5, 6, 6};
    struct fluid *fluid = fluid_new(&size, arena);
    (void)fluid_add_link(fluid, 10);
    (void)fluid_add_link(fluid, 10);
    for (uint32_t flow = 0; flow < 4; flow++) {
        ck_assert_uint_eq(fluid_add_flow(fluid, starts_s[flow] * PS_PER_S, works[flow]), flow);
        fluid_add_passage(fluid, flow / 2, 1);
        if (flow >= 2)
            fluid_add_dependency(fluid, flow - 1);
    }
    struct fluid_counts counts = fluid_run(fluid);
    for (uint32_t flow = 0; flow < 4; flow++)
        ck_assert_int_eq(fluid_end_ps(fluid, flow), ends_s[flow] * PS_PER_S);
    ck_assert_uint_eq(counts.events, 7); /* a start and an end each, the last both in one */
}
END_TEST

struct scenario_flow {
    int64_t start_ps, delay_ps;
    double work, amounts[PASSAGES_MAX];
    uint32_t links[PASSAGES_MAX], befores[2];
    uint32_t passage_count, before_count;
};

struct scenario {
    double capacities_per_s[LINKS_MAX];
    struct scenario_flow flows[FLOWS_MAX];
    uint32_t link_count, flow_count;
};

/* Few sizes, starts and capacities, so that many things tie; amounts that are not 1 in some. */
static void
make_flow(struct scenario *scenario, bool is_folded, uint64_t *state)
{
    uint32_t index = scenario->flow_count++;
    struct scenario_flow *flow = &scenario->flows[index];
    *flow = (struct scenario_flow){
        .start_ps = 1000000000 * (int64_t)check_random_below(state, 4),
        .delay_ps = 1000000 * (int64_t)check_random_below(state, 3),
        .work = 1e7 * check_random_below(state, 4),
        .passage_count = 1 + check_random_below(state, PASSAGES_MAX),
        .before_count = index > 0 ? check_random_below(state, 3) : 0,
    };
    if (flow->passage_count > scenario->link_count)
        flow->passage_count = scenario->link_count;
    uint32_t first = check_random_below(state, scenario->link_count);
    for (uint32_t i = 0; i < flow->passage_count; i++) {
        flow->links[i] = (first + i) % scenario->link_count;
        flow->amounts[i] = is_folded ? 1 + check_random_below(state, 3) : 1;
    }
    for (uint32_t i = 0; i < flow->before_count; i++)
        flow->befores[i] = check_random_below(state, index > 0 ? index : 1);
}

static void
make_scenario(struct scenario *scenario, uint64_t *state)
{
    bool is_folded = check_random_below(state, 2) == 0;
    *scenario = (struct scenario){.link_count = 1 + check_random_below(state, LINKS_MAX)};
    for (uint32_t i = 0; i < scenario->link_count; i++)
        scenario->capacities_per_s[i] = 1e10 * (1 + check_random_below(state, 3));
    for (uint32_t left = 1 + check_random_below(state, FLOWS_MAX); left > 0; left--)
        make_flow(scenario, is_folded, state);
}

/* The flow as a task on a lane of its own, which a flow runs at that its links would let it run
 * at alone. */
static void
add_task(struct task_graph *graph, const struct scenario *scenario, uint32_t index)
{
    const struct scenario_flow *flow = &scenario->flows[index];
    struct task_usage usages[PASSAGES_MAX];
    struct task_demand demand = {.top_rate_per_s = 1e30,
                                 .weight = 1,
                                 .usages = usages,
                                 .usage_count = flow->passage_count};
    for (uint32_t i = 0; i < flow->passage_count; i++) {
        usages[i] = (struct task_usage){flow->links[i], flow->amounts[i]};
        double alone = scenario->capacities_per_s[flow->links[i]] / flow->amounts[i];
        if (alone < demand.top_rate_per_s)
            demand.top_rate_per_s = alone;
    }
    struct task release = {.delay_ps = flow->start_ps, .demand = TASK_NONE};
    struct task task = {.delay_ps = flow->delay_ps,
                        .work = flow->work,
                        .demand = task_graph_add_demand(graph, &demand)};
    uint32_t lane = task_graph_add_lane(graph, "flow", 0);
    uint32_t released =
        task_graph_add_task(graph, &release, task_graph_add_lane(graph, "start", 0));
    uint32_t number = task_graph_add_task(graph, &task, lane);
    task_graph_add_dependency(graph, released, number);
    for (uint32_t i = 0; i < flow->before_count; i++)
        task_graph_add_dependency(graph, 2 * flow->befores[i] + 1, number);
}

static void
check_scenario(const struct scenario *scenario)
{
    const struct fluid_size size = {.flows = scenario->flow_count,
                                    .links = scenario->link_count,
                                    .passages = FLOWS_MAX * PASSAGES_MAX};
    struct fluid *fluid = fluid_new(&size, arena);
    struct task_graph *graph = task_graph_new(arena, 2 * (size_t)scenario->flow_count);
    for (uint32_t i = 0; i < scenario->link_count; i++) {
        (void)fluid_add_link(fluid, scenario->capacities_per_s[i]);
        (void)task_graph_add_resource(graph, "link", scenario->capacities_per_s[i]);
    }
    for (uint32_t index = 0; index < scenario->flow_count; index++) {
        const struct scenario_flow *flow = &scenario->flows[index];
        (void)fluid_add_flow(fluid, flow->start_ps, flow->work);
        fluid_set_delay(fluid, flow->delay_ps);
        for (uint32_t i = 0; i < flow->passage_count; i++)
            fluid_add_passage(fluid, flow->links[i], flow->amounts[i]);
        for (uint32_t i = 0; i < flow->before_count; i++)
            fluid_add_dependency(fluid, flow->befores[i]);
        add_task(graph, scenario, index);
    }
    (void)fluid_run(fluid);
    const struct trace *trace = engine_run(graph, arena);
    for (uint32_t i = 0; i < scenario->flow_count; i++) {
        int64_t wanted_ps = trace->entries[2 * i + 1].end_ps;
        /* Each rounds every end to a picosecond, on which others may wait. */
        CHECK_OFTEN(llabs(fluid_end_ps(fluid, i) - wanted_ps) <= scenario->flow_count);
    }
}

START_TEST(random_flows_end_when_the_engine_ends_tasks_like_them)
{
    static struct scenario scenario;
    uint64_t state = 7;
    for (int i = 0; i < CASES; i++) {
        make_scenario(&scenario, &state);
        check_scenario(&scenario);
    }
}
END_TEST

/* 16,256 flows that all hang together, four links each: 90 bytes a flow. */
START_TEST(a_flow_takes_less_than_a_hundred_bytes)
{
    enum { FLOWS = 16256, LINKS = 256, PASSAGES = 4 };
    const struct fluid_size size = {FLOWS, LINKS, (size_t)FLOWS * PASSAGES};
    size_t before_bytes = arena_size_bytes(arena);
    struct fluid *fluid = fluid_new(&size, arena);
    for (int i = 0; i < LINKS; i++)
        (void)fluid_add_link(fluid, 1e9);
    for (uint32_t i = 0; i < FLOWS; i++) {
        (void)fluid_add_flow(fluid, 0, 1e6);
        for (uint32_t p = 0; p < PASSAGES; p++)
            fluid_add_passage(fluid, (i * 7 + p * 61) % LINKS, 1);
    }
    (void)fluid_run(fluid);
    ck_assert_uint_lt(arena_size_bytes(arena) - before_bytes, (size_t)100 * FLOWS);
}
END_TEST

Suite *fluid_suite(void);

Suite *
fluid_suite(void)
{
    Suite *suite = suite_create("fluid");
    TCase *tests = tcase_create("fluid");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, flows_share_from_when_they_start_until_they_end);
    tcase_add_test(tests, random_flows_end_when_the_engine_ends_tasks_like_them);
    tcase_add_test(tests, a_flow_takes_less_than_a_hundred_bytes);
    suite_add_tcase(suite, tests);
    return suite;
}
