/* What collectives cost: closed forms on ideal wires, and published measurements. */
#include <string.h>

#include "hw/check_cluster.h"
#include "hw/collective.h"
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

static struct collective_cost
cost_of(const struct cluster *cluster, enum collective_kind kind, int64_t ranks, int64_t nodes,
        double bytes)
{
    struct collective collective = {
        .kind = kind, .ranks = ranks, .nodes = nodes, .bytes = bytes};
    struct collective_cost cost;
    ck_assert_msg(collective_cost(cluster, &collective, &cost, &errors), "%s",
                  errors.items[0].what);
    return cost;
}

static double
ideal_s(enum collective_kind kind, int64_t ranks, int64_t nodes, double bytes)
{
    struct collective_cost cost = cost_of(ideal, kind, ranks, nodes, bytes);
    CHECK_NEAR(cost.latency_s, 0, 0);
    return cost.transfer_s;
}

static double
bus_of(const struct cluster *cluster, enum collective_kind kind, int64_t ranks, double bytes)
{
    return cost_of(cluster, kind, ranks, ranks > 8 ? ranks / 8 : 1, bytes).bus_bytes_per_s;
}

/* S = 8 * 48e9: one part of 48e9 bytes over each link, so 1 s; 7 links of bus bandwidth. */
START_TEST(a_node_gathers_over_all_its_links)
{
    double bytes = 8 * 48e9;
    CHECK_NEAR(ideal_s(COLLECTIVE_ALL_GATHER, 8, 1, bytes), 1, 1e-15);
    CHECK_NEAR(ideal_s(COLLECTIVE_REDUCE_SCATTER, 8, 1, bytes), 1, 1e-15);
    CHECK_NEAR(ideal_s(COLLECTIVE_ALL_REDUCE, 8, 1, bytes), 2, 1e-15);
    CHECK_NEAR(ideal_s(COLLECTIVE_ALL_TO_ALL, 8, 1, bytes), 1, 1e-15);
    CHECK_NEAR(ideal_s(COLLECTIVE_BROADCAST, 8, 1, 7 * 48e9), 1, 1e-15);
    CHECK_NEAR(bus_of(ideal, COLLECTIVE_ALL_REDUCE, 8, bytes), 7 * 48e9, 1e-15);
    CHECK_NEAR(bus_of(ideal, COLLECTIVE_ALL_GATHER, 8, bytes), 7 * 48e9, 1e-15);
}
END_TEST

/* 4 of 8 GPUs have 3 links each: a part of S / 4 over each. */
START_TEST(part_of_a_node_has_a_link_less_than_gpus)
{
    CHECK_NEAR(ideal_s(COLLECTIVE_ALL_GATHER, 4, 1, 4 * 48e9), 1, 1e-15);
    CHECK_NEAR(cost_of(ideal, COLLECTIVE_ALL_GATHER, 4, 1, 1e9).bus_bytes_per_s, 3 * 48e9,
               1e-15);
    CHECK_NEAR(cost_of(ideal, COLLECTIVE_ALL_GATHER, 4, 1, 1e9).link_fraction, 3.0 / 7, 1e-15);
}
END_TEST

/* 3 of 4 parts of 50e9 bytes over each NIC; all-reduce twice that. */
START_TEST(a_rail_is_bound_by_its_nics)
{
    double bytes = 4 * 50e9;
    CHECK_NEAR(ideal_s(COLLECTIVE_ALL_GATHER, 4, 4, bytes), 3, 1e-15);
    CHECK_NEAR(ideal_s(COLLECTIVE_ALL_REDUCE, 4, 4, bytes), 6, 1e-15);
    CHECK_NEAR(ideal_s(COLLECTIVE_ALL_TO_ALL, 4, 4, bytes), 3, 1e-15);
    CHECK_NEAR(ideal_s(COLLECTIVE_BROADCAST, 4, 4, 50e9), 1, 1e-15);
    ck_assert_str_eq(cost_of(ideal, COLLECTIVE_ALL_GATHER, 4, 4, bytes).bound, "nic");
    CHECK_NEAR(cost_of(ideal, COLLECTIVE_ALL_GATHER, 4, 4, bytes).nic_fraction, 1, 1e-15);
    CHECK_NEAR(cost_of(ideal, COLLECTIVE_ALL_GATHER, 4, 4, bytes).link_fraction, 0, 0);
}
END_TEST

