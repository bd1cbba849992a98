/* stepcast cluster: what a cluster file describes and how many switches that takes, and files of
 * larger clusters. */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "hw/cluster.h"
#include "hw/switches.h"
#include "sim/base/json_writer.h"
#include "sim/base/path.h"
#include "sim/base/units.h"
#include "sim/cli/command.h"

enum { NODES_MAX = 1000000, PORTS_MAX = 65536 };
static const double OVERSUBSCRIPTION_MAX = 1000;

extern const struct command command_cluster_show;
extern const struct command command_cluster_generate;

struct subject {
    const struct json *file;
    const struct cluster *cluster;
    struct switch_wish wish;
    struct switch_plan plan; /* of the network, if there is one */
};

static bool
has_network(const struct subject *subject)
{
    return subject->cluster->fabric.network_topology != NETWORK_NONE;
}

static bool
read_subject(const char *path, struct subject *subject, struct arena *arena,
             struct error_list *errors)
{
    subject->file = json_read_file(arena, path, errors);
    subject->cluster = subject->file ? cluster_read(subject->file, arena, errors) : NULL;
    return subject->cluster != NULL;
}

/* A whole number from `least` to `most`; the usage error otherwise. */
static int
take_count(const struct options *options, const char *command, const char *name, int64_t least,
           int64_t most, int64_t *out)
{
    const char *word = options_text(options, name);
    char *end;
    if (!*word)
        return EXIT_DONE;
    errno = 0;
    long long value = strtoll(word, &end, 10);
    if (end == word || *end != '\0' || errno || value < least || value > most)
        return command_usage(command, "--%s %.60s, wanted a number from %lld to %lld", name,
                             word, (long long)least, (long long)most);
    *out = value;
    return EXIT_DONE;
}

static int
take_ports(const struct options *options, const char *command, struct subject *subject)
{
    const struct fabric *fabric = &subject->cluster->fabric;
    subject->wish.ports = switch_ports_known(fabric->nic_bytes_per_s);
    int code = take_count(options, command, "switch-ports", 2, PORTS_MAX, &subject->wish.ports);
    if (code == EXIT_DONE && has_network(subject) && subject->wish.ports == 0)
        return command_usage(command,
                             "--switch-ports is missing: how many NICs of %s a switch takes",
                             units_format_bytes_per_s(fabric->nic_bytes_per_s).text);
    return code;
}

/* ---- what a file says ---- */

static const char *
topology_words(const struct fabric *fabric)
{
    if (fabric->network_topology == NETWORK_SINGLE_SWITCH)
        return "one for all NICs, as one switch";
    if (fabric->network_topology == NETWORK_LEAF_SPINE)
        return "one for all NICs, leaves and spines";
    return fabric->forwards_cross_rail
               ? "rails only: NIC i of every node on rail i, to others by way of GPU j"
               : "rails only: NIC i of every node on rail i, to others no way";
}

static void
print_links(const struct cluster *cluster, struct text *out)
{
    const struct fabric *fabric = &cluster->fabric;
    double links = fabric_links(fabric, cluster->gpus_per_node);
    text_format(out, "  node      %s, %.0f link%s a GPU of %s each way",
                fabric->node_topology == NODE_MESH ? "mesh" : "switch", links,
                links == 1 ? "" : "s", units_format_bytes_per_s(fabric->link_bytes_per_s).text);
    if (links >= 1)
        text_format(out, ", of which %s measured",
                    units_format_bytes_per_s(fabric_link_rate(fabric, links)).text);
    text_format(out, "\n");
}

static void
print_nics(const struct fabric *fabric, struct text *out)
{
    double packets =
        fabric_packet_efficiency(fabric->packet_payload_bytes, fabric->packet_header_bytes);
    text_format(out, "  NIC       one a GPU, %s each way, %s behind headers, %s measured\n",
                units_format_bytes_per_s(fabric->nic_bytes_per_s).text,
                units_format_bytes_per_s(fabric->nic_bytes_per_s * packets).text,
                units_format_bytes_per_s(fabric_nic_rate(fabric)).text);
    text_format(out, "  network   %s\n", topology_words(fabric));
}

