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

#include "sim/engine/contention_state.h"

/* Both name the same resources, each once. */
static bool
takes_the_same(const struct task_demand *a, const struct task_demand *b)
{
    bool is_same = a->usage_count == b->usage_count;
    for (size_t i = 0; i < a->usage_count && is_same; i++)
        is_same = a->usages[i].resource == b->usages[i].resource &&
                  (i == 0 || a->usages[i].resource > a->usages[i - 1].resource);
    return is_same;
}

/* Sorts that are told apart: on one rank there are kernels and a few kinds of collectives. */
enum { SORTS_MAX = 8 };

/* Of each demand; the first of a sort stands for it. */
static const struct need *
needs_new(const struct task_graph *graph, struct arena *arena)
{
    const struct task_demand *demands = task_graph_demands(graph), *sorts[SORTS_MAX];
    size_t count = task_graph_demand_count(graph), sort_count = 0;
    struct need *needs = arena_alloc(arena, count, sizeof *needs);
    for (size_t i = 0; i < count; i++) {
        const struct task_demand *demand = &demands[i];
        for (size_t u = 0; u < demand->usage_count; u++) {
            double asked_per_s = demand->usages[u].amount * demand->top_rate_per_s;
            if (asked_per_s > needs[i].most_asked_per_s)
                needs[i].most_asked_per_s = asked_per_s;
        }
        uint32_t sort = 0;
        while (sort < sort_count && !takes_the_same(sorts[sort], demand))
            sort++;
        if (sort == sort_count && sort < SORTS_MAX && takes_the_same(demand, demand))
            sorts[sort_count++] = demand;
        needs[i].sort = sort < sort_count ? sort : NO_SORT;
    }
    return needs;
}

struct contention *
contention_new(const struct task_graph *graph, struct arena *arena)
{
    struct contention *contention = arena_alloc(arena, 1, sizeof *contention);
    size_t resource_count = task_graph_resource_count(graph);
    contention->demands = task_graph_demands(graph);
    contention->needs = needs_new(graph, arena);
    contention->least_limit_per_s = HUGE_VAL;
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
        double capacity_per_s = task_graph_resource_capacity_per_s(graph, i);
        contention->supplies[i] =
            (struct supply){.capacity_per_s = capacity_per_s,
                            .limit_per_s = capacity_per_s * (1 + SHARING_TOLERANCE),
                            .visit = UNVISITED,
                            .lone = NO_DRAIN};
        contention->least_limit_per_s =
            fmin(contention->least_limit_per_s, contention->supplies[i].limit_per_s);
    }
    return contention;
}

