/* Do closed forms and flows agree for what no library runs, but textbooks have, and for pipelines
 * in k pieces? The price of a pipeline is that of infinitely many: each test says by how much k
 * pieces take longer. */
#include "models/check_collective_flows.h"

#include "hw/collective_trees.h"
#include "sim/base/check_near.h"

static const double EXACT = 1e-9;
static const double LINK = 48e9, NIC = 50e9; /* bytes/s */
static const double BYTES = 1e9;

static struct ideal_wires wires;

static void
setup(void)
{
    ideal_wires_setup(&wires);
}

static void
teardown(void)
{
    arena_free(wires.arena);
}

static struct collective
collective_by(enum collective_kind kind, int64_t ranks, int64_t nodes, const char *algorithm)
{
    return (struct collective){
        .kind = kind, .ranks = ranks, .nodes = nodes, .bytes = BYTES, .algorithm = algorithm};
}

/* Flows take `flows_s`, the price is `price_s`. */
static void
check_times(const struct collective *collective, double flows_s, double price_s)
{
    CHECK_NEAR(ideal_flows_s(&wires, collective), flows_s, EXACT);
    struct collective_cost cost = ideal_cost(&wires, collective);
    ck_assert_str_eq(cost.algorithm, collective->algorithm);
    CHECK_NEAR(cost.transfer_s, price_s, EXACT);
}

/* 2 (g - 1) / g S over one link or one NIC, whatever the number. */
START_TEST(halving_and_doubling_uses_one_wire_at_a_time)
{
    for (int64_t n = 2; n <= 16; n++) {
        double parts = 2 * ((double)n - 1) / (double)n;
        struct collective rail =
            collective_by(COLLECTIVE_ALL_REDUCE, n, n, "rail halving + doubling");
        check_times(&rail, parts * BYTES / NIC, parts * BYTES / NIC);
        struct collective node =
            collective_by(COLLECTIVE_ALL_REDUCE, n, 1, "halving + doubling");
        if (n <= 8)
            check_times(&node, parts * BYTES / LINK, parts * BYTES / LINK);
    }
}
END_TEST

/* Half of the bytes in k pieces up and down each of two trees: rounds of one piece. */
START_TEST(trees_on_a_rail_take_rounds)
{
    for (int64_t n = 2; n <= 16; n++) {
        struct collective_trees trees = collective_trees_over(n, wires.arena);
        struct collective reduce = collective_by(COLLECTIVE_ALL_REDUCE, n, n, "rail tree");
        for (wires.pieces = 2; wires.pieces <= 32; wires.pieces *= 4) {
            double piece_s = BYTES / 2 / (double)wires.pieces / NIC;
            double rounds = 2 * (double)collective_trees_rounds(&trees, wires.pieces);
            check_times(&reduce, rounds * piece_s, (n > 2 ? 2 : 1) * BYTES / NIC);
        }
    }
}
END_TEST

/* Few pieces end sooner: a member that has not begun waits for nobody's turn. */
START_TEST(trees_below_the_first_take_rounds)
{
    for (int64_t n = 2; n <= 16; n++) {
        struct collective_trees trees = collective_trees_below_first(n, wires.arena);
        struct collective broadcast = collective_by(COLLECTIVE_BROADCAST, n, n, "rail tree");
        for (wires.pieces = 8; wires.pieces <= 32; wires.pieces *= 2) {
            double piece_s = BYTES / 2 / (double)wires.pieces / NIC;
            double rounds = (double)collective_trees_rounds(&trees, wires.pieces);
            check_times(&broadcast, rounds * piece_s, BYTES / NIC);
        }
    }
}
END_TEST

/* Chains in the nodes, g - 2 + k pieces of S / g over each link, up and down; trees between. */
START_TEST(trees_through_nodes_take_chains_and_rounds)
{
    static const int64_t shapes[][2] = {{2, 8}, {4, 8}, {5, 4}, {16, 8}, {3, 2}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        int64_t n = shapes[i][0];
        double g = (double)shapes[i][1], k = (double)wires.pieces;
        struct collective_trees trees = collective_trees_over(n, wires.arena);
        double chain_s = (g - 2 + k) / k * BYTES / g / LINK;
        double rounds = 2 * (double)collective_trees_rounds(&trees, wires.pieces);
        struct collective reduce =
            collective_by(COLLECTIVE_ALL_REDUCE, n * shapes[i][1], n, "trees");
        check_times(&reduce, 2 * chain_s + rounds * BYTES / g / 2 / k / NIC,
                    2 * BYTES / g / LINK);
    }
}
END_TEST