/* An all-gather of 256 MiB over 8 rings of 32 ranks, 31 steps of 1 MiB at 48e9 bytes/s, and an
 * all-to-all of 4 MiB a pair, 24 of them over each NIC of 50e9: the flow-level solution of both
 * (7 936 and 992 flows) ends at 677.205333 and 2013.26592 us. */
START_TEST(closed_forms_agree_with_flows)
{
    const double mib = 1048576;
    CHECK_NEAR(ideal_s(COLLECTIVE_ALL_GATHER, 32, 4, 256 * mib), 677.205333333e-6, 1e-11);
    CHECK_NEAR(ideal_s(COLLECTIVE_ALL_TO_ALL, 32, 4, 128 * mib), 2013.26592e-6, 1e-11);
}
END_TEST

/* (p - 1) / (g (n - 1)) of a NIC: 15 / 8 and 127 / 120 of 50e9 bytes/s. */
START_TEST(an_all_to_all_has_the_bandwidth_of_the_nics)
{
    CHECK_NEAR(bus_of(ideal, COLLECTIVE_ALL_TO_ALL, 16, 1e9), 15.0 / 8 * 50e9, 1e-14);
    CHECK_NEAR(bus_of(ideal, COLLECTIVE_ALL_TO_ALL, 128, 1e9), 127.0 / 120 * 50e9, 1e-14);
}
END_TEST

/* 48e9 bytes: a second over a link; 0.96 s over a NIC; to another rail the link is slower. */
START_TEST(a_send_takes_the_wires_between_its_ends)
{
    static const struct {
        int64_t from, to;
        double seconds;
    } sends[] = {{0, 7, 1}, {0, 8, 0.96}, {3, 127, 1}, {127, 3, 1}, {9, 1, 0.96}};
    for (size_t i = 0; i < sizeof sends / sizeof *sends; i++) {
        struct collective send = {.kind = COLLECTIVE_SEND_RECV,
                                  .ranks = 2,
                                  .nodes = 1,
                                  .bytes = 48e9,
                                  .from = sends[i].from,
                                  .to = sends[i].to};
        struct collective_cost cost;
        ck_assert(collective_cost(ideal, &send, &cost, &errors));
        CHECK_NEAR(cost.transfer_s, sends[i].seconds, 1e-15);
    }
    CHECK_NEAR(ideal_s(COLLECTIVE_SEND_RECV, 2, 2, 50e9), 1, 1e-15);
    CHECK_NEAR(ideal_s(COLLECTIVE_SEND_RECV, 2, 1, 48e9), 1, 1e-15);
}
END_TEST

/* 48e9 bytes from each rank to the next: a second over a link of the node, and as long over the
 * link and the NIC to the next node's first GPU, which is on another rail; along a rail 0.96 s.
 * Of two hops that a link takes 1 us and the network 10, the longest way takes 11. */
START_TEST(a_ring_of_sends_takes_its_longest_way)
{
    CHECK_NEAR(ideal_s(COLLECTIVE_SEND_RECV, 8, 1, 48e9), 1, 1e-15);
    CHECK_NEAR(ideal_s(COLLECTIVE_SEND_RECV, 128, 16, 48e9), 1, 1e-15);
    CHECK_NEAR(ideal_s(COLLECTIVE_SEND_RECV, 16, 16, 48e9), 0.96, 1e-15);
    ideal->fabric.protocols[0].link_hop_s = 1e-6;
    ideal->fabric.protocols[0].nic_hop_s = 1e-5;
    CHECK_NEAR(cost_of(ideal, COLLECTIVE_SEND_RECV, 8, 1, 1).latency_s, 1e-6, 1e-15);
    CHECK_NEAR(cost_of(ideal, COLLECTIVE_SEND_RECV, 16, 2, 1).latency_s, 1.1e-5, 1e-15);
    CHECK_NEAR(bus_of(ideal, COLLECTIVE_SEND_RECV, 128, 1e15), 48e9, 1e-6);
}
END_TEST

