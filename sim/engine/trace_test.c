/* Does a trace say what each lane ran and what decided the end? */
#include "sim/engine/trace.h"

#include <check.h>

#include "sim/base/check_arena.h"
#include "sim/engine/engine.h"

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

/* lane 0: [0: 0-10][2: 10-12]      2 frees 3, which waits on lane 1 behind 1 (0-4)
 * lane 1: [1: 0-4]        [3: 12-20]
 * lane 2: nothing */
static const struct trace *
small_trace(void)
{
    struct task_graph *graph = task_graph_new(arena, 4);
    for (uint32_t lane = 0; lane < 3; lane++) {
        (void)task_graph_add_lane(graph, "lane", lane);
    }
    (void)add_delay(graph, 0, 10);
    (void)add_delay(graph, 1, 4);
    uint32_t before = add_delay(graph, 0, 2), after = add_delay(graph, 1, 8);
    task_graph_add_dependency(graph, before, after);
    return engine_run(graph, arena);
}

START_TEST(a_lane_lists_what_it_ran)
{
    const struct trace *trace = small_trace();
    size_t count;
    const uint32_t *tasks = trace_lane_tasks(trace, 1, &count);
    ck_assert_uint_eq(count, 2);
    ck_assert_uint_eq(tasks[0], 1);
    ck_assert_uint_eq(tasks[1], 3);
    (void)trace_lane_tasks(trace, 2, &count);
    ck_assert_uint_eq(count, 0);
}
END_TEST

START_TEST(the_critical_path_goes_back_to_the_beginning)
{
    const struct trace *trace = small_trace();
    uint32_t tasks[4];
    ck_assert_uint_eq(trace_critical_path(trace, tasks, 4), 3);
    ck_assert_uint_eq(tasks[0], 3);
    ck_assert_uint_eq(tasks[1], 2);
    ck_assert_uint_eq(tasks[2], 0);
}
END_TEST

START_TEST(a_path_longer_than_the_room_is_cut_and_counted)
{
    uint32_t tasks[2] = {77, 77};
    ck_assert_uint_eq(trace_critical_path(small_trace(), tasks, 1), 3);
    ck_assert_uint_eq(tasks[0], 3);
    ck_assert_uint_eq(tasks[1], 77);
}
END_TEST

START_TEST(an_empty_trace_has_no_path)
{
    const struct trace *trace = engine_run(task_graph_new(arena, 0), arena);
    ck_assert_uint_eq(trace_critical_path(trace, NULL, 0), 0);
}
END_TEST

Suite *trace_suite(void);

Suite *
trace_suite(void)
{
    Suite *suite = suite_create("trace");
    TCase *facts = tcase_create("facts");
    tcase_add_checked_fixture(facts, begin, end);
    tcase_add_test(facts, a_lane_lists_what_it_ran);
    tcase_add_test(facts, the_critical_path_goes_back_to_the_beginning);
    tcase_add_test(facts, a_path_longer_than_the_room_is_cut_and_counted);
    tcase_add_test(facts, an_empty_trace_has_no_path);
    suite_add_tcase(suite, facts);
    return suite;
}
