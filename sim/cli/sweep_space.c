/* The points of a sweep over runs: which values, which fields follow, which points are left out. */
#include "sim/cli/sweep_space.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/tensors.h"
#include "sim/cli/formula.h"
#include "sim/cli/sweep.h"
#include "sim/cli/sweep_sample.h"

static void
add_axis(struct sweep_space *space, const struct sweep_axis *axis, struct arena *arena)
{
    space->axes = arena_grow(arena, space->axes, space->axis_count, &space->axis_room,
                             sizeof *space->axes);
    space->axes[space->axis_count++] = *axis;
}

static bool
is_number(const char *text)
{
    char *end = NULL;
    (void)strtod(text, &end);
    return end != text && *end == '\0';
}

static bool
are_numbers(const struct sweep_axis *axis)
{
    size_t i = 0;
    while (i < axis->count && is_number(axis->values[i]))
        i++;
    return i == axis->count;
}

bool
sweep_space_add_axis(struct sweep_space *space, const char *text, struct arena *arena,
                     const char **fault)
{
    const char *equals = strchr(text, '=');
    struct sweep_words words = {0};
    struct sweep range = {0};
    bool is_range = equals && strchr(equals, ':');
    if (is_range ? !sweep_parse(text, &range, arena, fault)
                 : !sweep_parse_words(text, &words, arena, fault))
        return false;
    struct sweep_axis axis = {words.key, words.words, words.count, false};
    if (is_range) {
        const char **values = arena_alloc(arena, range.count, sizeof *values);
        for (size_t i = 0; i < range.count; i++)
            values[i] = arena_format(arena, "%" PRId64, range.values[i]);
        axis = (struct sweep_axis){range.key, values, range.count, true};
    }
    axis.is_numeric = are_numbers(&axis);
    add_axis(space, &axis, arena);
    return true;
}

bool
sweep_space_add_link(struct sweep_space *space, const char *text, struct arena *arena,
                     const char **fault)
{
    const char *equals = strchr(text, '=');
    if (!equals || equals == text || !equals[1]) {
        *fault = "wanted FIELD=FORMULA, such as model.expert_ffn=round(2*model.hidden, 64)";
        return false;
    }
    space->links = arena_grow(arena, space->links, space->link_count, &space->link_room,
                              sizeof *space->links);
    space->links[space->link_count++] = (struct sweep_link){
        arena_format(arena, "%.*s", (int)(equals - text), text), equals + 1};
    return true;
}

void
sweep_space_add_condition(struct sweep_space *space, const char *formula, struct arena *arena)
{
    space->conditions = arena_grow(arena, space->conditions, space->condition_count,
                                   &space->condition_room, sizeof *space->conditions);
    space->conditions[space->condition_count++] = formula;
}

static const char *
field_at(const struct sweep_space *space, size_t index)
{
    return index < space->axis_count ? space->axes[index].field
                                     : space->links[index - space->axis_count].field;
}

static size_t
product_count(const struct sweep_space *space)
{
    double points = 1;
    for (size_t i = 0; i < space->axis_count; i++)
        points *= (double)space->axes[i].count;
    return points <= SWEEP_POINTS_MAX ? (size_t)points : SIZE_MAX;
}

bool
sweep_space_check(struct sweep_space *space, struct arena *arena, struct error_list *errors)
{
    size_t fields = space->axis_count + space->link_count;
    if (space->axis_count == 0)
        return error_add(errors, ERROR_INPUT, "",
                         "nothing to sweep: give --over FIELD=FROM:TO:STEP, or \"over\" in the "
                         "file");
    for (size_t i = 0; i < fields; i++)
        for (size_t j = 0; j < i; j++)
            if (strcmp(field_at(space, i), field_at(space, j)) == 0)
                return error_add(errors, ERROR_INPUT, "", "%.100s is swept or linked twice",
                                 field_at(space, i));
    if (space->samples == 0 && product_count(space) > SWEEP_POINTS_MAX)
        return error_add(errors, ERROR_INPUT, "",
                         "more than %d points; --samples N takes some of them",
                         SWEEP_POINTS_MAX);
    if (space->samples > 0 && space->axis_count > SWEEP_SAMPLE_AXES_MAX)
        return error_add(errors, ERROR_INPUT, "", "samples of more than %d fields",
                         SWEEP_SAMPLE_AXES_MAX);
    if (space->samples > 0)
        space->fractions =
            sweep_samples((size_t)space->samples, space->axis_count, space->seed, arena);
    return true;
}

