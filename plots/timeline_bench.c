/* How long a chart takes: a step of 24,000 kernels, and a pipeline of 64 stages, each of which has
 * 256 microbatches forward and backward. */
#include "plots/timeline.h"

#include <stdio.h>
#include <stdlib.h>

#include "sim/base/check_arena.h"
#include "sim/base/check_clock.h"

enum { REPEATS = 7 };

struct load {
    const char *name;
    size_t row_count;
    size_t spans_a_row;
};

/* Kernels of 5 to 100 us with a gap of up to 5 us, forward and backward in turns of a hundred. */
static struct timeline
build(struct arena *arena, const struct load *load)
{
    size_t count = load->row_count * load->spans_a_row;
    struct timeline_row *rows = arena_alloc(arena, load->row_count, sizeof *rows);
    struct timeline_span *spans = arena_alloc(arena, count, sizeof *spans);
    struct timeline timeline = {.title = load->name,
                                .rows = rows,
                                .row_count = load->row_count,
                                .spans = spans,
                                .span_count = count};
    uint64_t seed = 1;
    for (size_t row = 0; row < load->row_count; row++) {
        int64_t at_ps = 0;
        rows[row] = (struct timeline_row){.label = "row", .sub_label = "busy"};
        for (size_t i = 0; i < load->spans_a_row; i++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            int64_t start_ps = at_ps + (int64_t)((seed >> 33) % 5000000);
            at_ps = start_ps + 5000000 + (int64_t)((seed >> 40) % 95000000);
            spans[row * load->spans_a_row + i] =
                (struct timeline_span){start_ps,
                                       at_ps,
                                       (uint32_t)row,
                                       i / 100 % 2 ? STYLE_BACKWARD : STYLE_FORWARD,
                                       i % 3 ? -0.5 : 0.0,
                                       "kernel",
                                       true};
        }
        timeline.end_ps = at_ps > timeline.end_ps ? at_ps : timeline.end_ps;
    }
    return timeline;
}

/* The whole of it, as the program does it: fonts, drawing, bytes. Returns how many bytes. */
static size_t
draw_once(struct arena *arena, const struct timeline *timeline, const char *path)
{
    struct canvas *canvas = canvas_new(arena, STYLE_FONTS);
    struct text out = text_new(arena);
    struct error_list errors = {0};
    timeline_draw(timeline, &STYLE_PAGE_WEB, canvas);
    if (!canvas_write(canvas, path, &out, &errors)) {
        (void)fprintf(stderr, "%s\n", errors.items[0].what);
        exit(EXIT_FAILURE);
    }
    canvas_free(canvas);
    return out.length;
}

/* The best of a few, since others use the machine too. */
static void
measure(const struct load *load, const char *ending)
{
    double best_s = 1e9;
    size_t bytes = 0;
    char path[16];
    (void)snprintf(path, sizeof path, "x.%s", ending);
    for (int i = 0; i < REPEATS; i++) {
        struct arena *arena = check_arena_new();
        struct timeline timeline = build(arena, load);
        double start_s = check_cpu_s();
        bytes = draw_once(arena, &timeline, path);
        double taken_s = check_cpu_s() - start_s;
        best_s = taken_s < best_s ? taken_s : best_s;
        arena_free(arena);
    }
    (void)printf("timeline_%s_%s_s %.4f\n", load->name, ending, best_s);
    (void)printf("timeline_%s_%s_bytes %zu\n", load->name, ending, bytes);
}

int
main(void)
{
    const struct load loads[] = {{"step", 3, 8000}, {"pipeline", 64, 512}};
    static const char *const endings[] = {"svg", "pdf", "png"};
    for (int load = 0; load < 2; load++)
        for (int ending = 0; ending < 3; ending++)
            measure(&loads[load], endings[ending]);
    return 0;
}
