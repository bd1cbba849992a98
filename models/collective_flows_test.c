/* Do closed forms and flows agree? Each formula of a collective against the flows that it
 * consists of, shared max-min fair by the engine. */
#include "models/check_collective_flows.h"

#include <string.h>

#include "sim/base/check_near.h"

static const double EXACT = 1e-9;

static struct ideal_wires wires;
static struct cluster *ideal;

static void
setup(void)
{
    ideal_wires_setup(&wires);
    ideal = wires.cluster;
}

static void
teardown(void)
{
    arena_free(wires.arena);
}

static double
flows_by_seed_s(const struct collective *collective, const char *algorithm, uint64_t seed)
{
    struct collective named = *collective;
    named.algorithm = algorithm;
    return ideal_flows_by_seed_s(&wires, &named, seed);
}

static double
flows_s(const struct collective *collective, const char *algorithm)
{
    return flows_by_seed_s(collective, algorithm, 1);
}

static struct collective_cost
cost_of(const struct collective *collective)
{
    return ideal_cost(&wires, collective);
}

/* By the algorithm that the price names. */
static void
check_agreement(enum collective_kind kind, int64_t ranks, int64_t nodes, const char *algorithm)
{
    struct collective collective = {.kind = kind, .ranks = ranks, .nodes = nodes, .bytes = 1e9};
    struct collective_cost cost = cost_of(&collective);
    ck_assert_str_eq(cost.algorithm, algorithm);
    CHECK_NEAR(flows_s(&collective, cost.algorithm), cost.transfer_s, EXACT);
}

START_TEST(in_a_node_straight_to_all_peers)
{
    for (int64_t ranks = 2; ranks <= 8; ranks++) {
        check_agreement(COLLECTIVE_ALL_GATHER, ranks, 1, "direct");
        check_agreement(COLLECTIVE_REDUCE_SCATTER, ranks, 1, "direct");
        check_agreement(COLLECTIVE_ALL_TO_ALL, ranks, 1, "direct");
    }
    check_agreement(COLLECTIVE_ALL_REDUCE, 8, 1, "direct");
    check_agreement(COLLECTIVE_SEND_RECV, 2, 1, "one link");
}
END_TEST

/* Everything to everyone: S over each link, though dearer here than two shots. */
START_TEST(in_a_node_at_once)
{
    struct collective reduce = {
        .kind = COLLECTIVE_ALL_REDUCE, .ranks = 8, .nodes = 1, .bytes = 48e9};
    CHECK_NEAR(flows_s(&reduce, "one-shot"), 1, EXACT);
}
END_TEST

START_TEST(in_a_node_along_rings)
{
    ideal->fabric.protocols[0].algorithm = NODE_RINGS;
    for (int64_t ranks = 2; ranks <= 8; ranks++) {
        check_agreement(COLLECTIVE_ALL_GATHER, ranks, 1, "rings");
        check_agreement(COLLECTIVE_REDUCE_SCATTER, ranks, 1, "rings");
        check_agreement(COLLECTIVE_ALL_REDUCE, ranks, 1, "rings");
    }
    ideal->fabric.node_topology = NODE_SWITCH;
    check_agreement(COLLECTIVE_ALL_REDUCE, 5, 1, "rings");
}
END_TEST

START_TEST(on_a_rail)
{
    ideal->fabric.gathers_by_doubling = false;
    for (int64_t n = 2; n <= 16; n++) {
        check_agreement(COLLECTIVE_ALL_GATHER, n, n, "rail ring");
        check_agreement(COLLECTIVE_ALL_REDUCE, n, n, "rail ring");
        check_agreement(COLLECTIVE_ALL_TO_ALL, n, n, "rail pairs");
    }
    for (int64_t n = 2; n <= 16; n++) {
        struct collective gather = {
            .kind = COLLECTIVE_ALL_GATHER, .ranks = n, .nodes = n, .bytes = (double)n * 50e9};
        CHECK_NEAR(flows_s(&gather, "rail doubling"), (double)n - 1, EXACT);
    }
    check_agreement(COLLECTIVE_SEND_RECV, 2, 2, "one rail");
}
END_TEST

/* n nodes and k pieces: (n - 2 + k) steps of S / k; the price is its limit of many. */
START_TEST(along_a_chain)
{
    struct collective broadcast = {
        .kind = COLLECTIVE_BROADCAST, .ranks = 5, .nodes = 5, .bytes = 50e9};
    double k = COLLECTIVE_FLOW_PIECES;
    CHECK_NEAR(flows_s(&broadcast, "rail chain"), (5 - 2 + k) / k, EXACT);
    CHECK_NEAR(cost_of(&broadcast).transfer_s, 1, EXACT);
}
END_TEST

/* g - 1 chains of k pieces; the price is the limit of many. Of 4 and 6 two chains share each link,
 * but not at the same step: no sooner than the price, no later than one behind the other. */
