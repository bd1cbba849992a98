/* Indices are handed out in order, to whoever is free. */
#include "sim/cli/crew.h"

#include "sim/cli/crew_ranks.h"
#include "sim/cli/crew_shift.h"
#include "sim/cli/parallel.h"

int
crew_default_threads(void)
{
    return ranks_started() > 1 ? 1 : parallel_cores();
}

bool
crew_open(struct crew *crew)
{
    int hands = crew->threads + 1;
    crew->arenas = arena_alloc(crew->arena, (size_t)hands, sizeof(void *));
    for (int i = 0; i < hands; i++)
        crew->arenas[i] = arena_new_beside(crew->arena);
    crew->ranks = ranks_open(crew->arena);
    if (!crew->ranks)
        return true;
    if (crew_ranks_begin(crew))
        return true;
    for (int i = 0; i < hands; i++)
        arena_free(crew->arenas[i]);
    return false;
}

void
crew_close(struct crew *crew)
{
    if (crew->ranks)
        crew_ranks_end(crew);
    for (int i = 0; i <= crew->threads; i++)
        arena_free(crew->arenas[i]);
}

bool
crew_shift_index(struct crew_shift *shift, size_t *index)
{
    bool (*is_stopped)(void) = shift->crew->is_stopped;
    parallel_lock_take(shift->lock);
    shift->is_over = shift->is_over || (is_stopped && is_stopped());
    bool is_again = !shift->is_over && shift->again_count > 0;
    bool is_left = is_again || (!shift->is_over && shift->next < shift->work->count);
    if (is_again)
        *index = shift->again[--shift->again_count];
    else if (is_left)
        *index = shift->next++;
    parallel_lock_give(shift->lock);
    return is_left;
}

void
crew_shift_take(struct crew_shift *shift, size_t index, const struct text *answer)
{
    parallel_lock_take(shift->lock);
    if (!shift->work->take(shift->work->context, index, answer))
        shift->is_over = true;
    shift->taken_count++;
    parallel_lock_give(shift->lock);
}

void
crew_shift_return(struct crew_shift *shift, const size_t *indices, size_t count)
{
    parallel_lock_take(shift->lock);
    for (size_t i = 0; i < count; i++)
        shift->again[shift->again_count++] = indices[i];
    parallel_lock_give(shift->lock);
}

bool
crew_shift_is_done(struct crew_shift *shift)
{
    parallel_lock_take(shift->lock);
    bool is_done = shift->is_over || shift->taken_count == shift->work->count;
    parallel_lock_give(shift->lock);
    return is_done;
}

static void
do_index(struct crew_shift *shift, size_t index, int thread)
{
    const struct crew *crew = shift->crew;
    struct arena *arena = crew->arenas[thread];
    arena_clear(arena);
    struct text question = text_new(arena), answer = text_new(arena);
    bool is_asked = shift->work->ask(shift->work->context, index, thread, &question);
    if (is_asked)
        crew->answers[shift->work->question](crew->setup, &question, &answer);
    crew_shift_take(shift, index, is_asked ? &answer : NULL);
}

void
crew_shift_work(struct crew_shift *shift, int thread)
{
    for (size_t index = 0; crew_shift_index(shift, &index);)
        do_index(shift, index, thread);
}

static void
work_alone(void *context, int thread)
{
    crew_shift_work(context, thread);
}

/* The caller's thread is the one that speaks to other processes. */
static void
work_with_ranks(void *context, int thread)
{
    struct crew_shift *shift = context;
    if (thread == 0)
        crew_ranks_work(shift);
    else
        crew_shift_work(shift, thread - 1);
}

bool
crew_run(struct crew *crew, const struct crew_work *work)
{
    struct arena *arena = arena_new_beside(crew->arena);
    struct crew_shift shift = {.crew = crew, .work = work, .lock = parallel_lock_new(arena)};
    bool is_fewer = work->count < (size_t)crew->threads;
    int threads = is_fewer ? (int)work->count : crew->threads;
    crew->shift++;
    if (crew->ranks) {
        shift.again = arena_alloc(arena, crew_ranks_asked_most(crew), sizeof *shift.again);
        parallel_team_run(&(struct parallel_team){work_with_ranks, &shift}, threads + 1);
    } else {
        parallel_team_run(&(struct parallel_team){work_alone, &shift}, threads);
    }
    parallel_lock_free(shift.lock);
    arena_free(arena);
    return shift.taken_count == work->count;
}
