/* From the back to the front: limit and marks, bands, curves, points, notes; labels last, where
 * the rest leaves room. */
#include "plots/line_panel.h"

#include <math.h>

#include "plots/labels.h"
#include "plots/spread.h"
#include "plots/thin.h"

enum { CROWD = 4096, PIECE = 1 << 16 };

static const double point_radius_pt = 2.2;
static const double point_halo_pt = 0.7; /* of paper round a point, to part it from the curve */
static const double ring_pt = 0.8;
static const double note_radius_pt = 1.8, strong_note_radius_pt = 3.0;
static const double label_shade = 0.45;    /* of the series' colour, that letters be read */
static const double series_gap_pt = 6.0;   /* from the box to a curve's label */
static const double leader_from_pt = 24.0; /* a curve that ends so far before its label */
static const double lone_band_pt = 6.0;
static const double limit_pt = 1.2;
static const double thin_pitch_pt = 0.375;                         /* a dot of a PNG */
static const double thin_curve_pitch_pt = LINE_PANEL_CURVE_PT / 2; /* columns of it overlap */
static const double thin_points_pitch_pt = 1.5;
static const double crowd_pitch_pt = 2.2; /* a radius: discs of two squares touch at least */

static const struct canvas_font series_font = {STYLE_SMALL_PT, true, STYLE_INK, CANVAS_LEFT};
static const struct canvas_font tiny_font = {STYLE_TINY_PT, false, STYLE_QUIET, CANVAS_LEFT};

/* Curves that share a panel differ; of one with a y of its own the colour says nothing. */
static uint32_t
colour_of(const struct line_chart *chart, size_t series)
{
    return line_chart_colour(chart->series[series].y != NULL ? 0 : series);
}

/* What labels have to keep off. */
struct drawn {
    struct canvas_box *taken;
    size_t taken_count, taken_room;
    struct canvas_path *paths;
    size_t path_count, path_room;
};

size_t
line_panel_count(const struct line_chart *chart)
{
    return chart->has_panels && chart->series_count > 1 ? chart->series_count : 1;
}

double
line_panel_labels_pt(const struct line_chart *chart, const struct canvas *canvas)
{
    double widest = 0.0;
    for (size_t s = 0; s < chart->series_count; s++) {
        const char *label = chart->series[s].label;
        if (label != NULL)
            widest =
                fmax(widest, series_gap_pt + canvas_text_width_pt(canvas, &series_font, label));
    }
    return widest;
}

static void
add_taken(struct drawn *drawn, struct canvas_box box, struct canvas *canvas)
{
    drawn->taken = arena_grow(canvas_arena(canvas), drawn->taken, drawn->taken_count,
                              &drawn->taken_room, sizeof *drawn->taken);
    drawn->taken[drawn->taken_count++] = box;
}

static void
add_path(struct drawn *drawn, struct canvas_path path, struct canvas *canvas)
{
    drawn->paths = arena_grow(canvas_arena(canvas), drawn->paths, drawn->path_count,
                              &drawn->path_room, sizeof *drawn->paths);
    drawn->paths[drawn->path_count++] = path;
}

static void
draw_marks(const struct line_panel *panel, struct drawn *drawn, struct canvas *canvas)
{
    const struct canvas_box *box = &panel->plane.box;
    double reached_pt = box->x_pt;
    const struct line_chart_series *series = &panel->chart->series[panel->first];
    size_t count = panel->end == panel->first + 1 ? series->mark_count : 0;
    for (size_t i = 0; i < count; i++) {
        const struct line_chart_mark *mark = &series->marks[i];
        double x_pt = plane_point(&panel->plane, mark->x, panel->plane.y.low).x_pt;
        canvas_line(canvas, (struct canvas_point){x_pt, box->y_pt},
                    (struct canvas_point){x_pt, box->y_pt + box->height_pt}, STYLE_HAIRLINE_PT,
                    STYLE_GRID);
        if (mark->label == NULL)
            continue;
        double width_pt = canvas_text_width_pt(canvas, &tiny_font, mark->label);
        double end_pt = x_pt + 2.0 + width_pt;
        if (x_pt < reached_pt || end_pt > box->x_pt + box->width_pt)
            continue;
        canvas_text(canvas, (struct canvas_point){x_pt + 2.0, box->y_pt + STYLE_TINY_PT},
                    &tiny_font, mark->label);
        add_taken(drawn, (struct canvas_box){x_pt, box->y_pt, width_pt + 4.0, 10.0}, canvas);
        reached_pt = end_pt + 3.0;
    }
}

