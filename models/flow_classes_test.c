/* Which flows are in equal positions, on lists small enough to see it. */
#include "models/flow_classes.h"

#include "hw/check_cluster.h"
#include "sim/base/check_arena.h"
#include "sim/base/check_near.h"

static struct arena *arena;
static struct error_list errors;
static struct cluster cluster;

/* Two nodes of four GPUs. */
static void
setup(void)
{
    arena = check_arena_new();
    errors = (struct error_list){0};
    cluster = check_cluster_small(2, 4);
}

static void
teardown(void)
{
    arena_free(arena);
}

static const struct flow_classes *
classes_of(const char *rows)
{
    struct text *text = arena_alloc(arena, 1, sizeof *text);
    *text = text_new(arena);
    text_format(text, "id,start_s,src,dst,bytes,deps\n%s", rows);
    const struct flow_list *list =
        flow_list_read("a.csv", text, cluster_gpus(&cluster), arena, &errors);
    ck_assert_msg(list != NULL, "%s: %s", errors.items[0].where, errors.items[0].what);
    const struct flow_paths *paths = flow_paths_find(
        list, &(struct flow_wires){.cluster = &cluster, .seed = 1}, arena, &errors);
    ck_assert_ptr_nonnull(paths);
    return flow_classes_find(list, paths, arena);
}

#define CIRCLE                                                                                 \
    "a,0,0,1,5,\n"                                                                             \
    "b,0,1,2,5,\n"                                                                             \
    "c,0,2,3,5,\n"                                                                             \
    "d,0,3,0,5,\n"

START_TEST(flows_around_a_circle_are_one_class)
{
    const struct flow_classes *classes = classes_of(CIRCLE);
    ck_assert_uint_eq(classes->count, 1);
    ck_assert_uint_eq(classes->sizes[0], 4);
    ck_assert_uint_eq(classes->link_count, 1);
    CHECK_NEAR(flow_classes_flows_on_link(classes, 0, 0, 1), 1, 0);
}
END_TEST

/* a and b share a link, as c and d and as e and f do: two flows on each of three links. */
START_TEST(a_link_of_a_class_knows_how_many_flows_pass_it)
{
    const struct flow_classes *classes =
        classes_of("a,0,0,1,5,\nb,0,0,1,5,\nc,0,1,2,5,\nd,0,1,2,5,\ne,0,2,3,5,\nf,0,2,3,5,\n");
    ck_assert_uint_eq(classes->count, 1);
    CHECK_NEAR(flow_classes_flows_on_link(classes, 0, classes->of_link[0], 1), 2, 0);
}
END_TEST

/* Four flows in the one node, four of the same bytes in the other, where a fifth takes a link
 * that one of them takes: that one is a class of its own, and the fifth (10 bytes) too. */
START_TEST(sharing_a_link_tells_flows_apart)
{
    const struct flow_classes *classes = classes_of(CIRCLE "e,0,4,5,5,\n"
                                                           "f,0,5,6,5,\n"
                                                           "g,0,6,7,5,\n"
                                                           "h,0,7,4,5,\n"
                                                           "i,0,4,5,10,\n");
    ck_assert_uint_eq(classes->count, 3);
    ck_assert_uint_eq(classes->of_flow[0], classes->of_flow[7]);
    ck_assert_uint_ne(classes->of_flow[0], classes->of_flow[4]);
}
END_TEST

START_TEST(bytes_start_and_dependencies_tell_flows_apart)
{
    ck_assert_uint_eq(classes_of(CIRCLE "e,0,4,5,6,\nf,0,5,6,6,\n")->count, 2);
    ck_assert_uint_eq(classes_of(CIRCLE "e,1,4,5,5,\nf,1,5,6,5,\n")->count, 2);
    ck_assert_uint_eq(classes_of(CIRCLE "e,0,4,5,5,a\nf,0,5,6,5,b\n")->count, 2);
    /* Waiting for two flows of a class is not waiting for one of them. */
    ck_assert_uint_eq(classes_of(CIRCLE "e,0,4,5,5,a\nf,0,5,6,5,b;c\n")->count, 3);
}
END_TEST

/* Two chains of four beside each other: the link in each place of one is like that of the other,
 * and a class comes after those that it depends on. */
START_TEST(chains_are_told_from_end_to_end)
{
    const struct flow_classes *classes =
        classes_of("a,0,0,1,5,\nb,0,1,0,5,a\nc,0,0,1,5,b\nd,0,1,0,5,c\n"
                   "e,0,4,5,5,\nf,0,5,4,5,e\ng,0,4,5,5,f\nh,0,5,4,5,g\n");
    ck_assert_uint_eq(classes->count, 4);
    for (size_t i = 0; i < 4; i++) {
        ck_assert_uint_eq(classes->of_flow[i], i);
        ck_assert_uint_eq(classes->of_flow[i + 4], i);
        ck_assert_uint_eq(classes->sizes[i], 2);
    }
}
END_TEST

/* c depends on what stands below it. */
START_TEST(lists_without_equals_stay_as_they_are_in_an_order_that_can_run)
{
    const struct flow_classes *classes = classes_of("c,0,0,1,1,b\nb,0,1,2,2,a\na,0,2,3,3,\n");
    ck_assert_uint_eq(classes->count, 3);
    ck_assert_ptr_null(classes->sizes);
    ck_assert_uint_eq(classes->of_flow[0], 2);
    ck_assert_uint_eq(classes->of_flow[1], 1);
    ck_assert_uint_eq(classes->of_flow[2], 0);
    ck_assert_uint_eq(classes->flows[0], 2);
    CHECK_NEAR(flow_classes_flows_on_link(classes, 0, 0, 1), 1, 0);
}
END_TEST

Suite *flow_classes_suite(void);

Suite *
flow_classes_suite(void)
{
    Suite *suite = suite_create("flow_classes");
    TCase *facts = tcase_create("facts");
    tcase_add_checked_fixture(facts, setup, teardown);
    tcase_add_test(facts, flows_around_a_circle_are_one_class);
    tcase_add_test(facts, a_link_of_a_class_knows_how_many_flows_pass_it);
    tcase_add_test(facts, sharing_a_link_tells_flows_apart);
    tcase_add_test(facts, bytes_start_and_dependencies_tell_flows_apart);
    tcase_add_test(facts, chains_are_told_from_end_to_end);
    tcase_add_test(facts, lists_without_equals_stay_as_they_are_in_an_order_that_can_run);
    suite_add_tcase(suite, facts);
    return suite;
}