/* A chain of 4 nodes at 2 us a step and 100 us for the whole: k = sqrt(2 * 100 / 2) = 10 chunks,
 * (4 - 2 + 10)(2 + 10) = 144 us. Two trees need 2 steps: 4 + 100 = 104 us, the cheaper. Among two
 * nodes both are one step. */
START_TEST(a_broadcast_on_a_rail_takes_the_cheaper_of_chain_and_tree)
{
    ideal->fabric.protocols[0].nic_hop_s = 2e-6;
    struct collective_cost four = cost_of(ideal, COLLECTIVE_BROADCAST, 4, 4, 5e6);
    CHECK_NEAR(four.latency_s + four.transfer_s, 104e-6, 1e-12);
    ck_assert_str_eq(four.algorithm, "rail tree");
    struct collective_cost two = cost_of(ideal, COLLECTIVE_BROADCAST, 2, 2, 5e6);
    CHECK_NEAR(two.latency_s + two.transfer_s, 102e-6, 1e-12);
    ck_assert_str_eq(two.algorithm, "rail chain");
}
END_TEST

/* Steps of 1 us in a node and 10 us between nodes, 100 us a launch. Of 16 ranks on 2 nodes: flat
 * rings 100 + 26 + 40, trees 100 + 14 + 20, two levels 3 * 100 + 2 + 2 * 10: for few bytes
 * trees. */
START_TEST(launches_and_steps_add_up)
{
    struct fabric_protocol *protocol = &ideal->fabric.protocols[0];
    protocol->launch_s = 100e-6;
    protocol->link_hop_s = 1e-6;
    protocol->nic_hop_s = 10e-6;
    struct collective_cost cost = cost_of(ideal, COLLECTIVE_ALL_REDUCE, 16, 2, 8);
    CHECK_NEAR(cost.latency_s, 134e-6, 1e-12);
    ck_assert_str_eq(cost.algorithm, "trees");
    ck_assert_str_eq(cost.bound, "latency");
    protocol->launch_s = 0;
    CHECK_NEAR(cost_of(ideal, COLLECTIVE_ALL_REDUCE, 16, 2, 8).latency_s, 22e-6, 1e-12);
}
END_TEST

/* 16 nodes, 10 us a step between them: 15 steps by a ring, log2 16 = 4 by doubling, if the library
 * knows it. */
START_TEST(a_gather_doubles_where_the_library_can)
{
    ideal->fabric.protocols[0].nic_hop_s = 10e-6;
    CHECK_NEAR(cost_of(ideal, COLLECTIVE_ALL_GATHER, 16, 16, 8).latency_s, 40e-6, 1e-12);
    CHECK_NEAR(cost_of(ideal, COLLECTIVE_REDUCE_SCATTER, 128, 16, 8).latency_s, 40e-6, 1e-12);
    ideal->fabric.gathers_by_doubling = false;
    CHECK_NEAR(cost_of(ideal, COLLECTIVE_ALL_GATHER, 16, 16, 8).latency_s, 150e-6, 1e-12);
    CHECK_NEAR(cost_of(ideal, COLLECTIVE_REDUCE_SCATTER, 128, 16, 8).latency_s, 150e-6, 1e-12);
}
END_TEST

/* 400 us of transfer behind a stage of 1 us: 2 sqrt(400) = 40 us of filling, when the link is
 * busy 400 of 440 us. */
START_TEST(filling_a_pipeline_costs_a_root)
{
    ideal->fabric.protocols[0].fill_s = 1e-6;
    struct collective_cost cost =
        cost_of(ideal, COLLECTIVE_ALL_GATHER, 8, 1, 8 * 48e9 * 400e-6);
    CHECK_NEAR(cost.transfer_s, 440e-6, 1e-12);
    CHECK_NEAR(cost.link_fraction, 400.0 / 440, 1e-12);
}
END_TEST

/* A part of S / 8 = 48e9 bytes that stays, at half the time of one sent, over 7 links. */
START_TEST(the_part_that_stays_costs_its_share)
{
    ideal->fabric.tunings[COLLECTIVE_ALL_GATHER].own_part_ratio = 0.5;
    CHECK_NEAR(ideal_s(COLLECTIVE_ALL_GATHER, 8, 1, 8 * 48e9), 1 + 0.5 / 7, 1e-12);
}
END_TEST