/* In one piece phases follow each other; in k the shorter adds a k-th of itself. c = S / p:
 * (n - 1) c over a NIC, n c over a link. */
START_TEST(gathers_by_level_are_phases)
{
    static const char *const names[] = {"two levels, rail ring", "two levels, rail doubling"};
    for (int i = 0; i < 4; i++) {
        enum collective_kind kind =
            i / 2 == 0 ? COLLECTIVE_ALL_GATHER : COLLECTIVE_REDUCE_SCATTER;
        struct collective gather = collective_by(kind, 48, 6, names[i % 2]);
        double nic_s = 5 * BYTES / 48 / NIC, link_s = 6 * BYTES / 48 / LINK;
        for (wires.pieces = 1; wires.pieces <= 16; wires.pieces *= 16)
            check_times(&gather, link_s + nic_s / (double)wires.pieces, link_s);
    }
}
END_TEST

/* Reduce-scatter, all-reduce on the rails, all-gather. One piece: one after the other. With NICs as
 * the bound: both phases of the nodes once in the pieces that nothing else hides. */
START_TEST(an_all_reduce_by_level_is_three_phases)
{
    static const char *const names[] = {"two levels, rail ring",
                                        "two levels, rail halving + doubling"};
    for (int i = 0; i < 2; i++) {
        struct collective reduce = collective_by(COLLECTIVE_ALL_REDUCE, 128, 16, names[i]);
        double node_s = 2 * BYTES / 8 / LINK, nic_s = 2 * 15 * BYTES / 128 / NIC;
        wires.cluster->fabric.link_bytes_per_s = LINK;
        wires.pieces = 1;
        check_times(&reduce, node_s + nic_s, node_s);
        wires.cluster->fabric.link_bytes_per_s = 4 * LINK;
        for (wires.pieces = 1; wires.pieces <= 16; wires.pieces *= 4)
            check_times(&reduce, nic_s + node_s / 4 / (double)wires.pieces, nic_s);
    }
}
END_TEST

/* Phases in sequence, the middle one in k pieces: n - 2 + k of a chain, rounds of trees. The price
 * is its longest phase; of a broadcast's nodes S / (g - 1), which no phase takes alone. */
START_TEST(chains_and_trees_by_level_are_in_the_middle)
{
    for (int64_t n = 2; n <= 16; n += 7) {
        double k = (double)wires.pieces, part = BYTES / 8, node_s = 2 * part / LINK;
        struct collective_trees over = collective_trees_over(n, wires.arena);
        struct collective_trees below = collective_trees_below_first(n, wires.arena);
        double up_down = 2 * (double)collective_trees_rounds(&over, wires.pieces);
        double down = (double)collective_trees_rounds(&below, wires.pieces);
        double root_s = BYTES / 7 / LINK;
        struct collective chain =
            collective_by(COLLECTIVE_BROADCAST, 8 * n, n, "two levels, rail chain");
        check_times(&chain, node_s + ((double)n - 2 + k) / k * part / NIC, root_s);
        struct collective tree =
            collective_by(COLLECTIVE_BROADCAST, 8 * n, n, "two levels, rail tree");
        check_times(&tree, node_s + down * part / 2 / k / NIC, root_s);
        struct collective reduce =
            collective_by(COLLECTIVE_ALL_REDUCE, 8 * n, n, "two levels, rail tree");
        check_times(&reduce, node_s + up_down * part / 2 / k / NIC, node_s);
    }
}
END_TEST

