/* Answers a list of flows as `stepcast flows` does, but by SimGrid: simgrid_flows CLUSTER FLOWS
 * PLATFORM.xml, the last of which it writes. For .ci/simgrid, no part of the program.
 *
 * Each flow is an actor that sleeps until its start, waits for what it depends on, and sends.
 * SimGrid is told to share links max-min fair and nothing else: no TCP windows, no latency. */
#include <simgrid/actor.h>
#include <simgrid/engine.h>
#include <simgrid/host.h>
#include <simgrid/semaphore.h>
#include <stdio.h>
#include <stdlib.h>

#include "hw/flow_list.h"
#include "hw/route.h"

/* What all actors see: SimGrid hands them words only. */
static const struct flow_list *list;
static sg_sem_t *ended; /* by flow: one for each dependency that has ended */
static double *finish_s;
static struct {
    size_t *begins;
    size_t *flows;
} followers; /* by flow: those that depend on it */

static void
stop(void *context, size_t wanted_bytes)
{
    (void)context;
    (void)fprintf(stderr, "no memory for %zu bytes\n", wanted_bytes);
    exit(EXIT_FAILURE);
}

static void
fail(const struct error_list *errors)
{
    (void)fprintf(stderr, "%s: %s\n", errors->items[0].where, errors->items[0].what);
    exit(EXIT_FAILURE);
}

/* A route of no links where none leads there. */
static void
write_route(FILE *file, const struct cluster *cluster, long long from, long long to,
            struct route *route)
{
    route->count = 0;
    if (from == to || !route_find(cluster, from, to, 0, route))
        return;
    (void)fprintf(file, "<route src=\"r%lld\" dst=\"r%lld\" symmetrical=\"NO\">", from, to);
    for (int i = 0; i < route->count; i++)
        (void)fprintf(file, "<link_ctn id=\"l%lld\"/>", (long long)route->links[i]);
    (void)fprintf(file, "</route>\n");
}

