/* For tests only: all legal plans of a space at once. */
#ifndef MODELS_CHECK_PLAN_LIST_H
#define MODELS_CHECK_PLAN_LIST_H

#include "models/plan_space.h"

struct plan_list {
    struct plan_point *points;
    size_t count, room;
    struct plan_counts counts;
    struct arena *arena;
};

static inline void
check_plan_take(void *context, const struct plan_point *point)
{
    struct plan_list *list = context;
    list->points =
        arena_grow(list->arena, list->points, list->count, &list->room, sizeof *list->points);
    list->points[list->count++] = *point;
}

static inline struct plan_list
check_plan_list(const struct plan_space *space, struct arena *arena)
{
    struct plan_list list = {.arena = arena};
    list.counts = plan_space_walk(space, check_plan_take, &list);
    return list;
}

#endif
