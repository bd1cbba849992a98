/* The fit of one group: identification, descent, cross-validation. */
#include "validate/calibration_fit.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hw/kernel_cost.h"
#include "validate/minimize.h"

/* What two good measurements of one shape differ by (validate/reference/README.md). */
static const double NOISE = 0.04;

/* A coefficient is told by rows when 1 % of it moves a prediction by 0.05 % at least ... */
static const double ELASTICITY_LEAST = 0.05;
/* ... and what coefficients before it could not do too is this part of that, and so much over all
 * rows (root of the sum of squares) that the noise leaves a fifth of the coefficient in doubt. */
static const double APART_PART_LEAST = 0.1, APART_LEAST = 0.2;

/* Sizes that count equally, by measured time (design: under 10 us, to 100 us, over). */
static const double CLASS_EDGES_S[] = {10e-6, 100e-6};
enum { CLASS_COUNT = 3 };

enum {
    START_COUNT = 4,
    EVALUATIONS_A_VARIABLE = 150,
    SEARCH_ROWS_MAX = 400, /* of more rows a quarter of the shapes looks for the valley */
};

void
fit_rows_add(struct fit_rows *rows, const struct measured *measured, const char *shape,
             struct arena *arena)
{
    /* Two further cuts by the split's own hash, of seeds that no one asks for. */
    const uint64_t first_seed = UINT64_C(1) << 40;
    int fold = 2 * (split_part(shape, first_seed) == SPLIT_FIT) +
               (split_part(shape, first_seed + 1) == SPLIT_FIT);
    rows->items =
        arena_grow(arena, rows->items, rows->count, &rows->capacity, sizeof *rows->items);
    rows->items[rows->count++] =
        (struct fit_row){.measured = measured, .shape = shape, .fold = fold};
}

static int
by_shape(const void *a, const void *b)
{
    const struct fit_row *const *left = a, *const *right = b;
    return strcmp((*left)->shape, (*right)->shape);
}

static void
number_shapes(struct fit_rows *rows, struct arena *arena)
{
    struct fit_row **sorted = arena_alloc(arena, rows->count, sizeof *sorted);
    for (size_t i = 0; i < rows->count; i++)
        sorted[i] = &rows->items[i];
    qsort(sorted, rows->count, sizeof *sorted, by_shape);
    rows->shape_count = 0;
    for (size_t i = 0; i < rows->count; i++) {
        rows->shape_count += i == 0 || by_shape(&sorted[i - 1], &sorted[i]) != 0;
        sorted[i]->shape_number = rows->shape_count - 1;
    }
}

static int
class_of(double measured_s)
{
    int class = 0;
    while (class < CLASS_COUNT - 1 && measured_s >= CLASS_EDGES_S[class])
        class ++;
    return class;
}

static void
weigh(const struct fit_rows *rows)
{
    size_t counts[CLASS_COUNT] = {0}, classes = 0;
    for (size_t i = 0; i < rows->count; i++)
        classes += counts[class_of(rows->items[i].measured->measured_s)]++ == 0;
    for (size_t i = 0; i < rows->count; i++) {
        size_t of_class = counts[class_of(rows->items[i].measured->measured_s)];
        rows->items[i].weight = 1 / ((double)classes * (double)of_class);
    }
}

/* log(predicted / measured); far off when the coefficients make no sense. */
static double
residual(const struct device *device, const struct measured *measured)
{
    const double senseless = 100;
    struct kernel_cost cost;
    struct error_list errors = {0};
    if (!kernel_cost(device, &measured->kernel, &cost, &errors))
        return senseless;
    double ratio = measured_predicted_s(measured, &cost) / measured->measured_s;
    return isfinite(ratio) && ratio > 0 ? log(ratio) : senseless;
}

static double
loss_of(double residual)
{
    return sqrt(residual * residual + NOISE * NOISE) - NOISE;
}

/* One descent: the coefficients that move and the rows that they see. */
struct descent {
    const struct fit_problem *problem;
    struct coefficient *const *moving;
    size_t count;
    int only_fold, without_fold; /* -1: none */
};