/* The first vertex from `at` on that cannot be drawn; the count, if all can. */
static size_t
run_end(const struct line_chart_series *series, size_t at)
{
    while (at < series->vertex_count && isfinite(series->curve[at].x) &&
           isfinite(series->curve[at].y) && isfinite(series->curve[at].low) &&
           isfinite(series->curve[at].high))
        at++;
    return at;
}

/* Vertices of a range as points on the plane. */
static void
place_vertices(const struct line_panel *panel, const struct line_chart_series *series,
               const size_t range[2], enum thin_side edge, struct canvas_point *points)
{
    for (size_t i = range[0]; i < range[1]; i++) {
        const struct line_chart_vertex *vertex = &series->curve[i];
        double y = edge == THIN_LINE    ? vertex->y
                   : edge == THIN_LOWER ? vertex->low
                                        : vertex->high;
        points[i - range[0]] = plane_point(&panel->plane, vertex->x, y);
    }
}

/* The same thinned, a piece at a time: of a million only what is left takes memory. */
static struct canvas_path
make_path(const struct line_panel *panel, const struct line_chart_series *series,
          const size_t range[2], enum thin_side edge, struct arena *arena)
{
    double pitch_pt = edge == THIN_LINE ? thin_curve_pitch_pt : thin_pitch_pt;
    struct canvas_point *points = NULL;
    size_t used = 0, room = 0;
    for (size_t at = range[0]; at < range[1] || room == 0; at += PIECE) {
        size_t piece[2] = {at, at + PIECE < range[1] ? at + PIECE : range[1]};
        size_t count = piece[1] - piece[0];
        points = arena_grow(arena, points, used + count, &room, sizeof *points);
        place_vertices(panel, series, piece, edge, points + used);
        used += thin_path(points + used, count, pitch_pt, edge);
    }
    return (struct canvas_path){points, used};
}

static bool
has_band(const struct line_chart_series *series, const size_t range[2])
{
    for (size_t i = range[0]; i < range[1]; i++)
        if (series->curve[i].low < series->curve[i].high)
            return true;
    return false;
}

/* Along its lower edge and back along its upper; of one vertex alone from one to the other. */
static void
draw_band(const struct line_panel *panel, const struct line_chart_series *series,
          const size_t range[2], uint32_t rgb, struct canvas *canvas)
{
    struct arena *arena = canvas_arena(canvas);
    if (!has_band(series, range))
        return;
    if (range[1] == range[0] + 1) {
        const struct line_chart_vertex *vertex = &series->curve[range[0]];
        canvas_line(canvas, plane_point(&panel->plane, vertex->x, vertex->low),
                    plane_point(&panel->plane, vertex->x, vertex->high), lone_band_pt,
                    style_shade(rgb, LINE_PANEL_BAND_OPAQUE_FRACTION - 1.0));
        return;
    }
    struct canvas_path high = make_path(panel, series, range, THIN_UPPER, arena);
    struct canvas_path low = make_path(panel, series, range, THIN_LOWER, arena);
    struct canvas_point *points = arena_alloc(arena, high.count + low.count, sizeof *points);
    for (size_t i = 0; i < high.count; i++)
        points[i] = high.points[i];
    for (size_t i = 0; i < low.count; i++)
        points[high.count + i] = low.points[low.count - 1 - i];
    canvas_polygon(canvas, (struct canvas_path){points, high.count + low.count}, rgb,
                   LINE_PANEL_BAND_OPAQUE_FRACTION);
}

