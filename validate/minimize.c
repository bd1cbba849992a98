/* GSL's trust region and simplex in angles. */
#include "validate/minimize.h"

#include <assert.h>
#include <math.h>

#include <gsl/gsl_blas.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_multifit_nlinear.h>
#include <gsl/gsl_multimin.h>
#include <gsl/gsl_qrng.h>

/* In angles: the whole range between two bounds is pi wide. Starts are spread over nearly all of it
 * about the one given, and not nearer to a bound than the slope there can be seen. */
static const double START_SPREAD = 3, START_FARTHEST = 1.4;
static const double POLISH_STEP = 0.1, SIMPLEX_SMALLEST = 1e-5;

/* Relative changes at which a descent ends: of the angles, the slope and the sum. */
static const double STEP_SMALLEST = 1e-5, SLOPE_SMALLEST = 1e-9, SUM_CHANGE_SMALLEST = 0;
enum { DESCENT_STEPS_MAX = 30 };

/* A polish that gains less than this part of the value is the last. */
static const double GAIN_SMALLEST = 1e-4;

struct search {
    const struct minimize_problem *problem;
    gsl_multifit_nlinear_workspace *region;
    gsl_multimin_fminimizer *simplex;
    gsl_qrng *spread;
    gsl_vector *start, *step, *best; /* angles */
    double *at, *residuals;          /* the same point as values, and what the problem says */
    double best_value;
    size_t evaluations;
};

static double
value_of_angle(const struct minimize_variable *variable, double angle)
{
    double t = (1 + sin(angle)) / 2;
    double value = variable->is_logarithmic
                       ? variable->least * pow(variable->most / variable->least, t)
                       : variable->least + (variable->most - variable->least) * t;
    return fmin(variable->most, fmax(variable->least, value));
}

static double
angle_of_value(const struct minimize_variable *variable, double value)
{
    double t = variable->is_logarithmic
                   ? log(value / variable->least) / log(variable->most / variable->least)
                   : (value - variable->least) / (variable->most - variable->least);
    return asin(fmin(1, fmax(-1, 2 * t - 1)));
}

static void
values_of_angles(const struct minimize_problem *problem, const gsl_vector *angles,
                 double *values)
{
    for (size_t i = 0; i < problem->count; i++)
        values[i] = value_of_angle(&problem->variables[i], gsl_vector_get(angles, i));
}

static void
evaluate(struct search *search, const gsl_vector *angles)
{
    values_of_angles(search->problem, angles, search->at);
    search->evaluations++;
    search->problem->residuals(search->problem->context, search->at, search->residuals);
}

static int
residuals_at(const gsl_vector *angles, void *context, gsl_vector *residuals)
{
    struct search *search = context;
    evaluate(search, angles);
    for (size_t i = 0; i < search->problem->residual_count; i++)
        gsl_vector_set(residuals, i, search->residuals[i]);
    return GSL_SUCCESS;
}

static double
sum_at(const gsl_vector *angles, void *context)
{
    struct search *search = context;
    double sum = 0;
    evaluate(search, angles);
    for (size_t i = 0; i < search->problem->residual_count; i++)
        sum += search->residuals[i] * search->residuals[i];
    return sum;
}

static void
keep_if_better(struct search *search, const gsl_vector *angles, double value)
{
    if (value < search->best_value) {
        search->best_value = value;
        gsl_vector_memcpy(search->best, angles);
    }
}

/* From search->start, with slopes by differences. */
static void
descend(struct search *search)
{
    gsl_multifit_nlinear_fdf function = {.f = residuals_at,
                                         .n = search->problem->residual_count,
                                         .p = search->problem->count,
                                         .params = search};
    int why;
    if (gsl_multifit_nlinear_init(search->start, &function, search->region))
        return;
    (void)gsl_multifit_nlinear_driver(DESCENT_STEPS_MAX, STEP_SMALLEST, SLOPE_SMALLEST,
                                      SUM_CHANGE_SMALLEST, NULL, NULL, &why, search->region);
    const gsl_vector *angles = gsl_multifit_nlinear_position(search->region);
    keep_if_better(search, angles, sum_at(angles, search));
}

