/* Times of a collective: a graph of calls on each GPU, between two events, the slowest rank's.
 *
 * One thread starts all graphs, one after another. So that none waits for the next to be started,
 * each GPU first gets the same graph untimed: while that runs, everything timed is enqueued. */
#include "validate/gpu_collective_work.h"

#include <math.h>

enum { CALLS = 20, WARMUPS = 3, WARM_REPLAYS = 2 };

static bool
begin_captures(const struct gpu_collective_work *work, struct error_list *errors)
{
    const struct gpu *gpu = work->all->gpu;
    for (int i = 0; i < work->ranks; i++)
        if (!gpu_rank_turn_to(work->all, i, errors) ||
            !gpu_ok(gpu,
                    gpu->libraries.api.capture_begin(work->all->ranks[i].stream,
                                                     GPU_CAPTURE_THREAD),
                    "a graph", errors))
            return false;
    return true;
}

/* All captures end before the first graph is made ready, which allocates and so may not happen
 * while any stream is captured. */
static bool
end_captures(const struct gpu_collective_work *work, void **graphs, struct error_list *errors)
{
    const struct gpu *gpu = work->all->gpu;
    bool is_captured = true;
    for (int i = 0; i < work->ranks; i++)
        is_captured =
            gpu_rank_turn_to(work->all, i, errors) &&
            gpu_ok(gpu, gpu->libraries.api.capture_end(work->all->ranks[i].stream, &graphs[i]),
                   "a graph", errors) &&
            is_captured;
    return is_captured;
}

static bool
capture(const struct gpu_collective_work *work, struct error_list *errors)
{
    const struct gpu *gpu = work->all->gpu;
    void *graphs[GPU_RANKS_MAX] = {0};
    bool is_ready = begin_captures(work, errors);
    for (int i = 0; is_ready && i < CALLS; i++)
        is_ready = gpu_collective_call(work, errors);
    is_ready = end_captures(work, graphs, errors) && is_ready;
    for (int i = 0; i < work->ranks; i++) {
        void **ready = &work->all->ranks[i].ready;
        is_ready =
            is_ready && gpu_rank_turn_to(work->all, i, errors) &&
            gpu_ok(gpu, gpu->libraries.api.graph_ready(ready, graphs[i], 0), "a graph", errors);
        if (graphs[i] != NULL)
            (void)gpu->libraries.api.graph_free(graphs[i]);
    }
    return is_ready;
}

static bool
launch_all(const struct gpu_collective_work *work, bool is_timed, struct error_list *errors)
{
    const struct gpu *gpu = work->all->gpu;
    const struct gpu_api *api = &gpu->libraries.api;
    for (int i = 0; i < work->ranks; i++) {
        const struct gpu_rank *rank = &work->all->ranks[i];
        if (!gpu_rank_turn_to(work->all, i, errors) ||
            (is_timed &&
             !gpu_ok(gpu, api->event_record(rank->start, rank->stream), "timing", errors)) ||
            !gpu_ok(gpu, api->graph_launch(rank->ready, rank->stream), "a graph", errors) ||
            (is_timed &&
             !gpu_ok(gpu, api->event_record(rank->end, rank->stream), "timing", errors)))
            return false;
    }
    return true;
}

/* Of one call, by the slowest rank. */
static bool
slowest(const struct gpu_collective_work *work, double *call_s, struct error_list *errors)
{
    const struct gpu *gpu = work->all->gpu;
    const double s_per_millisecond = 1e-3;
    *call_s = 0;
    for (int i = 0; i < work->ranks; i++) {
        const struct gpu_rank *rank = &work->all->ranks[i];
        float milliseconds = 0;
        if (!gpu_rank_turn_to(work->all, i, errors) ||
            !gpu_ok(gpu,
                    gpu->libraries.api.event_elapsed(&milliseconds, rank->start, rank->end),
                    "timing", errors))
            return false;
        *call_s = fmax(*call_s, (double)milliseconds * s_per_millisecond / CALLS);
    }
    return true;
}

static bool
replay(const struct gpu_collective_work *work, double *call_s, struct error_list *errors)
{
    return launch_all(work, false, errors) && launch_all(work, true, errors) &&
           gpu_collective_wait(work, errors) && slowest(work, call_s, errors);
}

bool
gpu_collective_times(const struct gpu_collective_work *work, struct measure_times *times,
                     struct arena *arena, struct error_list *errors)
{
    int64_t count = work->all->gpu->options.replays;
    double *times_s = arena_alloc(arena, (size_t)count, sizeof *times_s), warm_s;
    for (int i = 0; i < WARMUPS; i++)
        if (!gpu_collective_call(work, errors))
            return false;
    if (!gpu_collective_wait(work, errors) || !capture(work, errors))
        return false;
    for (int i = 0; i < WARM_REPLAYS; i++)
        if (!replay(work, &warm_s, errors))
            return false;
    for (int64_t i = 0; i < count; i++)
        if (!replay(work, &times_s[i], errors))
            return false;
    double median_s = measure_median(times_s, count);
    *times = (struct measure_times){median_s, times_s[0], times_s[count - 1], CALLS * count};
    return true;
}