static void
print_switches(const struct subject *subject, struct text *out)
{
    const struct fabric *fabric = &subject->cluster->fabric;
    const struct switch_plan *plan = &subject->plan;
    bool is_of_rails = fabric->network_topology == NETWORK_RAILS_ONLY;
    if (fabric->leaf_nodes > 0 && plan->levels > 1)
        text_format(out, "  leaves    %lld nodes a leaf, %.4g to 1, %s\n",
                    (long long)fabric->leaf_nodes, fabric->oversubscription_ratio,
                    fabric->is_sprayed ? "packets sprayed over all spines"
                                       : "each flow hashed to one path");
    else if (plan->levels > 1)
        text_format(out, "  leaves    not said: taken as one ideal switch%s\n",
                    is_of_rails ? " a rail" : "");
    text_format(out, "  switches  of %lld ports%s: %lld %s", (long long)subject->wish.ports,
                is_of_rails ? ", on each rail" : "", (long long)plan->leaves,
                plan->levels == 1 ? "switch" : "leaves");
    if (plan->levels > 1)
        text_format(out, " with %lld links up, %lld spine%s", (long long)plan->leaf_uplinks,
                    (long long)plan->spines, plan->spines == 1 ? "" : "s");
    if (plan->levels > 2)
        text_format(out, ", %lld tops", (long long)plan->tops);
    int64_t networks = is_of_rails ? subject->cluster->gpus_per_node : 1;
    int64_t switches = networks * (plan->leaves + plan->spines + plan->tops);
    int64_t cables = networks * plan->cables;
    text_format(out, "\n  in all    %lld switch%s, %lld cables between them\n",
                (long long)switches, switches == 1 ? "" : "es", (long long)cables);
    text_format(out, "  at most   %lld nodes on %d level%s of them\n",
                (long long)plan->nodes_maximum, plan->levels, plan->levels == 1 ? "" : "s");
}

/* "mi300x" of "configs/devices/mi300x.json". */
static const char *
stem_of(const char *path, struct arena *arena)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    return arena_format(arena, "%.*s", (int)strcspn(name, "."), name);
}

static void
print_subject(const struct subject *subject, struct text *out)
{
    const struct cluster *cluster = subject->cluster;
    text_format(out, "%s: %lld x %lld %s, fabric %s\n\n", cluster->name,
                (long long)cluster->nodes, (long long)cluster->gpus_per_node,
                stem_of(cluster->device_path, out->arena), cluster->fabric.name);
    print_links(cluster, out);
    if (!has_network(subject)) {
        text_format(out, "  network   none\n");
        return;
    }
    print_nics(&cluster->fabric, out);
    print_switches(subject, out);
}

static void
write_switches(const struct subject *subject, struct json_writer *writer)
{
    const struct switch_plan *plan = &subject->plan;
    bool is_of_rails = subject->cluster->fabric.network_topology == NETWORK_RAILS_ONLY;
    json_write_key(writer, "switches");
    json_write_begin_object(writer);
    json_write_integer_at(writer, "networks",
                          is_of_rails ? subject->cluster->gpus_per_node : 1);
    json_write_integer_at(writer, "ports", subject->wish.ports);
    json_write_integer_at(writer, "levels", plan->levels);
    json_write_integer_at(writer, "leaf_nodes", plan->leaf_nodes);
    json_write_integer_at(writer, "leaf_uplinks", plan->leaf_uplinks);
    json_write_integer_at(writer, "leaves", plan->leaves);
    json_write_integer_at(writer, "spines", plan->spines);
    json_write_integer_at(writer, "tops", plan->tops);
    json_write_integer_at(writer, "cables", plan->cables);
    json_write_real_at(writer, "oversubscription_ratio", plan->oversubscription_ratio);
    json_write_integer_at(writer, "nodes_maximum", plan->nodes_maximum);
    json_write_end_object(writer);
}