START_TEST(in_a_node_from_the_first)
{
    double k = COLLECTIVE_FLOW_PIECES;
    for (int64_t g = 2; g <= 8; g++) {
        struct collective broadcast = {
            .kind = COLLECTIVE_BROADCAST, .ranks = g, .nodes = 1, .bytes = 1e9};
        double alone_s = 1e9 / (double)(g - 1) / 48e9, last = g > 2 ? 1 : 0;
        ideal->fabric.protocols[0].algorithm = NODE_DIRECT;
        CHECK_NEAR(cost_of(&broadcast).transfer_s, alone_s, EXACT);
        CHECK_NEAR(flows_s(&broadcast, "scatter + gather"), alone_s * (k + last) / k, EXACT);
        ideal->fabric.protocols[0].algorithm = NODE_RINGS;
        ck_assert_str_eq(cost_of(&broadcast).algorithm, "rings");
        double chains_s = alone_s * ((double)g - 2 + k) / k;
        double flows = flows_s(&broadcast, "rings");
        if (g == 4 || g == 6)
            ck_assert(flows >= alone_s * (1 - EXACT) && flows <= chains_s * (1 + EXACT));
        else
            CHECK_NEAR(flows, chains_s, EXACT);
    }
}
END_TEST

/* Along g rings through 2 to 5 nodes; the slowest chain enters the first rank by no link of a node:
 * p - n hops over links, n - 1 over NICs. The price is that of many pieces. */
START_TEST(from_the_first_through_all_ranks)
{
    ideal->fabric.works_by_levels = false;
    for (int64_t n = 2; n <= 5; n++) {
        double k = COLLECTIVE_FLOW_PIECES, p = (double)(8 * n), piece = 1e9 / 8 / k;
        struct collective broadcast = {
            .kind = COLLECTIVE_BROADCAST, .ranks = 8 * n, .nodes = n, .bytes = 1e9};
        double chain_s = piece * ((p - (double)n + k - 1) / 48e9 + ((double)n - 1) / 50e9);
        CHECK_NEAR(flows_s(&broadcast, "flat rings"), chain_s, EXACT);
        CHECK_NEAR(cost_of(&broadcast).transfer_s, 1e9 / 8 / 48e9, EXACT);
    }
}
END_TEST

/* Rings through all ranks: 48e9 bytes/s over a link are the bound, 50e9 over a NIC never. */
START_TEST(around_all_ranks)
{
    ideal->fabric.works_by_levels = false;
    for (int64_t nodes = 2; nodes <= 4; nodes += 2)
        for (int64_t gpus = 2; gpus <= 8; gpus += 2) {
            check_agreement(COLLECTIVE_ALL_GATHER, gpus * nodes, nodes, "flat rings");
            check_agreement(COLLECTIVE_REDUCE_SCATTER, gpus * nodes, nodes, "flat rings");
        }
    check_agreement(COLLECTIVE_ALL_REDUCE, 16, 2, "flat rings");
    static const int64_t odd[][2] = {{3, 4}, {5, 4}, {3, 8}, {5, 8}, {2, 3}, {3, 3}, {3, 7}};
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++)
        check_agreement(COLLECTIVE_ALL_GATHER, odd[i][0] * odd[i][1], odd[i][0], "flat rings");
}
END_TEST

/* In k pieces two phases of a and b seconds take max(a, b) and, once, the other's part of a
 * piece; three as well. All-gather of 1e9 by 16 of 8: 15 parts over a NIC, 16 over a link. */
START_TEST(level_by_level)
{
    double k = COLLECTIVE_FLOW_PIECES, part = 1e9 / 128, nic_s = 15 * part / 50e9,
           link_s = 16 * part / 48e9;
    struct collective gather = {
        .kind = COLLECTIVE_ALL_GATHER, .ranks = 128, .nodes = 16, .bytes = 1e9};
    CHECK_NEAR(flows_s(&gather, "two levels, rail ring"), link_s + nic_s / k, EXACT);
    CHECK_NEAR(flows_s(&gather, "two levels, rail doubling"), link_s + nic_s / k, EXACT);
    CHECK_NEAR(cost_of(&gather).transfer_s, fmin(link_s, 127 * part / 8 / 48e9), EXACT);
    gather.kind = COLLECTIVE_REDUCE_SCATTER;
    CHECK_NEAR(flows_s(&gather, "two levels, rail ring"), link_s + nic_s / k, EXACT);
}
END_TEST

