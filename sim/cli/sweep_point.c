/* A point of a sweep: read, held against the conditions, simulated. */
#include "sim/cli/sweep_point.h"

#include <math.h>
#include <stdio.h>

#include "sim/base/units.h"

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
give_reason(struct sweep_row *row, const struct error_list *errors)
{
    const struct error *error = &errors->items[0];
    row->kind = error->kind;
    (void)snprintf(row->reason, sizeof row->reason, "%s%s%s", error->where,
                   *error->where ? ": " : "", error->what);
}

static void
refuse(struct sweep_row *row, const struct error_list *errors)
{
    give_reason(row, errors);
    row->status = row->kind == ERROR_INFEASIBLE ? SWEEP_INFEASIBLE : SWEEP_UNREADABLE;
}

/* The run's model asked; a plan that inference cannot have leaves its columns without a value. */
static void
fill_inference(struct sweep_row *row, const struct run *run,
               const struct inference_request *asked, struct arena *arena)
{
    struct error_list errors = {0};
    struct inference answer;
    struct inference_request request = *asked;
    if (request.prompt_tokens == 0)
        request.prompt_tokens = run->inputs.workload.plan->sequence_tokens;
    if (request.context_tokens == 0)
        request.context_tokens = request.prompt_tokens;
    for (int i = SWEEP_STEP_QUANTITIES; i < SWEEP_QUANTITY_COUNT; i++)
        row->values[i] = (double)NAN;
    if (!inference_find(&run->inputs, &request, &answer, arena, &errors)) {
        give_reason(row, &errors);
        return;
    }
    row->values[SWEEP_PREFILL_S] = answer.prefill.seconds_s;
    row->values[SWEEP_DECODE_S] = answer.decode.seconds_s;
    row->values[SWEEP_DECODE_TOKENS_PER_S] = (double)request.batch / answer.decode.seconds_s;
    row->values[SWEEP_INFERENCE_BYTES] = answer.peak_bytes;
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
    if (!step) {
        refuse(row, &errors);
        return;
    }
    sweep_row_fill(row, step);
    if (space->has_inference)
        fill_inference(row, run, &space->inference, arena);
}
