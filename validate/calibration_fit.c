/* The fit of one group: identification, descent, cross-validation. */
#include "validate/calibration_fit.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "validate/calibration_choice.h"
#include "validate/minimize.h"
#include "validate/statistics.h"

/* Of a magnitude that is normally distributed, the part below one standard deviation. */
static const double WITHIN_ONE_DEVIATION = 0.683;

/* Rounds of finding out the noise and leaving what it drowns. */
enum { ROUNDS_MAX = 3 };

/* Sizes that count equally, by measured time (design: under 10 us, to 100 us, over). */
static const double CLASS_EDGES_S[] = {10e-6, 100e-6};
enum { CLASS_COUNT = 3 };
static const double LARGE_COLLECTIVE_BYTES = 1024 * 1024;

enum { STARTS = 8, POLISHES = 3, POLISH_EVALUATIONS = 100 /* a coefficient */ };

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

/* Collectives have two, as the error tables. */
static int
class_of(const struct measured *measured)
{
    int class = 0;
    if (measured->is_collective)
        return measured->collective.bytes >= LARGE_COLLECTIVE_BYTES;
    while (class < CLASS_COUNT - 1 && measured->measured_s >= CLASS_EDGES_S[class])
        class ++;
    return class;
}

static void
weigh(const struct fit_rows *rows)
{
    size_t counts[CLASS_COUNT] = {0}, classes = 0;
    for (size_t i = 0; i < rows->count; i++)
        classes += counts[class_of(rows->items[i].measured)]++ == 0;
    for (size_t i = 0; i < rows->count; i++) {
        size_t of_class = counts[class_of(rows->items[i].measured)];
        rows->items[i].weight = 1 / ((double)classes * (double)of_class);
    }
}

static double
loss_of(double residual)
{
    return sqrt(residual * residual + FIT_NOISE * FIT_NOISE) - FIT_NOISE;
}

/* One descent: the coefficients that move and the rows that they see. */
struct descent {
    const struct fit_problem *problem;
    struct fit_coefficient *const *moving;
    size_t count;
    int without_fold; /* -1: all rows are seen */
};

static bool
is_seen(const struct descent *descent, const struct fit_row *row)
{
    return row->fold != descent->without_fold;
}

/* Numbers whose squares are the losses, each with its weight and sign. */
static void
residuals_at(void *context, const double *at, double *residuals)
{
    const struct descent *descent = context;
    const struct fit_rows *rows = &descent->problem->rows;
    for (size_t i = 0; i < descent->count; i++)
        *descent->moving[i]->coefficient.value = at[i];
    for (size_t i = 0; i < rows->count; i++) {
        const struct fit_row *row = &rows->items[i];
        residuals[i] = 0;
        if (!is_seen(descent, row))
            continue;
        double off = fit_residual(descent->problem, row->measured);
        residuals[i] = copysign(sqrt(row->weight * loss_of(off)), off);
    }
}

static double
mean_loss(const struct fit_problem *problem)
{
    double loss = 0;
    for (size_t i = 0; i < problem->rows.count; i++) {
        const struct fit_row *row = &problem->rows.items[i];
        loss += row->weight * loss_of(fit_residual(problem, row->measured));
    }
    return loss; /* weights add up to 1 */
}

/* Moves the coefficients to the best place found. */
static bool
descend(struct descent *descent, size_t starts, size_t *evaluations, struct arena *arena)
{
    struct minimize_variable variables[MINIMIZE_VARIABLES_MAX];
    double best[MINIMIZE_VARIABLES_MAX];
    for (size_t i = 0; i < descent->count; i++) {
        const struct coefficient *moving = &descent->moving[i]->coefficient;
        variables[i] = (struct minimize_variable){*moving->value, moving->least, moving->most,
                                                  moving->is_logarithmic};
    }
    struct minimize_problem problem = {.variables = variables,
                                       .count = descent->count,
                                       .residuals = residuals_at,
                                       .residual_count = descent->problem->rows.count,
                                       .context = descent,
                                       .start_count = starts,
                                       .polish_count = starts > 1 ? POLISHES : 0,
                                       .polish_evaluations_max =
                                           POLISH_EVALUATIONS * descent->count};
    struct minimum minimum;
    if (!minimize(&problem, best, &minimum, arena))
        return false;
    for (size_t i = 0; i < descent->count; i++)
        *descent->moving[i]->coefficient.value = best[i];
    *evaluations += minimum.evaluations;
    return true;
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
        row->unseen_residual = factor * fit_residual(problem, row->measured);
        row->has_unseen_residual = true;
    }
}

static void
widen(struct fit_coefficient *fitted, double value)
{
    bool is_first = fitted->highest == 0 && fitted->lowest == 0;
    fitted->lowest = is_first ? value : fmin(fitted->lowest, value);
    fitted->highest = is_first ? value : fmax(fitted->highest, value);
}

/* Fits again without each fold in turn, from the values of the whole fit, which then stand again.
 */