/* Errors of 0.3 of 3 us and 0.1 of 4 us: hypot(0.9, 0.4) / 7; with 0.1 of its own beside. */
START_TEST(errors_of_parts_are_independent)
{
    ideal->fabric.protocols[0].launch_s = 3e-6;
    ideal->fabric.latency_relative_sigma = 0.3;
    ideal->fabric.node_relative_sigma = 0.1;
    double bytes = 8 * 48e9 * 4e-6, both = hypot(0.9, 0.4) / 7;
    CHECK_NEAR(cost_of(ideal, COLLECTIVE_ALL_GATHER, 8, 1, bytes).relative_sigma, both, 1e-12);
    ideal->fabric.tunings[COLLECTIVE_ALL_GATHER].relative_sigma = 0.1;
    CHECK_NEAR(cost_of(ideal, COLLECTIVE_ALL_GATHER, 8, 1, bytes).relative_sigma,
               hypot(both, 0.1), 1e-12);
}
END_TEST

/* 0.03 more for each doubling beyond two nodes: 6 of them on 128. */
START_TEST(errors_grow_where_nobody_measured)
{
    ideal->fabric.doubling_relative_sigma = 0.03;
    CHECK_NEAR(cost_of(ideal, COLLECTIVE_ALL_GATHER, 16, 2, 1e9).relative_sigma, 0, 0);
    CHECK_NEAR(cost_of(ideal, COLLECTIVE_ALL_GATHER, 128, 16, 1e9).relative_sigma, 0.09, 1e-12);
}
END_TEST

/* Never more of a wire than there is, and twice the bytes take twice the time where none is
 * latency, for every kind and group. */
START_TEST(shares_stay_below_one_and_time_grows_with_bytes)
{
    const struct cluster *real = check_cluster_read(arena, "mi300x-pollara-128");
    static const int64_t groups[][2] = {{2, 1},  {8, 1}, {2, 2},     {128, 128},
                                        {16, 2}, {8, 2}, {1024, 128}};
    for (int i = 0; i < COLLECTIVE_SEND_RECV * 7; i++) {
        enum collective_kind kind = (enum collective_kind)(i / 7);
        const int64_t *group = groups[i % 7];
        struct collective_cost cost = cost_of(real, kind, group[0], group[1], 1e9);
        ck_assert(cost.link_fraction >= 0 && cost.link_fraction <= 1 + 1e-12);
        ck_assert(cost.nic_fraction >= 0 && cost.nic_fraction <= 1 + 1e-12);
        ck_assert(cost.hbm_fraction >= 0 && cost.hbm_fraction <= 1);
        ck_assert(cost.compute_fraction > 0 && cost.compute_fraction <= 1);
        ck_assert(cost.latency_s > 0 && cost.relative_sigma > 0 && cost.relative_sigma < 1);
        if (group[1] <= 16)
            CHECK_NEAR(ideal_s(kind, group[0], group[1], 2e9),
                       2 * ideal_s(kind, group[0], group[1], 1e9), 1e-12);
    }
}
END_TEST

START_TEST(one_rank_alone_costs_nothing)
{
    struct collective_cost cost = cost_of(ideal, COLLECTIVE_ALL_REDUCE, 1, 1, 1e9);
    CHECK_NEAR(cost.latency_s + cost.transfer_s, 0, 0);
}
END_TEST

/* rccl-tests on MI300X: 4 GiB on 8 and 2 GPUs (stas00/ml-engineering), 8 MiB on 8 GPUs
 * (crickett-hpe/hpc-ai-envs pull 30), 4 to 16 GiB on 2 Pollara nodes (ROCm/rccl pull 2078). */
