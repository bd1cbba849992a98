/* Paths of flows: routes, and a table from the cluster's link numbers to those of this list. */
#include "models/flow_paths.h"

#include <math.h>
#include <string.h>

#include "hw/route.h"
#include "sim/base/hash.h"

static const uint32_t NONE = UINT32_MAX;

/* Open addressing; grows when half full. */
struct numbering {
    uint32_t *table; /* numbers, or NONE */
    size_t mask;
    int64_t *links; /* by number: the cluster's */
    size_t count, capacity;
    struct arena *arena;
};

static uint32_t *
find_entry(const struct numbering *numbering, int64_t link)
{
    size_t at = hash_mixed((uint64_t)link) & numbering->mask;
    while (numbering->table[at] != NONE && numbering->links[numbering->table[at]] != link)
        at = (at + 1) & numbering->mask;
    return &numbering->table[at];
}

static void
make_table(struct numbering *numbering, size_t size)
{
    numbering->table = arena_alloc(numbering->arena, size, sizeof *numbering->table);
    numbering->mask = size - 1;
    memset(numbering->table, 0xFF, size * sizeof *numbering->table);
    for (uint32_t i = 0; i < numbering->count; i++)
        *find_entry(numbering, numbering->links[i]) = i;
}

static uint32_t
number_of(struct numbering *numbering, int64_t link)
{
    uint32_t *entry = find_entry(numbering, link);
    if (*entry != NONE)
        return *entry;
    numbering->links = arena_grow(numbering->arena, numbering->links, numbering->count,
                                  &numbering->capacity, sizeof *numbering->links);
    uint32_t number = (uint32_t)numbering->count++;
    numbering->links[number] = link;
    *entry = number;
    if (2 * numbering->count > numbering->mask)
        make_table(numbering, 2 * (numbering->mask + 1));
    return number;
}

/* The links of all flows one after the other, filled as the flows are gone through. */
struct tracks {
    uint32_t *begins;
    uint32_t *links;
    size_t count, capacity;
};

static bool
add_flow(struct tracks *tracks, struct numbering *numbering, const struct cluster *cluster,
         const struct flow *flow, uint64_t draw)
{
    struct route route;
    if (!route_find(cluster, flow->from, flow->to, draw, &route))
        return false;
    for (int i = 0; i < route.count; i++) {
        tracks->links = arena_grow(numbering->arena, tracks->links, tracks->count,
                                   &tracks->capacity, sizeof *tracks->links);
        tracks->links[tracks->count++] = number_of(numbering, route.links[i]);
    }
    return true;
}

static bool
fill_tracks(struct tracks *tracks, struct numbering *numbering, const struct flow_list *list,
            const struct flow_wires *wires, struct error_list *errors)
{
    const struct cluster *cluster = wires->cluster;
    bool is_right = true;
    for (size_t i = 0; i < list->count && errors->count < ERROR_LIST_MAX; i++) {
        const struct flow *flow = &list->flows[i];
        tracks->begins[i] = (uint32_t)tracks->count;
        if (add_flow(tracks, numbering, cluster, flow,
                     hash_mixed(wires->seed ^ hash_mixed(i + 1))))
            continue;
        is_right = error_add(errors, ERROR_INFEASIBLE,
                             flow_list_where(list, i, numbering->arena), "no route: %s",
                             route_refusal(cluster, flow->from, flow->to, numbering->arena));
    }
    tracks->begins[list->count] = (uint32_t)tracks->count;
    return is_right;
}

/* A link to the GPU of the right rail and then the network are a hop each. */
static double
delay_s(const struct flow_wires *wires, const struct flow *flow)
{
    uint32_t g = (uint32_t)wires->cluster->gpus_per_node;
    if (flow->from / g == flow->to / g)
        return wires->link_hop_s;
    bool is_forwarded = flow->from % g != flow->to % g &&
                        wires->cluster->fabric.network_topology == NETWORK_RAILS_ONLY;
    return wires->nic_hop_s + (is_forwarded ? wires->link_hop_s : 0);
}

static const double *
find_delays(const struct flow_list *list, const struct flow_wires *wires, struct arena *arena)
{
    if (wires->link_hop_s == 0 && wires->nic_hop_s == 0)
        return NULL;
    double *delays_s = arena_alloc(arena, list->count, sizeof *delays_s);
    for (size_t i = 0; i < list->count; i++)
        delays_s[i] = delay_s(wires, &list->flows[i]);
    return delays_s;
}

struct flow_paths *
flow_paths_find(const struct flow_list *list, const struct flow_wires *wires,
                struct arena *arena, struct error_list *errors)
{
    enum { FIRST_TABLE = 64 };
    struct numbering numbering = {.arena = arena};
    struct tracks tracks = {0};
    make_table(&numbering, FIRST_TABLE);
    tracks.begins = arena_alloc(arena, list->count + 1, sizeof *tracks.begins);
    if (!fill_tracks(&tracks, &numbering, list, wires, errors))
        return NULL;
    double *bytes_per_s = arena_alloc(arena, numbering.count, sizeof *bytes_per_s);
    uint32_t *flow_counts = arena_alloc(arena, numbering.count, sizeof *flow_counts);
    for (size_t i = 0; i < numbering.count; i++)
        bytes_per_s[i] = route_link_bytes_per_s(wires->cluster, numbering.links[i]);
    for (size_t i = 0; i < tracks.count; i++)
        flow_counts[tracks.links[i]]++;
    struct flow_paths *paths = arena_alloc(arena, 1, sizeof *paths);
    *paths =
        (struct flow_paths){tracks.begins, tracks.links,    bytes_per_s,
                            flow_counts,   numbering.count, find_delays(list, wires, arena)};
    return paths;
}

double
flow_paths_top_bytes_per_s(const struct flow_paths *paths, size_t flow)
{
    double top_bytes_per_s = HUGE_VAL;
    for (uint32_t i = paths->begins[flow]; i < paths->begins[flow + 1]; i++)
        top_bytes_per_s = fmin(top_bytes_per_s, paths->bytes_per_s[paths->links[i]]);
    return top_bytes_per_s;
}
