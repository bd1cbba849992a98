/* Elasticities of the rows, made orthogonal one coefficient after the other. */
#include "validate/calibration_choice.h"

#include <math.h>

#include "hw/kernel_cost.h"
#include "validate/minimize.h"

const double FIT_NOISE = 0.04, FIT_DOUBT_MOST = 0.2;

/* A coefficient is told by rows when 1 % of it moves a prediction by 0.05 % at least, and when not
 * more than nine tenths of what it does coefficients before it could do too. */
static const double ELASTICITY_LEAST = 0.05, APART_PART_LEAST = 0.1;

/* Below 0 for what has no price. */
static double
predicted_s(const struct fit_problem *problem, const struct measured *measured)
{
    struct error_list errors = {0};
    if (measured->is_collective) {
        struct collective_cost cost;
        bool is_priced =
            collective_cost(problem->cluster, &measured->collective, &cost, &errors);
        return is_priced ? cost.latency_s + cost.transfer_s : -1;
    }
    struct kernel_cost cost;
    bool is_priced = kernel_cost(problem->device, &measured->kernel, &cost, &errors);
    return is_priced ? measured_predicted_s(measured, &cost) : -1;
}

/* log(predicted / measured); far off when the coefficients make no sense. */
double
fit_residual(const struct fit_problem *problem, const struct measured *measured)
{
    const double senseless = 100;
    double ratio = predicted_s(problem, measured) / measured->measured_s;
    return isfinite(ratio) && ratio > 0 ? log(ratio) : senseless;
}

/* d log(predicted) / d log(coefficient) of every row, at the value that the coefficient has; of one
 * that is 0, per twentieth of its range. */
static void
elasticities(const struct fit_problem *problem, const struct coefficient *coefficient,
             double *column)
{
    const double part = 0.01;
    double at = *coefficient->value;
    double step = at > 0 ? at * part : (coefficient->most - coefficient->least) / 20;
    if (at + step > coefficient->most)
        step = -step;
    for (size_t i = 0; i < problem->rows.count; i++)
        column[i] = -fit_residual(problem, problem->rows.items[i].measured);
    *coefficient->value = at + step;
    double change = at > 0 ? log((at + step) / at) : 1;
    for (size_t i = 0; i < problem->rows.count; i++) {
        column[i] += fit_residual(problem, problem->rows.items[i].measured);
        column[i] /= change;
    }
    *coefficient->value = at;
}

static double
norm(const double *column, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += column[i] * column[i];
    return sqrt(sum);
}

static double
largest(const double *column, size_t count)
{
    double most = 0;
    for (size_t i = 0; i < count; i++)
        most = fmax(most, fabs(column[i]));
    return most;
}

/* Looks at the value that it has, then at half and twice that: a limit that binds no row now may
 * bind some in the fit. */
static bool
has_effect(const struct fit_problem *problem, const struct coefficient *coefficient,
           double *column)
{
    static const double times[] = {1, 0.5, 2};
    double at = *coefficient->value;
    bool is_told = false;
    for (size_t i = 0; i < sizeof times / sizeof times[0] && !is_told; i++) {
        double tried = at * times[i];
        if (tried < coefficient->least || tried > coefficient->most)
            continue;
        *coefficient->value = tried;
        elasticities(problem, coefficient, column);
        is_told = largest(column, problem->rows.count) >= ELASTICITY_LEAST;
    }
    *coefficient->value = at;
    return is_told;
}

/* Columns at right angles, by Gram and Schmidt. */
struct basis {
    struct fit_choice *choice;
    double *columns[MINIMIZE_VARIABLES_MAX];
    size_t count;
};

/* Takes from the column what the basis can do too; joins the rest to it when that is enough. */
static bool
join_basis(struct basis *basis, double *column, size_t count)
{
    double whole = norm(column, count);
    for (size_t j = 0; j < basis->count; j++) {
        double along = 0;
        for (size_t i = 0; i < count; i++)
            along += column[i] * basis->columns[j][i];
        for (size_t i = 0; i < count; i++)
            column[i] -= along * basis->columns[j][i];
    }
    double apart = norm(column, count);
    /* The first stands for what a model that misses all rows alike has to say. */
    double noise = basis->count == 0 ? FIT_NOISE : basis->choice->noise;
    if (apart < noise / FIT_DOUBT_MOST || apart < APART_PART_LEAST * whole)
        return false;
    if (basis->count > 0)
        basis->choice->least_apart = fmin(basis->choice->least_apart, apart);
    for (size_t i = 0; i < count; i++)
        column[i] /= apart;
    basis->columns[basis->count++] = column;
    return true;
}

/* Three shapes for each: a fit must have something left to miss. A single one, if any. */
static size_t
coefficients_for(size_t shapes)
{
    size_t count = (shapes + 1) / 3;
    count = count < 1 ? 1 : count;
    return count < MINIMIZE_VARIABLES_MAX ? count : MINIMIZE_VARIABLES_MAX;
}

static enum fit_fate
fate_of(const struct fit_problem *problem, const struct fit_coefficient *candidate,
        struct basis *basis, struct arena *arena)
{
    size_t count = problem->rows.count;
    double *column = arena_alloc(arena, count, sizeof *column);
    if (candidate->is_kept)
        return FIT_NOT_ASKED;
    if (basis->choice->is_narrowing && candidate->fate != FIT_DONE)
        return candidate->fate;
    if (!has_effect(problem, &candidate->coefficient, column))
        return FIT_NO_EFFECT;
    if (basis->count >= coefficients_for(problem->rows.shape_count))
        return FIT_TOO_FEW_SHAPES;
    return join_basis(basis, column, count) ? FIT_DONE : FIT_NOT_TOLD_APART;
}

size_t
fit_choose(const struct fit_problem *problem, struct fit_coefficient **moving,
           struct fit_choice *choice, struct arena *arena)
{
    struct basis basis = {.choice = choice};
    size_t count = 0;
    choice->least_apart = INFINITY;
    for (size_t i = 0; i < problem->count; i++) {
        struct fit_coefficient *candidate = &problem->coefficients[i];
        candidate->fate = fate_of(problem, candidate, &basis, arena);
        if (candidate->fate == FIT_DONE)
            moving[count++] = candidate;
    }
    return count;
}