/* From that level on the resource's drains may get other rates. */
static void
note_change(struct contention *contention, uint32_t resource, double level)
{
    struct supply *supply = &contention->supplies[resource];
    double from_level = level * (1 - LEVEL_MARGIN);
    if (from_level < contention->changed_level)
        contention->changed_level = from_level;
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
    return asked_per_s <= supply->limit_per_s;
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

static struct pace
top_pace(const struct task_demand *demand)
{
    struct pace pace = {.top_rate_per_s = demand->top_rate_per_s, .weight = demand->weight};
    pace_set_rate(&pace, demand->top_rate_per_s);
    return pace;
}

/* So much more is asked of a resource, which may be short from now on. */
static void
ask(struct contention *contention, uint32_t resource, double more_per_s)
{
    struct supply *supply = &contention->supplies[resource];
    supply->asked_per_s += more_per_s;
    if (supply_is_short(supply))
        note_change(contention, resource, 0);
}

/* What a drain has asked of a resource is asked for no longer; so many members stay. */
static void
give_up(struct contention *contention, const struct link *link, const struct pace *pace,
        size_t members_left)
{
    struct supply *supply = &contention->supplies[link->resource];
    supply->asked_per_s -= link->amount * pace->top_rate_per_s;
    if (members_left == 0)
        supply->asked_per_s = 0; /* ends what rounding has left */
    if (supply->is_shared)
        note_change(contention, link->resource, pace->level);
}

/* Links a drain to its resources, of which some may be short from now on. */
static void
link_drain(struct contention *contention, uint32_t index)
{
    struct drain *drain = &contention->drains[index];
    const struct task_demand *demand = drain->demand;
    contention->paces[index] = top_pace(demand);
    drain->first_link = take_links(contention, demand->usage_count);
    drain->link_count = (uint32_t)demand->usage_count;
    for (uint32_t i = 0; i < demand->usage_count; i++) {
        uint32_t resource = resource_of(contention, drain, i);
        insert_member(contention, resource,
                      (struct member){demand->usages[i].amount, index, drain->first_link + i});
        ask(contention, resource, demand->usages[i].amount * demand->top_rate_per_s);
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

static void
unlink_drain(struct contention *contention, uint32_t drain)
{
    const struct drain *leaver = &contention->drains[drain];
    const struct pace *pace = &contention->paces[drain];
    for (uint32_t i = 0; i < leaver->link_count; i++) {
        struct link link = contention->links[leaver->first_link + i];
        remove_member(contention, link);
        give_up(contention, &link, pace, contention->supplies[link.resource].member_count);
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

/* Another one in the place of a drain that had its resources to itself, where no resource is so
 * small that it could be short by that one alone. */
static bool
replace_alone(const struct contention *contention, struct drain *drain,
              const struct task_demand *demand)
{
    const struct need *need = &contention->needs[demand - contention->demands];
    if (need->most_asked_per_s > contention->least_limit_per_s)
        return false;
    drain->demand = demand;
    return true;
}

/* The last of a resource's members from now on, as one that joins. */
static void
move_behind_others(struct contention *contention, struct link *link)
{
    const struct supply *supply = &contention->supplies[link->resource];
    uint32_t last = (uint32_t)supply->member_count - 1;
    if (link->place == last)
        return; /* mostly: it took the place of one that had joined last */
    struct member own = supply->members[link->place];
    supply->members[link->place] = supply->members[last];
    contention->links[supply->members[last].link].place = link->place;
    supply->members[last] = own;
    link->place = last;
}

static bool
has_company(const struct contention *contention, const struct drain *drain)
{
    bool has_others = false;
    for (uint32_t i = 0; i < drain->link_count && !has_others; i++) {
        uint32_t resource = contention->links[drain->first_link + i].resource;
        has_others = contention->supplies[resource].member_count > 1;
    }
    return has_others;
}

/* Another one in the place of a drain that is linked, in the order of unlink_drain and link_drain.
 * Without company it may have all to itself from now on. */
static bool
replace_linked(struct contention *contention, uint32_t index, const struct task_demand *demand)
{
    struct drain *drain = &contention->drains[index];
    struct link *links = &contention->links[drain->first_link];
    if (!has_company(contention, drain))
        return false;
    for (uint32_t i = 0; i < drain->link_count; i++) {
        move_behind_others(contention, &links[i]);
        give_up(contention, &links[i], &contention->paces[index], links[i].place);
    }
    drain->demand = demand;
    contention->paces[index] = top_pace(demand);
    for (uint32_t i = 0; i < drain->link_count; i++) {
        links[i].amount = demand->usages[i].amount;
        contention->supplies[links[i].resource].members[links[i].place].amount =
            links[i].amount;
        ask(contention, links[i].resource, links[i].amount * demand->top_rate_per_s);
    }
    return true;
}

bool
contention_replace(struct contention *contention, uint32_t drain,
                   const struct task_demand *demand, uint32_t resource_base)
{
    struct drain *leaver = &contention->drains[drain];
    uint32_t sort = contention->needs[demand - contention->demands].sort;
    if (leaver->resource_base != resource_base || sort == NO_SORT ||
        sort != contention->needs[leaver->demand - contention->demands].sort)
        return false;
    return leaver->first_link == NO_LINK ? replace_alone(contention, leaver, demand)
                                         : replace_linked(contention, drain, demand);
}

bool
contention_is_settled(const struct contention *contention)
{
    return contention->changed_count == 0;
}