static int
compare_links(const void *a, const void *b)
{
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

/* Each once. */
static void
write_links(FILE *file, const struct cluster *cluster, int64_t *links, size_t count)
{
    qsort(links, count, sizeof *links, compare_links);
    for (size_t i = 0; i < count; i++)
        if (i == 0 || links[i] != links[i - 1])
            (void)fprintf(file, "<link id=\"l%lld\" bandwidth=\"%.17gBps\" latency=\"0s\"/>\n",
                          (long long)links[i], route_link_bytes_per_s(cluster, links[i]));
}

/* SimGrid wants hosts, then links, then routes. */
static void
write_platform(const char *path, const struct cluster *cluster, struct arena *arena)
{
    FILE *file = fopen(path, "w"), *routes = tmpfile();
    if (!file || !routes)
        exit(EXIT_FAILURE);
    (void)fprintf(file, "<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM "
                        "\"https://simgrid.org/simgrid.dtd\">\n<platform version=\"4.1\">\n"
                        "<zone id=\"cluster\" routing=\"Full\">\n");
    int64_t *links = NULL;
    size_t count = 0, capacity = 0;
    for (long long from = 0; from < cluster_gpus(cluster); from++) {
        (void)fprintf(file, "<host id=\"r%lld\" speed=\"1Gf\"/>\n", from);
        for (long long to = 0; to < cluster_gpus(cluster); to++) {
            struct route route;
            write_route(routes, cluster, from, to, &route);
            for (int i = 0; i < route.count; i++) {
                links = arena_grow(arena, links, count, &capacity, sizeof *links);
                links[count++] = route.links[i];
            }
        }
    }
    write_links(file, cluster, links, count);
    rewind(routes);
    for (int c = getc(routes); c != EOF; c = getc(routes))
        (void)putc(c, file);
    (void)fprintf(file, "</zone>\n</platform>\n");
    if (fclose(file) != 0 || fclose(routes) != 0)
        exit(EXIT_FAILURE);
}

static sg_host_t
host_of(uint32_t rank, struct arena *arena)
{
    return sg_host_by_name(arena_format(arena, "r%u", rank));
}

/* The actor of one flow; its words are its name and its place in the list. */
static void
run_flow(int count, char **words)
{
    (void)count;
    size_t index = strtoul(words[1], NULL, 10);
    const struct flow *flow = &list->flows[index];
    struct arena *arena = arena_new(&(struct arena_policy){.out_of_memory = stop});
    sg_actor_sleep_until(flow->start_s);
    for (uint32_t d = flow->dependency_begin; d < flow[1].dependency_begin; d++)
        sg_sem_acquire(ended[index]);
    if (flow->bytes > 0)
        sg_host_sendto(host_of(flow->from, arena), host_of(flow->to, arena), flow->bytes);
    finish_s[index] = simgrid_get_clock();
    for (size_t f = followers.begins[index]; f < followers.begins[index + 1]; f++)
        sg_sem_release(ended[followers.flows[f]]);
    arena_free(arena);
}

static void
find_followers(struct arena *arena)
{
    size_t count = list->flows[list->count].dependency_begin;
    followers.begins = arena_alloc(arena, list->count + 2, sizeof *followers.begins);
    followers.flows = arena_alloc(arena, count, sizeof *followers.flows);
    for (size_t d = 0; d < count; d++)
        followers.begins[list->dependencies[d] + 2]++;
    for (size_t i = 2; i < list->count + 2; i++)
        followers.begins[i] += followers.begins[i - 1];
    for (size_t i = 0; i < list->count; i++)
        for (uint32_t d = list->flows[i].dependency_begin;
             d < list->flows[i + 1].dependency_begin; d++)
            followers.flows[followers.begins[list->dependencies[d] + 1]++] = i;
}

static void
start_actors(struct arena *arena)
{
    ended = arena_alloc(arena, list->count, sizeof *ended);
    finish_s = arena_alloc(arena, list->count, sizeof *finish_s);
    find_followers(arena);
    for (size_t i = 0; i < list->count; i++) {
        const char *words[] = {"flow", arena_format(arena, "%zu", i), NULL};
        ended[i] = sg_sem_init(0);
        (void)sg_actor_create_("flow", host_of(list->flows[i].from, arena), run_flow, 2, words);
    }
}

/* Links shared max-min fair, to the last digit, and nothing else. */
static void
start_simgrid(const char *platform)
{
    static char options[][40] = {
        "simgrid_flows",
        "--cfg=network/model:CM02",
        "--cfg=network/crosstraffic:0",
        "--cfg=network/TCP-gamma:0",
        "--cfg=network/weight-S:0",
        "--cfg=network/latency-factor:1",
        "--cfg=network/bandwidth-factor:1",
        "--cfg=surf/precision:1e-14",
        "--cfg=maxmin/precision:1e-9",
        "--cfg=maxmin/concurrency-limit:-1",
        "--cfg=contexts/stack-size:64",
        "--log=root.thresh:error",
    };
    enum { OPTIONS = sizeof options / sizeof *options };
    char *words[OPTIONS + 1] = {NULL};
    for (int i = 0; i < OPTIONS; i++)
        words[i] = options[i];
    int count = OPTIONS;
    simgrid_init(&count, words);
    simgrid_load_platform(platform);
}

int
main(int count, char **words)
{
    if (count != 4)
        return EXIT_FAILURE;
    struct arena *arena = arena_new(&(struct arena_policy){.out_of_memory = stop});
    struct error_list errors = {0};
    const struct json *object = json_read_file(arena, words[1], &errors);
    const struct cluster *cluster = object ? cluster_read(object, arena, &errors) : NULL;
    struct text text = text_new(arena);
    if (!cluster || !text_read_file(&text, words[2], UINT32_MAX, &errors))
        fail(&errors);
    list = flow_list_read(words[2], &text, cluster_gpus(cluster), arena, &errors);
    if (!list)
        fail(&errors);
    write_platform(words[3], cluster, arena);
    start_simgrid(words[3]);
    start_actors(arena);
    simgrid_run();
    (void)printf("id,finish_s\n");
    for (size_t i = 0; i < list->count; i++) {
        size_t length;
        const char *id = flow_list_id(list, i, &length);
        (void)printf("%.*s,%.15g\n", (int)length, id, finish_s[i]);
    }
    return EXIT_SUCCESS;
}