/* What parts of the curve there are between vertices that cannot be drawn; one alone is a dot. */
static void
draw_curve(const struct line_panel *panel, const struct line_chart_series *series, uint32_t rgb,
           struct drawn *drawn, struct canvas *canvas)
{
    for (size_t at = 0; at < series->vertex_count;) {
        size_t range[2] = {at, run_end(series, at)};
        at = range[1] + 1;
        if (range[0] == range[1])
            continue;
        struct canvas_path path =
            make_path(panel, series, range, THIN_LINE, canvas_arena(canvas));
        add_path(drawn, path, canvas);
        if (path.count == 1)
            canvas_dot(canvas, path.points[0], LINE_PANEL_CURVE_PT, rgb);
        canvas_curve(canvas, path, LINE_PANEL_CURVE_PT, rgb);
    }
}

void
line_panel_draw_point(struct canvas *canvas, struct canvas_point at, bool is_hollow,
                      uint32_t rgb)
{
    canvas_dot(canvas, at, point_radius_pt, rgb);
    if (is_hollow)
        canvas_dot(canvas, at, point_radius_pt - ring_pt, STYLE_PAPER);
}

/* The box within which points are drawn: those at the edges are within. */
static struct canvas_box
points_box(const struct line_panel *panel)
{
    const double margin_pt = 1.0;
    struct canvas_box box = panel->plane.box;
    return (struct canvas_box){box.x_pt - margin_pt, box.y_pt - margin_pt,
                               box.width_pt + 2 * margin_pt, box.height_pt + 2 * margin_pt};
}

/* The places of discs or of rings of a range; how many. */
static size_t
place_points(const struct line_panel *panel, const struct line_chart_series *series,
             const size_t range[2], bool is_hollow, struct canvas_point *points)
{
    size_t used = 0;
    for (size_t i = range[0]; i < range[1]; i++) {
        const struct line_chart_point *point = &series->points[i];
        if (point->is_hollow == is_hollow && isfinite(point->x) && isfinite(point->y))
            points[used++] = plane_point(&panel->plane, point->x, point->y);
    }
    return used;
}

/* The same thinned, of each piece and then of what is left of them all. */
static struct thin_dots
make_points(const struct line_panel *panel, const struct line_chart_series *series,
            bool is_hollow, struct arena *arena)
{
    struct canvas_box box = points_box(panel);
    struct thin_dots dots = {NULL, 0};
    size_t room = 0;
    for (size_t at = 0; at < series->point_count; at += PIECE) {
        size_t piece[2] = {at,
                           at + PIECE < series->point_count ? at + PIECE : series->point_count};
        dots.points = arena_grow(arena, dots.points, dots.count + piece[1] - piece[0], &room,
                                 sizeof *dots.points);
        size_t count = place_points(panel, series, piece, is_hollow, dots.points + dots.count);
        dots.count +=
            thin_dots(dots.points + dots.count, count, box, thin_points_pitch_pt, arena);
    }
    if (series->point_count > PIECE)
        dots.count = thin_dots(dots.points, dots.count, box, thin_points_pitch_pt, arena);
    return dots;
}

/* Rings under discs, for these count more. Of a crowd neither halos, which would hide others, nor
 * what others hide. */
static void
draw_points(const struct line_panel *panel, const struct line_chart_series *series,
            uint32_t rgb, struct canvas *canvas)
{
    struct arena *arena = canvas_arena(canvas);
    struct thin_dots layers[2];
    for (int layer = 0; layer < 2; layer++)
        layers[layer] = make_points(panel, series, layer == 0, arena);
    bool is_crowd = layers[0].count + layers[1].count > CROWD;
    if (is_crowd)
        thin_dots_beneath(&layers[1], &layers[0], points_box(panel), crowd_pitch_pt, arena);
    for (int layer = 0; layer < 2 && !is_crowd; layer++)
        for (size_t i = 0; i < layers[layer].count; i++)
            canvas_dot(canvas, layers[layer].points[i], point_radius_pt + point_halo_pt,
                       STYLE_PAPER);
    for (int layer = 0; layer < 2; layer++)
        for (size_t i = 0; i < layers[layer].count; i++)
            line_panel_draw_point(canvas, layers[layer].points[i], layer == 0, rgb);
}