/* Cross-rail bytes go by the GPU of the right rail; a switch takes them as they come. */
START_TEST(from_everyone_to_everyone)
{
    for (int64_t nodes = 2; nodes <= 16; nodes *= 2) {
        check_agreement(COLLECTIVE_ALL_TO_ALL, 8 * nodes, nodes, "forwarded to the rail");
        check_agreement(COLLECTIVE_ALL_TO_ALL, 2 * nodes, nodes, "forwarded to the rail");
    }
    ideal->fabric.network_topology = NETWORK_SINGLE_SWITCH;
    check_agreement(COLLECTIVE_ALL_TO_ALL, 64, 8, "direct");
}
END_TEST

/* Ranks that have no rail in common, two of one node with three of another: as forwarded as any. */
START_TEST(between_ranks_that_keep_to_no_rail)
{
    static const int64_t lists[][5] = {{0, 9}, {0, 1, 2, 9, 10}};
    static const int64_t sizes[] = {2, 5};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct collective all = {.kind = COLLECTIVE_ALL_TO_ALL,
                                 .group = {.size = sizes[i], .list = lists[i]},
                                 .bytes = 1e9};
        struct collective_cost cost = cost_of(&all);
        CHECK_NEAR(flows_s(&all, cost.algorithm), cost.transfer_s, EXACT);
        all.kind = COLLECTIVE_SEND_RECV;
        CHECK_NEAR(flows_s(&all, cost_of(&all).algorithm), cost_of(&all).transfer_s, EXACT);
    }
}
END_TEST

/* rccl-tests' sendrecv: in a node, over rails to another rail, along a rail; with hops as well. */
START_TEST(from_each_to_the_next)
{
    static const int64_t nodes[] = {1, 2, 3, 16};
    for (size_t i = 0; i < sizeof nodes / sizeof *nodes; i++) {
        int64_t n = nodes[i];
        check_agreement(COLLECTIVE_SEND_RECV, 8 * n, n,
                        n > 1 ? "each to the next, forwarded" : "each to the next");
        if (n > 2)
            check_agreement(COLLECTIVE_SEND_RECV, n, n, "each to the next");
    }
    ideal->fabric.network_topology = NETWORK_SINGLE_SWITCH;
    check_agreement(COLLECTIVE_SEND_RECV, 128, 16, "each to the next");
    ideal->fabric.node_topology = NODE_SWITCH;
    ideal->fabric.network_topology = NETWORK_RAILS_ONLY;
    check_agreement(COLLECTIVE_SEND_RECV, 128, 16, "each to the next, forwarded");
    ideal->fabric.leaf_nodes = 4;
    ideal->fabric.oversubscription_ratio = 8;
    check_agreement(COLLECTIVE_SEND_RECV, 128, 16, "each to the next, forwarded");
}
END_TEST

/* GPUs on a switch have one port each, which what is forwarded passes as well. */
START_TEST(through_the_ports_of_a_switch)
{
    ideal->fabric.node_topology = NODE_SWITCH;
    check_agreement(COLLECTIVE_ALL_TO_ALL, 8, 1, "direct");
    check_agreement(COLLECTIVE_ALL_REDUCE, 8, 1, "direct");
    check_agreement(COLLECTIVE_ALL_TO_ALL, 16, 2, "forwarded to the rail");
    check_agreement(COLLECTIVE_ALL_TO_ALL, 128, 16, "forwarded to the rail");
}
END_TEST

/* Four nodes on a leaf, 4 to 1, sprayed: rails, then all on one leaf. */
START_TEST(up_to_the_spines)
{
    ideal->fabric.leaf_nodes = 4;
    ideal->fabric.spine_count = 8;
    ideal->fabric.oversubscription_ratio = 4;
    check_agreement(COLLECTIVE_ALL_TO_ALL, 128, 16, "forwarded to the rail");
    check_agreement(COLLECTIVE_ALL_TO_ALL, 16, 16, "rail pairs");
    ideal->fabric.gathers_by_doubling = false;
    check_agreement(COLLECTIVE_ALL_GATHER, 16, 16, "rail ring");
    ideal->fabric.oversubscription_ratio = 8;
    check_agreement(COLLECTIVE_ALL_GATHER, 16, 16, "rail ring");
    ideal->fabric.network_topology = NETWORK_LEAF_SPINE;
    check_agreement(COLLECTIVE_ALL_TO_ALL, 128, 16, "direct");
    check_agreement(COLLECTIVE_ALL_TO_ALL, 16, 16, "rail pairs");
}
END_TEST

/* Paths drawn for each flow: the price is the mean over draws, within a tenth. Between one
 * GPU of each of 16 nodes, all of 4 nodes, two of each of 8, over 4 and 8 spines. */
