/* The best plans of a space.
 *
 * Plans are sorted by their bounds and simulated from the lowest on, a block at a time; once as
 * many as are wanted are better than the bound of all that follow, those need not be looked at. A
 * block is always as large, so that what is simulated does not depend on how many threads do it. */
#include "sim/cli/search.h"

#include <math.h>
#include <string.h>

#include "sim/cli/search_answers.h"
#include "sim/cli/search_best.h"
#include "sim/cli/search_bounds.h"

enum { BLOCK_PLANS = 32 };

struct search_block {
    struct search *search;
    struct search_plan plans[BLOCK_PLANS];
    struct memory memories[BLOCK_PLANS];
    size_t count;
    bool is_wanted[BLOCK_PLANS];
    struct run_key keys[BLOCK_PLANS]; /* "" where there is none */
    bool has_row[BLOCK_PLANS];
};

static bool
ask_memory(void *context, size_t index, int thread, struct text *question)
{
    const struct search_block *block = context;
    (void)thread;
    search_append_point(question, &block->plans[index].point);
    return block->plans[index].status == SEARCH_UNSEEN;
}

static bool
take_memory(void *context, size_t index, const struct text *answer)
{
    struct search_block *block = context;
    struct memory *memory = &block->memories[index];
    if (!answer)
        return true;
    memcpy(memory, answer->bytes, sizeof *memory);
    block->plans[index].memory_bytes = memory->peak;
    block->plans[index].status =
        memory->peak <= memory->capacity ? SEARCH_UNSEEN : SEARCH_NO_MEMORY;
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
    block->has_row[index] = run &&
                            known_points_key(search->known, run, &settings, &nothing, key) &&
                            store_find(search->known->store, thread, key->digits, &plan->row);
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
    search_append_point(question, &block->plans[index].point);
    text_append(question, (const char *)&block->memories[index], sizeof block->memories[index]);
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
    return known_points_keep(search->known, &block->keys[index], &settings, &plan->row,
                             &search->errors);
}

static bool
take_step(void *context, size_t index, const struct text *answer)
{
    struct search_block *block = context;
    struct search *search = block->search;
    struct search_plan *plan = &block->plans[index];
    search->looked_count++;
    search->known_count += !answer;
    if (search->progress)
        progress_show(search->progress, search->looked_count, search->known_count);
    if (answer && answer->length > 0) {
        memcpy(plan->row.values, answer->bytes, sizeof plan->row.values);
        block->has_row[index] = true;
    }
    if (block->has_row[index])
        plan->status = SEARCH_DONE;
    else if (answer)
        plan->status = SEARCH_NO_PRICE;
    return !answer || keep(block, index, answer->arena);
}

static void
add_dot(struct search *search, const struct search_plan *plan)
{
    search->dots = arena_grow(search->arena, search->dots, search->dot_count, &search->dot_room,
                              sizeof *search->dots);
    search->dots[search->dot_count++] =
        (struct search_dot){plan->place, plan->row.values[SWEEP_STEP_S], plan->memory_bytes};
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
        if (search->has_dots)
            add_dot(search, plan);
        if (search_best_take(search, plan) && search->tell)
            search->tell(search, plan);
    }
}

static bool
run_block(struct crew *crew, struct search *search, struct search_block *block)
{
    bool is_whole = crew_run(crew, &(struct crew_work){.question = ASK_MEMORY,
                                                       .count = block->count,
                                                       .context = block,
                                                       .ask = ask_memory,
                                                       .take = take_memory});
    for (size_t i = 0; i < block->count; i++)
        block->is_wanted[i] = block->plans[i].status == SEARCH_UNSEEN &&
                              search_best_wants(search, &block->plans[i]);
    is_whole = is_whole && crew_run(crew, &(struct crew_work){.question = ASK_STEP,
                                                              .count = block->count,
                                                              .context = block,
                                                              .ask = ask_step,
                                                              .take = take_step});
    take_results(search, block->plans, block->count);
    return is_whole;
}

/* The plans of the slice in their order. */
struct reader {
    struct search *search;
    struct bound_order *order;
    size_t passed; /* of all slices */
    size_t count;  /* of the own, the next included */
    bool has_next;
    struct bounded_plan next;
};

static void
read_next(struct reader *reader)
{
    struct search *search = reader->search;
    size_t wanted = slice_point(&search->slice, reader->count++);
    reader->has_next = wanted < search->counts.legal_count;
    while (reader->has_next && reader->passed <= wanted) {
        reader->has_next = bound_order_next(reader->order, &reader->next, &search->errors);
        reader->passed++;
    }
}

static void
fill_block(struct reader *reader, struct search_block *block)
{
    struct search *search = reader->search;
    *block = (struct search_block){.search = search};
    for (; reader->has_next && block->count < BLOCK_PLANS; read_next(reader)) {
        double bound_s = reader->next.bound_s;
        block->plans[block->count++] =
            (struct search_plan){.point = plan_space_point(&search->space, reader->next.place),
                                 .place = reader->passed - 1,
                                 .bound_s = bound_s,
                                 .status = bound_s < 0 ? SEARCH_NO_PRICE : SEARCH_UNSEEN};
    }
}

/* Plans whose bounds are below what the best are by now: no more will be looked at. */
static void
show_total(const struct search *search, const struct bound_order *order)
{
    double enough_s = search_best_enough_s(search);
    if (search->progress && search->progress->is_wanted)
        search->progress->total =
            slice_points(&search->slice, isfinite(enough_s) ? bound_order_below(order, enough_s)
                                                            : search->counts.legal_count);
}

static void
run_plans(struct search *search, struct crew *crew, struct bound_order *order)
{
    struct reader reader = {.search = search, .order = order};
    struct search_block block;
    size_t looked = 0;
    read_next(&reader);
    while (reader.has_next && reader.next.bound_s < search_best_enough_s(search)) {
        search->was_stopped = search->is_stopped && search->is_stopped();
        if (search->was_stopped)
            break;
        show_total(search, order);
        fill_block(&reader, &block);
        looked += block.count;
        search->was_stopped = !run_block(crew, search, &block);
        if (search->was_stopped)
            break;
    }
    search->was_stopped = search->was_stopped || search->errors.count > 0;
    search->unseen_count += search->plan_count - looked;
}

static void
find_plans(struct search *search, struct crew *crew)
{
    struct arena *arena = arena_new_beside(search->arena);
    struct bound_order *order = bound_order_new(search->held_plans, arena);
    search_best_begin(search);
    bool is_whole = search_bounds(search, crew, order);
    search->plan_count = slice_points(&search->slice, search->counts.legal_count);
    search->was_stopped = !is_whole;
    if (is_whole)
        run_plans(search, crew, order);
    else
        search->unseen_count = search->plan_count;
    bound_order_free(order);
    arena_free(arena);
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
    find_plans(search, crew);
    if (crew == &own)
        crew_close(&own);
    if (search->known && search->known->store)
        store_flush(search->known->store, &search->errors);
    if (search->progress)
        progress_hide(search->progress);
}