START_TEST(mi300x_takes_the_published_times)
{
    const struct cluster *real = check_cluster_read(arena, "mi300x-pollara-2");
    const double gib = 1073741824;
    CHECK_NEAR(bus_of(real, COLLECTIVE_ALL_REDUCE, 8, 4 * gib), 312.9e9, 0.006);
    CHECK_NEAR(bus_of(real, COLLECTIVE_ALL_REDUCE, 2, 4 * gib), 47.67e9, 0.005);
    CHECK_NEAR(bus_of(real, COLLECTIVE_ALL_REDUCE, 8, gib / 128), 161.1e9, 0.05);
    CHECK_NEAR(bus_of(real, COLLECTIVE_ALL_REDUCE, 16, 4 * gib), 359.35e9, 0.02);
    CHECK_NEAR(bus_of(real, COLLECTIVE_ALL_REDUCE, 16, 16 * gib), 360.98e9, 0.02);
}
END_TEST

/* rccl-tests on another 8 MI300X (hisohara/ai-scripts): sizes that nothing was fitted to. */
START_TEST(mi300x_meets_a_sweep_that_was_held_out)
{
    static const double rows[][2] = {{2097152, 36.68e-6},    {8388608, 84.78e-6},
                                     {33554432, 246.3e-6},   {134217728, 800.3e-6},
                                     {536870912, 3027.1e-6}, {8589934592, 47617e-6}};
    const struct cluster *real = check_cluster_read(arena, "mi300x-pollara-1");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct collective_cost cost = cost_of(real, COLLECTIVE_ALL_REDUCE, 8, 1, rows[i][0]);
        CHECK_NEAR(cost.latency_s + cost.transfer_s, rows[i][1], 0.03);
    }
}
END_TEST

/* The same pull request's average over 1 KiB to 16 GiB, doubling: 142.652e9 bytes/s, to which
 * nothing was fitted. */
START_TEST(mi300x_meets_an_average_that_was_held_out)
{
    const struct cluster *real = check_cluster_read(arena, "mi300x-pollara-2");
    double sum = 0;
    for (int i = 10; i <= 34; i++)
        sum += bus_of(real, COLLECTIVE_ALL_REDUCE, 16, (double)(1LL << i));
    CHECK_NEAR(sum / 25, 142.652e9, 0.05);
}
END_TEST

/* Rows of NCCL on 8 H200 that no coefficient was fitted on. */
START_TEST(h200_meets_rows_that_were_held_out)
{
    const struct cluster *real = check_cluster_read(arena, "h200-1");
    static const struct {
        enum collective_kind kind;
        int64_t ranks;
        double bytes, measured_s;
    } rows[] = {{COLLECTIVE_ALL_GATHER, 8, 134217728, 386.3e-6},
                {COLLECTIVE_ALL_REDUCE, 4, 134217728, 620.8e-6},
                {COLLECTIVE_ALL_TO_ALL, 8, 33554432, 130.7e-6},
                {COLLECTIVE_BROADCAST, 4, 134217728, 400.7e-6},
                {COLLECTIVE_REDUCE_SCATTER, 8, 67108864, 209.8e-6}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct collective_cost cost =
            cost_of(real, rows[i].kind, rows[i].ranks, 1, rows[i].bytes);
        CHECK_NEAR(cost.latency_s + cost.transfer_s, rows[i].measured_s, 0.06);
    }
}
END_TEST

static void
check_refused(const struct cluster *cluster, struct collective collective, enum error_kind kind,
              const char *word)
{
    struct collective_cost cost;
    errors = (struct error_list){0};
    ck_assert(!collective_cost(cluster, &collective, &cost, &errors));
    ck_assert_int_eq(errors.items[0].kind, kind);
    ck_assert_msg(strstr(errors.items[0].what, word) != NULL, "%s", errors.items[0].what);
}

START_TEST(groups_that_the_cluster_cannot_hold_are_refused)
{
    struct collective all = {.kind = COLLECTIVE_ALL_REDUCE, .ranks = 8, .nodes = 3, .bytes = 1};
    check_refused(ideal, all, ERROR_INPUT, "8 ranks on 3 nodes");
    all.nodes = 0;
    check_refused(ideal, all, ERROR_INPUT, "8 ranks on 0 nodes");
    all.ranks = 16, all.nodes = 1;
    check_refused(ideal, all, ERROR_INPUT, "has 16 nodes of 8 GPUs");
    all.ranks = 17, all.nodes = 17;
    check_refused(ideal, all, ERROR_INPUT, "has 16 nodes of 8 GPUs");
    all.ranks = 8, all.nodes = 1, all.bytes = 0;
    check_refused(ideal, all, ERROR_INPUT, "0 bytes");
    all.bytes = (double)NAN;
    check_refused(ideal, all, ERROR_INPUT, "nan bytes");
    struct collective send = {
        .kind = COLLECTIVE_SEND_RECV, .ranks = 2, .nodes = 1, .bytes = 1, .to = 128};
    check_refused(ideal, send, ERROR_INPUT, "rank 128, but");
    send.to = 0, send.ranks = 1;
    check_refused(ideal, send, ERROR_INPUT, "send_recv of one rank");
}
END_TEST

