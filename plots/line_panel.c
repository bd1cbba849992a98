/* From the back to the front: marks and limits, bands, curves, points, notes; labels last, where
 * the rest leaves room. */
#include "plots/line_panel.h"

#include <math.h>

#include "plots/curve_ends.h"
#include "plots/labels.h"
#include "plots/thin.h"

enum { CROWD = 4096 };

static const double point_radius_pt = 2.2;
static const double point_halo_pt = 0.7; /* of paper round a point, to part it from the curve */
static const double ring_pt = 0.8;
static const double note_radius_pt = 1.8, strong_note_radius_pt = 3.0;
static const double lone_band_pt = 6.0;
static const double limit_pt = 1.2;
static const double mark_head_pt = 11.0;   /* of a mark's line, above the plane */
static const double text_top = 0.8;        /* of the letters' size, above their foot */
static const double thin_pitch_pt = 0.375; /* a dot of a PNG */
static const double thin_curve_pitch_pt = LINE_PANEL_CURVE_PT / 2; /* columns of it overlap */
static const double thin_points_pitch_pt = 1.5;
static const double crowd_pitch_pt = 2.2; /* a radius: discs of two squares touch at least */

static const struct canvas_font tiny_font = {STYLE_TINY_PT, false, STYLE_QUIET, CANVAS_LEFT};

/* Curves that share a panel differ; those of a panel with a y of its own begin anew, so that one
 * that is alone there has the first colour, and one that stands in several panels the same. */
static uint32_t
colour_of(const struct line_chart *chart, size_t series)
{
    size_t each = chart->series_a_panel > 0 ? chart->series_a_panel : 1;
    return line_chart_colour(chart->series[series].y != NULL ? series % each : series);
}

/* What labels have to keep off. */
struct drawn {
    struct canvas_box *taken;
    size_t taken_count, taken_room;
    struct canvas_path *paths;
    size_t path_count, path_room;
    struct label_disc *discs;
    size_t disc_count, disc_room;
};

size_t
line_panel_count(const struct line_chart *chart)
{
    size_t each = chart->series_a_panel;
    return each > 0 && chart->series_count > each ? (chart->series_count + each - 1) / each : 1;
}

static const char *
label_of(const struct line_panel *panel, size_t series)
{
    const struct line_chart_series *one = &panel->chart->series[series];
    bool is_short = panel->has_short_labels && one->short_label != NULL;
    return is_short ? one->short_label : one->label;
}

