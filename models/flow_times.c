/* Times of flows: one fluid flow for each class of flows, one link for each class of links, part
 * by part of the list.
 *
 * The engine counts picoseconds, which is too coarse here: 1 MiB over 48e9 bytes/s take 21.845333
 * us, a third of a picosecond off the grid, and a ring adds up a hundred such. The engine does not
 * ask what a second is, though: its second is made 2^-n of a real one, with the largest n that
 * the clock's range allows. */
#include "models/flow_times.h"

#include <math.h>
#include <string.h>

#include "models/flow_classes.h"
#include "models/flow_parts.h"
#include "models/flow_paths.h"
#include "sim/base/units.h"
#include "sim/engine/fluid.h"

/* Half of what the engine takes for one flow, 2^62 ps. */
static const double ENGINE_RANGE_S = 2.3e6;

static const uint32_t NO_LINK = UINT32_MAX;

struct lowering {
    const struct flow_list *list;
    const struct flow_paths *paths;
    const struct flow_classes *classes;
    double clock_ratio;   /* the engine's seconds in one real second: a power of two */
    uint32_t *numbers;    /* by class: its number in its part */
    uint32_t *links;      /* by class of links: likewise; NO_LINK before its part */
    const uint32_t *part; /* the classes at hand */
    size_t part_count;
    struct fluid *fluid;
};

/* As long as the list can last at most: while anything flows, some link is full or some flow at
 * its top rate, so no less than the narrowest link's rate flows. Beside it, what the engine may
 * expect of one flow for a while: an equal part of its links for ever. */
static double
longest_s(const struct flow_list *list, const struct flow_paths *paths)
{
    double start_s = 0, delays_s = 0, sum_bytes = 0, alone_s = 0,
           narrowest_bytes_per_s = HUGE_VAL;
    for (size_t i = 0; i < paths->link_count; i++)
        narrowest_bytes_per_s = fmin(narrowest_bytes_per_s, paths->bytes_per_s[i]);
    for (size_t i = 0; i < list->count; i++) {
        start_s = fmax(start_s, list->flows[i].start_s);
        sum_bytes += list->flows[i].bytes;
        delays_s += paths->delays_s ? paths->delays_s[i] : 0;
        for (uint32_t l = paths->begins[i]; l < paths->begins[i + 1]; l++) {
            uint32_t link = paths->links[l];
            double part_bytes_per_s = paths->bytes_per_s[link] / paths->flow_counts[link];
            alone_s = fmax(alone_s, list->flows[i].bytes / part_bytes_per_s);
        }
    }
    return start_s + delays_s + sum_bytes / narrowest_bytes_per_s + alone_s;
}

static double
finest_clock_ratio(double longest_s)
{
    static const double SHORTEST_S =
        1e-60; /* of a list: below it doubles run out of exponents */
    int exponent;
    if (longest_s == 0)
        return 1;
    (void)frexp(ENGINE_RANGE_S / fmax(longest_s, SHORTEST_S), &exponent);
    return ldexp(1, exponent - 1);
}

static const struct flow *
flow_of_class(const struct lowering *lowering, uint32_t class)
{
    return &lowering->list->flows[lowering->classes->flows[class]];
}

/* The part's link of that class, added where it is first met. */
static uint32_t
link_of(struct lowering *lowering, uint32_t link_class)
{
    uint32_t *link = &lowering->links[link_class];
    if (*link == NO_LINK) {
        uint32_t first = lowering->classes->links[link_class];
        *link = fluid_add_link(lowering->fluid,
                               lowering->paths->bytes_per_s[first] / lowering->clock_ratio);
    }
    return *link;
}

/* Of the flow's links from `begin` on, those of the same class as that one; 0 if one of them came
 * before it. */
static double
links_of_same_class(const struct lowering *lowering, uint32_t flow, uint32_t begin)
{
    const struct flow_paths *paths = lowering->paths;
    const uint32_t *of_link = lowering->classes->of_link;
    double count = 0;
    for (uint32_t i = paths->begins[flow]; i < paths->begins[flow + 1]; i++) {
        if (of_link[paths->links[i]] != of_link[paths->links[begin]])
            continue;
        if (i < begin)
            return 0;
        count++;
    }
    return count;
}

/* The classes of links that the class passes, each once. */
static void
add_passages(struct lowering *lowering, uint32_t class)
{
    const struct flow_paths *paths = lowering->paths;
    uint32_t flow = lowering->classes->flows[class];
    for (uint32_t i = paths->begins[flow]; i < paths->begins[flow + 1]; i++) {
        uint32_t link_class = lowering->classes->of_link[paths->links[i]];
        double count = links_of_same_class(lowering, flow, i);
        if (count > 0)
            fluid_add_passage(
                lowering->fluid, link_of(lowering, link_class),
                flow_classes_flows_on_link(lowering->classes, class, link_class, count));
    }
}

