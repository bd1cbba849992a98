/* A step's tornado and its roofline (Williams, Waterman and Patterson, "Roofline: an insightful
 * visual performance model for multicore architectures", 2009). */
#include "sim/cli/explain_picture.h"

#include <math.h>
#include <stdlib.h>

#include "sim/base/units.h"
#include "sim/cli/version.h"

static const double PERCENT = 100;

static const char *
make_footer(const struct step *step, struct arena *arena)
{
    return arena_format(arena, "stepcast %s: %s", STEPCAST_VERSION, step->heading);
}

static const char *
make_setup(const struct step *step, struct arena *arena)
{
    const struct step_inputs *inputs = &step->run->inputs;
    return arena_format(arena, "%s on %lld %s, a step of %s", inputs->workload.arch->name,
                        (long long)cluster_gpus(inputs->cluster), inputs->cluster->device->name,
                        units_format_s(step->step_s).text);
}

/* "-27.3 ms" of a time that is so much shorter. */
static const char *
format_difference(double difference_s, struct arena *arena)
{
    const char *sign = difference_s < 0 ? "-" : difference_s > 0 ? "+" : "";
    return arena_format(arena, "%s%s", sign, units_format_s(fabs(difference_s)).text);
}

static double
difference_s(int64_t ps, const struct step *step)
{
    int64_t difference_ps = ps - step->step_ps;
    return difference_ps < 0 ? -units_s_from_ps(-difference_ps)
                             : units_s_from_ps(difference_ps);
}

static struct tornado_row
make_row(const struct step *step, const struct sensitivity *item, struct arena *arena)
{
    double better_s = difference_s(item->better_ps, step);
    double worse_s = difference_s(item->worse_ps, step);
    return (struct tornado_row){item->label, better_s, worse_s,
                                format_difference(better_s, arena),
                                format_difference(worse_s, arena)};
}

const struct tornado_chart *
explain_tornado(const struct step *step, const struct sensitivity items[SENSITIVITY_COUNT],
                struct arena *arena)
{
    struct tornado_chart *chart = arena_alloc(arena, 1, sizeof *chart);
    struct tornado_row *rows = arena_alloc(arena, SENSITIVITY_COUNT, sizeof *rows);
    double percent = PERCENT * SENSITIVITY_FRACTION;
    for (int i = 0; i < SENSITIVITY_COUNT; i++)
        rows[i] = make_row(step, &items[i], arena);
    chart->title = arena_format(
        arena, "%.0f %% %s %s makes the step %s shorter, no other number does more", percent,
        items[0].is_rate ? "more" : "less of", items[0].label,
        units_format_fraction(-rows[0].better / step->step_s).text);
    chart->subtitle = arena_format(arena, "%s · each number alone, the step simulated again",
                                   make_setup(step, arena));
    chart->footer = make_footer(step, arena);
    chart->x_name = "the step longer or shorter by";
    chart->x_unit = "s";
    chart->better = arena_format(arena, "better by %.0f %%: a rate more, a time less", percent);
    chart->worse = arena_format(arena, "worse by %.0f %%", percent);
    chart->rows = rows;
    chart->row_count = SENSITIVITY_COUNT;
    return chart;
}

/* Where the two bounds of a rate meet, and its ends left and right. */
static struct scatter_line
make_roof(double flop_per_s, double bytes_per_s, const double ends[2], struct arena *arena)
{
    struct canvas_point *points = arena_alloc(arena, 3, sizeof *points);
    points[0] = (struct canvas_point){ends[0], ends[0] * bytes_per_s};
    points[1] = (struct canvas_point){flop_per_s / bytes_per_s, flop_per_s};
    points[2] = (struct canvas_point){ends[1], flop_per_s};
    return (struct scatter_line){.points = points, .count = 3, .is_quiet = true};
}

/* The lower half of a roof's slope, as it looks on logarithmic scales. */
static const struct canvas_point *
make_slope(const struct canvas_point roof[2], struct arena *arena)
{
    struct canvas_point *points = arena_alloc(arena, 2, sizeof *points);
    points[0] = roof[0];
    points[1] = (struct canvas_point){sqrt(roof[0].x_pt * roof[1].x_pt),
                                      sqrt(roof[0].y_pt * roof[1].y_pt)};
    return points;
}

/* The datasheet's, and where power holds the clock down that of products all over the device. */
static void
add_roofs(const struct step *step, struct scatter_chart *chart, const double ends[2],
          struct arena *arena)
{
    const struct device *device = step->run->inputs.cluster->device;
    enum dtype dtype = step->run->inputs.workload.plan->compute_dtype;
    double peak = device->peak_flop_per_s[dtype];
    double sustained = device->gemm.sustained_flop_per_s[dtype];
    double bytes_per_s = device->memory.hbm_read_bytes_per_s;
    struct scatter_line *lines = arena_alloc(arena, 3, sizeof *lines);
    lines[0] = make_roof(peak, bytes_per_s, ends, arena);
    lines[0].label = arena_format(arena, "%s peak, %s", dtype_name(dtype),
                                  units_format_flop_per_s(peak).text);
    chart->line_count = 1;
    if (sustained > 0 && sustained < peak) {
        lines[1] = make_roof(sustained, bytes_per_s, ends, arena);
        lines[1].label =
            arena_format(arena, "sustained, %s", units_format_flop_per_s(sustained).text);
        lines[1].is_dashed = true;
        chart->line_count = 2;
    }
    lines[chart->line_count] = lines[0]; /* up to where HBM's name stands */
    lines[chart->line_count].points = make_slope(lines[0].points, arena);
    lines[chart->line_count].count = 2;
    lines[chart->line_count++].label =
        arena_format(arena, "HBM, %s", units_format_bytes_per_s(bytes_per_s).text);
    chart->lines = lines;
}

