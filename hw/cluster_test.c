/* Clusters as their files describe them, and files that do not. */
#include "hw/cluster.h"

#include <string.h>

#include "sim/base/check_arena.h"
#include "sim/base/check_near.h"

static struct arena *arena;
static struct error_list errors;

static void
setup(void)
{
    arena = check_arena_new();
    errors = (struct error_list){0};
}

static void
teardown(void)
{
    arena_free(arena);
}

static struct cluster *
read_named(const char *file, const char *text)
{
    const struct json *object = json_read_text(arena, file, 1, text, strlen(text), &errors);
    return object ? cluster_read(object, arena, &errors) : NULL;
}

START_TEST(the_clusters_that_others_name_are_there)
{
    static const struct {
        const char *path;
        int64_t gpus;
    } wanted[] = {{"configs/clusters/mi300x-pollara-1.json", 8},
                  {"configs/clusters/mi300x-pollara-2.json", 16},
                  {"configs/clusters/mi300x-pollara-128.json", 1024},
                  {"configs/clusters/h200-1.json", 8},
                  {"configs/clusters/reference-rails-4.json", 32},
                  {"configs/clusters/reference-rails-16.json", 128}};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        const struct json *object = json_read_file(arena, wanted[i].path, &errors);
        ck_assert_ptr_nonnull(object);
        const struct cluster *cluster = cluster_read(object, arena, &errors);
        ck_assert_msg(cluster != NULL, "%s: %s", errors.items[0].where, errors.items[0].what);
        ck_assert_int_eq(cluster_gpus(cluster), wanted[i].gpus);
    }
}
END_TEST

START_TEST(files_are_looked_for_beside_the_cluster)
{
    const struct cluster *cluster =
        read_named("configs/clusters/mine.json",
                   "{\"name\": \"mine\", \"nodes\": 3, \"gpus_per_node\": 8, \"device\": "
                   "\"../devices/d.json\", \"fabric\": \"../fabrics/reference-rails.json\"}");
    ck_assert_ptr_nonnull(cluster);
    ck_assert_str_eq(cluster->device_path, "configs/devices/d.json");
    ck_assert_str_eq(cluster->fabric.name, "reference-rails");
}
END_TEST

/* "-" would be standard input: a test that waits for it would never end. */
START_TEST(a_fabric_called_dash_is_a_file)
{
    ck_assert_ptr_null(read_named("c.json",
                                  "{\"name\": \"c\", \"nodes\": 1, \"gpus_per_node\": "
                                  "8, \"device\": \"d\", \"fabric\": \"-\"}"));
    ck_assert_int_eq(errors.count, 1);
    ck_assert_int_eq(errors.items[0].kind, ERROR_IO);
}
END_TEST

START_TEST(all_faults_of_a_cluster_are_found_at_once)
{
    ck_assert_ptr_null(read_named("c.json",
                                  "{\"nodes\": 0, \"gpus_per_nod\": 8, \"device\": 7, "
                                  "\"fabric\": {\"name\": \"f\"}}"));
    /* name and gpus_per_node missing, gpus_per_nod unknown, nodes and device wrong, and the five
     * sections that the fabric lacks */
    ck_assert_int_eq(errors.count, 10);
}
END_TEST

START_TEST(a_cluster_without_fabric_is_refused)
{
    ck_assert_ptr_null(read_named("c.json",
                                  "{\"name\": \"c\", \"nodes\": 1, \"gpus_per_node\": "
                                  "8, \"device\": \"d\"}"));
    ck_assert_int_eq(errors.count, 1);
    ck_assert_ptr_null(read_named("c.json", "[]"));
}
END_TEST

/* 0.9934 - 0.0094 * 105 is the last efficiency above 0: 108 GPUs are too many. */
START_TEST(a_node_beyond_the_straight_line_is_refused)
{
    ck_assert_ptr_null(
        read_named("configs/clusters/c.json",
                   "{\"name\": \"c\", \"nodes\": 1, \"gpus_per_node\": 108, \"device\": \"d\", "
                   "\"fabric\": \"../fabrics/mi300x-pollara.json\"}"));
    ck_assert_int_eq(errors.count, 1);
    ck_assert_ptr_nonnull(strstr(errors.items[0].what, "108 GPUs"));
}
END_TEST

Suite *cluster_suite(void);

Suite *
cluster_suite(void)
{
    Suite *suite = suite_create("cluster");
    TCase *tests = tcase_create("cluster");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, the_clusters_that_others_name_are_there);
    tcase_add_test(tests, files_are_looked_for_beside_the_cluster);
    tcase_add_test(tests, a_fabric_called_dash_is_a_file);
    tcase_add_test(tests, all_faults_of_a_cluster_are_found_at_once);
    tcase_add_test(tests, a_cluster_without_fabric_is_refused);
    tcase_add_test(tests, a_node_beyond_the_straight_line_is_refused);
    suite_add_tcase(suite, tests);
    return suite;
}
