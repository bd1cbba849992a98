/* Paths of flows: the cluster's links numbered anew, and spines drawn. */
#include "models/flow_paths.h"

#include "hw/check_cluster.h"
#include "sim/base/check_arena.h"
#include "sim/base/check_near.h"

static struct arena *arena;
static struct error_list errors;
static struct cluster cluster;

/* Four nodes of two GPUs behind two leaves; links of 10e9, NICs of 8e9. */
static void
setup(void)
{
    arena = check_arena_new();
    errors = (struct error_list){0};
    cluster = check_cluster_small(4, 2);
    cluster.fabric.nic_bytes_per_s = 8e9;
}

static void
teardown(void)
{
    arena_free(arena);
}

static const struct flow_paths *
paths_of(const char *rows, uint64_t seed)
{
    struct text *text = arena_alloc(arena, 1, sizeof *text);
    *text = text_new(arena);
    text_format(text, "id,start_s,src,dst,bytes,deps\n%s", rows);
    const struct flow_list *list =
        flow_list_read("a.csv", text, cluster_gpus(&cluster), arena, &errors);
    ck_assert_msg(list != NULL, "%s: %s", errors.items[0].where, errors.items[0].what);
    const struct flow_paths *paths = flow_paths_find(
        list, &(struct flow_wires){.cluster = &cluster, .seed = seed}, arena, &errors);
    ck_assert_ptr_nonnull(paths);
    return paths;
}

/* 0 to 3 goes over the link from 0 to 1, NIC 1 up and NIC 1 of the next node down; 1 to 3 over
 * both NICs; 0 to 1 over the link. */
START_TEST(links_are_numbered_as_flows_meet_them)
{
    const struct flow_paths *paths = paths_of("a,0,0,3,1,\nb,0,1,3,1,\nc,0,0,1,1,\n", 1);
    static const uint32_t wanted[] = {0, 1, 2, 1, 2, 0};
    ck_assert_uint_eq(paths->link_count, 3);
    ck_assert_uint_eq(paths->begins[1], 3);
    ck_assert_uint_eq(paths->begins[2], 5);
    ck_assert_uint_eq(paths->begins[3], 6);
    for (int i = 0; i < 6; i++)
        ck_assert_uint_eq(paths->links[i], wanted[i]);
    for (int i = 0; i < 3; i++)
        ck_assert_uint_eq(paths->flow_counts[i], 2);
    CHECK_NEAR(paths->bytes_per_s[0], 10e9, 0);
    CHECK_NEAR(paths->bytes_per_s[1], 8e9, 0);
}
END_TEST

START_TEST(the_narrowest_link_is_a_flows_top_rate)
{
    const struct flow_paths *paths = paths_of("a,0,0,3,1,\nb,0,0,1,1,\n", 1);
    CHECK_NEAR(flow_paths_top_bytes_per_s(paths, 0), 8e9, 0);
    CHECK_NEAR(flow_paths_top_bytes_per_s(paths, 1), 10e9, 0);
}
END_TEST

/* Of 64 flows between two leaves with 4 spines, each takes one of them: by the seed, and not all
 * the same. */
START_TEST(spines_are_drawn_by_the_seed)
{
    cluster.fabric.network_topology = NETWORK_LEAF_SPINE;
    cluster.fabric.leaf_nodes = 2;
    cluster.fabric.spine_count = 4;
    cluster.fabric.oversubscription_ratio = 1;
    struct text rows = text_new(arena);
    for (int i = 0; i < 64; i++)
        text_format(&rows, "%d,0,0,7,1,\n", i);
    const struct flow_paths *first = paths_of(rows.bytes, 1), *again = paths_of(rows.bytes, 1);
    const struct flow_paths *other = paths_of(rows.bytes, 2);
    ck_assert_uint_eq(first->link_count, 2 + 2 * 4); /* two NICs, up and down of each spine */
    ck_assert_uint_eq(first->begins[64], 4 * 64);
    int moved_count = 0;
    for (int i = 0; i < 4 * 64; i++) {
        ck_assert_uint_eq(first->links[i], again->links[i]);
        moved_count += first->links[i] != other->links[i];
    }
    ck_assert_int_gt(moved_count, 32); /* of 128, three quarters move by chance */
}
END_TEST

Suite *flow_paths_suite(void);

Suite *
flow_paths_suite(void)
{
    Suite *suite = suite_create("flow_paths");
    TCase *facts = tcase_create("facts");
    tcase_add_checked_fixture(facts, setup, teardown);
    tcase_add_test(facts, links_are_numbered_as_flows_meet_them);
    tcase_add_test(facts, the_narrowest_link_is_a_flows_top_rate);
    tcase_add_test(facts, spines_are_drawn_by_the_seed);
    suite_add_tcase(suite, facts);
    return suite;
}
