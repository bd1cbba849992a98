/* Links: reads them from configs/fabrics and says what of them a byte stream gets. */
#include "hw/fabric.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

static const char *const NODE_TOPOLOGIES[] = {"mesh", "switch", NULL};
static const char *const NODE_ALGORITHMS[] = {"direct", "rings", NULL};
static const char *const NETWORK_TOPOLOGIES[] = {"none", "rails_only", "single_switch",
                                                 "leaf_spine", NULL};

static_assert(sizeof(enum node_topology) == sizeof(int), "choices are read as int");

/* The ranges are wide: what lies outside them is a slip of units, not a machine. */
static const struct json_field NODE_FIELDS[] = {
    {"topology", JSON_FIELD_CHOICE, offsetof(struct fabric, node_topology), 0, 0, 0,
     NODE_TOPOLOGIES},
    {"algorithm", JSON_FIELD_CHOICE, offsetof(struct fabric, node_algorithm), 0, 0, 0,
     NODE_ALGORITHMS},
    {"link_bytes_per_s", JSON_FIELD_REAL, offsetof(struct fabric, link_bytes_per_s),
     JSON_SOURCED, 1e6, 1e15, NULL},
    {"efficiency", JSON_FIELD_REAL, offsetof(struct fabric, link_efficiency), JSON_SOURCED,
     0.01, 1, NULL},
    {"loss_per_further_link", JSON_FIELD_REAL, offsetof(struct fabric, loss_per_further_link),
     JSON_SOURCED, 0, 0.1, NULL},
};

static const struct json_field NO_NETWORK_FIELDS[] = {
    {"topology", JSON_FIELD_CHOICE, offsetof(struct fabric, network_topology), 0, 0, 0,
     NETWORK_TOPOLOGIES},
};

static const struct json_field NETWORK_FIELDS[] = {
    {"topology", JSON_FIELD_CHOICE, offsetof(struct fabric, network_topology), 0, 0, 0,
     NETWORK_TOPOLOGIES},
    {"forwards_cross_rail", JSON_FIELD_BOOL, offsetof(struct fabric, forwards_cross_rail), 0, 0,
     0, NULL},
    {"gathers_by_doubling", JSON_FIELD_BOOL, offsetof(struct fabric, gathers_by_doubling), 0, 0,
     0, NULL},
    {"works_by_levels", JSON_FIELD_BOOL, offsetof(struct fabric, works_by_levels),
     JSON_OPTIONAL, 0, 0, NULL},
    {"broadcasts_by_tree", JSON_FIELD_BOOL, offsetof(struct fabric, broadcasts_by_tree),
     JSON_OPTIONAL, 0, 0, NULL},
    {"leaf_nodes", JSON_FIELD_INTEGER, offsetof(struct fabric, leaf_nodes),
     JSON_OPTIONAL | JSON_SOURCED, 1, 1e6, NULL},
    {"spine_count", JSON_FIELD_INTEGER, offsetof(struct fabric, spine_count),
     JSON_OPTIONAL | JSON_SOURCED, 1, 1e6, NULL},
    {"oversubscription_ratio", JSON_FIELD_REAL, offsetof(struct fabric, oversubscription_ratio),
     JSON_OPTIONAL | JSON_SOURCED, 0.01, 1e6, NULL},
    {"sprays_packets", JSON_FIELD_BOOL, offsetof(struct fabric, is_sprayed), JSON_OPTIONAL, 0,
     0, NULL},
    {"part_efficiency", JSON_FIELD_REAL, offsetof(struct fabric, part_efficiency),
     JSON_OPTIONAL | JSON_SOURCED, 0.01, 1, NULL},
    {"part_ranks_minimum", JSON_FIELD_INTEGER, offsetof(struct fabric, part_ranks_minimum),
     JSON_OPTIONAL | JSON_SOURCED, 2, 1e9, NULL},
    {"tree_efficiency", JSON_FIELD_REAL, offsetof(struct fabric, tree_efficiency),
     JSON_OPTIONAL | JSON_SOURCED, 0.01, 1, NULL},
    {"nic_bytes_per_s", JSON_FIELD_REAL, offsetof(struct fabric, nic_bytes_per_s), JSON_SOURCED,
     1e6, 1e15, NULL},
    {"packet_payload_bytes", JSON_FIELD_REAL, offsetof(struct fabric, packet_payload_bytes),
     JSON_SOURCED, 1, 1e6, NULL},
    {"packet_header_bytes", JSON_FIELD_REAL, offsetof(struct fabric, packet_header_bytes),
     JSON_SOURCED, 0, 1e4, NULL},
    {"efficiency", JSON_FIELD_REAL, offsetof(struct fabric, nic_efficiency), JSON_SOURCED, 0.01,
     1, NULL},
};

