/* Contention: drains and resources as a graph of links, walked from what has changed.
 *
 *      drain 7 ─ link ─ member ─ resource 2      the links of a drain stand side by side, and
 *              └ link ─ member ─ resource 3      so do the members of a resource
 *
 * Each resource keeps what its drains ask for at their top rates. As long as that fits nothing
 * else happens: a join or a leave costs a few additions a link. A drain that has all of its
 * resources to itself, as four of five kernels have, is not even linked to them until another
 * comes.
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
    uint32_t lone;   /* the drain that has it to itself and is no member yet, or NO_DRAIN */
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
    const struct task_demand *demand;
    uint32_t resource_base;
    uint32_t first_link; /* NO_LINK: it is alone on its resources, and has no pace yet */
    uint32_t link_count; /* of one that has left: the next free drain, or NO_DRAIN */
    bool is_visited;
};

struct contention {
    const struct task_graph *graph;
    struct arena *arena;
    struct sharing *sharing;
    struct supply *supplies;
    size_t supply_count;
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
    bool group_is_short;    /* some of these are */
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
    contention->supply_count = resource_count;
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
        contention->supplies[i].lone = NO_DRAIN;
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

static uint32_t
resource_of(const struct contention *contention, const struct drain *drain, uint32_t usage)
{
    uint32_t resource = drain->resource_base + drain->demand->usages[usage].resource;
    assert(resource >= drain->resource_base && resource < contention->supply_count);
    (void)contention;
    return resource;
}

/* Such a drain does not make it short by itself. */
static bool
has_room_for(const struct supply *supply, double asked_per_s)
{
    return asked_per_s <= supply->capacity_per_s * (1 + SHARING_TOLERANCE);
}

/* Nobody has anything of it. */
static bool
is_free(const struct supply *supply)
{
    return supply->lone == NO_DRAIN && supply->member_count == 0 && !supply->is_changed &&
           !supply->is_shared;
}

static void
leave_alone(struct contention *contention, const struct drain *drain, size_t usages)
{
    for (uint32_t i = 0; i < usages; i++)
        contention->supplies[resource_of(contention, drain, i)].lone = NO_DRAIN;
}

/* Takes all of its resources for itself, if they are free; not if it names one of them twice. */
static bool
take_alone(struct contention *contention, uint32_t index)
{
    const struct drain *drain = &contention->drains[index];
    const struct task_demand *demand = drain->demand;
    for (uint32_t i = 0; i < demand->usage_count; i++) {
        struct supply *supply = &contention->supplies[resource_of(contention, drain, i)];
        double asked_per_s = demand->usages[i].amount * demand->top_rate_per_s;
        if (!is_free(supply) || !has_room_for(supply, asked_per_s)) {
            leave_alone(contention, drain, i);
            return false;
        }
        supply->lone = index;
    }
    return true;
}

/* Links a drain to its resources, of which some may be short from now on. */
static void
link_drain(struct contention *contention, uint32_t index)
{
    struct drain *drain = &contention->drains[index];
    const struct task_demand *demand = drain->demand;
    struct pace *pace = &contention->paces[index];
    *pace = (struct pace){.top_rate_per_s = demand->top_rate_per_s, .weight = demand->weight};
    set_rate(pace, demand->top_rate_per_s);
    drain->first_link = take_links(contention, demand->usage_count);
    drain->link_count = (uint32_t)demand->usage_count;
    for (uint32_t i = 0; i < demand->usage_count; i++) {
        uint32_t resource = resource_of(contention, drain, i);
        struct supply *supply = &contention->supplies[resource];
        insert_member(contention, resource,
                      (struct member){demand->usages[i].amount, index, drain->first_link + i});
        supply->asked_per_s += demand->usages[i].amount * demand->top_rate_per_s;
        if (supply_is_short(supply))
            note_change(contention, resource, 0);
    }
}

/* Those who had the joiner's resources to themselves have no longer. */
static void
link_lone_ones(struct contention *contention, const struct drain *joiner)
{
    for (uint32_t i = 0; i < joiner->demand->usage_count; i++) {
        uint32_t lone = contention->supplies[resource_of(contention, joiner, i)].lone;
        if (lone == NO_DRAIN)
            continue;
        const struct drain *drain = &contention->drains[lone];
        leave_alone(contention, drain, drain->demand->usage_count);
        link_drain(contention, lone);
    }
}

uint32_t
contention_join(struct contention *contention, const struct task_demand *demand,
                uint32_t resource_base)
{
    uint32_t index = take_drain(contention);
    struct drain *drain = &contention->drains[index];
    *drain = (struct drain){.demand = demand, .resource_base = resource_base};
    if (take_alone(contention, index))
        return index;
    link_lone_ones(contention, drain);
    link_drain(contention, index);
    return index;
}

bool
contention_replace(struct contention *contention, uint32_t drain,
                   const struct task_demand *demand, uint32_t resource_base)
{
    struct drain *leaver = &contention->drains[drain];
    const struct task_demand *before = leaver->demand;
    if (leaver->first_link != NO_LINK || contention->changed_count > 0 ||
        leaver->resource_base != resource_base || before->usage_count != demand->usage_count)
        return false;
    for (size_t i = 0; i < demand->usage_count; i++) {
        uint32_t resource = demand->usages[i].resource;
        double asked_per_s = demand->usages[i].amount * demand->top_rate_per_s;
        if (resource != before->usages[i].resource ||
            !has_room_for(&contention->supplies[resource_base + resource], asked_per_s))
            return false;
    }
    leaver->demand = demand;
    return true;
}

static void
unlink_drain(struct contention *contention, uint32_t drain)
{
    const struct drain *leaver = &contention->drains[drain];
    const struct pace *pace = &contention->paces[drain];
    for (uint32_t i = 0; i < leaver->link_count; i++) {
        struct link link = contention->links[leaver->first_link + i];
        struct supply *supply = &contention->supplies[link.resource];
        remove_member(contention, link);
        supply->asked_per_s -= link.amount * pace->top_rate_per_s;
        if (supply->member_count == 0) {
            supply->asked_per_s = 0; /* ends what rounding has left */
        }
        if (supply->is_shared)
            note_change(contention, link.resource, pace->level);
    }
    give_links_back(contention, leaver->first_link, leaver->link_count);
}

void
contention_leave(struct contention *contention, uint32_t drain)
{
    struct drain *leaver = &contention->drains[drain];
    if (leaver->first_link == NO_LINK) {
        leave_alone(contention, leaver, leaver->demand->usage_count);
    } else {
        unlink_drain(contention, drain);
    }
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
    if (supply->visit != UNVISITED)
        return;
    if (supply->is_changed) {
        supply->is_changed = false;
        add_up_anew(contention, supply);
    }
    if (!supply_is_short(supply) && !supply->is_shared) {
        return;
    }
    supply->is_shared = supply_is_short(supply);
    contention->group_is_short |= supply->is_shared;
    supply->visit = sharing_add_resource(contention->sharing, supply->capacity_per_s);
    contention->group_resources[contention->group_resource_count++] = resource;
}

/* Takes a drain into the group, and those of its resources that belong there. */
static void
visit_drain(struct contention *contention, uint32_t index)
{
    struct drain *drain = &contention->drains[index];
    if (drain->is_visited)
        return;
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
    contention->group_is_short = false;
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
    for (size_t i = 0; i < contention->group_drain_count; i++)
        contention->drains[contention->group_drains[i]].is_visited = false;
    for (size_t i = 0; i < contention->group_resource_count; i++)
        contention->supplies[contention->group_resources[i]].visit = UNVISITED;
}

/* Of what is short no longer, each gets its top rate: half of all groups. */
static void
rate_group(struct contention *contention)
{
    if (contention->group_is_short)
        sharing_solve(contention->sharing);
    for (uint32_t i = 0; i < contention->group_drain_count; i++) {
        struct pace *pace = &contention->paces[contention->group_drains[i]];
        double rate_per_s = contention->group_is_short
                                ? sharing_rate_per_s(contention->sharing, i)
                                : pace->top_rate_per_s;
        contention->group_rates_per_s[i] = rate_per_s;
        set_rate(pace, rate_per_s);
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
