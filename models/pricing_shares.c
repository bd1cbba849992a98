/* Prices of the optimizer's work on each rank's share. */
#include <string.h>

#include "models/pricing.h"

enum { SIZES_MAX = 64 }; /* different matrix sizes of a model */

/* Newton-Schulz prices by size: a model has few sizes and very many matrices. */
struct price_memory {
    int64_t rows[SIZES_MAX], columns[SIZES_MAX];
    const struct step_work *works[SIZES_MAX];
    int count;
};

static const struct step_work *
price_matrix(const struct pricing *pricing, struct price_memory *memory, int64_t rows,
             int64_t columns)
{
    for (int i = 0; i < memory->count; i++)
        if (memory->rows[i] == rows && memory->columns[i] == columns)
            return memory->works[i];
    const struct plan *plan = pricing->inputs->workload.plan;
    struct kernel kernel = {.kind = KERNEL_NEWTON_SCHULZ,
                            .dtype = plan->compute_dtype,
                            .newton_schulz = {rows, columns, plan->newton_schulz_steps,
                                              plan->is_newton_schulz_symmetric}};
    const struct step_work *work =
        pricing_kernel(pricing, "newton_schulz", CLASS_NEWTON_SCHULZ, &kernel);
    if (work && memory->count < SIZES_MAX) {
        memory->rows[memory->count] = rows;
        memory->columns[memory->count] = columns;
        memory->works[memory->count++] = work;
    }
    return work;
}

/* All matrices of a share one after the other, as one piece of work. */
static const struct step_work *
price_newton_schulz(const struct pricing *pricing, struct price_memory *memory,
                    const struct optimizer_share *share)
{
    struct step_work *sum = arena_alloc(pricing->arena, 1, sizeof *sum);
    *sum = (struct step_work){.name = "newton_schulz", .spent_on = CLASS_NEWTON_SCHULZ};
    for (int i = 0; i < share->matrix_sizes; i++) {
        const struct optimizer_matrices *matrices = &share->matrices[i];
        const struct step_work *one =
            price_matrix(pricing, memory, matrices->rows, matrices->columns);
        if (!one)
            return NULL;
        double seconds_s = (double)matrices->count * one->work_s;
        double whole_s = sum->work_s + seconds_s;
        double part = whole_s > 0 ? seconds_s / whole_s : 0; /* the mean is weighted by time */
        sum->relative_sigma += (one->relative_sigma - sum->relative_sigma) * part;
        sum->compute_fraction += (one->compute_fraction - sum->compute_fraction) * part;
        sum->hbm_fraction += (one->hbm_fraction - sum->hbm_fraction) * part;
        sum->work_s = whole_s;
    }
    return sum;
}

/* A pass over the share: bytes an element read and written. No elements, no time. */
static const struct step_work *
price_pass(const struct pricing *pricing, const char *name, int64_t elements, double read,
           double write)
{
    static const struct step_work nothing = {.name = "nothing",
                                             .spent_on = CLASS_OPTIMIZER_UPDATE};
    if (elements == 0)
        return &nothing;
    struct kernel kernel = {.kind = KERNEL_ELEMENTWISE,
                            .dtype = DTYPE_FP32,
                            .elementwise = {.op = name,
                                            .elements = elements,
                                            .read_bytes = read * (double)elements,
                                            .write_bytes = write * (double)elements,
                                            .launches = 1}};
    return pricing_kernel(pricing, name, CLASS_OPTIMIZER_UPDATE, &kernel);
}

static const struct step_work *
price_adamw(const struct pricing *pricing, const struct optimizer_share *share)
{
    struct kernel kernel = {.kind = KERNEL_ADAMW,
                            .dtype = pricing->inputs->workload.plan->compute_dtype,
                            .adamw = {share->adamw_parameters}};
    if (share->adamw_parameters == 0)
        return price_pass(pricing, "adamw", 0, 0, 0);
    return pricing_kernel(pricing, "adamw", CLASS_OPTIMIZER_UPDATE, &kernel);
}

/* Pieces go to the neighbours on both sides at once; the slower side counts. A neighbour is on
 * another node where the rank is its node's first or last. */
