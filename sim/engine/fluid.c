/* Flows over links: one agenda of starts and ends; after each instant links are filled anew. */
#include "sim/engine/fluid.h"

#include <assert.h>
#include <math.h>

#include "sim/engine/fluid_links.h"

struct fluid *
fluid_new(const struct fluid_size *size, struct arena *arena)
{
    struct fluid *fluid = arena_alloc(arena, 1, sizeof *fluid);
    fluid->arena = arena;
    fluid->size = *size;
    fluid->progresses = arena_alloc(arena, size->flows, sizeof *fluid->progresses);
    fluid->states = arena_alloc(arena, size->flows, sizeof *fluid->states);
    fluid->passage_begins = arena_alloc(arena, size->flows + 1, sizeof *fluid->passage_begins);
    fluid->passage_links = arena_alloc(arena, size->passages, sizeof *fluid->passage_links);
    fluid->passage_places = arena_alloc(arena, size->passages, sizeof *fluid->passage_places);
    fluid->members = arena_alloc(arena, size->passages, sizeof *fluid->members);
    fluid->links = arena_alloc(arena, size->links, sizeof *fluid->links);
    fluid->changed = arena_alloc(arena, size->links, sizeof *fluid->changed);
    fluid->group = arena_alloc(arena, size->links, sizeof *fluid->group);
    fluid->stops = arena_alloc(arena, size->links, sizeof *fluid->stops);
    fluid->changed_rate_per_s = HUGE_VAL;
    return fluid;
}

uint32_t
fluid_add_link(struct fluid *fluid, double capacity_per_s)
{
    assert(capacity_per_s > 0 && fluid->link_count < fluid->size.links);
    fluid->links[fluid->link_count] = (struct fluid_link){.capacity_per_s = capacity_per_s};
    return (uint32_t)fluid->link_count++;
}

uint32_t
fluid_add_flow(struct fluid *fluid, int64_t start_ps, double work)
{
    size_t flow = fluid->flow_count++;
    assert(flow < fluid->size.flows && start_ps >= 0 && work >= 0);
    fluid->progresses[flow].work = work;
    fluid->passage_begins[flow + 1] = fluid->passage_begins[flow];
    if (start_ps > 0 && !fluid->starts_ps)
        fluid->starts_ps =
            arena_alloc(fluid->arena, fluid->size.flows, sizeof *fluid->starts_ps);
    if (fluid->starts_ps)
        fluid->starts_ps[flow] = start_ps;
    return (uint32_t)flow;
}

void
fluid_set_delay(struct fluid *fluid, int64_t delay_ps)
{
    assert(fluid->flow_count > 0 && delay_ps >= 0);
    if (delay_ps > 0 && !fluid->delays_ps)
        fluid->delays_ps =
            arena_alloc(fluid->arena, fluid->size.flows, sizeof *fluid->delays_ps);
    if (fluid->delays_ps)
        fluid->delays_ps[fluid->flow_count - 1] = delay_ps;
}

void
fluid_add_passage(struct fluid *fluid, uint32_t link, double amount)
{
    size_t passage = fluid->passage_count++;
    assert(passage < fluid->size.passages && link < fluid->link_count && amount > 0);
    fluid->passage_links[passage] = link;
    fluid->passage_begins[fluid->flow_count]++;
    fluid->links[link].member_count++; /* for its room, until it runs */
    if (amount != 1 && !fluid->passage_amounts) {
        fluid->passage_amounts =
            arena_alloc(fluid->arena, fluid->size.passages, sizeof *fluid->passage_amounts);
        for (size_t i = 0; i < passage; i++)
            fluid->passage_amounts[i] = 1;
    }
    if (fluid->passage_amounts)
        fluid->passage_amounts[passage] = amount;
}

