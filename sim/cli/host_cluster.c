/* A list for each size of group, as who does not take part still waits on a core; then one fit. */
#include "sim/cli/host_cluster.h"

#include <stdio.h>
#include <string.h>

#include "sim/cli/measure_child.h"
#include "validate/comparison.h"
#include "validate/fabric_fit.h"
#include "validate/host_device.h"
#include "validate/host_list.h"

enum { RANKS_MAX = 8 };

static const double LINE_S = 0.2; /* for the repeats of one collective */

/* Of processes and of GPUs: where a fit begins, and what is asked of them. */
struct kind_of_host {
    const char *fabric_path, *dtype;
    double most_bytes;
};

static const struct kind_of_host PROCESSES = {"configs/fabrics/host-shared.json", "fp32",
                                              8388608};
static const struct kind_of_host CUDA_GPUS = {"configs/fabrics/h200-nvlink.json", "bf16",
                                              1073741824};

static bool
is_of_gpus(const struct host_question *host)
{
    return *host->backend && strcmp(host->backend, "cpu") != 0;
}

/* The answers of one size of group, behind those of the others. */
static bool
measure_ranks(const struct host_question *host, const struct kind_of_host *kind, int ranks,
              struct text *measured, struct error_list *errors)
{
    struct arena *arena = measured->arena;
    struct text list = text_new(arena), answers = text_new(arena);
    struct host_topology topology;
    struct host_collectives collectives = {ranks, kind->most_bytes, kind->dtype};
    struct measure_child child = host_child(host, arena);
    int count = host_list_write_collectives(&collectives, &list);
    child.seconds = LINE_S;
    child.log_path =
        arena_format(arena, "%s.collectives.log", host_stem(host->output_path, arena));
    if (!is_of_gpus(host)) {
        if (!host_topology_find(&topology, arena, errors))
            return false;
        child.ranks = ranks;
        child.cold_bytes = host_device_cold_bytes(&topology) * ranks;
    }
    fprintf(stderr, "stepcast calibrate: %d collectives between %d %s\n", count, ranks,
            is_of_gpus(host) ? "GPUs" : "processes");
    return measure_child_run(&child, &list, &answers, errors) &&
           host_list_quietest(&answers, measured, errors);
}

/* Most ranks that answered. */
static bool
measure(const struct host_question *host, const struct kind_of_host *kind,
        struct text *measured, int *ranks, struct error_list *errors)
{
    struct host_topology topology = {.cores = RANKS_MAX};
    if (!is_of_gpus(host) && !host_topology_find(&topology, measured->arena, errors))
        return false;
    *ranks = 0;
    for (int wanted = 2; wanted <= RANKS_MAX && wanted <= topology.cores; wanted *= 2) {
        size_t before = measured->length;
        if (!measure_ranks(host, kind, wanted, measured, errors))
            return false;
        if (measured->length == before)
            return true;
        *ranks = wanted;
    }
    return true;
}

static bool
print_table(const struct cluster *cluster, const struct measured_list *list, uint64_t seed,
            struct text *report, struct error_list *errors)
{
    struct comparison comparison = {0};
    struct comparison_basis basis = {
        .cluster = cluster, .small_s = 1e-5, .large_s = 1e-4, .seed = seed};
    if (!comparison_add(&comparison, list, &basis, report->arena, errors))
        return false;
    struct error_table table =
        error_table_new(comparison.samples, comparison.count, report->arena);
    text_format(report, "\n");
    error_table_print(&table, arena_format(report->arena, "%s collectives", cluster->name),
                      report);
    return true;
}

/* The fabric inside its cluster. */
static void
write_cluster(const char *device_path, int ranks, const struct text *fabric, struct text *out)
{
    const char *slash = strrchr(device_path, '/');
    text_format(out,
                "{\n  \"name\": \"host\",\n  \"nodes\": 1,\n  \"gpus_per_node\": %d,\n"
                "  \"device\": \"%s\",\n  \"fabric\": ",
                ranks, slash ? slash + 1 : device_path);
    text_format(out, "%s}\n", fabric->bytes);
}

static bool
fit(const struct host_cluster_question *question, const struct kind_of_host *kind,
    const struct text *measured, int ranks, struct text *report, struct error_list *errors)
{
    struct arena *arena = report->arena;
    const char *device_path = question->host->output_path;
    const char *stem = host_stem(device_path, arena);
    const char *list_path = arena_format(arena, "%s.collectives.jsonl", stem);
    struct measured_list list = {0};
    struct text fabric = text_new(arena), cluster_text = text_new(arena);
    struct fabric_fit fitted;
    struct cluster begin = {
        .name = "host", .nodes = 1, .gpus_per_node = ranks, .device = question->device};
    struct fabric_fit_question asked = {
        .cluster = &begin,
        .list = &list,
        .seed = question->seed,
        .source = arena_format(arena, "fitted by stepcast calibrate --host on %s to %s",
                               question->date, list_path),
    };
    if (!text_write_file(measured, list_path, errors) ||
        !measured_list_parse(&list, list_path, measured, arena, errors) ||
        !(asked.file = json_read_file(arena, kind->fabric_path, errors)) ||
        !fabric_read(asked.file, &begin.fabric, errors) ||
        !fabric_fit(&asked, &fitted, &fabric, errors))
        return false;
    write_cluster(device_path, ranks, &fabric, &cluster_text);
    return text_write_file(&cluster_text, arena_format(arena, "%s.cluster.json", stem),
                           errors) &&
           print_table(&fitted.cluster, &list, question->seed, report, errors);
}

bool
host_cluster_take(const struct host_cluster_question *question, struct text *report,
                  struct error_list *errors)
{
    const struct host_question *host = question->host;
    const struct kind_of_host *kind = is_of_gpus(host) ? &CUDA_GPUS : &PROCESSES;
    struct text measured = text_new(report->arena);
    struct error_list faults = {0};
    int ranks = 0;
    if (!measure(host, kind, &measured, &ranks, &faults) || ranks == 0) {
        fprintf(stderr, "stepcast calibrate: no cluster: %s\n",
                faults.items[0].what[0] ? faults.items[0].what : "nobody to talk to");
        return true;
    }
    return fit(question, kind, &measured, ranks, report, errors);
}