static void
write_subject(const struct subject *subject, struct text *out)
{
    const struct cluster *cluster = subject->cluster;
    const struct fabric *fabric = &cluster->fabric;
    struct json_writer writer = json_writer_new(out, true);
    json_write_begin_object(&writer);
    json_write_string_at(&writer, "name", cluster->name);
    json_write_integer_at(&writer, "nodes", cluster->nodes);
    json_write_integer_at(&writer, "gpus_per_node", cluster->gpus_per_node);
    json_write_string_at(&writer, "device", cluster->device_path);
    json_write_string_at(&writer, "fabric", fabric->name);
    json_write_real_at(
        &writer, "link_bytes_per_s",
        fabric_link_rate(fabric, fmax(1, fabric_links(fabric, cluster->gpus_per_node))));
    if (has_network(subject)) {
        json_write_real_at(&writer, "nic_bytes_per_s", fabric_nic_rate(fabric));
        write_switches(subject, &writer);
    }
    json_write_end_object(&writer);
    text_append(out, "\n", 1);
}

static int
run_show(const struct options *options, struct arena *arena)
{
    struct error_list errors = {0};
    struct subject subject = {0};
    struct text text = text_new(arena);
    if (!read_subject(options_word(options, 0), &subject, arena, &errors))
        return command_report(&errors);
    int code = take_ports(options, command_cluster_show.name, &subject);
    if (code != EXIT_DONE)
        return code;
    const struct cluster *cluster = subject.cluster;
    subject.wish.nodes = cluster->nodes;
    subject.wish.node_nics = switch_node_nics(&cluster->fabric, cluster->gpus_per_node);
    subject.wish.leaf_nodes = cluster->fabric.leaf_nodes;
    subject.wish.oversubscription_ratio = cluster->fabric.oversubscription_ratio;
    if (has_network(&subject) && !switch_plan_find(&subject.wish, &subject.plan, &errors))
        return command_report(&errors);
    if (command_format(options) == OUTPUT_JSON)
        write_subject(&subject, &text);
    else
        print_subject(&subject, &text);
    return command_output(options, &text);
}

/* ---- a file of a larger cluster ---- */

static int
take_ratio(const struct options *options, double *ratio)
{
    const char *word = options_text(options, "oversubscription");
    char *end;
    *ratio = 1;
    if (!*word)
        return EXIT_DONE;
    *ratio = strtod(word, &end);
    if (end == word || *end != '\0' || !(*ratio >= 1 && *ratio <= OVERSUBSCRIPTION_MAX))
        return command_usage(command_cluster_generate.name,
                             "--oversubscription %.60s, wanted a number from 1 to %.0f", word,
                             OVERSUBSCRIPTION_MAX);
    return EXIT_DONE;
}

static int
take_wish(const struct options *options, struct subject *subject)
{
    const char *command = command_cluster_generate.name;
    struct switch_wish *wish = &subject->wish;
    const struct cluster *cluster = subject->cluster;
    if (!*options_text(options, "nodes"))
        return command_usage(command, "--nodes is missing");
    wish->node_nics = switch_node_nics(&cluster->fabric, cluster->gpus_per_node);
    int code = take_ports(options, command, subject);
    if (code == EXIT_DONE)
        code = take_count(options, command, "nodes", 1, NODES_MAX, &wish->nodes);
    if (code == EXIT_DONE)
        code = take_count(options, command, "leaf-nodes", 1, NODES_MAX, &wish->leaf_nodes);
    return code == EXIT_DONE ? take_ratio(options, &wish->oversubscription_ratio) : code;
}

/* False with what stands in the way; nothing does of a single node. */
static bool
plan_switches(struct subject *subject, bool is_hashed, struct error_list *errors)
{
    const struct cluster *cluster = subject->cluster;
    if (!has_network(subject))
        return subject->wish.nodes == 1 ||
               error_add(errors, ERROR_INFEASIBLE, "",
                         "%s joins no nodes: its network is 'none'", cluster->fabric.name);
    if (!switch_plan_find(&subject->wish, &subject->plan, errors))
        return false;
    if (is_hashed && subject->plan.levels != 2)
        return error_add(
            errors, ERROR_INFEASIBLE, "",
            "flows hashed to paths are known of two levels of switches, %lld nodes "
            "need %d",
            (long long)subject->wish.nodes, subject->plan.levels);
    return true;
}