static double
class_s(const struct step *step, int spent_on)
{
    return units_s_from_ps(step->class_ps[spent_on]);
}

static bool
is_on_plane(const struct step *step, int spent_on)
{
    return step->class_flop[spent_on] > 0 && step->class_bytes[spent_on] > 0 &&
           step->class_ps[spent_on] > 0;
}

static int
compare_points(const void *a, const void *b)
{
    const struct scatter_point *one = a, *two = b;
    return (one->area_part < two->area_part) - (one->area_part > two->area_part);
}

/* The largest first, so that smaller ones lie over it and it is labelled first. */
static void
add_classes(const struct step *step, struct scatter_chart *chart, struct arena *arena)
{
    struct scatter_point *points = arena_alloc(arena, STEP_CLASS_COUNT, sizeof *points);
    double most_s = 0;
    for (int i = 0; i < STEP_CLASS_COUNT; i++)
        most_s = is_on_plane(step, i) ? fmax(most_s, class_s(step, i)) : most_s;
    for (int i = 0; i < STEP_CLASS_COUNT; i++) {
        enum step_class spent_on = (enum step_class)i;
        if (!is_on_plane(step, i))
            continue;
        bool is_optimizer = step_class_group(spent_on) == GROUP_OPTIMIZER;
        points[chart->point_count++] = (struct scatter_point){
            .x = step->class_flop[i] / step->class_bytes[i],
            .y = step->class_flop[i] / class_s(step, i),
            .label = arena_format(arena, "%s, %s", step_class_label(spent_on),
                                  units_format_fraction(class_s(step, i) / step->step_s).text),
            .area_part = class_s(step, i) / most_s,
            .slot = is_optimizer ? STYLE_OPTIMIZER : STYLE_FORWARD};
    }
    qsort(points, chart->point_count, sizeof *points, compare_points);
    chart->points = points;
}

/* From left of all classes to right of them and of the ridge. */
static void
find_ends(const struct step *step, const struct scatter_chart *chart, double ends[2])
{
    const struct device *device = step->run->inputs.cluster->device;
    double ridge = device->peak_flop_per_s[step->run->inputs.workload.plan->compute_dtype] /
                   device->memory.hbm_read_bytes_per_s;
    const double room = 3;
    ends[0] = ridge / room;
    ends[1] = ridge * room;
    for (size_t i = 0; i < chart->point_count; i++) {
        ends[0] = fmin(ends[0], chart->points[i].x / 2);
        ends[1] = fmax(ends[1], chart->points[i].x * 2);
    }
}

/* What computes nothing has no place on the plane: its part of the step and its bytes a second. */
static const char *
make_movers(const struct step *step, struct arena *arena)
{
    double seconds_s = 0, bytes = 0;
    for (int i = 0; i < STEP_CLASS_COUNT; i++)
        if (!is_on_plane(step, i) && step->class_bytes[i] > 0) {
            seconds_s += class_s(step, i);
            bytes += step->class_bytes[i];
        }
    if (seconds_s <= 0)
        return "";
    return arena_format(
        arena, " · not shown: %s of the step only moves bytes, at %s of %s",
        units_format_fraction(seconds_s / step->step_s).text,
        units_format_bytes_per_s(bytes / seconds_s).text,
        units_format_bytes_per_s(step->run->inputs.cluster->device->memory.hbm_read_bytes_per_s)
            .text);
}

static const char *
make_title(const struct step *step, const struct scatter_chart *chart, struct arena *arena)
{
    enum dtype dtype = step->run->inputs.workload.plan->compute_dtype;
    double peak = step->run->inputs.cluster->device->peak_flop_per_s[dtype];
    if (chart->point_count == 0)
        return "Nothing that the step runs computes";
    const struct scatter_point *largest = &chart->points[0];
    return arena_format(arena, "The largest part, %s of the step, reaches %s of the %s peak",
                        largest->label, units_format_fraction(largest->y / peak).text,
                        dtype_name(dtype));
}

const struct scatter_chart *
explain_roofline(const struct step *step, struct arena *arena)
{
    struct scatter_chart *chart = arena_alloc(arena, 1, sizeof *chart);
    double ends[2];
    add_classes(step, chart, arena);
    find_ends(step, chart, ends);
    add_roofs(step, chart, ends, arena);
    chart->title = make_title(step, chart, arena);
    chart->subtitle =
        arena_format(arena, "%s%s", make_setup(step, arena), make_movers(step, arena));
    chart->footer = make_footer(step, arena);
    chart->x = (struct line_chart_axis){"FLOP for each byte of HBM", "", LINE_CHART_LOG};
    chart->y = (struct line_chart_axis){"FLOP/s of a GPU", "FLOP/s", LINE_CHART_LOG};
    chart->area_name = "area: part of the step";
    return chart;
}
