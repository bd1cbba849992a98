/* Does the graph give back what was put in, and who comes after whom? */
#include "sim/engine/task_graph.h"

#include <check.h>

#include "sim/base/check_arena.h"
#include "sim/base/check_often.h"

enum { MANY = 5000 };

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
add_pause(struct task_graph *graph, uint32_t lane)
{
    struct task task = {.delay_ps = 1, .demand = TASK_NONE};
    return task_graph_add_task(graph, &task, lane);
}

static void
check_list(struct task_lists lists, uint32_t list, const uint32_t *wanted, size_t count)
{
    uint32_t at = lists.begins[list];
    ck_assert_uint_eq(lists.begins[list + 1] - at, count);
    for (size_t i = 0; i < count; i++) {
        ck_assert_uint_eq(lists.items[at + i], wanted[i]);
    }
}

static void
check_followers(struct task_followers followers, uint32_t task, const uint32_t *wanted,
                size_t count)
{
    const struct follower_head *head = &followers.heads[task];
    CHECK_OFTEN(head->first == (count > 0 ? (int32_t)wanted[0] : TASK_NONE));
    CHECK_OFTEN(head[1].others - head[0].others == (count > 0 ? count - 1 : 0));
    for (size_t i = 1; i < count; i++)
        CHECK_OFTEN(followers.others[head->others + i - 1] == wanted[i]);
}

START_TEST(a_task_comes_back_as_it_was_given)
{
    struct task_graph *graph = task_graph_new(arena, 0);
    uint32_t lane = task_graph_add_lane(graph, "compute", 3);
    int32_t demand = task_graph_add_demand(graph, &(struct task_demand){2, 1, NULL, 0});
    struct task given = {
        .delay_ps = 11, .work = 2.5, .demand = demand, .resource_base = 4, .tag = 99};
    struct task task = task_graph_task(graph, task_graph_add_task(graph, &given, lane));
    ck_assert_int_eq(task.delay_ps, 11);
    ck_assert(task.work == 2.5);
    ck_assert_int_eq(task.demand, demand);
    ck_assert_uint_eq(task.resource_base, 4);
    ck_assert_uint_eq(task.tag, 99);
    ck_assert_str_eq(task_graph_lane(graph, lane).name, "compute");
    ck_assert_uint_eq(task_graph_lane(graph, lane).group, 3);
}
END_TEST

START_TEST(a_demand_is_copied_without_empty_usages)
{
    struct task_graph *graph = task_graph_new(arena, 0);
    struct task_usage usages[] = {{0, 0.5}, {1, 0}, {2, 4}};
    int32_t index = task_graph_add_demand(graph, &(struct task_demand){8, 3, usages, 3});
    usages[0].amount = 77;
    const struct task_demand *demand = &task_graph_demands(graph)[index];
    ck_assert(demand->top_rate_per_s == 8 && demand->weight == 3);
    ck_assert_uint_eq(demand->usage_count, 2);
    ck_assert(demand->usages[0].amount == 0.5);
    ck_assert_uint_eq(demand->usages[1].resource, 2);
}
END_TEST

START_TEST(a_resource_comes_back_as_it_was_given)
{
    struct task_graph *graph = task_graph_new(arena, 0);
    (void)task_graph_add_resource(graph, "hbm", 5.3e12);
    uint32_t nic = task_graph_add_resource(graph, "nic", 5e10);
    ck_assert_uint_eq(task_graph_resource_count(graph), 2);
    ck_assert_str_eq(task_graph_resource_name(graph, nic), "nic");
    ck_assert(task_graph_resource_capacity_per_s(graph, nic) == 5e10);
}
END_TEST

START_TEST(lanes_of_a_task_keep_their_order)
{
    struct task_graph *graph = task_graph_new(arena, 2);
    for (uint32_t i = 0; i < 3; i++) {
        (void)task_graph_add_lane(graph, "lane", i);
    }
    struct task task = {.demand = TASK_NONE};
    uint32_t single = task_graph_add_task(graph, &task, 1);
    uint32_t joint = task_graph_add_joint_task(graph, &task, (uint32_t[]){2, 0}, 2);
    size_t count;
    ck_assert_uint_eq(task_graph_task_lanes(graph, single, &count)[0], 1);
    ck_assert_uint_eq(count, 1);
    const uint32_t *lanes = task_graph_task_lanes(graph, joint, &count);
    ck_assert_uint_eq(count, 2);
    ck_assert(lanes[0] == 2 && lanes[1] == 0);
}
END_TEST

/* lane 0: tasks 0, 2, 3; lane 1: tasks 1, 3; lane 2: none. */
START_TEST(each_lane_lists_its_tasks_in_order)
{
    struct task_graph *graph = task_graph_new(arena, 0);
    for (uint32_t i = 0; i < 3; i++) {
        (void)task_graph_add_lane(graph, "lane", i);
    }
    (void)add_pause(graph, 0);
    (void)add_pause(graph, 1);
    (void)add_pause(graph, 0);
    struct task joint = {.demand = TASK_NONE};
    (void)task_graph_add_joint_task(graph, &joint, (uint32_t[]){1, 0}, 2);
    struct task_lists lists = task_graph_order(graph, arena).lane_tasks;
    check_list(lists, 0, (uint32_t[]){0, 2, 3}, 3);
    check_list(lists, 1, (uint32_t[]){1, 3}, 2);
    check_list(lists, 2, NULL, 0);
}
END_TEST