size_t
sweep_space_count(const struct sweep_space *space)
{
    return space->samples > 0 ? (size_t)space->samples : product_count(space);
}

int
sweep_space_quantities(const struct sweep_space *space)
{
    return space->has_inference ? SWEEP_QUANTITY_COUNT : SWEEP_STEP_QUANTITIES;
}

void
sweep_space_place(const struct sweep_space *space, size_t point, size_t *values)
{
    const double *fractions =
        space->fractions ? space->fractions + point * space->axis_count : NULL;
    for (size_t i = space->axis_count; i-- > 0;) {
        size_t count = space->axes[i].count;
        values[i] = fractions ? (size_t)(fractions[i] * (double)count) : point % count;
        point /= count;
    }
}

/* What a formula of a link can name: fields settled before it at this point, else the run's. */
struct link_names {
    const struct sweep_space *space;
    const char *const *values; /* of the fields so far */
    size_t count;
    const struct run *base;
};

static bool
find_setting(const void *context, const char *name, double *value)
{
    const struct link_names *names = context;
    for (size_t i = 0; i < names->count; i++) {
        if (strcmp(field_at(names->space, i), name) != 0)
            continue;
        *value = strtod(names->values[i], NULL);
        return is_number(names->values[i]);
    }
    return run_number(names->base, name, value);
}

static const char *
format_value(double value, struct arena *arena)
{
    const double exact = 9007199254740992.0; /* 2^53: every whole number up to it is a double */
    if (fabs(value) <= exact && fabs(value - round(value)) <= 0)
        return arena_format(arena, "%.0f", value);
    return arena_format(arena, "%.17g", value);
}

bool
sweep_space_settings(const struct sweep_space *space, size_t point, const struct run *base,
                     struct run_settings *settings, struct arena *arena,
                     struct error_list *errors)
{
    size_t fields = space->axis_count + space->link_count;
    size_t *places = arena_alloc(arena, space->axis_count, sizeof *places);
    const char **values = arena_alloc(arena, fields, sizeof *values);
    const char **texts = arena_alloc(arena, fields, sizeof *texts);
    struct link_names known = {space, values, 0, base};
    sweep_space_place(space, point, places);
    for (; known.count < fields; known.count++) {
        size_t i = known.count;
        if (i < space->axis_count) {
            values[i] = space->axes[i].values[places[i]];
        } else {
            const struct sweep_link *link = &space->links[i - space->axis_count];
            const char *fault = NULL;
            double value = 0;
            if (!formula_value(link->formula, &(struct formula_names){find_setting, &known},
                               &value, arena, &fault))
                return error_add(errors, ERROR_INPUT,
                                 arena_format(arena, "%s=%s", link->field, link->formula), "%s",
                                 fault);
            values[i] = format_value(value, arena);
        }
        texts[i] = arena_format(arena, "%s=%s", field_at(space, i), values[i]);
    }
    *settings = (struct run_settings){texts, fields};
    return true;
}

/* What a condition can name: fields, and how many parameters there are, in all and a token's. */
struct condition_names {
    const struct run *run;
    struct parameter_counts counts, base_counts;
};

static bool
find_quantity(const void *context, const char *name, double *value)
{
    const struct condition_names *names = context;
    const struct parameter_counts *counts = &names->counts, *base = &names->base_counts;
    if (strcmp(name, "parameters") == 0)
        *value = (double)counts->every;
    else if (strcmp(name, "active_parameters") == 0)
        *value = (double)counts->nonembedding_active;
    else if (strcmp(name, "parameters_ratio") == 0)
        *value = (double)counts->every / (double)base->every;
    else if (strcmp(name, "active_ratio") == 0)
        *value = (double)counts->nonembedding_active / (double)base->nonembedding_active;
    else
        return run_number(names->run, name, value);
    return true;
}

bool
sweep_space_holds(const struct sweep_space *space, const struct run *run,
                  const struct run *base, bool *holds, struct arena *arena,
                  struct error_list *errors)
{
    struct condition_names names = {
        run, tensors_count(run->inputs.workload.arch, run->inputs.tensors),
        tensors_count(base->inputs.workload.arch, base->inputs.tensors)};
    *holds = true;
    for (size_t i = 0; i < space->condition_count; i++) {
        const char *fault = NULL;
        double value = 0;
        if (!formula_value(space->conditions[i], &(struct formula_names){find_quantity, &names},
                           &value, arena, &fault))
            return error_add(errors, ERROR_INPUT, space->conditions[i], "%s", fault);
        *holds = *holds && fabs(value) > 0;
    }
    return true;
}
