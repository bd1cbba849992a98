/* What of its NICs a group reaches that has a part of each node: worked by hand on ideal wires. And
 * which pairs of ranks pay the same. */
#include "hw/collective_price.h"

#include <math.h>

#include "hw/check_cluster.h"
#include "sim/base/check_arena.h"
#include "sim/base/check_near.h"
#include "sim/base/check_often.h"
#include "sim/base/hash.h"

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

static double
send_s(int64_t from, int64_t to, double bytes)
{
    struct collective send = {
        .kind = COLLECTIVE_SEND_RECV, .ranks = 2, .bytes = bytes, .from = from, .to = to};
    struct collective_cost cost;
    ck_assert(collective_cost(cluster, &send, &cost, &errors));
    return cost.latency_s + cost.transfer_s;
}

/* A thousand pairs of random ranks and bytes, each against the first of its number. Three nodes in
 * leaves of two, four to one: in a node; to another node on a rail or across rails, in a leaf or
 * out of it. */
START_TEST(pairs_of_one_number_send_at_one_price)
{
    int64_t first[COLLECTIVE_PAIRS][2];
    bool is_known[COLLECTIVE_PAIRS] = {false};
    int known = 0;
    uint64_t draw = 1;
    cluster = check_cluster_read(arena, "mi300x-pollara-128");
    cluster->fabric.leaf_nodes = 2;
    cluster->fabric.oversubscription_ratio = 4;
    for (int i = 0; i < 1000; i++) {
        int64_t from = (int64_t)((draw = hash_mixed(draw + 1)) % 24);
        int64_t to = (int64_t)((draw = hash_mixed(draw + 1)) % 24);
        double bytes = exp2((double)((draw = hash_mixed(draw + 1)) % 3000) / 100);
        int pair = from == to ? 0 : collective_pair(cluster, from, to);
        if (from == to)
            continue;
        if (!is_known[pair]) {
            first[pair][0] = from, first[pair][1] = to;
            is_known[pair] = true;
            known++;
        }
        double own_s = send_s(from, to, bytes);
        CHECK_OFTEN(own_s == send_s(first[pair][0], first[pair][1], bytes));
        CHECK_OFTEN(own_s <= send_s(from, to, bytes * 1.01));
    }
    ck_assert_int_eq(known, 5);
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
    tcase_add_test(tests, pairs_of_one_number_send_at_one_price);
    suite_add_tcase(suite, tests);
    return suite;
}
