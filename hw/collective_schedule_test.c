/* Steps and bytes of each algorithm, worked by hand. */
#include "hw/collective_schedule.h"

#include "sim/base/check_near.h"

static const struct ranks_shape MESH = {.nodes = 1, .gpus = 8, .links = 7, .ranks = 8};
static const struct ranks_shape PORT = {.nodes = 1, .gpus = 8, .links = 1, .ranks = 8};
static const struct ranks_shape RAIL = {.nodes = 4, .gpus = 1, .links = 0, .ranks = 4};
static const struct ranks_shape TWO_NODES = {.nodes = 2, .gpus = 8, .links = 7, .ranks = 16};

static void
check_steps(struct collective_schedule schedule, double link_hops, double nic_hops)
{
    CHECK_NEAR(schedule.link_hops, link_hops, 0);
    CHECK_NEAR(schedule.nic_hops, nic_hops, 0);
}

static void
check_bytes(struct collective_schedule schedule, double link_bytes, double nic_bytes)
{
    CHECK_NEAR(schedule.link_bytes, link_bytes, 1e-15);
    CHECK_NEAR(schedule.nic_bytes, nic_bytes, 1e-15);
}

/* S = 56: each of 8 parts is 7; each GPU sends its own over each of its 7 links, or all 7 parts
 * over one port. */
START_TEST(a_gather_moves_one_part_over_each_link_of_a_mesh)
{
    check_bytes(schedule_direct_gather(MESH, 56), 7, 0);
    check_steps(schedule_direct_gather(MESH, 56), 1, 0);
    check_bytes(schedule_direct_gather(PORT, 56), 49, 0);
}
END_TEST

START_TEST(rings_move_the_same_bytes_in_more_steps)
{
    check_bytes(schedule_ring_gather(MESH, 56), 7, 0);
    check_steps(schedule_ring_gather(MESH, 56), 7, 0);
}
END_TEST

/* Two-shot: 2 S / g = 14 over each link in 2 steps; one-shot: S = 56 in one. */
START_TEST(an_all_reduce_is_two_gathers_or_one_shot)
{
    check_bytes(schedule_gather_twice(schedule_direct_gather(MESH, 56)), 14, 0);
    check_steps(schedule_gather_twice(schedule_direct_gather(MESH, 56)), 2, 0);
    check_steps(schedule_gather_twice(schedule_ring_gather(MESH, 56)), 14, 0);
    check_bytes(schedule_one_shot_reduce(MESH, 56), 56, 0);
    check_steps(schedule_one_shot_reduce(MESH, 56), 1, 0);
}
END_TEST

/* S / 7 = 8 over each link of the root, all 56 through a port. */
START_TEST(a_broadcast_leaves_the_root_over_all_its_links)
{
    check_bytes(schedule_direct_broadcast(MESH, 56), 8, 0);
    check_steps(schedule_direct_broadcast(MESH, 56), 2, 0);
    check_bytes(schedule_ring_broadcast(PORT, 56), 56, 0);
    check_steps(schedule_ring_broadcast(PORT, 56), 7, 0);
}
END_TEST

START_TEST(an_all_to_all_sends_one_part_to_each_peer)
{
    check_bytes(schedule_direct_all_to_all(MESH, 56), 7, 0);
    check_steps(schedule_direct_all_to_all(MESH, 56), 1, 0);
}
END_TEST

/* S = 64 on 4 nodes: 3 parts of 16, in 3 steps or log2 4 = 2; 5 nodes need 3 steps. */
START_TEST(a_rail_gathers_by_a_ring_or_by_doubling)
{
    struct ranks_shape five = RAIL;
    five.nodes = 5;
    check_bytes(schedule_rail_ring_gather(RAIL, 64), 0, 48);
    check_steps(schedule_rail_ring_gather(RAIL, 64), 0, 3);
    check_bytes(schedule_rail_doubling_gather(RAIL, 64), 0, 48);
    check_steps(schedule_rail_doubling_gather(RAIL, 64), 0, 2);
    check_steps(schedule_rail_doubling_gather(five, 64), 0, 3);
}
END_TEST

/* Up and down: 2 log2 4 steps, 2 S; a broadcast only down. A chain counts its steps itself. */
START_TEST(trees_pass_the_whole_buffer)
{
    check_bytes(schedule_rail_tree_reduce(RAIL, 64), 0, 128);
    check_steps(schedule_rail_tree_reduce(RAIL, 64), 0, 4);
    check_bytes(schedule_rail_tree_broadcast(RAIL, 64), 0, 64);
    check_steps(schedule_rail_tree_broadcast(RAIL, 64), 0, 2);
    check_bytes(schedule_rail_chain_broadcast(RAIL, 64), 0, 64);
    check_steps(schedule_rail_chain_broadcast(RAIL, 64), 0, 0);
    CHECK_NEAR(schedule_rail_chain_broadcast(RAIL, 64).chain_nodes, 4, 0);
}
END_TEST

