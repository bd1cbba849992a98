/* For sim/engine/fluid.c only: flows over links as they are kept, and who runs how fast. */
#ifndef SIM_ENGINE_FLUID_LINKS_H
#define SIM_ENGINE_FLUID_LINKS_H

#include <stdbool.h>

#include "sim/engine/event_queue.h"
#include "sim/engine/fluid.h"

enum fluid_state { FLUID_WAITING, FLUID_RUNNING, FLUID_ENDED };

/* One number a flow, by its state. */
union fluid_progress {
    double work;       /* waiting */
    double rate_per_s; /* running; less than 0, the old one, until links are filled again */
    int64_t end_ps;    /* ended */
};

struct fluid_link {
    double capacity_per_s;
    double asked_per_s;    /* by its flows, each as if alone */
    double left_per_s;     /* while it is filled: for those that have no new rate */
    double rising;         /* sum of their amounts */
    uint32_t member_begin; /* its room */
    uint32_t member_count; /* running flows */
    uint32_t rising_count;
    bool is_changed; /* waits in `changed` */
    bool is_shared;  /* was short when last filled: flows may be slower than alone */
    bool is_visited;
};

/* A link that is full at that rate; of one not yet corrected, at that or a higher one. */
struct fluid_stop {
    double rate_per_s;
    uint32_t link;
};

struct fluid {
    struct arena *arena;
    union fluid_progress *progresses;
    uint8_t *states;
    uint32_t *passage_begins; /* by flow, and one more */
    size_t flow_count;
    uint32_t *passage_links, *passage_places; /* place: in the link's room */
    double *passage_amounts;                  /* NULL while all are 1 */
    size_t passage_count;
    struct fluid_size size;
    struct fluid_link *links;
    size_t link_count;
    uint32_t *members;
    int64_t *starts_ps; /* NULL while all of them are 0 */
    int64_t *delays_ps; /* likewise */
    uint32_t *befores;  /* dependencies, in the order of flows; NULL without */
    uint32_t *waits;    /* by flow: of how many it waits; NULL without */
    size_t before_count, before_capacity;
    uint32_t *follower_begins, *followers; /* by flow; while it runs, if there are any */
    struct event_queue *queue;
    int64_t now_ps;
    uint32_t *changed; /* links, in the order in which they changed */
    size_t changed_count;
    double changed_rate_per_s; /* slower flows keep their rates */
    uint32_t *group;           /* links that are filled together */
    size_t group_count;
    struct fluid_stop *stops; /* a binary heap */
    size_t stop_count;
    struct fluid_counts counts;
};

/* A flow begins to run, or has ended: its links are to be filled anew. */
void fluid_links_join(struct fluid *fluid, uint32_t flow);
void fluid_links_leave(struct fluid *fluid, uint32_t flow);

/* Fills what has changed in this instant, and moves the ends of those whose rates have. */
void fluid_links_settle(struct fluid *fluid);

#endif
