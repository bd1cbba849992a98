/* Contention: drains and resources as a graph of links, walked from what has changed.
 *
 *      drain 7 ─ link ─ member ─ resource 2      the links of a drain stand side by side, and
 *              └ link ─ member ─ resource 3      so do the members of a resource
 *
 * Each resource keeps what its drains ask for at their top rates. As long as that fits nothing
 * else happens: a join or a leave costs a few additions a link.
 *
 * Filling (sharing.h) goes the same way with and without a drain until the level at which that
 * drain stopped. So when drains only leave, those that stopped at a lower level keep their rates:
 * they are not walked, and what they take is off the capacity that the others share. */
#include "sim/engine/contention.h"

#include <assert.h>
#include <math.h>

#include "sim/engine/sharing.h"

enum { NO_LINK = 0 }; /* links are counted from 1 */

static const uint32_t UNVISITED = UINT32_MAX;
static const uint32_t NO_DRAIN = UINT32_MAX;

/* Relative: levels this near to the one from which all is filled anew are filled anew too. */
static const double LEVEL_MARGIN = 1e-9;

/* A drain as its resource sees it. */
struct member {
    double amount; /* of the resource per unit of the drain's rate */
    uint32_t drain;
    uint32_t link;
};

struct supply {
    double capacity_per_s;
    double asked_per_s; /* by its drains, if all were at their top rates */
    struct member *members;
    size_t member_count, member_capacity;
    uint32_t visit;  /* its number in the group that is being rated, or UNVISITED */
    bool is_changed; /* waits in `changed` */
    bool is_shared;  /* was short when last rated: drains may be below their top rates */
};

/* A resource as its drain sees it. */
struct link {
    uint32_t resource;
    uint32_t place; /* among the resource's members; of a free link: the next one's number */
    double amount;
};

/* Apart from what else is known of a drain: read for every member of a resource that is rated. */
struct pace {
    double rate_per_s;
    double level; /* rate over weight */
    double top_rate_per_s;
    double weight;
};

struct drain {
    uint32_t first_link;
    uint32_t link_count; /* of one that has left: the next free drain, or NO_DRAIN */
    bool is_visited;
};

struct contention {
    const struct task_graph *graph;
    struct arena *arena;
    struct sharing *sharing;
    struct supply *supplies;
    struct drain *drains; /* those that have left are used again */
    size_t drain_count, drain_capacity;
    struct pace *paces; /* by drain */
    size_t pace_capacity;
    uint32_t free_drain; /* or NO_DRAIN */
    struct link *links;
    size_t link_count, link_capacity;
    uint32_t *free_links; /* by length: runs of links to use again, chained by `place` */
    size_t free_capacity;
    uint32_t *changed; /* resources, in the order in which they changed */
    size_t changed_count, settled_count;
    double changed_level; /* below it rates stay as they are */
    uint32_t *group_resources;
    size_t group_resource_count;
    uint32_t *group_drains; /* like the next, with room for all drains */
    size_t group_drain_capacity;
    double *group_rates_per_s;
    size_t group_rate_capacity;
    size_t group_drain_count;
};

struct contention *
contention_new(const struct task_graph *graph, struct arena *arena)
{
    struct contention *contention = arena_alloc(arena, 1, sizeof *contention);
    size_t resource_count = task_graph_resource_count(graph);
    contention->graph = graph;
    contention->arena = arena;
    contention->sharing = sharing_new(arena);
    contention->supplies = arena_alloc(arena, resource_count, sizeof *contention->supplies);
    contention->changed = arena_alloc(arena, resource_count, sizeof *contention->changed);
    contention->group_resources =
        arena_alloc(arena, resource_count, sizeof *contention->group_resources);
    contention->changed_level = HUGE_VAL;
    contention->free_drain = NO_DRAIN;
    contention->link_count = NO_LINK + 1;
    for (uint32_t i = 0; i < resource_count; i++) {
        contention->supplies[i].capacity_per_s = task_graph_resource_capacity_per_s(graph, i);
        contention->supplies[i].visit = UNVISITED;
    }
    return contention;
}

static void
set_rate(struct pace *pace, double rate_per_s)
{
    pace->rate_per_s = rate_per_s;
    pace->level = rate_per_s / pace->weight;
}

static bool
supply_is_short(const struct supply *supply)
{
    return supply->asked_per_s > supply->capacity_per_s * (1 + SHARING_TOLERANCE);
}

