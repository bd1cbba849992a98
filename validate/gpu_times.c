/* Times of GPU work: many runs, mostly in a graph, between two events. */
#include "validate/gpu.h"

#include <math.h>

#include "validate/gpu_streams.h"

enum { WARMUPS = 3, WARM_REPLAYS = 2, RUNS_MIN = 4, RUNS_MAX = 4000, RUNS_USUAL = 200 };

static bool
enqueue_runs(const struct gpu_work *work, int64_t runs, struct error_list *errors)
{
    for (int64_t run = 0; run < runs; run++)
        if (!work->enqueue(work->context, run % work->sets, errors))
            return false;
    return true;
}

/* Between the two events, once both have passed. */
static bool
elapsed(const struct gpu *gpu, double *time_s, struct error_list *errors)
{
    const struct gpu_api *api = &gpu->libraries.api;
    const double s_per_millisecond = 1e-3;
    float milliseconds = 0;
    if (!gpu_ok(gpu, api->event_wait(gpu->end), "running", errors) ||
        !gpu_ok(gpu, api->event_elapsed(&milliseconds, gpu->start, gpu->end), "timing", errors))
        return false;
    *time_s = (double)milliseconds * s_per_millisecond;
    return true;
}

/* A run, roughly, with the host's part in it. */
static bool
estimate(const struct gpu *gpu, const struct gpu_work *work, double *run_s,
         struct error_list *errors)
{
    const struct gpu_api *api = &gpu->libraries.api;
    if (!enqueue_runs(work, WARMUPS, errors) ||
        !gpu_ok(gpu, api->stream_wait(gpu->stream), "running", errors) ||
        !gpu_ok(gpu, api->event_record(gpu->start, gpu->stream), "timing", errors) ||
        !enqueue_runs(work, WARMUPS, errors) ||
        !gpu_ok(gpu, api->event_record(gpu->end, gpu->stream), "timing", errors) ||
        !elapsed(gpu, run_s, errors))
        return false;
    *run_s = fmax(*run_s / WARMUPS, 1e-6);
    return true;
}

/* As many as fill graph_s, and every set once where two and a half times that is enough. */
static int64_t
run_count(const struct gpu *gpu, double run_s, int64_t sets)
{
    const double sets_share = 2.5;
    double wanted = fmax(RUNS_MIN, fmin(RUNS_USUAL, gpu->options.graph_s / run_s));
    double whole = fmin((double)sets, floor(sets_share * gpu->options.graph_s / run_s) + 1);
    return (int64_t)fmin(fmax(wanted, whole), RUNS_MAX);
}

static bool
capture(const struct gpu *gpu, const struct gpu_work *work, int64_t runs, void **ready,
        struct error_list *errors)
{
    const struct gpu_api *api = &gpu->libraries.api;
    void *graph = NULL;
    if (!gpu_ok(gpu, api->capture_begin(gpu->stream, GPU_CAPTURE_THREAD), "a graph", errors))
        return false;
    bool is_enqueued = enqueue_runs(work, runs, errors);
    int status = api->capture_end(gpu->stream, &graph);
    bool is_ready = is_enqueued && gpu_ok(gpu, status, "a graph", errors) &&
                    gpu_ok(gpu, api->graph_ready(ready, graph, 0), "a graph", errors);
    if (graph != NULL)
        (void)api->graph_free(graph);
    return is_ready;
}

/* As many runs as one time is of: a graph, or one after the other. */
struct runs {
    const struct gpu_work *work;
    int64_t count;
    void *ready; /* NULL: no graph */
};

static bool
play(const struct gpu *gpu, const struct runs *runs, double *time_s, struct error_list *errors)
{
    const struct gpu_api *api = &gpu->libraries.api;
    return gpu_ok(gpu, api->event_record(gpu->start, gpu->stream), "timing", errors) &&
           (runs->ready != NULL
                ? gpu_ok(gpu, api->graph_launch(runs->ready, gpu->stream), "a graph", errors)
                : enqueue_runs(runs->work, runs->count, errors)) &&
           gpu_ok(gpu, api->event_record(gpu->end, gpu->stream), "timing", errors) &&
           elapsed(gpu, time_s, errors);
}

static bool
replay(const struct gpu *gpu, const struct runs *runs, double *times_s,
       struct error_list *errors)
{
    double warm_s;
    for (int i = 0; i < WARM_REPLAYS; i++)
        if (!play(gpu, runs, &warm_s, errors))
            return false;
    for (int64_t i = 0; i < gpu->options.replays; i++) {
        if (!play(gpu, runs, &times_s[i], errors))
            return false;
        times_s[i] /= (double)runs->count;
    }
    return true;
}

bool
gpu_times_take(const struct gpu *gpu, const struct gpu_work *work, struct measure_times *times,
               struct arena *arena, struct error_list *errors)
{
    double run_s;
    int64_t count = gpu->options.replays;
    double *times_s = arena_alloc(arena, (size_t)count, sizeof *times_s);
    if (!gpu_streams_run(gpu, errors) || !estimate(gpu, work, &run_s, errors))
        return false;
    struct runs runs = {work, run_count(gpu, run_s, work->sets), NULL};
    if (!work->is_in_stream && !capture(gpu, work, runs.count, &runs.ready, errors))
        return false;
    bool is_timed = replay(gpu, &runs, times_s, errors);
    if (runs.ready != NULL)
        (void)gpu->libraries.api.graph_ready_free(runs.ready);
    if (!is_timed)
        return false;
    double median_s = measure_median(times_s, count);
    *times =
        (struct measure_times){median_s, times_s[0], times_s[count - 1], runs.count * count};
    return true;
}
