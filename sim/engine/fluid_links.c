/* Links that flows share: those whose flows changed, with all that hangs together with them through
 * full links, are filled anew.
 *
 *      flow 7 ─ passage ─ link 2        the passages of a flow stand side by side; the running
 *             └ passage ─ link 3        flows of a link stand first in its room of `members`
 *
 * As in contention.c, flows at rates below the lowest one that a change can touch keep theirs. A
 * flow needs no rate of its own at which it stops: alone on its narrowest link it fills that, so
 * it is held back by links only. */
#include "sim/engine/fluid_links.h"

#include <assert.h>
#include <math.h>

#include "sim/engine/sharing.h"

static const double PS_PER_S = 1e12;

/* Relative: rates this near to the one from which all is filled anew are filled anew too. */
static const double RATE_MARGIN = 1e-9;

static double
amount_of(const struct fluid *fluid, uint32_t passage)
{
    return fluid->passage_amounts ? fluid->passage_amounts[passage] : 1;
}

/* The amount of a link's flow: the passage is found by its place, which only folded flows ask. */
static double
member_amount(const struct fluid *fluid, uint32_t link, uint32_t flow)
{
    uint32_t passage = fluid->passage_begins[flow];
    if (!fluid->passage_amounts)
        return 1;
    while (fluid->passage_links[passage] != link)
        passage++;
    return fluid->passage_amounts[passage];
}

/* What it would run at alone. */
static double
alone_rate_per_s(const struct fluid *fluid, uint32_t flow)
{
    double rate_per_s = HUGE_VAL;
    for (uint32_t p = fluid->passage_begins[flow]; p < fluid->passage_begins[flow + 1]; p++)
        rate_per_s = fmin(rate_per_s, fluid->links[fluid->passage_links[p]].capacity_per_s /
                                          amount_of(fluid, p));
    return rate_per_s;
}

static void
note_change(struct fluid *fluid, uint32_t link, double rate_per_s)
{
    fluid->changed_rate_per_s = fmin(fluid->changed_rate_per_s, rate_per_s * (1 - RATE_MARGIN));
    if (!fluid->links[link].is_changed) {
        fluid->links[link].is_changed = true;
        fluid->changed[fluid->changed_count++] = link;
    }
}

static bool
is_short(const struct fluid_link *link)
{
    return link->asked_per_s > link->capacity_per_s * (1 + SHARING_TOLERANCE);
}

/* Also one that is just full: it is what holds back a flow that it is the narrowest link of. */
static bool
is_full(const struct fluid_link *link)
{
    return link->asked_per_s >= link->capacity_per_s * (1 - SHARING_TOLERANCE);
}

void
fluid_links_join(struct fluid *fluid, uint32_t flow)
{
    double alone_per_s = alone_rate_per_s(fluid, flow);
    double ps = fluid->progresses[flow].work / alone_per_s * PS_PER_S;
    assert(ps < (double)(INT64_MAX / 2) && "the clock's range is 106 days");
    fluid->states[flow] = FLUID_RUNNING;
    fluid->progresses[flow].rate_per_s = alone_per_s;
    event_queue_set(fluid->queue, flow, fluid->now_ps + llround(ps));
    for (uint32_t p = fluid->passage_begins[flow]; p < fluid->passage_begins[flow + 1]; p++) {
        struct fluid_link *link = &fluid->links[fluid->passage_links[p]];
        fluid->passage_places[p] = link->member_count;
        fluid->members[link->member_begin + link->member_count++] = flow;
        link->asked_per_s += amount_of(fluid, p) * alone_per_s;
        if (is_short(link))
            note_change(fluid, fluid->passage_links[p], 0);
    }
}

/* The last flow of the link's room takes its place. */
static void
remove_member(struct fluid *fluid, uint32_t index, uint32_t place)
{
    struct fluid_link *link = &fluid->links[index];
    uint32_t last = fluid->members[link->member_begin + --link->member_count];
    uint32_t passage = fluid->passage_begins[last];
    while (fluid->passage_links[passage] != index)
        passage++;
    fluid->members[link->member_begin + place] = last;
    fluid->passage_places[passage] = place;
}

