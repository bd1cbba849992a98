/* The best by one objective, and the plans that none beats in both step and memory. */
#include "sim/cli/search_best.h"

#include <assert.h>
#include <math.h>

const char *
search_objective_key(enum search_objective objective)
{
    static const char *const keys[] = {"step", "tokens_per_s_per_gpu", "memory", "cost"};
    static_assert(sizeof keys / sizeof *keys == OBJECTIVE_COUNT, "a key for each objective");
    return keys[objective];
}

static double
step_of(const struct search_plan *plan)
{
    return plan->row.values[SWEEP_STEP_S];
}

double
search_cost_per_million_tokens(const struct search *search, const struct search_plan *plan)
{
    const double million = 1e6, hour_s = 3600;
    return search->price_per_gpu_hour / hour_s * million /
           plan->row.values[SWEEP_TOKENS_PER_S_PER_GPU];
}

double
search_score(const struct search *search, const struct search_plan *plan)
{
    switch (search->objective) {
    case OBJECTIVE_TOKENS:
        return -plan->row.values[SWEEP_TOKENS_PER_S_PER_GPU];
    case OBJECTIVE_MEMORY:
        return plan->memory_bytes;
    case OBJECTIVE_COST:
        return search_cost_per_million_tokens(search, plan);
    case OBJECTIVE_STEP:
    case OBJECTIVE_COUNT:
        break;
    }
    return step_of(plan);
}

/* A place among the best of one number of GPUs: memory first where that is asked for, else the step
 * alone, which tokens and money follow. */
struct place {
    double memory_bytes, step_s;
};

static struct place
place_of(const struct search *search, const struct search_plan *plan, double step_s)
{
    bool is_by_memory = search->objective == OBJECTIVE_MEMORY;
    return (struct place){is_by_memory ? plan->memory_bytes : 0, step_s};
}

static bool
is_before(struct place a, struct place b)
{
    if (a.memory_bytes < b.memory_bytes || a.memory_bytes > b.memory_bytes)
        return a.memory_bytes < b.memory_bytes;
    return a.step_s < b.step_s;
}

/* A copy that lasts, where one was that is needed no longer. */
static struct search_plan *
keep(struct search *search, const struct search_plan *plan)
{
    struct search_plan *kept = search->idle_count > 0
                                   ? search->idle[--search->idle_count]
                                   : arena_alloc(search->arena, 1, sizeof *kept);
    *kept = *plan;
    kept->holders = 0;
    return kept;
}

static void
let_go(struct search *search, struct search_plan *plan)
{
    if (--plan->holders > 0)
        return;
    search->idle = arena_grow(search->arena, search->idle, search->idle_count,
                              &search->idle_room, sizeof(void *));
    search->idle[search->idle_count++] = plan;
}

/* Puts a plan where it belongs, behind equals; the list has room for one more. */
static void
insert_best(struct search *search, struct search_plan *plan)
{
    size_t place = search->best_count;
    struct place own = place_of(search, plan, step_of(plan));
    for (; place > 0; place--) {
        struct search_plan *before = search->best[place - 1];
        if (!is_before(own, place_of(search, before, step_of(before))))
            break;
        search->best[place] = before;
    }
    search->best[place] = plan;
    plan->holders++;
    if (search->best_count < search->top)
        search->best_count++;
    else
        let_go(search, search->best[search->top]);
}

/* Whether a plan of that step, or of no shorter one, may be among the best. */
static bool
can_be_best(const struct search *search, const struct search_plan *plan, double step_s)
{
    if (search->best_count < search->top)
        return true;
    const struct search_plan *worst = search->best[search->top - 1];
    return is_before(place_of(search, plan, step_s), place_of(search, worst, step_of(worst)));
}

/* Whether a plan of the front has no longer step than this and takes no more memory. */
static bool
is_beaten(const struct search *search, double step_s, double memory_bytes)
{
    for (size_t i = 0; i < search->front_count; i++)
        if (step_of(search->front[i]) <= step_s &&
            search->front[i]->memory_bytes <= memory_bytes)
            return true;
    return false;
}

/* Those that it beats make room. */
static void
add_to_front(struct search *search, struct search_plan *plan)
{
    size_t kept = 0;
    for (size_t i = 0; i < search->front_count; i++) {
        struct search_plan *old = search->front[i];
        if (step_of(old) >= step_of(plan) && old->memory_bytes >= plan->memory_bytes)
            let_go(search, old);
        else
            search->front[kept++] = old;
    }
    search->front =
        arena_grow(search->arena, search->front, kept, &search->front_room, sizeof(void *));
    search->front_count = kept + 1;
    for (; kept > 0 && step_of(search->front[kept - 1]) > step_of(plan); kept--)
        search->front[kept] = search->front[kept - 1];
    search->front[kept] = plan;
    plan->holders++;
}

void
search_best_begin(struct search *search)
{
    search->best = arena_alloc(search->arena, search->top + 1, sizeof(void *));
    search->best_count = search->front_count = search->idle_count = search->dot_count = 0;
}

bool
search_best_wants(const struct search *search, const struct search_plan *plan)
{
    return search->is_exhaustive || can_be_best(search, plan, plan->bound_s) ||
           (search->has_front && !is_beaten(search, plan->bound_s, plan->memory_bytes));
}

double
search_best_enough_s(const struct search *search)
{
    bool is_by_step = search->objective != OBJECTIVE_MEMORY && !search->has_front;
    bool is_enough = is_by_step && !search->is_exhaustive && search->best_count == search->top;
    return is_enough ? step_of(search->best[search->top - 1]) : (double)INFINITY;
}

bool
search_best_take(struct search *search, const struct search_plan *plan)
{
    bool is_good = can_be_best(search, plan, step_of(plan));
    bool is_on_front = !is_beaten(search, step_of(plan), plan->memory_bytes);
    if (!is_good && !is_on_front)
        return false;
    struct search_plan *kept = keep(search, plan);
    if (is_good)
        insert_best(search, kept);
    if (is_on_front)
        add_to_front(search, kept);
    return search->best[0] == kept;
}
