/* Error tables as panels: which samples are in which, and the figures that stand over them. */
#include "sim/cli/validate_outcome.h"

#include <math.h>
#include <string.h>

#include "plots/chart_csv.h"
#include "sim/cli/picture.h"
#include "sim/cli/version.h"
#include "validate/statistics.h"

static const double BAND_FRACTION = 0.1;

enum {
    FEW = 10, /* of fewer there are no nine of ten */
    WORST = 3 /* of a panel, that are named */
};

const char *
validate_title(const struct suite_table *asked)
{
    if (*asked->title != '\0')
        return asked->title;
    return *asked->cluster != '\0' ? asked->cluster : asked->device;
}

/* Each sample is shown once: under its kind and dtype, all sizes. */
static bool
is_shown(const struct error_group *group)
{
    return !group->is_sum && strcmp(group->size, "all") == 0;
}

static const struct error_row *
find_row(const struct error_table *table, const struct error_group *group, enum split_part part)
{
    for (size_t i = 0; i < table->count; i++)
        if (table->rows[i].part == part && error_group_is(&table->rows[i].group, group))
            return &table->rows[i];
    return NULL;
}

/* "held out: MAPE 7.2 %, bias +1.0 %, n 122"; of the fit where nothing was held out. */
static const char *
make_note(const struct error_table *table, const struct error_group *group, struct arena *arena)
{
    const struct error_row *row = find_row(table, group, SPLIT_HELD_OUT);
    const char *part = "held out";
    if (row == NULL) {
        row = find_row(table, group, SPLIT_FIT);
        part = "fit only";
    }
    return arena_format(arena, "%s: MAPE %.1f %%, bias %+.1f %%, n %zu", part,
                        row->mape_fraction * 100, row->bias_fraction * 100, row->count);
}

static double
error_of(const struct ratio_chart_point *point)
{
    return fabs(point->ratio - 1);
}

/* How often the number at the beginning of a list stands there in a row. */
static size_t
count_equal(const char *list, size_t length)
{
    size_t count = 1;
    while (list[count * (length + 1) - 1] == ',' &&
           strncmp(list, list + count * (length + 1), length) == 0 &&
           strchr(", ", list[count * (length + 1) + length]) != NULL)
        count++;
    return count;
}

/* A value of a shape, "128" or "128,128,64", as "128" or "2·128,64". Returns what follows it. */
static const char *
append_value(struct text *text, const char *value)
{
    for (const char *separator = "";; separator = ",") {
        size_t length = strcspn(value, ", "), count = count_equal(value, length);
        text_format(text, "%s", separator);
        if (count > 1)
            text_format(text, "%zu·", count);
        text_append(text, value, length);
        value += count * (length + 1) - 1;
        if (*value != ',')
            return value;
        value++;
    }
}

static bool
is_field(const char *field, const char *wanted)
{
    size_t length = strlen(wanted);
    return strncmp(field, wanted, length) == 0 && strchr(" ", field[length]) != NULL;
}

/* "-35.5 %: 1×1280×2048" of "gemm m=1 n=1280 k=2048 batch=1": the kind stands over the panel, a
 * batch of one says nothing, and neither does a mask that is not there. */
static const char *
label_of(const struct ratio_chart_point *point, const char *shape, struct arena *arena)
{
    struct text text = text_new(arena);
    const char *separator = ": ";
    text_format(&text, "%+.1f %%", (point->ratio - 1) * 100);
    if (strchr(shape, '=') == NULL)
        text_format(&text, ": %s", shape);
    for (const char *field = strchr(shape, ' '); field != NULL; field = strchr(field, ' ')) {
        const char *value = strchr(++field, '=');
        if (value == NULL || is_field(field, "batch=1") || is_field(field, "causal=0"))
            continue;
        if (is_field(field, "causal=1")) {
            text_format(&text, " causal");
            continue;
        }
        text_format(&text, "%s", separator);
        field = append_value(&text, value + 1);
        separator = "×";
    }
    return text.bytes;
}