/* From that level on the resource's drains may get other rates. */
static void
note_change(struct contention *contention, uint32_t resource, double level)
{
    struct supply *supply = &contention->supplies[resource];
    contention->changed_level = fmin(contention->changed_level, level * (1 - LEVEL_MARGIN));
    if (!supply->is_changed) {
        supply->is_changed = true;
        contention->changed[contention->changed_count++] = resource;
    }
}

/* The first of `length` links side by side. */
static uint32_t
take_links(struct contention *contention, size_t length)
{
    contention->free_links =
        arena_grow(contention->arena, contention->free_links, length,
                   &contention->free_capacity, sizeof *contention->free_links);
    uint32_t first = contention->free_links[length];
    if (first != NO_LINK) {
        contention->free_links[length] = contention->links[first].place;
        return first;
    }
    first = (uint32_t)contention->link_count;
    contention->link_count += length;
    assert(contention->link_count <= UINT32_MAX);
    contention->links = arena_grow(contention->arena, contention->links, contention->link_count,
                                   &contention->link_capacity, sizeof *contention->links);
    return first;
}

static void
give_links_back(struct contention *contention, uint32_t first, size_t length)
{
    contention->links[first].place = contention->free_links[length];
    contention->free_links[length] = first;
}

static void
insert_member(struct contention *contention, uint32_t resource, struct member member)
{
    struct supply *supply = &contention->supplies[resource];
    supply->members = arena_grow(contention->arena, supply->members, supply->member_count,
                                 &supply->member_capacity, sizeof *supply->members);
    contention->links[member.link] =
        (struct link){resource, (uint32_t)supply->member_count, member.amount};
    supply->members[supply->member_count++] = member;
}

/* The last member takes its place. */
static void
remove_member(struct contention *contention, struct link link)
{
    struct supply *supply = &contention->supplies[link.resource];
    struct member last = supply->members[--supply->member_count];
    supply->members[link.place] = last;
    contention->links[last.link].place = link.place;
}

static uint32_t
take_drain(struct contention *contention)
{
    uint32_t drain = contention->free_drain;
    if (drain != NO_DRAIN) {
        contention->free_drain = contention->drains[drain].link_count;
        return drain;
    }
    struct arena *arena = contention->arena;
    size_t count = contention->drain_count++;
    contention->drains = arena_grow(arena, contention->drains, count,
                                    &contention->drain_capacity, sizeof *contention->drains);
    contention->paces = arena_grow(arena, contention->paces, count, &contention->pace_capacity,
                                   sizeof *contention->paces);
    contention->group_drains =
        arena_grow(arena, contention->group_drains, count, &contention->group_drain_capacity,
                   sizeof *contention->group_drains);
    contention->group_rates_per_s =
        arena_grow(arena, contention->group_rates_per_s, count,
                   &contention->group_rate_capacity, sizeof *contention->group_rates_per_s);
    return (uint32_t)count;
}

uint32_t
contention_join(struct contention *contention, const struct task_demand *demand,
                uint32_t resource_base)
{
    uint32_t drain = take_drain(contention);
    uint32_t first = take_links(contention, demand->usage_count);
    contention->drains[drain] =
        (struct drain){.first_link = first, .link_count = (uint32_t)demand->usage_count};
    contention->paces[drain] =
        (struct pace){.top_rate_per_s = demand->top_rate_per_s, .weight = demand->weight};
    set_rate(&contention->paces[drain], demand->top_rate_per_s);
    for (uint32_t i = 0; i < demand->usage_count; i++) {
        uint32_t resource = resource_base + demand->usages[i].resource;
        assert(resource >= resource_base &&
               resource < task_graph_resource_count(contention->graph));
        struct supply *supply = &contention->supplies[resource];
        insert_member(contention, resource,
                      (struct member){demand->usages[i].amount, drain, first + i});
        supply->asked_per_s += demand->usages[i].amount * demand->top_rate_per_s;
        if (supply_is_short(supply)) {
            note_change(contention, resource, 0);
        }
    }
    return drain;
}

void
contention_leave(struct contention *contention, uint32_t drain)
{
    struct drain *leaver = &contention->drains[drain];
    const struct pace *pace = &contention->paces[drain];
    for (uint32_t i = 0; i < leaver->link_count; i++) {
        struct link link = contention->links[leaver->first_link + i];
        struct supply *supply = &contention->supplies[link.resource];
        remove_member(contention, link);
        supply->asked_per_s -= link.amount * pace->top_rate_per_s;
        if (supply->member_count == 0) {
            supply->asked_per_s = 0; /* ends what rounding has left */
        }
        if (supply->is_shared) {
            note_change(contention, link.resource, pace->level);
        }
    }
    give_links_back(contention, leaver->first_link, leaver->link_count);
    leaver->link_count = contention->free_drain;
    contention->free_drain = drain;
}

