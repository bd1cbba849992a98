/* Classes of flows: colours refined until they tell no more apart.
 *
 * A round gives each flow a new colour made of its old one, those of its links and those of what
 * it depends on; then each link one made of its old one and those of its flows. Flows are taken in
 * an order in which they can run, so that a chain of any length is told in one round. Where a
 * round finds no further colour, the last partition was equitable (McKay, Practical graph
 * isomorphism, Congressus Numerantium 30 (1981)). */
#include "models/flow_classes.h"

#include <string.h>

#include "sim/base/hash.h"

enum { ROUNDS_MAX = 64 };

static const uint32_t NONE = UINT32_MAX;

/* Colours that have been seen, numbered. Open addressing. */
struct palette {
    uint64_t *colours;
    uint32_t *numbers; /* or NONE */
    size_t mask;
    size_t count;
};

struct refinement {
    const struct flow_list *list;
    const struct flow_paths *paths;
    uint64_t *flow_colours;
    uint64_t *link_colours;
    uint64_t *link_sums; /* of what the flows of each link are */
    struct palette palette;
    size_t flow_count, link_count; /* colours of the last round */
};

static uint64_t
bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static void
palette_clear(struct palette *palette)
{
    memset(palette->numbers, 0xFF, (palette->mask + 1) * sizeof *palette->numbers);
    palette->count = 0;
}

/* The colour's number, a new one if it was not seen before. The table must have room. */
static uint32_t
palette_number(struct palette *palette, uint64_t colour)
{
    size_t at = colour & palette->mask;
    while (palette->numbers[at] != NONE && palette->colours[at] != colour)
        at = (at + 1) & palette->mask;
    if (palette->numbers[at] == NONE) {
        palette->colours[at] = colour;
        palette->numbers[at] = (uint32_t)palette->count++;
    }
    return palette->numbers[at];
}

/* How many colours there are; more than `most` are not counted further. */
static size_t
count_colours(struct palette *palette, const uint64_t *colours, size_t count, size_t most)
{
    palette_clear(palette);
    for (size_t i = 0; i < count && palette->count <= most; i++)
        (void)palette_number(palette, colours[i]);
    return palette->count;
}

/* Sums do not ask for order: a flow's links, and a link's flows, are sets. */
static void
refine_flow(struct refinement *refinement, uint32_t flow)
{
    const struct flow_list *list = refinement->list;
    const struct flow_paths *paths = refinement->paths;
    uint64_t sum = 0;
    for (uint32_t i = paths->begins[flow]; i < paths->begins[flow + 1]; i++)
        sum += hash_mixed(refinement->link_colours[paths->links[i]]);
    const struct flow *row = &list->flows[flow];
    for (uint32_t i = row->dependency_begin; i < row[1].dependency_begin; i++)
        sum += hash_mixed(~refinement->flow_colours[list->dependencies[i]]);
    uint64_t colour = hash_mixed(refinement->flow_colours[flow] * 3 + sum);
    refinement->flow_colours[flow] = colour;
    for (uint32_t i = paths->begins[flow]; i < paths->begins[flow + 1]; i++)
        refinement->link_sums[paths->links[i]] += hash_mixed(colour + 1);
}

static uint32_t
flow_at(const uint32_t *order, uint32_t place)
{
    return order ? order[place] : place;
}

static void
refine(struct refinement *refinement)
{
    memset(refinement->link_sums, 0,
           refinement->paths->link_count * sizeof *refinement->link_sums);
    for (uint32_t i = 0; i < refinement->list->count; i++)
        refine_flow(refinement, flow_at(refinement->list->order, i));
    for (size_t i = 0; i < refinement->paths->link_count; i++)
        refinement->link_colours[i] =
            hash_mixed(refinement->link_colours[i] * 3 + refinement->link_sums[i]);
}

static void
colour_first(struct refinement *refinement)
{
    const struct flow *flows = refinement->list->flows;
    const double *delays_s = refinement->paths->delays_s;
    for (size_t i = 0; i < refinement->list->count; i++) {
        uint64_t colour =
            hash_mixed(hash_mixed(bits_of(flows[i].bytes)) * 3 + bits_of(flows[i].start_s));
        refinement->flow_colours[i] =
            delays_s ? hash_mixed(colour * 3 + bits_of(delays_s[i])) : colour;
    }
    for (size_t i = 0; i < refinement->paths->link_count; i++)
        refinement->link_colours[i] = hash_mixed(bits_of(refinement->paths->bytes_per_s[i]));
}

