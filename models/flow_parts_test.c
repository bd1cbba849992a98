/* Which flows have to do with each other. */
#include "models/flow_parts.h"

#include <check.h>

#include "sim/base/check_arena.h"

/* Each pair's flows alone fill a part. */
enum { PAIR_FLOWS = FLOW_PART_CLASSES_MIN };

static struct arena *arena;
static struct error_list errors;
static struct cluster cluster;
static struct text rows;

/* A node of six GPUs, each with a link to each other. */
static void
setup(void)
{
    arena = check_arena_new();
    errors = (struct error_list){0};
    cluster = (struct cluster){.name = "a node",
                               .nodes = 1,
                               .gpus_per_node = 6,
                               .fabric = {.name = "mesh",
                                          .node_topology = NODE_MESH,
                                          .link_bytes_per_s = 10e9,
                                          .link_efficiency = 1}};
    rows = text_new(arena);
    text_format(&rows, "id,start_s,src,dst,bytes,deps\n");
}

static void
teardown(void)
{
    arena_free(arena);
}

/* Row by row a flow of each pair, all of different bytes, so that no two are of one class. */
static void
write_pairs(int pair_count)
{
    for (int i = 0; i < PAIR_FLOWS; i++)
        for (int pair = 0; pair < pair_count; pair++)
            text_format(&rows, "%d-%d,0,%d,%d,%d,\n", pair, i, 2 * pair, 2 * pair + 1,
                        1 + i * pair_count + pair);
}

static const struct flow_parts *
find_parts(void)
{
    const struct flow_list *list =
        flow_list_read("a.csv", &rows, cluster_gpus(&cluster), arena, &errors);
    ck_assert_msg(list != NULL, "%s: %s", errors.items[0].where, errors.items[0].what);
    const struct flow_paths *paths = flow_paths_find(
        list, &(struct flow_wires){.cluster = &cluster, .seed = 1}, arena, &errors);
    ck_assert_ptr_nonnull(paths);
    return flow_parts_find(list, paths, flow_classes_find(list, paths, arena), arena);
}

START_TEST(flows_on_links_of_their_own_are_parts)
{
    write_pairs(3);
    const struct flow_parts *parts = find_parts();
    ck_assert_uint_eq(parts->count, 3);
    for (uint32_t pair = 0; pair < 3; pair++) {
        ck_assert_uint_eq(parts->begins[pair + 1] - parts->begins[pair], PAIR_FLOWS);
        for (uint32_t i = 0; i < PAIR_FLOWS; i++)
            ck_assert_uint_eq(parts->classes[parts->begins[pair] + i], 3 * i + pair);
    }
}
END_TEST

START_TEST(who_waits_is_of_the_part_of_whom_it_waits_for)
{
    write_pairs(3);
    text_format(&rows, "last,0,4,5,1,0-0\n");
    const struct flow_parts *parts = find_parts();
    ck_assert_uint_eq(parts->count, 2);
    ck_assert_uint_eq(parts->begins[1], 2 * PAIR_FLOWS + 1);
    ck_assert_uint_eq(parts->begins[2], 3 * PAIR_FLOWS + 1);
}
END_TEST

START_TEST(small_parts_are_put_together)
{
    text_format(&rows, "a,0,0,1,1,\nb,0,2,3,2,\nc,0,4,5,3,\n");
    const struct flow_parts *parts = find_parts();
    ck_assert_uint_eq(parts->count, 1);
    ck_assert_uint_eq(parts->begins[1], 3);
}
END_TEST

Suite *flow_parts_suite(void);

Suite *
flow_parts_suite(void)
{
    Suite *suite = suite_create("flow_parts");
    TCase *tests = tcase_create("flow_parts");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, flows_on_links_of_their_own_are_parts);
    tcase_add_test(tests, who_waits_is_of_the_part_of_whom_it_waits_for);
    tcase_add_test(tests, small_parts_are_put_together);
    suite_add_tcase(suite, tests);
    return suite;
}