static const struct step_work *
price_exchange(const struct pricing *pricing, const struct optimizer_share *share, int64_t rank)
{
    const struct cluster *cluster = pricing->inputs->cluster;
    enum dtype dtype = pricing->inputs->workload.plan->compute_dtype;
    bool is_first = rank % cluster->gpus_per_node == 0;
    bool is_last = (rank + 1) % cluster->gpus_per_node == 0;
    const int64_t elements[] = {share->exchange_before_elements,
                                share->exchange_after_elements};
    const bool is_crossing[] = {is_first, is_last};
    const struct step_work *slowest = NULL;
    for (int side = 0; side < 2; side++) {
        if (elements[side] == 0)
            continue;
        struct collective collective = {.kind = COLLECTIVE_SEND_RECV,
                                        .dtype = dtype,
                                        .ranks = 2,
                                        .nodes = is_crossing[side] ? 2 : 1,
                                        .bytes = dtype_bytes(dtype) * (double)elements[side]};
        const struct step_work *work = pricing_data_collective(
            pricing, "exchange_split_matrices", CLASS_OPTIMIZER_EXCHANGE, &collective);
        if (!work)
            return NULL;
        if (!slowest || work->delay_s + work->work_s > slowest->delay_s + slowest->work_s)
            slowest = work;
    }
    return slowest ? slowest : price_pass(pricing, "exchange", 0, 0, 0);
}

/* Traffic of an element. Norm: reads the gradient. Momentum: reads gradient and fp32 momentum,
 * writes momentum and the input of Newton-Schulz. Update: reads its output and the fp32 master,
 * writes master and weight (two passes over memory, arXiv 2511.17127 section V). */
static bool
price_share(const struct pricing *pricing, struct price_memory *memory,
            const struct optimizer_share *share, int64_t rank, const struct step_work **out)
{
    const struct plan *plan = pricing->inputs->workload.plan;
    double fp32 = dtype_bytes(DTYPE_FP32), narrow = dtype_bytes(plan->compute_dtype);
    double gradient = dtype_bytes(plan->gradient_dtype);
    int64_t muon = share->muon_parameters, all = muon + share->adamw_parameters;
    out[SHARE_GRADIENT_NORM] = price_pass(pricing, "gradient_norm", all, gradient, 0);
    out[SHARE_EXCHANGE] = price_exchange(pricing, share, rank);
    out[SHARE_MOMENTUM] =
        price_pass(pricing, "muon_momentum", muon, gradient + fp32, fp32 + narrow);
    out[SHARE_NEWTON_SCHULZ] = price_newton_schulz(pricing, memory, share);
    out[SHARE_UPDATE] = price_pass(pricing, "muon_update", muon, narrow + fp32, fp32 + narrow);
    out[SHARE_ADAMW] = price_adamw(pricing, share);
    for (int stage = 0; stage < SHARE_STAGE_COUNT; stage++)
        if (!out[stage])
            return false;
    return true;
}

static double
total_s(const struct step_work *const *works)
{
    double sum_s = 0;
    for (int stage = 0; stage < SHARE_STAGE_COUNT; stage++)
        sum_s += works[stage]->delay_s + works[stage]->work_s;
    return sum_s;
}

bool
pricing_shares(const struct pricing *pricing, struct program *program)
{
    const struct step_inputs *inputs = pricing->inputs;
    const struct plan *plan = inputs->workload.plan;
    struct price_memory memory = {.count = 0};
    program->ranks = plan_data_degree(plan, inputs->cluster);
    const struct optimizer_share *shares =
        optimizer_shares(inputs->tensors, plan, program->ranks, pricing->arena);
    const struct step_work *(*works)[SHARE_STAGE_COUNT] =
        arena_alloc(pricing->arena, (size_t)program->ranks, sizeof *works);
    for (int64_t rank = 0; rank < program->ranks; rank++) {
        if (!price_share(pricing, &memory, &shares[rank], rank, works[rank]))
            return false;
        if (total_s(works[rank]) > total_s(works[program->slowest_rank]))
            program->slowest_rank = rank;
        if (shares[rank].owners_max > program->owners_max)
            program->owners_max = shares[rank].owners_max;
    }
    program->shares = works;
    return true;
}
