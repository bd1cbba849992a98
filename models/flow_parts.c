/* Parts of a list of flows: sets joined wherever a class of flows passes a class of links or waits
 * for another class.
 *
 * Nodes of the sets are the classes of flows, then those of links. A set is known by its lowest
 * node, found by halved paths (Tarjan, van Leeuwen, Worst-case analysis of set union algorithms,
 * Journal of the ACM 31 (1984)). */
#include "models/flow_parts.h"

static const uint32_t NO_PART = UINT32_MAX;

static uint32_t
find_root(uint32_t *parents, uint32_t node)
{
    while (parents[node] != node) {
        parents[node] = parents[parents[node]];
        node = parents[node];
    }
    return node;
}

static void
join(uint32_t *parents, uint32_t a, uint32_t b)
{
    a = find_root(parents, a);
    b = find_root(parents, b);
    parents[a < b ? b : a] = a < b ? a : b;
}

static void
join_class(uint32_t *parents, const struct flow_list *list, const struct flow_paths *paths,
           const struct flow_classes *classes, uint32_t class)
{
    uint32_t index = classes->flows[class];
    const struct flow *flow = &list->flows[index];
    for (uint32_t i = paths->begins[index]; i < paths->begins[index + 1]; i++)
        join(parents, class, (uint32_t)classes->count + classes->of_link[paths->links[i]]);
    for (uint32_t i = flow->dependency_begin; i < flow[1].dependency_begin; i++)
        join(parents, class, classes->of_flow[list->dependencies[i]]);
}

/* By class: the lowest of its set. */
static uint32_t *
find_sets(const struct flow_list *list, const struct flow_paths *paths,
          const struct flow_classes *classes, struct arena *arena)
{
    size_t node_count = classes->count + classes->link_count;
    uint32_t *parents = arena_alloc(arena, node_count, sizeof *parents);
    for (uint32_t i = 0; i < node_count; i++)
        parents[i] = i;
    for (uint32_t class = 0; class < classes->count; class ++)
        join_class(parents, list, paths, classes, class);
    for (uint32_t class = 0; class < classes->count; class ++)
        parents[class] = find_root(parents, class);
    return parents;
}

/* The part of each set, by its lowest class: sets in their order, until a part is large enough. */
static size_t
number_parts(const uint32_t *sets, size_t class_count, uint32_t *parts, struct arena *arena)
{
    uint32_t *sizes = arena_alloc(arena, class_count, sizeof *sizes);
    uint32_t part = 0, part_size = 0;
    for (uint32_t class = 0; class < class_count; class ++)
        sizes[sets[class]]++;
    for (uint32_t class = 0; class < class_count; class ++) {
        if (parts[sets[class]] != NO_PART)
            continue;
        if (part_size >= FLOW_PART_CLASSES_MIN) {
            part++;
            part_size = 0;
        }
        parts[sets[class]] = part;
        part_size += sizes[sets[class]];
    }
    return class_count > 0 ? part + 1 : 0;
}

static void
list_by_part(struct flow_parts *parts, const uint32_t *sets, const uint32_t *part_of_set,
             size_t class_count, struct arena *arena)
{
    uint32_t *classes = arena_alloc(arena, class_count, sizeof *classes);
    uint32_t *begins = arena_alloc(arena, parts->count + 1, sizeof *begins);
    for (uint32_t class = 0; class < class_count; class ++)
        begins[part_of_set[sets[class]]]++;
    for (size_t part = 1; part <= parts->count; part++)
        begins[part] += begins[part - 1];
    for (uint32_t class = (uint32_t)class_count; class -- > 0;)
        classes[--begins[part_of_set[sets[class]]]] = class;
    parts->classes = classes;
    parts->begins = begins;
}

struct flow_parts *
flow_parts_find(const struct flow_list *list, const struct flow_paths *paths,
                const struct flow_classes *classes, struct arena *arena)
{
    struct arena *scratch = arena_new_beside(arena);
    const uint32_t *sets = find_sets(list, paths, classes, scratch);
    uint32_t *part_of_set = arena_alloc(scratch, classes->count, sizeof *part_of_set);
    for (size_t i = 0; i < classes->count; i++)
        part_of_set[i] = NO_PART;
    struct flow_parts *parts = arena_alloc(arena, 1, sizeof *parts);
    parts->count = number_parts(sets, classes->count, part_of_set, scratch);
    list_by_part(parts, sets, part_of_set, classes->count, arena);
    arena_free(scratch);
    return parts;
}
