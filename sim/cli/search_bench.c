/* How fast plans are screened and simulated on one core: ZAYA1 on 1,024 GPUs. */
#include <stdio.h>
#include <stdlib.h>

#include "models/step.h"
#include "sim/base/check_arena.h"
#include "sim/base/check_clock.h"
#include "sim/cli/search.h"

/* Seconds of a search on one thread, every field of `one` held to the first of its values. */
static double
time_search(struct search *search, const struct run *base, const char *const *one,
            struct arena *arena)
{
    search->space = plan_space_of(base, arena);
    search->arena = arena;
    search->threads = 1;
    search->top = 1;
    for (int field = 0; field < PLAN_FIELD_COUNT; field++)
        if (one[field])
            (void)plan_space_set(&search->space, (enum plan_field)field, &one[field], 1, arena);
    double begin_s = check_cpu_s();
    search_run(search);
    return check_cpu_s() - begin_s;
}

/* Steps a second: the run's own plan again and again. */
static double
measure_steps_per_s(const struct run *base, struct arena *arena)
{
    enum { STEPS = 200 };
    struct arena *own = arena_new_beside(arena);
    double begin_s = check_cpu_s();
    for (int i = 0; i < STEPS; i++) {
        struct error_list errors = {0};
        arena_clear(own);
        if (!step_simulate(base, RANKS_FOLDED, own, &errors))
            exit(EXIT_FAILURE);
    }
    double took_s = check_cpu_s() - begin_s;
    arena_free(own);
    return STEPS / took_s;
}

int
main(void)
{
    static const char *const nothing[PLAN_FIELD_COUNT] = {NULL};
    /* data and expert ranks only: every plan of them is simulated */
    static const char *const flat[PLAN_FIELD_COUNT] = {
        [PLAN_FIELD_TENSOR] = "1", [PLAN_FIELD_CONTEXT] = "1", [PLAN_FIELD_PIPELINE] = "1"};
    struct arena *arena = check_arena_new();
    struct error_list errors = {0};
    struct run_request request = {.file = "configs/runs/zaya1-base-4k-1024.json"};
    const struct run *base = run_read(&request, arena, &errors);
    if (!base)
        return EXIT_FAILURE;
    struct search whole = {.is_exhaustive = false}, every = {.is_exhaustive = true};
    double whole_s = time_search(&whole, base, nothing, arena);
    double every_s = time_search(&every, base, flat, arena);
    (void)printf("search_zaya1_whole_s %.4g\n", whole_s);
    (void)printf("search_zaya1_screened_count_per_s %.4g\n",
                 (double)whole.counts.legal_count / whole_s);
    (void)printf("search_zaya1_exhaustive_count_per_s %.4g\n",
                 (double)every.simulated_count / every_s);
    (void)printf("search_zaya1_simulated_count_per_s %.4g\n", measure_steps_per_s(base, arena));
    arena_free(arena);
    return EXIT_SUCCESS;
}
