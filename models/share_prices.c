/* Prices of the optimizer's work on a share: passes over its elements, AdamW, Newton-Schulz. */
#include "models/share_prices.h"

#include "models/fp8.h"
#include "sim/base/hash.h"

enum { SIZES_MAX = 64 };     /* different matrix sizes of a model */
enum { SHARE_PLACES = 256 }; /* of a thousand ranks' shares some thirty differ */

/* Newton-Schulz prices by size: a model has few sizes and very many matrices. Shares by their
 * hashes. */
struct share_prices {
    int64_t rows[SIZES_MAX], columns[SIZES_MAX];
    const struct step_work *works[SIZES_MAX];
    int count;
    struct priced_share *known[SHARE_PLACES];
};

struct share_prices *
share_prices_new(struct arena *arena)
{
    return arena_alloc(arena, 1, sizeof(struct share_prices));
}

static const struct step_work *
price_matrix(const struct pricing *pricing, struct share_prices *prices, int64_t rows,
             int64_t columns)
{
    for (int i = 0; i < prices->count; i++)
        if (prices->rows[i] == rows && prices->columns[i] == columns)
            return prices->works[i];
    const struct plan *plan = pricing->inputs->workload.plan;
    struct kernel kernel = {.kind = KERNEL_NEWTON_SCHULZ,
                            .dtype = plan->compute_dtype,
                            .newton_schulz = {rows, columns, plan->newton_schulz_steps,
                                              plan->is_newton_schulz_symmetric}};
    const struct step_work *work =
        pricing_kernel(pricing, "newton_schulz", CLASS_NEWTON_SCHULZ, &kernel);
    if (work && prices->count < SIZES_MAX) {
        prices->rows[prices->count] = rows;
        prices->columns[prices->count] = columns;
        prices->works[prices->count++] = work;
    }
    return work;
}