START_TEST(pairs_without_a_route_are_named)
{
    struct collective all = {
        .kind = COLLECTIVE_ALL_TO_ALL, .ranks = 16, .nodes = 2, .bytes = 1};
    struct collective send = {
        .kind = COLLECTIVE_SEND_RECV, .ranks = 2, .nodes = 2, .bytes = 1, .from = 1, .to = 10};
    ideal->fabric.forwards_cross_rail = false;
    check_refused(ideal, all, ERROR_INFEASIBLE, "from rank 0 to rank 9");
    check_refused(ideal, send, ERROR_INFEASIBLE, "from rank 1 to rank 10");
    send.from = send.to = 0, send.ranks = 16;
    check_refused(ideal, send, ERROR_INFEASIBLE, "from rank 7 to rank 8");
    send.ranks = 2;
    cost_of(ideal, COLLECTIVE_SEND_RECV, 2, 2, 1);
    cost_of(ideal, COLLECTIVE_ALL_REDUCE, 16, 2, 1);
    ideal->fabric.network_topology = NETWORK_NONE;
    all.kind = COLLECTIVE_ALL_GATHER;
    check_refused(ideal, all, ERROR_INFEASIBLE, "no network joins the nodes");
}
END_TEST

static struct collective_cost
group_cost_of(enum collective_kind kind, struct rank_group group, double bytes)
{
    struct collective collective = {.kind = kind, .group = group, .bytes = bytes};
    struct collective_cost cost;
    ck_assert_msg(collective_cost(ideal, &collective, &cost, &errors), "%s",
                  errors.items[0].what);
    return cost;
}

/* However it is said: GPUs 2, 3 of nodes 0 and 2 cost what any two GPUs of two nodes do, a rail
 * what another does. */
START_TEST(a_group_costs_what_its_placement_does)
{
    static const int64_t listed[] = {2, 3, 18, 19};
    const struct rank_group rows = {
        .first = 2, .size = 2, .stride = 1, .rows = 2, .row_stride = 16};
    const struct rank_group list = {.size = 4, .list = listed}, rail = {5, 16, 8, 0, 0, NULL};
    for (int kind = 0; kind < COLLECTIVE_SEND_RECV; kind++) {
        double even_s = ideal_s((enum collective_kind)kind, 4, 2, 1e9);
        CHECK_NEAR(group_cost_of((enum collective_kind)kind, rows, 1e9).transfer_s, even_s, 0);
        CHECK_NEAR(group_cost_of((enum collective_kind)kind, list, 1e9).transfer_s, even_s, 0);
        CHECK_NEAR(group_cost_of((enum collective_kind)kind, rail, 1e9).transfer_s,
                   ideal_s((enum collective_kind)kind, 16, 16, 1e9), 0);
    }
}
END_TEST

/* GPUs 0, 9, 18, 27: a ring over 4 nodes whose every step goes by a link to the GPU of the right
 * rail: 3 parts of 48e9 bytes over links of 48e9 bytes/s, slower than the NICs. */
START_TEST(a_group_without_a_common_rail_goes_by_links)
{
    const struct rank_group astray = {.size = 4, .stride = 9};
    struct collective_cost cost = group_cost_of(COLLECTIVE_ALL_GATHER, astray, 4 * 48e9);
    CHECK_NEAR(cost.transfer_s, 3, 1e-15);
    ck_assert_str_eq(cost.bound, "xgmi");
    struct collective all = {.kind = COLLECTIVE_ALL_GATHER, .group = astray, .bytes = 1};
    ideal->fabric.forwards_cross_rail = false;
    check_refused(ideal, all, ERROR_INFEASIBLE, "from rank 0 to rank 9");
}
END_TEST