/* g (n - 1) m over each NIC, then (n - 1) m over each link, in pieces. */
START_TEST(everyone_to_everyone_in_two_phases)
{
    for (int64_t n = 2; n <= 16; n *= 2) {
        struct collective all =
            collective_by(COLLECTIVE_ALL_TO_ALL, 8 * n, n, "rail, then node");
        double m = BYTES / 8 / (double)n, nic_s = 8 * ((double)n - 1) * m / NIC;
        double then_s = ((double)n - 1) * m / LINK;
        for (wires.pieces = 1; wires.pieces <= 16; wires.pieces *= 4)
            check_times(&all, nic_s + then_s / (double)wires.pieces, nic_s);
    }
}
END_TEST

/* 16 experts on 2 nodes of 8, a token goes to 2 of them, as one copy to each: both are of one node
 * for 2 C(8,2) / C(16,2) = 56 / 120 of the tokens, so 1 + 64 / 120 of 2 copies cross, half of them
 * to the other node: (8 m 184 / 240) / B. Links carry both copies: 2 m each. */
START_TEST(what_goes_to_several_of_a_node_crosses_once)
{
    double m = BYTES / 16, nic_s = 8 * m * 184 / 240 / NIC;
    struct collective all = collective_by(COLLECTIVE_ALL_TO_ALL, 16, 2, "rail, then node");
    all.crossing_fraction = 184.0 / 240;
    for (wires.pieces = 1; wires.pieces <= 16; wires.pieces *= 4)
        check_times(&all, nic_s + m / LINK / (double)wires.pieces, nic_s);
    wires.cluster->fabric.link_bytes_per_s = LINK / 8;
    CHECK_NEAR(ideal_cost(&wires, &all).transfer_s, 2 * m / (LINK / 8), EXACT);
}
END_TEST

/* Hops of 2 us over links and 5 us over the network: flows by the algorithm take their steps and
 * bytes, `flows_s`, and so much is the price where its phases are one. */
static void
check_hops(struct collective collective, double flows_s)
{
    struct fabric_protocol *protocol = &wires.cluster->fabric.protocols[0];
    wires.link_hop_s = protocol->link_hop_s = 2e-6;
    wires.nic_hop_s = protocol->nic_hop_s = 5e-6;
    wires.pieces = 1;
    collective.bytes = 48e6;
    CHECK_NEAR(ideal_flows_s(&wires, &collective), flows_s, EXACT);
    struct collective_cost cost = ideal_cost(&wires, &collective);
    if (collective.nodes == 1 || collective.ranks == collective.nodes)
        CHECK_NEAR(cost.latency_s + cost.transfer_s, flows_s, EXACT);
}

/* S / X = 1 ms on 8 GPUs. */
START_TEST(steps_in_a_node_take_hops)
{
    const double a = 2e-6, s = 1e-3;
    check_hops(collective_by(COLLECTIVE_ALL_GATHER, 8, 1, "direct"), a + s / 8);
    check_hops(collective_by(COLLECTIVE_ALL_GATHER, 8, 1, "rings"), 7 * (a + s / 56));
    check_hops(collective_by(COLLECTIVE_ALL_REDUCE, 8, 1, "direct"), 2 * a + s / 4);
    check_hops(collective_by(COLLECTIVE_ALL_REDUCE, 8, 1, "one-shot"), a + s);
    check_hops(collective_by(COLLECTIVE_ALL_REDUCE, 8, 1, "rings"), 14 * (a + s / 56));
    check_hops(collective_by(COLLECTIVE_ALL_REDUCE, 8, 1, "halving + doubling"),
               6 * a + 2 * s * 7 / 8);
    check_hops(collective_by(COLLECTIVE_ALL_TO_ALL, 8, 1, "direct"), a + s / 8);
}
END_TEST

/* S / B = 0.96 ms on one GPU of each of 8 nodes. */
START_TEST(steps_on_a_rail_take_hops)
{
    const double a = 5e-6, s = 0.96e-3;
    check_hops(collective_by(COLLECTIVE_ALL_GATHER, 8, 8, "rail ring"), 7 * (a + s / 8));
    check_hops(collective_by(COLLECTIVE_ALL_GATHER, 8, 8, "rail doubling"), 3 * a + s * 7 / 8);
    check_hops(collective_by(COLLECTIVE_ALL_REDUCE, 8, 8, "rail ring"), 14 * (a + s / 8));
    check_hops(collective_by(COLLECTIVE_ALL_REDUCE, 8, 8, "rail halving + doubling"),
               6 * a + 2 * s * 7 / 8);
    check_hops(collective_by(COLLECTIVE_SEND_RECV, 2, 2, NULL), a + s);
}
END_TEST