/* Where the number is from: the command's own words. */
static const char *
sourced(struct arena *arena, double value, const struct subject *subject, const char *what)
{
    const struct switch_wish *wish = &subject->wish;
    return arena_format(arena,
                        "{\"value\": %.17g, \"source\": \"stepcast cluster generate: %s, for "
                        "%lld nodes at %.4g to 1 on switches of %lld ports\"}",
                        value, what, (long long)wish->nodes, wish->oversubscription_ratio,
                        (long long)wish->ports);
}

static bool
set(const struct json *fabric, const char *key, const char *value, struct error_list *errors)
{
    return json_set(fabric, key, value, "stepcast cluster generate", errors);
}

/* The fabric's own leaves and spines, in place of those that it had. */
static bool
set_leaves(const struct json *fabric, const struct subject *subject, bool is_hashed,
           struct arena *arena, struct error_list *errors)
{
    const struct switch_plan *plan = &subject->plan;
    bool is_of_rails = subject->cluster->fabric.network_topology == NETWORK_RAILS_ONLY;
    const char *leaf = sourced(arena, (double)plan->leaf_nodes, subject, "nodes of a leaf");
    const char *ratio = sourced(arena, plan->oversubscription_ratio, subject,
                                "NICs of a leaf over its links up");
    const char *paths = sourced(arena, (double)plan->leaf_uplinks, subject,
                                "links of a leaf, each a path of its own");
    return (is_of_rails || set(fabric, "network.topology", "leaf_spine", errors)) &&
           set(fabric, "network.leaf_nodes", leaf, errors) &&
           set(fabric, "network.oversubscription_ratio", ratio, errors) &&
           set(fabric, "network.sprays_packets", is_hashed ? "false" : "true", errors) &&
           (!is_hashed || set(fabric, "network.spine_count", paths, errors));
}

/* The file's name of the fabric, as it is to stand in the new file, or the fabric itself where that
 * has to say more. */
static bool
write_fabric(const struct subject *subject, const struct options *options, const char *to,
             struct json_writer *writer, struct error_list *errors)
{
    struct arena *arena = writer->out->arena;
    const struct json *value = json_member(subject->file, "fabric");
    const char *path = NULL;
    if (json_kind(value) == JSON_KIND_STRING) {
        path = path_beside(json_file_name(value), json_as_string(value), arena);
        value = json_read_file(arena, path, errors);
    }
    bool has_leaves = subject->plan.levels > 1 || subject->cluster->fabric.leaf_nodes > 0;
    const char *name = path && !has_leaves ? path_from(to, path, arena) : NULL;
    if (!value || (has_leaves &&
                   !set_leaves(value, subject, options_flag(options, "hashed"), arena, errors)))
        return false;
    json_write_key(writer, "fabric");
    if (name)
        json_write_string(writer, name);
    else
        json_write_value(writer, value);
    return true;
}

/* The device, as the new file finds it: from there, or from the root. */
static const char *
device_from(const char *to, const char *path, struct arena *arena)
{
    char whole[PATH_MAX];
    const char *name = path_from(to, path, arena);
    if (name)
        return name;
    return realpath(path, whole) ? arena_format(arena, "%s", whole) : path;
}

static bool
write_cluster(const struct subject *subject, const struct options *options, struct text *out,
              struct error_list *errors)
{
    const char *output = options_text(options, "output"), *name = options_text(options, "name");
    const char *to = *output && strcmp(output, "-") != 0 ? output : "cluster.json";
    const struct cluster *cluster = subject->cluster;
    long long nodes = (long long)subject->wish.nodes;
    struct json_writer writer = json_writer_new(out, true);
    json_write_begin_object(&writer);
    json_write_string_at(
        &writer, "name",
        *name ? name : arena_format(out->arena, "%s-%lld", cluster->fabric.name, nodes));
    json_write_string_at(
        &writer, "note",
        arena_format(out->arena, "as %s, with %lld nodes", cluster->name, nodes));
    json_write_integer_at(&writer, "nodes", nodes);
    json_write_integer_at(&writer, "gpus_per_node", cluster->gpus_per_node);
    json_write_string_at(&writer, "device", device_from(to, cluster->device_path, out->arena));
    if (!write_fabric(subject, options, to, &writer, errors))
        return false;
    json_write_end_object(&writer);
    text_append(out, "\n", 1);
    return true;
}

