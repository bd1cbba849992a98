/* For tests only: a cluster of ideal wires, and how long the flows of a collective take on it. */
#ifndef MODELS_CHECK_COLLECTIVE_FLOWS_H
#define MODELS_CHECK_COLLECTIVE_FLOWS_H

#include <check.h>
#include <math.h>

#include "hw/collective_flows.h"
#include "models/flow_times.h"
#include "sim/base/check_arena.h"

struct ideal_wires {
    struct arena *arena;
    struct error_list errors;
    struct cluster *cluster; /* 16 nodes of 8: 48e9 bytes/s a link, 50e9 a NIC, no latency */
    int64_t pieces;          /* of pipelines */
    double link_hop_s, nic_hop_s; /* of flows */
};

static inline void
ideal_wires_setup(struct ideal_wires *wires)
{
    *wires = (struct ideal_wires){.arena = check_arena_new(), .pieces = COLLECTIVE_FLOW_PIECES};
    const struct json *object = json_read_file(
        wires->arena, "configs/clusters/reference-rails-16.json", &wires->errors);
    wires->cluster = object ? cluster_read(object, wires->arena, &wires->errors) : NULL;
    ck_assert(wires->cluster != NULL);
}

/* When the last flow of a list ends. */
static inline double
ideal_list_s(struct ideal_wires *wires, const struct text *csv, uint64_t seed)
{
    const struct flow_list *list = flow_list_read(
        "flows.csv", csv, cluster_gpus(wires->cluster), wires->arena, &wires->errors);
    ck_assert_msg(list != NULL, "%s: %s", wires->errors.items[0].where,
                  wires->errors.items[0].what);
    const struct flow_times *times =
        flow_times_find(list,
                        &(struct flow_wires){.cluster = wires->cluster,
                                             .seed = seed,
                                             .link_hop_s = wires->link_hop_s,
                                             .nic_hop_s = wires->nic_hop_s},
                        wires->arena, &wires->errors);
    ck_assert_msg(times != NULL, "%s", wires->errors.items[0].what);
    double last_s = 0;
    for (size_t i = 0; i < list->count; i++)
        last_s = fmax(last_s, times->finish_s[i]);
    return last_s;
}

/* Of a collective, by the algorithm that it names. */
static inline double
ideal_flows_by_seed_s(struct ideal_wires *wires, const struct collective *collective,
                      uint64_t seed)
{
    struct text csv = text_new(wires->arena);
    ck_assert_msg(
        collective_flows_write(wires->cluster, collective, wires->pieces, &csv, &wires->errors),
        "%s", wires->errors.items[0].what);
    return ideal_list_s(wires, &csv, seed);
}

static inline double
ideal_flows_s(struct ideal_wires *wires, const struct collective *collective)
{
    return ideal_flows_by_seed_s(wires, collective, 1);
}

static inline struct collective_cost
ideal_cost(struct ideal_wires *wires, const struct collective *collective)
{
    struct collective_cost cost;
    ck_assert_msg(collective_cost(wires->cluster, collective, &cost, &wires->errors), "%s",
                  wires->errors.items[0].what);
    return cost;
}

#endif