static struct refinement *
refinement_new(const struct flow_list *list, const struct flow_paths *paths,
               struct arena *arena)
{
    struct refinement *refinement = arena_alloc(arena, 1, sizeof *refinement);
    size_t size = 64;
    while (size < list->count || size < 2 * paths->link_count)
        size *= 2;
    *refinement = (struct refinement){
        .list = list,
        .paths = paths,
        .flow_colours = arena_alloc(arena, list->count, sizeof(uint64_t)),
        .link_colours = arena_alloc(arena, paths->link_count, sizeof(uint64_t)),
        .link_sums = arena_alloc(arena, paths->link_count, sizeof(uint64_t)),
        .palette = {.colours = arena_alloc(arena, size, sizeof(uint64_t)),
                    .numbers = arena_alloc(arena, size, sizeof(uint32_t)),
                    .mask = size - 1},
    };
    return refinement;
}

/* True when the last round told no more apart than the one before. */
static bool
count_round(struct refinement *refinement)
{
    size_t most = refinement->list->count / 2;
    size_t flows = count_colours(&refinement->palette, refinement->flow_colours,
                                 refinement->list->count, most);
    size_t links = count_colours(&refinement->palette, refinement->link_colours,
                                 refinement->paths->link_count, refinement->paths->link_count);
    bool is_stable = flows == refinement->flow_count && links == refinement->link_count;
    refinement->flow_count = flows;
    refinement->link_count = links;
    return is_stable;
}

/* Whether the colours are an equitable partition that is worth having. */
static bool
refine_until_stable(struct refinement *refinement)
{
    colour_first(refinement);
    for (int round = 0; round < ROUNDS_MAX; round++) {
        if (count_round(refinement))
            return true;
        if (refinement->flow_count > refinement->list->count / 2)
            return false;
        refine(refinement);
    }
    return false;
}

static uint32_t *
numbers_from_0(size_t count, struct arena *arena)
{
    uint32_t *numbers = arena_alloc(arena, count, sizeof *numbers);
    for (uint32_t i = 0; i < count; i++)
        numbers[i] = i;
    return numbers;
}

static void
class_alone(struct flow_classes *classes, const struct flow_list *list,
            const struct flow_paths *paths, struct arena *arena)
{
    uint32_t *of_flow = arena_alloc(arena, list->count, sizeof *of_flow);
    for (uint32_t i = 0; i < list->count; i++)
        of_flow[flow_at(list->order, i)] = i;
    const uint32_t *order = list->order ? list->order : numbers_from_0(list->count, arena);
    const uint32_t *links = numbers_from_0(paths->link_count, arena);
    *classes = (struct flow_classes){.of_flow = of_flow,
                                     .flows = order,
                                     .count = list->count,
                                     .of_link = links,
                                     .links = links,
                                     .link_count = paths->link_count};
}

/* The class of each of `count` things by its colour, in the order given (NULL: their own). */
struct classing {
    uint32_t *of, *firsts, *sizes;
};

static struct classing
class_by_colour(struct palette *palette, const uint64_t *colours, const uint32_t *order,
                size_t count, struct arena *arena)
{
    size_t class_count = count_colours(palette, colours, count, count);
    struct classing classing = {.of = arena_alloc(arena, count, sizeof(uint32_t)),
                                .firsts = arena_alloc(arena, class_count, sizeof(uint32_t)),
                                .sizes = arena_alloc(arena, class_count, sizeof(uint32_t))};
    palette_clear(palette);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t index = flow_at(order, i);
        uint32_t class = palette_number(palette, colours[index]);
        classing.of[index] = class;
        if (classing.sizes[class]++ == 0)
            classing.firsts[class] = index;
    }
    return classing;
}

static void
class_by_refinement(struct flow_classes *classes, struct refinement *refinement,
                    struct arena *arena)
{
    const struct flow_list *list = refinement->list;
    struct palette *palette = &refinement->palette;
    struct classing flows =
        class_by_colour(palette, refinement->flow_colours, list->order, list->count, arena);
    struct classing links = class_by_colour(palette, refinement->link_colours, NULL,
                                            refinement->paths->link_count, arena);
    *classes =
        (struct flow_classes){flows.of, flows.firsts, flows.sizes, refinement->flow_count,
                              links.of, links.firsts, links.sizes, refinement->link_count};
}

struct flow_classes *
flow_classes_find(const struct flow_list *list, const struct flow_paths *paths,
                  struct arena *arena)
{
    struct arena *scratch = arena_new_beside(arena);
    struct refinement *refinement = refinement_new(list, paths, scratch);
    struct flow_classes *classes = arena_alloc(arena, 1, sizeof *classes);
    if (refine_until_stable(refinement))
        class_by_refinement(classes, refinement, arena);
    else
        class_alone(classes, list, paths, arena);
    arena_free(scratch);
    return classes;
}

double
flow_classes_flows_on_link(const struct flow_classes *classes, uint32_t class,
                           uint32_t link_class, double links_of_a_flow)
{
    if (!classes->sizes)
        return links_of_a_flow;
    return links_of_a_flow * classes->sizes[class] / classes->link_sizes[link_class];
}