/* 12 GPUs in a row: eight of one node, four of the next, which join by four rails. Four rings of 11
 * steps of S / 12 / 4. */
START_TEST(an_uneven_group_has_the_rails_of_its_smallest_node)
{
    const struct rank_group twelve = {.size = 12, .stride = 1};
    struct collective_cost cost = group_cost_of(COLLECTIVE_ALL_GATHER, twelve, 48 * 48e9);
    ck_assert(cost.transfer_s >= 11 * 48 / 12.0 / 4);
    CHECK_NEAR(cost.bus_bytes_per_s, 11.0 / 12 * 48 * 48e9 / cost.transfer_s, 1e-12);
}
END_TEST

/* Rails joined in leaves of 4 nodes, 4 to 1: a ring sends one of 4 NICs' bytes up over the worth of
 * one; an all-to-all 12 of 15 parts of all four. */
START_TEST(oversubscribed_leaves_cost_an_all_to_all_and_not_a_ring)
{
    double ring_s = ideal_s(COLLECTIVE_ALL_GATHER, 128, 16, 1e9);
    double pairs_s = ideal_s(COLLECTIVE_ALL_TO_ALL, 128, 16, 1e9);
    ideal->fabric.leaf_nodes = 4;
    ideal->fabric.oversubscription_ratio = 4;
    CHECK_NEAR(ideal_s(COLLECTIVE_ALL_GATHER, 128, 16, 1e9), ring_s, 1e-12);
    CHECK_NEAR(ideal_s(COLLECTIVE_ALL_TO_ALL, 128, 16, 1e9), pairs_s * 4 * 12 / 15, 1e-12);
    ck_assert_str_eq(cost_of(ideal, COLLECTIVE_ALL_TO_ALL, 128, 16, 1e9).bound, "spine");
}
END_TEST

Suite *collective_cost_suite(void);

Suite *
collective_cost_suite(void)
{
    Suite *suite = suite_create("collective_cost");
    TCase *tests = tcase_create("collective_cost");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, a_node_gathers_over_all_its_links);
    tcase_add_test(tests, part_of_a_node_has_a_link_less_than_gpus);
    tcase_add_test(tests, a_rail_is_bound_by_its_nics);
    tcase_add_test(tests, closed_forms_agree_with_flows);
    tcase_add_test(tests, an_all_to_all_has_the_bandwidth_of_the_nics);
    tcase_add_test(tests, a_send_takes_the_wires_between_its_ends);
    tcase_add_test(tests, a_ring_of_sends_takes_its_longest_way);
    tcase_add_test(tests, a_broadcast_on_a_rail_takes_the_cheaper_of_chain_and_tree);
    tcase_add_test(tests, launches_and_steps_add_up);
    tcase_add_test(tests, a_gather_doubles_where_the_library_can);
    tcase_add_test(tests, filling_a_pipeline_costs_a_root);
    tcase_add_test(tests, the_part_that_stays_costs_its_share);
    tcase_add_test(tests, errors_of_parts_are_independent);
    tcase_add_test(tests, errors_grow_where_nobody_measured);
    tcase_add_test(tests, shares_stay_below_one_and_time_grows_with_bytes);
    tcase_add_test(tests, one_rank_alone_costs_nothing);
    tcase_add_test(tests, mi300x_takes_the_published_times);
    tcase_add_test(tests, mi300x_meets_a_sweep_that_was_held_out);
    tcase_add_test(tests, mi300x_meets_an_average_that_was_held_out);
    tcase_add_test(tests, h200_meets_rows_that_were_held_out);
    tcase_add_test(tests, groups_that_the_cluster_cannot_hold_are_refused);
    tcase_add_test(tests, pairs_without_a_route_are_named);
    tcase_add_test(tests, oversubscribed_leaves_cost_an_all_to_all_and_not_a_ring);
    tcase_add_test(tests, a_group_costs_what_its_placement_does);
    tcase_add_test(tests, a_group_without_a_common_rail_goes_by_links);
    tcase_add_test(tests, an_uneven_group_has_the_rails_of_its_smallest_node);
    suite_add_tcase(suite, tests);
    return suite;
}
