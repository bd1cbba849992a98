/* The numbers of a fabric that measured collectives tell. */
#include "validate/fabric_coefficient.h"

#include <string.h>

/* Wide: what lies outside is a slip of units, or no network that GPUs are joined by. */
static const double EFFICIENCY_LEAST = 0.01, LOSS_MOST = 0.1, TIME_MOST_S = 1e-3;
static const double OWN_PART_MOST = 10, FRACTION_LEAST = 0.01;

struct listing {
    struct coefficient_list list;
    const struct json *file;
    struct arena *arena;
};

/* Only where the file has it. */
static void
add(struct listing *listing, const char *path, double *value, double least, double most)
{
    const struct json *at = json_at(listing->file, path);
    if (!at || !json_member(at, "value"))
        return;
    struct coefficient_list *list = &listing->list;
    list->items = arena_grow(listing->arena, list->items, list->count, &list->capacity,
                             sizeof *list->items);
    struct coefficient *added = &list->items[list->count++];
    added->path = path;
    added->value = value;
    added->least = least;
    added->most = most;
    added->least_reason = least > 0 ? "a hundredth" : "none at all";
    added->most_reason = most == 1 ? "all of it" : "more is no network";
}

static void
add_protocol(struct listing *listing, struct fabric_protocol *protocol, int index)
{
    struct arena *arena = listing->arena;
    add(listing, arena_format(arena, "protocols.%d.launch_s", index), &protocol->launch_s, 0,
        TIME_MOST_S);
    add(listing, arena_format(arena, "protocols.%d.link_hop_s", index), &protocol->link_hop_s,
        0, TIME_MOST_S);
    add(listing, arena_format(arena, "protocols.%d.nic_hop_s", index), &protocol->nic_hop_s, 0,
        TIME_MOST_S);
    add(listing, arena_format(arena, "protocols.%d.bandwidth_fraction", index),
        &protocol->bandwidth_fraction, FRACTION_LEAST, 1);
    add(listing, arena_format(arena, "protocols.%d.fill_s", index), &protocol->fill_s, 0,
        TIME_MOST_S);
}

static void
add_tuning(struct listing *listing, struct fabric_tuning *tuning, const char *name)
{
    struct arena *arena = listing->arena;
    add(listing, arena_format(arena, "collectives.%s.launch_s", name), &tuning->launch_s, 0,
        TIME_MOST_S);
    add(listing, arena_format(arena, "collectives.%s.efficiency", name), &tuning->efficiency,
        EFFICIENCY_LEAST, 1);
    add(listing, arena_format(arena, "collectives.%s.own_part_ratio", name),
        &tuning->own_part_ratio, 0, OWN_PART_MOST);
}

struct coefficient_list
fabric_coefficient_list_of(struct cluster *cluster, const struct json *file,
                           struct arena *arena)
{
    struct fabric *fabric = &cluster->fabric;
    struct listing listing = {.file = file, .arena = arena};
    add(&listing, "node.efficiency", &fabric->link_efficiency, EFFICIENCY_LEAST, 1);
    add(&listing, "network.efficiency", &fabric->nic_efficiency, EFFICIENCY_LEAST, 1);
    for (int i = 0; i < fabric->protocol_count; i++)
        add_protocol(&listing, &fabric->protocols[i], i);
    add(&listing, "node.loss_per_further_link", &fabric->loss_per_further_link, 0, LOSS_MOST);
    for (int kind = 0; kind < COLLECTIVE_KIND_COUNT; kind++)
        add_tuning(&listing, &fabric->tunings[kind],
                   collective_kind_name((enum collective_kind)kind));
    return listing.list;
}

static const char LATENCY[] = "relative_sigma.latency", NODE[] = "relative_sigma.node",
                  NETWORK[] = "relative_sigma.network";

struct coefficient_sigma_list
fabric_sigma_list_of(struct cluster *cluster, struct arena *arena)
{
    struct fabric *fabric = &cluster->fabric;
    const struct coefficient_sigma sigmas[] = {
        {.path = LATENCY, .value = &fabric->latency_relative_sigma},
        {.path = NODE, .value = &fabric->node_relative_sigma},
        {.path = NETWORK, .value = &fabric->network_relative_sigma}};
    size_t count = sizeof sigmas / sizeof *sigmas;
    return (struct coefficient_sigma_list){arena_copy(arena, sigmas, sizeof sigmas), count,
                                           count};
}

bool
fabric_sigma_covers(const struct coefficient_sigma *sigma, const struct cluster *cluster,
                    const struct measured *measured)
{
    struct collective_cost cost;
    struct error_list errors = {0};
    if (!collective_cost(cluster, &measured->collective, &cost, &errors))
        return false;
    const char *path = cost.latency_s > cost.transfer_s ? LATENCY
                       : measured->collective.nodes > 1 ? NETWORK
                                                        : NODE;
    return strcmp(sigma->path, path) == 0;
}