void
fluid_links_leave(struct fluid *fluid, uint32_t flow)
{
    double alone_per_s = alone_rate_per_s(fluid, flow);
    for (uint32_t p = fluid->passage_begins[flow]; p < fluid->passage_begins[flow + 1]; p++) {
        struct fluid_link *link = &fluid->links[fluid->passage_links[p]];
        remove_member(fluid, fluid->passage_links[p], fluid->passage_places[p]);
        link->asked_per_s -= amount_of(fluid, p) * alone_per_s;
        if (link->member_count == 0)
            link->asked_per_s = 0; /* ends what rounding has left */
        if (link->is_shared)
            note_change(fluid, fluid->passage_links[p], fluid->progresses[flow].rate_per_s);
    }
}

/* Adds up anew what is asked of a link: joins and leaves leave rounding behind. */
static void
add_up_asked(const struct fluid *fluid, uint32_t index)
{
    struct fluid_link *link = &fluid->links[index];
    const uint32_t *members = &fluid->members[link->member_begin];
    link->asked_per_s = 0;
    for (uint32_t i = 0; i < link->member_count; i++)
        link->asked_per_s +=
            member_amount(fluid, index, members[i]) * alone_rate_per_s(fluid, members[i]);
}

/* Takes a link into the group if it holds, or until now held, anyone back. */
static void
visit_link(struct fluid *fluid, uint32_t index)
{
    struct fluid_link *link = &fluid->links[index];
    if (link->is_visited)
        return;
    if (link->is_changed) {
        link->is_changed = false;
        add_up_asked(fluid, index);
    }
    if (!is_full(link) && !link->is_shared)
        return;
    link->is_shared = is_short(link);
    link->is_visited = true;
    fluid->group[fluid->group_count++] = index;
}

/* What a link has left for those of its flows that get new rates, and how many these are; they
 * bring their other links into the group. */
static void
visit_members(struct fluid *fluid, uint32_t index)
{
    struct fluid_link *link = &fluid->links[index];
    link->left_per_s = link->capacity_per_s;
    link->rising = link->rising_count = 0;
    for (uint32_t i = 0; i < link->member_count; i++) {
        uint32_t flow = fluid->members[link->member_begin + i];
        double *rate_per_s = &fluid->progresses[flow].rate_per_s;
        if (*rate_per_s >= 0 && *rate_per_s < fluid->changed_rate_per_s) {
            link->left_per_s -= member_amount(fluid, index, flow) * *rate_per_s;
            continue;
        }
        link->rising += member_amount(fluid, index, flow);
        link->rising_count++;
        if (*rate_per_s < 0)
            continue;
        *rate_per_s = -*rate_per_s;
        for (uint32_t p = fluid->passage_begins[flow]; p < fluid->passage_begins[flow + 1]; p++)
            visit_link(fluid, fluid->passage_links[p]);
    }
}

static void
descend(struct fluid *fluid, size_t at, struct fluid_stop stop)
{
    for (size_t child = 2 * at + 1; child < fluid->stop_count; child = 2 * at + 1) {
        if (child + 1 < fluid->stop_count &&
            fluid->stops[child + 1].rate_per_s < fluid->stops[child].rate_per_s)
            child++;
        if (fluid->stops[child].rate_per_s >= stop.rate_per_s)
            break;
        fluid->stops[at] = fluid->stops[child];
        at = child;
    }
    fluid->stops[at] = stop;
}

static void
gather_stops(struct fluid *fluid)
{
    fluid->stop_count = 0;
    for (size_t i = 0; i < fluid->group_count; i++) {
        const struct fluid_link *link = &fluid->links[fluid->group[i]];
        if (link->rising_count > 0)
            fluid->stops[fluid->stop_count++] =
                (struct fluid_stop){link->left_per_s / link->rising, fluid->group[i]};
    }
    for (size_t i = fluid->stop_count / 2; i-- > 0;)
        descend(fluid, i, fluid->stops[i]);
}

