/* Are the two trees ones in which rounds of single messages carry everything? */
#include "hw/collective_trees.h"

#include <check.h>
#include <stdbool.h>

#include "sim/base/check_arena.h"
#include "sim/base/check_often.h"

enum { MEMBERS_MAX = 130 };

static struct arena *arena;

static void
setup(void)
{
    arena = check_arena_new();
}

static void
teardown(void)
{
    arena_free(arena);
}

/* Of 8 members as NCCL's trees.cc draws them: 0 - 4, below it 2 and 6, leaves 1 3 5 7. */
START_TEST(a_tree_alternates_leaves_and_others)
{
    static const int64_t wanted[7][2] = {{0, 4}, {4, 2}, {4, 6}, {2, 1},
                                         {2, 3}, {6, 5}, {6, 7}};
    struct collective_trees trees = collective_trees_over(8, arena);
    ck_assert_int_eq(trees.count, 14);
    for (int i = 0; i < 7; i++) {
        ck_assert_int_eq(trees.edges[i].parent, wanted[i][0]);
        ck_assert_int_eq(trees.edges[i].child, wanted[i][1]);
        ck_assert_int_eq(trees.edges[7 + i].parent, 7 - wanted[i][0]);
        ck_assert_int_eq(trees.edges[7 + i].child, 7 - wanted[i][1]);
    }
}
END_TEST

/* Between two: each is the root of one tree and sends once down: pieces follow at once. */
START_TEST(two_members_send_a_half_each)
{
    struct collective_trees trees = collective_trees_over(2, arena);
    ck_assert_int_eq(trees.count, 2);
    ck_assert_int_eq(trees.edges[0].parent, 0);
    ck_assert_int_eq(trees.edges[1].parent, 1);
    ck_assert_int_eq(trees.period, 1);
    ck_assert_int_eq(collective_trees_rounds(&trees, 5), 5);
}
END_TEST

/* Everyone has one edge above in each tree, and gets it after the one above had its own; no two
 * edges of a member are used in one round. */
static void
check_trees(const struct collective_trees *trees, int64_t members)
{
    static int64_t received_count[MEMBERS_MAX];
    int64_t per_tree = trees->count / 2;
    ck_assert_int_eq(per_tree, members - 1);
    for (int64_t i = 0; i < members; i++)
        received_count[i] = 0;
    for (int64_t i = 0; i < trees->count; i++) {
        const struct tree_edge *edge = &trees->edges[i];
        for (int64_t j = i / per_tree * per_tree; j < i; j++) {
            CHECK_OFTEN(trees->edges[j].child != edge->child);
            if (trees->edges[j].child == edge->parent)
                CHECK_OFTEN(trees->edges[j].round < edge->round);
        }
        for (int64_t j = 0; j < i; j++) {
            bool meets =
                trees->edges[j].parent == edge->parent || trees->edges[j].child == edge->child;
            CHECK_OFTEN(!meets || (trees->edges[j].round - edge->round) % trees->period != 0);
        }
        received_count[edge->child]++;
        CHECK_OFTEN(edge->round < trees->first_rounds);
    }
    int64_t without = 0;
    for (int64_t i = 0; i < members; i++)
        without += 2 - received_count[i];
    ck_assert_int_eq(without, 2); /* the roots */
}

START_TEST(members_send_and_receive_once_a_round)
{
    for (int64_t n = 2; n <= MEMBERS_MAX; n++) {
        struct collective_trees over = collective_trees_over(n, arena);
        struct collective_trees below = collective_trees_below_first(n, arena);
        check_trees(&over, n);
        check_trees(&below, n);
        for (int64_t i = 0; i < below.count; i++)
            CHECK_OFTEN(below.edges[i].child != 0);
    }
}
END_TEST

/* 128 members: 14 rounds until the last has the first piece, at least log2 128. */
START_TEST(pieces_follow_every_other_round)
{
    struct collective_trees trees = collective_trees_over(128, arena);
    ck_assert_int_eq(trees.period, 2);
    ck_assert_int_eq(collective_trees_rounds(&trees, 1), 14);
    ck_assert_int_eq(collective_trees_rounds(&trees, 16), 44);
}
END_TEST

Suite *collective_trees_suite(void);

Suite *
collective_trees_suite(void)
{
    Suite *suite = suite_create("collective_trees");
    TCase *tests = tcase_create("collective_trees");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, a_tree_alternates_leaves_and_others);
    tcase_add_test(tests, two_members_send_a_half_each);
    tcase_add_test(tests, members_send_and_receive_once_a_round);
    tcase_add_test(tests, pieces_follow_every_other_round);
    suite_add_tcase(suite, tests);
    return suite;
}
