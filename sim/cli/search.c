/* The best plans of a space.
 *
 * Plans are sorted by their bounds and simulated from the lowest on, a block at a time; once as
 * many as are wanted are better than the bound of all that follow, those need not be looked at. A
 * block is always as large, so that what is simulated does not depend on how many threads do it. */
#include "sim/cli/search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/bound.h"
#include "models/step.h"
#include "sim/cli/parallel.h"

enum {
    BLOCK_PLANS = 32,
    KEYS_MAX = 8, /* recomputations x orders: what differs within a group */
};

/* The run with another plan. Each has a copy of the plan's file: looking things up marks them. */
static const struct run *
make_run(const struct search *search, const struct plan_point *point, struct arena *arena,
         struct error_list *errors)
{
    struct plan *plan = arena_alloc(arena, 1, sizeof *plan);
    struct run *run = arena_copy(arena, search->space.base, sizeof *run);
    *plan = plan_space_plan(&search->space, point);
    run->inputs.workload.plan = plan;
    run->plan_object = json_read_again(arena, search->space.base->plan_object, errors);
    return run->plan_object ? run : NULL;
}

/* Plans one behind the other that agree in all degrees and the microbatch. */
struct groups {
    struct search *search;
    size_t *starts; /* of each, and the end of the last */
    size_t count;
};

static bool
is_same_group(const struct plan_point *a, const struct plan_point *b)
{
    return memcmp(a->values, b->values, PLAN_FIELD_SCHEDULE * sizeof *a->values) == 0;
}

static struct groups
make_groups(struct search *search)
{
    struct groups groups = {.search = search};
    groups.starts = arena_alloc(search->arena, search->list.count + 1, sizeof *groups.starts);
    for (size_t i = 0; i < search->list.count; i++)
        if (i == 0 || !is_same_group(&search->list.points[i], &search->list.points[i - 1]))
            groups.starts[groups.count++] = i;
    groups.starts[groups.count] = search->list.count;
    return groups;
}

struct known_blocks {
    struct bound_key keys[KEYS_MAX];
    struct bound_blocks blocks[KEYS_MAX];
    bool has_price[KEYS_MAX];
    int count;
};

/* Index of the plan's blocks, priced if they are not known. */
static int
find_blocks(struct known_blocks *known, const struct step_inputs *inputs, struct arena *arena)
{
    struct bound_key key = bound_key_of(inputs->workload.plan);
    int i = 0;
    while (i < known->count && !bound_key_equals(&known->keys[i], &key))
        i++;
    if (i < known->count)
        return i;
    struct error_list errors = {0};
    i = known->count < KEYS_MAX ? known->count++ : KEYS_MAX - 1;
    known->keys[i] = key;
    known->has_price[i] = bound_price(inputs, &known->blocks[i], arena, &errors);
    return i;
}

static void
bound_group(void *context, size_t index, int thread)
{
    const struct groups *groups = context;
    const struct search *search = groups->search;
    (void)thread;
    if (search->is_stopped && search->is_stopped())
        return;
    struct arena *arena = arena_new_beside(search->arena);
    struct known_blocks *known = arena_alloc(arena, 1, sizeof *known);
    for (size_t i = groups->starts[index]; i < groups->starts[index + 1]; i++) {
        struct search_plan *out = &search->plans[i];
        struct plan plan = plan_space_plan(&search->space, &out->point);
        struct step_inputs inputs = search->space.base->inputs;
        inputs.workload.plan = &plan;
        int place = find_blocks(known, &inputs, arena);
        if (known->has_price[place])
            out->bound_s = bound_step_s(&inputs, &known->blocks[place]);
        else
            out->status = SEARCH_NO_PRICE;
    }
    arena_free(arena);
}

/* Equal bounds stay in the order of the list, which is that of their values. */
static int
compare_bounds(const void *a, const void *b)
{
    const struct search_plan *one = a, *two = b;
    if (one->bound_s < two->bound_s || one->bound_s > two->bound_s)
        return one->bound_s < two->bound_s ? -1 : 1;
    for (int i = 0; i < PLAN_FIELD_COUNT; i++)
        if (one->point.values[i] != two->point.values[i])
            return one->point.values[i] < two->point.values[i] ? -1 : 1;
    return 0;
}

static void
make_plans(struct search *search)
{
    search->list = plan_space_list(&search->space, search->arena);
    search->plans = arena_alloc(search->arena, search->list.count + 1, sizeof *search->plans);
    for (size_t i = 0; i < search->list.count; i++)
        search->plans[i].point = search->list.points[i];
    struct groups groups = make_groups(search);
    struct parallel_work work = {bound_group, &groups, groups.count};
    parallel_run(&work, search->threads);
    qsort(search->plans, search->list.count, sizeof *search->plans, compare_bounds);
}

struct search_block {
    struct search *search;
    struct search_plan *plans;
    bool is_wanted[BLOCK_PLANS];
};