double
line_panel_labels_pt(const struct line_panel *panel, const struct canvas *canvas)
{
    const struct line_chart *chart = panel->chart;
    const char **names =
        arena_alloc(canvas_arena(canvas), chart->series_count + 1, sizeof *names);
    for (size_t s = 0; s < chart->series_count; s++)
        names[s] = label_of(panel, s);
    return curve_ends_width_pt(names, chart->series_count, canvas);
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
add_disc(struct drawn *drawn, struct canvas_point centre, double radius_pt, bool is_faint,
         struct canvas *canvas)
{
    drawn->discs = arena_grow(canvas_arena(canvas), drawn->discs, drawn->disc_count,
                              &drawn->disc_room, sizeof *drawn->discs);
    drawn->discs[drawn->disc_count++] = (struct label_disc){centre, radius_pt, is_faint};
}

/* Lines through the plane and a little above it, where their labels stand: the first of them that
 * has room, and those behind it that do not touch the last. How many have none. */
static size_t
draw_marks(const struct line_panel *panel, struct canvas *canvas)
{
    const struct canvas_box *box = &panel->plane.box;
    double reached_pt = fmax(panel->head_from_pt, box->x_pt);
    size_t left_out = 0;
    const struct line_chart_series *series = &panel->chart->series[panel->first];
    size_t count = panel->end == panel->first + 1 ? series->mark_count : 0;
    for (size_t i = 0; i < count; i++) {
        const struct line_chart_mark *mark = &series->marks[i];
        double x_pt = plane_point(&panel->plane, mark->x, panel->plane.y.low).x_pt;
        bool has_label = mark->label != NULL && mark->label[0] != '\0';
        double width_pt =
            has_label ? canvas_text_width_pt(canvas, &tiny_font, mark->label) : 0.0;
        double end_pt = x_pt + 2.0 + width_pt;
        bool has_room = has_label && x_pt >= reached_pt &&
                        end_pt <= box->x_pt + box->width_pt + panel->plane.overhang_pt;
        double top_pt = box->y_pt - (has_room ? mark_head_pt : 0.0);
        canvas_line(canvas, (struct canvas_point){x_pt, top_pt},
                    (struct canvas_point){x_pt, box->y_pt + box->height_pt}, STYLE_HAIRLINE_PT,
                    STYLE_GRID);
        left_out += has_label && !has_room;
        if (!has_room)
            continue;
        canvas_text(canvas,
                    (struct canvas_point){x_pt + 2.0, top_pt + text_top * STYLE_TINY_PT},
                    &tiny_font, mark->label);
        reached_pt = end_pt + 3.0;
    }
    return left_out;
}

static bool
is_drawable(const struct line_chart_vertex *vertex)
{
    return isfinite(vertex->x) && isfinite(vertex->y) && isfinite(vertex->low) &&
           isfinite(vertex->high);
}

/* A part of a curve between vertices that cannot be drawn, thinned. */
struct stretch {
    struct canvas_path line, high, low; /* the curve, and the edges of its band */
    bool has_band;
};

struct traced {
    struct stretch *stretches;
    size_t count, room;
};

/* Vertices from `at` on as long as they can be drawn, in one walk: there may be a million. */
static size_t
trace_stretch(const struct line_panel *panel, const struct line_chart_series *series, size_t at,
              struct stretch *stretch, struct arena *arena)
{
    const struct plane *plane = &panel->plane;
    size_t count = series->vertex_count;
    struct thin_path line = thin_path_new(THIN_LINE, count, thin_curve_pitch_pt, arena);
    struct thin_path high = thin_path_new(THIN_UPPER, count, thin_pitch_pt, arena);
    struct thin_path low = thin_path_new(THIN_LOWER, count, thin_pitch_pt, arena);
    for (; at < count && is_drawable(&series->curve[at]); at++) {
        const struct line_chart_vertex *vertex = &series->curve[at];
        struct canvas_point point = plane_point(plane, vertex->x, vertex->y);
        thin_path_add(&line, point);
        point.y_pt = plane_y_pt(plane, vertex->high);
        thin_path_add(&high, point);
        point.y_pt = plane_y_pt(plane, vertex->low);
        thin_path_add(&low, point);
        stretch->has_band |= vertex->low < vertex->high;
    }
    stretch->line = thin_path_end(&line);
    stretch->high = thin_path_end(&high);
    stretch->low = thin_path_end(&low);
    return at;
}

static struct traced
trace(const struct line_panel *panel, const struct line_chart_series *series,
      struct arena *arena)
{
    struct traced traced = {NULL, 0, 0};
    for (size_t at = 0; at < series->vertex_count; at++) {
        struct stretch stretch = {.has_band = false};
        at = trace_stretch(panel, series, at, &stretch, arena);
        if (stretch.line.count == 0)
            continue;
        traced.stretches = arena_grow(arena, traced.stretches, traced.count, &traced.room,
                                      sizeof *traced.stretches);
        traced.stretches[traced.count++] = stretch;
    }
    return traced;
}

/* Along its lower edge and back along its upper; of one vertex alone from one to the other. */
static void
draw_band(const struct stretch *stretch, uint32_t rgb, struct canvas *canvas)
{
    struct canvas_path high = stretch->high, low = stretch->low;
    if (!stretch->has_band)
        return;
    if (high.count == 1 && low.count == 1) {
        canvas_line(canvas, low.points[0], high.points[0], lone_band_pt,
                    style_shade(rgb, LINE_PANEL_BAND_OPAQUE_FRACTION - 1.0));
        return;
    }
    canvas_area(canvas, high, low, rgb, LINE_PANEL_BAND_OPAQUE_FRACTION);
}

/* A vertex alone is a dot. */
static void
draw_curve(const struct stretch *stretch, uint32_t rgb, struct drawn *drawn,
           struct canvas *canvas)
{
    struct canvas_path path = stretch->line;
    add_path(drawn, path, canvas);
    if (path.count == 1) {
        canvas_dot(canvas, path.points[0], LINE_PANEL_CURVE_PT, rgb);
        add_disc(drawn, path.points[0], LINE_PANEL_CURVE_PT, true, canvas);
    }
    canvas_curve(canvas, path, LINE_PANEL_CURVE_PT, rgb);
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

/* The places of rings and of discs, thinned. */
static void
make_points(const struct line_panel *panel, const struct line_chart_series *series,
            struct thin_dots layers[2], struct arena *arena)
{
    struct thin_squares squares[2];
    bool is_few = thin_is_few(series->point_count);
    for (int layer = 0; layer < 2; layer++)
        squares[layer] = thin_squares_new(points_box(panel), thin_points_pitch_pt, arena);
    for (size_t i = 0; i < series->point_count; i++) {
        const struct line_chart_point *point = &series->points[i];
        struct thin_dots *dots = &layers[!point->is_hollow];
        if (!isfinite(point->x) || !isfinite(point->y))
            continue;
        struct canvas_point at = plane_point(&panel->plane, point->x, point->y);
        if (!is_few && !thin_squares_take(&squares[!point->is_hollow], at))
            continue;
        dots->points =
            arena_grow(arena, dots->points, dots->count, &dots->room, sizeof *dots->points);
        dots->points[dots->count++] = at;
    }
}

/* Rings under discs, for these count more. Of a crowd neither halos, which would hide others, nor
 * what others hide. */
static void
draw_points(const struct line_panel *panel, const struct line_chart_series *series,
            uint32_t rgb, struct drawn *drawn, struct canvas *canvas)
{
    struct arena *arena = canvas_arena(canvas);
    struct thin_dots layers[2] = {{.count = 0}, {.count = 0}};
    make_points(panel, series, layers, arena);
    bool is_crowd = layers[0].count + layers[1].count > CROWD;
    if (is_crowd)
        thin_dots_beneath(&layers[1], &layers[0], points_box(panel), crowd_pitch_pt, arena);
    for (int layer = 0; layer < 2 && !is_crowd; layer++)
        for (size_t i = 0; i < layers[layer].count; i++)
            canvas_dot(canvas, layers[layer].points[i], point_radius_pt + point_halo_pt,
                       STYLE_PAPER);
    for (int layer = 0; layer < 2; layer++)
        for (size_t i = 0; i < layers[layer].count; i++) {
            line_panel_draw_point(canvas, layers[layer].points[i], layer == 0, rgb);
            add_disc(drawn, layers[layer].points[i], point_radius_pt, true, canvas);
        }
}

uint32_t
line_panel_point_colour(const struct line_chart *chart, size_t series)
{
    return chart->series_count <= line_panel_count(chart)
               ? style_colour(STYLE_MEASURED)
               : style_shade(colour_of(chart, series), CURVE_ENDS_SHADE);
}

static void
draw_series(const struct line_panel *panel, struct drawn *drawn, struct canvas *canvas)
{
    const struct line_chart *chart = panel->chart;
    struct arena *arena = canvas_arena(canvas);
    struct traced *traced = arena_alloc(arena, panel->end - panel->first, sizeof *traced);
    for (size_t s = panel->end; s-- > panel->first;) {
        struct traced *one = &traced[s - panel->first];
        *one = trace(panel, &chart->series[s], arena);
        for (size_t i = 0; i < one->count; i++)
            draw_band(&one->stretches[i], colour_of(chart, s), canvas);
    }
    for (size_t s = panel->end; s-- > panel->first;)
        for (size_t i = 0; i < traced[s - panel->first].count; i++)
            draw_curve(&traced[s - panel->first].stretches[i], colour_of(chart, s), drawn,
                       canvas);
    for (size_t s = panel->end; s-- > panel->first;)
        draw_points(panel, &chart->series[s], line_panel_point_colour(chart, s), drawn, canvas);
}

/* Where the curve's last vertex that is drawn lies; false when there is none. */
static bool
find_end(const struct line_panel *panel, const struct line_chart_series *series,
         struct canvas_point *end)
{
    for (size_t i = series->vertex_count; i-- > 0;)
        if (is_drawable(&series->curve[i])) {
            *end = plane_point(&panel->plane, series->curve[i].x, series->curve[i].y);
            return true;
        }
    return false;
}

static struct label_field
make_field(const struct line_panel *panel, const struct drawn *drawn)
{
    return (struct label_field){.box = panel->plane.box,
                                .taken = drawn->taken,
                                .taken_count = drawn->taken_count,
                                .discs = drawn->discs,
                                .disc_count = drawn->disc_count,
                                .paths = drawn->paths,
                                .path_count = drawn->path_count};
}

/* The names of curves, and that later labels keep off them. */
static void
draw_ends(const struct line_panel *panel, struct drawn *drawn, struct canvas *canvas)
{
    struct curve_end *ends =
        arena_alloc(canvas_arena(canvas), panel->end - panel->first + 1, sizeof *ends);
    size_t count = 0;
    for (size_t s = panel->first; s < panel->end; s++) {
        struct curve_end *end = &ends[count];
        *end =
            (struct curve_end){.text = label_of(panel, s), .rgb = colour_of(panel->chart, s)};
        count += end->text != NULL && find_end(panel, &panel->chart->series[s], &end->at);
    }
    const struct label_field field = make_field(panel, drawn);
    curve_ends_draw(&field, panel->labels_pt - CURVE_ENDS_GAP_PT, ends, count, canvas);
    for (size_t i = 0; i < count; i++) {
        if (ends[i].placed.width_pt > 0.0)
            add_taken(drawn, ends[i].placed, canvas);
        if (ends[i].leader.count > 0)
            add_path(drawn, ends[i].leader, canvas);
    }
}

/* A level line from end to end, and where its label belongs. */
static struct label
draw_limit(const struct line_panel *panel, const struct line_chart_limit *limit,
           struct drawn *drawn, struct canvas *canvas)
{
    struct canvas_point *ends = arena_alloc(canvas_arena(canvas), 2, sizeof *ends);
    ends[0] = plane_point(&panel->plane, panel->plane.x.low, limit->y);
    ends[1] = (struct canvas_point){ends[0].x_pt + panel->plane.box.width_pt, ends[0].y_pt};
    canvas_line(canvas, ends[0], ends[1], limit_pt, STYLE_INK);
    add_path(drawn, (struct canvas_path){ends, 2}, canvas);
    return (struct label){.at = ends[0], .text = limit->name, .font = tiny_font};
}

static struct label
draw_note(const struct line_panel *panel, const struct line_chart_note *note,
          struct canvas *canvas)
{
    double radius_pt = note->is_strong ? strong_note_radius_pt : note_radius_pt;
    struct canvas_point at = plane_point(&panel->plane, note->x, note->y);
    if (!note->is_bare) {
        canvas_dot(canvas, at, radius_pt + point_halo_pt, STYLE_PAPER);
        canvas_dot(canvas, at, radius_pt, note->is_strong ? STYLE_INK : STYLE_QUIET);
    }
    struct canvas_font font = tiny_font;
    font.is_bold = note->is_strong;
    font.rgb = note->is_strong ? STYLE_INK : STYLE_QUIET;
    return (struct label){.at = at, .radius_pt = radius_pt, .text = note->text, .font = font};
}

/* Those within the plane, of a panel that has the chart's y. */
static size_t
draw_limits(const struct line_panel *panel, struct drawn *drawn, struct label *labels,
            struct canvas *canvas)
{
    const struct line_chart *chart = panel->chart;
    size_t count = 0;
    for (size_t i = 0; i < chart->limit_count; i++) {
        const struct line_chart_limit *limit = &chart->limits[i];
        bool is_own = line_panel_count(chart) > 1 && chart->series[panel->first].y != NULL;
        if (!is_own && limit->y >= panel->plane.y.low && limit->y <= panel->plane.y.high)
            labels[count++] = draw_limit(panel, limit, drawn, canvas);
    }
    return count;
}

/* The dots of notes, and their labels. */
static size_t
draw_notes(const struct line_panel *panel, struct drawn *drawn, struct label *labels,
           struct canvas *canvas)
{
    size_t count = 0;
    for (size_t s = panel->first; s < panel->end; s++)
        for (size_t i = 0; i < panel->chart->series[s].note_count; i++) {
            const struct line_chart_note *note = &panel->chart->series[s].notes[i];
            labels[count] = draw_note(panel, note, canvas);
            add_disc(drawn, labels[count].at, labels[count].radius_pt, false, canvas);
            count += note->text != NULL && note->text[0] != '\0';
        }
    return count;
}

size_t
line_panel_draw(const struct line_panel *panel, struct canvas *canvas)
{
    struct drawn drawn = {0};
    size_t room = 1 + panel->chart->limit_count, count = 0;
    for (size_t s = panel->first; s < panel->end; s++)
        room += panel->chart->series[s].note_count;
    struct label *labels = arena_alloc(canvas_arena(canvas), room, sizeof *labels);
    size_t left_out = draw_marks(panel, canvas);
    count += draw_limits(panel, &drawn, labels, canvas);
    draw_series(panel, &drawn, canvas);
    count += draw_notes(panel, &drawn, labels + count, canvas);
    draw_ends(panel, &drawn, canvas);
    const struct label_field field = make_field(panel, &drawn);
    return left_out + count - labels_draw(&field, labels, count, canvas);
}