/* The file to -o and what it says to standard output; without -o the file itself. */
static int
answer(const struct options *options, struct subject *subject, const struct text *file,
       struct arena *arena)
{
    struct error_list errors = {0};
    struct text text = text_new(arena);
    const char *output = options_text(options, "output");
    int code = command_output(options, file);
    if (code != EXIT_DONE || !*output || strcmp(output, "-") == 0)
        return code;
    if (!read_subject(output, subject, arena, &errors))
        return command_report(&errors);
    print_subject(subject, &text);
    return command_print(&text);
}

static int
run_generate(const struct options *options, struct arena *arena)
{
    struct error_list errors = {0};
    struct subject subject = {0};
    struct text file = text_new(arena);
    if (!read_subject(options_word(options, 0), &subject, arena, &errors))
        return command_report(&errors);
    int code = take_wish(options, &subject);
    if (code != EXIT_DONE)
        return code;
    if (!plan_switches(&subject, options_flag(options, "hashed"), &errors) ||
        !write_cluster(&subject, options, &file, &errors))
        return command_report(&errors);
    return answer(options, &subject, &file, arena);
}

static const struct option_spec SHOW_OPTIONS[] = {
    {"switch-ports", 0, OPTION_TEXT, "N", "ports of a switch; else 128 for 400 Gbit/s"},
    {"json", 0, OPTION_FLAG, NULL, "JSON in place of text"},
    {"output", 'o', OPTION_TEXT, "FILE", "where the answer goes; .json for JSON"},
};

const struct command command_cluster_show = {
    .name = "cluster show",
    .summary = "what a cluster file describes, and how many switches that takes",
    .synopsis = "CLUSTER.json [--switch-ports N] [--json] [-o FILE]",
    .example = "stepcast cluster show configs/clusters/mi300x-pollara-128.json",
    .options = SHOW_OPTIONS,
    .option_count = sizeof SHOW_OPTIONS / sizeof *SHOW_OPTIONS,
    .word_minimum = 1,
    .word_maximum = 1,
    .formats = 1u << OUTPUT_TEXT | 1u << OUTPUT_JSON,
    .run = run_show,
};

static const struct option_spec GENERATE_OPTIONS[] = {
    {"nodes", 0, OPTION_TEXT, "N", "how many"},
    {"oversubscription", 0, OPTION_TEXT, "R",
     "a leaf's NICs over its links up, at most; else 1"},
    {"leaf-nodes", 0, OPTION_TEXT, "N", "nodes of a leaf; else as many as fit"},
    {"hashed", 0, OPTION_FLAG, NULL, "each flow keeps to one path (ECMP); else sprayed"},
    {"switch-ports", 0, OPTION_TEXT, "N", "ports of a switch; else 128 for 400 Gbit/s"},
    {"name", 0, OPTION_TEXT, "NAME", "of the cluster; else its fabric's, and the nodes"},
    {"json", 0, OPTION_FLAG, NULL, "JSON, which a cluster file is"},
    {"output", 'o', OPTION_TEXT, "FILE", "where the cluster file goes; .json"},
};

const struct command command_cluster_generate = {
    .name = "cluster generate",
    .summary = "a file of a larger cluster, with the switches that it needs",
    .synopsis = "CLUSTER.json --nodes N [--oversubscription R] -o OUT.json",
    .example = "stepcast cluster generate configs/clusters/mi300x-pollara-128.json --nodes 512 "
               "--oversubscription 2 -o mi300x-512.json",
    .options = GENERATE_OPTIONS,
    .option_count = sizeof GENERATE_OPTIONS / sizeof *GENERATE_OPTIONS,
    .word_minimum = 1,
    .word_maximum = 1,
    .formats = 1u << OUTPUT_TEXT | 1u << OUTPUT_JSON,
    .run = run_generate,
};