/* Gives the flow its rate: off what its links have left, and into the agenda if it is new. */
static void
set_rate(struct fluid *fluid, uint32_t flow, double rate_per_s)
{
    double old_per_s = -fluid->progresses[flow].rate_per_s;
    fluid->progresses[flow].rate_per_s = rate_per_s;
    for (uint32_t p = fluid->passage_begins[flow]; p < fluid->passage_begins[flow + 1]; p++) {
        struct fluid_link *link = &fluid->links[fluid->passage_links[p]];
        link->left_per_s -= amount_of(fluid, p) * rate_per_s;
        link->rising -= amount_of(fluid, p);
        link->rising_count--;
    }
    if (rate_per_s == old_per_s)
        return;
    int64_t left_ps = event_queue_at_ps(fluid->queue, flow) - fluid->now_ps;
    double new_ps = (double)left_ps * (old_per_s / rate_per_s);
    assert(new_ps < (double)(INT64_MAX / 2) && "the clock's range is 106 days");
    event_queue_set(fluid->queue, flow, fluid->now_ps + llround(new_ps));
}

/* The rate at which a link is full; its sums anew: subtraction has left rounding in them. */
static double
full_rate_per_s(const struct fluid *fluid, uint32_t index)
{
    const struct fluid_link *link = &fluid->links[index];
    double left_per_s = link->capacity_per_s, rising = 0;
    for (uint32_t i = 0; i < link->member_count; i++) {
        uint32_t flow = fluid->members[link->member_begin + i];
        double rate_per_s = fluid->progresses[flow].rate_per_s;
        double amount = member_amount(fluid, index, flow);
        if (rate_per_s < 0)
            rising += amount;
        else
            left_per_s -= amount * rate_per_s;
    }
    return left_per_s / rising;
}

static void
drop_first_stop(struct fluid *fluid)
{
    if (--fluid->stop_count > 0)
        descend(fluid, 0, fluid->stops[fluid->stop_count]);
}

/* The flows of the link that is full first stop rising at that rate; stops that have become too
 * low are corrected when they come to the top. */
static void
take_first_stop(struct fluid *fluid, double *reached_per_s)
{
    struct fluid_stop stop = fluid->stops[0];
    struct fluid_link *link = &fluid->links[stop.link];
    if (link->rising_count == 0) {
        drop_first_stop(fluid);
        return;
    }
    double rate_per_s = link->left_per_s / link->rising;
    if (rate_per_s > stop.rate_per_s * (1 + SHARING_TOLERANCE)) {
        stop.rate_per_s = rate_per_s;
        descend(fluid, 0, stop);
        return;
    }
    drop_first_stop(fluid);
    rate_per_s = full_rate_per_s(fluid, stop.link);
    if (rate_per_s > *reached_per_s * (1 + SHARING_TOLERANCE))
        *reached_per_s = rate_per_s;
    for (uint32_t i = 0; i < link->member_count; i++) {
        uint32_t flow = fluid->members[link->member_begin + i];
        if (fluid->progresses[flow].rate_per_s < 0)
            set_rate(fluid, flow, *reached_per_s);
    }
}

static void
fill_group(struct fluid *fluid, uint32_t root)
{
    double reached_per_s = fluid->changed_rate_per_s;
    fluid->group_count = 0;
    visit_link(fluid, root);
    for (size_t i = 0; i < fluid->group_count; i++)
        visit_members(fluid, fluid->group[i]);
    gather_stops(fluid);
    fluid->counts.solves += fluid->stop_count > 0;
    while (fluid->stop_count > 0)
        take_first_stop(fluid, &reached_per_s);
    for (size_t i = 0; i < fluid->group_count; i++)
        fluid->links[fluid->group[i]].is_visited = false;
}

void
fluid_links_settle(struct fluid *fluid)
{
    for (size_t i = 0; i < fluid->changed_count; i++)
        if (fluid->links[fluid->changed[i]].is_changed)
            fill_group(fluid, fluid->changed[i]);
    fluid->changed_count = 0;
    fluid->changed_rate_per_s = HUGE_VAL;
}
