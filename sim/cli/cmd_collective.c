/* stepcast collective: what collectives cost, as a curve over sizes or line by line. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "hw/collective.h"
#include "sim/base/json_writer.h"
#include "sim/cli/command.h"
#include "sim/cli/price_list.h"

static const double BYTES_MAX = 1e18;

extern const struct command command_collective;

/* What the command line asks to draw: one collective over sizes that double. */
struct curve {
    struct collective collective;
    double first_bytes, last_bytes;
};

static double
cost_s(const struct collective_cost *cost)
{
    return cost->latency_s + cost->transfer_s;
}

static void
write_cost(struct json_writer *writer, const struct collective_cost *cost)
{
    json_write_real_at(writer, "predicted_s", cost_s(cost));
    json_write_real_at(writer, "sigma", cost->relative_sigma);
    json_write_string_at(writer, "bound", cost->bound);
    json_write_string_at(writer, "algorithm", cost->algorithm);
    json_write_string_at(writer, "protocol", cost->protocol);
    json_write_real_at(writer, "latency_s", cost->latency_s);
    json_write_real_at(writer, "transfer_s", cost->transfer_s);
    json_write_real_at(writer, "bus_bytes_per_s", cost->bus_bytes_per_s);
}

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
    write_cost(answer, &cost);
    return true;
}

static struct cluster *
read_cluster(const char *path, struct arena *arena, struct error_list *errors)
{
    const struct json *object = json_read_file(arena, path, errors);
    return object ? cluster_read(object, arena, errors) : NULL;
}

static bool
read_count(const char *text, int64_t *out)
{
    char *end;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (end == text || *end != '\0' || errno != 0 || value < 1)
        return false;
    *out = value;
    return true;
}

/* "8M": a number and K, M, G or T, powers of 1024 as rccl-tests has them. Returns what follows,
 * NULL when there is no size. */
static const char *
read_size(const char *text, double *out_bytes)
{
    static const char letters[] = "KMGT";
    char *end;
    double bytes = strtod(text, &end);
    if (end == text)
        return NULL;
    const char *letter = *end ? strchr(letters, *end) : NULL;
    for (const char *l = letters; letter && l <= letter; l++)
        bytes *= 1024;
    if (!(bytes >= 1 && bytes <= BYTES_MAX))
        return NULL;
    *out_bytes = bytes;
    return letter ? end + 1 : end;
}

/* "1K:16G", or one size alone. */
static bool
read_sizes(const char *text, struct curve *curve)
{
    const char *rest = read_size(text, &curve->first_bytes);
    curve->last_bytes = curve->first_bytes;
    if (rest && *rest == ':')
        rest = read_size(rest + 1, &curve->last_bytes);
    return rest && *rest == '\0' && curve->first_bytes <= curve->last_bytes;
}

static bool
read_kind(const char *word, enum collective_kind *kind)
{
    for (int i = 0; i < COLLECTIVE_KIND_COUNT; i++) {
        if (strcmp(word, collective_kind_names[i]) != 0)
            continue;
        *kind = (enum collective_kind)i;
        return true;
    }
    return false;
}

/* EXIT_DONE, or EXIT_USAGE after saying what cannot be read. Ranks and nodes that are not given
 * are all of the cluster. */
static int
read_curve(const struct options *options, const struct cluster *cluster, struct curve *curve)
{
    const char *name = command_collective.name;
    const char *sizes = options_text(options, "bytes");
    const char *nodes = options_text(options, "nodes"), *ranks = options_text(options, "ranks");
    struct collective *collective = &curve->collective;
    *collective = (struct collective){.dtype = DTYPE_BF16, .nodes = cluster->nodes};
    if (!read_kind(options_word(options, 0), &collective->kind))
        return command_usage(name,
                             "'%.60s', wanted all_reduce, reduce_scatter, all_gather, "
                             "broadcast, all_to_all or send_recv",
                             options_word(options, 0));
    if (!read_sizes(*sizes ? sizes : "1K:16G", curve))
        return command_usage(name, "--bytes %.60s, wanted like 1K:16G or 8M", sizes);
    if (*nodes && !read_count(nodes, &collective->nodes))
        return command_usage(name, "--nodes %.60s, wanted a number from 1", nodes);
    collective->ranks = collective->kind == COLLECTIVE_SEND_RECV
                            ? 2
                            : collective->nodes * cluster->gpus_per_node;
    if (*ranks && !read_count(ranks, &collective->ranks))
        return command_usage(name, "--ranks %.60s, wanted a number from 1", ranks);
    return EXIT_DONE;
}

/* One row a size, in rccl-tests' columns and units. */
static void
write_row(struct text *text, double bytes, const struct collective_cost *cost)
{
    double time_s = cost_s(cost);
    double algorithm_bytes_per_s = time_s > 0 ? bytes / time_s : 0;
    text_format(text, "%14.0f %12.2f %12.2f %12.2f    %s, %s, %s\n", bytes, time_s * 1e6,
                algorithm_bytes_per_s / 1e9, cost->bus_bytes_per_s / 1e9, cost->algorithm,
                cost->protocol, cost->bound);
}