static bool
cross_validate(const struct descent *whole, size_t *evaluations, struct arena *arena)
{
    double values[MINIMIZE_VARIABLES_MAX] = {0};
    for (size_t i = 0; i < whole->count; i++)
        values[i] = *whole->moving[i]->coefficient.value;
    bool has_room = true;
    for (int fold = 0; fold < FIT_FOLDS && has_room; fold++) {
        struct descent without = *whole;
        without.without_fold = fold;
        has_room = whole->count == 0 || descend(&without, 1, evaluations, arena);
        take_residuals(whole->problem, fold, 1);
        for (size_t i = 0; i < whole->count; i++) {
            widen(whole->moving[i], rounded(&whole->moving[i]->coefficient));
            *whole->moving[i]->coefficient.value = values[i];
        }
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
    bool has_room = descend(whole, STARTS, evaluations, arena);
    for (size_t i = 0; i < whole->count; i++)
        *whole->moving[i]->coefficient.value = rounded(&whole->moving[i]->coefficient);
    return has_room;
}

/* The deviation of the bulk of the rows, whatever the worst are. */
static double
bulk_residual(const struct fit_problem *problem, struct arena *arena)
{
    size_t count = problem->rows.count;
    double *magnitudes = arena_alloc(arena, count, sizeof *magnitudes);
    for (size_t i = 0; i < count; i++)
        magnitudes[i] = fabs(fit_residual(problem, problem->rows.items[i].measured));
    return statistics_quantile(magnitudes, count, WITHIN_ONE_DEVIATION);
}

/* A fit that can be gone back to: fates and values. */
struct fit_state {
    struct fit_coefficient *coefficients;
    double *values;
    double loss;
};

static struct fit_state
state_of(const struct fit_problem *problem, struct arena *arena)
{
    struct fit_state state = {
        arena_copy(arena, problem->coefficients, problem->count * sizeof *state.coefficients),
        arena_alloc(arena, problem->count, sizeof *state.values), mean_loss(problem)};
    for (size_t i = 0; i < problem->count; i++)
        state.values[i] = *problem->coefficients[i].coefficient.value;
    return state;
}

static size_t
return_to(const struct fit_state *state, const struct fit_problem *problem,
          struct fit_coefficient **moving)
{
    size_t count = 0;
    for (size_t i = 0; i < problem->count; i++) {
        problem->coefficients[i] = state->coefficients[i];
        *problem->coefficients[i].coefficient.value = state->values[i];
        if (problem->coefficients[i].fate == FIT_DONE)
            moving[count++] = &problem->coefficients[i];
    }
    return count;
}

/* Akaike's criterion (IEEE Transactions on Automatic Control 19, 1974) of normal residuals: n log
 * of the mean square grows by less than 2 for each coefficient that was dropped. */
static bool
is_as_good(double loss, double fuller_loss, size_t dropped, size_t shapes)
{
    return loss <= fuller_loss * exp(2 * (double)dropped / (double)shapes);
}

/* How noisy rows are is known after the fit. What that noise leaves in doubt goes back to its value
 * and the rest is fitted again, unless that fits much worse. */
static bool
fit_what_is_told(struct descent *whole, struct fit_coefficient **moving, size_t *evaluations,
                 struct arena *arena)
{
    const struct fit_problem *problem = whole->problem;
    struct fit_choice choice = {.noise = FIT_NOISE};
    whole->count = fit_choose(problem, moving, &choice, arena);
    bool has_room = descend_whole(whole, evaluations, arena);
    for (int round = 0; round < ROUNDS_MAX && has_room; round++) {
        choice.noise = fmax(choice.noise, bulk_residual(problem, arena));
        if (choice.least_apart >= choice.noise / FIT_DOUBT_MOST)
            break;
        choice.is_narrowing = true;
        struct fit_state fuller = state_of(problem, arena);
        size_t fuller_count = whole->count;
        for (size_t i = 0; i < fuller_count; i++)
            *moving[i]->coefficient.value = moving[i]->before;
        whole->count = fit_choose(problem, moving, &choice, arena);
        has_room = descend_whole(whole, evaluations, arena);
        if (!is_as_good(mean_loss(problem), fuller.loss, fuller_count - whole->count,
                        problem->rows.shape_count)) {
            whole->count = return_to(&fuller, problem, moving);
            break;
        }
    }
    return has_room;
}

bool
fit_group(struct fit_problem *problem, struct fit_outcome *outcome, struct arena *arena)
{
    assert(problem->rows.count > 0);
    struct fit_coefficient *moving[MINIMIZE_VARIABLES_MAX];
    struct descent whole = {problem, moving, 0, -1};
    *outcome = (struct fit_outcome){0};
    number_shapes(&problem->rows, arena);
    weigh(&problem->rows);
    outcome->loss_before = mean_loss(problem);
    if (!fit_what_is_told(&whole, moving, &outcome->evaluations, arena))
        return false;
    outcome->fitted_count = whole.count;
    outcome->loss_after = mean_loss(problem);
    outcome->is_cross_validated = can_cross_validate(&whole, arena);
    if (outcome->is_cross_validated)
        return cross_validate(&whole, &outcome->evaluations, arena);
    correct_residuals(&whole);
    return true;
}
