/* One walk over the points, columns or squares as they come. */
#include "plots/thin.h"

#include <math.h>

/* Of more points in a column its ends say nothing: the path is up and down in it many times. */
enum { FEW = 2048, COLUMN_FEW = 16 };

/* Points of a column that are kept: places in the path. */
struct column {
    size_t first, lowest, highest, last;
};

static size_t
keep_column(struct canvas_point *points, const struct column *column, enum thin_side side,
            size_t used)
{
    bool is_dense = column->last - column->first >= COLUMN_FEW;
    size_t upper = is_dense && side == THIN_LOWER ? column->lowest : column->highest;
    size_t lower = is_dense && side == THIN_UPPER ? column->highest : column->lowest;
    size_t low = lower < upper ? lower : upper, high = lower < upper ? upper : lower;
    const size_t places[] = {is_dense ? low : column->first, low, high,
                             is_dense ? high : column->last};
    for (int i = 0; i < 4; i++)
        if (i == 0 || places[i] > places[i - 1])
            points[used++] = points[places[i]];
    return used;
}

size_t
thin_path(struct canvas_point *points, size_t count, double pitch_pt, enum thin_side side)
{
    size_t used = 0, next = 0;
    if (count <= FEW)
        return count;
    while (next < count) {
        double end_pt = (floor(points[next].x_pt / pitch_pt) + 1.0) * pitch_pt;
        struct column column = {next, next, next, next};
        for (bool is_in = true; is_in; is_in = next < count && points[next].x_pt < end_pt) {
            column.last = next;
            if (points[next].y_pt > points[column.lowest].y_pt)
                column.lowest = next;
            if (points[next].y_pt < points[column.highest].y_pt)
                column.highest = next;
            next++;
        }
        used = keep_column(points, &column, side, used); /* at most as many as were read */
    }
    return used;
}

/* Squares over a box, and which of them hold a dot. */
struct squares {
    struct canvas_box box;
    double pitch_pt;
    size_t columns, rows;
    bool *is_taken;
};

static struct squares
make_squares(struct canvas_box box, double pitch_pt, struct arena *arena)
{
    struct squares squares = {.box = box, .pitch_pt = pitch_pt};
    squares.columns = (size_t)ceil(box.width_pt / pitch_pt) + 1;
    squares.rows = (size_t)ceil(box.height_pt / pitch_pt) + 1;
    squares.is_taken = arena_alloc(arena, squares.columns * squares.rows, sizeof(bool));
    return squares;
}

static size_t
keep_first(struct squares *squares, struct canvas_point *points, size_t count)
{
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        double x = (points[i].x_pt - squares->box.x_pt) / squares->pitch_pt;
        double y = (points[i].y_pt - squares->box.y_pt) / squares->pitch_pt;
        if (!(x >= 0.0 && y >= 0.0 && x < (double)squares->columns &&
              y < (double)squares->rows))
            continue;
        size_t place = (size_t)y * squares->columns + (size_t)x;
        if (!squares->is_taken[place])
            points[used++] = points[i];
        squares->is_taken[place] = true;
    }
    return used;
}

size_t
thin_dots(struct canvas_point *points, size_t count, struct canvas_box box, double pitch_pt,
          struct arena *arena)
{
    if (count <= FEW)
        return count;
    struct squares squares = make_squares(box, pitch_pt, arena);
    return keep_first(&squares, points, count);
}

void
thin_dots_beneath(struct thin_dots *above, struct thin_dots *beneath, struct canvas_box box,
                  double pitch_pt, struct arena *arena)
{
    struct squares squares = make_squares(box, pitch_pt, arena);
    above->count = keep_first(&squares, above->points, above->count);
    beneath->count = keep_first(&squares, beneath->points, beneath->count);
}
