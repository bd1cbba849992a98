/* The best plans of a space: bounds sort and screen them, the simulation decides. What is kept of
 * the others is their bounds, as much as fits some megabytes in memory and the rest on disk. */
#ifndef SIM_CLI_SEARCH_H
#define SIM_CLI_SEARCH_H

#include "models/plan_space.h"
#include "sim/cli/crew.h"
#include "sim/cli/known_points.h"
#include "sim/cli/progress.h"
#include "sim/cli/slice.h"

enum search_status {
    SEARCH_UNSEEN, /* its bound is above the best, or the search was stopped before it */
    SEARCH_DONE,
    SEARCH_NO_MEMORY,
    SEARCH_NO_PRICE, /* or too large to simulate */
};

/* What the best are the best by. With one number of GPUs and one batch the shortest step is also
 * the most tokens for each GPU and the least money; over several numbers of nodes they differ. */
enum search_objective {
    OBJECTIVE_STEP,
    OBJECTIVE_TOKENS, /* most tokens a second and GPU */
    OBJECTIVE_MEMORY, /* least; of equal ones the shorter step */
    OBJECTIVE_COST,   /* least for a token */
    OBJECTIVE_COUNT
};
const char *search_objective_key(enum search_objective objective); /* "tokens_per_s_per_gpu" */

struct search_plan {
    struct plan_point point;
    size_t place;   /* among all legal plans by their bounds */
    double bound_s; /* no step is shorter */
    enum search_status status;
    struct sweep_row row; /* of SEARCH_DONE */
    double memory_bytes;  /* of all that were looked at */
    int holders;          /* best and front */
};

/* Of a simulated plan what its dot in a picture shows. */
struct search_dot {
    size_t place;
    double step_s, memory_bytes;
};

struct search {
    /* Set by the caller. */
    struct plan_space space;
    struct arena *arena;
    int threads;
    size_t top; /* how many of the best are wanted */
    enum search_objective objective;
    double price_per_gpu_hour; /* in any currency; 0: not known */
    bool has_front;            /* and every plan that no other beats in both step and memory */
    bool is_exhaustive;        /* simulates every plan that fits: to hold the screen against */
    bool has_dots;             /* and a dot for each that was simulated */
    size_t held_plans;         /* bounds in memory, others on disk; 0: the usual */
    int64_t nodes;             /* that the base was given: said with its plans; 0: its own */
    bool (*is_stopped)(void);
    void (*tell)(const struct search *search, const struct search_plan *best);
    struct slice slice;               /* of the legal plans by their bounds */
    const struct known_points *known; /* where simulated plans are found and kept, or NULL */
    struct crew *crew;                /* opened by the caller; NULL: one of its own */
    struct progress *progress;        /* shown, or NULL */

    /* Set by search_run. */
    struct plan_counts counts;
    size_t plan_count;         /* legal ones; of a slice, its own */
    struct search_plan **best; /* by step: at most top of them */
    size_t best_count;
    struct search_plan **front; /* by step */
    size_t front_count, front_room;
    struct search_plan **idle; /* room for plans that neither holds any longer */
    size_t idle_count, idle_room;
    struct search_dot *dots; /* by place */
    size_t dot_count, dot_room;
    size_t simulated_count, no_memory_count, no_price_count, unseen_count;
    size_t looked_count, known_count; /* plans so far, and those that were known */
    bool was_stopped;
    struct error_list errors; /* of what could not be kept: then it was stopped too */
};

/* The same for any number of threads. */
void search_run(struct search *search);

/* What a million tokens cost by a plan that was simulated. */
double search_cost_per_million_tokens(const struct search *search,
                                      const struct search_plan *plan);
/* By what the search's objective says of it: less is better. */
double search_score(const struct search *search, const struct search_plan *plan);

#endif