/* The first point of Sobol's sequence is the middle: the start as it was given. */
static void
descend_from_each_start(struct search *search)
{
    const struct minimize_problem *problem = search->problem;
    double place[MINIMIZE_VARIABLES_MAX];
    for (size_t i = 0; i < problem->start_count; i++) {
        gsl_qrng_get(search->spread, place);
        for (size_t j = 0; j < problem->count; j++) {
            const struct minimize_variable *variable = &problem->variables[j];
            double angle = angle_of_value(variable, variable->start);
            angle = asin(sin(angle + START_SPREAD * (place[j] - 0.5)));
            gsl_vector_set(search->start, j,
                           fmin(START_FARTHEST, fmax(-START_FARTHEST, angle)));
        }
        descend(search);
    }
}

/* One simplex about the best until it is small or the budget is spent. */
static void
polish_once(struct search *search)
{
    gsl_multimin_function function = {sum_at, search->problem->count, search};
    size_t end = search->evaluations + search->problem->polish_evaluations_max;
    gsl_vector_memcpy(search->start, search->best);
    gsl_vector_set_all(search->step, POLISH_STEP);
    if (gsl_multimin_fminimizer_set(search->simplex, &function, search->start, search->step))
        return;
    while (search->evaluations < end &&
           gsl_multimin_fminimizer_iterate(search->simplex) == GSL_SUCCESS &&
           gsl_multimin_fminimizer_size(search->simplex) > SIMPLEX_SMALLEST)
        continue;
    keep_if_better(search, search->simplex->x, search->simplex->fval);
}

static void
search_from_start(struct search *search)
{
    const struct minimize_problem *problem = search->problem;
    for (size_t i = 0; i < problem->count; i++)
        gsl_vector_set(search->best, i,
                       angle_of_value(&problem->variables[i], problem->variables[i].start));
    search->best_value = sum_at(search->best, search);
    descend_from_each_start(search);
    for (size_t i = 0; i < problem->polish_count; i++) {
        double before = search->best_value;
        polish_once(search);
        if (before - search->best_value <= GAIN_SMALLEST * fabs(before))
            break;
    }
}

static struct search
search_new(const struct minimize_problem *problem, struct arena *arena)
{
    size_t count = problem->count;
    gsl_multifit_nlinear_parameters parameters = gsl_multifit_nlinear_default_parameters();
    return (struct search){
        .problem = problem,
        .region = gsl_multifit_nlinear_alloc(gsl_multifit_nlinear_trust, &parameters,
                                             problem->residual_count, count),
        .simplex = gsl_multimin_fminimizer_alloc(gsl_multimin_fminimizer_nmsimplex2, count),
        .spread = gsl_qrng_alloc(gsl_qrng_sobol, (unsigned)count),
        .start = gsl_vector_alloc(count),
        .step = gsl_vector_alloc(count),
        .best = gsl_vector_alloc(count),
        .at = arena_alloc(arena, count, sizeof(double)),
        .residuals = arena_alloc(arena, problem->residual_count, sizeof(double)),
    };
}

static bool
search_has_room(const struct search *search)
{
    return search->region && search->simplex && search->spread && search->start &&
           search->step && search->best;
}

static void
search_free(const struct search *search)
{
    if (search->region)
        gsl_multifit_nlinear_free(search->region);
    if (search->simplex)
        gsl_multimin_fminimizer_free(search->simplex);
    gsl_qrng_free(search->spread);
    gsl_vector_free(search->start);
    gsl_vector_free(search->step);
    gsl_vector_free(search->best);
}

bool
minimize(const struct minimize_problem *problem, double *best, struct minimum *minimum,
         struct arena *arena)
{
    assert(problem->count >= 1 && problem->count <= MINIMIZE_VARIABLES_MAX &&
           problem->residual_count >= problem->count);
    /* GSL would end the program on a point that is no number; here a fault is only a return. */
    gsl_error_handler_t *handler = gsl_set_error_handler_off();
    struct search search = search_new(problem, arena);
    bool has_room = search_has_room(&search);
    if (has_room) {
        search_from_start(&search);
        values_of_angles(problem, search.best, best);
        *minimum = (struct minimum){search.best_value, search.evaluations};
    }
    search_free(&search);
    gsl_set_error_handler(handler);
    return has_room;
}