uint32_t
line_panel_point_colour(const struct line_chart *chart, size_t series)
{
    return chart->series_count <= line_panel_count(chart)
               ? style_colour(STYLE_MEASURED)
               : style_shade(line_chart_colour(series), label_shade);
}

static void
draw_series(const struct line_panel *panel, struct drawn *drawn, struct canvas *canvas)
{
    const struct line_chart *chart = panel->chart;
    for (size_t s = panel->end; s-- > panel->first;)
        for (size_t at = 0; at < chart->series[s].vertex_count;) {
            size_t range[2] = {at, run_end(&chart->series[s], at)};
            draw_band(panel, &chart->series[s], range, colour_of(chart, s), canvas);
            at = range[1] + 1;
        }
    for (size_t s = panel->end; s-- > panel->first;)
        draw_curve(panel, &chart->series[s], colour_of(chart, s), drawn, canvas);
    for (size_t s = panel->end; s-- > panel->first;)
        draw_points(panel, &chart->series[s], line_panel_point_colour(chart, s), canvas);
}

/* A curve's label and where it wants to be. */
struct end_label {
    size_t series;
    struct canvas_point end;
};

/* Where the curve's last vertex that is drawn lies; false when there is none. */
static bool
find_end(const struct line_panel *panel, const struct line_chart_series *series,
         struct canvas_point *end)
{
    for (size_t i = series->vertex_count; i-- > 0;)
        if (run_end(series, i) > i) {
            *end = plane_point(&panel->plane, series->curve[i].x, series->curve[i].y);
            return true;
        }
    return false;
}

/* The labels there are, from the top down. */
static size_t
collect_end_labels(const struct line_panel *panel, struct end_label *ends)
{
    size_t count = 0;
    for (size_t s = panel->first; s < panel->end; s++) {
        struct end_label end = {.series = s};
        const struct line_chart_series *series = &panel->chart->series[s];
        if (series->label == NULL || !find_end(panel, series, &end.end))
            continue;
        size_t place = count++;
        for (; place > 0 && ends[place - 1].end.y_pt > end.end.y_pt; place--)
            ends[place] = ends[place - 1];
        ends[place] = end;
    }
    return count;
}

/* Labels at the curves' ends in their colours, moved apart; as many as the box's height holds. */
static void
draw_end_labels(const struct line_panel *panel, struct canvas *canvas)
{
    const struct canvas_box *box = &panel->plane.box;
    struct arena *arena = canvas_arena(canvas);
    size_t room = panel->chart->series_count + 1;
    struct end_label *ends = arena_alloc(arena, room, sizeof *ends);
    struct spread_label *labels = arena_alloc(arena, room, sizeof *labels);
    size_t count = collect_end_labels(panel, ends);
    for (size_t i = 0; i < count; i++)
        labels[i] =
            (struct spread_label){.wanted = ends[i].end.y_pt, .width = STYLE_SMALL_PT * 1.2};
    const double range[2] = {box->y_pt, box->y_pt + box->height_pt};
    while (count > 0 && !spread_labels(arena, labels, count, range, 0.0))
        count--;
    double right_pt = box->x_pt + box->width_pt;
    for (size_t i = 0; i < count; i++) {
        struct canvas_font font = series_font;
        uint32_t rgb = colour_of(panel->chart, ends[i].series);
        font.rgb = style_shade(rgb, label_shade);
        if (ends[i].end.x_pt + leader_from_pt < right_pt)
            canvas_line(canvas, ends[i].end,
                        (struct canvas_point){right_pt + series_gap_pt / 2, labels[i].centre},
                        STYLE_HAIRLINE_PT, rgb);
        struct canvas_point at = {right_pt + series_gap_pt,
                                  labels[i].centre + 0.365 * STYLE_SMALL_PT};
        const char *label = panel->chart->series[ends[i].series].label;
        double width_pt = panel->labels_pt - series_gap_pt + 0.01;
        canvas_text(canvas, at, &font, canvas_text_cut(canvas, &font, label, width_pt));
    }
}

