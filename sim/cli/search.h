/* The best plans of a space: bounds sort and screen them, the simulation decides. */
#ifndef SIM_CLI_SEARCH_H
#define SIM_CLI_SEARCH_H

#include "models/plan_space.h"
#include "sim/cli/sweep_point.h"

enum search_status {
    SEARCH_UNSEEN, /* its bound is above the best, or the search was stopped before it */
    SEARCH_DONE,
    SEARCH_NO_MEMORY,
    SEARCH_NO_PRICE, /* or too large to simulate */
};

struct search_plan {
    struct plan_point point;
    double bound_s; /* no step is shorter */
    enum search_status status;
    struct sweep_row row; /* of SEARCH_DONE */
    double memory_bytes;  /* of all that were looked at */
};

struct search {
    /* Set by the caller. */
    struct plan_space space;
    struct arena *arena;
    int threads;
    size_t top;         /* how many of the best are wanted */
    bool has_front;     /* and every plan that no other beats in both step and memory */
    bool is_exhaustive; /* simulates every plan that fits: to hold the screen against */
    bool (*is_stopped)(void);
    void (*tell)(const struct search *search, const struct search_plan *best);

    /* Set by search_run. */
    struct plan_list list;
    struct search_plan *plans;       /* by bound, then in order of the list */
    const struct search_plan **best; /* by step: at most top of them */
    size_t best_count;
    const struct search_plan **front; /* by step */
    size_t front_count;
    size_t simulated_count, no_memory_count, no_price_count, unseen_count;
    bool was_stopped;
};

/* The same for any number of threads. */
void search_run(struct search *search);

#endif
