/* What a search found as a picture: step over memory, the plans that none beats joined. */
#include "sim/cli/search_report.h"

#include <string.h>

#include "sim/base/units.h"
#include "sim/cli/version.h"

/* Beyond this part between the least and the most an axis is logarithmic. */
static const double LOG_FROM_RATIO = 8;

/* As people write it: "TP2 PP4 mbs1 full recompute". A degree of 1 is not said. */
const char *
search_picture_code(const struct plan_point *point, struct arena *arena)
{
    static const char *const prefixes[PLAN_FIELD_COUNT] = {
        [PLAN_FIELD_TENSOR] = "TP",           [PLAN_FIELD_CONTEXT] = "CP",
        [PLAN_FIELD_PIPELINE] = "PP",         [PLAN_FIELD_EXPERT] = "EP",
        [PLAN_FIELD_EXPERT_TENSOR] = "ETP",   [PLAN_FIELD_MICROBATCH] = "mbs",
        [PLAN_FIELD_SCHEDULE] = "",           [PLAN_FIELD_VIRTUAL_STAGES] = "chunks ",
        [PLAN_FIELD_ZERO_STAGE] = "ZeRO-",    [PLAN_FIELD_RECOMPUTE] = "recompute ",
        [PLAN_FIELD_ORDER] = "data outermost"};
    struct text code = text_new(arena);
    for (int i = 0; i < PLAN_FIELD_COUNT; i++) {
        enum plan_field field = (enum plan_field)i;
        const char *word = plan_field_word(field, point->values[i], arena);
        bool is_common = field == PLAN_FIELD_ORDER || field == PLAN_FIELD_RECOMPUTE
                             ? point->values[i] == 0
                             : strcmp(word, "1") == 0;
        bool is_idle = field == PLAN_FIELD_SCHEDULE &&
                       point->values[PLAN_FIELD_PIPELINE] == 1; /* nothing to order */
        bool is_said = field == PLAN_FIELD_MICROBATCH || field == PLAN_FIELD_ZERO_STAGE;
        if (is_idle || (is_common && !is_said))
            continue;
        text_format(&code, "%s%s%s", code.length > 0 ? " " : "", prefixes[i],
                    field == PLAN_FIELD_ORDER ? "" : word);
    }
    return code.bytes;
}

static bool
is_on_front(const struct search *search, size_t place)
{
    for (size_t i = 0; i < search->front_count; i++)
        if (search->front[i]->place == place)
            return true;
    return false;
}

static struct scatter_point
make_point(const struct search_plan *plan, struct arena *arena)
{
    double step_s = plan->row.values[SWEEP_STEP_S];
    return (struct scatter_point){
        .x = plan->memory_bytes,
        .y = step_s,
        .label = arena_format(arena, "%s: %s", search_picture_code(&plan->point, arena),
                              units_format_s(step_s).text),
        .slot = STYLE_FORWARD};
}

/* The front from its quickest, so that this is labelled first; then the others. */
static void
add_points(const struct search *search, struct scatter_chart *chart, struct arena *arena)
{
    size_t room = search->front_count + search->dot_count;
    struct scatter_point *points = arena_alloc(arena, room + 1, sizeof *points);
    for (size_t i = 0; i < search->front_count; i++)
        points[chart->point_count++] = make_point(search->front[i], arena);
    for (size_t i = 0; i < search->dot_count; i++) {
        const struct search_dot *dot = &search->dots[i];
        if (!is_on_front(search, dot->place))
            points[chart->point_count++] = (struct scatter_point){.x = dot->memory_bytes,
                                                                  .y = dot->step_s,
                                                                  .is_faint = true,
                                                                  .slot = STYLE_FORWARD};
    }
    chart->points = points;
}

/* From plan to plan in steps: a memory between two of them buys no more than the lesser. */
static void
add_front(const struct search *search, struct scatter_chart *chart, struct arena *arena)
{
    struct scatter_line *line = arena_alloc(arena, 1, sizeof *line);
    struct canvas_point *points =
        arena_alloc(arena, 2 * search->front_count + 1, sizeof *points);
    for (size_t i = 0; i < search->front_count; i++) {
        struct canvas_point at = {search->front[i]->row.values[SWEEP_MEMORY_BYTES],
                                  search->front[i]->row.values[SWEEP_STEP_S]};
        if (i > 0) {
            points[line->count].x_pt = points[line->count - 1].x_pt;
            points[line->count++].y_pt = at.y_pt;
        }
        points[line->count++] = at;
    }
    line->points = points;
    chart->lines = line;
    chart->line_count = 1;
}

static const char *
make_title(const struct search *search, struct arena *arena)
{
    const struct search_plan *quick = search->front[0];
    const struct search_plan *small = search->front[search->front_count - 1];
    const char *first = arena_format(
        arena, "%s is quickest: %s in %s", search_picture_code(&quick->point, arena),
        units_format_s(quick->row.values[SWEEP_STEP_S]).text,
        units_format_bytes(quick->row.values[SWEEP_MEMORY_BYTES]).text);
    if (search->front_count == 1)
        return arena_format(arena, "%s, and none takes less memory", first);
    return arena_format(arena, "%s; the least memory, %s, takes %s", first,
                        units_format_bytes(small->row.values[SWEEP_MEMORY_BYTES]).text,
                        units_format_s(small->row.values[SWEEP_STEP_S]).text);
}

static enum line_chart_scale
scale_of(const struct scatter_chart *chart, bool is_x, double least_high)
{
    double low = is_x ? chart->points[0].x : chart->points[0].y, high = least_high;
    for (size_t i = 0; i < chart->point_count; i++) {
        double value = is_x ? chart->points[i].x : chart->points[i].y;
        low = value < low ? value : low;
        high = value > high ? value : high;
    }
    return high >= LOG_FROM_RATIO * low ? LINE_CHART_LOG : LINE_CHART_LINEAR;
}

const struct scatter_chart *
search_picture(const struct search *search, struct arena *arena)
{
    const struct run *base = search->space.base;
    const struct cluster *cluster = base->inputs.cluster;
    double capacity_bytes = cluster->device->hbm_bytes;
    struct scatter_chart *chart = arena_alloc(arena, 1, sizeof *chart);
    if (search->front_count == 0)
        return NULL;
    add_points(search, chart, arena);
    add_front(search, chart, arena);
    chart->title = make_title(search, arena);
    chart->subtitle = arena_format(
        arena,
        "%s on %lld %s, %lld sequences a step · %zu legal plans, %zu simulated, the others are "
        "beaten by their bounds%s",
        base->inputs.workload.arch->name, (long long)cluster_gpus(cluster),
        cluster->device->name, (long long)base->inputs.workload.plan->global_batch_sequences,
        search->counts.legal_count, search->simulated_count,
        search->no_memory_count > 0
            ? arena_format(arena, " or do not fit (%zu)", search->no_memory_count)
            : "");
    chart->footer = arena_format(arena, "stepcast %s: %s", STEPCAST_VERSION, base->name);
    chart->limit = (struct scatter_limit){
        capacity_bytes,
        arena_format(arena, "a GPU has %s", units_format_bytes(capacity_bytes).text)};
    chart->x =
        (struct line_chart_axis){"memory of a GPU", "B", scale_of(chart, true, capacity_bytes)};
    chart->y = (struct line_chart_axis){"step", "s", scale_of(chart, false, 0)};
    chart->strong_name = "no plan beats it in both";
    chart->faint_name = "another plan is better";
    return chart;
}