/* A level line from end to end, and where its label belongs. */
static struct label
draw_limit(const struct line_panel *panel, struct drawn *drawn, struct canvas *canvas)
{
    const struct line_chart_limit *limit = &panel->chart->limit;
    struct canvas_point *ends = arena_alloc(canvas_arena(canvas), 2, sizeof *ends);
    ends[0] = plane_point(&panel->plane, panel->plane.x.low, limit->y);
    ends[1] = (struct canvas_point){ends[0].x_pt + panel->plane.box.width_pt, ends[0].y_pt};
    canvas_line(canvas, ends[0], ends[1], limit_pt, STYLE_INK);
    add_path(drawn, (struct canvas_path){ends, 2}, canvas);
    const double inwards_pt = 4.0;
    return (struct label){.at = {ends[0].x_pt + inwards_pt, ends[0].y_pt},
                          .text = limit->name,
                          .font = tiny_font};
}

static struct label
draw_note(const struct line_panel *panel, const struct line_chart_note *note,
          struct canvas *canvas)
{
    double radius_pt = note->is_strong ? strong_note_radius_pt : note_radius_pt;
    struct canvas_point at = plane_point(&panel->plane, note->x, note->y);
    canvas_dot(canvas, at, radius_pt + point_halo_pt, STYLE_PAPER);
    canvas_dot(canvas, at, radius_pt, note->is_strong ? STYLE_INK : STYLE_QUIET);
    struct canvas_font font = tiny_font;
    font.is_bold = note->is_strong;
    font.rgb = note->is_strong ? STYLE_INK : STYLE_QUIET;
    return (struct label){at, radius_pt, note->text, font};
}

/* The dots of notes first, then what they say. */
static void
draw_notes(const struct line_panel *panel, struct drawn *drawn, bool has_limit,
           struct canvas *canvas)
{
    struct arena *arena = canvas_arena(canvas);
    size_t room = 1, count = 0;
    for (size_t s = panel->first; s < panel->end; s++)
        room += panel->chart->series[s].note_count;
    struct label *labels = arena_alloc(arena, room, sizeof *labels);
    struct canvas_point *dots = arena_alloc(arena, room, sizeof *dots);
    if (has_limit)
        labels[count++] = draw_limit(panel, drawn, canvas);
    for (size_t s = panel->first; s < panel->end; s++)
        for (size_t i = 0; i < panel->chart->series[s].note_count; i++)
            labels[count++] = draw_note(panel, &panel->chart->series[s].notes[i], canvas);
    for (size_t i = 0; i < count; i++)
        dots[i] = labels[i].at;
    const struct label_field field = {
        .box = panel->plane.box,
        .taken = drawn->taken,
        .taken_count = drawn->taken_count,
        .dots = dots,
        .dot_count = count,
        .paths = drawn->paths,
        .path_count = drawn->path_count,
    };
    labels_draw(&field, labels, count, canvas);
}

void
line_panel_draw(const struct line_panel *panel, struct canvas *canvas)
{
    struct drawn drawn = {0};
    double limit = panel->chart->limit.y;
    bool has_limit = panel->chart->limit.name != NULL && limit >= panel->plane.y.low &&
                     limit <= panel->plane.y.high;
    draw_marks(panel, &drawn, canvas);
    draw_series(panel, &drawn, canvas);
    draw_end_labels(panel, canvas);
    draw_notes(panel, &drawn, has_limit, canvas);
}
