/* An order of flows: depth first along dependencies, without recursion. */
#include "hw/flow_order.h"

#include <stdbool.h>

enum visit { VISIT_NONE, VISIT_OPEN, VISIT_DONE };

struct search {
    const struct flow_list *list;
    uint32_t *order;
    size_t order_count;
    unsigned char *visits; /* enum visit, by flow */
    uint32_t *cursors;     /* by flow that is open: the dependency to look at next */
    uint32_t *path;        /* flows that are open, each waiting for the next */
    size_t path_count;
};

static bool
is_in_order(const struct flow_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        for (uint32_t d = list->flows[i].dependency_begin;
             d < list->flows[i + 1].dependency_begin; d++)
            if (list->dependencies[d] >= i)
                return false;
    return true;
}

static void
open_flow(struct search *search, uint32_t flow)
{
    search->visits[flow] = VISIT_OPEN;
    search->cursors[flow] = search->list->flows[flow].dependency_begin;
    search->path[search->path_count++] = flow;
}

static void
close_flow(struct search *search, uint32_t flow)
{
    search->visits[flow] = VISIT_DONE;
    search->order[search->order_count++] = flow;
    search->path_count--;
}

/* Follows the path's last flow by one dependency; false when that is on the path itself. */
static bool
step(struct search *search)
{
    uint32_t flow = search->path[search->path_count - 1];
    if (search->cursors[flow] == search->list->flows[flow + 1].dependency_begin) {
        close_flow(search, flow);
        return true;
    }
    uint32_t dependency = search->list->dependencies[search->cursors[flow]++];
    if (search->visits[dependency] == VISIT_NONE)
        open_flow(search, dependency);
    else if (search->visits[dependency] == VISIT_OPEN)
        return false;
    return true;
}

/* "a waits for b, b for c, c for a", as far as a line goes. */
static void
name_circle(struct search *search, struct arena *arena, struct error_list *errors)
{
    enum { NAMED_MAX = 8 };
    uint32_t last = search->path[search->path_count - 1];
    uint32_t closing = search->list->dependencies[search->cursors[last] - 1];
    size_t begin = search->path_count;
    while (search->path[begin - 1] != closing)
        begin--;
    struct text text = text_new(arena);
    for (size_t i = begin - 1; i < search->path_count && i < begin - 1 + NAMED_MAX; i++) {
        uint32_t next = i + 1 < search->path_count ? search->path[i + 1] : closing;
        size_t length, next_length;
        const char *id = flow_list_id(search->list, search->path[i], &length);
        const char *next_id = flow_list_id(search->list, next, &next_length);
        text_format(&text, "%s%.*s %s %.*s", text.length ? ", " : "", (int)length, id,
                    text.length ? "for" : "waits for", (int)next_length, next_id);
    }
    if (search->path_count - (begin - 1) > NAMED_MAX)
        text_format(&text, ", and %zu more before that waits for the first",
                    search->path_count - (begin - 1) - NAMED_MAX);
    (void)error_add(errors, ERROR_INPUT, flow_list_where(search->list, closing, arena),
                    "a circle of deps: %s", text.bytes);
}

/* False when the path has met itself. */
static bool
search_from(struct search *search, uint32_t flow)
{
    if (search->visits[flow] == VISIT_NONE)
        open_flow(search, flow);
    while (search->path_count > 0)
        if (!step(search))
            return false;
    return true;
}

static bool
search_all(struct search *search, struct arena *arena, struct error_list *errors)
{
    for (uint32_t i = 0; i < search->list->count; i++)
        if (!search_from(search, i)) {
            name_circle(search, arena, errors);
            return false;
        }
    return true;
}

bool
flow_order_find(struct flow_list *list, struct arena *arena, struct error_list *errors)
{
    struct search search = {.list = list};
    list->order = NULL;
    if (is_in_order(list))
        return true;
    list->order = search.order = arena_alloc(arena, list->count, sizeof *search.order);
    struct arena *scratch = arena_new_beside(arena);
    search.visits = arena_alloc(scratch, list->count, sizeof *search.visits);
    search.cursors = arena_alloc(scratch, list->count, sizeof *search.cursors);
    search.path = arena_alloc(scratch, list->count, sizeof *search.path);
    bool is_found = search_all(&search, scratch, errors);
    arena_free(scratch);
    return is_found;
}
