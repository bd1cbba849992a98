/* How far more GPUs help, as a picture: the best plan of each number, beside equal work. */
#include "sim/cli/search_nodes.h"

#include <math.h>

#include "sim/base/units.h"
#include "sim/cli/version.h"

/* What a plan of so long a step, and so much memory, is judged by. */
static double
quantity(const struct search *search, double step_s, double memory_bytes)
{
    struct search_plan plan = *search->best[0];
    double tokens = plan.row.values[SWEEP_TOKENS_PER_S_PER_GPU] * plan.row.values[SWEEP_STEP_S];
    plan.row.values[SWEEP_STEP_S] = step_s;
    plan.row.values[SWEEP_TOKENS_PER_S_PER_GPU] = tokens / step_s;
    plan.memory_bytes = memory_bytes;
    return fabs(search_score(search, &plan));
}

static double
plan_quantity(const struct search *search, const struct search_plan *plan)
{
    return quantity(search, plan->row.values[SWEEP_STEP_S], plan->memory_bytes);
}

static double
gpus_of(const struct search *search)
{
    return (double)cluster_gpus(search->space.base->inputs.cluster);
}

/* The best are labelled with their plans; the others lie above and below them. */
static void
add_points(const struct search *search, struct scatter_chart *chart,
           struct scatter_point *points, struct arena *arena)
{
    const struct search_plan *best = search->best[0];
    points[chart->point_count++] =
        (struct scatter_point){.x = gpus_of(search),
                               .y = plan_quantity(search, best),
                               .label = search_picture_code(&best->point, arena),
                               .slot = STYLE_FORWARD};
    for (size_t i = 0; i < search->dot_count; i++) {
        const struct search_dot *dot = &search->dots[i];
        if (dot->place != best->place)
            points[chart->point_count++] =
                (struct scatter_point){.x = gpus_of(search),
                                       .y = quantity(search, dot->step_s, dot->memory_bytes),
                                       .is_faint = true,
                                       .slot = STYLE_FORWARD};
    }
}

/* Where twice the GPUs take half the step, all the others of a GPU's quantities stay. */
static double
equal_work(const struct search *first, const struct search *search)
{
    double value = plan_quantity(first, first->best[0]);
    return first->objective == OBJECTIVE_STEP ? value * gpus_of(first) / gpus_of(search)
                                              : value;
}

struct found {
    const struct search **searches; /* with a plan that was simulated */
    size_t count, point_count;
};

static struct found
find_searches(const struct search_nodes *all, struct arena *arena)
{
    struct found found = {.searches = arena_alloc(arena, all->count + 1, sizeof(void *))};
    for (size_t i = 0; i < all->count; i++) {
        const struct search *search = &all->searches[i];
        if (all->reasons[i] || search->best_count == 0)
            continue;
        found.searches[found.count++] = search;
        found.point_count += search->dot_count + 1;
    }
    return found;
}

static const struct scatter_line *
make_lines(const struct found *found, size_t *count, struct arena *arena)
{
    struct scatter_line *lines = arena_alloc(arena, 2, sizeof *lines);
    struct canvas_point *best = arena_alloc(arena, found->count, sizeof *best);
    struct canvas_point *equal = arena_alloc(arena, found->count, sizeof *equal);
    for (size_t i = 0; i < found->count; i++) {
        const struct search *search = found->searches[i];
        best[i] =
            (struct canvas_point){gpus_of(search), plan_quantity(search, search->best[0])};
        equal[i] =
            (struct canvas_point){gpus_of(search), equal_work(found->searches[0], search)};
    }
    lines[0] = (struct scatter_line){.points = best, .count = found->count};
    lines[1] = (struct scatter_line){.points = equal,
                                     .count = found->count,
                                     .label = "each GPU does as much",
                                     .is_dashed = true,
                                     .is_quiet = true};
    bool is_work = found->searches[0]->objective != OBJECTIVE_MEMORY;
    *count = found->count < 2 ? 0 : is_work ? 2 : 1;
    return lines;
}

static struct line_chart_axis
axis_of(enum search_objective objective)
{
    static const struct line_chart_axis axes[OBJECTIVE_COUNT] = {
        [OBJECTIVE_STEP] = {"step", "s", LINE_CHART_LOG},
        [OBJECTIVE_TOKENS] = {"tokens a second of a GPU", "", LINE_CHART_LINEAR},
        [OBJECTIVE_MEMORY] = {"memory of a GPU", "B", LINE_CHART_LINEAR},
        [OBJECTIVE_COST] = {"cost of a million tokens", "", LINE_CHART_LINEAR}};
    return axes[objective];
}

/* "8 times the GPUs do 7.2 times the work". */
static const char *
make_title(const struct found *found, struct arena *arena)
{
    const struct search *few = found->searches[0], *many = found->searches[found->count - 1];
    double few_s = few->best[0]->row.values[SWEEP_STEP_S];
    double many_s = many->best[0]->row.values[SWEEP_STEP_S];
    if (found->count == 1)
        return arena_format(arena, "%s is best: %s",
                            search_picture_code(&few->best[0]->point, arena),
                            units_format_s(few_s).text);
    return arena_format(arena, "%.3g times the GPUs do %.3g times the work",
                        gpus_of(many) / gpus_of(few), few_s / many_s);
}

const struct scatter_chart *
search_nodes_picture(const struct search_nodes *all, struct arena *arena)
{
    struct found found = find_searches(all, arena);
    struct scatter_chart *chart = arena_alloc(arena, 1, sizeof *chart);
    struct scatter_point *points = arena_alloc(arena, found.point_count + 1, sizeof *points);
    if (found.count == 0)
        return NULL;
    for (size_t i = 0; i < found.count; i++)
        add_points(found.searches[i], chart, points, arena);
    const struct run *base = found.searches[0]->space.base;
    chart->points = points;
    chart->lines = make_lines(&found, &chart->line_count, arena);
    chart->title = make_title(&found, arena);
    chart->subtitle =
        arena_format(arena, "%s on %s, %lld sequences a step · the best plan by %s",
                     base->inputs.workload.arch->name, base->inputs.cluster->device->name,
                     (long long)base->inputs.workload.plan->global_batch_sequences,
                     axis_of(found.searches[0]->objective).name);
    chart->footer = arena_format(arena, "stepcast %s: %s", STEPCAST_VERSION, base->name);
    chart->x = (struct line_chart_axis){"GPUs", "", LINE_CHART_LOG_BINARY};
    chart->y = axis_of(found.searches[0]->objective);
    chart->strong_name = "the best plan";
    chart->faint_name = "another that was simulated";
    return chart;
}
