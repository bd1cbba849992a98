/* Steps side by side as bars of what each goes to, the memory of a GPU beside them. */
#include <math.h>
#include <stdlib.h>

#include "plots/bar_chart.h"
#include "sim/base/units.h"
#include "sim/cli/compare.h"
#include "sim/cli/step_picture.h"
#include "sim/cli/version.h"

/* By the colours of the classes, from what computes to what waits. */
static const struct bar_chart_kind KINDS[] = {
    {"forward and backward", STYLE_FORWARD, 0},
    {"optimizer", STYLE_OPTIMIZER, 0},
    {"slower beside collectives", STYLE_OTHER, 0},
    {"waiting: data parallel", STYLE_DATA_PARALLEL, 0},
    {"waiting: experts' all-to-all", STYLE_EXPERT_PARALLEL, 0},
    {"waiting: tensor and context parallel", STYLE_TENSOR_PARALLEL, 0},
    {"waiting: pipeline transfers", STYLE_PIPELINE_PARALLEL, 0},
    {"host", STYLE_HOST, 0},
    {"waiting: other ranks", STYLE_BUBBLE, 0},
};
enum { KIND_COUNT = sizeof KINDS / sizeof *KINDS };

static size_t
kind_of(enum step_class spent_on)
{
    enum style_slot slot =
        spent_on == CLASS_OVERLAP ? STYLE_OTHER : step_picture_class_slot(spent_on);
    for (size_t i = 0; i < KIND_COUNT; i++)
        if (KINDS[i].slot == slot)
            return i;
    return 0;
}

static const struct bar_chart_piece *
make_pieces(const struct step *step, struct arena *arena)
{
    int64_t sums_ps[KIND_COUNT] = {0};
    struct bar_chart_piece *pieces = arena_alloc(arena, KIND_COUNT, sizeof *pieces);
    for (int i = 0; i < STEP_CLASS_COUNT; i++)
        sums_ps[kind_of((enum step_class)i)] += step->class_ps[i];
    for (size_t i = 0; i < KIND_COUNT; i++) {
        double value_s = units_s_from_ps(sums_ps[i]);
        pieces[i] = (struct bar_chart_piece){
            value_s, arena_format(arena, "%s", units_format_s(value_s).text)};
    }
    return pieces;
}

static struct bar_chart_row
make_row(const struct compared *item, struct arena *arena)
{
    struct bar_chart_row row = {
        .name = item->name, .reason = item->reason, .side_limit = item->capacity_bytes};
    const struct step *step = item->step;
    if (!step)
        return row;
    row.pieces = make_pieces(step, arena);
    row.low = step->low_s;
    row.high = step->high_s;
    row.side = step->memory.peak;
    row.short_text = arena_format(arena, "%s", units_format_s(step->step_s).text);
    row.text = item->reason ? arena_format(arena, "%s if it fitted", row.short_text)
                            : arena_format(arena, "%s, %s tokens/s per GPU", row.short_text,
                                           units_format_count(step->tokens_per_s_per_gpu).text);
    row.side_text = arena_format(arena, "%s", units_format_bytes(step->memory.peak).text);
    return row;
}

/* What plans are judged by: the time of a token, which is that of the step where all have the same
 * batch. */
static double
token_s(const struct compared *item)
{
    return 1 / item->step->tokens_per_s;
}

/* The quickest first; then what does not fit, then what cannot be simulated. */
static int
compare_items(const void *a, const void *b)
{
    const struct compared *one = *(const struct compared *const *)a;
    const struct compared *two = *(const struct compared *const *)b;
    if (!one->reason != !two->reason)
        return one->reason ? 1 : -1;
    if (!one->step != !two->step)
        return one->step ? -1 : 1;
    if (one->step && token_s(one) != token_s(two))
        return token_s(one) < token_s(two) ? -1 : 1;
    return (one > two) - (one < two);
}

static const struct compared **
sort_items(const struct comparison *comparison, struct arena *arena)
{
    const struct compared **items =
        arena_alloc(arena, comparison->count, sizeof(const struct compared *));
    for (size_t i = 0; i < comparison->count; i++)
        items[i] = &comparison->items[i];
    qsort(items, comparison->count, sizeof(const struct compared *), compare_items);
    return items;
}

static bool
is_one_batch(const struct comparison *comparison)
{
    int64_t tokens = plan_step_tokens(comparison->items[0].step->run->inputs.workload.plan);
    for (size_t i = 1; i < comparison->count; i++) {
        const struct step *step = comparison->items[i].step;
        if (step && plan_step_tokens(step->run->inputs.workload.plan) != tokens)
            return false;
    }
    return true;
}

/* How the best differs from the first, or where that is the best from the next. */
static const char *
make_title(const struct comparison *comparison, const struct compared *const *items,
           struct arena *arena)
{
    const struct compared *best = items[0], *base = &comparison->items[0];
    const struct compared *other = best != base            ? base
                                   : comparison->count > 1 ? items[1]
                                                           : NULL;
    const char *name = arena_format(arena, "%s takes %s a step", best->name,
                                    units_format_s(best->step->step_s).text);
    if (!other || other->reason)
        return arena_format(arena, "%s, nothing else runs", name);
    if (is_one_batch(comparison))
        return arena_format(arena, "%s, %s less than %s", name,
                            units_format_fraction(1 - token_s(best) / token_s(other)).text,
                            other->name);
    return arena_format(arena, "%s makes %s tokens/s per GPU, %s more than %s", best->name,
                        units_format_count(best->step->tokens_per_s_per_gpu).text,
                        units_format_fraction(token_s(other) / token_s(best) - 1).text,
                        other->name);
}

static const char *
make_subtitle(const struct comparison *comparison, struct arena *arena)
{
    const struct step *step = comparison->items[0].step;
    const struct step_inputs *inputs = &step->run->inputs;
    struct units_text tokens =
        units_format_count((double)plan_step_tokens(inputs->workload.plan));
    return arena_format(
        arena,
        "predicted: %s on %lld %s%s · where the slowest rank's time goes · whiskers: 90 %% "
        "interval",
        inputs->workload.arch->name, (long long)cluster_gpus(inputs->cluster),
        inputs->cluster->device->name,
        is_one_batch(comparison) ? arena_format(arena, ", %s tokens a step", tokens.text) : "");
}

const struct bar_chart *
comparison_chart(const struct comparison *comparison, struct arena *arena)
{
    struct bar_chart *chart = arena_alloc(arena, 1, sizeof *chart);
    struct bar_chart_row *rows = arena_alloc(arena, comparison->count, sizeof *rows);
    const struct compared **items = sort_items(comparison, arena);
    for (size_t i = 0; i < comparison->count; i++)
        rows[i] = make_row(items[i], arena);
    const struct compared *base = &comparison->items[0];
    *chart = (struct bar_chart){
        .title = make_title(comparison, items, arena),
        .subtitle = make_subtitle(comparison, arena),
        .footer = arena_format(arena, "stepcast %s: %s", STEPCAST_VERSION, base->step->heading),
        .main = {"step", "s"},
        .side = {"memory", "B"},
        .limit_name =
            arena_format(arena, "a GPU has %s", units_format_bytes(base->capacity_bytes).text),
        .kinds = KINDS,
        .kind_count = KIND_COUNT,
        .rows = rows,
        .row_count = comparison->count,
    };
    return chart;
}