/* Adds up anew what is asked of a resource: joins and leaves leave rounding behind. */
static void
add_up_anew(const struct contention *contention, struct supply *supply)
{
    supply->asked_per_s = 0;
    for (size_t i = 0; i < supply->member_count; i++) {
        const struct member *member = &supply->members[i];
        supply->asked_per_s += member->amount * contention->paces[member->drain].top_rate_per_s;
    }
}

/* Takes a resource into the group if it holds, or until now held, anyone back. */
static void
visit_resource(struct contention *contention, uint32_t resource)
{
    struct supply *supply = &contention->supplies[resource];
    if (supply->visit != UNVISITED) {
        return;
    }
    if (supply->is_changed) {
        supply->is_changed = false;
        add_up_anew(contention, supply);
    }
    if (!supply_is_short(supply) && !supply->is_shared) {
        return;
    }
    supply->is_shared = supply_is_short(supply);
    supply->visit = sharing_add_resource(contention->sharing, supply->capacity_per_s);
    contention->group_resources[contention->group_resource_count++] = resource;
}

/* Takes a drain into the group, and those of its resources that belong there. */
static void
visit_drain(struct contention *contention, uint32_t index)
{
    struct drain *drain = &contention->drains[index];
    if (drain->is_visited) {
        return;
    }
    drain->is_visited = true;
    contention->group_drains[contention->group_drain_count++] = index;
    const struct pace *pace = &contention->paces[index];
    (void)sharing_add_taker(contention->sharing, pace->top_rate_per_s, pace->weight);
    for (uint32_t i = 0; i < drain->link_count; i++) {
        const struct link *link = &contention->links[drain->first_link + i];
        visit_resource(contention, link->resource);
        uint32_t visit = contention->supplies[link->resource].visit;
        if (visit != UNVISITED) {
            sharing_add_usage(contention->sharing, visit, link->amount);
        }
    }
}

/* Visits the drains of a resource that may change; returns what they may have together. */
static double
visit_drains_of(struct contention *contention, const struct supply *supply)
{
    double left_per_s = supply->capacity_per_s;
    for (size_t i = 0; i < supply->member_count; i++) {
        const struct member *member = &supply->members[i];
        const struct pace *pace = &contention->paces[member->drain];
        if (pace->level >= contention->changed_level) {
            visit_drain(contention, member->drain);
        } else {
            left_per_s -= member->amount * pace->rate_per_s;
        }
    }
    return left_per_s;
}

static void
gather_group(struct contention *contention, uint32_t root)
{
    contention->group_resource_count = 0;
    contention->group_drain_count = 0;
    sharing_clear(contention->sharing, contention->changed_level);
    visit_resource(contention, root);
    for (uint32_t at = 0; at < contention->group_resource_count; at++) {
        const struct supply *supply = &contention->supplies[contention->group_resources[at]];
        sharing_set_capacity(contention->sharing, at, visit_drains_of(contention, supply));
    }
}

static void
forget_visits(struct contention *contention)
{
    for (size_t i = 0; i < contention->group_drain_count; i++) {
        contention->drains[contention->group_drains[i]].is_visited = false;
    }
    for (size_t i = 0; i < contention->group_resource_count; i++) {
        contention->supplies[contention->group_resources[i]].visit = UNVISITED;
    }
}

static void
rate_group(struct contention *contention)
{
    sharing_solve(contention->sharing);
    for (uint32_t i = 0; i < contention->group_drain_count; i++) {
        double rate_per_s = sharing_rate_per_s(contention->sharing, i);
        contention->group_rates_per_s[i] = rate_per_s;
        set_rate(&contention->paces[contention->group_drains[i]], rate_per_s);
    }
}

bool
contention_settle(struct contention *contention, struct contention_group *group)
{
    while (contention->settled_count < contention->changed_count) {
        uint32_t root = contention->changed[contention->settled_count++];
        if (!contention->supplies[root].is_changed) {
            continue; /* was part of an earlier group */
        }
        gather_group(contention, root);
        rate_group(contention);
        forget_visits(contention);
        if (contention->group_drain_count == 0) {
            continue; /* short for a moment only, or left by all */
        }
        *group =
            (struct contention_group){contention->group_drains, contention->group_rates_per_s,
                                      contention->group_drain_count};
        return true;
    }
    contention->settled_count = 0;
    contention->changed_count = 0;
    contention->changed_level = HUGE_VAL;
    return false;
}
