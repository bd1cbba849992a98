/* Rates: from what has changed, group by group of drains and resources that hang together. */
#include <math.h>

#include "sim/engine/contention_state.h"

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
        pace_set_rate(pace, rate_per_s);
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
