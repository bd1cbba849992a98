/* How fast a plan becomes a task graph: ZAYA1, and DeepSeek-V3 on 16 stages x 64 microbatches. */
#include "models/lower.h"

#include <stdio.h>
#include <stdlib.h>

#include "models/run.h"
#include "sim/base/check_arena.h"
#include "sim/base/check_clock.h"

enum { REPEATS = 15 };

struct times {
    double program_s, graph_s; /* the quickest of all repeats */
};

static void
measure_once(const struct run *run, struct times *times, struct arena *arena)
{
    struct error_list errors = {0};
    double begin_s = check_cpu_s();
    const struct program *program = program_of(&run->inputs, RANKS_FOLDED, arena, &errors);
    double program_s = check_cpu_s() - begin_s;
    begin_s = check_cpu_s();
    if (program)
        (void)lower_step(program, RANKS_FOLDED, arena);
    double graph_s = check_cpu_s() - begin_s;
    times->program_s = program_s < times->program_s ? program_s : times->program_s;
    times->graph_s = graph_s < times->graph_s ? graph_s : times->graph_s;
    arena_clear(arena);
}

static void
measure(const char *name, const struct run_request *request)
{
    struct arena *arena = check_arena_new();
    struct error_list errors = {0};
    struct times times = {1e9, 1e9};
    const struct run *run = run_read(request, arena, &errors);
    if (!run) {
        (void)fprintf(stderr, "%s: %s\n", errors.items[0].where, errors.items[0].what);
        exit(EXIT_FAILURE);
    }
    /* Of one arena for all, as a search has: what is measured is no page that is new. */
    struct arena *plans = arena_new_beside(arena);
    for (int i = 0; i < REPEATS; i++)
        measure_once(run, &times, plans);
    arena_free(plans);
    (void)printf("program_%s_s %.6g\n", name, times.program_s);
    (void)printf("lower_%s_s %.6g\n", name, times.graph_s);
    arena_free(arena);
}

int
main(void)
{
    struct run_request zaya1 = {.file = "configs/runs/zaya1-base-4k-1024.json"};
    struct run_request deepseek = {.file = "configs/runs/deepseek-v3-pp16.json"};
    measure("zaya1", &zaya1);
    measure("deepseek_v3", &deepseek);
    return EXIT_SUCCESS;
}