/* The worst of the points that were held out and are past the band get labels; they come first in
 * the panel, the worst of all before the others. */
static void
name_worst(struct ratio_chart_point *points, const char **shapes, size_t count,
           struct arena *arena)
{
    for (size_t rank = 0; rank < WORST && rank < count; rank++) {
        size_t worst = count;
        for (size_t i = rank; i < count; i++)
            if (!points[i].is_faint &&
                (worst == count || error_of(&points[i]) > error_of(&points[worst])))
                worst = i;
        if (worst == count || error_of(&points[worst]) <= BAND_FRACTION)
            return;
        struct ratio_chart_point point = points[worst];
        const char *shape = shapes[worst];
        points[worst] = points[rank];
        shapes[worst] = shapes[rank];
        points[rank] = point;
        points[rank].label = label_of(&point, shape, arena);
    }
}

static struct ratio_chart_panel
make_panel(const struct validate_outcome *outcome, const struct error_group *group,
           struct arena *arena)
{
    const struct comparison *comparison = &outcome->comparison;
    struct ratio_chart_point *points = arena_alloc(arena, comparison->count, sizeof *points);
    const char **shapes = arena_alloc(arena, comparison->count, sizeof *shapes);
    size_t count = 0;
    for (size_t i = 0; i < comparison->count; i++) {
        const struct error_sample *sample = &comparison->samples[i];
        double ratio = sample->predicted_s / sample->measured_s;
        if (!error_group_is(&sample->group, group) || ratio <= 0 || !isfinite(ratio))
            continue;
        shapes[count] = sample->shape;
        points[count++] = (struct ratio_chart_point){
            .truth = sample->measured_s, .ratio = ratio, .is_faint = sample->part == SPLIT_FIT};
    }
    name_worst(points, shapes, count, arena);
    return (struct ratio_chart_panel){
        .title = arena_format(arena, "%s %s", group->kind, group->dtype),
        .note = make_note(&outcome->table, group, arena),
        .points = points,
        .point_count = count};
}

/* A panel for each group, in the table's order. */
static struct ratio_chart_section
make_section(const struct validate_outcome *outcome, struct arena *arena)
{
    const struct error_table *table = &outcome->table;
    struct ratio_chart_panel *panels = arena_alloc(arena, table->count + 1, sizeof *panels);
    size_t count = 0;
    const struct error_group *before = NULL;
    for (size_t i = 0; i < table->count; i++) {
        const struct error_group *group = &table->rows[i].group;
        if (!is_shown(group) || (before != NULL && error_group_is(group, before)))
            continue;
        panels[count++] = make_panel(outcome, group, arena);
        before = group;
    }
    return (struct ratio_chart_section){.panels = panels, .panel_count = count};
}

/* |error| of the samples of a part that are shown. */
static size_t
collect_errors(const struct validate_outcome *outcomes, size_t count, enum split_part part,
               double *errors)
{
    size_t used = 0;
    for (size_t o = 0; o < count; o++)
        for (size_t i = 0; i < outcomes[o].comparison.count; i++) {
            const struct error_sample *sample = &outcomes[o].comparison.samples[i];
            if (is_shown(&sample->group) && sample->part == part)
                errors[used++] = fabs(sample->predicted_s / sample->measured_s - 1);
        }
    return used;
}

/* What was predicted for: a device or cluster by its name, or how many tables. */
static const char *
subject_of(const struct validate_outcome *outcomes, size_t count, struct arena *arena)
{
    const struct comparison_basis *basis = &outcomes[0].basis;
    if (count > 1)
        return arena_format(arena, "%zu tables", count);
    return *outcomes[0].asked->device == '\0' ? basis->cluster->name : basis->device->name;
}