START_TEST(pairs_on_a_rail_exchange_one_after_the_other)
{
    check_bytes(schedule_rail_all_to_all(RAIL, 64), 0, 48);
    check_steps(schedule_rail_all_to_all(RAIL, 64), 0, 3);
}
END_TEST

/* p = 16, S = 128: c = 8, 8 rings carry 1 each in 15 steps; one of the 15 crosses the network. An
 * all-reduce goes around twice, 4 of its 30 steps cross. */
START_TEST(flat_rings_use_every_link_and_every_nic_alike)
{
    check_bytes(schedule_flat_ring_gather(TWO_NODES, 128), 15, 15);
    check_steps(schedule_flat_ring_gather(TWO_NODES, 128), 14, 1);
    check_bytes(schedule_flat_ring_reduce(TWO_NODES, 128), 30, 30);
    check_steps(schedule_flat_ring_reduce(TWO_NODES, 128), 26, 4);
}
END_TEST

/* S = 128: 8 trees carry 16 up and 16 down, through 7 links of each node; between two nodes each is
 * one of two halves that goes up as the other comes. Once around 8 rings of 16 ranks: 16 over
 * each wire. */
START_TEST(flat_trees_and_broadcasts_use_every_rail)
{
    check_bytes(schedule_flat_tree_reduce(TWO_NODES, 128), 32, 16);
    check_steps(schedule_flat_tree_reduce(TWO_NODES, 128), 14, 2);
    check_bytes(schedule_flat_ring_broadcast(TWO_NODES, 128), 16, 16);
    check_steps(schedule_flat_ring_broadcast(TWO_NODES, 128), 14, 1);
}
END_TEST

/* What a NIC sends comes over a link first, when the ranks of two nodes have no rail in common. */
START_TEST(crossing_rails_takes_a_link_more)
{
    struct collective_schedule across =
        schedule_across_rails(schedule_rail_ring_gather(RAIL, 64));
    check_bytes(across, 48, 48);
    check_steps(across, 3, 3);
}
END_TEST

/* Without forwarding each link carries its peer's part alone. */
START_TEST(a_switch_spares_the_links)
{
    check_bytes(schedule_switched_all_to_all(TWO_NODES, 16), 1, 8);
}
END_TEST

/* p = 16, c = 1: a link carries the peer's part and that of the peer's rail; a NIC what 8 GPUs
 * send to the other node by that rail. */
START_TEST(forwarding_fills_the_nics_with_the_traffic_of_the_node)
{
    check_bytes(schedule_forwarded_all_to_all(TWO_NODES, 16), 2, 8);
    check_steps(schedule_forwarded_all_to_all(TWO_NODES, 16), 1, 1);
}
END_TEST

/* S = 128 on 2 x 8: in the node n c = 16 over each link, on the rail 8 of the 16 of that rail. */
START_TEST(two_levels_add_their_steps_and_keep_their_wires_apart)
{
    struct collective_schedule both =
        schedule_two_levels(schedule_direct_gather(TWO_NODES, 128),
                            schedule_rail_ring_gather(TWO_NODES, 16), "both", 2);
    check_bytes(both, 16, 8);
    check_steps(both, 1, 1);
    CHECK_NEAR(both.launches, 2, 0);
}
END_TEST

Suite *collective_schedule_suite(void);

Suite *
collective_schedule_suite(void)
{
    Suite *suite = suite_create("collective_schedule");
    TCase *tests = tcase_create("collective_schedule");
    tcase_add_test(tests, a_gather_moves_one_part_over_each_link_of_a_mesh);
    tcase_add_test(tests, rings_move_the_same_bytes_in_more_steps);
    tcase_add_test(tests, an_all_reduce_is_two_gathers_or_one_shot);
    tcase_add_test(tests, a_broadcast_leaves_the_root_over_all_its_links);
    tcase_add_test(tests, an_all_to_all_sends_one_part_to_each_peer);
    tcase_add_test(tests, a_rail_gathers_by_a_ring_or_by_doubling);
    tcase_add_test(tests, trees_pass_the_whole_buffer);
    tcase_add_test(tests, pairs_on_a_rail_exchange_one_after_the_other);
    tcase_add_test(tests, flat_rings_use_every_link_and_every_nic_alike);
    tcase_add_test(tests, flat_trees_and_broadcasts_use_every_rail);
    tcase_add_test(tests, crossing_rails_takes_a_link_more);
    tcase_add_test(tests, a_switch_spares_the_links);
    tcase_add_test(tests, forwarding_fills_the_nics_with_the_traffic_of_the_node);
    tcase_add_test(tests, two_levels_add_their_steps_and_keep_their_wires_apart);
    suite_add_tcase(suite, tests);
    return suite;
}