void
fluid_add_dependency(struct fluid *fluid, uint32_t before)
{
    assert(before + 1 < fluid->flow_count);
    if (!fluid->waits)
        fluid->waits = arena_alloc(fluid->arena, fluid->size.flows, sizeof *fluid->waits);
    fluid->befores = arena_grow(fluid->arena, fluid->befores, fluid->before_count,
                                &fluid->before_capacity, sizeof *fluid->befores);
    fluid->befores[fluid->before_count++] = before;
    fluid->waits[fluid->flow_count - 1]++;
}

/* All that it waits for has ended. */
static void
release_flow(struct fluid *fluid, uint32_t flow)
{
    int64_t start_ps = fluid->starts_ps ? fluid->starts_ps[flow] : 0;
    int64_t delay_ps = fluid->delays_ps ? fluid->delays_ps[flow] : 0;
    event_queue_set(fluid->queue, flow,
                    (start_ps > fluid->now_ps ? start_ps : fluid->now_ps) + delay_ps);
}

static void
end_flow(struct fluid *fluid, uint32_t flow)
{
    fluid->states[flow] = FLUID_ENDED;
    fluid->progresses[flow].end_ps = fluid->now_ps;
    if (!fluid->waits)
        return;
    for (uint32_t i = fluid->follower_begins[flow]; i < fluid->follower_begins[flow + 1]; i++) {
        uint32_t follower = fluid->followers[i];
        if (--fluid->waits[follower] == 0)
            release_flow(fluid, follower);
    }
}

static void
take_event(struct fluid *fluid, uint32_t flow)
{
    fluid->counts.events++;
    if (fluid->states[flow] == FLUID_RUNNING) {
        fluid_links_leave(fluid, flow);
        end_flow(fluid, flow);
    } else if (fluid->progresses[flow].work > 0) {
        fluid_links_join(fluid, flow);
    } else {
        end_flow(fluid, flow);
    }
}

/* Room for the flows of each link, one after the other. */
static void
make_rooms(struct fluid *fluid)
{
    uint32_t begin = 0;
    for (size_t i = 0; i < fluid->link_count; i++) {
        fluid->links[i].member_begin = begin;
        begin += fluid->links[i].member_count;
        fluid->links[i].member_count = 0;
    }
}

/* Those that wait for each flow, from those that each waits for. */
static void
list_followers(struct fluid *fluid)
{
    fluid->follower_begins =
        arena_alloc(fluid->arena, fluid->flow_count + 1, sizeof *fluid->follower_begins);
    fluid->followers = arena_alloc(fluid->arena, fluid->before_count, sizeof *fluid->followers);
    for (size_t i = 0; i < fluid->before_count; i++)
        fluid->follower_begins[fluid->befores[i]]++;
    uint32_t end = 0;
    for (size_t flow = 0; flow <= fluid->flow_count; flow++)
        fluid->follower_begins[flow] = end += fluid->follower_begins[flow];
    size_t next = fluid->before_count;
    for (size_t flow = fluid->flow_count; flow-- > 0;)
        for (uint32_t i = 0; i < fluid->waits[flow]; i++)
            fluid->followers[--fluid->follower_begins[fluid->befores[--next]]] = (uint32_t)flow;
}

struct fluid_counts
fluid_run(struct fluid *fluid)
{
    struct event event;
    fluid->queue = event_queue_new(fluid->arena, fluid->flow_count);
    make_rooms(fluid);
    if (fluid->waits)
        list_followers(fluid);
    for (uint32_t flow = 0; flow < fluid->flow_count; flow++)
        if (!fluid->waits || fluid->waits[flow] == 0)
            release_flow(fluid, flow);
    for (;;) {
        if (event_queue_next_ps(fluid->queue) > fluid->now_ps)
            fluid_links_settle(fluid);
        if (!event_queue_pop(fluid->queue, &event))
            return fluid->counts;
        fluid->now_ps = event.at_ps;
        take_event(fluid, event.item);
    }
}

int64_t
fluid_end_ps(const struct fluid *fluid, uint32_t flow)
{
    assert(flow < fluid->flow_count && fluid->states[flow] == FLUID_ENDED);
    return fluid->progresses[flow].end_ps;
}
