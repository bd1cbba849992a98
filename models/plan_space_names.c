/* Plans by their places, which say all of one in eight bytes, and by their settings. */
#include "models/plan_space.h"

#include <inttypes.h>

double
plan_space_combinations(const struct plan_space *space)
{
    double count = 1;
    for (int field = 0; field < PLAN_FIELD_COUNT; field++)
        count *= (double)space->fields[field].count;
    return count;
}

/* Digits of a number, each in the base of its field's values. */
uint64_t
plan_space_place(const struct plan_space *space, const struct plan_point *point)
{
    uint64_t place = 0;
    for (int field = 0; field < PLAN_FIELD_COUNT; field++) {
        const struct plan_values *values = &space->fields[field];
        size_t digit = 0;
        while (values->values[digit] != point->values[field])
            digit++;
        place = place * values->count + digit;
    }
    return place;
}

struct plan_point
plan_space_point(const struct plan_space *space, uint64_t place)
{
    struct plan_point point;
    for (int field = PLAN_FIELD_COUNT - 1; field >= 0; field--) {
        const struct plan_values *values = &space->fields[field];
        point.values[field] = values->values[place % values->count];
        place /= values->count;
    }
    return point;
}

static int64_t
value_of(const struct plan *plan, enum plan_field field)
{
    const int64_t values[PLAN_FIELD_COUNT] = {plan->tensor,
                                              plan->context,
                                              plan->pipeline,
                                              plan->expert,
                                              plan->expert_tensor,
                                              plan->microbatch_sequences,
                                              (int64_t)plan->schedule,
                                              plan->virtual_stages,
                                              plan->zero_stage,
                                              (int64_t)plan->recompute,
                                              plan->order[PLAN_AXIS_COUNT - 1] == AXIS_DATA};
    return values[field];
}

/* Layers that the base's file lists are of its own stages; for others the list says them anew. */
static void
append_stage_layers(const struct plan_space *space, const struct plan *plan, struct text *text)
{
    const struct plan *base = space->base->inputs.workload.plan;
    if (!base->stage_layers || plan->stage_layers)
        return;
    text_format(text, "%s--set plan.stage_layers=[", text->length > 0 ? " " : "");
    for (int64_t i = 0; i < plan_virtual_stages(plan); i++)
        text_format(text, "%s%" PRId64, i > 0 ? "," : "",
                    plan_layers(plan, space->base->inputs.workload.arch, i).count);
    text_format(text, "]");
}

/* What is left out of a file, expert_tensor follows tensor: where one is said, so is the other. */
const char *
plan_space_settings(const struct plan_space *space, const struct plan_point *point,
                    struct arena *arena)
{
    const struct plan *base = space->base->inputs.workload.plan;
    struct plan plan = plan_space_plan(space, point);
    struct text text = text_new(arena);
    for (int i = 0; i < PLAN_FIELD_COUNT; i++) {
        enum plan_field field = (enum plan_field)i;
        bool follows = field == PLAN_FIELD_EXPERT_TENSOR && plan.tensor != base->tensor;
        if (point->values[i] != value_of(base, field) || follows)
            text_format(&text, "%s--set plan.%s=%s", text.length > 0 ? " " : "",
                        plan_field_key(field), plan_field_word(field, point->values[i], arena));
    }
    append_stage_layers(space, &plan, &text);
    return text.length > 0 ? text.bytes : "";
}