static void
measure_memory(void *context, size_t index, int thread)
{
    const struct search_block *block = context;
    struct search_plan *out = &block->plans[index];
    struct arena *arena = arena_new_beside(block->search->arena);
    struct plan plan = plan_space_plan(&block->search->space, &out->point);
    struct step_inputs inputs = block->search->space.base->inputs;
    (void)thread;
    inputs.workload.plan = &plan;
    if (out->status == SEARCH_UNSEEN) {
        struct memory memory = memory_of(&inputs, arena);
        out->memory_bytes = memory.peak;
        if (memory.peak > memory.capacity)
            out->status = SEARCH_NO_MEMORY;
    }
    arena_free(arena);
}

static void
simulate(void *context, size_t index, int thread)
{
    const struct search_block *block = context;
    struct search_plan *out = &block->plans[index];
    struct error_list errors = {0};
    (void)thread;
    if (!block->is_wanted[index])
        return;
    struct arena *arena = arena_new_beside(block->search->arena);
    const struct run *run = make_run(block->search, &out->point, arena, &errors);
    const struct step *step = run ? step_simulate(run, RANKS_FOLDED, arena, &errors) : NULL;
    out->status = step ? SEARCH_DONE : SEARCH_NO_PRICE;
    if (step)
        sweep_row_fill(&out->row, step);
    arena_free(arena);
}

static double
step_of(const struct search_plan *plan)
{
    return plan->row.values[SWEEP_STEP_S];
}

/* Puts a plan where it belongs by its step, behind equals; the list has room for one more. */
static void
insert(const struct search_plan **plans, size_t *count, size_t most,
       const struct search_plan *plan)
{
    size_t place = *count;
    while (place > 0 && step_of(plans[place - 1]) > step_of(plan)) {
        plans[place] = plans[place - 1];
        place--;
    }
    plans[place] = plan;
    *count += *count < most;
}

/* The step that a plan must be below to be among the best; infinite while there is room. */
static double
worst_of_best_s(const struct search *search)
{
    return search->best_count < search->top ? (double)INFINITY
                                            : step_of(search->best[search->top - 1]);
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

static void
add_to_front(struct search *search, const struct search_plan *plan)
{
    size_t kept = 0;
    if (is_beaten(search, step_of(plan), plan->memory_bytes))
        return;
    for (size_t i = 0; i < search->front_count; i++) {
        const struct search_plan *old = search->front[i];
        bool is_worse =
            step_of(old) >= step_of(plan) && old->memory_bytes >= plan->memory_bytes;
        if (!is_worse)
            search->front[kept++] = old;
    }
    search->front_count = kept;
    insert(search->front, &search->front_count, search->list.count, plan);
}

static bool
is_wanted(const struct search *search, const struct search_plan *plan)
{
    if (plan->status != SEARCH_UNSEEN)
        return false;
    return search->is_exhaustive || plan->bound_s < worst_of_best_s(search) ||
           (search->has_front && !is_beaten(search, plan->bound_s, plan->memory_bytes));
}

static void
take_results(struct search *search, const struct search_plan *plans, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct search_plan *plan = &plans[i];
        search->no_memory_count += plan->status == SEARCH_NO_MEMORY;
        search->no_price_count += plan->status == SEARCH_NO_PRICE;
        search->unseen_count += plan->status == SEARCH_UNSEEN;
        if (plan->status != SEARCH_DONE)
            continue;
        search->simulated_count++;
        bool is_first = search->best_count == 0 || step_of(plan) < step_of(search->best[0]);
        if (step_of(plan) < worst_of_best_s(search))
            insert(search->best, &search->best_count, search->top, plan);
        add_to_front(search, plan);
        if (is_first && search->tell)
            search->tell(search, plan);
    }
}

static void
run_block(struct search *search, struct search_plan *plans, size_t count)
{
    struct search_block block = {.search = search, .plans = plans};
    parallel_run(&(struct parallel_work){measure_memory, &block, count}, search->threads);
    for (size_t i = 0; i < count; i++)
        block.is_wanted[i] = is_wanted(search, &plans[i]);
    parallel_run(&(struct parallel_work){simulate, &block, count}, search->threads);
    take_results(search, plans, count);
}

/* Whether nothing from this bound on can matter. */
static bool
is_over(const struct search *search, double bound_s)
{
    return !search->has_front && !search->is_exhaustive && bound_s >= worst_of_best_s(search);
}

void
search_run(struct search *search)
{
    make_plans(search);
    size_t count = search->list.count, first = 0;
    search->best = arena_alloc(search->arena, search->top + 1, sizeof(void *));
    search->front = arena_alloc(search->arena, count + 1, sizeof(void *));
    while (first < count && !is_over(search, search->plans[first].bound_s)) {
        search->was_stopped = search->is_stopped && search->is_stopped();
        if (search->was_stopped)
            break;
        size_t size = count - first < BLOCK_PLANS ? count - first : BLOCK_PLANS;
        run_block(search, &search->plans[first], size);
        first += size;
    }
    search->unseen_count += count - first;
}
