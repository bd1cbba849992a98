/* The best plans of a space.
 *
 * Plans are sorted by their bounds and simulated from the lowest on, a block at a time; once as
 * many as are wanted are better than the bound of all that follow, those need not be looked at. A
 * block is always as large, so that what is simulated does not depend on how many threads do it. */
#include "sim/cli/search.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/cli/search_answers.h"

enum { BLOCK_PLANS = 32 };

/* Plans one behind the other that agree in all degrees and the microbatch. */
struct groups {
    struct search *search;
    size_t *starts; /* of each, and the end of the last */
    size_t count, bound_count;
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

static bool
ask_bounds(void *context, size_t index, int thread, struct text *question)
{
    const struct groups *groups = context;
    size_t first = groups->starts[index];
    (void)thread;
    search_append_points(question, &groups->search->plans[first],
                         groups->starts[index + 1] - first);
    return true;
}

static bool
take_bounds(void *context, size_t index, const struct text *answer)
{
    struct groups *groups = context;
    struct search_plan *plans = &groups->search->plans[groups->starts[index]];
    size_t count = groups->starts[index + 1] - groups->starts[index];
    for (size_t i = 0; i < count; i++) {
        struct bound_answer in;
        memcpy(&in, answer->bytes + i * sizeof in, sizeof in);
        plans[i].bound_s = in.bound_s;
        plans[i].status = in.has_price ? SEARCH_UNSEEN : SEARCH_NO_PRICE;
    }
    groups->bound_count += count;
    if (groups->search->progress)
        progress_show(groups->search->progress, groups->bound_count, 0);
    return true;
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

/* Of a slice, only its own plans stay. */
static void
keep_slice(struct search *search)
{
    search->plan_count = slice_points(&search->slice, search->list.count);
    for (size_t i = 0; i < search->plan_count; i++)
        search->plans[i] = search->plans[slice_point(&search->slice, i)];
}

static void
make_plans(struct search *search, struct crew *crew)
{
    search->list = plan_space_list(&search->space, search->arena);
    search->plans = arena_alloc(search->arena, search->list.count + 1, sizeof *search->plans);
    for (size_t i = 0; i < search->list.count; i++)
        search->plans[i].point = search->list.points[i];
    struct groups groups = make_groups(search);
    if (search->progress)
        search->progress->total = search->list.count;
    crew_run(crew, &(struct crew_work){.question = ASK_BOUNDS,
                                       .count = groups.count,
                                       .context = &groups,
                                       .ask = ask_bounds,
                                       .take = take_bounds});
    qsort(search->plans, search->list.count, sizeof *search->plans, compare_bounds);
    keep_slice(search);
}

struct search_block {
    struct search *search;
    struct search_plan *plans;
    bool is_wanted[BLOCK_PLANS];
    struct run_key keys[BLOCK_PLANS]; /* "" where there is none */
    struct sweep_row rows[BLOCK_PLANS];
    bool has_row[BLOCK_PLANS];
};

static bool
ask_memory(void *context, size_t index, int thread, struct text *question)
{
    const struct search_block *block = context;
    (void)thread;
    search_append_points(question, &block->plans[index], 1);
    return block->plans[index].status == SEARCH_UNSEEN;
}

static bool
take_memory(void *context, size_t index, const struct text *answer)
{
    const struct search_block *block = context;
    struct memory_answer in;
    if (!answer)
        return true;
    memcpy(&in, answer->bytes, sizeof in);
    block->plans[index].memory_bytes = in.peak_bytes;
    block->plans[index].status = in.fits ? SEARCH_UNSEEN : SEARCH_NO_MEMORY;
    return true;
}

static bool
recall(struct search_block *block, size_t index, int thread, struct run_key *key,
       struct arena *arena)
{
    struct search *search = block->search;
    struct search_plan *plan = &block->plans[index];
    struct error_list errors = {0};
    struct text nothing = text_new(arena);
    struct run_settings settings = search_settings(search, &plan->point, arena);
    const struct run *run = run_again(search->space.base, &settings, arena, &errors);
    block->has_row[index] =
        run && known_points_key(search->known, run, &settings, &nothing, key) &&
        store_find(search->known->store, thread, key->digits, &block->rows[index]);
    return block->has_row[index];
}

static bool
ask_step(void *context, size_t index, int thread, struct text *question)
{
    struct search_block *block = context;
    if (!block->is_wanted[index] ||
        (block->search->known && block->search->known->store &&
         recall(block, index, thread, &block->keys[index], question->arena)))
        return false;
    search_append_points(question, &block->plans[index], 1);
    return true;
}

static bool
keep(struct search_block *block, size_t index, struct arena *arena)
{
    struct search *search = block->search;
    const struct search_plan *plan = &block->plans[index];
    if (!*block->keys[index].digits || plan->status != SEARCH_DONE)
        return true;
    struct run_settings settings = search_settings(search, &plan->point, arena);
    return known_points_keep(search->known, &block->keys[index], &settings, plan->row,
                             &search->errors);
}

static bool
take_step(void *context, size_t index, const struct text *answer)
{
    struct search_block *block = context;
    struct search *search = block->search;
    struct search_plan *plan = &block->plans[index];
    struct sweep_row *row = &block->rows[index];
    search->looked_count++;
    search->known_count += !answer;
    if (search->progress)
        progress_show(search->progress, search->looked_count, search->known_count);
    if (answer && answer->length > 0) {
        memcpy(row->values, answer->bytes, sizeof row->values);
        block->has_row[index] = true;
    }
    if (block->has_row[index]) {
        plan->status = SEARCH_DONE;
        plan->row = arena_copy(search->arena, row, sizeof *row);
    } else if (answer) {
        plan->status = SEARCH_NO_PRICE;
    }
    return !answer || keep(block, index, answer->arena);
}

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
    return plan->row->values[SWEEP_STEP_S];
}

double
search_cost_per_million_tokens(const struct search *search, const struct search_plan *plan)
{
    const double million = 1e6, hour_s = 3600;
    return search->price_per_gpu_hour / hour_s * million /
           plan->row->values[SWEEP_TOKENS_PER_S_PER_GPU];
}

double
search_score(const struct search *search, const struct search_plan *plan)
{
    switch (search->objective) {
    case OBJECTIVE_TOKENS:
        return -plan->row->values[SWEEP_TOKENS_PER_S_PER_GPU];
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

/* Puts a plan where it belongs, behind equals; the list has room for one more. */
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

static void
insert_best(struct search *search, const struct search_plan *plan)
{
    size_t place = search->best_count;
    struct place own = place_of(search, plan, step_of(plan));
    for (; place > 0; place--) {
        const struct search_plan *before = search->best[place - 1];
        if (!is_before(own, place_of(search, before, step_of(before))))
            break;
        search->best[place] = before;
    }
    search->best[place] = plan;
    search->best_count += search->best_count < search->top;
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
    insert(search->front, &search->front_count, search->plan_count, plan);
}

static bool
is_wanted(const struct search *search, const struct search_plan *plan)
{
    if (plan->status != SEARCH_UNSEEN)
        return false;
    return search->is_exhaustive || can_be_best(search, plan, plan->bound_s) ||
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
        if (can_be_best(search, plan, step_of(plan)))
            insert_best(search, plan);
        add_to_front(search, plan);
        if (search->best[0] == plan && search->tell)
            search->tell(search, plan);
    }
}

static bool
run_block(struct crew *crew, struct search *search, struct search_plan *plans, size_t count)
{
    struct search_block *block = &(struct search_block){.search = search, .plans = plans};
    bool is_whole = crew_run(crew, &(struct crew_work){.question = ASK_MEMORY,
                                                       .count = count,
                                                       .context = block,
                                                       .ask = ask_memory,
                                                       .take = take_memory});
    for (size_t i = 0; i < count; i++)
        block->is_wanted[i] = is_wanted(search, &plans[i]);
    is_whole = is_whole && crew_run(crew, &(struct crew_work){.question = ASK_STEP,
                                                              .count = count,
                                                              .context = block,
                                                              .ask = ask_step,
                                                              .take = take_step});
    take_results(search, plans, count);
    return is_whole;
}

/* Whether nothing from this bound on can matter. */
static bool
is_over(const struct search *search, double bound_s)
{
    bool is_by_step = search->objective != OBJECTIVE_MEMORY && !search->has_front;
    return is_by_step && !search->is_exhaustive && search->best_count == search->top &&
           bound_s >= step_of(search->best[search->top - 1]);
}

/* Plans whose bounds are below what the best are by now: no more will be looked at. */
static void
show_total(struct search *search)
{
    size_t low = 0, high = search->plan_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (is_over(search, search->plans[middle].bound_s))
            high = middle;
        else
            low = middle + 1;
    }
    if (search->progress)
        search->progress->total = low;
}

static void
run_plans(struct search *search, struct crew *crew)
{
    size_t count = search->plan_count, first = 0;
    while (first < count && !is_over(search, search->plans[first].bound_s)) {
        search->was_stopped = search->is_stopped && search->is_stopped();
        if (search->was_stopped)
            break;
        size_t size = count - first < BLOCK_PLANS ? count - first : BLOCK_PLANS;
        show_total(search);
        search->was_stopped = !run_block(crew, search, &search->plans[first], size);
        first += size;
        if (search->was_stopped)
            break;
    }
    search->unseen_count += count - first;
}

void
search_run(struct search *search)
{
    struct crew own = {.arena = search->arena,
                       .threads = search->threads,
                       .answers = SEARCH_ANSWERS,
                       .setup = search,
                       .is_stopped = search->is_stopped};
    struct crew *crew = search->crew ? search->crew : &own;
    if (crew == &own && !crew_open(&own))
        return;
    make_plans(search, crew);
    search->best = arena_alloc(search->arena, search->top + 1, sizeof(void *));
    search->front = arena_alloc(search->arena, search->plan_count + 1, sizeof(void *));
    run_plans(search, crew);
    if (crew == &own)
        crew_close(&own);
    if (search->known && search->known->store)
        store_flush(search->known->store, &search->errors);
    if (search->progress)
        progress_hide(search->progress);
}