static void
write_head(struct text *text, const struct curve *curve, const struct cluster *cluster)
{
    text_format(text, "# %s of %lld ranks on %lld nodes of %s\n",
                collective_kind_name(curve->collective.kind),
                (long long)curve->collective.ranks, (long long)curve->collective.nodes,
                cluster->name);
    text_format(text, "#%13s %12s %12s %12s    %s\n#%13s %12s %12s %12s\n", "size", "time",
                "algbw", "busbw", "algorithm, protocol, bound by", "(B)", "(us)", "(GB/s)",
                "(GB/s)");
}

static void
write_point(struct json_writer *writer, const struct collective *collective,
            const struct collective_cost *cost)
{
    json_write_begin_object(writer);
    json_write_string_at(writer, "collective", collective_kind_name(collective->kind));
    json_write_integer_at(writer, "ranks", collective->ranks);
    json_write_integer_at(writer, "nodes", collective->nodes);
    json_write_real_at(writer, "bytes", collective->bytes);
    write_cost(writer, cost);
    json_write_end_object(writer);
}

/* Sizes that double, from the first as far as the last. */
static int
price_curve(const struct cluster *cluster, const struct curve *curve, struct text *table,
            struct json_writer *writer)
{
    struct collective collective = curve->collective;
    struct error_list errors = {0};
    double bus_sum = 0;
    int count = 1 + (int)log2(curve->last_bytes / curve->first_bytes);
    write_head(table, curve, cluster);
    json_write_begin_array(writer);
    for (int i = 0; i < count; i++) {
        struct collective_cost cost;
        collective.bytes = ldexp(curve->first_bytes, i);
        if (!collective_cost(cluster, &collective, &cost, &errors))
            return command_report(&errors);
        write_row(table, collective.bytes, &cost);
        write_point(writer, &collective, &cost);
        bus_sum += cost.bus_bytes_per_s;
    }
    json_write_end_array(writer);
    text_append(writer->out, "\n", 1);
    text_format(table, "# Avg bus bandwidth    : %g\n", bus_sum / count / 1e9);
    return EXIT_DONE;
}

static int
draw_curve(const struct options *options, const struct cluster *cluster, struct arena *arena)
{
    struct curve curve;
    int code = read_curve(options, cluster, &curve);
    if (code != EXIT_DONE)
        return code;
    struct text table = text_new(arena), json = text_new(arena);
    struct json_writer writer = json_writer_new(&json, true);
    code = price_curve(cluster, &curve, &table, &writer);
    return code == EXIT_DONE
               ? command_output(options,
                                command_format(options) == OUTPUT_JSON ? &json : &table)
               : code;
}

static int
run(const struct options *options, struct arena *arena)
{
    const char *list_path = options_text(options, "list");
    bool has_kind = options_word_count(options) > 0;
    if (!*options_text(options, "cluster"))
        return command_usage(command_collective.name, "--cluster is missing");
    if (has_kind == (*list_path != '\0'))
        return command_usage(command_collective.name,
                             "wanted either a collective or --list FILE");
    struct error_list errors = {0};
    const struct cluster *cluster =
        read_cluster(options_text(options, "cluster"), arena, &errors);
    if (!cluster)
        return command_report(&errors);
    if (has_kind)
        return draw_curve(options, cluster, arena);
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
    {"list", 0, OPTION_TEXT, "FILE", "one collective a line, JSON; - is standard input"},
    {"keep-going", 0, OPTION_FLAG, NULL, "past a line that cannot be answered"},
    {"ranks", 0, OPTION_TEXT, "N", "how many GPUs take part; else all of the nodes"},
    {"nodes", 0, OPTION_TEXT, "N", "on how many nodes; else all of the cluster"},
    {"bytes", 0, OPTION_TEXT, "FROM:TO", "sizes that double, like 1K:16G"},
    {"json", 0, OPTION_FLAG, NULL, "JSON in place of a table"},
    {"output", 'o', OPTION_TEXT, "FILE", "where the answer goes; .json for JSON"},
};

const struct command command_collective = {
    .name = "collective",
    .summary = "what collectives cost on a cluster",
    .synopsis = "[KIND] --cluster FILE [--list FILE | --ranks N --nodes N --bytes FROM:TO]",
    .example =
        "stepcast collective all_reduce --cluster configs/clusters/mi300x-pollara-2.json "
        "--bytes 1M:16G",
    .options = OPTIONS,
    .option_count = sizeof OPTIONS / sizeof *OPTIONS,
    .word_minimum = 0,
    .word_maximum = 1,
    .formats = 1u << OUTPUT_TEXT | 1u << OUTPUT_JSON,
    .run = run,
};