/* All matrices of a share one after the other, as one piece of work. */
static const struct step_work *
price_newton_schulz(const struct pricing *pricing, struct share_prices *prices,
                    const struct optimizer_share *share)
{
    struct step_work *sum = arena_alloc(pricing->arena, 1, sizeof *sum);
    *sum = (struct step_work){.name = "newton_schulz", .spent_on = CLASS_NEWTON_SCHULZ};
    for (int i = 0; i < share->matrix_sizes; i++) {
        const struct optimizer_matrices *matrices = &share->matrices[i];
        const struct step_work *one =
            price_matrix(pricing, prices, matrices->rows, matrices->columns);
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

static const struct step_work *
price_adamw(const struct pricing *pricing, const struct optimizer_share *share)
{
    const struct plan *plan = pricing->inputs->workload.plan;
    bool has_copies = !pricing->inputs->workload.software->fuses_master_copies;
    struct kernel kernel = {.kind = KERNEL_ADAMW,
                            .dtype = has_copies ? DTYPE_FP32 : plan->compute_dtype,
                            .adamw = {share->adamw_parameters}};
    struct pricing_pass nothing = {.name = "adamw", .spent_on = CLASS_OPTIMIZER_UPDATE};
    if (share->adamw_parameters == 0)
        return pricing_pass(pricing, &nothing);
    return pricing_kernel(pricing, "adamw", CLASS_OPTIMIZER_UPDATE, &kernel);
}

/* Three products a step, and two passes that divide by the norm before the first: as
 * hw/newton_schulz_cost.c prices them. */
static int64_t
newton_schulz_launches(const struct pricing *pricing, const struct optimizer_share *share)
{
    int64_t matrices = 0;
    for (int i = 0; i < share->matrix_sizes; i++)
        matrices += share->matrices[i].count;
    return matrices * (3 * pricing->inputs->workload.plan->newton_schulz_steps + 2);
}

/* Of one pass: multi-tensor kernels, or one a tensor. */
static int64_t
pass_launches(const struct pricing *pricing, const struct optimizer_share *share,
              int64_t elements)
{
    bool is_fused = pricing->inputs->workload.software->fuses_optimizer;
    int64_t launches = optimizer_multi_tensor_launches(elements);
    return !is_fused ? share->tensors : launches > 0 ? launches : 1;
}

/* The share's gradients widened before the optimizer, its weights narrowed behind it. */
static void
price_copies(const struct pricing *pricing, const struct optimizer_share *share,
             const struct step_work **out)
{
    const struct workload *workload = &pricing->inputs->workload;
    const struct plan *plan = workload->plan;
    double fp32 = dtype_bytes(DTYPE_FP32);
    struct fp8_setting fp8 = fp8_setting_of(plan, workload->software);
    struct fp8_cast cast = fp8_cast_master(&fp8);
    int64_t quantized = cast.launches > 0 && !plan->adapters ? share->fp8_parameters : 0;
    int64_t all = workload->software->fuses_master_copies
                      ? 0
                      : share->muon_parameters + share->adamw_parameters;
    struct pricing_pass widen = {"widen_gradients",
                                 CLASS_OPTIMIZER_UPDATE,
                                 plan->gradient_dtype == DTYPE_FP32 ? 0 : all,
                                 dtype_bytes(plan->gradient_dtype),
                                 fp32,
                                 1,
                                 "cast"};
    struct pricing_pass quantize = {"quantize_weights", CLASS_QUANTIZATION, quantized,
                                    cast.read,          cast.write,         cast.launches,
                                    "quantize"};
    struct pricing_pass narrow = {
        "narrow_weights",
        CLASS_OPTIMIZER_UPDATE,
        plan->compute_dtype == DTYPE_FP32 || all == 0 ? 0 : all - quantized,
        fp32,
        dtype_bytes(plan->compute_dtype),
        1,
        NULL};
    out[SHARE_WIDEN] = pricing_pass(pricing, &widen);
    out[SHARE_QUANTIZE] = pricing_pass(pricing, &quantize);
    out[SHARE_NARROW] = pricing_pass(pricing, &narrow);
}

/* Traffic of an element. Norm: reads the gradient. Momentum: reads gradient and fp32 momentum,
 * writes momentum and the input of Newton-Schulz. Update: reads its output and the fp32 master,
 * writes master and weight (two passes over memory, arXiv 2511.17127 section V). Each pass is one
 * kernel over all tensors, or one a tensor. Launches are of what follows the clipping: momentum,
 * AdamW, Newton-Schulz, update. */
static void
price_passes(const struct pricing *pricing, const struct optimizer_share *share,
             const struct step_work **out)
{
    const struct workload *workload = &pricing->inputs->workload;
    double fp32 = dtype_bytes(DTYPE_FP32), narrow = dtype_bytes(workload->plan->compute_dtype);
    double gradient = dtype_bytes(workload->plan->gradient_dtype);
    int64_t muon = share->muon_parameters, all = muon + share->adamw_parameters;
    int64_t adamw_launches = pass_launches(pricing, share, share->adamw_parameters);
    int64_t launches = pass_launches(pricing, share, muon);
    const struct pricing_pass norm = {"gradient_norm",
                                      CLASS_OPTIMIZER_UPDATE,
                                      all,
                                      gradient,
                                      0,
                                      pass_launches(pricing, share, all),
                                      NULL};
    const struct pricing_pass momentum = {"muon_momentum",
                                          CLASS_OPTIMIZER_UPDATE,
                                          muon,
                                          gradient + fp32,
                                          fp32 + narrow,
                                          launches,
                                          NULL};
    const struct pricing_pass update = {"muon_update", CLASS_OPTIMIZER_UPDATE, muon,
                                        narrow + fp32, fp32 + narrow,          launches,
                                        NULL};
    price_copies(pricing, share, out);
    out[SHARE_GRADIENT_NORM] = pricing_pass(pricing, &norm);
    out[SHARE_LAUNCHES] = pricing_host(pricing, 2 * launches + adamw_launches +
                                                    newton_schulz_launches(pricing, share));
    out[SHARE_MOMENTUM] = pricing_pass(pricing, &momentum);
    out[SHARE_ADAMW] = price_adamw(pricing, share);
    out[SHARE_UPDATE] = pricing_pass(pricing, &update);
}

static bool
has_same_matrices(const struct optimizer_share *a, const struct optimizer_share *b)
{
    bool is_same = a->matrix_sizes == b->matrix_sizes;
    for (int i = 0; i < a->matrix_sizes && is_same; i++)
        is_same = a->matrices[i].rows == b->matrices[i].rows &&
                  a->matrices[i].columns == b->matrices[i].columns &&
                  a->matrices[i].count == b->matrices[i].count;
    return is_same;
}

static bool
is_as_much(const struct optimizer_share *a, const struct optimizer_share *b)
{
    return a->muon_parameters == b->muon_parameters &&
           a->adamw_parameters == b->adamw_parameters && a->tensors == b->tensors &&
           a->fp8_parameters == b->fp8_parameters && has_same_matrices(a, b);
}

static uint64_t
hash_share(const struct optimizer_share *share)
{
    enum { FACTOR = 31 };
    uint64_t hash = (uint64_t)share->muon_parameters;
    hash = hash * FACTOR + (uint64_t)share->adamw_parameters;
    for (int i = 0; i < share->matrix_sizes; i++)
        hash = hash * FACTOR + (uint64_t)share->matrices[i].count;
    return hash_mixed(hash * FACTOR + (uint64_t)share->tensors);
}

static bool
price_anew(const struct pricing *pricing, struct share_prices *prices,
           struct priced_share *known)
{
    price_passes(pricing, known->share, known->works);
    known->works[SHARE_NEWTON_SCHULZ] = price_newton_schulz(pricing, prices, known->share);
    for (int stage = 0; stage < SHARE_STAGE_COUNT; stage++)
        if (stage != SHARE_EXCHANGE && !known->works[stage])
            return false;
    return true;
}

struct priced_share *
share_prices_find(struct share_prices *prices, const struct pricing *pricing,
                  const struct optimizer_share *share)
{
    struct priced_share **place = &prices->known[hash_share(share) % SHARE_PLACES];
    while (*place && !is_as_much(share, (*place)->share))
        place = &(*place)->next;
    struct priced_share *known = *place;
    if (known)
        return known;
    known = arena_alloc(pricing->arena, 1, sizeof *known);
    known->share = share;
    known->stage = STEP_NONE;
    *place = known;
    return price_anew(pricing, prices, known) ? known : NULL;
}