START_TEST(over_paths_that_are_drawn)
{
    enum { DRAWS = 24 };
    static const int64_t cases[][5] = {{16, 16, 2, 4, 16}, {32, 4, 1, 8, 2}, {16, 8, 2, 8, 8}};
    ideal->fabric.network_topology = NETWORK_LEAF_SPINE;
    ideal->fabric.is_sprayed = false;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct collective all = {.kind = COLLECTIVE_ALL_TO_ALL,
                                 .ranks = cases[i][0],
                                 .nodes = cases[i][1],
                                 .bytes = 1e9};
        ideal->fabric.leaf_nodes = cases[i][2];
        ideal->fabric.spine_count = cases[i][3];
        ideal->fabric.oversubscription_ratio = (double)cases[i][4];
        struct collective_cost cost = cost_of(&all);
        ck_assert_str_eq(cost.bound, "spine");
        double sum_s = 0;
        for (uint64_t seed = 0; seed < DRAWS; seed++)
            sum_s += flows_by_seed_s(&all, cost.algorithm, seed);
        CHECK_NEAR(cost.transfer_s, sum_s / DRAWS, 0.1);
    }
}
END_TEST

/* Random bytes for each pair: flows end no earlier than the busiest wire, and hardly later,
 * since what is not on it has time. */
START_TEST(unequal_pairs_take_about_their_busiest_wire)
{
    static double matrix[32 * 32];
    uint32_t state = 1;
    for (int i = 0; i < 32 * 32; i++) {
        state = state * 1664525U + 1013904223U; /* Knuth's and Lewis' generator */
        matrix[i] = i % 33 == 0 ? 0 : 1e6 * (double)(state >> 16 & 0xff);
    }
    struct collective pairs = {.kind = COLLECTIVE_ALL_TO_ALL_V,
                               .ranks = 32,
                               .nodes = 4,
                               .bytes = 1,
                               .bytes_matrix = matrix};
    double bound_s = cost_of(&pairs).transfer_s;
    double exact_s = flows_s(&pairs, "forwarded to the rail");
    ck_assert(exact_s >= bound_s * (1 - EXACT));
    ck_assert(exact_s <= bound_s * 1.15);
}
END_TEST

/* In one node each pair has its link: the largest says it all. */
START_TEST(unequal_pairs_of_a_node_take_their_largest)
{
    static double matrix[8 * 8];
    for (int i = 0; i < 8 * 8; i++)
        matrix[i] = i % 9 == 0 ? 0 : 1e6 * (double)(i * i % 37);
    struct collective pairs = {.kind = COLLECTIVE_ALL_TO_ALL_V,
                               .ranks = 8,
                               .nodes = 1,
                               .bytes = 1,
                               .bytes_matrix = matrix};
    CHECK_NEAR(cost_of(&pairs).transfer_s, 36e6 / 48e9, EXACT);
    CHECK_NEAR(flows_s(&pairs, "direct"), 36e6 / 48e9, EXACT);
}
END_TEST

START_TEST(what_is_not_made_of_such_flows_is_refused)
{
    struct collective reduce = {.kind = COLLECTIVE_ALL_REDUCE,
                                .ranks = 18,
                                .nodes = 3,
                                .bytes = 1e9,
                                .algorithm = "flat rings"};
    struct text csv = text_new(wires.arena);
    ck_assert(!collective_flows_write(ideal, &reduce, 1, &csv, &wires.errors));
    ck_assert_ptr_nonnull(strstr(wires.errors.items[0].what, "3 nodes of 6"));
    wires.errors = (struct error_list){0};
    reduce.algorithm = "rail ring";
    ck_assert(!collective_flows_write(ideal, &reduce, 1, &csv, &wires.errors));
    ck_assert_ptr_nonnull(strstr(wires.errors.items[0].what, "\"rail ring\""));
}
END_TEST

Suite *collective_flows_suite(void);

Suite *
collective_flows_suite(void)
{
    Suite *suite = suite_create("collective_flows");
    TCase *tests = tcase_create("collective_flows");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, in_a_node_straight_to_all_peers);
    tcase_add_test(tests, in_a_node_at_once);
    tcase_add_test(tests, in_a_node_along_rings);
    tcase_add_test(tests, in_a_node_from_the_first);
    tcase_add_test(tests, from_the_first_through_all_ranks);
    tcase_add_test(tests, on_a_rail);
    tcase_add_test(tests, along_a_chain);
    tcase_add_test(tests, around_all_ranks);
    tcase_add_test(tests, level_by_level);
    tcase_add_test(tests, from_everyone_to_everyone);
    tcase_add_test(tests, between_ranks_that_keep_to_no_rail);
    tcase_add_test(tests, from_each_to_the_next);
    tcase_add_test(tests, through_the_ports_of_a_switch);
    tcase_add_test(tests, up_to_the_spines);
    tcase_add_test(tests, over_paths_that_are_drawn);
    tcase_add_test(tests, unequal_pairs_take_about_their_busiest_wire);
    tcase_add_test(tests, unequal_pairs_of_a_node_take_their_largest);
    tcase_add_test(tests, what_is_not_made_of_such_flows_is_refused);
    suite_add_tcase(suite, tests);
    return suite;
}