static void
add_flow(struct lowering *lowering, uint32_t class)
{
    const struct flow *flow = flow_of_class(lowering, class);
    lowering->numbers[class] = fluid_add_flow(
        lowering->fluid, units_ps_from_s(flow->start_s * lowering->clock_ratio), flow->bytes);
    if (lowering->paths->delays_s) {
        double delay_s = lowering->paths->delays_s[lowering->classes->flows[class]];
        fluid_set_delay(lowering->fluid, units_ps_from_s(delay_s * lowering->clock_ratio));
    }
    add_passages(lowering, class);
    for (uint32_t i = flow->dependency_begin; i < flow[1].dependency_begin; i++)
        fluid_add_dependency(
            lowering->fluid,
            lowering->numbers[lowering->classes->of_flow[lowering->list->dependencies[i]]]);
}

/* At most: links of one class are counted as often as they are met. */
static struct fluid_size
part_size(const struct lowering *lowering)
{
    const struct flow_paths *paths = lowering->paths;
    struct fluid_size size = {.flows = lowering->part_count};
    for (size_t i = 0; i < lowering->part_count; i++) {
        uint32_t flow = lowering->classes->flows[lowering->part[i]];
        size.passages += paths->begins[flow + 1] - paths->begins[flow];
    }
    size_t links = lowering->classes->link_count;
    size.links = size.passages < links ? size.passages : links;
    return size;
}

/* Writes when the flows that stand for the part's classes end. */
static void
run_part(struct lowering *lowering, struct flow_times *times, double *finish_s,
         const struct arena *beside)
{
    struct arena *arena = arena_new_beside(beside);
    struct fluid_size size = part_size(lowering);
    lowering->fluid = fluid_new(&size, arena);
    for (size_t i = 0; i < lowering->part_count; i++)
        add_flow(lowering, lowering->part[i]);
    struct fluid_counts counts = fluid_run(lowering->fluid);
    for (size_t i = 0; i < lowering->part_count; i++) {
        uint32_t class = lowering->part[i];
        int64_t end_ps = fluid_end_ps(lowering->fluid, lowering->numbers[class]);
        finish_s[lowering->classes->flows[class]] =
            units_s_from_ps(end_ps) / lowering->clock_ratio;
    }
    times->event_count += counts.events;
    times->solve_count += counts.solves;
    arena_free(arena);
}

static struct flow_times *
run_parts(struct lowering *lowering, const struct flow_parts *parts, struct arena *arena)
{
    const struct flow_classes *classes = lowering->classes;
    size_t flow_count = lowering->list->count;
    struct flow_times *times = arena_alloc(arena, 1, sizeof *times);
    double *finish_s = arena_alloc(arena, flow_count, sizeof *finish_s);
    for (size_t part = 0; part < parts->count; part++) {
        lowering->part = &parts->classes[parts->begins[part]];
        lowering->part_count = parts->begins[part + 1] - parts->begins[part];
        run_part(lowering, times, finish_s, arena);
    }
    for (size_t i = 0; i < flow_count; i++)
        finish_s[i] = finish_s[classes->flows[classes->of_flow[i]]];
    times->finish_s = finish_s;
    times->class_count = classes->count;
    return times;
}

struct flow_times *
flow_times_find(const struct flow_list *list, const struct flow_wires *wires,
                struct arena *arena, struct error_list *errors)
{
    struct arena *scratch = arena_new_beside(arena);
    struct flow_times *times = NULL;
    const struct flow_paths *paths = flow_paths_find(list, wires, scratch, errors);
    if (paths) {
        const struct flow_classes *classes = flow_classes_find(list, paths, scratch);
        struct lowering lowering = {
            .list = list,
            .paths = paths,
            .classes = classes,
            .clock_ratio = finest_clock_ratio(longest_s(list, paths)),
        };
        lowering.numbers = arena_alloc(scratch, classes->count, sizeof *lowering.numbers);
        lowering.links = arena_alloc(scratch, classes->link_count, sizeof *lowering.links);
        memset(lowering.links, 0xFF, classes->link_count * sizeof *lowering.links);
        times = run_parts(&lowering, flow_parts_find(list, paths, classes, scratch), arena);
    }
    arena_free(scratch);
    return times;
}
