/* A summed-area table (Crow, "Summed-area tables for texture mapping", 1984): how many cells of a
 * rectangle are covered takes four look-ups. It is summed when the first question comes. */
#include "plots/coverage.h"

#include <math.h>

static const double cell_pt = 1.0;
static const double cells_max = 1 << 20;

struct coverage {
    struct canvas_box box;
    double cell_pt;
    size_t columns, rows;
    unsigned char *covered; /* (rows, columns) */
    uint32_t *sums;         /* (rows + 1, columns + 1): of all cells above and left */
    bool is_summed;
};

/* The cells that a box touches: from first to last, both within. */
struct cells {
    size_t first_column, last_column, first_row, last_row;
};

struct coverage *
coverage_new(struct arena *arena, struct canvas_box box)
{
    struct coverage *coverage = arena_alloc(arena, 1, sizeof *coverage);
    double area_pt2 = fmax(0.0, box.width_pt) * fmax(0.0, box.height_pt);
    coverage->box = box;
    coverage->cell_pt = fmax(cell_pt, sqrt(area_pt2 / cells_max));
    coverage->columns = 1 + (size_t)(fmax(0.0, box.width_pt) / coverage->cell_pt);
    coverage->rows = 1 + (size_t)(fmax(0.0, box.height_pt) / coverage->cell_pt);
    coverage->covered = arena_alloc(arena, coverage->columns * coverage->rows, 1);
    coverage->sums = arena_alloc(arena, (coverage->columns + 1) * (coverage->rows + 1),
                                 sizeof *coverage->sums);
    return coverage;
}

/* The index of the cell at an offset from the box's edge, the nearest there is. */
static size_t
cell_at(const struct coverage *coverage, double offset_pt, size_t count)
{
    double cell = floor(offset_pt / coverage->cell_pt);
    return (size_t)fmax(0.0, fmin((double)count - 1.0, cell));
}

/* False when the box lies outside. */
static bool
find_cells(const struct coverage *coverage, struct canvas_box box, struct cells *cells)
{
    double x_pt = box.x_pt - coverage->box.x_pt, y_pt = box.y_pt - coverage->box.y_pt;
    if (!(x_pt + box.width_pt >= 0.0 && y_pt + box.height_pt >= 0.0 &&
          x_pt <= coverage->box.width_pt && y_pt <= coverage->box.height_pt))
        return false;
    *cells = (struct cells){cell_at(coverage, x_pt, coverage->columns),
                            cell_at(coverage, x_pt + box.width_pt, coverage->columns),
                            cell_at(coverage, y_pt, coverage->rows),
                            cell_at(coverage, y_pt + box.height_pt, coverage->rows)};
    return true;
}

void
coverage_add_box(struct coverage *coverage, struct canvas_box box)
{
    struct cells cells;
    if (!find_cells(coverage, box, &cells))
        return;
    for (size_t row = cells.first_row; row <= cells.last_row; row++)
        for (size_t column = cells.first_column; column <= cells.last_column; column++)
            coverage->covered[row * coverage->columns + column] = 1;
    coverage->is_summed = false;
}

/* How far a place is from a cell's side, 0 within. */
static double
off_pt(double at_pt, double low_pt, double cell)
{
    return fmax(0.0, fmax(low_pt - at_pt, at_pt - low_pt - cell));
}

void
coverage_add_disc(struct coverage *coverage, struct canvas_point centre, double radius_pt)
{
    struct cells cells;
    const double cell = coverage->cell_pt;
    struct canvas_box around = {centre.x_pt - radius_pt, centre.y_pt - radius_pt, 2 * radius_pt,
                                2 * radius_pt};
    if (!find_cells(coverage, around, &cells))
        return;
    for (size_t row = cells.first_row; row <= cells.last_row; row++)
        for (size_t column = cells.first_column; column <= cells.last_column; column++) {
            double x = off_pt(centre.x_pt, coverage->box.x_pt + (double)column * cell, cell);
            double y = off_pt(centre.y_pt, coverage->box.y_pt + (double)row * cell, cell);
            if (x * x + y * y <= radius_pt * radius_pt)
                coverage->covered[row * coverage->columns + column] = 1;
        }
    coverage->is_summed = false;
}

/* In steps of half a cell, each with the cells round it: what of the line passes between two steps
 * lies in one of theirs. */
static void
add_segment(struct coverage *coverage, struct canvas_point from, struct canvas_point to)
{
    double x = to.x_pt - from.x_pt, y = to.y_pt - from.y_pt, step_pt = coverage->cell_pt / 2;
    size_t steps = 1 + (size_t)(hypot(x, y) / step_pt);
    for (size_t i = 0; i <= steps; i++) {
        double part = (double)i / (double)steps;
        struct canvas_point at = {from.x_pt + part * x, from.y_pt + part * y};
        coverage_add_box(coverage,
                         (struct canvas_box){at.x_pt - step_pt / 2, at.y_pt - step_pt / 2,
                                             step_pt, step_pt});
    }
}

void
coverage_add_path(struct coverage *coverage, struct canvas_path path)
{
    for (size_t i = 1; i < path.count; i++)
        add_segment(coverage, path.points[i - 1], path.points[i]);
}

static void
sum_up(struct coverage *coverage)
{
    size_t width = coverage->columns + 1;
    for (size_t row = 1; row <= coverage->rows; row++)
        for (size_t column = 1; column < width; column++) {
            uint32_t *sum = &coverage->sums[row * width + column];
            *sum = coverage->covered[(row - 1) * coverage->columns + column - 1] + sum[-1] +
                   *(sum - width) - *(sum - width - 1);
        }
    coverage->is_summed = true;
}

bool
coverage_is_free(struct coverage *coverage, struct canvas_box box)
{
    struct cells cells;
    if (!find_cells(coverage, box, &cells))
        return true;
    if (!coverage->is_summed)
        sum_up(coverage);
    size_t width = coverage->columns + 1;
    const uint32_t *above = coverage->sums + cells.first_row * width;
    const uint32_t *below = coverage->sums + (cells.last_row + 1) * width;
    return below[cells.last_column + 1] - below[cells.first_column] ==
           above[cells.last_column + 1] - above[cells.first_column];
}
