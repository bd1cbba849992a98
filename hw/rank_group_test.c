/* Where groups of ranks lie. */
#include "hw/rank_group.h"

#include <check.h>
#include <string.h>

static const struct rank_space SPACE = {"four nodes", 4, 8};

static struct rank_placement
place(struct rank_group group)
{
    struct error_list errors = {0};
    struct rank_placement placement;
    ck_assert_msg(rank_group_place(&group, &SPACE, &placement, &errors), "%s",
                  errors.items[0].what);
    return placement;
}

static void
check_place(struct rank_group group, int64_t nodes, int64_t gpus, bool keeps_rails)
{
    struct rank_placement placement = place(group);
    ck_assert_int_eq(placement.nodes, nodes);
    ck_assert_int_eq(placement.gpus, gpus);
    ck_assert_int_eq(placement.keeps_rails, keeps_rails);
}

START_TEST(rows_fill_nodes_rails_or_parts)
{
    check_place((struct rank_group){.size = 8, .stride = 1}, 1, 8, true);
    check_place((struct rank_group){.first = 9, .size = 3, .stride = 2}, 1, 3, true);
    check_place((struct rank_group){.first = 3, .size = 4, .stride = 8}, 4, 1, true);
    check_place((struct rank_group){.first = 1, .size = 8, .stride = 4}, 4, 2, true);
    check_place((struct rank_group){.size = 32, .stride = 1}, 4, 8, true);
    check_place(
        (struct rank_group){.first = 2, .size = 2, .stride = 1, .rows = 2, .row_stride = 16}, 2,
        2, true);
    check_place((struct rank_group){.first = 7, .size = 1}, 1, 1, true);
    struct rank_placement outer =
        place((struct rank_group){.first = 8, .size = 2, .stride = 16});
    ck_assert_int_eq(outer.first_node, 1);
    ck_assert_int_eq(outer.last_node, 3);
}
END_TEST

/* 6, 7 | 8, 9, 10: two on the first node, three on the second, none on a common rail; 0, 9, 18, 27:
 * one a node, each on a rail of its own; 0..11: the last four of the first have no partner. */
START_TEST(groups_that_leave_their_rails_are_seen)
{
    check_place((struct rank_group){.first = 6, .size = 5, .stride = 1}, 2, 2, false);
    check_place((struct rank_group){.size = 4, .stride = 9}, 4, 1, false);
    struct rank_placement uneven = place((struct rank_group){.size = 12, .stride = 1});
    ck_assert_int_eq(uneven.gpus, 4);
    ck_assert(!uneven.keeps_rails);
    ck_assert_int_eq(uneven.stray_from, 4);
    ck_assert_int_eq(uneven.stray_to, 8);
}
END_TEST

/* The same ranks listed lie in the same way, whatever the steps said without looking. */
START_TEST(a_list_lies_as_its_ranks_do)
{
    static const struct rank_group groups[] = {
        {.size = 8, .stride = 1},
        {.first = 3, .size = 4, .stride = 8},
        {.first = 1, .size = 8, .stride = 4},
        {.first = 6, .size = 5, .stride = 1},
        {.size = 12, .stride = 1},
        {.size = 4, .stride = 9},
        {.size = 2, .stride = 12},
        {.first = 5, .size = 2, .stride = 2, .rows = 3, .row_stride = 8},
        {.first = 2, .size = 2, .stride = 1, .rows = 2, .row_stride = 16},
    };
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
        int64_t ranks[32], count = rank_group_count(&groups[i]);
        for (int64_t r = 0; r < count; r++)
            ranks[r] = rank_group_at(&groups[i], r);
        struct rank_placement stepped = place(groups[i]);
        struct rank_placement listed = place((struct rank_group){.size = count, .list = ranks});
        ck_assert_int_eq(stepped.nodes, listed.nodes);
        ck_assert_int_eq(stepped.gpus, listed.gpus);
        ck_assert_int_eq(stepped.keeps_rails, listed.keeps_rails);
        ck_assert_int_eq(stepped.last_node, listed.last_node);
    }
}
END_TEST

static void
check_refused(struct rank_group group, const char *words)
{
    struct error_list errors = {0};
    struct rank_placement placement;
    ck_assert(!rank_group_place(&group, &SPACE, &placement, &errors));
    ck_assert_int_eq(errors.items[0].kind, ERROR_INPUT);
    ck_assert_msg(strstr(errors.items[0].what, words) != NULL, "%s", errors.items[0].what);
}

START_TEST(ranks_that_are_twice_or_nowhere_are_named)
{
    static const int64_t twice[] = {0, 5, 5, 7}, falling[] = {0, 7, 5}, beyond[] = {0, 32},
                         below[] = {-1, 3};
    check_refused((struct rank_group){.size = 4, .list = twice}, "rank 5 is twice");
    check_refused((struct rank_group){.size = 3, .list = falling}, "rank 5 stands behind");
    check_refused((struct rank_group){.size = 2, .list = beyond}, "rank 32, but four nodes");
    check_refused((struct rank_group){.size = 2, .list = below}, "rank -1, but");
    check_refused((struct rank_group){.size = 5, .stride = 8}, "rank 32, but");
    check_refused((struct rank_group){.size = 2, .stride = 0}, "rank 0 is twice");
    check_refused((struct rank_group){.size = 0, .stride = 1}, "a group of 0 ranks");
    check_refused((struct rank_group){.size = 4, .stride = 1, .rows = 2, .row_stride = 2},
                  "begins before its first ends, with rank 2");
    check_refused((struct rank_group){.size = INT64_MAX, .stride = 8}, "beyond any cluster");
}
END_TEST

Suite *rank_group_suite(void);

Suite *
rank_group_suite(void)
{
    Suite *suite = suite_create("rank_group");
    TCase *tests = tcase_create("rank_group");
    tcase_add_test(tests, rows_fill_nodes_rails_or_parts);
    tcase_add_test(tests, groups_that_leave_their_rails_are_seen);
    tcase_add_test(tests, a_list_lies_as_its_ranks_do);
    tcase_add_test(tests, ranks_that_are_twice_or_nowhere_are_named);
    suite_add_tcase(suite, tests);
    return suite;
}
