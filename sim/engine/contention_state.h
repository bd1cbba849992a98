/* For the files of sim/engine/contention.h: what is known of drains and resources. */
#ifndef SIM_ENGINE_CONTENTION_STATE_H
#define SIM_ENGINE_CONTENTION_STATE_H

#include "sim/engine/contention.h"
#include "sim/engine/sharing.h"

enum { NO_LINK = 0 }; /* links are counted from 1 */

static const uint32_t UNVISITED = UINT32_MAX;
static const uint32_t NO_DRAIN = UINT32_MAX;
static const uint32_t NO_SORT = UINT32_MAX;

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
    double limit_per_s; /* the same and a bit for rounding */
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

/* What is asked often of a demand. */
struct need {
    uint32_t sort; /* those of a sort take the same resources, each once; or NO_SORT */
    double most_asked_per_s; /* of any resource */
};

struct contention {
    const struct task_demand *demands; /* the graph's */
    const struct need *needs;          /* of each */
    double least_limit_per_s;          /* of any resource */
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

static inline void
pace_set_rate(struct pace *pace, double rate_per_s)
{
    pace->rate_per_s = rate_per_s;
    pace->level = rate_per_s / pace->weight;
}

static inline bool
supply_is_short(const struct supply *supply)
{
    return supply->asked_per_s > supply->limit_per_s;
}

#endif