/* A protocol with what is read of it in a second pass. */
struct protocol_file {
    struct fabric_protocol protocol;
    const struct json *kinds;
};

static const struct json_field PROTOCOL_FIELDS[] = {
    {"name", JSON_FIELD_STRING, offsetof(struct fabric_protocol, name), 0, 0, 0, NULL},
    {"algorithm", JSON_FIELD_CHOICE, offsetof(struct fabric_protocol, algorithm), JSON_OPTIONAL,
     0, 0, NODE_ALGORITHMS},
    {"collectives", JSON_FIELD_VALUE, offsetof(struct protocol_file, kinds), JSON_OPTIONAL, 0,
     0, NULL},
    {"whole_node_bytes_minimum", JSON_FIELD_REAL,
     offsetof(struct fabric_protocol, whole_node_bytes_minimum), JSON_OPTIONAL | JSON_SOURCED,
     0, 1e18, NULL},
    {"whole_node_bytes_maximum", JSON_FIELD_REAL,
     offsetof(struct fabric_protocol, whole_node_bytes_maximum), JSON_OPTIONAL | JSON_SOURCED,
     0, 1e18, NULL},
    {"launch_s", JSON_FIELD_REAL, offsetof(struct fabric_protocol, launch_s), JSON_SOURCED, 0,
     1, NULL},
    {"link_hop_s", JSON_FIELD_REAL, offsetof(struct fabric_protocol, link_hop_s), JSON_SOURCED,
     0, 1, NULL},
    {"nic_hop_s", JSON_FIELD_REAL, offsetof(struct fabric_protocol, nic_hop_s), JSON_SOURCED, 0,
     1, NULL},
    {"bandwidth_fraction", JSON_FIELD_REAL,
     offsetof(struct fabric_protocol, bandwidth_fraction), JSON_SOURCED, 0.001, 1, NULL},
    {"fill_s", JSON_FIELD_REAL, offsetof(struct fabric_protocol, fill_s), JSON_SOURCED, 0, 1,
     NULL},
};

static const struct json_field TUNING_FIELDS[] = {
    {"launch_s", JSON_FIELD_REAL, offsetof(struct fabric_tuning, launch_s),
     JSON_OPTIONAL | JSON_SOURCED, 0, 1, NULL},
    {"efficiency", JSON_FIELD_REAL, offsetof(struct fabric_tuning, efficiency),
     JSON_OPTIONAL | JSON_SOURCED, 0.01, 1, NULL},
    {"own_part_ratio", JSON_FIELD_REAL, offsetof(struct fabric_tuning, own_part_ratio),
     JSON_OPTIONAL | JSON_SOURCED, 0, 10, NULL},
    {"relative_sigma", JSON_FIELD_REAL, offsetof(struct fabric_tuning, relative_sigma),
     JSON_OPTIONAL | JSON_SOURCED, 0, 1, NULL},
};

