/* Do rings pass every link equally often, and stay on rails? Counted, link by link. */
#include "hw/collective_rings.h"

#include <check.h>

#include "sim/base/check_arena.h"

enum { GPUS_MAX = 8, NODES_MAX = 7 };

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

static void
check_passes_all_once(const int64_t *order, int64_t length)
{
    bool is_passed[NODES_MAX * GPUS_MAX] = {false};
    for (int64_t i = 0; i < length; i++) {
        ck_assert(order[i] >= 0 && order[i] < length);
        ck_assert(!is_passed[order[i]]);
        is_passed[order[i]] = true;
    }
}

/* How often each link in a node is passed, [node][from][to]; from node to node a ring must go on
 * one rail. */
static void
count_passes(const int64_t *order, int64_t length, int64_t g,
             int passes[NODES_MAX][GPUS_MAX][GPUS_MAX])
{
    for (int64_t i = 0; i < length; i++) {
        int64_t from = order[i], to = order[(i + 1) % length];
        if (from / g == to / g)
            passes[from / g][from % g][to % g]++;
        else
            ck_assert_int_eq(from % g, to % g);
    }
}

static void
check_even(const struct collective_rings *rings, int64_t nodes, int64_t g, int times)
{
    int passes[NODES_MAX][GPUS_MAX][GPUS_MAX] = {{{0}}};
    for (int64_t ring = 0; ring < rings->count; ring++) {
        const int64_t *order = rings->members + ring * rings->length;
        check_passes_all_once(order, rings->length);
        count_passes(order, rings->length, g, passes);
    }
    for (int64_t node = 0; node < nodes; node++)
        for (int64_t from = 0; from < g; from++)
            for (int64_t to = 0; to < g; to++)
                ck_assert_int_eq(passes[node][from][to], from == to ? 0 : times);
}

START_TEST(in_a_node_each_link_lies_on_as_many_rings)
{
    for (int64_t g = 2; g <= GPUS_MAX; g++) {
        struct collective_rings rings = collective_rings_in_node(g, arena);
        ck_assert_int_eq(rings.length, g);
        check_even(&rings, 1, g, g == 4 || g == 6 ? 2 : 1);
    }
}
END_TEST

START_TEST(through_nodes_each_link_lies_on_as_many_rings)
{
    for (int64_t nodes = 2; nodes <= NODES_MAX; nodes++)
        for (int64_t g = 2; g <= GPUS_MAX; g++) {
            struct collective_rings rings;
            bool is_none = nodes % 2 != 0 && (g == 2 || g == 6);
            ck_assert(collective_rings_through_nodes(nodes, g, &rings, arena) == !is_none);
            if (!is_none)
                check_even(&rings, nodes, g, g % 2 == 0 ? 1 : 2);
        }
}
END_TEST

/* Of an even number: as many paths as GPUs, each link on one of them. */
START_TEST(paths_from_all_gpus_pass_each_link_once)
{
    for (int64_t g = 2; g <= GPUS_MAX; g += 2) {
        bool is_passed[GPUS_MAX][GPUS_MAX] = {{false}};
        for (int64_t first = 0; first < g; first++) {
            int64_t path[GPUS_MAX];
            collective_rings_path(g, first, path);
            ck_assert_int_eq(path[0], first);
            for (int64_t i = 1; i < g; i++) {
                ck_assert(!is_passed[path[i - 1]][path[i]]);
                is_passed[path[i - 1]][path[i]] = true;
            }
        }
    }
}
END_TEST

Suite *collective_rings_suite(void);

Suite *
collective_rings_suite(void)
{
    Suite *suite = suite_create("collective_rings");
    TCase *tests = tcase_create("collective_rings");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, in_a_node_each_link_lies_on_as_many_rings);
    tcase_add_test(tests, through_nodes_each_link_lies_on_as_many_rings);
    tcase_add_test(tests, paths_from_all_gpus_pass_each_link_once);
    suite_add_tcase(suite, tests);
    return suite;
}
