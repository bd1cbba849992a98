/* Routes on small clusters, each link told by what it gives and by who shares it. */
#include "hw/route.h"

#include <string.h>

#include "hw/check_cluster.h"
#include "sim/base/check_arena.h"
#include "sim/base/check_near.h"

static struct arena *arena;
static struct cluster cluster;

/* Three nodes of four GPUs: links of 10e9 bytes/s, NICs of 8e9. */
static void
setup(void)
{
    arena = check_arena_new();
    cluster = check_cluster_small(3, 4);
    cluster.fabric.packet_payload_bytes = 4;
    cluster.fabric.packet_header_bytes = 1;
}

static void
teardown(void)
{
    arena_free(arena);
}

static struct route
route_of(int64_t from, int64_t to, uint64_t draw)
{
    struct route route;
    ck_assert(route_find(&cluster, from, to, draw, &route));
    return route;
}

static void
check_rates(struct route route, const double *bytes_per_s, int count)
{
    ck_assert_int_eq(route.count, count);
    for (int i = 0; i < count; i++)
        CHECK_NEAR(route_link_bytes_per_s(&cluster, route.links[i]), bytes_per_s[i], 1e-15);
}

/* How many links the two have in common. */
static int
shared_count(struct route a, struct route b)
{
    int shared = 0;
    for (int i = 0; i < a.count; i++)
        for (int j = 0; j < b.count; j++)
            shared += a.links[i] == b.links[j];
    return shared;
}

START_TEST(neighbours_on_a_mesh_have_a_link_each_way_to_themselves)
{
    struct route there = route_of(0, 1, 0);
    check_rates(there, (double[]){10e9}, 1);
    ck_assert_int_eq(shared_count(there, route_of(1, 0, 0)), 0);
    ck_assert_int_eq(shared_count(there, route_of(0, 2, 0)), 0);
    ck_assert_int_eq(shared_count(there, route_of(4, 5, 0)), 0); /* the same GPUs, node 1 */
}
END_TEST

/* With all 3 links busy each gives (1 - 2 * 0.05) 10e9, together 27e9. */
START_TEST(links_that_slow_each_other_share_what_they_give_together)
{
    cluster.fabric.loss_per_further_link = 0.05;
    struct route there = route_of(0, 1, 0);
    check_rates(there, (double[]){27e9, 10e9, 27e9}, 3);
    ck_assert_int_eq(shared_count(there, route_of(0, 2, 0)), 1);
    ck_assert_int_eq(shared_count(there, route_of(2, 1, 0)), 1);
    ck_assert_int_eq(shared_count(there, route_of(1, 0, 0)), 0);
}
END_TEST

START_TEST(gpus_at_a_switch_have_one_port_each)
{
    cluster.fabric.node_topology = NODE_SWITCH;
    struct route there = route_of(0, 1, 0);
    check_rates(there, (double[]){10e9, 10e9}, 2);
    ck_assert_int_eq(shared_count(there, route_of(0, 2, 0)), 1);
    ck_assert_int_eq(shared_count(there, route_of(3, 1, 0)), 1);
    ck_assert_int_eq(shared_count(there, route_of(1, 0, 0)), 0);
}
END_TEST

/* 4 of 5 bytes are payload: 8e9. */
START_TEST(gpus_of_one_rail_meet_in_their_nics)
{
    struct route there = route_of(1, 9, 0);
    check_rates(there, (double[]){8e9, 8e9}, 2);
    ck_assert_int_eq(shared_count(there, route_of(5, 9, 0)), 1);
    ck_assert_int_eq(shared_count(there, route_of(1, 5, 0)), 1);
    ck_assert_int_eq(shared_count(there, route_of(9, 1, 0)), 0);
}
END_TEST

/* 0 is GPU 0 of node 0; 9 is GPU 1 of node 2. */
START_TEST(another_rail_is_reached_by_its_gpu_of_the_own_node)
{
    struct route there = route_of(0, 9, 0);
    check_rates(there, (double[]){10e9, 8e9, 8e9}, 3);
    ck_assert_int_eq(shared_count(there, route_of(0, 1, 0)), 1); /* the link to GPU 1 */
    ck_assert_int_eq(shared_count(there, route_of(1, 9, 0)), 2); /* both NICs */
    ck_assert_int_eq(shared_count(there, route_of(0, 4, 0)), 0); /* not its own NIC */
}
END_TEST

START_TEST(without_forwarding_no_way_leads_to_another_rail)
{
    struct route route;
    cluster.fabric.forwards_cross_rail = false;
    ck_assert(!route_find(&cluster, 0, 9, 0, &route));
    ck_assert_str_eq(route_refusal(&cluster, 0, 9, arena),
                     "rank 0 is on rail 0, rank 9 on rail 1, and small does not forward from "
                     "rail to rail");
    check_rates(route_of(1, 9, 0), (double[]){8e9, 8e9}, 2);
}
END_TEST