static const struct json_field SHARE_FIELDS[] = {
    {"node_compute_fraction", JSON_FIELD_REAL, offsetof(struct fabric, node_compute_fraction),
     JSON_SOURCED, 0, 1, NULL},
    {"network_compute_fraction", JSON_FIELD_REAL,
     offsetof(struct fabric, network_compute_fraction), JSON_SOURCED, 0, 1, NULL},
    {"hbm_fraction", JSON_FIELD_REAL, offsetof(struct fabric, hbm_fraction), JSON_SOURCED, 0, 1,
     NULL},
    {"channel_fraction", JSON_FIELD_REAL, offsetof(struct fabric, channel_fraction),
     JSON_OPTIONAL | JSON_SOURCED, 0, 0.9, NULL},
    {"collective_weight", JSON_FIELD_REAL, offsetof(struct fabric, collective_weight),
     JSON_OPTIONAL | JSON_SOURCED, 0.01, 100, NULL},
    {"streaming_weight", JSON_FIELD_REAL, offsetof(struct fabric, streaming_weight),
     JSON_OPTIONAL | JSON_SOURCED, 0.01, 100, NULL},
    {"matrix_hold_ratio", JSON_FIELD_REAL, offsetof(struct fabric, matrix_hold_ratio),
     JSON_OPTIONAL | JSON_SOURCED, 0, 10, NULL},
    {"overlap_relative_sigma", JSON_FIELD_REAL, offsetof(struct fabric, overlap_relative_sigma),
     JSON_OPTIONAL | JSON_SOURCED, 0, 1, NULL},
    {"streaming_hold_ratio", JSON_FIELD_REAL, offsetof(struct fabric, streaming_hold_ratio),
     JSON_OPTIONAL | JSON_SOURCED, 0, 10, NULL},
};

static const struct json_field SIGMA_FIELDS[] = {
    {"latency", JSON_FIELD_REAL, offsetof(struct fabric, latency_relative_sigma), JSON_SOURCED,
     0, 1, NULL},
    {"node", JSON_FIELD_REAL, offsetof(struct fabric, node_relative_sigma), JSON_SOURCED, 0, 1,
     NULL},
    {"network", JSON_FIELD_REAL, offsetof(struct fabric, network_relative_sigma), JSON_SOURCED,
     0, 1, NULL},
    {"doubling", JSON_FIELD_REAL, offsetof(struct fabric, doubling_relative_sigma),
     JSON_OPTIONAL | JSON_SOURCED, 0, 1, NULL},
};

/* The sections of the file, each read by its own table. */
struct sections {
    const char *name;
    const struct json *node, *network, *protocols, *collectives, *shares, *sigmas, *calibration;
};

static const struct json_field SECTION_FIELDS[] = {
    {"name", JSON_FIELD_STRING, offsetof(struct sections, name), 0, 0, 0, NULL},
    {"node", JSON_FIELD_VALUE, offsetof(struct sections, node), 0, 0, 0, NULL},
    {"network", JSON_FIELD_VALUE, offsetof(struct sections, network), 0, 0, 0, NULL},
    {"protocols", JSON_FIELD_VALUE, offsetof(struct sections, protocols), 0, 0, 0, NULL},
    {"collectives", JSON_FIELD_VALUE, offsetof(struct sections, collectives), JSON_OPTIONAL, 0,
     0, NULL},
    {"shares", JSON_FIELD_VALUE, offsetof(struct sections, shares), 0, 0, 0, NULL},
    {"relative_sigma", JSON_FIELD_VALUE, offsetof(struct sections, sigmas), 0, 0, 0, NULL},
    /* A record of the fit: for people. */
    {"calibration", JSON_FIELD_VALUE, offsetof(struct sections, calibration), JSON_OPTIONAL, 0,
     0, NULL},
};

struct table {
    const char *noun;
    const struct json_field *fields;
    size_t bytes;
};

static bool
read_section(const struct json *section, const struct table *table, void *out,
             struct error_list *errors)
{
    if (!section)
        return false; /* reported as missing with the file's own keys */
    const struct json_object_type type = {table->noun, table->fields,
                                          table->bytes / sizeof *table->fields, NULL};
    return json_read_object(section, &type, out, errors);
}

