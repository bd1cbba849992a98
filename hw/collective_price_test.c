/* What of its NICs a group reaches that has a part of each node: worked by hand on ideal wires. */
#include "hw/collective_price.h"

#include "hw/check_cluster.h"
#include "sim/base/check_arena.h"
#include "sim/base/check_near.h"

static struct arena *arena;
static struct error_list errors;
static struct cluster *cluster; /* 16 nodes of 8: 48e9 bytes/s a link, 50e9 a NIC, no latency */

static void
setup(void)
{
    arena = check_arena_new();
    errors = (struct error_list){0};
    cluster = check_cluster_read(arena, "reference-rails-16");
}

static void
teardown(void)
{
    arena_free(arena);
}

static struct collective_cost
cost_of(enum collective_kind kind, int64_t ranks, int64_t nodes, double bytes)
{
    struct collective collective = {
        .kind = kind, .ranks = ranks, .nodes = nodes, .bytes = bytes};
    struct collective_cost cost;
    ck_assert_msg(collective_cost(cluster, &collective, &cost, &errors), "%s",
                  errors.items[0].what);
    return cost;
}

static double
transfer_s(enum collective_kind kind, int64_t ranks, int64_t nodes, double bytes)
{
    return cost_of(kind, ranks, nodes, bytes).transfer_s;
}

/* 7 of 8 parts of 50e9 bytes over a NIC of which channels reach half: 14 s in place of 7. Groups of
 * whole nodes, of fewer ranks, and what goes by pairs have all of it. */
START_TEST(part_of_a_node_gets_fewer_channels_to_its_nics)
{
    double bytes = 8 * 50e9;
    cluster->fabric.part_efficiency = 0.5;
    cluster->fabric.part_ranks_minimum = 5;
    CHECK_NEAR(transfer_s(COLLECTIVE_ALL_GATHER, 8, 8, bytes), 14, 1e-15);
    CHECK_NEAR(transfer_s(COLLECTIVE_ALL_REDUCE, 8, 8, bytes), 28, 1e-15);
    CHECK_NEAR(transfer_s(COLLECTIVE_ALL_TO_ALL, 8, 8, bytes), 7, 1e-15);
    CHECK_NEAR(transfer_s(COLLECTIVE_ALL_GATHER, 4, 4, 4 * 50e9), 3, 1e-15);
    struct collective_cost cost = cost_of(COLLECTIVE_ALL_GATHER, 8, 8, bytes);
    ck_assert_str_eq(cost.bound, "nic");
    CHECK_NEAR(cost.nic_fraction, 0.5, 1e-15);
    /* 31 of 32 parts of 48e9 bytes over 8 links of each: by rings through all GPUs of 4 nodes */
    CHECK_NEAR(transfer_s(COLLECTIVE_ALL_GATHER, 32, 4, 32 * 48e9), 31.0 / 8, 1e-15);
}
END_TEST

Suite *collective_price_suite(void);

Suite *
collective_price_suite(void)
{
    Suite *suite = suite_create("collective_price");
    TCase *tests = tcase_create("channels");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, part_of_a_node_gets_fewer_channels_to_its_nics);
    suite_add_tcase(suite, tests);
    return suite;
}
