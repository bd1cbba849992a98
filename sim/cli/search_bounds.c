/* Plans that agree in all degrees and the microbatch have most prices in common: they are asked
 * for together, and many such groups at a time, so that no thread waits long for another. */
#include "sim/cli/search_bounds.h"

#include <string.h>

#include "sim/cli/search_answers.h"

/* Plans held at a time, by their places. */
enum { BATCH_PLANS = 1 << 16 };

const double SEARCH_NO_PRICE_BOUND_S = -1;

struct batch {
    struct search *search;
    struct crew *crew;
    struct bound_order *order;
    uint64_t *places;
    uint32_t *starts; /* of each group */
    size_t count, group_count;
    struct plan_point last; /* of the walk */
    size_t taken_count;     /* of all batches */
    bool is_over;
};

static size_t
group_end(const struct batch *batch, size_t group)
{
    return group + 1 < batch->group_count ? batch->starts[group + 1] : batch->count;
}

static bool
ask_bounds(void *context, size_t index, int thread, struct text *question)
{
    const struct batch *batch = context;
    (void)thread;
    for (size_t i = batch->starts[index]; i < group_end(batch, index); i++) {
        struct plan_point point = plan_space_point(&batch->search->space, batch->places[i]);
        search_append_point(question, &point);
    }
    return true;
}

static bool
take_bounds(void *context, size_t index, const struct text *answer)
{
    struct batch *batch = context;
    struct search *search = batch->search;
    size_t first = batch->starts[index], count = group_end(batch, index) - first;
    for (size_t i = 0; i < count; i++) {
        struct bound_answer in;
        memcpy(&in, answer->bytes + i * sizeof in, sizeof in);
        struct bounded_plan plan = {in.has_price ? in.bound_s : SEARCH_NO_PRICE_BOUND_S,
                                    batch->places[first + i]};
        if (!bound_order_add(batch->order, &plan, &search->errors))
            return false;
    }
    batch->taken_count += count;
    if (search->progress)
        progress_show(search->progress, batch->taken_count, 0);
    return true;
}

static void
ask_batch(struct batch *batch)
{
    const struct crew_work work = {.question = ASK_BOUNDS,
                                   .count = batch->group_count,
                                   .context = batch,
                                   .ask = ask_bounds,
                                   .take = take_bounds};
    if (!batch->is_over && batch->group_count > 0)
        batch->is_over = !crew_run(batch->crew, &work);
    batch->count = batch->group_count = 0;
}

static bool
is_same_group(const struct plan_point *a, const struct plan_point *b)
{
    return memcmp(a->values, b->values, PLAN_FIELD_SCHEDULE * sizeof *a->values) == 0;
}

static void
take_plan(void *context, const struct plan_point *point)
{
    struct batch *batch = context;
    bool is_new = batch->count == 0 || !is_same_group(point, &batch->last);
    if (batch->count == BATCH_PLANS) {
        ask_batch(batch);
        is_new = true;
    }
    if (is_new)
        batch->starts[batch->group_count++] = (uint32_t)batch->count;
    batch->places[batch->count++] = plan_space_place(&batch->search->space, point);
    batch->last = *point;
}

bool
search_bounds(struct search *search, struct crew *crew, struct bound_order *order)
{
    struct arena *arena = arena_new_beside(search->arena);
    struct batch batch = {.search = search,
                          .crew = crew,
                          .order = order,
                          .places = arena_alloc(arena, BATCH_PLANS, sizeof *batch.places),
                          .starts = arena_alloc(arena, BATCH_PLANS, sizeof *batch.starts)};
    if (search->progress && search->progress->is_wanted)
        search->progress->total = plan_space_walk(&search->space, NULL, NULL).legal_count;
    search->counts = plan_space_walk(&search->space, take_plan, &batch);
    ask_batch(&batch);
    arena_free(arena);
    return !batch.is_over && bound_order_sort(order, &search->errors);
}