START_TEST(nodes_without_a_network_are_apart)
{
    struct route route;
    cluster.fabric.network_topology = NETWORK_NONE;
    ck_assert(!route_find(&cluster, 1, 9, 0, &route));
    ck_assert_str_eq(
        route_refusal(&cluster, 1, 9, arena),
        "rank 1 and rank 9 are on two nodes, and no network joins the nodes of small");
}
END_TEST

START_TEST(nothing_leads_from_a_rank_to_itself)
{
    struct route route;
    ck_assert(!route_find(&cluster, 3, 3, 0, &route));
    ck_assert_str_eq(route_refusal(&cluster, 3, 3, arena), "rank 3 to itself takes no link");
}
END_TEST

START_TEST(on_a_single_switch_all_nics_meet)
{
    cluster.fabric.network_topology = NETWORK_SINGLE_SWITCH;
    cluster.fabric.forwards_cross_rail = false;
    struct route there = route_of(0, 9, 0);
    check_rates(there, (double[]){8e9, 8e9}, 2);
    ck_assert_int_eq(shared_count(there, route_of(0, 4, 0)), 1); /* its own NIC */
}
END_TEST

static void
make_leaf_spine(bool is_sprayed)
{
    cluster.fabric.network_topology = NETWORK_LEAF_SPINE;
    cluster.fabric.leaf_nodes = 2;
    cluster.fabric.spine_count = 4;
    cluster.fabric.oversubscription_ratio = 2;
    cluster.fabric.is_sprayed = is_sprayed;
}

/* A leaf has 8 NICs of 8e9, 64e9; half of that goes up: 32e9. Nodes 0 and 1 are one leaf, node 2
 * another. */
START_TEST(sprayed_flows_share_all_links_of_their_leaves)
{
    make_leaf_spine(true);
    check_rates(route_of(0, 4, 7), (double[]){8e9, 8e9}, 2);
    struct route there = route_of(0, 9, 7);
    check_rates(there, (double[]){8e9, 32e9, 32e9, 8e9}, 4);
    ck_assert_int_eq(shared_count(there, route_of(5, 10, 8)), 2);
    ck_assert_int_eq(shared_count(there, route_of(9, 0, 7)), 0);
}
END_TEST

/* 32e9 over 4 spines. */
START_TEST(an_ecmp_flow_keeps_to_the_spine_that_is_drawn)
{
    make_leaf_spine(false);
    struct route there = route_of(0, 9, 7);
    check_rates(there, (double[]){8e9, 8e9, 8e9, 8e9}, 4);
    ck_assert_int_eq(shared_count(there, route_of(5, 10, 7)), 2);
    ck_assert_int_eq(shared_count(there, route_of(5, 10, 8)), 0);
    ck_assert_int_eq(shared_count(there, route_of(5, 10, 11)), 2); /* 11 = 7 modulo 4 */
}
END_TEST

/* A leaf of rail 1 has 2 NICs of 8e9, and half of that up, over 4 spines: 2e9. */
START_TEST(rails_of_two_levels_have_leaves_of_their_own)
{
    make_leaf_spine(false);
    cluster.fabric.network_topology = NETWORK_RAILS_ONLY;
    check_rates(route_of(1, 5, 0), (double[]){8e9, 8e9}, 2);
    check_rates(route_of(1, 9, 0), (double[]){8e9, 2e9, 2e9, 8e9}, 4);
    check_rates(route_of(0, 9, 0), (double[]){10e9, 8e9, 2e9, 2e9, 8e9}, 5);
    ck_assert_int_eq(shared_count(route_of(1, 9, 0), route_of(2, 10, 0)), 0);
    ck_assert_int_eq(shared_count(route_of(1, 9, 0), route_of(5, 9, 0)), 3);
}
END_TEST

Suite *route_suite(void);

Suite *
route_suite(void)
{
    Suite *suite = suite_create("route");
    TCase *facts = tcase_create("facts");
    tcase_add_checked_fixture(facts, setup, teardown);
    tcase_add_test(facts, neighbours_on_a_mesh_have_a_link_each_way_to_themselves);
    tcase_add_test(facts, links_that_slow_each_other_share_what_they_give_together);
    tcase_add_test(facts, gpus_at_a_switch_have_one_port_each);
    tcase_add_test(facts, gpus_of_one_rail_meet_in_their_nics);
    tcase_add_test(facts, another_rail_is_reached_by_its_gpu_of_the_own_node);
    tcase_add_test(facts, without_forwarding_no_way_leads_to_another_rail);
    tcase_add_test(facts, nodes_without_a_network_are_apart);
    tcase_add_test(facts, nothing_leads_from_a_rank_to_itself);
    tcase_add_test(facts, on_a_single_switch_all_nics_meet);
    tcase_add_test(facts, sprayed_flows_share_all_links_of_their_leaves);
    tcase_add_test(facts, an_ecmp_flow_keeps_to_the_spine_that_is_drawn);
    tcase_add_test(facts, rails_of_two_levels_have_leaves_of_their_own);
    suite_add_tcase(suite, facts);
    return suite;
}
