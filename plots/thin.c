/* One walk over the points, columns or squares as they come. */
#include "plots/thin.h"

#include <math.h>

enum { FEW = 2048 };

/* Points of a column that are kept: places in the path. */
struct column {
    size_t first, lowest, highest, last;
};

static size_t
keep_column(struct canvas_point *points, const struct column *column, size_t used)
{
    size_t low = column->lowest < column->highest ? column->lowest : column->highest;
    size_t high = column->lowest < column->highest ? column->highest : column->lowest;
    const size_t places[] = {column->first, low, high, column->last};
    for (int i = 0; i < 4; i++)
        if (i == 0 || places[i] > places[i - 1])
            points[used++] = points[places[i]];
    return used;
}

size_t
thin_path(struct canvas_point *points, size_t count, double pitch_pt)
{
    size_t used = 0, next = 0;
    if (count <= FEW)
        return count;
    while (next < count) {
        double at = floor(points[next].x_pt / pitch_pt);
        struct column column = {next, next, next, next};
        for (; next < count && floor(points[next].x_pt / pitch_pt) <= at; next++) {
            column.last = next;
            if (points[next].y_pt > points[column.lowest].y_pt)
                column.lowest = next;
            if (points[next].y_pt < points[column.highest].y_pt)
                column.highest = next;
        }
        used = keep_column(points, &column, used); /* at most as many as were read */
    }
    return used;
}

size_t
thin_dots(struct canvas_point *points, size_t count, struct canvas_box box, double pitch_pt,
          struct arena *arena)
{
    if (count <= FEW)
        return count;
    size_t columns = (size_t)ceil(box.width_pt / pitch_pt) + 1, used = 0;
    size_t rows = (size_t)ceil(box.height_pt / pitch_pt) + 1;
    bool *is_taken = arena_alloc(arena, columns * rows, sizeof *is_taken);
    for (size_t i = 0; i < count; i++) {
        double x = floor((points[i].x_pt - box.x_pt) / pitch_pt);
        double y = floor((points[i].y_pt - box.y_pt) / pitch_pt);
        if (!(x >= 0.0 && y >= 0.0 && x < (double)columns && y < (double)rows))
            continue;
        size_t place = (size_t)y * columns + (size_t)x;
        if (!is_taken[place])
            points[used++] = points[i];
        is_taken[place] = true;
    }
    return used;
}
