/* stepcast collective: what collectives cost, as curves over sizes or line by line. */
#include <stdlib.h>
#include <string.h>

#include "hw/collective_flows.h"
#include "sim/base/path.h"
#include "sim/cli/collective_curves.h"
#include "sim/cli/picture.h"
#include "sim/cli/price_list.h"

extern const struct command command_collective;

static bool
price_question(const void *context, const struct json *question, struct arena *arena,
               struct json_writer *answer, struct error_list *errors)
{
    struct collective collective;
    struct collective_cost cost;
    struct error_list faults = {0};
    if (!collective_read(question, &collective, arena, errors))
        return false;
    if (!collective_cost(context, &collective, &cost, &faults))
        return error_add(errors, faults.items[0].kind, json_where(question), "%s",
                         faults.items[0].what);
    collective_cost_write(answer, &cost);
    return true;
}

/* "cluster.nodes=64" and "fabric.network.forwards_cross_rail=false": the value below the
 * cluster's or the fabric's root, whichever the key begins with. */
static bool
apply_settings(const struct options *options, const char *root_name, const struct json *root,
               struct arena *arena, struct error_list *errors)
{
    size_t length = strlen(root_name);
    for (size_t i = 0; i < options_text_count(options, "set"); i++) {
        const char *setting = options_text_at(options, "set", i);
        const char *equals = strchr(setting, '=');
        if (strncmp(setting, root_name, length) != 0 || setting[length] != '.' || !equals)
            continue;
        const char *key = setting + length + 1;
        const char *path = arena_format(arena, "%.*s", (int)(equals - key), key);
        if (!json_set(root, path, equals + 1, arena_format(arena, "--set %s", setting), errors))
            return false;
    }
    return true;
}

/* The fabric once more, with what was set in it. */
static bool
read_fabric_again(const struct options *options, const struct json *object,
                  struct cluster *cluster, struct arena *arena, struct error_list *errors)
{
    const struct json *fabric = json_member(object, "fabric");
    if (json_kind(fabric) == JSON_KIND_STRING)
        fabric = json_read_file(
            arena, path_beside(json_file_name(object), json_as_string(fabric), arena), errors);
    return fabric && apply_settings(options, "fabric", fabric, arena, errors) &&
           fabric_read(fabric, &cluster->fabric, errors);
}

static const struct cluster *
read_cluster(const struct options *options, struct arena *arena, struct error_list *errors)
{
    const struct json *object = json_read_file(arena, options_text(options, "cluster"), errors);
    if (!object || !apply_settings(options, "cluster", object, arena, errors))
        return NULL;
    struct cluster *cluster = cluster_read(object, arena, errors);
    bool is_read = cluster && (options_text_count(options, "set") == 0 ||
                               read_fabric_again(options, object, cluster, arena, errors));
    return is_read ? cluster : NULL;
}

static int
check_settings(const struct options *options)
{
    for (size_t i = 0; i < options_text_count(options, "set"); i++) {
        const char *setting = options_text_at(options, "set", i);
        bool is_known = strncmp(setting, "cluster.", strlen("cluster.")) == 0 ||
                        strncmp(setting, "fabric.", strlen("fabric.")) == 0;
        if (!is_known || !strchr(setting, '='))
            return command_usage(command_collective.name,
                                 "--set %.60s, wanted cluster.KEY=VALUE or fabric.KEY=VALUE",
                                 setting);
    }
    return EXIT_DONE;
}

enum { PIECES_MAX = 4096 };

/* The collective's flows, by the algorithm of its price, in place of the price. */
static int
write_flows(const struct collective_curves *curves, const struct options *options,
            struct arena *arena)
{
    struct error_list errors = {0};
    struct text csv = text_new(arena);
    struct collective collective = curves->items[0].collective;
    const char *word = options_text(options, "pieces");
    char *end = NULL;
    long pieces = *word ? strtol(word, &end, 10) : COLLECTIVE_FLOW_PIECES;
    if (pieces < 1 || pieces > PIECES_MAX || (end && *end != '\0'))
        return command_usage(command_collective.name,
                             "--pieces %.60s, wanted a number from 1 to %d", word, PIECES_MAX);
    collective.bytes = curves->first_bytes;
    collective.algorithm = curves->items[0].costs[0].algorithm;
    if (curves->routed.experts > 0 || collective.kind == COLLECTIVE_ALL_TO_ALL_V)
        return command_usage(command_collective.name,
                             "--as-flows lists parts that are alike, without --experts, of no "
                             "all_to_all_v");
    if (curves->count > 1 || curves->size_count > 1)
        return command_usage(command_collective.name,
                             "--as-flows lists one collective, wanted one size and one number "
                             "of nodes");
    if (!collective_flows_write(curves->cluster, &collective, pieces, &csv, &errors))
        return command_report(&errors);
    return command_output(options, &csv);
}

static int
write_curves(const struct collective_curves *curves, const struct options *options,
             struct arena *arena)
{
    enum output_format format = command_format(options);
    struct text out = text_new(arena);
    if (options_flag(options, "as-flows"))
        return write_flows(curves, options, arena);
    if (command_draws(format)) {
        int code = picture_line_chart(options, collective_curves_picture(curves, arena), arena);
        if (code != EXIT_DONE || !command_wants_json(options))
            return code;
    }
    if (command_wants_json(options)) {
        struct json_writer writer = json_writer_new(&out, true);
        collective_curves_write(curves, &writer);
        text_append(&out, "\n", 1);
    } else if (format == OUTPUT_CSV) {
        collective_curves_write_csv(curves, &out);
    } else {
        collective_curves_print(curves, &out);
    }
    return command_output(options, &out);
}