/* How near half of the held-out predictions are, and nine of ten. */
static const char *
make_title(const struct validate_outcome *outcomes, size_t count, struct arena *arena)
{
    size_t room = 1;
    for (size_t o = 0; o < count; o++)
        room += outcomes[o].comparison.count;
    double *errors = arena_alloc(arena, room, sizeof *errors);
    size_t used = collect_errors(outcomes, count, SPLIT_HELD_OUT, errors);
    const char *part = "held-out";
    if (used == 0) {
        used = collect_errors(outcomes, count, SPLIT_FIT, errors);
        part = "fitted";
    }
    if (used == 0)
        return "Nothing was measured";
    if (used < FEW)
        return arena_format(arena, "%s: %zu %s prediction%s, off by %.1f %% on average",
                            subject_of(outcomes, count, arena), used, part,
                            used == 1 ? "" : "s", statistics_mean(errors, used) * 100);
    double median_fraction = statistics_quantile(errors, used, 0.5);
    return arena_format(
        arena, "%s: half of %zu %s predictions are within %.1f %%, nine of ten within %.1f %%",
        subject_of(outcomes, count, arena), used, part, median_fraction * 100,
        statistics_quantile(errors, used, 0.9) * 100);
}

static const char *
make_footer(const struct validate_outcome *outcomes, size_t count, struct arena *arena)
{
    struct text text = text_new(arena);
    text_format(&text, "stepcast %s; measured:", STEPCAST_VERSION);
    for (size_t o = 0; o < count; o++)
        for (size_t i = 0; i < outcomes[o].asked->list_count; i++)
            text_format(&text, "%s %s", o + i > 0 ? "," : "", outcomes[o].asked->lists[i]);
    return text.bytes;
}

const struct ratio_chart *
validate_picture(const struct validate_outcome *outcomes, size_t count, struct arena *arena)
{
    struct ratio_chart *chart = arena_alloc(arena, 1, sizeof *chart);
    struct ratio_chart_section *sections = arena_alloc(arena, count + 1, sizeof *sections);
    for (size_t o = 0; o < count; o++)
        sections[o] = make_section(&outcomes[o], arena);
    for (size_t o = 0; count > 1 && o < count; o++)
        sections[o].title = validate_title(outcomes[o].asked);
    *chart = (struct ratio_chart){
        .title = make_title(outcomes, count, arena),
        .subtitle = arena_format(
            arena,
            "predicted / measured time against measured time; held out as a row says, "
            "else by its shape and seed %lld",
            count > 0 ? (long long)outcomes[0].asked->seed : 0),
        .footer = make_footer(outcomes, count, arena),
        .x_name = "measured time",
        .x_unit = "s",
        .note = "triangles: beyond the scale; named: the three worst held out past 10 %",
        .band_fraction = BAND_FRACTION,
        .strong_name = "held out of the fit",
        .faint_name = "seen by the fit",
        .band_name = "within 10 %",
        .median_name = "median of the held out",
        .sections = sections,
        .section_count = count};
    return chart;
}

/* Those that predict; what was measured again does not. */
static size_t
keep_predictions(const struct validate_outcome *outcomes, size_t count,
                 struct validate_outcome *kept)
{
    size_t kept_count = 0;
    for (size_t i = 0; i < count; i++)
        if (outcomes[i].asked->again_count == 0)
            kept[kept_count++] = outcomes[i];
    return kept_count;
}

int
validate_draw(const struct options *options, const struct validate_outcome *outcomes,
              size_t count, struct arena *arena)
{
    struct canvas *canvas = canvas_new(arena, STYLE_FONTS);
    struct text data = text_new(arena);
    struct validate_outcome *kept = arena_alloc(arena, count, sizeof *kept);
    size_t kept_count = keep_predictions(outcomes, count, kept);
    const struct ratio_chart *chart = validate_picture(kept, kept_count, arena);
    ratio_chart_draw(chart, picture_page(options), canvas);
    if (picture_wants_data(options))
        ratio_chart_csv(chart, &data);
    return picture_output(options, canvas, &data);
}