/* Phases in sequence; a flat ring's sender waits for its own last send: each of p - 1 steps takes
 * what the slowest hop does, here the network's. */
START_TEST(steps_on_two_levels_take_hops)
{
    const double x = 2e-6, a = 5e-6, link_s = 1e-3, nic_s = 0.96e-3;
    check_hops(collective_by(COLLECTIVE_ALL_GATHER, 128, 16, "two levels, rail ring"),
               15 * (a + nic_s / 128) + x + link_s / 8);
    check_hops(collective_by(COLLECTIVE_ALL_REDUCE, 128, 16, "two levels, rail ring"),
               2 * x + 2 * link_s / 8 + 30 * (a + nic_s / 128));
    check_hops(collective_by(COLLECTIVE_ALL_TO_ALL, 128, 16, "rail, then node"),
               a + 8 * 15 * nic_s / 128 + x + 15 * link_s / 128);
    check_hops(collective_by(COLLECTIVE_ALL_GATHER, 32, 4, "flat rings"),
               31 * (a + nic_s / 32 / 8));
}
END_TEST

/* 11 nodes, S / B = 400 us, hops of 1 us: the best number of pieces is sqrt(9 x 400) = 60, and the
 * price is that of as many. */
START_TEST(a_chain_of_the_best_pieces_is_its_price)
{
    struct collective chain = collective_by(COLLECTIVE_BROADCAST, 11, 11, "rail chain");
    double hop_s = 1e-6;
    chain.bytes = 400e-6 * NIC;
    wires.cluster->fabric.protocols[0].nic_hop_s = wires.nic_hop_s = hop_s;
    wires.pieces = 60;
    struct collective_cost cost = ideal_cost(&wires, &chain);
    CHECK_NEAR(cost.latency_s + cost.transfer_s, 69 * (hop_s + 400e-6 / 60), EXACT);
    CHECK_NEAR(ideal_flows_s(&wires, &chain), cost.latency_s + cost.transfer_s, EXACT);
}
END_TEST

/* Any algorithm can be asked for, whether or not the library would take it; others are named. */
START_TEST(an_algorithm_that_there_is_not_is_refused)
{
    struct collective reduce = collective_by(COLLECTIVE_ALL_REDUCE, 8, 1, "tree");
    struct collective_cost cost;
    ck_assert(!collective_cost(wires.cluster, &reduce, &cost, &wires.errors));
    ck_assert_int_eq(wires.errors.items[0].kind, ERROR_INPUT);
    ck_assert_str_eq(wires.errors.items[0].what,
                     "no algorithm 'tree' of all_reduce between 8 ranks on 1 node; there is "
                     "'direct', 'one-shot', 'rings', 'halving + doubling'");
}
END_TEST

Suite *collective_pieces_suite(void);

Suite *
collective_pieces_suite(void)
{
    Suite *suite = suite_create("collective_pieces");
    TCase *tests = tcase_create("collective_pieces");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, halving_and_doubling_uses_one_wire_at_a_time);
    tcase_add_test(tests, trees_on_a_rail_take_rounds);
    tcase_add_test(tests, trees_below_the_first_take_rounds);
    tcase_add_test(tests, trees_through_nodes_take_chains_and_rounds);
    tcase_add_test(tests, gathers_by_level_are_phases);
    tcase_add_test(tests, an_all_reduce_by_level_is_three_phases);
    tcase_add_test(tests, chains_and_trees_by_level_are_in_the_middle);
    tcase_add_test(tests, everyone_to_everyone_in_two_phases);
    tcase_add_test(tests, what_goes_to_several_of_a_node_crosses_once);
    tcase_add_test(tests, steps_in_a_node_take_hops);
    tcase_add_test(tests, steps_on_a_rail_take_hops);
    tcase_add_test(tests, steps_on_two_levels_take_hops);
    tcase_add_test(tests, a_chain_of_the_best_pieces_is_its_price);
    tcase_add_test(tests, an_algorithm_that_there_is_not_is_refused);
    suite_add_tcase(suite, tests);
    return suite;
}
