/* What a byte stream gets of links, and a fabric's file read with all its faults. */
#include "hw/fabric.h"

#include <string.h>

#include "sim/base/check_arena.h"
#include "sim/base/check_near.h"
#include "sim/base/text.h"

static struct arena *arena;
static struct error_list errors;
static struct fabric fabric;

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

static bool
read_text(const char *text)
{
    const struct json *object = json_read_text(arena, "f.json", 1, text, strlen(text), &errors);
    return object && fabric_read(object, &fabric, &errors);
}

/* The numbers that AMD and others give for RoCEv2: 4096 / 4178, 2048 / 2130, 1024 / 1106. */
START_TEST(headers_of_82_bytes_leave_98_04_percent_of_large_packets)
{
    CHECK_NEAR(fabric_packet_efficiency(4096, 82), 0.9804, 1e-4);
    CHECK_NEAR(fabric_packet_efficiency(2048, 82), 0.9615, 1e-4);
    CHECK_NEAR(fabric_packet_efficiency(1024, 82), 0.9259, 1e-4);
}
END_TEST

/* 50e9 * 4096 / 4096 * 0.5. */
START_TEST(a_nic_loses_headers_and_what_was_measured)
{
    struct fabric half = {.nic_bytes_per_s = 50e9,
                          .packet_payload_bytes = 4096,
                          .packet_header_bytes = 0,
                          .nic_efficiency = 0.5};
    CHECK_NEAR(fabric_nic_rate(&half), 25e9, 1e-15);
    half.packet_header_bytes = 4096;
    CHECK_NEAR(fabric_nic_rate(&half), 12.5e9, 1e-15);
}
END_TEST

/* 100 * (0.9 - 0.1 * 2) with three links busy. */
START_TEST(a_link_gives_less_beside_busy_links)
{
    const struct fabric lossy = {
        .link_bytes_per_s = 100, .link_efficiency = 0.9, .loss_per_further_link = 0.1};
    CHECK_NEAR(fabric_link_rate(&lossy, 1), 90, 1e-15);
    CHECK_NEAR(fabric_link_rate(&lossy, 3), 70, 1e-15);
}
END_TEST

START_TEST(a_mesh_has_a_link_to_each_peer_and_a_switch_one_port)
{
    const struct fabric mesh = {.node_topology = NODE_MESH};
    const struct fabric with_switch = {.node_topology = NODE_SWITCH};
    ck_assert(fabric_links(&mesh, 8) == 7);
    ck_assert(fabric_links(&mesh, 1) == 0);
    ck_assert(fabric_links(&with_switch, 8) == 1);
}
END_TEST

START_TEST(a_file_is_read_with_its_protocols_and_tunings)
{
    const struct json *object =
        json_read_file(arena, "configs/fabrics/h200-nvlink.json", &errors);
    ck_assert_ptr_nonnull(object);
    ck_assert(fabric_read(object, &fabric, &errors));
    ck_assert_str_eq(fabric.name, "h200-nvlink");
    ck_assert_int_eq(fabric.node_topology, NODE_SWITCH);
    ck_assert_int_eq(fabric.network_topology, NETWORK_NONE);
    ck_assert_int_eq(fabric.protocol_count, 1);
    CHECK_NEAR(fabric.link_bytes_per_s, 450e9, 0);
    CHECK_NEAR(fabric.tunings[COLLECTIVE_ALL_REDUCE].efficiency, 0.9332, 1e-12);
    CHECK_NEAR(fabric.tunings[COLLECTIVE_BROADCAST].own_part_ratio, 0, 0);
}
END_TEST

/* Five missing sections at once; then each section with faults of its own. */
START_TEST(all_faults_of_a_file_are_found_at_once)
{
    ck_assert(!read_text("{\"name\": \"f\"}"));
    ck_assert_int_eq(errors.count, 5);
    errors = (struct error_list){0};
    ck_assert(!read_text("{\"name\": \"f\", \"protocols\": [], \"shares\": {},"
                         "\"relative_sigma\": 3, \"node\": {\"topology\": \"torus\"},"
                         "\"network\": {\"topology\": \"none\", \"nic_bytes_per_s\": 5}}"));
    ck_assert_int_ge(errors.count, 10);
    ck_assert_ptr_nonnull(strstr(errors.items[0].where, "f.json:1:"));
}
END_TEST

