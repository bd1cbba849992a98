/* One walk over the points, columns or squares as they come. */
#include "plots/thin.h"

#include <float.h>

/* Of more points in a column its ends say nothing: the path is up and down in it many times. */
enum { FEW = 2048, COLUMN_FEW = 16 };

static const double no_column = -INFINITY; /* is at hand yet */

bool
thin_is_few(size_t count)
{
    return count <= FEW;
}

struct thin_path
thin_path_new(enum thin_side side, size_t count, double pitch_pt, struct arena *arena)
{
    return (struct thin_path){.arena = arena,
                              .side = side,
                              .pitch_pt = thin_is_few(count) ? 0.0 : pitch_pt,
                              .end_pt = no_column};
}

static void
keep_column(struct thin_path *path)
{
    bool is_dense = path->last.place >= COLUMN_FEW;
    const struct thin_place *upper =
        is_dense && path->side == THIN_LOWER ? &path->lowest : &path->highest;
    const struct thin_place *lower =
        is_dense && path->side == THIN_UPPER ? &path->highest : &path->lowest;
    const struct thin_place *low = lower->place < upper->place ? lower : upper;
    const struct thin_place *high = low == lower ? upper : lower;
    const struct thin_place *places[] = {is_dense ? low : &path->first, low, high,
                                         is_dense ? high : &path->last};
    for (int i = 0; i < 4; i++) {
        if (i > 0 && places[i]->place == places[i - 1]->place)
            continue;
        path->points = arena_grow(path->arena, path->points, path->count, &path->room,
                                  sizeof *path->points);
        path->points[path->count++] = places[i]->point;
    }
}

void
thin_path_turn(struct thin_path *path, struct canvas_point point)
{
    if (path->end_pt > no_column)
        keep_column(path);
    path->end_pt = path->pitch_pt > 0.0
                       ? (floor(point.x_pt / path->pitch_pt) + 1.0) * path->pitch_pt
                       : -DBL_MAX;
    path->first = path->lowest = path->highest = path->last = (struct thin_place){point, 0};
}

struct canvas_path
thin_path_end(struct thin_path *path)
{
    if (path->end_pt > no_column)
        keep_column(path);
    path->end_pt = no_column;
    return (struct canvas_path){path->points, path->count};
}

struct thin_squares
thin_squares_new(struct canvas_box box, double pitch_pt, struct arena *arena)
{
    struct thin_squares squares = {.box = box, .pitch_pt = pitch_pt};
    squares.columns = (size_t)ceil(box.width_pt / pitch_pt) + 1;
    squares.rows = (size_t)ceil(box.height_pt / pitch_pt) + 1;
    squares.is_taken = arena_alloc(arena, squares.columns * squares.rows, sizeof(bool));
    return squares;
}

static size_t
keep_first(struct thin_squares *squares, struct canvas_point *points, size_t count)
{
    size_t used = 0;
    for (size_t i = 0; i < count; i++)
        if (thin_squares_take(squares, points[i]))
            points[used++] = points[i];
    return used;
}

size_t
thin_dots(struct canvas_point *points, size_t count, struct canvas_box box, double pitch_pt,
          struct arena *arena)
{
    if (thin_is_few(count))
        return count;
    struct thin_squares squares = thin_squares_new(box, pitch_pt, arena);
    return keep_first(&squares, points, count);
}

void
thin_dots_beneath(struct thin_dots *above, struct thin_dots *beneath, struct canvas_box box,
                  double pitch_pt, struct arena *arena)
{
    struct thin_squares squares = thin_squares_new(box, pitch_pt, arena);
    above->count = keep_first(&squares, above->points, above->count);
    beneath->count = keep_first(&squares, beneath->points, beneath->count);
}
