/* How much processor time a chart takes, from its numbers to the bytes of its file: each as large
 * as people draw it, and a line of a million points. What makes the numbers up is not counted. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "plots/area_chart.h"
#include "plots/bar_chart.h"
#include "plots/line_chart.h"
#include "plots/scatter_chart.h"
#include "plots/tornado_chart.h"
#include "sim/base/check_arena.h"
#include "sim/base/check_clock.h"

enum {
    REPEATS = 5,
    LINE_POINTS = 400,
    MANY_POINTS = 1000000,
    SCATTER_POINTS = 5000,
    FRONT_POINTS = 40,
    BARS = 16,
    KINDS = 9,
    MOMENTS = 2000,
    LAYERS = 5
};

/* A sawtooth with a band and measured points, every tenth point noted. */
static void
draw_line(struct arena *arena, struct canvas *canvas, size_t count, double *start_s)
{
    struct line_chart_vertex *curve = arena_alloc(arena, count, sizeof *curve);
    struct line_chart_point *points = arena_alloc(arena, count, sizeof *points);
    struct line_chart_note *notes = arena_alloc(arena, count / 10 + 1, sizeof *notes);
    struct line_chart_series series = {
        .curve = curve, .vertex_count = count, .points = points, .notes = notes};
    for (size_t i = 0; i < count; i++) {
        double x = (double)(i + 1), y = 100.0 + fmod(x, 37.0);
        curve[i] = (struct line_chart_vertex){x, y, 0.9 * y, 1.1 * y};
        points[series.point_count++] = (struct line_chart_point){x, 1.02 * y, i % 2 == 0};
        if (count <= LINE_POINTS && i % 10 == 0)
            notes[series.note_count++] =
                (struct line_chart_note){x, y, "5 waves, not 4", false, false};
    }
    *start_s = check_cpu_s();
    line_chart_draw(&(struct line_chart){.title = "a line",
                                         .x = {"n", "", LINE_CHART_LINEAR},
                                         .y = {"rate", "FLOP/s", LINE_CHART_LINEAR},
                                         .series = &series,
                                         .series_count = 1},
                    &STYLE_PAGE_WEB, canvas);
}

static void
draw_common_line(struct arena *arena, struct canvas *canvas, double *start_s)
{
    draw_line(arena, canvas, LINE_POINTS, start_s);
}

static void
draw_long_line(struct arena *arena, struct canvas *canvas, double *start_s)
{
    draw_line(arena, canvas, MANY_POINTS, start_s);
}

/* A front with labels before a cloud. */
static void
draw_scatter(struct arena *arena, struct canvas *canvas, double *start_s)
{
    struct scatter_point *points = arena_alloc(arena, SCATTER_POINTS, sizeof *points);
    struct canvas_point *front = arena_alloc(arena, FRONT_POINTS, sizeof *front);
    for (size_t i = 0; i < SCATTER_POINTS; i++) {
        double x = 1.0 + fmod(0.618 * (double)i, 1.0) * 99.0;
        points[i] = (struct scatter_point){.x = x,
                                           .y = 10.0 / x + fmod(0.414 * (double)i, 1.0),
                                           .is_faint = i >= FRONT_POINTS,
                                           .label = "TP2 PP4 EP8 mbs2 ZeRO-1: 512 ms"};
        if (i < FRONT_POINTS) {
            points[i].x = 1.0 + 2.5 * (double)i;
            points[i].y = 10.0 / points[i].x;
            front[i] = (struct canvas_point){points[i].x, points[i].y};
        }
    }
    const struct scatter_line line = {.points = front, .count = FRONT_POINTS};
    *start_s = check_cpu_s();
    scatter_chart_draw(&(struct scatter_chart){.title = "a front",
                                               .x = {"memory", "B", LINE_CHART_LOG},
                                               .y = {"step", "s", LINE_CHART_LOG},
                                               .points = points,
                                               .point_count = SCATTER_POINTS,
                                               .lines = &line,
                                               .line_count = 1,
                                               .limit = {192.0, "limit"}},
                       &STYLE_PAGE_WEB, canvas);
}

static void
draw_bars(struct arena *arena, struct canvas *canvas, double *start_s)
{
    struct bar_chart_kind *kinds = arena_alloc(arena, KINDS, sizeof *kinds);
    struct bar_chart_row *rows = arena_alloc(arena, BARS, sizeof *rows);
    for (int i = 0; i < KINDS; i++)
        kinds[i] = (struct bar_chart_kind){"waiting for something", (enum style_slot)i, 0.0};
    for (int i = 0; i < BARS; i++) {
        struct bar_chart_piece *pieces = arena_alloc(arena, KINDS, sizeof *pieces);
        for (int k = 0; k < KINDS; k++)
            pieces[k] = (struct bar_chart_piece){0.01 * (double)(k + i + 1), "10 ms"};
        rows[i] = (struct bar_chart_row){.name = "a plan",
                                         .pieces = pieces,
                                         .text = "512 ms, 32 k tokens/s per GPU",
                                         .side = 1e9 * (double)i,
                                         .side_limit = 10e9,
                                         .side_text = "12.3 GB",
                                         .reason = i % 4 == 3 ? "does not fit" : NULL};
    }
    *start_s = check_cpu_s();
    bar_chart_draw(&(struct bar_chart){.title = "plans",
                                       .main = {"step", "s"},
                                       .side = {"memory", "B"},
                                       .limit_name = "limit",
                                       .kinds = kinds,
                                       .kind_count = KINDS,
                                       .rows = rows,
                                       .row_count = BARS},
                   &STYLE_PAGE_WEB, canvas);
}

