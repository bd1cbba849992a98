/* Unequal all-to-alls, their busiest wire found by hand. */
#include "hw/collective_matrix.h"

#include <string.h>

#include "hw/check_cluster.h"
#include "sim/base/check_arena.h"
#include "sim/base/check_near.h"

static struct arena *arena;
static struct error_list errors;
static struct cluster *ideal; /* 16 nodes of 8: 48e9 bytes/s a link, 50e9 a NIC, no latency */

static void
setup(void)
{
    arena = check_arena_new();
    errors = (struct error_list){0};
    ideal = check_cluster_read(arena, "reference-rails-16");
}

static void
teardown(void)
{
    arena_free(arena);
}

START_TEST(the_size_is_the_largest_row)
{
    static const double matrix[4] = {1, 2, 3, 4};
    CHECK_NEAR(collective_matrix_bytes(matrix, 2), 7, 0);
}
END_TEST

/* 4 ranks on 2 nodes of rails. Rank 0 sends 3 to rank 3, by the link to rank 1 and NIC 1; rank 1
 * sends 2 to rank 3 by NIC 1 and 4 to rank 0: 5 over NIC 1 of node 0, 4 over a link. A switch needs
 * no link: 5 into NIC 3. */
START_TEST(unequal_pairs_are_bound_by_the_busiest_wire)
{
    static const double matrix[16] = {[0 * 4 + 3] = 3e9, [1 * 4 + 3] = 2e9, [1 * 4 + 0] = 4e9};
    struct collective pairs = {.kind = COLLECTIVE_ALL_TO_ALL_V,
                               .ranks = 4,
                               .nodes = 2,
                               .bytes = 6e9,
                               .bytes_matrix = matrix};
    struct collective_cost cost;
    ck_assert(collective_cost(ideal, &pairs, &cost, &errors));
    CHECK_NEAR(cost.transfer_s, 5 / 50.0, 1e-12);
    ck_assert_str_eq(cost.bound, "nic");
    ideal->fabric.network_topology = NETWORK_SINGLE_SWITCH;
    ck_assert(collective_cost(ideal, &pairs, &cost, &errors));
    CHECK_NEAR(cost.transfer_s, 5 / 50.0, 1e-12);
    ideal->fabric.nic_bytes_per_s = 500e9;
    ck_assert(collective_cost(ideal, &pairs, &cost, &errors));
    CHECK_NEAR(cost.transfer_s, 4 / 48.0, 1e-12);
}
END_TEST

/* Equal pairs: what an all-to-all of as many bytes takes. */
START_TEST(equal_pairs_are_an_all_to_all)
{
    static const int64_t groups[][2] = {{8, 1}, {4, 4}, {16, 2}, {32, 4}};
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
        int64_t ranks = groups[i][0];
        double *matrix = arena_alloc(arena, (size_t)(ranks * ranks), sizeof *matrix);
        for (int64_t j = 0; j < ranks * ranks; j++)
            matrix[j] = 1e6;
        struct collective pairs = {.kind = COLLECTIVE_ALL_TO_ALL_V,
                                   .ranks = ranks,
                                   .nodes = groups[i][1],
                                   .bytes = 1e6 * (double)ranks,
                                   .bytes_matrix = matrix};
        struct collective_cost cost;
        ck_assert(collective_cost(ideal, &pairs, &cost, &errors));
        double pairs_s = cost.transfer_s;
        pairs.kind = COLLECTIVE_ALL_TO_ALL;
        ck_assert(collective_cost(ideal, &pairs, &cost, &errors));
        CHECK_NEAR(pairs_s, cost.transfer_s, 1e-12);
    }
}
END_TEST

/* Two ports of a switch: 5 out of GPU 0, 6 into GPU 1. */
START_TEST(a_port_takes_all_that_leaves_or_enters)
{
    static const double matrix[9] = {[0 * 3 + 1] = 2e9, [0 * 3 + 2] = 3e9, [2 * 3 + 1] = 4e9};
    struct collective pairs = {.kind = COLLECTIVE_ALL_TO_ALL_V,
                               .ranks = 3,
                               .nodes = 1,
                               .bytes = 5e9,
                               .bytes_matrix = matrix};
    struct collective_cost cost;
    ideal->fabric.node_topology = NODE_SWITCH;
    ck_assert(collective_cost(ideal, &pairs, &cost, &errors));
    CHECK_NEAR(cost.transfer_s, 6 / 48.0, 1e-12);
}
END_TEST

START_TEST(groups_with_other_gpus_on_each_node_are_refused)
{
    static const double matrix[4] = {0, 1, 1, 0};
    struct collective pairs = {.kind = COLLECTIVE_ALL_TO_ALL_V,
                               .group = {.size = 2, .stride = 9},
                               .bytes = 1,
                               .bytes_matrix = matrix};
    struct collective_cost cost;
    ck_assert(!collective_cost(ideal, &pairs, &cost, &errors));
    ck_assert_int_eq(errors.items[0].kind, ERROR_INFEASIBLE);
    ck_assert(strstr(errors.items[0].what, "ranks 0 and 9") != NULL);
}
END_TEST

Suite *collective_matrix_suite(void);

Suite *
collective_matrix_suite(void)
{
    Suite *suite = suite_create("collective_matrix");
    TCase *tests = tcase_create("collective_matrix");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, the_size_is_the_largest_row);
    tcase_add_test(tests, unequal_pairs_are_bound_by_the_busiest_wire);
    tcase_add_test(tests, equal_pairs_are_an_all_to_all);
    tcase_add_test(tests, a_port_takes_all_that_leaves_or_enters);
    tcase_add_test(tests, groups_with_other_gpus_on_each_node_are_refused);
    suite_add_tcase(suite, tests);
    return suite;
}