/* Leaves, spines and paths are said together or not at all. */
static bool
check_leaves(const struct json *section, const struct fabric *fabric, struct error_list *errors)
{
    bool has_leaves = fabric->leaf_nodes > 0;
    bool has_spines = fabric->spine_count > 0;
    if (fabric->network_topology == NETWORK_LEAF_SPINE && !has_leaves)
        return json_fail(section, errors, "leaf_spine without 'leaf_nodes'");
    if (fabric->network_topology == NETWORK_SINGLE_SWITCH && has_leaves)
        return json_fail(json_member(section, "leaf_nodes"), errors,
                         "a single switch has no leaves");
    if (!has_leaves &&
        (has_spines || fabric->oversubscription_ratio != 1 || !fabric->is_sprayed))
        return json_fail(section, errors,
                         "spines, oversubscription or paths, but no 'leaf_nodes'");
    if (!fabric->is_sprayed && !has_spines)
        return json_fail(section, errors, "flows keep to one spine each, wanted 'spine_count'");
    return true;
}

/* A cluster of one node has nothing to say about packets and NICs. */
static bool
read_network(const struct json *section, struct fabric *fabric, struct error_list *errors)
{
    static const struct table none = {"a fabric's network", NO_NETWORK_FIELDS,
                                      sizeof NO_NETWORK_FIELDS};
    static const struct table rails = {"a fabric's network", NETWORK_FIELDS,
                                       sizeof NETWORK_FIELDS};
    const struct json *topology = section ? json_member(section, "topology") : NULL;
    bool is_none = topology && json_kind(topology) == JSON_KIND_STRING &&
                   strcmp(json_as_string(topology), "none") == 0;
    return read_section(section, is_none ? &none : &rails, fabric, errors) &&
           check_leaves(section, fabric, errors);
}

/* The bits of a list of collectives, all of them without one. */
static bool
read_kinds(const struct json *list, unsigned *kinds, struct error_list *errors)
{
    *kinds = list ? 0 : (1U << COLLECTIVE_KIND_COUNT) - 1;
    if (!list)
        return true;
    if (json_kind(list) != JSON_KIND_ARRAY || json_count(list) == 0)
        return json_fail(list, errors, "wanted a list of collectives");
    for (size_t i = 0; i < json_count(list); i++) {
        const struct json *name = json_element(list, i);
        int kind = 0;
        while (kind < COLLECTIVE_KIND_COUNT &&
               (json_kind(name) != JSON_KIND_STRING ||
                strcmp(json_as_string(name), collective_kind_names[kind]) != 0))
            kind++;
        if (kind == COLLECTIVE_KIND_COUNT)
            return json_fail(name, errors, "wanted a collective, like 'all_reduce'");
        *kinds |= 1U << kind;
    }
    return true;
}

/* For every collective there is one without limits. */
static bool
check_kinds(const struct json *list, const struct fabric *fabric, struct error_list *errors)
{
    unsigned kinds = 0;
    for (int i = 0; i < fabric->protocol_count; i++)
        if (fabric->protocols[i].whole_node_bytes_maximum <= 0)
            kinds |= fabric->protocols[i].kinds;
    for (int kind = 0; kind < COLLECTIVE_KIND_COUNT; kind++)
        if ((kinds >> kind & 1U) == 0)
            return json_fail(list, errors, "no protocol runs %s everywhere",
                             collective_kind_names[kind]);
    return true;
}

static bool
read_protocols(const struct json *list, struct fabric *fabric, struct error_list *errors)
{
    static const struct table protocol = {"a protocol", PROTOCOL_FIELDS,
                                          sizeof PROTOCOL_FIELDS};
    if (!list)
        return false;
    size_t count = json_count(list);
    if (json_kind(list) != JSON_KIND_ARRAY || count < 1 || count > FABRIC_PROTOCOLS_MAX)
        return json_fail(list, errors, "wanted a list of 1 to %d protocols",
                         FABRIC_PROTOCOLS_MAX);
    bool is_right = true;
    for (size_t i = 0; i < count; i++) {
        struct protocol_file file = {.protocol.algorithm = fabric->node_algorithm};
        if (!read_section(json_element(list, i), &protocol, &file, errors) ||
            !read_kinds(file.kinds, &file.protocol.kinds, errors))
            is_right = false;
        fabric->protocols[i] = file.protocol;
    }
    fabric->protocol_count = (int)count;
    return is_right && check_kinds(list, fabric, errors);
}