/* On one lane each is followed by the next, then by those that were said to wait for it. */
START_TEST(followers_keep_the_order_in_which_they_were_said)
{
    struct task_graph *graph = task_graph_new(arena, 0);
    uint32_t lane = task_graph_add_lane(graph, "lane", 0);
    for (int i = 0; i < 4; i++) {
        (void)add_pause(graph, lane);
    }
    task_graph_add_dependency(graph, 0, 3);
    task_graph_add_dependency(graph, 1, 2);
    task_graph_add_dependency(graph, 0, 2);
    struct task_followers followers = task_graph_order(graph, arena).followers;
    check_followers(followers, 0, (uint32_t[]){1, 3, 2}, 3);
    check_followers(followers, 1, (uint32_t[]){2, 2}, 2);
    check_followers(followers, 2, (uint32_t[]){3}, 1);
    check_followers(followers, 3, NULL, 0);
}
END_TEST

/* Task 0 on lanes 2, 0 and 1 is followed on them by 3, 2 and nobody; 2 and 3 by 4 on both. */
START_TEST(a_joint_task_is_followed_in_the_order_of_its_lanes)
{
    struct task_graph *graph = task_graph_new(arena, 0);
    for (uint32_t i = 0; i < 3; i++)
        (void)task_graph_add_lane(graph, "lane", i);
    struct task joint = {.demand = TASK_NONE};
    (void)task_graph_add_joint_task(graph, &joint, (uint32_t[]){2, 0, 1}, 3);
    uint32_t depends = task_graph_add_lane(graph, "lane", 3);
    (void)add_pause(graph, depends);
    (void)add_pause(graph, 0);
    (void)add_pause(graph, 2);
    (void)task_graph_add_joint_task(graph, &joint, (uint32_t[]){0, 2}, 2);
    task_graph_add_dependency(graph, 0, 1);
    struct task_followers followers = task_graph_order(graph, arena).followers;
    check_followers(followers, 0, (uint32_t[]){3, 2, 1}, 3);
    check_followers(followers, 1, NULL, 0);
    check_followers(followers, 2, (uint32_t[]){4}, 1);
    check_followers(followers, 3, (uint32_t[]){4}, 1);
    check_followers(followers, 4, NULL, 0);
}
END_TEST

/* Task 0 of a lane, and 1 of two lanes, have nothing behind them but what depends on them. */
START_TEST(what_is_last_on_its_lanes_is_followed_by_what_depends_on_it)
{
    struct task_graph *graph = task_graph_new(arena, 0);
    for (uint32_t i = 0; i < 4; i++)
        (void)task_graph_add_lane(graph, "lane", i);
    (void)add_pause(graph, 0);
    struct task joint = {.demand = TASK_NONE};
    (void)task_graph_add_joint_task(graph, &joint, (uint32_t[]){1, 2}, 2);
    for (int i = 0; i < 3; i++)
        (void)add_pause(graph, 3);
    static const uint32_t pairs[][2] = {{0, 4}, {1, 3}, {0, 2}, {1, 2}, {0, 3}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        task_graph_add_dependency(graph, pairs[i][0], pairs[i][1]);
    struct task_followers followers = task_graph_order(graph, arena).followers;
    check_followers(followers, 0, (uint32_t[]){4, 2, 3}, 3);
    check_followers(followers, 1, (uint32_t[]){3, 2}, 2);
    check_followers(followers, 2, (uint32_t[]){3}, 1);
}
END_TEST

/* Past every block and every doubling: of tasks on two lanes by turns, i is followed by i + 2 on
 * its lane and by i + 1, that depends on it. */
START_TEST(many_dependencies_are_kept)
{
    struct task_graph *graph = task_graph_new(arena, 0);
    for (uint32_t i = 0; i < 2; i++)
        (void)task_graph_add_lane(graph, "lane", i);
    for (uint32_t i = 0; i < MANY; i++) {
        (void)add_pause(graph, i % 2);
        if (i > 0) {
            task_graph_add_dependency(graph, i - 1, i);
        }
    }
    ck_assert_uint_eq(task_graph_task_count(graph), MANY);
    struct task_followers followers = task_graph_order(graph, arena).followers;
    for (uint32_t i = 0; i + 2 < MANY; i++) {
        check_followers(followers, i, (uint32_t[]){i + 2, i + 1}, 2);
    }
}
END_TEST

Suite *task_graph_suite(void);

Suite *
task_graph_suite(void)
{
    Suite *suite = suite_create("task_graph");
    TCase *facts = tcase_create("facts");
    tcase_add_checked_fixture(facts, begin, end);
    tcase_add_test(facts, a_task_comes_back_as_it_was_given);
    tcase_add_test(facts, a_demand_is_copied_without_empty_usages);
    tcase_add_test(facts, a_resource_comes_back_as_it_was_given);
    tcase_add_test(facts, lanes_of_a_task_keep_their_order);
    tcase_add_test(facts, each_lane_lists_its_tasks_in_order);
    tcase_add_test(facts, followers_keep_the_order_in_which_they_were_said);
    tcase_add_test(facts, a_joint_task_is_followed_in_the_order_of_its_lanes);
    tcase_add_test(facts, what_is_last_on_its_lanes_is_followed_by_what_depends_on_it);
    tcase_add_test(facts, many_dependencies_are_kept);
    suite_add_tcase(suite, facts);
    return suite;
}
