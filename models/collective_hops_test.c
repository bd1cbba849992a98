/* Do closed forms and flows agree where each step takes its time to start? Hops of 2 us over links
 * and 5 us over the network, S / X = 1 ms and S / B = 0.96 ms. models/collective_pieces_test.c
 * has gathers and all-reduces. */
#include "models/check_collective_flows.h"

#include "hw/collective_trees.h"
#include "sim/base/check_near.h"

static const double EXACT = 1e-9;
static const double X = 2e-6, A = 5e-6; /* hops of a link, of the network */
static const double LINK_S = 1e-3, NIC_S = 0.96e-3;
static const double BYTES = 48e6;

static struct ideal_wires wires;

static void
set_hops(double link_hop_s, double nic_hop_s)
{
    struct fabric_protocol *protocol = &wires.cluster->fabric.protocols[0];
    wires.link_hop_s = protocol->link_hop_s = link_hop_s;
    wires.nic_hop_s = protocol->nic_hop_s = nic_hop_s;
}

static void
setup(void)
{
    ideal_wires_setup(&wires);
    set_hops(X, A);
    wires.pieces = 1;
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

static double
price_s(const struct collective *collective)
{
    struct collective_cost cost = ideal_cost(&wires, collective);
    return cost.latency_s + cost.transfer_s;
}

/* Flows and price alike take so long. */
static void
check_both(struct collective collective, double wanted_s)
{
    CHECK_NEAR(price_s(&collective), wanted_s, EXACT);
    collective.algorithm = ideal_cost(&wires, &collective).algorithm;
    CHECK_NEAR(ideal_flows_s(&wires, &collective), wanted_s, EXACT);
}

/* Of phases or pieces the price is what many pieces take: flows in one piece take `flows_s`, the
 * price has their hops and the longest phase. */
static void
check_phases(struct collective collective, double flows_s, double hops_s, double longest_s)
{
    struct collective_cost cost = ideal_cost(&wires, &collective);
    CHECK_NEAR(ideal_flows_s(&wires, &collective), flows_s, EXACT);
    CHECK_NEAR(cost.latency_s, hops_s, EXACT);
    CHECK_NEAR(cost.transfer_s, longest_s, EXACT);
}

/* A reduce-scatter mirrors the all-gather. */
START_TEST(scattering_takes_the_steps_of_gathering)
{
    const enum collective_kind kind = COLLECTIVE_REDUCE_SCATTER;
    check_both(collective_by(kind, 8, 1, "direct"), X + LINK_S / 8);
    check_both(collective_by(kind, 8, 1, "rings"), 7 * (X + LINK_S / 56));
    check_both(collective_by(kind, 8, 8, "rail ring"), 7 * (A + NIC_S / 8));
    check_both(collective_by(kind, 8, 8, "rail doubling"), 3 * A + NIC_S * 7 / 8);
    check_phases(collective_by(kind, 128, 16, "two levels, rail ring"),
                 15 * (A + NIC_S / 128) + X + LINK_S / 8, 15 * A + X, LINK_S / 8);
}
END_TEST

/* GPUs on a switch have one ring: 2 (g - 1) steps of S / g over the port. */
START_TEST(one_ring_takes_each_part_around_twice)
{
    wires.cluster->fabric.node_topology = NODE_SWITCH;
    check_both(collective_by(COLLECTIVE_ALL_REDUCE, 8, 1, "rings"), 14 * (X + LINK_S / 8));
    check_both(collective_by(COLLECTIVE_ALL_GATHER, 8, 1, "rings"), 7 * (X + LINK_S / 8));
}
END_TEST

/* One piece: S / 7 over each of the root's links, and on to the others; along 7 rings 7 hops. The
 * price of a chain is that of its best number of pieces, (n - 2 + k)(a + t / k). */
START_TEST(a_broadcast_starts_each_phase_once)
{
    check_phases(collective_by(COLLECTIVE_BROADCAST, 8, 1, "scatter + gather"),
                 2 * (X + LINK_S / 7), 2 * X, LINK_S / 7);
    check_phases(collective_by(COLLECTIVE_BROADCAST, 8, 1, "rings"), 7 * (X + LINK_S / 7),
                 7 * X, LINK_S / 7);
    double t = NIC_S / 8, k = sqrt(14 * t / A);
    check_phases(collective_by(COLLECTIVE_BROADCAST, 128, 16, "two levels, rail chain"),
                 2 * (X + LINK_S / 8) + 15 * (A + t), 2 * X + 15 * A,
                 (14 + k) * (A + t / k) - 15 * A);
}
END_TEST

/* Two trees of half of the bytes, four nodes: node 1 is the root of one, 0 - 1 - 2 - 3 below it;
 * 2 log2 n hops in the price. Two nodes send a half each way at once. */
START_TEST(trees_start_each_round_once)
{
    for (int64_t n = 2; n <= 16; n *= 2) {
        struct collective_trees trees = collective_trees_over(n, wires.arena);
        double rounds = 2 * (double)collective_trees_rounds(&trees, 1);
        check_phases(collective_by(COLLECTIVE_ALL_REDUCE, n, n, "rail tree"),
                     rounds * (A + NIC_S / 2), 2 * log2((double)n) * A,
                     (n > 2 ? 2 : 1) * NIC_S);
    }
}
END_TEST

START_TEST(sends_take_the_hops_of_their_way)
{
    check_both(collective_by(COLLECTIVE_SEND_RECV, 2, 1, NULL), X + LINK_S);
    check_both(collective_by(COLLECTIVE_SEND_RECV, 8, 1, NULL), X + LINK_S);
    check_both(collective_by(COLLECTIVE_SEND_RECV, 16, 16, NULL), A + NIC_S);
    check_both(collective_by(COLLECTIVE_SEND_RECV, 128, 16, NULL), X + A + LINK_S);
}
END_TEST

/* One rank to another, by way of the GPU of its rail. */
START_TEST(a_send_to_another_rail_takes_both_hops)
{
    struct collective send = collective_by(COLLECTIVE_SEND_RECV, 2, 1, NULL);
    struct text csv = text_new(wires.arena);
    text_format(&csv, "id,start_s,src,dst,bytes,deps\na,0,3,127,%.17g,\n", BYTES);
    send.from = 3, send.to = 127;
    CHECK_NEAR(price_s(&send), X + A + LINK_S, EXACT);
    CHECK_NEAR(ideal_list_s(&wires, &csv, 1), X + A + LINK_S, EXACT);
}
END_TEST

/* The price has the three phases' hops, each phase's once. */
START_TEST(levels_start_each_phase_once)
{
    check_phases(collective_by(COLLECTIVE_ALL_GATHER, 128, 16, "two levels, rail ring"),
                 15 * (A + NIC_S / 128) + X + LINK_S / 8, 15 * A + X, LINK_S / 8);
    check_phases(collective_by(COLLECTIVE_ALL_REDUCE, 128, 16, "two levels, rail ring"),
                 2 * X + 2 * LINK_S / 8 + 30 * (A + NIC_S / 128), 2 * X + 30 * A,
                 2 * LINK_S / 8);
    check_phases(collective_by(COLLECTIVE_ALL_TO_ALL, 128, 16, "rail, then node"),
                 A + X + 8 * 15 * NIC_S / 128 + 15 * LINK_S / 128, A + X, 8 * 15 * NIC_S / 128);
}
END_TEST

/* Where all hops are alike, a ring's step is what each of its hops takes, and flows and price are
 * one; else flows take the slowest hop's time in each step, and the price, of a library whose
 * senders run ahead, each hop's own. */
START_TEST(flat_rings_step_by_their_slowest_hop)
{
    struct collective gather = collective_by(COLLECTIVE_ALL_GATHER, 32, 4, "flat rings");
    set_hops(A, A);
    check_both(gather, 31 * (A + LINK_S / 32 / 8));
    set_hops(X, A);
    check_phases(gather, 31 * (A + NIC_S / 32 / 8), 28 * X + 3 * A, 31 * LINK_S / 32 / 8);
}
END_TEST

/* `gpus` of each node send to those of the next, then of the one after it, and so on: each after
 * its own sends of the round before. In the first round to their neighbours too. */
static void
write_rounds(struct text *csv, int64_t nodes, int64_t gpus, double bytes)
{
    text_format(csv, "id,start_s,src,dst,bytes,deps\n");
    for (int64_t round = 1; round < nodes; round++)
        for (int64_t from = 0; from < nodes * gpus; from++)
            for (int64_t gpu = 0; gpu < gpus; gpu++) {
                int64_t node = from / gpus, to = (node + round) % nodes;
                int64_t source = node * 8 + from % gpus, target = to * 8 + gpu;
                text_format(csv, "%lld.%lld.%lld,0,%lld,%lld,%.17g,", (long long)round,
                            (long long)from, (long long)gpu, (long long)source,
                            (long long)target, bytes);
                for (int64_t last = 0; round > 1 && last < gpus; last++)
                    text_format(csv, "%s%lld.%lld.%lld", last > 0 ? ";" : "",
                                (long long)round - 1, (long long)from, (long long)last);
                text_format(csv, "\n");
            }
}

/* (n - 1)(a + m / B) on a rail, and (n - 1)(a + g m / B) of whole nodes, where what goes in the
 * node is over sooner. */
START_TEST(exchanges_go_node_by_node)
{
    set_hops(0, A);
    for (int64_t gpus = 1; gpus <= 8; gpus += 7)
        for (int64_t n = 2; n <= 8; n *= 2) {
            struct collective all = collective_by(COLLECTIVE_ALL_TO_ALL, gpus * n, n, NULL);
            struct text csv = text_new(wires.arena);
            double part = BYTES / (double)(gpus * n);
            write_rounds(&csv, n, gpus, part);
            double wanted_s = ((double)n - 1) * (A + (double)gpus * part / 50e9);
            CHECK_NEAR(price_s(&all), wanted_s, EXACT);
            CHECK_NEAR(ideal_list_s(&wires, &csv, 1), wanted_s, EXACT);
        }
}
END_TEST

/* Links of a tenth: what is forwarded and what stays, n m, takes them longer than the NICs. */
START_TEST(slow_links_bound_what_is_forwarded)
{
    set_hops(0, 0);
    wires.cluster->fabric.link_bytes_per_s /= 10;
    for (int64_t n = 2; n <= 16; n *= 2)
        check_both(collective_by(COLLECTIVE_ALL_TO_ALL, 8 * n, n, "forwarded to the rail"),
                   (double)n * (LINK_S * 10 / 8 / (double)n));
}
END_TEST

/* In a node: a + max m / X. Between nodes the busiest wire is a bound: flows end no sooner, and on
 * a matrix of random rows, whatever its seed, no later than 1.15 times. */
START_TEST(unequal_parts_take_the_busiest_wire)
{
    enum { RANKS = 32, SEEDS = 4 };
    static double matrix[RANKS * RANKS];
    double node[4] = {0, 30e6, BYTES, 0};
    struct collective pairs = collective_by(COLLECTIVE_ALL_TO_ALL_V, 2, 1, "direct");
    pairs.bytes_matrix = node;
    check_both(pairs, X + LINK_S);
    set_hops(0, 0);
    for (uint32_t seed = 1; seed <= SEEDS; seed++) {
        uint32_t state = seed;
        for (int i = 0; i < RANKS * RANKS; i++) {
            state = state * 1664525U + 1013904223U; /* Knuth's and Lewis' generator */
            matrix[i] = i % (RANKS + 1) == 0 ? 0 : 1e6 * (double)(state >> 16 & 0xff);
        }
        struct collective all = collective_by(COLLECTIVE_ALL_TO_ALL_V, RANKS, 4, NULL);
        all.bytes_matrix = matrix;
        double bound_s = price_s(&all);
        all.algorithm = "forwarded to the rail";
        double flows_s = ideal_flows_s(&wires, &all);
        ck_assert(flows_s >= bound_s * (1 - EXACT) && flows_s <= 1.15 * bound_s);
    }
}
END_TEST

Suite *collective_hops_suite(void);

Suite *
collective_hops_suite(void)
{
    Suite *suite = suite_create("collective_hops");
    TCase *tests = tcase_create("collective_hops");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, scattering_takes_the_steps_of_gathering);
    tcase_add_test(tests, one_ring_takes_each_part_around_twice);
    tcase_add_test(tests, a_broadcast_starts_each_phase_once);
    tcase_add_test(tests, trees_start_each_round_once);
    tcase_add_test(tests, sends_take_the_hops_of_their_way);
    tcase_add_test(tests, a_send_to_another_rail_takes_both_hops);
    tcase_add_test(tests, levels_start_each_phase_once);
    tcase_add_test(tests, flat_rings_step_by_their_slowest_hop);
    tcase_add_test(tests, exchanges_go_node_by_node);
    tcase_add_test(tests, slow_links_bound_what_is_forwarded);
    tcase_add_test(tests, unequal_parts_take_the_busiest_wire);
    suite_add_tcase(suite, tests);
    return suite;
}
