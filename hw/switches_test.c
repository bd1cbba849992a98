/* Switches counted by hand, and networks that cannot be. */
#include "hw/switches.h"

#include <check.h>
#include <string.h>

#include "sim/base/check_near.h"

static struct switch_plan
plan_of(struct switch_wish wish)
{
    struct switch_plan plan;
    struct error_list errors = {0};
    ck_assert(switch_plan_find(&wish, &plan, &errors));
    ck_assert_int_eq(errors.count, 0);
    return plan;
}

static const char *
refusal_of(struct switch_wish wish, struct error_list *errors)
{
    struct switch_plan plan;
    *errors = (struct error_list){0};
    ck_assert(!switch_plan_find(&wish, &plan, errors));
    ck_assert_int_eq(errors->items[0].kind, ERROR_INFEASIBLE);
    return errors->items[0].what;
}

START_TEST(so_many_nics_as_a_switch_has_ports_need_one)
{
    struct switch_plan plan = plan_of((struct switch_wish){128, 1, 128, 0, 2});
    ck_assert_int_eq(plan.levels, 1);
    ck_assert_int_eq(plan.leaves, 1);
    ck_assert_int_eq(plan.spines + plan.tops + plan.cables, 0);
    CHECK_NEAR(plan.oversubscription_ratio, 1, 0); /* nothing leaves it */
    ck_assert_int_eq(plan_of((struct switch_wish){129, 1, 128, 0, 2}).levels, 2);
    ck_assert_int_eq(plan_of((struct switch_wish){16, 8, 128, 0, 1}).nodes_maximum, 16);
}
END_TEST

/* 128 ports, 1 to 1: 64 NICs and 64 links up. 512 nodes: 8 leaves, 512 links, 4 spines of 128, each
 * with 16 links of each leaf. At most 128 leaves: 8,192 nodes. */
START_TEST(leaves_and_spines_are_counted)
{
    struct switch_plan plan = plan_of((struct switch_wish){512, 1, 128, 0, 1});
    ck_assert_int_eq(plan.levels, 2);
    ck_assert_int_eq(plan.leaf_nodes, 64);
    ck_assert_int_eq(plan.leaf_uplinks, 64);
    ck_assert_int_eq(plan.leaves, 8);
    ck_assert_int_eq(plan.spines, 4);
    ck_assert_int_eq(plan.cables, 512);
    ck_assert_int_eq(plan.nodes_maximum, 8192);
}
END_TEST

/* 2 to 1: 42 links up and 84 NICs of 128 ports. 512 nodes: 7 leaves, 294 links: 3 spines, each
 * with 14 links of each leaf, 98 ports. 5 leaves of 104 at 5 to 1: 21 links up, 105 in all: one
 * spine. */
START_TEST(oversubscribed_leaves_hold_more)
{
    struct switch_plan plan = plan_of((struct switch_wish){512, 1, 128, 0, 2});
    ck_assert_int_eq(plan.leaf_nodes, 84);
    ck_assert_int_eq(plan.leaves, 7);
    ck_assert_int_eq(plan.spines, 3);
    CHECK_NEAR(plan.oversubscription_ratio, 2, 0);
    plan = plan_of((struct switch_wish){512, 1, 128, 104, 5});
    ck_assert_int_eq(plan.leaf_uplinks, 21);
    ck_assert_int_eq(plan.leaves, 5);
    ck_assert_int_eq(plan.spines, 1);
    CHECK_NEAR(plan.oversubscription_ratio, 104.0 / 21, 1e-15);
}
END_TEST

/* Three leaves of 5 links up on switches of 10 ports: 15 links would go into two spines, but 5
 * links do not halve: five spines. */
START_TEST(links_spread_evenly_or_on_more_spines)
{
    struct switch_plan plan = plan_of((struct switch_wish){15, 1, 10, 0, 1});
    ck_assert_int_eq(plan.leaves, 3);
    ck_assert_int_eq(plan.spines, 5);
}
END_TEST

/* Al-Fares: k = 4 ports join k^3 / 4 = 16 hosts with 8 leaves, 8 spines and 4 tops; 12 hosts are
 * 6 leaves in 3 pods: 6 spines of 2 links up, 12 links. Each of 2 planes has 3 pods with 2 links
 * each: two tops. */
START_TEST(three_levels_are_a_fat_tree)
{
    struct switch_plan plan = plan_of((struct switch_wish){16, 1, 4, 0, 1});
    ck_assert_int_eq(plan.levels, 3);
    ck_assert_int_eq(plan.leaves, 8);
    ck_assert_int_eq(plan.spines, 8);
    ck_assert_int_eq(plan.tops, 4);
    ck_assert_int_eq(plan.cables, 32);
    ck_assert_int_eq(plan.nodes_maximum, 16);
    plan = plan_of((struct switch_wish){12, 1, 4, 0, 1});
    ck_assert_int_eq(plan.spines, 6);
    ck_assert_int_eq(plan.tops, 4);
    ck_assert_int_eq(plan_of((struct switch_wish){8192, 1, 128, 0, 1}).levels, 2);
    plan = plan_of((struct switch_wish){8193, 1, 128, 0, 1});
    ck_assert_int_eq(plan.levels, 3);
    ck_assert_int_eq(plan.nodes_maximum, 524288);
}
END_TEST

START_TEST(what_cannot_be_is_named)
{
    struct error_list errors;
    ck_assert_str_eq(refusal_of((struct switch_wish){17, 1, 4, 0, 1}, &errors),
                     "17 nodes, but three levels of switches of 4 ports join at most 16 with 2 "
                     "nodes a leaf");
    ck_assert_str_eq(
        refusal_of((struct switch_wish){512, 1, 128, 100, 1}, &errors),
        "a leaf switch of 128 ports holds at most 64 nodes at 1 to 1 (NICs of each: 1; "
        "and links up), wanted 100");
    ck_assert_str_eq(
        refusal_of((struct switch_wish){4, 8, 12, 0, 1}, &errors),
        "a leaf switch of 12 ports holds at most 0 nodes at 1 to 1 (NICs of each: 8; "
        "and links up), wanted 1");
    refusal_of((struct switch_wish){8, 1, 1, 0, 1}, &errors);
}
END_TEST

/* A rail has one NIC of each node; one network for all has them all. */
START_TEST(the_fabric_says_how_many_nics_meet)
{
    struct fabric fabric = {.network_topology = NETWORK_RAILS_ONLY};
    ck_assert_int_eq(switch_node_nics(&fabric, 8), 1);
    fabric.network_topology = NETWORK_LEAF_SPINE;
    ck_assert_int_eq(switch_node_nics(&fabric, 8), 8);
    ck_assert_int_eq(switch_ports_known(50e9), 128);
    ck_assert_int_eq(switch_ports_known(25e9), 0);
}
END_TEST

Suite *switches_suite(void);

Suite *
switches_suite(void)
{
    Suite *suite = suite_create("switches");
    TCase *cases = tcase_create("switches");
    tcase_add_test(cases, so_many_nics_as_a_switch_has_ports_need_one);
    tcase_add_test(cases, leaves_and_spines_are_counted);
    tcase_add_test(cases, oversubscribed_leaves_hold_more);
    tcase_add_test(cases, links_spread_evenly_or_on_more_spines);
    tcase_add_test(cases, three_levels_are_a_fat_tree);
    tcase_add_test(cases, what_cannot_be_is_named);
    tcase_add_test(cases, the_fabric_says_how_many_nics_meet);
    suite_add_tcase(suite, cases);
    return suite;
}