START_TEST(a_number_without_a_source_is_refused)
{
    ck_assert(!read_text("{\"name\": \"f\", \"node\": {\"topology\": \"mesh\","
                         "\"algorithm\": \"direct\", \"link_bytes_per_s\": 48e9}}"));
    bool is_named = false;
    for (int i = 0; i < error_list_kept(&errors); i++)
        is_named |= strstr(errors.items[i].where, "$.node.link_bytes_per_s") != NULL;
    ck_assert(is_named);
}
END_TEST

/* The ideal fabric's file with other words in place of its network's topology. */
static bool
read_with_network(const char *words)
{
    struct text file = text_new(arena);
    ck_assert(text_read_file(&file, "configs/fabrics/reference-rails.json", 1 << 20, &errors));
    char *topology = strstr(file.bytes, "\"topology\": \"rails_only\"");
    ck_assert_ptr_nonnull(topology);
    const char *rest = topology + strlen("\"topology\": \"rails_only\"");
    struct text changed = text_new(arena);
    text_append(&changed, file.bytes, (size_t)(topology - file.bytes));
    text_format(&changed, "%s%s", words, rest);
    errors = (struct error_list){0};
    return read_text(changed.bytes);
}

#define FOUR "{\"value\": 4, \"source\": \"s\"}"

START_TEST(leaves_and_spines_are_said_together)
{
    ck_assert(read_with_network("\"topology\": \"rails_only\""));
    ck_assert(fabric.is_sprayed);
    CHECK_NEAR(fabric.oversubscription_ratio, 1, 0);
    ck_assert(read_with_network("\"topology\": \"leaf_spine\", \"leaf_nodes\": " FOUR
                                ", \"spine_count\": " FOUR ", \"sprays_packets\": false"));
    ck_assert_int_eq(fabric.network_topology, NETWORK_LEAF_SPINE);
    ck_assert_int_eq(fabric.leaf_nodes, 4);
    ck_assert_int_eq(fabric.spine_count, 4);
    ck_assert(!fabric.is_sprayed);
    ck_assert(read_with_network("\"topology\": \"single_switch\""));
    static const char *const wrong[] = {
        "\"topology\": \"leaf_spine\"",
        "\"topology\": \"single_switch\", \"leaf_nodes\": " FOUR,
        "\"topology\": \"rails_only\", \"oversubscription_ratio\": " FOUR,
        "\"topology\": \"rails_only\", \"leaf_nodes\": " FOUR ", \"sprays_packets\": false",
        "\"topology\": \"rails_only\", \"leaf_nodes\": 4",
        "\"topology\": \"rails_only\", \"leaf_nodes\": {\"value\": 0, \"source\": \"s\"}"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        ck_assert_msg(!read_with_network(wrong[i]), "%s was taken", wrong[i]);
}
END_TEST

/* RCCL's all-pairs files are for some collectives on a whole node, of some sizes. */
START_TEST(protocols_may_have_rules)
{
    const struct json *object =
        json_read_file(arena, "configs/fabrics/mi300x-pollara.json", &errors);
    ck_assert(object && fabric_read(object, &fabric, &errors));
    ck_assert_int_eq(fabric.protocols[0].algorithm, NODE_DIRECT);
    ck_assert_int_eq(fabric.protocols[3].algorithm, NODE_RINGS);
    ck_assert_uint_eq(fabric.protocols[0].kinds,
                      1U << COLLECTIVE_ALL_REDUCE | 1U << COLLECTIVE_ALL_GATHER);
    CHECK_NEAR(fabric.protocols[1].whole_node_bytes_maximum, 16777216, 0);
}
END_TEST

Suite *fabric_suite(void);

Suite *
fabric_suite(void)
{
    Suite *suite = suite_create("fabric");
    TCase *tests = tcase_create("fabric");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, headers_of_82_bytes_leave_98_04_percent_of_large_packets);
    tcase_add_test(tests, a_nic_loses_headers_and_what_was_measured);
    tcase_add_test(tests, a_link_gives_less_beside_busy_links);
    tcase_add_test(tests, a_mesh_has_a_link_to_each_peer_and_a_switch_one_port);
    tcase_add_test(tests, a_file_is_read_with_its_protocols_and_tunings);
    tcase_add_test(tests, all_faults_of_a_file_are_found_at_once);
    tcase_add_test(tests, a_number_without_a_source_is_refused);
    tcase_add_test(tests, leaves_and_spines_are_said_together);
    tcase_add_test(tests, protocols_may_have_rules);
    suite_add_tcase(suite, tests);
    return suite;
}