static const char *
settings_of(const struct options *options, struct arena *arena)
{
    struct text words = text_new(arena);
    for (size_t i = 0; i < options_text_count(options, "set"); i++)
        text_format(&words, ", %s", options_text_at(options, "set", i));
    return words.length > 0 ? words.bytes : "";
}

static int
price_curves(const struct options *options, const struct cluster *cluster, struct arena *arena)
{
    struct error_list errors = {0};
    struct collective_curves curves = {.cluster = cluster,
                                       .settings = settings_of(options, arena)};
    struct measured_list measured = {0};
    int code = collective_curves_read(&curves, options_word(options, 0), options, arena);
    if (code != EXIT_DONE)
        return code;
    for (size_t i = 0; i < options_text_count(options, "measured"); i++)
        if (!measured_list_read(&measured, options_text_at(options, "measured", i), arena,
                                &errors))
            return command_report(&errors);
    if (!collective_curves_price(&curves, arena, &errors))
        return command_report(&errors);
    collective_curves_add_measured(&curves, &measured, arena);
    return write_curves(&curves, options, arena);
}

static int
run(const struct options *options, struct arena *arena)
{
    const char *list_path = options_text(options, "list");
    bool has_kind = options_word_count(options) > 0;
    struct error_list errors = {0};
    if (!*options_text(options, "cluster"))
        return command_usage(command_collective.name, "--cluster is missing");
    if (has_kind == (*list_path != '\0'))
        return command_usage(command_collective.name,
                             "wanted either a collective or --list FILE");
    int code = check_settings(options);
    if (code != EXIT_DONE)
        return code;
    const struct cluster *cluster = read_cluster(options, arena, &errors);
    if (!cluster)
        return command_report(&errors);
    if (has_kind)
        return price_curves(options, cluster, arena);
    if (command_draws(command_format(options)) || command_format(options) == OUTPUT_CSV)
        return command_usage(command_collective.name, "--list answers in lines of JSON");
    struct price_list list = {
        .path = list_path,
        .output_path = options_text(options, "output"),
        .keeps_going = options_flag(options, "keep-going"),
        .price = price_question,
        .context = cluster,
    };
    return price_list_run(&list);
}

static const struct option_spec OPTIONS[] = {
    {"cluster", 0, OPTION_TEXT, "FILE", "the cluster that runs them"},
    {"set", 0, OPTION_TEXTS, "KEY=VALUE", "one value, such as cluster.nodes=64"},
    {"list", 0, OPTION_TEXT, "FILE", "one collective a line, JSON; - is standard input"},
    {"keep-going", 0, OPTION_FLAG, NULL, "past a line that cannot be answered"},
    {"nodes", 0, OPTION_TEXT, "N,N,..", "on how many nodes, a curve each; else all"},
    {"gpus", 0, OPTION_TEXT, "N", "how many GPUs of each node; else all"},
    {"ranks", 0, OPTION_TEXT, "WHICH", "how many, FIRST:LAST:STEP or a list; else all"},
    {"bytes", 0, OPTION_TEXT, "FROM:TO", "sizes that double, like 1K:16G"},
    {"dtype", 0, OPTION_TEXT, "TYPE", "what is counted; fp32 without"},
    {"measured", 0, OPTION_TEXTS, "LIST", "measured collectives (JSONL, or rccl-tests' log)"},
    {"time", 0, OPTION_FLAG, NULL, "draws times alone, not under bus bandwidths"},
    {"algorithm", 0, OPTION_TEXT, "NAME", "one of its algorithms, whatever the library takes"},
    {"as-flows", 0, OPTION_FLAG, NULL, "the flows that it consists of, as a flow list"},
    {"pieces", 0, OPTION_TEXT, "N", "of pipelines in that list; else 16"},
    {"skew", 0, OPTION_TEXT, "S", "of all_to_all_v: rank i gets (i + 1)^-S; else alike"},
    {"experts", 0, OPTION_TEXT, "N,K", "an all_to_all of tokens to K of N, once to a node"},
    PICTURE_OPTIONS,
    {"json", 0, OPTION_FLAG, NULL, "JSON in place of a table"},
    {"output", 'o', OPTION_TEXT, "FILE", "where the answer goes: .json .csv .svg .pdf .png"},
};

const struct command command_collective = {
    .name = "collective",
    .summary = "what collectives cost on a cluster",
    .synopsis = "[KIND] --cluster FILE [--list FILE | --nodes N,N --gpus N --bytes FROM:TO]",
    .example =
        "stepcast collective all_reduce --cluster configs/clusters/mi300x-pollara-128.json "
        "--nodes 1,2,16,128 -o curves.png",
    .options = OPTIONS,
    .option_count = sizeof OPTIONS / sizeof *OPTIONS,
    .word_minimum = 0,
    .word_maximum = 1,
    .formats = 1u << OUTPUT_TEXT | 1u << OUTPUT_JSON | 1u << OUTPUT_CSV | 1u << OUTPUT_SVG |
               1u << OUTPUT_PDF | 1u << OUTPUT_PNG,
    .run = run,
};