static bool
read_tunings(const struct json *section, struct fabric *fabric, struct error_list *errors)
{
    static const struct table tuning = {"a collective's tuning", TUNING_FIELDS,
                                        sizeof TUNING_FIELDS};
    struct json_field kinds[COLLECTIVE_KIND_COUNT];
    const struct json *values[COLLECTIVE_KIND_COUNT] = {NULL};
    for (size_t i = 0; i < COLLECTIVE_KIND_COUNT; i++) {
        kinds[i] = (struct json_field){.key = collective_kind_names[i],
                                       .type = JSON_FIELD_VALUE,
                                       .offset = i * sizeof *values,
                                       .flags = JSON_OPTIONAL};
        fabric->tunings[i] = (struct fabric_tuning){.efficiency = 1};
    }
    if (!section)
        return true;
    const struct table table = {"a fabric's collectives", kinds, sizeof kinds};
    bool is_right = read_section(section, &table, values, errors);
    for (size_t i = 0; i < COLLECTIVE_KIND_COUNT; i++)
        if (values[i] && !read_section(values[i], &tuning, &fabric->tunings[i], errors))
            is_right = false;
    if (!values[COLLECTIVE_ALL_TO_ALL_V])
        fabric->tunings[COLLECTIVE_ALL_TO_ALL_V] = fabric->tunings[COLLECTIVE_ALL_TO_ALL];
    return is_right;
}

bool
fabric_read(const struct json *object, struct fabric *fabric, struct error_list *errors)
{
    static const struct table file = {"a fabric", SECTION_FIELDS, sizeof SECTION_FIELDS};
    static const struct table node = {"a fabric's node", NODE_FIELDS, sizeof NODE_FIELDS};
    static const struct table shares = {"a fabric's shares", SHARE_FIELDS, sizeof SHARE_FIELDS};
    static const struct table sigmas = {"relative_sigma", SIGMA_FIELDS, sizeof SIGMA_FIELDS};
    struct sections sections = {0};
    *fabric = (struct fabric){.oversubscription_ratio = 1,
                              .is_sprayed = true,
                              .tree_efficiency = 1,
                              .part_efficiency = 1,
                              .collective_weight = 1};
    int faults_before = errors->count;

    read_section(object, &file, &sections, errors);
    fabric->name = sections.name;
    read_section(sections.node, &node, fabric, errors);
    read_network(sections.network, fabric, errors);
    read_protocols(sections.protocols, fabric, errors);
    read_tunings(sections.collectives, fabric, errors);
    read_section(sections.shares, &shares, fabric, errors);
    read_section(sections.sigmas, &sigmas, fabric, errors);
    return errors->count == faults_before;
}

double
fabric_links(const struct fabric *fabric, int64_t gpus)
{
    return fabric->node_topology == NODE_MESH ? (double)(gpus - 1) : 1;
}

/* A straight line between what one busy link and all of them were measured to give. */
double
fabric_link_rate(const struct fabric *fabric, double busy_links)
{
    double loss = fabric->loss_per_further_link * (busy_links - 1);
    return fabric->link_bytes_per_s * (fabric->link_efficiency - loss);
}

/* Every packet carries its payload and, once, its headers. RoCEv2 on Ethernet: 14 + 4 frame, 20
 * preamble and gap, 20 IPv4, 8 UDP, 12 BTH, 4 ICRC = 82 bytes. */
double
fabric_packet_efficiency(double payload_bytes, double header_bytes)
{
    return payload_bytes / (payload_bytes + header_bytes);
}

double
fabric_nic_rate(const struct fabric *fabric)
{
    double packets =
        fabric_packet_efficiency(fabric->packet_payload_bytes, fabric->packet_header_bytes);
    return fabric->nic_bytes_per_s * packets * fabric->nic_efficiency;
}
