/* Single changes of a plan, and the memory that it would take with each. */
#include "models/memory_change.h"

/* A plan with one thing changed, or two. */
struct changed_plan {
    struct plan plan;
    const char *settings;
};

static int
add_plan(struct changed_plan *plans, int count, const struct plan *plan, const char *settings)
{
    plans[count] = (struct changed_plan){*plan, settings};
    return count + 1;
}

static int
list_plans(const struct plan *plan, struct changed_plan *plans, struct arena *arena)
{
    int count = 0;
    struct plan other = *plan;
    other.recompute = RECOMPUTE_FULL;
    count = add_plan(plans, count, &other, "plan.recompute=full");
    other.microbatch_sequences = 1;
    struct plan both = other;
    other = *plan;
    other.microbatch_sequences = 1;
    count = add_plan(plans, count, &other, "plan.microbatch_sequences=1");
    count = add_plan(plans, count, &both,
                     "both plan.recompute=full and plan.microbatch_sequences=1");
    for (int64_t stage = plan->zero_stage + 1; stage <= 3; stage++) {
        other = *plan;
        other.zero_stage = stage;
        count = add_plan(plans, count, &other,
                         arena_format(arena, "plan.zero_stage=%lld", (long long)stage));
    }
    other = *plan;
    other.expert *= 2;
    count = add_plan(plans, count, &other,
                     arena_format(arena, "plan.expert=%lld", (long long)other.expert));
    other = *plan;
    other.tensor *= 2;
    count = add_plan(plans, count, &other,
                     arena_format(arena, "plan.tensor=%lld", (long long)other.tensor));
    other = *plan;
    other.pipeline *= 2;
    return add_plan(plans, count, &other,
                    arena_format(arena, "plan.pipeline=%lld", (long long)other.pipeline));
}

int
memory_changes(const struct run *run, struct memory_change changes[MEMORY_CHANGES_MAX],
               struct arena *arena)
{
    const struct step_inputs *inputs = &run->inputs;
    struct changed_plan plans[MEMORY_CHANGES_MAX];
    int count = list_plans(inputs->workload.plan, plans, arena), kept = 0;
    double peak = memory_of(inputs, arena).peak;
    for (int i = 0; i < count; i++) {
        struct error_list errors = {0};
        struct step_inputs changed = *inputs;
        changed.workload.plan = &plans[i].plan;
        if (!plan_check(&plans[i].plan, run->plan_object, inputs->workload.arch,
                        inputs->cluster, &errors))
            continue;
        struct memory memory = memory_of(&changed, arena);
        if (memory.peak < peak)
            changes[kept++] = (struct memory_change){plans[i].settings, memory.peak,
                                                     memory.peak <= memory.capacity};
    }
    return kept;
}
