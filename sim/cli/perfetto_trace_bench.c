/* How fast traces of all 1,024 ranks are written, and what memory that takes beside the step. */
#include "sim/cli/perfetto_trace.h"

#include <stdio.h>
#include <stdlib.h>

#include "sim/base/check_arena.h"
#include "sim/base/check_clock.h"

enum { REPEATS = 3 };

static void
look_away(void *context, const char *bytes, size_t length)
{
    uint64_t *sum = context;
    *sum += (unsigned char)bytes[length / 2];
}

static const struct step *
simulate(struct arena *arena)
{
    struct error_list errors = {0};
    struct run_request request = {.file = "configs/runs/zaya1-base-4k-1024.json"};
    const struct run *run = run_read(&request, arena, &errors);
    const struct step *step = run ? step_simulate(run, RANKS_ALL, arena, &errors) : NULL;
    if (step)
        return step;
    (void)fprintf(stderr, "%s\n", errors.items[0].what);
    exit(EXIT_FAILURE);
}

int
main(void)
{
    struct arena *arena = check_arena_new();
    const struct step *step = simulate(arena);
    double best_s = 1e9;
    size_t taken_bytes = 0;
    uint64_t length_bytes = 0, sum = 0;
    for (int i = 0; i < REPEATS; i++) {
        struct arena *own = arena_new_beside(arena);
        const struct trace_sink sink = {look_away, &sum};
        double start_s = check_cpu_s();
        length_bytes = perfetto_trace_write(step, &sink, own);
        double taken_s = check_cpu_s() - start_s;
        best_s = taken_s < best_s ? taken_s : best_s;
        taken_bytes = arena_size_bytes(own);
        arena_free(own);
    }
    (void)printf("perfetto_trace_1024_ranks_bytes %llu\n", (unsigned long long)length_bytes);
    (void)printf("perfetto_trace_bytes_per_s %.4g\n", (double)length_bytes / best_s);
    (void)printf("perfetto_trace_memory_bytes %zu\n", taken_bytes);
    arena_free(arena);
    return sum == 0; /* so that nothing is left out */
}
