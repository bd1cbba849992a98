/* stepcast flows: when each flow of a list ends, for checks against network simulators. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/flow_times.h"
#include "sim/base/hash.h"
#include "sim/base/json_writer.h"
#include "sim/base/units.h"
#include "sim/cli/command.h"

static const size_t LIST_MAX_BYTES = (size_t)4 << 30;

extern const struct command command_flows;

/* Times that were written before: flows of one class end together, and printing a number is half of
 * the work of a long list (a ring's 130,048 flows end at 2,000 times). */
enum { SHOWN_COUNT = 4096 };

struct shown {
    double value_s;
    size_t length; /* 0: none yet */
    char digits[UNITS_TEXT_MAX];
};

static const struct shown *
show_s(struct shown *table, double value_s)
{
    uint64_t bits;
    memcpy(&bits, &value_s, sizeof bits);
    struct shown *shown = &table[hash_mixed(bits) % SHOWN_COUNT];
    if (shown->length == 0 || shown->value_s != value_s) {
        shown->value_s = value_s;
        shown->length = (size_t)snprintf(shown->digits, sizeof shown->digits, "%.15g", value_s);
    }
    return shown;
}

static void
write_csv(struct text *text, const struct flow_list *list, const struct flow_times *times)
{
    struct shown *table = arena_alloc(text->arena, SHOWN_COUNT, sizeof *table);
    text_format(text, "id,finish_s\n");
    for (size_t i = 0; i < list->count; i++) {
        size_t length;
        const char *id = flow_list_id(list, i, &length);
        const struct shown *shown = show_s(table, times->finish_s[i]);
        text_append(text, id, length);
        text_append(text, ",", 1);
        text_append(text, shown->digits, shown->length);
        text_append(text, "\n", 1);
    }
}

static void
write_json(struct text *text, const struct flow_list *list, const struct flow_times *times,
           struct arena *arena)
{
    struct json_writer writer = json_writer_new(text, true);
    json_write_begin_array(&writer);
    for (size_t i = 0; i < list->count; i++) {
        size_t length;
        const char *id = flow_list_id(list, i, &length);
        json_write_begin_object(&writer);
        json_write_string_at(&writer, "id", arena_format(arena, "%.*s", (int)length, id));
        json_write_real_at(&writer, "finish_s", times->finish_s[i]);
        json_write_end_object(&writer);
    }
    json_write_end_array(&writer);
    text_append(text, "\n", 1);
}

static bool
read_seed(const char *word, uint64_t *out)
{
    char *end;
    errno = 0;
    *out = strtoull(word, &end, 10);
    return end != word && *end == '\0' && errno == 0 && *word != '-';
}

/* The hops of a protocol of the fabric; EXIT_DONE, or the code of what was said. */
static int
take_hops(const char *name, struct flow_wires *wires)
{
    const struct fabric *fabric = &wires->cluster->fabric;
    for (int i = 0; *name && i < fabric->protocol_count; i++)
        if (strcmp(fabric->protocols[i].name, name) == 0) {
            wires->link_hop_s = fabric->protocols[i].link_hop_s;
            wires->nic_hop_s = fabric->protocols[i].nic_hop_s;
            return EXIT_DONE;
        }
    if (*name)
        return command_usage(command_flows.name, "--protocol '%.60s', but %s has '%s'%s", name,
                             fabric->name, fabric->protocols[0].name,
                             fabric->protocol_count > 1 ? " and others" : "");
    return EXIT_DONE;
}

static const struct cluster *
read_cluster(const char *path, struct arena *arena, struct error_list *errors)
{
    const struct json *object = json_read_file(arena, path, errors);
    return object ? cluster_read(object, arena, errors) : NULL;
}

static int
answer(const struct options *options, const struct flow_list *list,
       const struct flow_times *times, struct arena *arena)
{
    struct text text = text_new(arena);
    if (command_format(options) == OUTPUT_JSON)
        write_json(&text, list, times, arena);
    else
        write_csv(&text, list, times);
    return command_output(options, &text);
}

static int
run(const struct options *options, struct arena *arena)
{
    const char *path = options_text(options, "flows");
    const char *cluster_path = options_text(options, "cluster");
    const char *seed_word = options_text(options, "seed");
    struct flow_wires wires = {.seed = 1};
    if (!*cluster_path || !*path)
        return command_usage(command_flows.name, "--%s is missing",
                             *cluster_path ? "flows" : "cluster");
    if (*seed_word && !read_seed(seed_word, &wires.seed))
        return command_usage(command_flows.name, "--seed %.60s, wanted a whole number",
                             seed_word);
    struct error_list errors = {0};
    wires.cluster = read_cluster(cluster_path, arena, &errors);
    struct text text = text_new(arena);
    if (!wires.cluster)
        return command_report(&errors);
    int code = take_hops(options_text(options, "protocol"), &wires);
    if (code != EXIT_DONE)
        return code;
    if (!text_read_file(&text, path, LIST_MAX_BYTES, &errors))
        return command_report(&errors);
    const char *name = strcmp(path, "-") == 0 ? "standard input" : path;
    const struct flow_list *list =
        flow_list_read(name, &text, cluster_gpus(wires.cluster), arena, &errors);
    const struct flow_times *times =
        list ? flow_times_find(list, &wires, arena, &errors) : NULL;
    return times ? answer(options, list, times, arena) : command_report(&errors);
}

static const struct option_spec OPTIONS[] = {
    {"cluster", 0, OPTION_TEXT, "FILE", "the cluster that they cross"},
    {"flows", 0, OPTION_TEXT, "FILE",
     "CSV: id,start_s,src,dst,bytes,deps; - is standard input"},
    {"seed", 0, OPTION_TEXT, "N", "draws the path of each flow that keeps to one; else 1"},
    {"protocol", 0, OPTION_TEXT, "NAME", "whose hops each flow takes first; else none"},
    {"json", 0, OPTION_FLAG, NULL, "JSON in place of CSV"},
    {"output", 'o', OPTION_TEXT, "FILE", "where the answer goes; .csv, or .json for JSON"},
};

const struct command command_flows = {
    .name = "flows",
    .summary = "when the flows of a list end on a cluster",
    .synopsis = "--cluster FILE --flows FILE [--seed N] [--protocol NAME] [-o FILE]",
    .example = "stepcast flows --cluster configs/clusters/reference-rails-4.json --flows "
               "validate/reference/network/hand.flows.csv",
    .options = OPTIONS,
    .option_count = sizeof OPTIONS / sizeof *OPTIONS,
    .word_minimum = 0,
    .word_maximum = 0,
    .formats = 1u << OUTPUT_TEXT | 1u << OUTPUT_CSV | 1u << OUTPUT_JSON,
    .run = run,
};
