/* Bounds, memory and steps of single plans. */
#include "sim/cli/search_answers.h"

#include <math.h>
#include <string.h>

#include "models/bound.h"
#include "models/step.h"

void
search_append_point(struct text *question, const struct plan_point *point)
{
    text_append(question, (const char *)point, sizeof *point);
}

static struct plan_point
read_point(const struct text *question, size_t index)
{
    struct plan_point point;
    memcpy(&point, question->bytes + index * sizeof point, sizeof point);
    return point;
}

static void
answer_bounds(const void *setup, const struct text *question, struct text *answer)
{
    const struct search *search = setup;
    struct arena *arena = answer->arena;
    struct bound_prices *prices = bound_prices_new(arena);
    for (size_t i = 0; i < question->length / sizeof(struct plan_point); i++) {
        struct plan_point point = read_point(question, i);
        struct plan plan = plan_space_plan(&search->space, &point);
        struct step_inputs inputs = search->space.base->inputs;
        struct bound_answer out;
        struct error_list errors = {0};
        memset(&out, 0, sizeof out);
        inputs.workload.plan = &plan;
        out.has_price = bound_step_s(prices, &inputs, &out.bound_s, &errors);
        text_append(answer, (const char *)&out, sizeof out);
    }
}

static void
answer_memory(const void *setup, const struct text *question, struct text *answer)
{
    const struct search *search = setup;
    struct plan_point point = read_point(question, 0);
    struct plan plan = plan_space_plan(&search->space, &point);
    struct step_inputs inputs = search->space.base->inputs;
    inputs.workload.plan = &plan;
    struct memory memory = memory_of(&inputs, answer->arena);
    text_append(answer, (const char *)&memory, sizeof memory);
}

/* The run with another plan. Its file stays the base's, of which only the name is read where a plan
 * fits: looking things up would mark them, for all threads. */
static const struct run *
make_run(const struct search *search, const struct plan_point *point, struct arena *arena)
{
    struct plan *plan = arena_alloc(arena, 1, sizeof *plan);
    struct run *run = arena_copy(arena, search->space.base, sizeof *run);
    *plan = plan_space_plan(&search->space, point);
    run->inputs.workload.plan = plan;
    return run;
}

/* The row's numbers; nothing where there is no step. */
static void
answer_step(const void *setup, const struct text *question, struct text *answer)
{
    const struct search *search = setup;
    struct error_list errors = {0};
    struct sweep_row row = {0};
    struct plan_point point = read_point(question, 0);
    struct memory memory;
    memcpy(&memory, question->bytes + sizeof point, sizeof memory);
    const struct run *run = make_run(search, &point, answer->arena);
    const struct step *step =
        step_simulate_within(run, &memory, RANKS_FOLDED, answer->arena, &errors);
    if (!step)
        return;
    sweep_row_fill(&row, step);
    for (int i = SWEEP_STEP_QUANTITIES; i < SWEEP_QUANTITY_COUNT; i++)
        row.values[i] = (double)NAN;
    text_append(answer, (const char *)row.values, sizeof row.values);
}

crew_answer *const SEARCH_ANSWERS[SEARCH_QUESTION_COUNT] = {
    [ASK_BOUNDS] = answer_bounds, [ASK_MEMORY] = answer_memory, [ASK_STEP] = answer_step};

struct run_settings
search_settings(const struct search *search, const struct plan_point *point,
                struct arena *arena)
{
    static const char before[] = "--set ";
    char *text = arena_format(arena, "%s", plan_space_settings(&search->space, point, arena));
    const char **texts = arena_alloc(arena, strlen(text) + 1, sizeof *texts);
    struct run_settings settings = {texts, 0};
    for (char *at = strstr(text, before), *end; at; at = end) {
        at += sizeof before - 1;
        texts[settings.count++] = at;
        end = strstr(at, before);
        if (end)
            end[-1] = '\0'; /* the blank before the next */
    }
    return settings;
}