static bool
is_seen(const struct descent *descent, const struct fit_row *row)
{
    return row->fold != descent->without_fold &&
           (descent->only_fold < 0 || row->fold == descent->only_fold);
}

static double
mean_loss(const struct descent *descent)
{
    const struct fit_rows *rows = &descent->problem->rows;
    double loss = 0, weight = 0;
    for (size_t i = 0; i < rows->count; i++) {
        const struct fit_row *row = &rows->items[i];
        if (!is_seen(descent, row))
            continue;
        loss += row->weight * loss_of(residual(descent->problem->device, row->measured));
        weight += row->weight;
    }
    return weight > 0 ? loss / weight : 0;
}

static double
loss_at(void *context, const double *at)
{
    const struct descent *descent = context;
    for (size_t i = 0; i < descent->count; i++)
        *descent->moving[i]->value = at[i];
    return mean_loss(descent);
}

/* Moves the coefficients to the best place found. */
static bool
descend(struct descent *descent, size_t starts, size_t *evaluations, struct arena *arena)
{
    struct minimize_variable variables[MINIMIZE_VARIABLES_MAX];
    double best[MINIMIZE_VARIABLES_MAX];
    for (size_t i = 0; i < descent->count; i++) {
        const struct coefficient *moving = descent->moving[i];
        variables[i] = (struct minimize_variable){*moving->value, moving->least, moving->most,
                                                  moving->is_logarithmic};
    }
    struct minimize_problem problem = {.variables = variables,
                                       .count = descent->count,
                                       .value = loss_at,
                                       .context = descent,
                                       .start_count = starts,
                                       .evaluations_max =
                                           EVALUATIONS_A_VARIABLE * descent->count};
    struct minimum minimum;
    if (!minimize(&problem, best, &minimum, arena))
        return false;
    for (size_t i = 0; i < descent->count; i++)
        *descent->moving[i]->value = best[i];
    *evaluations += minimum.evaluations;
    return true;
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
        column[i] = -residual(problem->device, problem->rows.items[i].measured);
    *coefficient->value = at + step;
    double change = at > 0 ? log((at + step) / at) : 1;
    for (size_t i = 0; i < problem->rows.count; i++) {
        column[i] += residual(problem->device, problem->rows.items[i].measured);
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
    if (apart < APART_LEAST || apart < APART_PART_LEAST * whole)
        return false;
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
    if (!has_effect(problem, &candidate->coefficient, column))
        return FIT_NO_EFFECT;
    if (basis->count >= coefficients_for(problem->rows.shape_count))
        return FIT_TOO_FEW_SHAPES;
    return join_basis(basis, column, count) ? FIT_DONE : FIT_NOT_TOLD_APART;
}

static size_t
choose(const struct fit_problem *problem, struct coefficient **moving, struct arena *arena)
{
    struct basis basis = {0};
    size_t count = 0;
    for (size_t i = 0; i < problem->count; i++) {
        struct fit_coefficient *candidate = &problem->coefficients[i];
        candidate->fate = fate_of(problem, candidate, &basis, arena);
        if (candidate->fate == FIT_DONE)
            moving[count++] = &candidate->coefficient;
    }
    return count;
}

bool
fit_is_at(double value, double bound)
{
    return fabs(value - bound) <= 1e-3 * fabs(bound);
}

/* Four digits, as a file should show; a value pressed against its bound is the bound. */
static double
rounded(const struct coefficient *coefficient)
{
    double value = *coefficient->value;
    if (fit_is_at(value, coefficient->most))
        return coefficient->most;
    if (fit_is_at(value, coefficient->least) ||
        value < 1e-5 * coefficient->most * !coefficient->is_logarithmic)
        return coefficient->least;
    char digits[32];
    (void)snprintf(digits, sizeof digits, "%.4g", value);
    return fmin(coefficient->most, fmax(coefficient->least, strtod(digits, NULL)));
}

static size_t
shapes_seen(const struct descent *descent, struct arena *arena)
{
    const struct fit_rows *rows = &descent->problem->rows;
    bool *is_counted = arena_alloc(arena, rows->shape_count, sizeof *is_counted);
    size_t count = 0;
    for (size_t i = 0; i < rows->count; i++) {
        bool *shape = &is_counted[rows->items[i].shape_number];
        count += is_seen(descent, &rows->items[i]) && !*shape;
        *shape |= is_seen(descent, &rows->items[i]);
    }
    return count;
}

/* Each fold leaves more shapes than there are coefficients. */
static bool
can_cross_validate(const struct descent *whole, struct arena *arena)
{
    for (int fold = 0; fold < FIT_FOLDS; fold++) {
        struct descent without = *whole;
        without.without_fold = fold;
        if (shapes_seen(&without, arena) <= whole->count)
            return false;
    }
    return true;
}

static void
take_residuals(const struct fit_problem *problem, int fold, double factor)
{
    for (size_t i = 0; i < problem->rows.count; i++) {
        struct fit_row *row = &problem->rows.items[i];
        if (fold >= 0 && row->fold != fold)
            continue;
        row->unseen_residual = factor * residual(problem->device, row->measured);
        row->has_unseen_residual = true;
    }
}

/* Fits again without each fold in turn, from the values of the whole fit, which then stand again.
 */
static bool
cross_validate(const struct descent *whole, size_t *evaluations, struct arena *arena)
{
    double values[MINIMIZE_VARIABLES_MAX];
    for (size_t i = 0; i < whole->count; i++)
        values[i] = *whole->moving[i]->value;
    bool has_room = true;
    for (int fold = 0; fold < FIT_FOLDS && has_room; fold++) {
        struct descent without = *whole;
        without.without_fold = fold;
        has_room = whole->count == 0 || descend(&without, 1, evaluations, arena);
        take_residuals(whole->problem, fold, 1);
        for (size_t i = 0; i < whole->count; i++)
            *whole->moving[i]->value = values[i];
    }
    return has_room;
}

/* Residuals of the fit itself are too small by the freedom that it had. */
static void
correct_residuals(const struct descent *whole)
{
    double shapes = (double)whole->problem->rows.shape_count;
    if (shapes > (double)whole->count)
        take_residuals(whole->problem, -1, sqrt(shapes / (shapes - (double)whole->count)));
}

static bool
descend_whole(struct descent *whole, size_t *evaluations, struct arena *arena)
{
    if (whole->count == 0)
        return true;
    bool is_long = whole->problem->rows.count > SEARCH_ROWS_MAX;
    whole->only_fold = is_long ? 0 : -1;
    bool has_room = descend(whole, START_COUNT, evaluations, arena);
    whole->only_fold = -1;
    if (is_long && has_room)
        has_room = descend(whole, 1, evaluations, arena);
    for (size_t i = 0; i < whole->count; i++)
        *whole->moving[i]->value = rounded(whole->moving[i]);
    return has_room;
}

bool
fit_group(struct fit_problem *problem, struct fit_outcome *outcome, struct arena *arena)
{
    assert(problem->rows.count > 0);
    struct coefficient *moving[MINIMIZE_VARIABLES_MAX];
    struct descent whole = {problem, moving, 0, -1, -1};
    *outcome = (struct fit_outcome){0};
    number_shapes(&problem->rows, arena);
    weigh(&problem->rows);
    whole.count = choose(problem, moving, arena);
    outcome->fitted_count = whole.count;
    outcome->loss_before = mean_loss(&whole);
    if (!descend_whole(&whole, &outcome->evaluations, arena))
        return false;
    outcome->loss_after = mean_loss(&whole);
    outcome->is_cross_validated = can_cross_validate(&whole, arena);
    if (outcome->is_cross_validated)
        return cross_validate(&whole, &outcome->evaluations, arena);
    correct_residuals(&whole);
    return true;
}