static void
draw_area(struct arena *arena, struct canvas *canvas, double *start_s)
{
    struct area_chart_kind *kinds = arena_alloc(arena, LAYERS, sizeof *kinds);
    struct area_chart_layer *layers = arena_alloc(arena, LAYERS, sizeof *layers);
    double *x = arena_alloc(arena, MOMENTS, sizeof *x);
    for (int i = 0; i < MOMENTS; i++)
        x[i] = 1e-3 * (double)i;
    for (int k = 0; k < LAYERS; k++) {
        double *heights = arena_alloc(arena, MOMENTS, sizeof *heights);
        for (int i = 0; i < MOMENTS; i++)
            heights[i] = 1e9 * (1.0 + fmod((double)(i * k), 17.0));
        kinds[k] = (struct area_chart_kind){"a class", (enum style_slot)k, 0.0};
        layers[k] = (struct area_chart_layer){heights, "a class 17 GB"};
    }
    const struct area_chart_panel panel = {NULL, x, MOMENTS, layers};
    const struct area_chart_panel panels[] = {panel, panel, panel, panel};
    *start_s = check_cpu_s();
    area_chart_draw(&(struct area_chart){.title = "memory",
                                         .x_name = "time",
                                         .x_unit = "s",
                                         .y_name = "memory",
                                         .y_unit = "B",
                                         .limit = 192e9,
                                         .limit_name = "limit",
                                         .kinds = kinds,
                                         .kind_count = LAYERS,
                                         .panels = panels,
                                         .panel_count = 4},
                    &STYLE_PAGE_WEB, canvas);
}

static void
draw_tornado(struct arena *arena, struct canvas *canvas, double *start_s)
{
    struct tornado_row *rows = arena_alloc(arena, BARS, sizeof *rows);
    for (int i = 0; i < BARS; i++)
        rows[i] = (struct tornado_row){"a number", -0.01 * (double)i, 0.02 * (double)i,
                                       "-10 ms", "+20 ms"};
    *start_s = check_cpu_s();
    tornado_chart_draw(&(struct tornado_chart){.title = "what moves it",
                                               .x_name = "difference",
                                               .x_unit = "s",
                                               .better = "better",
                                               .worse = "worse",
                                               .rows = rows,
                                               .row_count = BARS},
                       &STYLE_PAGE_WEB, canvas);
}

struct load {
    const char *name;
    void (*draw)(struct arena *arena, struct canvas *canvas, double *start_s);
};

static double
time_once(const struct load *load, const char *path)
{
    struct arena *arena = check_arena_new();
    struct error_list errors = {0};
    struct text out = text_new(arena);
    double begin_s = check_cpu_s(), start_s = 0.0;
    struct canvas *canvas = canvas_new(arena, STYLE_FONTS);
    double fonts_s = check_cpu_s() - begin_s;
    load->draw(arena, canvas, &start_s);
    if (!canvas_write(canvas, path, &out, &errors))
        exit(EXIT_FAILURE);
    canvas_free(canvas);
    double taken_s = fonts_s + check_cpu_s() - start_s;
    arena_free(arena);
    return taken_s;
}

static int
compare_times(const void *a, const void *b)
{
    const double *one = a, *two = b;
    return (*one > *two) - (*one < *two);
}

/* The median, since others use the machine too. */
static void
measure(const struct load *load, const char *ending)
{
    double times_s[REPEATS];
    char path[16];
    (void)snprintf(path, sizeof path, "x.%s", ending);
    for (int i = 0; i < REPEATS; i++)
        times_s[i] = time_once(load, path);
    qsort(times_s, REPEATS, sizeof *times_s, compare_times);
    (void)printf("chart_%s_%s_s %.4f\n", load->name, ending, times_s[REPEATS / 2]);
}

int
main(void)
{
    static const struct load loads[] = {
        {"line", draw_common_line}, {"line_1e6", draw_long_line}, {"scatter", draw_scatter},
        {"bars", draw_bars},        {"area", draw_area},          {"tornado", draw_tornado}};
    for (size_t i = 0; i < sizeof loads / sizeof *loads; i++) {
        measure(&loads[i], "svg");
        measure(&loads[i], "png");
    }
    return 0;
}
