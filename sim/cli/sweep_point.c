/* A point of a sweep: read, held against the conditions, simulated. */
#include "sim/cli/sweep_point.h"

#include <assert.h>
#include <stdio.h>

#include "sim/base/units.h"

const char *
sweep_quantity_key(enum sweep_quantity quantity)
{
    static const char *const keys[] = {"step_s",
                                       "low_s",
                                       "high_s",
                                       "tokens_per_s",
                                       "tokens_per_s_per_gpu",
                                       "model_flop_per_s_per_gpu",
                                       "mfu",
                                       "memory_bytes",
                                       "exposed_communication_s",
                                       "bubble_s",
                                       "parameters_count",
                                       "active_parameters_count"};
    static_assert(sizeof keys / sizeof *keys == SWEEP_QUANTITY_COUNT, "a key for each");
    return keys[quantity];
}

static void
fill_parameters(struct sweep_row *row, const struct run *run)
{
    struct parameter_counts counts =
        tensors_count(run->inputs.workload.arch, run->inputs.tensors);
    row->values[SWEEP_PARAMETERS_COUNT] = (double)counts.every;
    row->values[SWEEP_ACTIVE_PARAMETERS_COUNT] = (double)counts.nonembedding_active;
}

void
sweep_row_fill(struct sweep_row *row, const struct step *step)
{
    double *values = row->values;
    row->status = SWEEP_DONE;
    fill_parameters(row, step->run);
    values[SWEEP_STEP_S] = step->step_s;
    values[SWEEP_LOW_S] = step->low_s;
    values[SWEEP_HIGH_S] = step->high_s;
    values[SWEEP_TOKENS_PER_S] = step->tokens_per_s;
    values[SWEEP_TOKENS_PER_S_PER_GPU] = step->tokens_per_s_per_gpu;
    values[SWEEP_MODEL_FLOP_PER_S_PER_GPU] = step->model_flop_per_s_per_gpu;
    values[SWEEP_MFU] = step->mfu;
    values[SWEEP_MEMORY_BYTES] = step->memory.peak;
    values[SWEEP_NETWORK_S] = units_s_from_ps(step_group_ps(step, GROUP_NETWORK));
    values[SWEEP_BUBBLE_S] = units_s_from_ps(step_group_ps(step, GROUP_BUBBLE));
}

static void
refuse(struct sweep_row *row, const struct error_list *errors)
{
    const struct error *error = &errors->items[0];
    row->status = error->kind == ERROR_INFEASIBLE ? SWEEP_INFEASIBLE : SWEEP_UNREADABLE;
    row->kind = error->kind;
    (void)snprintf(row->reason, sizeof row->reason, "%s%s%s", error->where,
                   *error->where ? ": " : "", error->what);
}

void
sweep_point_run(const struct sweep_space *space, const struct run *base, struct sweep_row *row,
                struct arena *arena)
{
    struct error_list errors = {0};
    bool holds = false;
    const struct run *run = run_again(base, &row->settings, arena, &errors);
    if (!run || !sweep_space_holds(space, run, base, &holds, arena, &errors)) {
        refuse(row, &errors);
        return;
    }
    fill_parameters(row, run);
    if (!holds) {
        row->status = SWEEP_LEFT_OUT;
        return;
    }
    const struct step *step = step_simulate(run, RANKS_FOLDED, arena, &errors);
    if (step)
        sweep_row_fill(row, step);
    else
        refuse(row, &errors);
}
